"""What functions of script languages do, as a few verbs that the tables of the languages name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..model import ANYTHING, GLOB, NOTHING, REMOTE, SECRET, UNKNOWN, Value
from .reader import Function, Reader
from .values import NAMED, Thing, decode, environment, expand_home, join_paths, marks_of, outer, text_of

Verb = Callable[[Reader, Thing, list[Any]], Any]

_SHELLS = re.compile(r"^(?:/(?:usr/)?bin/)?(?:ba|z|da|k)?sh$|^(?:cmd|powershell)(?:\.exe)?$")
_LOCAL = re.compile(r"^(?:\w+://)?(?:localhost|127\.\d|\[::1\]|0\.0\.0\.0)")
_SQL = re.compile(r"[\s(;]*(?:drop|truncate|delete\s+from|update|alter|with|grant|do|exec)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?|ftps?)://", re.IGNORECASE)
_GLOB = re.compile(r"[*?]|\[[^\]]+\]")


def path_of(reader: Reader, value: Any) -> Value:
    """A value as a path; a leading ``~`` stays what it is in these languages."""
    return outer(text_of(value))


def argument(args: list[Any], place: int = 0) -> Any:
    """One argument, ANYTHING where it is missing."""
    return args[place] if place < len(args) else ANYTHING


def options(args: list[Any]) -> dict[str, Any]:
    """The last mapping among the arguments."""
    return next((arg for arg in reversed(args) if isinstance(arg, dict)), {})


def words_of(args: list[Any]) -> list[Value]:
    """Arguments, and the items of lists among them, as words."""
    words: list[Value] = []
    for arg in args:
        if isinstance(arg, list):
            words.extend(outer(text_of(each)) for each in arg[:200])
        elif not isinstance(arg, (dict, Function)):
            words.append(outer(text_of(arg)))
    return words


def true(value: Any) -> bool:
    """Whether an option is surely set."""
    return (isinstance(value, Thing) and value.name in ("true", "TRUE", "True")) or (
        isinstance(value, int) and value > 0
    )


def _peer(reader: Reader, words: list[Value]) -> None:
    if "connected" in reader.facts and words and _SHELLS.match(words[0].text.split(" ")[0]):
        reader.act.effect("remote_shell", "hands a shell to another machine")


def shell(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A command line, or the words of a command where there are several."""
    words = words_of(args)
    _peer(reader, words)
    if len(words) > 1:
        return reader.act.argv(words)
    return reader.act.shell(words[0]) if words else ANYTHING


