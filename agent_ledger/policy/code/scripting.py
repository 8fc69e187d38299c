"""Perl, Ruby, PHP, Lua and a few languages more, by the functions that reach the system."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..model import ANYTHING, GLOB, NOTHING, SECRET, UNKNOWN, Actions, Value
from . import verbs
from .reader import Function, Language, Reader
from .tokens import Dialect
from .values import Thing, decode, environment, expand_home, outer, string_method, text_of

_ENV = Thing("environment", Value(UNKNOWN, SECRET))


def _caller(table: dict[str, verbs.Verb], special: Callable[[Reader, Thing, str, list[Any]], Any]) -> Any:
    """A language's ``call``: its own cases, then its table, by the full name or what stands behind the last dot."""

    def call(reader: Reader, thing: Thing, args: list[Any]) -> Any:
        name = thing.name.removeprefix("Kernel.").removeprefix("CORE.")
        found = special(reader, thing, name, args)
        if found is not NotImplemented:
            return found
        verb = table.get(name) or table.get("*." + name.rpartition(".")[2]) if "." in name else table.get(name)
        return verb(reader, Thing(name, thing.value, thing.first), args) if verb else NotImplemented

    return call


def _environment_item(reader: Reader, thing: Thing, args: list[Any]) -> Any:
    owner = thing.first
    if owner is _ENV or (isinstance(owner, Thing) and owner.name == "environment"):
        return environment(text_of(args[0]), reader.act.home, reader.act.cwd)
    return Value(UNKNOWN, text_of(owner).marks)


# --- perl

_PERL = verbs.table(
    run="system exec",
    delete_files="unlink",
    delete_tree=("rmtree remove_tree File.Path.rmtree File.Path.remove_tree File.Path.Tiny.rm path().remove_tree"),
    move="rename move File.Copy.move mv",
    copy="copy File.Copy.copy cp",
    chmod="chmod",
    show_as_is="print printf",
    show="say",
    code="eval",
    run_file="do require",
    same="join lc uc chomp scalar sprintf encode_base64 slurp read_file decode encode ref map sort grep",
    nothing="length defined keys exists index",
    base64="decode_base64 MIME.Base64.decode_base64 MIME.Base64.decode",
    get=(
        "get getstore LWP.Simple.get LWP.UserAgent().get LWP.UserAgent().post HTTP.Tiny().get HTTP.Tiny().post "
        "*.post_form"
    ),
    connect="connect IO.Socket.INET IO.Socket.INET().new IO.Socket.INET.new",
    sql="*.do *.prepare *.execute",
    glob="glob",
    read="read_text File.Slurp.read_file",
    home="File.HomeDir.my_home",
)


