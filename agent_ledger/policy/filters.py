"""Programs that print what they read, changed or not: what flows through a pipe keeps its marks."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from . import paths
from .model import ANYTHING, DECODED, DUMP, GLOB, NOTHING, REMOTE, SECRET, SOME, UNKNOWN, Command, Value
from .options import parse
from .registry import program

if TYPE_CHECKING:
    from .machine import Machine

_READERS = {
    "cat": (), "tac": (), "nl": (), "less": (), "more": (), "most": (), "pg": (), "bat": ("-l", "--language", "-r", "--style"), "batcat": ("-l",), "head": ("-n", "-c", "--lines", "--bytes"),
    "tail": ("-n", "-c", "--lines", "--bytes"), "sort": ("-k", "-t", "-o", "-S"), "uniq": ("-f", "-s", "-w"), "fold": ("-w",), "fmt": ("-w",), "expand": ("-t",), "column": ("-t", "-s"),
    "strings": ("-n",), "od": ("-A", "-t", "-N", "-j"), "hexdump": ("-n", "-s", "-e"), "hd": (), "pr": (), "dos2unix": (), "iconv": ("-f", "-t"), "pv": ("-L",), "buffer": (), "unexpand": (),
    "diff": ("-U", "-I"), "sdiff": (), "colordiff": (), "comm": (), "join": (), "paste": ("-d",), "split": ("-l", "-b"), "csplit": (), "glow": (), "mdcat": (), "nano": (), "emacs": (), "ed": (), "micro": (),
    "highlight": (), "pygmentize": ("-l",), "open": (), "xdg-open": (), "look": (), "shuf": ("-n",), "zcat": (), "gzcat": (), "xzcat": (), "bzcat": (), "zless": (), "vipe": (), "ccat": (), "code": (), "pbcopy": (),
    "xclip": ("-selection", "-sel"), "xsel": (), "wl-copy": (), "jless": (), "lolcat": (), "moreutils": (), "busybox-cat": (), "plutil": (), "defaults": (), "keytool": ("-keystore", "-alias"), "file-roller": (),
}  # fmt: skip


@program(*_READERS)
def show(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, _READERS[command.name])
    if command.name == "keytool":
        return ANYTHING
    return _content(machine, found.operands, command)


def _content(machine: Machine, operands: list[Value], command: Command) -> Value:
    """What the named files hold, one after the other; without any, what comes in."""
    names = [operand for operand in operands if operand.text != "-"]
    if not names:
        return command.stdin if command.stdin is not None else ANYTHING
    if len(names) == 1:
        return _one(machine, names[0])
    texts, marks = [], 0
    for name in names[:20]:
        value = _one(machine, name)
        texts.append(value.text)
        marks |= value.marks
    return Value("\n".join(texts)[:65_536], marks)


def _one(machine: Machine, name: Value) -> Value:
    if name.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return Value(UNKNOWN, REMOTE)
    value = machine.content(name.text)
    machine.paths.append(name.text)
    return value


_SECRET_PATTERN = re.compile(r"key|token|secret|passw|pwd|credential|auth|aws|private|\.\*|^\.?$|=", re.IGNORECASE)


@program("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ripgrep", "ggrep", "pcregrep")
def grep(machine: Machine, command: Command) -> Value | None:
    valued = ("-e", "-f", "-A", "-B", "-C", "-m", "-d", "-D", "--include", "--exclude", "--exclude-dir", "--color", "-g", "--glob", "-t", "--type", "--regexp", "--file", "-T", "-M", "-j")
    found = parse(command.args, valued)
    operands = list(found.operands)
    pattern = found.values.get("-e") or found.values.get("--regexp")
    if pattern is None and operands and not found.any("-f", "--file", "--files"):
        pattern = operands.pop(0)
    if found.any("-c", "--count", "-q", "--quiet", "--silent", "-l", "--files-with-matches", "-L", "--files"):
        return Value(SOME)
    if not operands and command.stdin is None:
        return ANYTHING
    value = _content(machine, operands, command)
    asked = pattern.text if pattern is not None else ""
    if not operands and value.marks & SECRET and machine.secret.startswith("the whole environment"):
        if not (found.any("-v", "--invert-match") or _SECRET_PATTERN.search(asked.rstrip("="))):
            return Value(UNKNOWN)
    if value.marks & GLOB:
        if found.any("-v"):
            return value
        folder = value.text.partition("\n")[0].rpartition("/")[0]
        return Value(f"{folder}/{SOME}" if folder else SOME, 0)
    if value.known and asked and not found.any("-E", "-P", "-o", "-v", "-i") and re.fullmatch(r"[\w ./:=-]+", asked):
        return Value("\n".join(line for line in value.text.split("\n") if asked in line), value.marks)
    return Value(value.text if value.known and not found.any("-o") else UNKNOWN, value.marks)


@program("sed", "gsed", "ssed")
def sed(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-e", "-f", "--expression", "--file", "-l"))
    operands = list(found.operands)
    script = found.values.get("-e") or found.values.get("--expression")
    if script is None and operands and not found.any("-f", "--file"):
        script = operands.pop(0)
    text = script.text if script is not None else ""
    runs = re.match(r"(?:\d+|\$|/[^/]*/)?\s*e\s+(.+)", text, re.DOTALL)
    if runs:
        machine.subshell(lambda: machine.shell(runs[1]))
    if found.any("-i", "--in-place") or any(flag.startswith("-i") for flag in found.flags):
        for operand in operands:
            where = machine.absolute(operand.text)
            if machine.touches_guarded(where):
                machine.effect("tampering", f"edits {where}", where)
            if paths.is_account_file(where):
                machine.effect("account", f"edits {where}", where)
            machine.files.pop(where, None)
        return NOTHING
    value = _content(machine, operands, command)
    if re.search(r"=\.[*+]", text):
        return Value(value.text, value.marks & ~SECRET)  # the names alone
    change = re.fullmatch(r"s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1g?", text, re.DOTALL)
    if change and value.known and len(value.text) < 4096 and re.fullmatch(r"[\w ./:@%,_-]*", change[2]):
        old, new = change[2].replace("\\", ""), change[3]
        return Value(value.text.replace(old, new) if text.endswith("g") else value.text.replace(old, new, 1), value.marks)
    return value


@program("cut", "gcut")
def cut(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-d", "-f", "-c", "-b", "--delimiter", "--fields"))
    value = _content(machine, found.operands, command)
    fields = (found.values.get("-f") or found.values.get("--fields") or NOTHING).text
    if fields == "1" and (found.values.get("-d") or found.values.get("--delimiter") or NOTHING).text == "=":
        return Value(UNKNOWN, value.marks & ~SECRET)
    return Value(UNKNOWN if not value.known or not value.text else UNKNOWN, value.marks)


@program("jq", "yq", "gojq", "jaq", "dasel", "xq", "tomlq", "miller", "mlr", "csvcut", "xmllint", "xpath", "yj")
def query(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("--arg", "--argjson", "-f", "--from-file", "--indent", "--slurpfile", "--rawfile"))
    value = _content(machine, found.operands[1:], command)
    if found.operands and re.search(r"\bkeys\b|\blength\b|\bhas\(", found.operands[0].text):
        return Value(UNKNOWN, value.marks & ~SECRET)
    return Value(UNKNOWN, value.marks)


@program("wc", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "cksum", "b2sum", "md5", "file", "test-nothing", "xxhsum", "sum", "cmp")
def measure(machine: Machine, command: Command) -> Value | None:
    return Value(SOME)


@program("tr", "gtr")
def translate(machine: Machine, command: Command) -> Value | None:
    value = command.stdin if command.stdin is not None else ANYTHING
    words = [arg.text for arg in command.args]
    if not value.known:
        return value
    if len(words) == 2 and words[0] == "-d":
        return Value("".join(c for c in value.text if c not in _set(words[1])), value.marks)
    if len(words) == 2 and not words[0].startswith("-"):
        old, new = _set(words[0]), _set(words[1])
        if old and new:
            new += new[-1] * max(0, len(old) - len(new))
            return Value(value.text.translate({ord(a): b for a, b in zip(old, new, strict=False)}), value.marks)
    return Value(value.text, value.marks)


def _set(text: str) -> str:
    """The characters of a ``tr`` set: escapes, ranges, the usual classes."""
    text = text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t").replace("\\\\", "\\")
    for name, chars in (("[:lower:]", "a-z"), ("[:upper:]", "A-Z"), ("[:digit:]", "0-9"), ("[:space:]", " \t\n\r"), ("[:alpha:]", "A-Za-z")):
        text = text.replace(name, chars)
    out, at = "", 0
    while at < len(text):
        if at + 2 < len(text) and text[at + 1] == "-" and text[at] <= text[at + 2]:
            out += "".join(chr(n) for n in range(ord(text[at]), min(ord(text[at + 2]), ord(text[at]) + 300) + 1))
            at += 3
        else:
            out += text[at]
            at += 1
    return out


@program("rev")
def reverse(machine: Machine, command: Command) -> Value | None:
    value = _content(machine, parse(command.args).operands, command)
    return Value("\n".join(line[::-1] for line in value.text.split("\n")), value.marks)


# --- decoders


def _decoded(value: Value, decode: object) -> Value:
    """The decoded text, or a value that says it was decoded and cannot be read."""
    if value.known and value.text.strip():
        try:
            raw = decode(value.text)  # type: ignore[operator]
            text = raw.decode("utf-8")
            if text.isprintable() or not re.search(r"[\x00-\x08\x0e-\x1f]", text):
                return Value(text, value.marks)
        except (ValueError, binascii.Error, UnicodeDecodeError):
            pass
    return Value(UNKNOWN, value.marks | DECODED)


def _from_base64(text: str) -> bytes:
    text = re.sub(r"\s+", "", text).rstrip("\ue000\ue001")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _from_hex(text: str) -> bytes:
    return bytes.fromhex(re.sub(r"[^0-9A-Fa-f]", "", text))


@program("base64", "gbase64", "base32", "uudecode", "basenc", "b64decode")
def coder(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-w", "--wrap", "-i", "-o", "-b"))
    given = found.values.get("-i")
    value = machine.content(given.text) if given else _content(machine, found.operands, command)
    if found.any("-d", "-D", "--decode") or command.name in ("uudecode", "b64decode"):
        out = _decoded(value, _from_base64) if command.name in ("base64", "gbase64") else Value(UNKNOWN, value.marks | DECODED)
    else:
        out = Value(base64.b64encode(value.text.encode()).decode(), value.marks) if value.known and value.text and command.name == "base64" else Value(UNKNOWN, value.marks)
    if target := found.values.get("-o"):
        machine.write(target, out)
        return NOTHING
    return out


@program("xxd")
def xxd(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-l", "-s", "-c", "-g"))
    value = _content(machine, found.operands[:1], command)
    if found.any("-r", "--revert"):
        return _decoded(value, _from_hex) if found.any("-p", "--plain") or found.any("-ps") else Value(UNKNOWN, value.marks | DECODED)
    return Value(UNKNOWN, value.marks)


@program("gunzip", "bunzip2", "unxz", "zstd", "unzstd", "lz4", "gzip", "bzip2", "xz", "lzma", "brotli", "uncompress", "unlzma", "compress", "pigz", "unpigz")
def squeeze(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-S", "-T", "--threads", "-o"))
    value = _content(machine, found.operands, command)
    unpacks = command.name.startswith(("un", "gunzip", "bunzip2")) or found.any("-d", "--decompress", "--uncompress")
    if found.operands and not found.any("-c", "--stdout"):
        return NOTHING
    return Value(UNKNOWN, value.marks | (DECODED if unpacks else 0))


@program("openssl")
def openssl(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    verb = args[0].text if args else ""
    found = parse(args[1:], ("-in", "-out", "-k", "-K", "-iv", "-pass", "-passin", "-passout", "-inkey", "-connect", "-subj", "-days", "-newkey", "-keyout", "-S"), single_dash_long=True)
    if verb == "s_client":
        target = found.values.get("-connect") or NOTHING
        if command.stdin is not None:
            machine.send(command.stdin, target.text)
        return Value(UNKNOWN, REMOTE)
    given = found.values.get("-in")
    value = machine.content(given.text) if given else (command.stdin if command.stdin is not None else ANYTHING)
    target = found.values.get("-out")
    if verb in ("base64", "enc") or verb.startswith(("aes", "des")):
        if found.any("-d"):
            out = _decoded(value, _from_base64) if verb == "base64" or (found.any("-base64") and verb == "enc") else Value(UNKNOWN, value.marks | DECODED)
        else:
            out = Value(UNKNOWN, value.marks if found.any("-base64", "-a") or verb == "base64" else 0)
        if target is not None:
            machine.write(target, out)
            return NOTHING
        return out
    if verb in ("rsa", "pkey", "ec", "pkcs12", "pkcs8") and not found.any("-pubout", "-noout", "-pubin"):
        return Value(UNKNOWN, value.marks)
    return ANYTHING


@program("gpg", "gpg2", "age", "sops-decrypt")
def decrypt(machine: Machine, command: Command) -> Value | None:
    texts = command.texts
    if any(text.startswith("--export-secret") for text in texts):
        machine.secret = "a secret key"
        return Value(UNKNOWN, SECRET)
    if any(text.startswith(("--delete-secret", "--delete-key")) for text in texts):
        machine.effect("recursive_delete", f"{command.name} deletes keys", "keys", "keys that cannot be had again")
    if any(text in ("-d", "--decrypt") for text in texts):
        return Value(UNKNOWN, DECODED)
    return ANYTHING


# --- sources


@program("yes")
def yes(machine: Machine, command: Command) -> Value | None:
    return Value(command.args[0].text if command.args else "y")


@program("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "sqldump", "pg_basebackup", "redis-dump")
def dump(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-f", "--file", "-h", "-U", "-p", "-d", "-t", "-n", "-F", "-j", "-r", "--result-file", "--out", "-o"))
    for name in ("-f", "--file", "-r", "--result-file"):
        if target := found.values.get(name):
            machine.write(target, Value(UNKNOWN, DUMP))
            return NOTHING
    return Value(UNKNOWN, DUMP)


@program("history", "fc")
def history(machine: Machine, command: Command) -> Value | None:
    return ANYTHING


@program("printenv")
def print_environment(machine: Machine, command: Command) -> Value | None:
    names = [arg.text for arg in command.args if not arg.text.startswith("-")]
    if not names:
        machine.secret = "the whole environment"
        return Value(UNKNOWN, SECRET)
    for name in names:
        if paths.is_secret_variable(name):
            machine.secret = f"${name}"
            return Value(UNKNOWN, SECRET)
    return ANYTHING


@program("mail", "mailx", "mutt", "sendmail", "msmtp", "swaks")
def mail(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-s", "-a", "-A", "-c", "-b", "-r", "--attach", "-t", "-f"))
    for name in ("-a", "-A", "--attach"):
        if attached := found.values.get(name):
            machine.send(machine.content(attached.text.removeprefix("@")), "mail")
    if command.stdin is not None:
        machine.send(command.stdin, found.operands[-1].text if found.operands else "mail")
    return NOTHING


@program("logger", "notify-send", "say", "wall", "write", "figlet", "cowsay", "dialog", "whiptail", "zenity", "terminal-notifier", "osd_cat")
def tell(machine: Machine, command: Command) -> Value | None:
    return NOTHING


@program("ts", "stdbuf-cat", "ifne-cat", "nohup-cat")
def same(machine: Machine, command: Command) -> Value | None:
    return command.stdin


