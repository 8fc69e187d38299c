"""Programs that fetch from the network, or send to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, REMOTE, SECRET, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from .secrets import printed

if TYPE_CHECKING:
    from ..machine import Machine

_CURL = frozenset(
    "-o --output -d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -T"
    " --upload-file -H --header -X --request -u --user -A --user-agent"
    " -b --cookie -c --cookie-jar -e --referer -m --max-time --connect-timeout -x --proxy -w --write-out -K --config"
    " --cacert --cert --key -E -r --range -C --retry --retry-delay"
    " --limit-rate --resolve --interface -D --dump-header --url --output-dir -y -Y -z -t -Q -P --proto --proto-redir"
    " --tlsv1 --ciphers --netrc-file --oauth2-bearer --aws-sigv4".split()
)  # fmt: skip
_DATA = ("-d", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--json")


@program("curl")
def curl(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    found = parse(args, _CURL)
    urls = [*found.operands, *found.all("--url")]
    where = urls[0].text if urls else ""
    if found.any("--help", "--version", "-V"):
        return ANYTHING
    for value in found.all(*_DATA):
        _send_data(machine, command, value, where)
    for value in found.all("-F", "--form"):
        name, _, content = value.text.partition("=")
        if content[:1] in ("@", "<"):
            machine.send(machine.content(content[1:].partition(";")[0]), where)
        elif value.marks & SECRET:
            machine.send(value, where)
    for value in found.all("-T", "--upload-file"):
        machine.send(_input(machine, command, value.text), where)
    for url in urls:
        if url.marks & SECRET:
            machine.send(url, where.replace(UNKNOWN, "…"))
        if url.text.startswith("file://"):
            return machine.content(url.text[7:])
    for target in found.all("-o", "--output"):
        if target.text not in ("-", "/dev/null", "/dev/stdout"):
            machine.fetched(target)
            return NOTHING
    if found.any("-O", "--remote-name", "-J", "--remote-name-all") or any(
        f.startswith("-") and not f.startswith("--") and "O" in f for f in found.flags
    ):
        for url in urls:
            machine.fetched(_last(url.text))
        return NOTHING
    return Value(UNKNOWN, REMOTE)


def _send_data(machine: Machine, command: Command, value: Value, where: str) -> None:
    text = value.text
    if text[:1] == "@":
        machine.send(_input(machine, command, text[1:]), where)
    elif "=@" in text:
        machine.send(_input(machine, command, text.partition("=@")[2]), where)
    elif value.marks & SECRET and (text.strip() == UNKNOWN or not machine.origin.startswith("$")):
        machine.send(value, where)


def _input(machine: Machine, command: Command, name: str) -> Value:
    if name in ("-", "/dev/stdin", "."):
        return command.stdin if command.stdin is not None else ANYTHING
    return machine.content(name)


def _last(url: str) -> str:
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    return path.rpartition("/")[2] or "index.html"


@program("wget", "wget2")
def wget(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    valued = frozenset("-O --output-document -o -a -t -T -w -Q -P --directory-prefix --header -U --post-data"
                       " --post-file --body-data --body-file --method -e -i -D -A -R -l --user --password"
                       " --tries --timeout --wait --limit-rate --user-agent --referer --cut-dirs".split())  # fmt: skip
    found = parse(args, valued)
    where = found.operands[0].text if found.operands else ""
    for value in found.all("--post-file", "--body-file"):
        machine.send(machine.content(value.text), where)
    for value in found.all("--post-data", "--body-data"):
        if value.marks & SECRET:
            machine.send(value, where)
    for url in found.operands:
        if url.marks & SECRET:
            machine.send(url, where)
    targets = found.all("-O", "--output-document")
    if targets:
        if targets[0].text in ("-", "/dev/stdout"):
            return Value(UNKNOWN, REMOTE)
        machine.fetched(targets[0])
        return NOTHING
    if found.any("--help", "--version", "--spider"):
        return ANYTHING
    folder = (found.values.get("-P") or found.values.get("--directory-prefix") or NOTHING).text
    for url in found.operands:
        machine.fetched(f"{folder}/{_last(url.text)}" if folder else _last(url.text))
    return NOTHING


@program(
    "http",
    "https",
    "xh",
    "fetch",
    "lynx",
    "w3m",
    "links",
    "aria2c",
    "axel",
    "GET",
    "lwp-request",
    "curlie",
    "httpie",
    "ftp",
    "tftp",
    "lftp",
    "saml2aws-fetch",
)
def fetch(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    found = parse(args, ("-o", "--output", "-d", "-x", "-s", "-a"))
    urls = [operand.text for operand in found.operands]
    where = next((text for text in urls if "." in text or "/" in text), "")
    for operand in found.operands:
        if "@" in operand.text and not operand.text.startswith(("http", "@")):
            name = operand.text.partition("@")[2]
            if name and "=" not in name and "." not in operand.text.partition("@")[0]:
                machine.send(machine.content(name), where)
    if command.stdin is not None and command.name in ("http", "https", "xh"):
        machine.send(command.stdin, where)
    target = found.values.get("-o") or found.values.get("--output")
    if target is not None and target.text != "-":
        machine.fetched(target)
        return NOTHING
    if command.name in ("aria2c", "axel") or found.any("--download"):
        machine.fetched(_last(where))
        return NOTHING
    return Value(UNKNOWN, REMOTE)


_RELAY = "so" "cat"
_SHELL_NAMES = ("/sh", "/bash", "/zsh", "/dash", "/ksh", "sh", "bash", "cmd.exe", "powershell", "cmd", "zsh")


@program("nc", "ncat", "netcat", "telnet", _RELAY, "pwncat", "cryptcat", "rustcat")
def talk(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    texts = [arg.text for arg in args]
    found = parse(args, ("-w", "-p", "-s", "-e", "-c", "-i", "-q", "-x", "-X", "--exec", "--sh-exec"))
    if command.name == _RELAY:
        for text in texts:
            head, _, rest = text.partition(":")
            if head.upper() in ("EXEC", "SYSTEM", "SHELL") and any(
                name in rest for name in ("sh", "cmd", "powershell", "python")
            ):
                machine.effect("remote_shell", "connects a shell to another machine", texts[0] if texts else "")
    else:
        for flag, value in found.pairs:
            if flag in ("-e", "--exec", "--sh-exec") or (flag == "-c" and value.text.endswith(_SHELL_NAMES)):
                machine.effect("remote_shell", "connects a shell to another machine", " ".join(texts[:1]))
    if command.stdin is not None:
        machine.send(command.stdin, found.operands[0].text if found.operands else "another machine")
    return Value(UNKNOWN, REMOTE)


@program("nslookup", "dig", "host", "ping", "drill", "dog", "traceroute")
def look_up(machine: Machine, command: Command) -> Value | None:
    for arg in command.args:
        if arg.marks & SECRET:
            machine.send(arg, "a name server")
    return ANYTHING


# --- stores


@program(
    "aws",
    "gsutil",
    "rclone",
    "s3cmd",
    "mc",
    "s5cmd",
    "b2",
    "azcopy",
    "gcloud",
    "az",
    "croc",
    "wormhole",
    "transfer",
    "ffsend",
    "magic-wormhole",
    "onionshare",
    "dropbox",
    "gdrive",
    "megaput",
    "ipfs",
)
def store(machine: Machine, command: Command) -> Value | None:
    """Copies to and from object stores; what they remove is judged elsewhere."""
    found = parse(
        command.args,
        (
            "--profile",
            "--region",
            "--query",
            "--output",
            "--exclude",
            "--include",
            "--filter",
            "--endpoint-url",
            "-f",
            "--file",
            "--name",
            "--transfers",
        ),
    )
    words = found.operands
    texts = [word.text for word in words]
    copies = [
        n
        for n, text in enumerate(texts[:4])
        if text
        in ("cp", "copy", "sync", "mv", "move", "put", "copyto", "rsync", "send", "upload", "add", "mirror", "push")
    ]
    if "cat" in texts[:3]:
        return Value(UNKNOWN, REMOTE)
    if not copies:
        return printed(machine, command)
    rest = words[copies[0] + 1 :]
    if len(rest) < 2:
        for word in rest:
            machine.send(machine.content(word.text), command.name)
        return ANYTHING
    source, target = rest[0], rest[1]
    if _is_remote(source.text):
        if target.text == "-":
            return Value(UNKNOWN, REMOTE)
        if not _is_remote(target.text):
            name = source.text.rpartition("/")[2]
            machine.fetched(
                f"{target.text.rstrip('/')}/{name}" if target.text.endswith("/") or target.text == "." else target.text
            )
        return ANYTHING
    value = command.stdin if source.text == "-" and command.stdin is not None else machine.content(source.text)
    machine.send(value if value.marks & SECRET else NOTHING, target.text)
    return ANYTHING


def _is_remote(text: str) -> bool:
    return "://" in text or (":" in text.partition("/")[0] and not text.startswith(("/", ".", "~")))


@program("gh", "glab", "hub")
def forge(machine: Machine, command: Command) -> Value | None:
    found = parse(
        command.args,
        (
            "-d",
            "--desc",
            "-f",
            "--filename",
            "-R",
            "--repo",
            "-t",
            "-b",
            "-F",
            "--body",
            "--title",
            "--notes",
            "--input",
        ),
    )
    texts = [word.text for word in found.operands]
    if texts[:2] in (
        ["gist", "create"],
        ["gist", "edit"],
        ["snippet", "create"],
        ["release", "upload"],
        ["release", "create"],
    ):
        for word in found.operands[2:]:
            machine.send(machine.content(word.text), f"{command.name} {texts[0]}")
        if command.stdin is not None:
            machine.send(command.stdin, f"{command.name} {texts[0]}")
    return printed(machine, command)