def _perl(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    if name == "[]":
        return _environment_item(reader, thing, args)
    if name == "open":
        return _perl_open(reader, args)
    if name == "pack" and len(args) > 1 and text_of(args[0]).text.startswith("H"):
        return text_of(decode("bytes.fromhex", [text_of(args[1])]))
    if name == "join" and len(args) > 1:
        return string_method(text_of(args[0]), "join", [args[1] if isinstance(args[1], list) else args[1:]])
    if name == "reverse" and len(args) == 1:
        value = text_of(args[0])
        return Value(value.text[::-1], value.marks)
    if name == "chr" and args and isinstance(args[0], int) and 0 <= args[0] < 0x110000:
        return Value(chr(args[0]))
    if name in ("find", "finddepth", "File.Find.find") and len(args) > 1 and isinstance(args[0], Function):
        return _perl_find(reader, args)
    if name == "getstore" and len(args) > 1:
        reader.act.fetched(outer(text_of(args[1])))
        return ANYTHING
    if name.startswith("text.") and thing.name.endswith(".slurp"):
        return thing.value
    return NotImplemented


def _perl_open(reader: Reader, args: list[Any]) -> Any:
    if len(args) < 2:
        return ANYTHING
    handle = args[0].name if isinstance(args[0], Thing) else ""
    mode = text_of(args[1]).text.strip()
    rest = [text_of(arg) for arg in args[2:]]
    if mode in ("|-", "-|"):
        verbs.shell(reader, Thing("open"), list(rest))
    elif mode.startswith("|"):
        reader.act.shell(outer(Value(mode[1:])))
    elif mode.endswith("|"):
        reader.act.shell(outer(Value(mode[:-1])))
    elif mode.startswith(">&") or mode.startswith("<&"):
        reader.facts.add("joined")
    elif mode.startswith((">", "+>")):
        path = rest[0] if rest else Value(mode.lstrip("+> "))
        verbs.write(reader, Thing("open"), [path, NOTHING])
    else:
        path = rest[0] if rest else Value(mode.lstrip("< "))
        if path.text.strip(UNKNOWN):
            reader.variables[handle] = reader.act.read(outer(path), shown=False)
    return ANYTHING


def _perl_find(reader: Reader, args: list[Any]) -> Any:
    """``find(sub { unlink $_ }, '/path')``: the block is called for everything below."""
    body = " ".join(token.text for token in args[0].tokens[args[0].start : args[0].end])
    if re.search(r"\b(?:unlink|rmtree|remove_tree)\b", body):
        filtered = bool(re.search(r"\b(?:if|unless|return)\b|=~|- M", body))
        for root in verbs.words_of(args[1:])[:8]:
            reader.act.delete(Value(root.text.rstrip("/") + "/*", root.marks | GLOB), True, filtered)
    else:
        reader.apply(args[0], [])
    return ANYTHING


# --- ruby

_RUBY = verbs.table(
    run=(
        "system exec spawn IO.popen Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 Open3.popen2 "
        "Process.spawn PTY.spawn sh"
    ),
    delete_tree=(
        "FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir FileUtils.rmtree FileUtils.remove_entry "
        "FileUtils.remove_entry_secure *.rmtree *.rm_rf rm_rf rm_r"
    ),
    delete_files="File.delete File.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove",
    move="File.rename FileUtils.mv FileUtils.move",
    copy="FileUtils.cp FileUtils.cp_r FileUtils.copy",
    chmod="File.chmod FileUtils.chmod FileUtils.chmod_R",
    read=(
        "File.read IO.read File.readlines IO.readlines File.binread IO.binread File.foreach URI.open OpenURI.open_uri"
    ),
    open_file="File.open open File.new",
    write="File.write IO.write File.binwrite",
    write_to_file="file().write file().puts file().print",
    content="file().read file().each_line file().readlines *.body *.read",
    show="puts p pp $stdout.puts STDOUT.puts",
    show_as_is="print $stdout.write STDOUT.write $stdout.print",
    code="eval instance_eval class_eval module_eval binding.eval",
    run_file="load require_relative",
    same=(
        "String Array JSON.parse JSON.generate JSON.dump YAML.load Base64.encode64 Base64.strict_encode64 URI "
        "URI.parse Pathname URI.encode_www_form *.to_s *.to_json *.strip *.chomp *.inspect"
    ),
    nothing="*.length *.size *.keys *.include? *.count",
    base64="Base64.decode64 Base64.strict_decode64 Base64.urlsafe_decode64",
    inflate="Zlib.Inflate.inflate Zlib.inflate",
    opaque="Marshal.load",
    home="Dir.home",
    here="Dir.pwd Dir.getwd",
    expand="File.expand_path",
    join="File.join",
    env="ENV.fetch",
    glob="Dir.glob Dir.[]",
    folder="Dir.entries",
    folder_paths="Dir.children Dir.each_child",
    get=(
        "Net.HTTP.get Net.HTTP.post Net.HTTP.post_form HTTParty.get HTTParty.post RestClient.get RestClient.post "
        "Faraday.get Faraday.post Net.HTTP.get_response"
    ),
    connect="TCPSocket.new TCPSocket.open",
    sql="*.execute *.exec *.exec_query *.query *.exec_params",
    destroys_database=(
        "*.delete_all *.destroy_all *.drop_database *.flushall *.flushdb *.drop_table *.truncate_tables"
    ),
    destroys_where_empty="*.delete_many",
)
# Methods that are called without parentheses and give something.
_RUBY_NULLARY = frozenset(
    "home pwd getwd read body delete_all destroy_all flushall flushdb reverse strip chomp to_s to_h inspect "
    "keys".split()
)
_SCOPED = re.compile(r"\.where\(\)|\.find_by|\.limit\(\)|\.not\(\)")


def _ruby(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    last = name.rpartition(".")[2]
    if name == "[]":
        return _environment_item(reader, thing, args)
    if last in ("delete_all", "destroy_all") and (_SCOPED.search(name) or args):
        return ANYTHING
    if name.startswith("text."):
        if last == "unpack1":
            return text_of(decode("base64.b64decode", [thing.value]))
        if last == "reverse":
            return Value(thing.value.text[::-1], thing.value.marks)
        if last in ("gsub", "sub", "tr"):
            return string_method(thing.value, "replace", args)
    if name == "ENV.to_h" or name == "ENV.each":
        return Value(UNKNOWN, SECRET)
    return NotImplemented


# --- php

_PHP = verbs.table(
    shell_line="system exec shell_exec passthru popen proc_open expect_popen",
    run="pcntl_exec",
    delete_files="unlink",
    move="rename",
    copy="copy",
    chmod="chmod chown",
    read="file_get_contents file fopen Storage.get",
    read_shown="readfile show_source highlight_file",
    write="file_put_contents",
    show_as_is="echo print printf var_dump print_r var_export die exit",
    code="eval assert create_function",
    run_file="include require include_once require_once",
    same=(
        "json_encode json_decode base64_encode urlencode http_build_query serialize trim strtolower strtoupper "
        "implode fgets fread stream_get_contents htmlspecialchars gzcompress file_get_contents()"
    ),
    nothing="strlen count isset empty md5 sha1 hash array_keys",
    base64="base64_decode",
    hex="hex2bin",
    inflate="gzuncompress",
    opaque="gzinflate gzdecode convert_uudecode unserialize",
    env="getenv env",
    glob="glob",
    folder="scandir",
    join="",
    get="curl_init Http.get Http.post",
    connect="fsockopen pfsockopen socket_connect stream_socket_client",
    sql=(
        "mysqli_query pg_query mysql_query sqlite_query *.query *.exec *.prepare *.statement *.unprepared DB.statement"
    ),
    destroys_database=(
        "*.flushall *.flushAll *.flushdb *.flushDB *.truncate *.dropDatabase Schema.drop Schema.dropAllTables"
    ),
    destroys_where_empty="*.deleteMany",
    delete_tree="File.deleteDirectory File.cleanDirectory *.deleteDirectory rrmdir",
)


def _php(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    if name == "[]":
        return _environment_item(reader, thing, args)
    if name == "str_rot13" and args:
        return string_method(text_of(args[0]), "decode", [Value("rot13")])
    if name == "strrev" and args:
        value = text_of(args[0])
        return Value(value.text[::-1], value.marks)
    if name == "getenv" and not args:
        return Value(UNKNOWN, SECRET)
    if name == "chr" and args and isinstance(args[0], int) and 0 <= args[0] < 256:
        return Value(chr(args[0]))
    if (
        name.startswith("$")
        and isinstance(called := reader.variables.get(name), Value)
        and called.known
        and called.text
    ):
        return reader.call(Thing(called.text), args)
    return NotImplemented


# --- lua and the others

_LUA = verbs.table(
    shell_line="os.execute io.popen vim.fn.system os.spawn",
    delete_files="os.remove",
    move="os.rename",
    open_file="io.open",
    content="file().read file().lines *.read",
    write_to_file="file().write",
    read="io.lines",
    show="print",
    show_as_is="io.write io.stdout.write",
    code="load loadstring",
    run_file="dofile",
    env="os.getenv",
    same="tostring string.lower string.upper table.concat string.format assert",
    get="http.request socket.http.request",
    connect="socket.tcp().connect socket.connect",
    sql="*.execute *.exec",
)


def _lua(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    if name == "[]":
        return _environment_item(reader, thing, args)
    if name == "require" and args:
        return Thing(text_of(args[0]).text)
    if name in ("string.reverse", "string.char") and args:
        if name == "string.char":
            return Value("".join(chr(arg) for arg in args if isinstance(arg, int) and 0 <= arg < 256))
        value = text_of(args[0])
        return Value(value.text[::-1], value.marks)
    if name.startswith("text.") and name.endswith(".rep"):
        return ANYTHING
    return NotImplemented


_OTHER = verbs.table(
    run="system System.cmd Process Runtime.getRuntime().exec os.cmd sys.process.Process",
    shell_line="shell system2 os.system popen shell_exec Sys.command",
    spawn="subprocess.run Cmd",
    delete_tree=(
        "File.rm_rf File.rm_rf! FileUtils.deleteDirectory *.deleteDir deleteDir *.deleteRecursively fs.remove_dir_all"
    ),
    delete_where_recursive="unlink rm",
    delete_files="file.remove File.rm File.rm!",
    read="readLines read readFile File.read File.read! slurp scan",
    show="cat print println IO.puts putStrLn message",
    code="eval",
    env="Sys.getenv System.getenv System.get_env",
    same="parse paste0 toString string join",
    home="homedir",
    sql="*.execute *.executeUpdate dbExecute dbSendQuery dbGetQuery",
)


_PYTHON2 = verbs.table(
    run="os.execvp",
    shell_line="os.system os.popen commands.getoutput subprocess.getoutput",
    spawn="subprocess.call subprocess.run subprocess.check_call subprocess.check_output subprocess.Popen",
    delete_tree="shutil.rmtree",
    delete_files="os.remove os.unlink",
    open_file="open",
    content="file().read file().readlines *.read",
    write_to_file="file().write",
    show="print",
    code="exec eval",
    base64="base64.b64decode",
    expand="os.path.expanduser",
    env="os.getenv os.environ.get",
    join="os.path.join",
    get="urllib2.urlopen urllib.urlopen requests.get requests.post",
    sql="*.execute",
)


def _python2(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    """Python that does not parse: of an older version, or with an interactive shell's own lines."""
    if name == "[]":
        return _environment_item(reader, thing, args)
    if name == "__import__" and args:
        return Thing(text_of(args[0]).text)
    return NotImplemented


def _other(reader: Reader, thing: Thing, name: str, args: list[Any]) -> Any:
    last = name.rpartition(".")[2]
    if last in ("execute", "!", "lineStream") and name.startswith(("text.", "list.")) and not args:
        value = thing.first
        return (
            reader.act.argv(verbs.words_of(value)) if isinstance(value, list) else reader.act.shell(outer(thing.value))
        )
    if name == "run" and args:
        return ANYTHING  # its backquotes have run already
    return NotImplemented


_BARE_PERL = (
    "system exec unlink rmtree remove_tree print printf say eval do require rename open chmod glob get getstore kill"
)
_BARE_RUBY = (
    "system exec spawn eval puts print p pp load require require_relative rm_rf rm_r rm rm_f delete unlink "
    "rmtree remove_dir sh execute mv raise rename read"
)
_BARE_PHP = "echo print include require include_once require_once"
_SHELL_QUOTES = {"'": "raw", '"': "interpolate", "`": "command"}
LANGUAGES = {
    "perl": Language(
        Dialect(
            "perl",
            comments=("#",),
            blocks=(("\n=pod", "\n=cut"),),
            quotes=_SHELL_QUOTES,
            interpolation="$",
            sigils="$@%&",
            concatenation=".",
            members=("->", "::"),
            bare=frozenset(_BARE_PERL.split()),
            quote_words=True,
        ),
        _caller(_PERL, _perl),
        {"$ENV": _ENV, "%ENV": _ENV, "@ARGV": ANYTHING},
    ),
    "ruby": Language(
        Dialect(
            "ruby",
            pairs=(":", "=>"),
            comments=("#",),
            blocks=(("=begin", "=end"),),
            quotes=_SHELL_QUOTES,
            interpolation="#",
            sigils="$@",
            members=(".", "&.", "::"),
            bare=frozenset(_BARE_RUBY.split()),
            quote_words=True,
            lines_end=True,
            ends=True,
        ),
        _caller(_RUBY, _ruby),
        {"ENV": _ENV},
        _RUBY_NULLARY,
    ),
    "php": Language(
        Dialect(
            "php",
            pairs=(":", "=>"),
            comments=("//", "#"),
            quotes=_SHELL_QUOTES,
            interpolation="$",
            sigils="$@",
            concatenation=".",
            members=("->", "::"),
            bare=frozenset(_BARE_PHP.split()),
            regexes=False,
        ),
        _caller(_PHP, _php),
        {"$_ENV": _ENV, "$_SERVER": _ENV},
    ),
    "lua": Language(
        Dialect(
            "lua",
            comments=("--",),
            blocks=(("--[[", "]]"),),
            concatenation="..",
            members=(".", ":"),
            bare=frozenset("execute popen remove require print load loadstring".split()),
            regexes=False,
            lines_end=True,
            ends=True,
        ),
        _caller(_LUA, _lua),
    ),
    "python2": Language(
        Dialect(
            "python2", comments=("#",), blocks=(), regexes=False, lines_end=True, bare=frozenset({"print", "exec"})
        ),
        _caller(_PYTHON2, _python2),
        {"os.environ": _ENV},
    ),
    "other": Language(
        Dialect(
            "other",
            pairs=(":", "=>"),
            comments=("#", "//"),
            quotes={**_SHELL_QUOTES, "'": "escape", '"': "escape"},
            regexes=False,
            members=(".", "::"),
            lines_end=True,
        ),
        _caller(_OTHER, _other),
        {"HOME": NOTHING},
    ),
}

_FORK_LOOPS = re.compile(
    r"\bfork\s*(?:\(\s*\))?\s+while\b|\bwhile\s*\(\s*(?:1|fork|true)\s*(?:\(\s*\))?\s*\)\s*\{?[\s;]*(?:\$\w+\s*=\s*)?(?:pcntl_)?fork"
    r"|\bfork\s+until\b|\bloop\s*(?:\{|do)\s*(?:Process\.)?fork|\bwhile\s+(?:true|1|fork)\s*(?:do|;|\n)?\s*(?:Process\.)?fork\b"
    r"|\bfor\s*\(\s*;\s*;\s*\)\s*\{?\s*(?:pcntl_)?fork|\bwhile\s+(?:true|1)\s*(?:do|;|\n)\s*(?:os\.execute|spawn|system)\s*\(?\s*"
    r"[\"'][^\"'\n]*&\s*[\"']|\buntil\s+false[;\s]+fork|\bfork\s*(?:&&|and)\s+redo|\{\s*fork\s*;?\s*redo"
)
_SOCKET = re.compile(r"\bSocket\b|TCPSocket|fsockopen|\bsockaddr_in\b|socket\.tcp")
_SHELL_SCRIPT = re.compile(r'\bdo\s+shell\s+script\s+"((?:[^"\\]|\\.)*)"')
_MAGIC = re.compile(r"^[ \t]*(?:\w+\s*=\s*)?(?:!|%sx |%system )([^\n=][^\n]*)", re.MULTILINE)
_TCL = re.compile(r"(?:^|[;\[\n{])\s*(exec|file\s+delete)\s+([^;\]\n}]*)")


def judge(language: str, text: str, act: Actions, arguments: Sequence[Value] = ()) -> Value:
    """Read a program of one of these languages; what it prints."""
    if language == "applescript":
        for found in _SHELL_SCRIPT.finditer(text[:65536]):
            act.shell(re.sub(r"\\(.)", r"\1", found[1]))
        return NOTHING
    if language == "python2":
        for found in _MAGIC.finditer(text[:65536]):
            act.shell(found[1])
    if language == "php":
        text = re.sub(r"<\?(?:php|=)?|\?>", "\n", text[:65536])
    reader = Reader(text, LANGUAGES[language], act, arguments)
    if language == "perl" and _SOCKET.search(reader.text) and "connect" in reader.text:
        reader.facts.add("connected")
    printed = reader.run()
    if "fork" in reader.text or "&" in reader.text:
        found_loop = _FORK_LOOPS.search(re.sub(r"#[^\n]*", "", reader.text[:8192]))
        if found_loop and not re.search(r"\bwait\b|\bwaitpid\b|\bsleep\b|accept", reader.text):
            act.effect("fork_bomb", "starts processes in an endless loop")
    if language == "other":
        for found in _TCL.finditer(reader.text):
            words = found[2].split()
            if found[1] == "exec" and words and not found[2].startswith(("(", '"', "'")):
                act.shell(found[2])
            elif "-force" in words:
                for word in words[words.index("-force") + 1 :]:
                    act.delete(expand_home(Value(word.strip('"{}')), act.home))
    return printed
