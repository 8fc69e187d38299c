"""What calls in a Python program give: builtins, paths, decoders, environment. Effects stand in python_effects."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from ..model import ANYTHING, GLOB, SECRET, UNKNOWN, Value
from . import python_effects
from .values import (
    DECODERS,
    EVERYTHING,
    NAMED,
    OPAQUE_DECODERS,
    TELLS_NOTHING,
    TREE,
    Thing,
    decode,
    decode_codec,
    environment,
    expand_home,
    join_paths,
    marks_of,
    string_method,
    text_of,
)

if TYPE_CHECKING:
    from .python import Program

# Names that stand for something though the program binds them nowhere.
BUILTINS = frozenset(
    "print open exec eval compile getattr __import__ map list tuple set sorted reversed str bytes bytearray repr range "
    "dict chr enumerate zip any all filter input execfile vars globals len ord int iter next quit exit get_ipython "
    "super terminal write_file read_file patch __builtins__ max min sum".split()
)
STARRED: dict[str, tuple[str, ...]] = {
    "os": (
        "system",
        "popen",
        "remove",
        "unlink",
        "fork",
        "path",
        "environ",
        "walk",
        "listdir",
        "rmdir",
        "kill",
        "rename",
    ),
    "shutil": ("rmtree", "move", "copy", "copyfile"),
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput"),
    "pathlib": ("Path",),
    "socket": ("socket", "create_connection"),
    "hermes_tools": ("terminal", "write_file", "read_file", "patch"),
}
_PATHS = frozenset({"pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath", "pathlib.PurePosixPath", "Path"})
_SAME = frozenset(
    "str bytes bytearray list tuple set sorted reversed iter repr ascii dict io.StringIO io.BytesIO json.dumps "
    "json.loads json.load yaml.safe_load yaml.load yaml.dump yaml.safe_dump tomllib.load tomllib.loads toml.load "
    "base64.b64encode base64.urlsafe_b64encode base64.encodebytes binascii.hexlify binascii.b2a_base64 "
    "urllib.parse.quote urllib.parse.quote_plus urllib.parse.urlencode zlib.compress gzip.compress bz2.compress "
    "shlex.quote pickle.dumps os.fsencode os.fsdecode os.fspath textwrap.dedent pprint.pformat copy.copy "
    "copy.deepcopy memoryview next csv.reader csv.DictReader sqlalchemy.text html.unescape os.path.normpath "
    "os.path.realpath os.path.abspath".split()
)
_CALLS_ITS_ARGUMENT = frozenset(
    "submit apply_async apply register run_in_executor to_thread call_soon add_done_callback schedule run spawn "
    "start_soon start_new_thread".split()
)
_JOIN = frozenset({"os.path.join", "posixpath.join", "ntpath.join"})
_BASENAME = frozenset({"os.path.basename", "posixpath.basename"})
_LISTED = frozenset({"os.listdir", "listdir"})
_TEMPORARY = frozenset({"tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.mktemp", "tempfile.TemporaryDirectory",
                        "tempfile.NamedTemporaryFile", "tempfile.gettempdir", "tempfile.TemporaryFile"})  # fmt: skip
_CONSTANTS = {"os.sep": "/", "os.curdir": ".", "os.pardir": "..", "os.path.sep": "/", "os.linesep": "\n",
              "os.devnull": "/dev/null", "sys.executable": "python3", "os.name": "posix",
              "sys.platform": "linux"}  # fmt: skip


def path(program: Program, *parts: Value) -> Thing:
    """A ``pathlib`` path."""
    return Thing("Path", join_paths(parts) if parts else Value("."))


def attribute(program: Program, owner: Thing, name: str) -> Any:
    """``owner.name`` of a module, function or object that is not of the program itself."""
    if owner.name == "Path":
        return _path_attribute(program, owner, name)
    full = f"{owner.name}.{name}"
    if full in _CONSTANTS:
        return Value(_CONSTANTS[full])
    if full == "sys.argv":
        return [Value("program"), *program.arguments]
    return Thing(full, owner.value, owner.first)


def _path_attribute(program: Program, owner: Thing, name: str) -> Any:
    text, marks = owner.value.text, owner.value.marks
    if name == "parent":
        return Thing(
            "Path", Value(posixpath.dirname(text.rstrip("/")) or ("/" if text.startswith("/") else "."), marks)
        )
    if name == "name":
        return Value(posixpath.basename(text.rstrip("/")), marks)
    if name == "path":
        return owner.value
    if name in ("stem", "suffix", "parts", "parents", "anchor", "root", "drive"):
        return Value(UNKNOWN, marks & ~GLOB)
    return Thing(f"Path.{name}", owner.value)


def item(program: Program, owner: Any, key: Any) -> Any:
    """``owner[key]``."""
    if isinstance(owner, Thing):
        if owner.name == "os.environ":
            return environment(text_of(key), program.act.home, program.act.cwd)
        if isinstance(key, Value) and key.known:
            if owner.name.endswith(".__dict__") or owner.name.startswith("vars()"):
                base = owner.first if isinstance(owner.first, Thing) else Thing(owner.name.removesuffix(".__dict__"))
                return program.attribute(base, key.text)
            if owner.name in ("__builtins__", "builtins", "globals()", "sys.modules"):
                for scope in reversed(program.scopes):
                    if key.text in scope:
                        return scope[key.text]
                return Thing(key.text)
        if owner.name == "Path":
            return ANYTHING
        return Thing(f"{owner.name}[]", owner.value, owner.first)
    if isinstance(owner, dict):
        if isinstance(key, Value) and key.text in owner:
            return owner[key.text]
        return Value(UNKNOWN, text_of(owner).marks)
    if isinstance(owner, (list, tuple, bytes)) and isinstance(key, int):
        return owner[key] if -len(owner) <= key < len(owner) else Value(UNKNOWN, marks_of(list(owner)[:50]) & ~GLOB)
    if isinstance(owner, Value) and owner.known and isinstance(key, int) and -len(owner.text) <= key < len(owner.text):
        return Value(owner.text[key], owner.marks)
    return Value(UNKNOWN, text_of(owner).marks)


def plain_method(program: Program, owner: Any, name: str, args: list[Any]) -> Any:
    """A method of a string, list or dictionary."""
    if isinstance(owner, list):
        if name in ("append", "extend", "insert", "add") and args and len(owner) < 1000:
            if name == "extend" and isinstance(args[0], (list, tuple)):
                owner.extend(args[0][:1000])
            else:
                owner.append(args[-1])
            return None
        if name == "pop" and owner:
            return owner[-1]
        return owner if name in ("copy", "__iter__") else ANYTHING
    if isinstance(owner, dict):
        if name == "get" and args:
            return item(program, owner, args[0]) if text_of(args[0]).text in owner or len(args) < 2 else args[1]
        if name == "items":
            return [[Value(key), value] for key, value in owner.items()]
        if name == "values":
            return list(owner.values())
        if name == "update" and args and isinstance(args[0], dict):
            owner.update(args[0])
            return None
        return owner if name == "copy" else [Value(key) for key in owner] if name == "keys" else ANYTHING
    if isinstance(owner, bytes) and name == "hex":
        return Value(owner.hex())
    if isinstance(owner, (Value, bytes)):
        return string_method(text_of(owner), name, args)
    return ANYTHING


def unknown_method(program: Program, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """A method of an object of which nothing is known."""
    if name in ("join", "format", "encode", "decode", "strip", "split", "replace"):
        return string_method(ANYTHING, name, args)
    thing = Thing(name)
    if python_effects.method(program, thing, name, args, named):
        return ANYTHING
    callbacks(program, name, args, named)
    return Value(UNKNOWN)


def discard(program: Program, value: Any) -> None:
    """A value of the top level that is thrown away; an interactive reader would print it."""
    if text_of(value).marks & SECRET and not (isinstance(value, Thing) and value.name == "open()"):
        python_effects.show(program, [value])


def callbacks(program: Program, name: str, args: list[Any], named: dict[str, Any]) -> None:
    """Run the functions that are handed to what calls them."""
    last = name.rpartition(".")[2]
    if last in ("Thread", "Process", "Timer"):
        target = (
            named.get("target")
            or named.get("function")
            or next((arg for arg in args if not isinstance(arg, (Value, int))), None)
        )
        given = named.get("args")
        if target is not None and not isinstance(target, Value):
            program.call(target, list(given) if isinstance(given, (list, tuple)) else [], {})
    elif last in ("map", "imap", "imap_unordered", "starmap", "map_async", "filter") and len(args) > 1:
        source = program.items(args[1])
        program.loop(source, lambda each: program.call(args[0], [each], {}) and None)
    elif last in _CALLS_ITS_ARGUMENT:
        at = next((place for place, arg in enumerate(args) if program.callable(arg)), None)
        if at is not None:
            program.call(args[at], list(args[at + 1 :]), {})


def call(program: Program, thing: Thing, args: list[Any], named: dict[str, Any]) -> Any:
    """Call a function that is not of the program itself."""
    name = thing.name.removeprefix("builtins.").removeprefix("__builtins__.")
    found = _value(program, thing, name, args, named)
    if found is not NotImplemented:
        return found
    found = python_effects.call(program, thing, name, args, named)
    if found is not NotImplemented:
        return found
    callbacks(program, name, args, named)
    last = name.rpartition(".")[2]
    marks = 0 if last in TELLS_NOTHING else thing.value.marks & ~NAMED
    first = thing.first if thing.first is not None else args[0] if args else None
    return Thing(f"{name}()"[-300:], Value(UNKNOWN, marks), first)


def _value(program: Program, thing: Thing, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    """The value of a call that has no effect; NotImplemented for all others."""
    act = program.act
    first = args[0] if args else None
    if name in DECODERS or name in OPAQUE_DECODERS:
        return decode(name, args)
    if name == "codecs.decode":
        return decode_codec(first, text_of(args[1]).text if len(args) > 1 else "utf-8")
    if name in _JOIN:
        return join_paths([text_of(arg) for arg in args])
    if name in ("os.path.expanduser", "posixpath.expanduser"):
        return expand_home(text_of(first), act.home)
    if name == "os.path.expandvars":
        text = text_of(first)
        return Value(text.text.replace("${HOME}", act.home).replace("$HOME", act.home), text.marks)
    if name in ("os.path.dirname", "posixpath.dirname"):
        text = text_of(first)
        return Value(posixpath.dirname(text.text), text.marks) if text.known else ANYTHING
    if name in _BASENAME:
        text = text_of(first)
        return Value(posixpath.basename(text.text), text.marks) if text.known else ANYTHING
    if name == "iter" and len(args) == 2:
        return Thing("itertools.count()")  # calls its first argument until it gives the second
    if name in _SAME:
        if name in ("list", "tuple", "set", "sorted", "reversed", "iter"):
            return (
                list(first)
                if isinstance(first, (list, tuple))
                else [Value(UNKNOWN, text_of(first).marks)]
                if args
                else []
            )
        if name == "dict":
            return first if isinstance(first, (dict, Thing)) else dict(named)
        if name == "next" and isinstance(first, list) and first:
            return first[0]
        return text_of(first) if args else Value("")
    if name in ("os.getcwd", "pathlib.Path.cwd"):
        here = Value(program.cwd or act.cwd)
        return here if name == "os.getcwd" else Thing("Path", here)
    if name == "pathlib.Path.home":
        return Thing("Path", Value(act.home))
    if name in _PATHS:
        return path(program, *[text_of(arg) for arg in args])
    if name.startswith("Path."):
        return _path_method(program, thing, name[5:], args, named)
    if name in ("os.getenv", "os.environ.get", "os.environ.pop"):
        return environment(text_of(first), act.home, act.cwd, args[1] if len(args) > 1 else named.get("default"))
    if name in ("os.environ.items", "os.environ.values", "os.environ.copy", "os.environ.__str__"):
        secret = Value(UNKNOWN, SECRET)
        return [[ANYTHING, secret]] if name.endswith("items") else secret if name.endswith("y") else [secret]
    if name in ("glob.glob", "glob.iglob"):
        text = text_of(first)
        return [Value(text.text, text.marks | GLOB | (TREE if "**" in text.text else 0))]
    if name in _LISTED:
        return [EVERYTHING]
    if name == "os.scandir":
        return [path(program, text_of(first) if args else Value("."), EVERYTHING)]
    if name in ("os.walk", "os.fwalk"):
        entry = Value("*", GLOB | TREE)
        root = text_of(first)
        return [[Value(root.text, root.marks | TREE), [entry], [entry]]]
    if name in _TEMPORARY:
        made = Value("/tmp/made-here" if name != "tempfile.gettempdir" else "/tmp")  # noqa: S108
        if name == "tempfile.mkstemp":
            return [3, made]
        return Thing(f"{name}()", made, made) if name[9].isupper() else made
    return _builtin(program, name, args, named)


def _builtin(program: Program, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    first = args[0] if args else None
    if name in ("__import__", "importlib.import_module"):
        text = text_of(first)
        return Thing(text.text) if text.known else ANYTHING
    if name == "getattr" and len(args) > 1:
        text = text_of(args[1])
        return program.attribute(first, text.text) if text.known else ANYTHING
    if name == "chr" and isinstance(first, int) and 0 <= first < 0x110000:
        return Value(chr(first))
    if name == "ord" and isinstance(first, Value) and len(first.text) == 1 and first.known:
        return ord(first.text)
    if name == "int" and isinstance(first, (Value, int)):
        text = text_of(first)
        digits = text.text.strip()
        return (
            int(digits) if digits.isdecimal() and digits.isascii() and len(digits) < 16 and len(args) == 1 else ANYTHING
        )
    if name in ("len", "any", "all", "isinstance", "hash", "id", "max", "min", "sum"):
        return ANYTHING
    if name == "range":
        size = args[1] if len(args) > 1 else first
        if isinstance(size, int) and size <= 40 and all(isinstance(arg, int) for arg in args[:2]) and len(args) < 3:
            return list(range(*args))
        return Thing("range", fields={"size": size if isinstance(size, int) else 0})
    if name == "enumerate" and args:
        return [[at, each] for at, each in enumerate(program.items(first)[:24])]
    if name == "zip" and args:
        return [list(each) for each in zip(*[program.items(arg)[:24] for arg in args], strict=False)]
    if name == "shlex.split" and isinstance(first, Value):
        return (
            string_method(first, "split", [])
            if first.known and not any(c in first.text for c in "'\"\\")
            else Thing("words", first)
        )
    if name in ("functools.partial", "partial") and args:
        return Thing("partial", first=None, fields={"function": first, "given": args[1:], "named": named})
    if name == "vars":
        return Thing("vars()", first=first)
    if name == "globals" or name == "locals":
        return Thing("globals()")
    if name == "itertools.chain":
        return [each for arg in args for each in program.items(arg)]
    return NotImplemented


def _path_method(program: Program, thing: Thing, method: str, args: list[Any], named: dict[str, Any]) -> Any:
    here = thing.value
    texts = [text_of(arg) for arg in args]
    if method == "expanduser":
        return Thing("Path", expand_home(here, program.act.home))
    if method in ("resolve", "absolute", "__fspath__"):
        return Thing("Path", here)
    if method in ("joinpath", "with_name"):
        base = Value(posixpath.dirname(here.text), here.marks) if method == "with_name" else here
        return Thing("Path", join_paths([base, *texts]))
    if method in ("as_posix", "__str__"):
        return here
    if method in ("glob", "rglob", "iterdir"):
        pattern = texts[0] if texts else EVERYTHING
        tree = TREE if method == "rglob" or "**" in pattern.text else 0
        return [Thing("Path", join_paths([here, Value(pattern.text, pattern.marks | GLOB | tree)]))]
    if method in ("home", "cwd"):
        return Thing("Path", Value(program.act.home if method == "home" else program.cwd or program.act.cwd))
    if method in ("exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "mkdir", "touch", "match", "samefile"):
        return ANYTHING
    return python_effects.path_method(program, here, method, args, named)
