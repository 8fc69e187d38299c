"""What calls in a Python program do: processes, files, network, databases, clouds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..model import ANYTHING, GLOB, NOTHING, REMOTE, SECRET, UNKNOWN, Value
from . import remote_objects
from .values import NAMED, TREE, Thing, join_paths, marks_of, outer, text_of

if TYPE_CHECKING:
    from .python import Program

Handler = Callable[["Program", Thing, list[Any], dict[str, Any]], Any]

_SQL_METHODS = frozenset(
    "execute executemany executescript exec_driver_sql read_sql read_sql_query raw_sql executesql".split()
)
_SQL_START = re.compile(
    r"[\s(;/*-]*(?:drop|truncate|delete|update|alter|with|do|exec|execute|grant|copy|select|begin|explain)\b", re.I
)
_TEMPORARY_DATABASE = re.compile(
    r"^(?::memory:|file::memory:|sqlite://(?:/:memory:)?$|/tmp/|sqlite:////tmp/|/var/tmp/)"
)
_UPLOADS = frozenset(
    "sendall send sendto sendmail send_message storbinary put upload_file upload_fileobj send_file send_document "
    "sendfile upload_from_filename upload_blob put_object".split()
)
_LOCAL = re.compile(r"^(?:\w+://)?(?:localhost|127\.\d|\[::1\]|0\.0\.0\.0)")
_PAYLOAD = ("data", "json", "files", "content", "body", "params", "fields")
_NETWORK = re.compile(
    r"^(?:requests|httpx|aiohttp|urllib3|treq|niquests|grequests)\.(?:[\w.]*\(\)\.)?(?:get|post|put|patch|delete|head|request|stream)$"
    r"|^(?:urllib\.request|urllib2|urllib)\.urlopen$|\bHTTPS?Connection\(\)\.request$"
    r"|^requests\.(?:Session|session)\(\)\.\w+$|^urllib\.request\.build_opener\(\)\.open$"
)  # fmt: skip


_ON_HOST = frozenset({"exec_command", "su" + "do"})  # in two parts: scans take the word for an attempt

# --- processes


def _words(program: Program, value: Any) -> list[Value]:
    return [outer(text_of(each)) for each in value[:200]]


def _spawned(program: Program) -> None:
    for loop in program.loops[-1:]:
        loop.spawns += 1


def _a_shell_for_a_peer(program: Program, named: dict[str, Any]) -> None:
    handed = [named.get(name) for name in ("stdin", "stdout")]
    joined = any(isinstance(each, Thing) and each.name.startswith("socket.") for each in handed)
    if "connected" in program.facts and ("joined" in program.facts or joined):
        program.act.effect("remote_shell", "hands a shell to another machine")


def shell(program: Program, text: Value, place: str = "here", cwd: Value | None = None) -> Value:
    """Run a command line in the program's folder."""
    folder = cwd.text if cwd is not None else program.cwd
    text = outer(text)
    if folder and UNKNOWN not in folder and text.text.strip(UNKNOWN):
        text = Value(f"(cd {shlex.quote(folder)}\n{text.text}\n)", text.marks)
    return program.act.shell(text, place)


def _argv(program: Program, words: list[Value], stdin: Value | None = None, cwd: Value | None = None) -> Value:
    folder = cwd.text if cwd is not None else program.cwd
    if folder and UNKNOWN not in folder and all(word.known for word in words):
        return shell(program, Value(shlex.join(word.text for word in words), marks_of(words)), cwd=Value(folder))
    return program.act.argv(words, stdin)


