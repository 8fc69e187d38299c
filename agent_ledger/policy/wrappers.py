"""Programs that run another program: with other rights, a limit, elsewhere, or once for each line."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .model import ANYTHING, GLOB, NOTHING, REMOTE, SECRET, SOME, TREE, UNKNOWN, Command, Value
from .options import parse
from .registry import PROGRAMS, program
from .walk import execute

if TYPE_CHECKING:
    from .machine import Machine

_ROOT = "su" + "do"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_MOST_LINES = 20

# Wrapper -> (options that take the next word, operands of its own before the program, NAME=value words before it).
_SIMPLE: dict[str, tuple[frozenset[str], int, bool]] = {}


def _wrapper(names: str, valued: str = "", skip: int = 0, assignments: bool = False) -> None:
    for name in names.split():
        _SIMPLE[name] = frozenset(valued.split()), skip, assignments


_wrapper(_ROOT, "-u -g -h -p -C -T -U -D -r -t --user --group --host --prompt --chdir", 0, True)
_wrapper("doas", "-u -C")
_wrapper("pkexec", "--user")
_wrapper("nice gnice", "-n --adjustment")
_wrapper("ionice", "-c -n -p --class --classdata")
_wrapper("nohup setsid unbuffer caffeinate torsocks torify rlwrap fakeroot dbus-run-session busybox toybox eatmydata tsocks nosudo chronic ifne env-run", "-t -w")
_wrapper("proxychains proxychains4", "-f")
_wrapper("time gtime", "-f -o --format --output")
_wrapper("timeout gtimeout", "-k -s --kill-after --signal", 1)
_wrapper("stdbuf gstdbuf", "-i -o -e --input --output --error")
_wrapper("builtin noglob nocorrect then")
_wrapper("chroot", "--userspec --groups", 1)
_wrapper("strace ltrace", "-e -o -p -s -u -E -a -P")
_wrapper("perf", "-e -o", 1)
_wrapper("valgrind", "")
_wrapper("taskset", "", 1)
_wrapper("chrt", "", 1)
_wrapper("numactl prlimit cpulimit", "")
_wrapper("systemd-run", "-p --property -u --unit -E --setenv --uid --gid -M --slice --description --working-directory --on-calendar --on-active")
_wrapper("firejail bwrap xvfb-run", "--bind --ro-bind --chdir")
_wrapper("nsenter", "-t --target")
_wrapper("unshare", "")
_wrapper("faketime", "", 1)
_wrapper("setarch linux32 linux64", "")
_wrapper("setpriv", "")
_wrapper("runcon", "", 1)
_wrapper("dotenv", "-f -e --file", 0, True)
_wrapper("envdir direnv-exec", "", 1)
_wrapper("retry", "-t -d -m")
_wrapper("hyperfine", "-w -r -m -M --warmup --runs")


@program(*_SIMPLE)
def run_wrapped(machine: Machine, command: Command) -> Value | None:
    valued, skip, assignments = _SIMPLE[command.name]
    rest = _behind_options(command.args, valued)
    if command.name == "dotenv" and rest and rest[0].text == "run":
        rest = _behind_options(rest[1:], valued)
    if command.name == "perf":
        rest = _behind_options(rest, valued)
    rest = rest[skip:]
    env = dict(command.env)
    if assignments:
        rest = _take_assignments(machine, rest, env)
    if command.name == "hyperfine":
        for text in rest:
            machine.subshell(lambda text=text: machine.shell(text))  # type: ignore[misc]
        return NOTHING
    return execute(machine, rest, command.stdin, env) if rest else ANYTHING


def _behind_options(args: Sequence[Value], valued: frozenset[str]) -> list[Value]:
    """The words behind a wrapper's options."""
    at, size = 0, len(args)
    while at < size:
        text = args[at].text
        if text == "--":
            at += 1
            break
        if text[:1] != "-" or text == "-":
            break
        name = text.partition("=")[0]
        at += 1
        if "=" not in text and (name in valued or (name[:2] != "--" and name[:2] in valued and len(name) == 2)):
            at += 1
    return list(args[at:])