def shell_line(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A command line in the first argument; what else is given is not part of it."""
    words = words_of(args[:1])
    _peer(reader, words)
    return reader.act.shell(words[0]) if words else ANYTHING


def spawn(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A program and the list of its arguments; with ``shell: true`` a command line."""
    given = options(args)
    words = words_of(args)
    _peer(reader, words)
    if not words:
        return ANYTHING
    if true(given.get("shell")) or (len(words) == 1 and " " in words[0].text):
        text = Value(" ".join(word.text for word in words), marks_of(words))
        return reader.act.shell(text)
    return reader.act.argv(words)


def delete_tree(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Folders with all that is in them."""
    for path in words_of(args):
        _delete(reader, path, True)
    return ANYTHING


def delete_files(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Single files."""
    for path in words_of(args):
        if path.text.strip(UNKNOWN):
            _delete(reader, path, False)
    return ANYTHING


def delete_where_recursive(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A path; a tree where ``recursive`` is set."""
    paths = words_of(args[:1])
    recursive = any(true(options(args).get(name)) for name in ("recursive", "recurse", "force_recursive"))
    for path in paths:
        if recursive or path.text.strip(UNKNOWN):
            _delete(reader, path, recursive)
    return ANYTHING


def _delete(reader: Reader, path: Value, recursive: bool) -> None:
    marks = path.marks | (GLOB if _GLOB.search(path.text) else 0)
    reader.act.delete(Value(path.text, marks), recursive)


def read(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The content of a file, or of an address."""
    path = path_of(reader, argument(args))
    if _ADDRESS.match(path.text):
        return get(reader, thing, args)
    return reader.act.read(path, shown=False) if path.text.strip(UNKNOWN) else ANYTHING


def read_shown(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A file is printed."""
    path = path_of(reader, argument(args))
    if path.text.strip(UNKNOWN):
        reader.act.read(path)
    return ANYTHING


def write(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``write(path, content)``."""
    path = path_of(reader, argument(args))
    if path.text.strip(UNKNOWN):
        reader.act.write(path, outer(text_of(argument(args, 1))))
    return ANYTHING


def append(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``append(path, content)``."""
    path = path_of(reader, argument(args))
    if path.text.strip(UNKNOWN):
        reader.act.write(path, outer(text_of(argument(args, 1))), append=True)
    return ANYTHING


def open_file(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``open(path, mode)`` that gives a file object."""
    path = path_of(reader, argument(args))
    mode = text_of(argument(args, 1)).text if len(args) > 1 else "r"
    if _ADDRESS.match(path.text):
        return get(reader, thing, args)
    if mode[:1] in ("w", "a") and mode.isascii() and len(mode) < 5:
        if mode[0] == "w" and path.text.strip(UNKNOWN):
            reader.act.write(path, NOTHING)
        return Thing("file()", ANYTHING, path)
    content = reader.act.read(path, shown=False) if path.text.strip(UNKNOWN) else ANYTHING
    return Thing("file()", content, path)


def write_to_file(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A method of a file object that writes."""
    if isinstance(thing.first, Value) and thing.first.text.strip(UNKNOWN):
        for arg in args[:1]:
            reader.act.write(thing.first, outer(text_of(arg)), append=True)
    return ANYTHING


def content(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A method of a file object, or of a response, that gives its content."""
    return thing.value


def move(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``rename(a, b)``."""
    return _two(reader, ["mv"], args)


def copy(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``copy(a, b)``."""
    return _two(reader, ["cp", "-r"], args)


def _two(reader: Reader, words: list[Value | str], args: list[Any]) -> Any:
    paths = words_of(args)[:2]
    if len(paths) == 2 and all(path.text.strip(UNKNOWN) for path in paths):
        reader.act.argv([*words, *paths])
    return ANYTHING


def chmod(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """``chmod(path, mode)`` or ``chmod(mode, path)``."""
    numbers = [arg for arg in args if isinstance(arg, int)]
    paths = [word for word in words_of([arg for arg in args if not isinstance(arg, int)]) if word.text.strip(UNKNOWN)]
    if numbers and paths:
        recursive = ["-R"] if thing.name.lower().endswith(("_r", "chmodr")) else []
        reader.act.argv(["chmod", *recursive, str(numbers[0]).removeprefix("0o"), paths[0]])
    return ANYTHING


def show(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Prints, each line with its end."""
    reader.show(args, "\n")
    return ANYTHING


def show_as_is(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Prints without an end of line."""
    reader.show(args)
    return ANYTHING


def code(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Runs its argument as code of the same language."""
    source = argument(args)
    if isinstance(source, Function):
        return ANYTHING
    reader.act.code(reader.dialect.name, outer(text_of(source)))
    return ANYTHING


def run_file(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Runs a file of the same language."""
    path = text_of(argument(args))
    if path.known and path.text:
        reader.act.run_file(path.text, reader.dialect.name)
    return ANYTHING


def same(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Its argument, or what it is a method of, in another form."""
    return text_of(args[0]) if args and not isinstance(args[0], (dict, Function)) else text_of(thing)


def nothing(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Tells nothing of its arguments."""
    return ANYTHING


def home(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The user's home."""
    return Value(reader.act.home)


def here(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The working folder."""
    return Value(reader.act.cwd)


def expand(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """An absolute path; here ``~`` is the home."""
    parts = [expand_home(outer(text_of(arg)), reader.act.home) for arg in args[::-1]]
    return join_paths(parts) if parts else ANYTHING


def join(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Paths joined: a later absolute one is taken as a part."""
    words = words_of(args)
    if not words:
        return ANYTHING
    parts = [words[0], *[Value(word.text.lstrip("/"), word.marks) for word in words[1:]]]
    return join_paths([part for part in parts if part.text] or words[:1])


def resolve(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Paths joined: a later absolute one starts again."""
    return join_paths(words_of(args)) if args else Value(reader.act.cwd)


def env(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """One environment variable."""
    return environment(text_of(argument(args)), reader.act.home, reader.act.cwd)


def glob(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The names that a pattern stands for."""
    pattern = text_of(argument(args))
    return [Value(pattern.text, pattern.marks | GLOB)]


def folder(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The names in a folder."""
    return [Value("*", GLOB)]


def folder_paths(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """The paths of what is in a folder."""
    path = text_of(argument(args))
    return [Value(path.text.rstrip("/") + "/*", path.marks | GLOB)]


def get(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Fetches; with a body, or a secret in the address, it also sends."""
    address = text_of(argument(args))
    given = options(args)
    payload = [given[name] for name in ("body", "data", "json", "form", "formData") if name in given]
    if thing.name.rpartition(".")[2].lower() in ("post", "put", "patch", "post_form", "request"):
        payload.extend(arg for arg in args[1:] if not isinstance(arg, (dict, Function)) or arg is not given)
        payload.extend([given] if isinstance(argument(args, 1), dict) else [])
    marks = marks_of(payload) | address.marks
    if payload or address.marks & SECRET:
        reader.act.send(Value(UNKNOWN, marks & ~NAMED & SECRET), outer(address).text)
    return Thing(f"{thing.name}()", Value(UNKNOWN, 0 if _LOCAL.match(address.text) else REMOTE), address)


def send(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A method that sends what it is given; only a secret matters."""
    marks = marks_of(args)
    if marks & SECRET:
        where = text_of(thing.first).text if thing.first is not None else ""
        reader.act.send(Value(UNKNOWN, SECRET), where or "another machine")
    return ANYTHING


def connect(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A socket to another machine."""
    if not any(_LOCAL.match(word.text) for word in words_of(args)):
        reader.facts.add("connected")
    return Thing("socket()", ANYTHING, argument(args))


def sql(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A statement, where the text looks like one."""
    for arg in args[:2]:
        text = text_of(arg)
        if _SQL.match(text.text[:200]):
            reader.act.code("sql", outer(text))
    return ANYTHING


def destroys_database(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Drops or empties a database."""
    reader.act.effect("database_destruction", thing.name.rpartition(".")[2])
    return ANYTHING


def destroys_where_empty(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """Deletes what a filter names; an empty one names everything."""
    if not args or args[0] == {}:
        reader.act.effect("database_destruction", f"{thing.name.rpartition('.')[2]} of everything")
    return ANYTHING


def decoder(name: str) -> Verb:
    """A verb that decodes its first argument."""

    def run(reader: Reader, thing: Thing, args: list[Any]) -> Any:
        return text_of(decode(name, [text_of(argument(args))]))

    return run


def on_host(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    """A command line on another machine."""
    words = words_of(args[:1])
    return reader.act.shell(words[0], place="host") if words else ANYTHING


def table(**names: str) -> dict[str, Verb]:
    """Function names -> verbs: ``table(run="system exec", show="print")``."""
    known: dict[str, Verb] = {
        "run": shell,
        "shell_line": shell_line,
        "spawn": spawn,
        "delete_tree": delete_tree,
        "delete_files": delete_files,
        "delete_where_recursive": delete_where_recursive,
        "read": read,
        "read_shown": read_shown,
        "write": write,
        "append": append,
        "open_file": open_file,
        "write_to_file": write_to_file,
        "content": content,
        "move": move,
        "copy": copy,
        "chmod": chmod,
        "show": show,
        "show_as_is": show_as_is,
        "code": code,
        "run_file": run_file,
        "same": same,
        "nothing": nothing,
        "home": home,
        "here": here,
        "expand": expand,
        "join": join,
        "resolve": resolve,
        "env": env,
        "glob": glob,
        "folder": folder,
        "folder_paths": folder_paths,
        "get": get,
        "send": send,
        "connect": connect,
        "sql": sql,
        "destroys_database": destroys_database,
        "on_host": on_host,
        "destroys_where_empty": destroys_where_empty,
        "base64": decoder("base64.b64decode"),
        "hex": decoder("bytes.fromhex"),
        "inflate": decoder("zlib.decompress"),
        "opaque": decoder("marshal.loads"),
    }
    return {name: known[verb] for verb, text in names.items() for name in text.split()}