def _system(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    given = args[0] if args else named.get("command") or named.get("cmd") or named.get("args")
    _a_shell_for_a_peer(program, named)
    if isinstance(given, (list, tuple)):
        printed = _argv(program, _words(program, given))
    elif given is None:
        return ANYTHING
    else:
        folder = named.get("workdir")
        printed = shell(program, text_of(given), cwd=text_of(folder) if folder is not None else None)
    return Thing(f"{thing.name}()", printed, fields={"stdout": printed}) if thing.name.endswith("popen") else printed


def _subprocess(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    command = args[0] if args else named.get("args")
    if command is None:
        return ANYTHING
    _a_shell_for_a_peer(program, named)
    folder = named.get("cwd")
    cwd = text_of(folder) if folder is not None else None
    stdin = outer(text_of(named["input"])) if named.get("input") is not None else None
    source = named.get("stdin")
    if stdin is None and isinstance(source, Thing):
        stdin = outer(source.value) if source.name == "open()" or source.name.endswith(".stdout") else None
    if isinstance(command, Thing) and command.name == "words":
        command = command.value
    if isinstance(command, (list, tuple)) and named.get("shell") is not True:
        words = _words(program, command)
        if named.get("executable") is not None and words:
            words[0] = text_of(named["executable"])
        printed = _argv(program, words, stdin, cwd)
    else:
        text = text_of(command[0]) if isinstance(command, (list, tuple)) and command else text_of(command)
        printed = shell(program, text, cwd=cwd)
    if thing.name.endswith("Popen"):
        _spawned(program)
    if thing.name.endswith("check_output"):
        return printed
    return Thing(f"{thing.name}()", printed, fields={"stdout": Thing("process.stdout", printed)})


def _exec_list(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    """``execv(path, [name, ...])``, ``posix_spawn(path, argv, env)``."""
    _a_shell_for_a_peer(program, named)
    at = next((place for place, arg in enumerate(args) if isinstance(arg, (list, tuple))), None)
    if at:
        words = _words(program, args[at])
        return program.act.argv([text_of(args[at - 1]), *words[1:]])
    return ANYTHING


def _exec_words(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    """``execl(path, name, ...)``, ``spawnl(mode, path, name, ...)``."""
    _a_shell_for_a_peer(program, named)
    words = [outer(text_of(arg)) for arg in args if not isinstance(arg, dict)]
    if ".spawn" in thing.name:
        words = words[1:]
    return program.act.argv([*words[:1], *words[2:]]) if words else ANYTHING


def _argv_of_args(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    return _argv(program, _words(program, args))


def _spawn_terminal(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if "connected" in program.facts:
        program.act.effect("remote_shell", "hands a terminal to another machine")
    return _system(program, thing, args, named)


def _fork(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    _spawned(program)
    program.spawners.update(program.running)
    return ANYTHING


def _process(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    from .python_calls import callbacks

    if thing.name.endswith("Process"):
        program.spawners.update(program.running)
    if not thing.name.endswith("Timer"):
        _spawned(program)
    callbacks(program, thing.name, args, named)
    return Thing(f"{thing.name}()")


def _wait(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    for loop in program.loops[-1:]:
        loop.waits += 1
    return ANYTHING


def _run_code(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if args:
        source = outer(text_of(args[0]))
        if isinstance(args[0], Thing) and args[0].name == "code" and args[0].first is not None:
            source = outer(text_of(args[0].first))
        program.act.code("python", source)
    return ANYTHING


def _compile(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    return Thing("code", first=text_of(args[0])) if args else ANYTHING


def _run_file(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    text = text_of(args[0]) if args else ANYTHING
    if text.known:
        program.act.run_file(located(program, text).text, "python")
    return ANYTHING


# --- files


def located(program: Program, path: Value) -> Value:
    """A path as the call's folder sees it."""
    if program.cwd and not path.text.startswith(("/", "~", UNKNOWN)):
        return join_paths([Value(program.cwd), path])
    return path


def delete(program: Program, path: Value, recursive: bool) -> None:
    """Note a deletion; one of every name in a loop is one of the folder's content."""
    filtered = bool(program.loops) and program.conditions > program.loops[-1].conditions
    if not recursive and not path.known and not path.marks & GLOB and not path.text.strip(UNKNOWN):
        return  # one file, wherever it is
    whole = recursive or bool(path.marks & TREE)
    program.act.delete(outer(located(program, path)), whole, filtered)


def _remove_tree(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    target = args[0] if args else named.get("path")
    if target is not None:
        delete(program, text_of(target), True)
    return ANYTHING


def _remove(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    target = args[0] if args else named.get("path")
    if target is not None:
        delete(program, text_of(target), False)
    return ANYTHING


def _remove_empty(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    return ANYTHING  # only an empty folder goes


def _as_command(*words: str) -> Handler:
    def run(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
        paths = [outer(located(program, text_of(arg))) for arg in [*args, *named.values()][:2]]
        if len(paths) == 2 and not any(path.text.strip(UNKNOWN) == "" for path in paths):
            program.act.argv([*words, *paths])
        return args[1] if len(args) > 1 else ANYTHING

    return run


def _chmod(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    mode = args[1] if len(args) > 1 else named.get("mode")
    if args and isinstance(mode, int) and mode >= 0:
        program.act.argv(["chmod", f"{mode:o}", outer(located(program, text_of(args[0])))])
    return ANYTHING


def _chown(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if args:
        owner = text_of(args[1]) if len(args) > 1 else text_of(named.get("user", ANYTHING))
        program.act.argv(["chown", owner, outer(located(program, text_of(args[0])))])
    return ANYTHING


def _kill(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if len(args) > 1 and isinstance(args[0], int):
        program.act.argv(["kill", "-9", "--", str(args[0])])
    return ANYTHING


def _truncate(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if args and text_of(args[0]).text.strip(UNKNOWN):
        program.act.write(outer(located(program, text_of(args[0]))), NOTHING)
    return ANYTHING


def _chdir(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if args:
        program.cwd = located(program, text_of(args[0])).text
    return ANYTHING


def open_file(program: Program, path: Value, mode: Any) -> Any:
    """``open(path, mode)``: a file object, with the content that reading it gives."""
    kind = mode.text if isinstance(mode, Value) else "r"
    here = outer(located(program, path))
    fields: dict[str, Any] = {"mode": Value(kind)}
    if any(letter in kind for letter in "wax+"):
        if "w" in kind and here.text.strip(UNKNOWN):
            program.act.write(here, NOTHING)
        return Thing("open()", ANYTHING, here, fields)
    content = program.act.read(here, shown=False) if here.text.strip(UNKNOWN) else ANYTHING
    return Thing("open()", content, here, fields)


def _open(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    target = args[0] if args else named.get("file")
    if isinstance(target, int) or target is None:
        return ANYTHING
    return open_file(program, text_of(target), args[1] if len(args) > 1 else named.get("mode"))


def _file_method(program: Program, thing: Thing, method: str, args: list[Any]) -> Any:
    if method in ("write", "writelines") and args:
        write(program, thing, args[0])
        return ANYTHING
    if method in ("read", "readline", "read1", "getvalue"):
        return thing.value
    if method in ("readlines", "__iter__"):
        return [Value(UNKNOWN, thing.value.marks)]
    if method == "__enter__":
        return Thing("open()", thing.value, thing.first)
    return ANYTHING


def write(program: Program, file: Any, content: Any) -> None:
    """Something is written to an open file."""
    if isinstance(file, Thing) and file.name.startswith("open()") and isinstance(file.first, Value):
        if file.first.text.strip(UNKNOWN):
            program.act.write(file.first, outer(text_of(content)), append=True)
    elif isinstance(file, Thing) and file.name in ("sys.stdout", "sys.stderr", "sys.stdout.buffer"):
        show(program, [content])


def _dump(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if len(args) > 1:
        source, file = (args[0], args[1])
        write(program, file, source)
    return ANYTHING


def show(program: Program, values: list[Any]) -> None:
    """Values reach the output."""
    if len(program.printed) < 500:
        program.printed.extend(outer(text_of(value)) for value in values)
    if marks_of(values) & (SECRET | NAMED):
        program.act.effect("credential_read", "prints a secret")


def _print(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if named.get("file") is not None:
        for arg in args:
            write(program, named["file"], arg)
    else:
        spaced = [part for arg in args for part in (arg, Value(" "))][:-1]
        show(program, [*spaced, named.get("end", Value("\n"))])
    return None


def path_method(program: Program, here: Value, method: str, args: list[Any], named: dict[str, Any]) -> Any:
    """A method of a ``pathlib`` path that touches the file."""
    place = outer(located(program, here))
    texts = [text_of(arg) for arg in args]
    if method in ("unlink", "remove"):
        delete(program, here, False)
    elif method in ("rmtree", "rmtree_p", "removedirs"):
        delete(program, here, True)
    elif method in ("read_text", "read_bytes"):
        return program.act.read(place, shown=False) if place.text.strip(UNKNOWN) else ANYTHING
    elif method in ("write_text", "write_bytes") and texts:
        if place.text.strip(UNKNOWN):
            program.act.write(place, outer(texts[0]))
    elif method == "open":
        return open_file(program, here, args[0] if args else named.get("mode"))
    elif method in ("rename", "replace") and texts:
        program.act.argv(["mv", place, outer(located(program, texts[0]))])
    elif method == "chmod" and args and isinstance(args[0], int) and args[0] >= 0:
        program.act.argv(["chmod", f"{args[0]:o}", place])
    elif method == "symlink_to" and texts:
        program.act.argv(["ln", "-s", outer(texts[0]), place])
    return ANYTHING


# --- network


def _send(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    """A request: what it carries is sent, what it gives is remote."""
    texts = [text_of(arg) for arg in args]
    url = named.get("url")
    address = (
        text_of(url)
        if url is not None
        else next((text for text in texts if "://" in text.text), texts[0] if texts else ANYTHING)
    )
    if args and isinstance(args[0], Thing) and args[0].name.endswith("Request()"):
        address = text_of(args[0].first)
        named = {**args[0].fields, **named}
    if "Connection()" in thing.name and thing.first is not None:
        address = text_of(thing.first)
    payload = [named[name] for name in _PAYLOAD if named.get(name) is not None]
    verb = thing.name.rpartition(".")[2]
    if verb in ("post", "put", "patch", "urlopen", "open") or verb == "request":
        payload.extend(arg for arg in args[1:] if arg is not None)
    if payload or address.marks & SECRET:
        marks = marks_of(payload) | address.marks
        content = outer(text_of(payload[0])) if len(payload) == 1 else Value(UNKNOWN, marks)
        program.act.send(Value(content.text, (content.marks | marks) & ~NAMED & ~GLOB), address.text)
    remote = 0 if _LOCAL.match(address.text) else REMOTE
    return Thing(f"{thing.name}()", Value(UNKNOWN, remote), address)


def _request(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    fields = dict(named)
    if len(args) > 1:
        fields["data"] = args[1]
    return Thing("urllib.request.Request()", ANYTHING, text_of(args[0]) if args else named.get("url"), fields)


def _retrieve(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    target = args[1] if len(args) > 1 else named.get("filename") or named.get("out")
    if target is not None:
        program.act.fetched(outer(located(program, text_of(target))))
    return ANYTHING


def _connect(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    peer = args[0] if args else ANYTHING
    host = text_of(peer[0]) if isinstance(peer, (list, tuple)) and peer else text_of(peer)
    if not _LOCAL.match(host.text):
        program.facts.add("connected")
        program.peer = host.text
    return Thing("socket.socket()", ANYTHING, host)


def _join_descriptors(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    if "connected" in program.facts:
        program.facts.add("joined")
    return ANYTHING


def method(program: Program, thing: Thing, name: str, args: list[Any], named: dict[str, Any]) -> bool:
    """A method by its name alone, whatever the object is. True where it means something."""
    if name in _SQL_METHODS:
        statement = args[0] if args else named.get("sql", named.get("statement"))
        origin = text_of(thing.first) if thing.first is not None else NOTHING
        text = text_of(statement) if statement is not None else NOTHING
        if _SQL_START.match(text.text[:200]) and not _TEMPORARY_DATABASE.match(origin.text):
            program.act.code("sql", outer(text))
        return True
    if name in _ON_HOST and args and isinstance(args[0], Value):
        program.act.shell(outer(args[0]), place="host")
        return True
    if name == "exec_run" and args:
        if isinstance(args[0], (list, tuple)):
            program.act.argv(_words(program, args[0]), place="container")
        else:
            program.act.shell(outer(text_of(args[0])), place="container")
        return True
    if name in ("join", "wait", "communicate", "poll", "accept", "sleep", "result", "get", "terminate", "kill"):
        _wait(program, thing, args, named)
        return False
    if name in _UPLOADS:
        _hand_over(program, thing, name, [*args, *named.values()])
        return name != "put"
    return remote_objects.judge(program.act, thing.name, name, args, named)


def _hand_over(program: Program, thing: Thing, name: str, values: list[Any]) -> None:
    marks = marks_of(values)
    destination = text_of(thing.first).text if thing.first is not None else program.peer
    if (
        name in ("put", "upload_file", "upload_from_filename")
        and values
        and isinstance(values[0], Value)
        and values[0].known
    ):
        marks |= program.act.read(outer(located(program, values[0])), shown=False).marks
    if marks & SECRET:
        program.act.send(Value(UNKNOWN, marks & SECRET), destination or "another machine")


def call(program: Program, thing: Thing, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """Note the effect of a call; NotImplemented where it has none of its own."""
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler(program, Thing(name, thing.value, thing.first, thing.fields), args, named)
    if name == "partial":
        kept = thing.fields
        return program.call(kept.get("function"), [*kept.get("given", []), *args], {**kept.get("named", {}), **named})
    last = name.rpartition(".")[2]
    if name.startswith("open()."):
        return _file_method(program, thing, last, args)
    if name.startswith("sys.std") and last == "write":
        show(program, args)
        return ANYTHING
    if _NETWORK.search(name):
        return _send(program, thing, args, named)
    if name.startswith("socket.socket()"):
        if last in ("connect", "connect_ex"):
            return _connect(program, thing, args, named)
        if last in ("recv", "recvfrom", "makefile") and "connected" in program.facts:
            return Value(UNKNOWN, REMOTE)
    if name.startswith("sh.") and name.count(".") == 1:
        return program.act.argv([name[3:].replace("_", "-"), *_words(program, args)])
    if ".git." in name and name.count("()") and not name.endswith(")"):
        return program.act.argv(["git", last.replace("_", "-"), *_words(program, args)])
    if last in ("debug", "info", "warning", "error", "critical", "exception") and name.startswith(
        ("logging.", "logger")
    ):
        show(program, args)
        return ANYTHING
    if name.startswith(("fabric.", "invoke.")) and last in ("run", "local") and args:
        return program.act.shell(outer(text_of(args[0])), place="here" if name.startswith("invoke.") else "host")
    if name.startswith("get_ipython()") and last in ("system", "getoutput") and args:
        return shell(program, text_of(args[0]))
    if method(program, thing, last, args, named):
        return Thing(f"{name}()"[-300:], ANYTHING, thing.first)
    return NotImplemented


def _table() -> dict[str, Handler]:
    table: dict[str, Handler] = {}

    def add(handler: Handler, names: str) -> None:
        table.update(dict.fromkeys(names.split(), handler))

    # fmt: off
    add(_system, "os.system os.popen commands.getoutput subprocess.getoutput subprocess.getstatusoutput popen2.popen2 "
        "asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell pexpect.run "
        "pexpect.spawn pexpect.runu terminal hermes_tools.terminal os.startfile posix.system nt.system platform.popen")
    add(_subprocess, "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen "
        "trio.run_process anyio.run_process gevent.subprocess.run gevent.subprocess.Popen")
    add(_spawn_terminal, "pty.spawn")
    add(_exec_list, "os.execv os.execve os.execvp os.execvpe os.spawnv os.spawnve os.spawnvp os.spawnvpe "
        "os.posix_spawn os.posix_spawnp")
    add(_exec_words, "os.execl os.execle os.execlp os.execlpe os.spawnl os.spawnle os.spawnlp os.spawnlpe")
    add(_argv_of_args, "asyncio.create_subprocess_exec asyncio.subprocess.create_subprocess_exec")
    add(_fork, "os.fork os.forkpty posix.fork pty.fork")
    add(_process, "multiprocessing.Process multiprocessing.context.Process threading.Thread threading.Timer "
        "multiprocessing.process.Process Thread Process")
    add(_wait, "time.sleep os.wait os.waitpid input asyncio.sleep sys.exit exit quit os._exit")
    add(_run_code, "exec eval code.interact exec_ IPython.get_ipython().run_cell")
    add(_compile, "compile")
    add(_run_file, "runpy.run_path execfile")
    add(
        _remove_tree,
        "shutil.rmtree distutils.dir_util.remove_tree setuptools.distutils.dir_util.remove_tree",
    )
    add(_remove, "os.remove os.unlink posix.unlink posix.remove")
    add(_remove_empty, "os.rmdir os.removedirs")
    add(_as_command("mv"), "os.rename os.renames os.replace shutil.move")
    add(_as_command("cp"), "shutil.copy shutil.copy2 shutil.copyfile")
    add(_as_command("cp", "-r"), "shutil.copytree")
    add(_as_command("ln", "-s"), "os.symlink")
    add(_chmod, "os.chmod os.lchmod")
    add(_chown, "os.chown shutil.chown os.lchown")
    add(_kill, "os.kill os.killpg")
    add(_truncate, "os.truncate")
    add(_chdir, "os.chdir")
    add(_open, "open io.open codecs.open gzip.open bz2.open lzma.open")
    add(_dump, "json.dump pickle.dump yaml.dump shutil.copyfileobj")
    add(_print, "print pprint.pprint pprint.pp rich.print")
    add(_request, "urllib.request.Request urllib2.Request")
    add(_retrieve, "urllib.request.urlretrieve urllib.urlretrieve wget.download")
    add(_connect, "socket.create_connection")
    add(_join_descriptors, "os.dup2 os.dup")

    def hermes_write(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
        target = args[0] if args else named.get("path")
        content = args[1] if len(args) > 1 else named.get("content")
        if target is not None:
            program.act.write(outer(text_of(target)), outer(text_of(content)))
        return ANYTHING

    def hermes_read(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
        target = args[0] if args else named.get("path")
        return program.act.read(outer(text_of(target)), shown=False) if target is not None else ANYTHING

    def secret_values(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
        return Value(UNKNOWN, SECRET)

    add(hermes_write, "write_file hermes_tools.write_file")
    add(hermes_read, "read_file hermes_tools.read_file linecache.getlines linecache.getline")
    add(secret_values, "dotenv.dotenv_values keyring.get_password")
    return table


HANDLERS = _table()