def _take_assignments(machine: Machine, rest: list[Value], env: dict[str, Value]) -> list[Value]:
    at = 0
    while at < len(rest) and _ASSIGNMENT.match(rest[at].text):
        name, _, text = rest[at].text.partition("=")
        env[name] = Value(text, rest[at].marks)
        if name.startswith("AGENT_LEDGER_") or name == "HERMES_SAFE_MODE":
            machine.effect("tampering", f"sets {name}", name)
        at += 1
    return rest[at:]


@program("env", "genv")
def run_env(machine: Machine, command: Command) -> Value | None:
    rest = list(command.args)
    env = dict(command.env)
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        text = rest.pop(0).text
        if text == "--":
            break
        if text in ("-u", "--unset") and rest:
            rest.pop(0)
        elif text in ("-C", "--chdir") and rest:
            machine.scope.cwd = machine.absolute(rest.pop(0).text)
        elif text in ("-S", "--split-string") and rest:
            return machine.subshell(lambda: machine.shell(Value(" ".join(v.text for v in rest))))
        elif text.startswith("-S") or text.startswith("--split-string="):
            words = text[2:] if text.startswith("-S") else text.partition("=")[2]
            return machine.subshell(lambda: machine.shell(Value(" ".join([words, *(v.text for v in rest)]))))
    if rest and rest[0].text == "-":
        rest.pop(0)
    rest = _take_assignments(machine, rest, env)
    if rest:
        kept = dict(machine.scope.variables)
        machine.scope.variables.update(env)
        try:
            return execute(machine, rest, command.stdin, env)
        finally:
            machine.scope.variables = kept
    machine.secret = "the whole environment"
    return Value(UNKNOWN, SECRET)


@program("command")
def run_command(machine: Machine, command: Command) -> Value | None:
    rest = list(command.args)
    while rest and rest[0].text.startswith("-"):
        text = rest.pop(0).text
        if "v" in text or "V" in text:
            return Value(f"/usr/bin/{rest[0].text}") if rest else NOTHING
    return execute(machine, rest, command.stdin, dict(command.env)) if rest else NOTHING


# --- text that another program hands to a shell


@program("watch", "entr", "when-changed")
def run_watched(machine: Machine, command: Command) -> Value | None:
    return _as_text(machine, _behind_options(command.args, frozenset({"-n", "--interval"})))


def _as_text(machine: Machine, words: Sequence[Value], place: str = "here", stdin: Value | None = None) -> Value:
    text, marks = "", 0
    for word in words:
        text += (" " if text else "") + word.text
        marks |= word.marks
    return machine.subshell(lambda: machine.shell(Value(text, marks), place, stdin=stdin)) if text else ANYTHING


