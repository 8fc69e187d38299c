"""JavaScript and TypeScript, as node, bun and deno run them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..model import ANYTHING, NOTHING, SECRET, UNKNOWN, Actions, Value
from . import verbs
from .reader import Function, Language, Reader
from .tokens import Dialect
from .values import DECODERS, Thing, decode, environment, marks_of, string_method, text_of

_FUNCTIONS = verbs.table(
    shell_line="child_process.exec shelljs.exec execa.command $ Bun.$ zx.$ execa.$ bun.$",
    spawn=(
        "child_process.spawn child_process.execFile execa execa.execa execa.sync cross-spawn cross-spawn.sync "
        "Bun.spawn Deno.run Deno.Command"
    ),
    delete_where_recursive="fs.rm fs.rmdir Deno.remove",
    delete_tree=("fs.remove fs.emptyDir rimraf rimraf.sync rimraf.rimraf rimraf.native del del.sync fs.rimraf trash"),
    delete_files="fs.unlink",
    read=(
        "fs.readFile fs.readJson fs.readJSON Deno.readTextFile Deno.readFile Bun.file fs.createReadStream fs.openAsBlob"
    ),
    write="fs.writeFile fs.outputFile fs.writeJson Deno.writeTextFile Deno.writeFile Bun.write",
    append="fs.appendFile",
    open_file="fs.createWriteStream",
    write_to_file="file().write file().end",
    move="fs.rename fs.move Deno.rename",
    copy="fs.cp fs.copyFile fs.copy Deno.copyFile",
    chmod="fs.chmod Deno.chmod",
    show="console.log console.info console.error console.warn console.debug console.dir console.table",
    show_as_is="process.stdout.write process.stderr.write Deno.stdout.write",
    code="eval vm.runInThisContext vm.runInNewContext vm.runInContext Function vm.Script",
    same=(
        "JSON.stringify JSON.parse String encodeURIComponent encodeURI escape btoa Object.values Object.entries "
        "Object.assign util.inspect URL Promise.resolve util.promisify TextEncoder().encode TextDecoder().decode "
        "structuredClone"
    ),
    nothing="Object.keys Boolean Number parseInt Array.isArray crypto.createHash",
    base64="atob",
    home="os.homedir Deno.homeDir",
    here="process.cwd Deno.cwd",
    join="path.join",
    resolve="path.resolve",
    env="Deno.env.get Bun.env.get",
    folder="fs.readdir Deno.readDir",
    glob="glob.glob fast-glob glob globby fs.glob",
    get=(
        "fetch axios.get axios.post axios.put axios.patch axios.request got got.get got.post got.put node-fetch "
        "undici.fetch undici.request superagent.post superagent.get axios needle.post ky.post ky.get request "
        "request.post request.get"
    ),
    connect="net.connect net.createConnection tls.connect net.Socket().connect",
    on_host="ssh2.Client().exec",
)
# Methods, whatever they are called on.
_METHODS = verbs.table(
    sql="query execute exec raw unsafe $queryRawUnsafe $executeRawUnsafe $executeRaw run batch",
    destroys_database="dropDatabase flushall flushAll flushdb flushDb dropAllTables",
    destroys_where_empty="deleteMany",
    send="write end send upload put putObject sendMail postMessage",
)
_TEXT = frozenset("text json arrayBuffer toString blob buffer body trim slice substring split join then pipe".split())
_CLOUD = re.compile(
    r"^(?:Delete(?:Bucket|Table|Stack|DBInstance|DBCluster|Cluster|Volume|Snapshot|User|Role|Function|HostedZone|FileSystem|"
    r"Domain|UserPool|Repository|LogGroup|Secret)|TerminateInstances|ScheduleKeyDeletion)Command$"
)
_PYTHON_NAMES = {"replaceAll": "replace", "trim": "strip", "toString": "encode"}
_CODECS = {"base64": "base64.b64decode", "base64url": "base64.urlsafe_b64decode", "hex": "bytes.fromhex"}
_ENDLESS = re.compile(r"(?:\bfor\s*\(\s*;\s*;\s*\)|\bwhile\s*\(\s*(?:true|1|!0)\s*\)|\bsetInterval\s*\()")
_SPAWNS = re.compile(r"\bfork\s*\(|\bspawn\s*\(|\bexec\s*\(|\bexecFile\s*\(|new\s+Worker\s*\(")
_HOLDS_UP = re.compile(r"\bawait\b|\bbreak\b|\breturn\b|\bsleep\b|process\.exit|Sync\s*\(")


def _canonical(name: str) -> str:
    name = (
        name.replace("fs/promises", "fs")
        .replace("fs.promises", "fs")
        .replace("fs-extra", "fs")
        .replace("graceful-fs", "fs")
    )
    name = name.removeprefix("globalThis.").removeprefix("global.").removeprefix("window.").removeprefix("node:")
    name = name.replace(".default", "")
    return name[:-4] if name.endswith("Sync") else name


def _call(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    name = _canonical(thing.name)
    first = args[0] if args else None
    if name == "[]":
        return _item(reader, thing.first, args[0])
    if name in ("require", "import") and isinstance(first, Value):
        return Thing(first.text.removeprefix("node:"))
    verb = _FUNCTIONS.get(name)
    if verb is not None:
        if name in ("Deno.run", "Deno.Command", "Bun.spawn"):
            args = _command_object(args)
        return verb(reader, Thing(name, thing.value, thing.first), args)
    last = name.rpartition(".")[2]
    if name == "Buffer.from" or name == "Buffer":
        return _buffer(args)
    if name == "String.fromCharCode":
        return Value("".join(chr(arg) for arg in args if isinstance(arg, int) and 0 <= arg < 0x110000))
    if name.startswith("shelljs.") or name.startswith("shell."):
        return reader.act.argv([last, *verbs.words_of(args)])
    if last in ("then", "finally") and args:
        plain = name.startswith("text.")
        passed: Any = thing.value if plain else Thing(name[: -len(last) - 1], thing.value, thing.first)
        return reader.apply(first, [passed]) if isinstance(first, Function) else reader.call(first, [text_of(passed)])
    if name.startswith("text."):
        found = string_method(thing.value, _PYTHON_NAMES.get(last, last), args)
        if last == "concat":
            return thing.value + text_of(first)
        return Value(UNKNOWN, thing.value.marks) if found is ANYTHING and last in ("slice", "substring") else found
    if name.startswith("list.") and isinstance(thing.first, list):
        return _list_method(thing.first, last, args)
    if _CLOUD.match(last):
        reader.act.effect("cloud_destruction", last)
        return ANYTHING
    if last in ("destroy", "drop", "sync") and args and isinstance(first, dict):
        if verbs.true(first.get("truncate")) or verbs.true(first.get("force")):
            reader.act.effect("database_destruction", f"{last} of everything")
        return ANYTHING
    if last in ("setTimeout", "setInterval", "setImmediate") or name in ("process.exit",):
        return ANYTHING
    method = _METHODS.get(last)
    if method is not None and "." in name:
        method(reader, Thing(name, thing.value, thing.first), args)
        if last not in ("json", "text"):
            return Thing(f"{name}()"[-300:], Value(UNKNOWN, thing.value.marks), thing.first)
    if last in _TEXT and thing.value.marks:
        return thing.value
    return NotImplemented


def _command_object(args: list[Any]) -> list[Any]:
    """``{cmd: [..]}`` and ``(name, {args: [..]})``."""
    found: list[Any] = []
    for arg in args:
        if isinstance(arg, dict):
            found.extend(arg[name] for name in ("cmd", "args") if name in arg)
        else:
            found.append(arg)
    return found


def _buffer(args: list[Any]) -> Any:
    codec = text_of(args[1]).text if len(args) > 1 else ""
    if codec in _CODECS:
        found = decode(_CODECS[codec] if _CODECS[codec] in DECODERS else "marshal.loads", [text_of(args[0])])
        return text_of(found)
    return text_of(args[0]) if args else ANYTHING


def _item(reader: Reader, owner: Any, key: Any) -> Any:
    if isinstance(owner, Thing):
        if owner.name in ("process.env", "Bun.env", "import.meta.env"):
            return environment(text_of(key), reader.act.home, reader.act.cwd)
        return Thing(f"{owner.name}.{text_of(key).text}", owner.value, owner.first)
    return NotImplemented


def _list_method(items: list[Any], last: str, args: list[Any]) -> Any:
    if last == "join":
        glue = text_of(args[0]).text if args else ","
        return Value(glue.join(text_of(each).text for each in items), marks_of(items))
    if last == "concat":
        return [*items, *[each for arg in args for each in (arg if isinstance(arg, list) else [arg])]]
    if last in ("reverse", "flat", "filter", "sort", "slice"):
        return items[::-1] if last == "reverse" else items
    if last == "push":
        items.extend(args[:100])
        return ANYTHING
    return NotImplemented


_NAMES = {
    "path.sep": Value("/"),
    "process.execPath": Value("node"),
    "__dirname": Value("."),
    "__filename": Value("program.js"),
    "undefined": NOTHING,
    "null": NOTHING,
}
DIALECT = Dialect("node", pairs=(), quotes={"'": "escape", '"': "escape", "`": "template"})
LANGUAGE = Language(DIALECT, _call, _NAMES)


class NodeReader(Reader):
    """Adds what only JavaScript has: ``process.env.NAME`` and ``process.argv``."""

    def member(self, value: Any, name: str) -> Any:
        """``value.name``."""
        if isinstance(value, Thing) and value.name in ("process.env", "Bun.env"):
            return environment(Value(name), self.act.home, self.act.cwd)
        found = super().member(value, name)
        if isinstance(found, Thing) and found.name in ("process.env", "Bun.env", "Deno.env.toObject"):
            return Thing(found.name, Value(UNKNOWN, SECRET))
        if isinstance(found, Thing) and found.name in ("process.argv", "Bun.argv", "Deno.args"):
            return [*([Value("node"), Value("program.js")] if found.name != "Deno.args" else []), *self.arguments]
        return found


def judge_node(text: str, act: Actions, arguments: Sequence[Value] = ()) -> Value:
    """Note what the program does; what it prints."""
    reader = NodeReader(text, LANGUAGE, act, arguments)
    printed = reader.run()
    for found in _ENDLESS.finditer(reader.text):
        body = reader.text[found.end() : found.end() + 400]
        spawns = _SPAWNS.search(body)
        if spawns and "child_process" in reader.text + body and not _HOLDS_UP.search(body[: spawns.start()]):
            reader.act.effect("fork_bomb", "starts processes in an endless loop")
            break
    return printed