@program("su", "runuser", "sg", "script", "flock", "nix-shell", "nix", "sshpass", "expect", "machinectl")
def run_dash_c(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    for at, arg in enumerate(args):
        if arg.text in ("-c", "--command", "--session-command", "--run") and at + 1 < len(args):
            return machine.subshell(lambda: machine.shell(args[at + 1]))
        if arg.text.startswith(("--command=", "--session-command=")):
            return machine.subshell(lambda: machine.shell(Value(arg.text.partition("=")[2], arg.marks)))
        if re.fullmatch(r"-[a-z]*c", arg.text) and command.name in ("su", "script") and at + 1 < len(args):
            return machine.subshell(lambda: machine.shell(args[at + 1]))
    if command.name == "flock":
        rest = _behind_options(args, frozenset({"-w", "--timeout", "-E"}))[1:]
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "sshpass":
        rest = _behind_options(args, frozenset({"-p", "-f"}))
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "runuser":
        rest = _behind_options(args, frozenset({"-u", "-g"}))
        return execute(machine, rest, command.stdin, {}) if rest else None
    if command.name == "su" and command.stdin is not None:
        return machine.subshell(lambda: machine.shell(command.stdin or NOTHING))
    return None


@program("at", "batch")
def run_later(machine: Machine, command: Command) -> Value | None:
    if command.stdin is not None:
        machine.subshell(lambda: machine.shell(command.stdin or NOTHING))
    return NOTHING


@program("crontab")
def schedule(machine: Machine, command: Command) -> Value | None:
    """A new table of jobs: each line's command is judged, as what runs by itself."""
    found = parse(command.args, ("-u",))
    if found.any("-l", "-r", "-e"):
        return ANYTHING
    content = command.stdin if command.stdin is not None else NOTHING
    if found.operands and found.operands[0].text != "-":
        content = machine.content(found.operands[0].text)
    machine.write("/var/spool/cron/crontabs/user", Value(content.text or SOME, content.marks))
    return NOTHING


@program("screen", "tmux")
def run_terminal(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    if command.name == "screen":
        rest = _behind_options(args, frozenset({"-S", "-L", "-c", "-s", "-T", "-t", "-h", "-p", "-X"}))
        return execute(machine, rest, None, {}) if rest else None
    if args and args[0].text in ("new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "run-shell", "send-keys", "send", "if-shell"):
        rest = _behind_options(args[1:], frozenset({"-s", "-n", "-c", "-t", "-x", "-y", "-e", "-F", "-f"}))
        rest = [word for word in rest if word.text not in ("Enter", "C-m")]
        _as_text(machine, rest)
    return None


# --- runners of packages and environments

_RUNNERS = {
    "npx": ("-p", "--package", "-c"), "bunx": (), "pnpx": (), "uvx": ("--from", "--with", "--python", "-p"), "pipx": ("--spec",), "poetry": ("-C",),
    "pipenv": (), "bundle": (), "rye": (), "hatch": ("-e",), "conda": ("-n", "-p", "--name", "--prefix"), "mamba": ("-n", "-p"), "mise": (), "asdf": (),
    "rbenv": (), "pyenv": (), "nvm": (), "fnm": (), "volta": (), "direnv": (), "doppler": ("-p", "-c", "--project", "--config"), "op": ("--env-file",),
    "aws-vault": ("-d", "--duration"), "aws-okta": (), "chamber": (), "infisical": ("--env",), "teller": (), "sops": (), "envchain": (), "pdm": (), "pixi": (),
    "uv": ("--with", "--python", "-p", "--env-file", "--directory", "--project", "--extra", "--group"), "yarn": (), "pnpm": (), "bun": (), "corepack": (), "dotenvx": ("-f",), "nodemon": ("-w", "-e"),
    "cross-env": (), "dlx": (), "mvx": (), "foreman": (), "honcho": (), "spring": (), "docker-machine": (), "rustup": (), "cargo": (), "go": (), "deno": (), "make": (),
}  # fmt: skip
_VERBS = {
    "uv": ("run",), "uvx": ("",), "npx": ("",), "bunx": ("",), "pnpx": ("",), "pipx": ("run",), "poetry": ("run",), "pipenv": ("run",), "bundle": ("exec",), "rye": ("run",), "pdm": ("run",),
    "hatch": ("run",), "conda": ("run",), "mamba": ("run",), "mise": ("exec", "x"), "asdf": ("exec",), "rbenv": ("exec",), "pyenv": ("exec",), "nvm": ("exec",), "fnm": ("exec",),
    "volta": ("run",), "direnv": ("exec",), "doppler": ("run",), "op": ("run",), "aws-vault": ("exec",), "aws-okta": ("exec",), "chamber": ("exec",), "infisical": ("run",),
    "teller": ("run",), "envchain": ("",), "pixi": ("run",), "dotenvx": ("run",), "nodemon": ("--exec", "-x"), "cross-env": ("",), "foreman": ("run",), "honcho": ("run",), "corepack": ("",),
    "spring": ("",), "sops": ("exec-env", "exec-file"),
}  # fmt: skip
_NAMED_FIRST = frozenset({"aws-vault", "aws-okta", "chamber", "direnv", "envchain", "sops"})


@program(*_VERBS)
def run_through(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    verbs = _VERBS[command.name]
    valued = frozenset(_RUNNERS.get(command.name, ()))
    if verbs != ("",):
        at = next((n for n, arg in enumerate(args[:6]) if arg.text in verbs), -1)
        if at < 0:
            return _secrets_of(machine, command)
        args = args[at + 1 :]
    if command.name == "npx" and len(args) > 1 and args[0].text == "-c":
        return _as_text(machine, args[1:2])
    rest = _behind_options(args, valued)
    if command.name in _NAMED_FIRST:
        rest = rest[1:]
        rest = _behind_options(rest, valued)
    if rest and rest[0].text == "--":
        rest = rest[1:]
    env = dict(command.env)
    rest = _take_assignments(machine, rest, env)
    if not rest:
        return None
    if command.name == "sops" or (len(rest) == 1 and " " in rest[0].text):
        return _as_text(machine, rest)
    name = rest[0].text
    if command.name in ("uv", "poetry", "pipenv", "pdm", "hatch", "rye") and name.endswith(".py"):
        machine.run_file(name, "python", rest)
        return ANYTHING
    if "@" in name[1:] and command.name in ("npx", "bunx", "pnpx", "uvx", "pipx"):
        rest = [Value(name[0] + name[1:].partition("@")[0], rest[0].marks), *rest[1:]]
    return execute(machine, rest, command.stdin, env)


def _secrets_of(machine: Machine, command: Command) -> Value | None:
    printer = PROGRAMS.get("\0secrets")
    return printer(machine, command) if printer else None


# --- once for each line


@program("xargs", "gxargs")
def run_each(machine: Machine, command: Command) -> Value | None:
    valued = ("-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E", "--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--replace")
    args = list(command.args)
    rest = _behind_options(args, frozenset(valued))
    own = parse(args[: len(args) - len(rest)], valued)
    given = own.values.get("-a") or own.values.get("--arg-file")
    data = machine.content(given.text) if given else command.stdin
    items = _items(data, lines=own.any("-I", "-0", "-d", "-L"))
    if not rest:
        return data
    if (hole := own.values.get("-I") or own.values.get("--replace")) or own.any("-i"):
        return _replaced(machine, rest, hole.text if hole else "{}", items)
    return execute(machine, [*rest, *items], NOTHING, {})


def _items(data: Value | None, lines: bool) -> list[Value]:
    """The words, or lines, that a program gets for arguments."""
    if data is None:
        return [ANYTHING]
    if data.marks & REMOTE and not data.known:
        return [data]
    pieces = re.split(r"[\n\0]+" if lines else r"\s+", data.text.strip())
    return [Value(piece.strip("'\"") if not lines else piece, data.marks) for piece in pieces[:64] if piece] or [Value("", data.marks)]


def _replaced(machine: Machine, rest: list[Value], hole: str, items: list[Value]) -> Value:
    printed = NOTHING
    for item in items[:_MOST_LINES]:
        words = [Value(word.text.replace(hole, item.text), word.marks | (item.marks if hole in word.text else 0)) for word in rest]
        printed = execute(machine, words, NOTHING, {})
    return printed


@program("parallel", "rush")
def run_parallel(machine: Machine, command: Command) -> Value | None:
    rest = _behind_options(command.args, frozenset({"-j", "--jobs", "-a", "-S", "-n", "-N", "--delay", "--timeout", "-P", "--sshlogin", "--results"}))
    texts = [word.text for word in rest]
    if ":::" in texts:
        at = texts.index(":::")
        items, rest = [word for word in rest[at + 1 :] if not word.text.startswith(":::")], rest[:at]
    else:
        items = _items(command.stdin, lines=True)
    if not rest:
        for item in items[:_MOST_LINES]:
            machine.subshell(lambda item=item: machine.shell(item))  # type: ignore[misc]
        return ANYTHING
    if not any("{" in word.text for word in rest):
        rest = [*rest, Value("{}")]
    for item in items[:_MOST_LINES]:
        words = [Value(word.text.replace("{}", item.text), word.marks | (item.marks if "{}" in word.text else 0)) for word in rest]
        if len(words) == 1 or " " in words[0].text:
            _as_text(machine, words)
        else:
            execute(machine, words, NOTHING, {})
    return ANYTHING


# --- find and fd

_TIMES = frozenset({"-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-newermt", "-size", "-empty", "-user", "-group", "-uid", "-links", "-inum", "-samefile",
                    "-regex", "-iregex", "-lname", "-nouser", "-nogroup", "-xtype", "-used"})  # fmt: skip
_NAMES = frozenset({"-name", "-iname"})
_WHOLE = frozenset({"-path", "-ipath", "-wholename", "-iwholename"})
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@program("find", "gfind", "bfs")
def find(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = 0
    while at < len(args) and args[at].text in ("-H", "-L", "-P"):
        at += 1
    roots: list[Value] = []
    while at < len(args) and not args[at].text.startswith(("-", "(", "!", ")")):
        roots.append(args[at])
        at += 1
    names, wholes, filtered = [], [], False
    runs: list[list[Value]] = []
    delete = pruned = False
    negated = False
    while at < len(args):
        text = args[at].text
        at += 1
        if text in ("!", "-not"):
            negated = True
            continue
        if text in _NAMES or text in _WHOLE:
            if at < len(args):
                if not negated:
                    (names if text in _NAMES else wholes).append(args[at])
                at += 1
        elif text in _TIMES:
            filtered = True
            at += text not in ("-empty", "-nouser", "-nogroup")
        elif text in _RUNS:
            words = []
            while at < len(args) and args[at].text not in (";", "+"):
                words.append(args[at])
                at += 1
            at += 1
            runs.append(words)
        elif text == "-delete":
            delete = True
        elif text == "-prune":
            pruned = True
        elif text in ("-fprint", "-fprintf", "-fls") and at < len(args):
            machine.write(args[at], NOTHING)
            at += 1
        negated = False
    hits = _hits(roots or [Value(".")], names, wholes, filtered and not pruned)
    printed = NOTHING
    for hit in hits:
        if delete:
            machine.delete(hit, recursive=True)
        for words in runs:
            filled = [Value(word.text.replace("{}", hit.text), word.marks | (hit.marks if "{}" in word.text else 0)) for word in words]
            if filled:
                printed = printed + execute(machine, filled, NOTHING, {})
    return printed if runs else Value("\n".join(hit.text for hit in hits), _marks(hits))


def _marks(values: Sequence[Value]) -> int:
    marks = 0
    for value in values:
        marks |= value.marks
    return marks


def _hits(roots: list[Value], names: list[Value], wholes: list[Value], filtered: bool) -> list[Value]:
    """What a search stands for: each root with the name that was asked for, some of what is in it, or all."""
    found = []
    for root in roots[:8]:
        base = root.text.rstrip("/") or ("/" if root.text.startswith("/") else ".")
        base = "" if base == "/" else base
        some = False
        for pattern in names[:8]:
            text = pattern.text
            if text.strip("*") == "" or text in ("*.*", "?*"):
                continue
            some = True
            found.append(Value(f"{base}/{text}", GLOB if "*" in text or "?" in text or "[" in text else 0))
        for pattern in wholes[:8]:
            text = pattern.text
            if text.strip("*/.") == "":
                continue
            some = True
            if text.startswith("*"):
                inside = text.lstrip("*").strip("/").rstrip("*").rstrip("/")
                found.append(Value(f"{base}/{SOME}/{inside}" if inside else f"{base}/{SOME}"))
            elif text.endswith("*"):
                found.append(Value(text.rstrip("*").rstrip("/") or "/", TREE))
            else:
                found.append(Value(text))
        if some:
            continue
        if filtered:
            found.append(Value(f"{base}/{SOME}"))
        else:
            found.append(Value(f"{base}/*", root.marks | GLOB | TREE))
    return found


@program("fd", "fdfind")
def fd(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    at = next((n for n, arg in enumerate(args) if arg.text in ("-x", "--exec", "-X", "--exec-batch")), len(args))
    own, words = args[:at], args[at + 1 :]
    found = parse(own, ("-e", "-t", "-d", "-E", "-g", "-s", "-S", "-c", "--extension", "--type", "--max-depth", "--exclude", "--changed-within", "--size", "--owner"))
    pattern = found.operands[0] if found.operands else NOTHING
    roots = found.operands[1:] or [Value(".")]
    narrow = found.any("-e", "--extension", "-S", "--size", "--changed-within", "--changed-before")
    names = [Value("*." + (found.values.get("-e") or found.values.get("--extension") or Value(SOME)).text)] if narrow else []
    if pattern.text not in ("", ".", "*", ".*") and not narrow:
        names = [Value(f"*{pattern.text.strip('^$')}*")]
    hits = _hits(list(roots), names, [], False)
    for hit in hits:
        if words:
            filled = [Value(word.text.replace("{}", hit.text), word.marks | (hit.marks if "{}" in word.text else 0)) for word in words]
            if not any("{}" in word.text for word in words):
                filled.append(hit)
            execute(machine, filled, NOTHING, {})
    return Value("\n".join(hit.text for hit in hits), _marks(hits))


# --- elsewhere


@program("ssh", "autossh", "mosh", "dbclient", "slogin")
def run_remote(machine: Machine, command: Command) -> Value | None:
    valued = frozenset("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B".split())
    for at, arg in enumerate(command.args):
        text = arg.text if not arg.text.startswith("-o") or len(arg.text) > 2 else (command.args[at + 1].text if at + 1 < len(command.args) else "")
        if text.removeprefix("-o").lower().startswith(("proxycommand=", "localcommand=")):
            machine.subshell(lambda text=text: machine.shell(text.partition("=")[2]))  # type: ignore[misc]
    rest = _behind_options(command.args, valued)
    if len(rest) < 2:
        if rest and command.stdin is not None and command.stdin.text:
            machine.subshell(lambda: machine.shell(command.stdin or NOTHING, "host"))
        return Value(UNKNOWN, REMOTE)
    if command.stdin is not None:
        machine.send(command.stdin if command.stdin.marks & SECRET else NOTHING, rest[0].text)
    behind = _behind_options(rest[1:], valued)
    _as_text(machine, behind, "host", command.stdin)
    return Value(UNKNOWN, REMOTE)


_ENGINE_VALUES = frozenset(
    "-e --env -u --user -w --workdir -v --volume --mount --name -p --publish --env-file --network --entrypoint -h --hostname -l --label -m --memory --cpus --platform --pull"
    " --restart --add-host --device --ipc --pid --gpus --tmpfs --ulimit --cap-add --cap-drop --security-opt -f --file --project-directory --profile --index --detach-keys"
    " -n --namespace -c --container --context --kubeconfig --image --overrides --annotations -l --cidfile --log-driver --dns --shm-size --runtime --userns --group-add".split()
)  # fmt: skip


def run_in_container(machine: Machine, args: Sequence[Value], named: bool, stdin: Value | None, image: bool) -> Value:
    """``docker exec [options] NAME command``, ``docker run [options] IMAGE command``: what runs inside."""
    rest = _behind_options(args, _ENGINE_VALUES)
    own = list(args[: len(args) - len(rest)])
    if named:
        rest = rest[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    mounts = _mounts(machine, own) if image else ()
    entry = next((own[n + 1] for n, arg in enumerate(own[:-1]) if arg.text == "--entrypoint"), None)
    entry = entry or next((Value(arg.text.partition("=")[2]) for arg in own if arg.text.startswith("--entrypoint=")), None)
    if entry is not None and entry.text:
        rest = [entry, *rest]
    if not rest:
        return ANYTHING
    folder = next((own[n + 1].text for n, arg in enumerate(own[:-1]) if arg.text in ("-w", "--workdir")), "/")

    def work() -> Value:
        before, machine.mounts = machine.mounts, mounts
        place, machine.place = machine.place, "container"
        machine.scope.cwd = folder
        try:
            return execute(machine, rest, stdin, {})
        finally:
            machine.mounts, machine.place = before, place

    return machine.subshell(work)


def _mounts(machine: Machine, own: Sequence[Value]) -> tuple[tuple[str, str], ...]:
    found = []
    for at, arg in enumerate(own):
        text = arg.text
        if text in ("-v", "--volume", "--mount") and at + 1 < len(own):
            text = own[at + 1].text
        elif text.startswith(("-v=", "--volume=", "--mount=")):
            text = text.partition("=")[2]
        elif text.startswith("-v") and len(text) > 3:
            text = text[2:]
        else:
            continue
        if "target=" in text or "dst=" in text or "destination=" in text:
            fields = dict(part.partition("=")[::2] for part in text.split(","))
            outside, inside = fields.get("source", fields.get("src", "")), fields.get("target", fields.get("dst", fields.get("destination", "")))
        else:
            outside, _, inside = text.partition(":")
            inside = inside.partition(":")[0]
        if outside.startswith(("/", ".", "~")) and inside.startswith("/"):
            found.append((posixpath.normpath(inside), machine.absolute(outside)))
    return tuple(found)


@program("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "k3s", "crictl", "lxc", "incus", "microk8s", "minikube", "finch")
def engine(machine: Machine, command: Command) -> Value | None:
    """The parts of container tools that run something; what they remove is judged elsewhere."""
    args = list(command.args)
    rest = _behind_options(args, _ENGINE_VALUES | {"-H", "--host", "--log-level", "--config", "--server", "--token", "--as"})
    if command.name in ("k3s", "microk8s", "minikube") and rest and rest[0].text in ("kubectl", "--"):
        return execute(machine, [Value("kubectl"), *rest[1:]], command.stdin, {})
    if rest and rest[0].text in ("container", "compose"):
        rest = _behind_options(rest[1:], _ENGINE_VALUES)
    if not rest:
        return None
    verb = rest[0].text
    if command.name in ("kubectl", "oc", "lxc", "incus", "k3s"):
        if verb in ("exec", "rsh", "debug"):
            return _behind_dashes(machine, rest[1:], command.stdin)
        if verb == "run" and "--" in [arg.text for arg in rest]:
            return _behind_dashes(machine, rest[1:], command.stdin)
        return _secrets_of(machine, command)
    if verb == "exec":
        return run_in_container(machine, rest[1:], True, command.stdin, image=False)
    if verb in ("run", "create"):
        return run_in_container(machine, rest[1:], True, command.stdin, image=True)
    return _secrets_of(machine, command)


def _behind_dashes(machine: Machine, rest: Sequence[Value], stdin: Value | None) -> Value:
    texts = [arg.text for arg in rest]
    if "--" in texts:
        return run_in_container(machine, rest[texts.index("--") + 1 :], False, stdin, image=False)
    return run_in_container(machine, rest, True, stdin, image=False)


@program("vagrant", "heroku", "gcloud-ssh", "adb", "fly", "flyctl", "railway", "kamal", "pdsh", "clush", "pssh", "multipass", "limactl", "colima", "wsl", "toolbox", "distrobox")
def run_there(machine: Machine, command: Command) -> Value | None:
    """Other ways to run a command on another machine."""
    args = list(command.args)
    texts = [arg.text for arg in args]
    for flag in ("-c", "-C", "--command"):
        if flag in texts and texts.index(flag) + 1 < len(texts) and command.name in ("vagrant", "fly", "flyctl", "railway"):
            return _as_text(machine, args[texts.index(flag) + 1 :][:1], "host")
    if command.name in ("heroku", "fly", "flyctl", "railway", "kamal") and texts[:1] != ["run"]:
        return None
    rest = args[1:] if texts[:1] in (["run"], ["shell"], ["exec"], ["ssh"]) else args
    rest = _behind_options(rest, frozenset({"-a", "--app", "-w", "-s", "-n", "-d", "-u"}))
    if command.name in ("multipass", "limactl", "toolbox", "distrobox", "pdsh", "clush", "pssh") and rest and command.name in ("multipass", "limactl"):
        rest = rest[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    return _as_text(machine, rest, "host") if rest else None
