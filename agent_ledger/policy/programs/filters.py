"""Programs that print what they read, changed or not: what flows through a pipe keeps its marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import host_settings, watched_paths
from ..model import ANYTHING, GLOB, NOTHING, REMOTE, SECRET, SOME, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program

if TYPE_CHECKING:
    from ..machine import Machine

_READERS = {
    "cat": (), "tac": (), "nl": (), "less": (), "more": (), "most": (), "pg": (),
    "bat": ("-l", "--language", "-r", "--style"), "batcat": ("-l",), "head": ("-n", "-c", "--lines", "--bytes"),
    "tail": ("-n", "-c", "--lines", "--bytes"), "sort": ("-k", "-t", "-o", "-S"), "uniq": ("-f", "-s", "-w"),
    "fold": ("-w",), "fmt": ("-w",), "expand": ("-t",), "column": ("-t", "-s"), "strings": ("-n",),
    "od": ("-A", "-t", "-N", "-j"), "hexdump": ("-n", "-s", "-e"), "hd": (), "pr": (), "dos2unix": (),
    "iconv": ("-f", "-t"), "pv": ("-L",), "buffer": (), "unexpand": (), "diff": ("-U", "-I"), "sdiff": (),
    "colordiff": (), "comm": (), "join": (), "paste": ("-d",), "split": ("-l", "-b"), "csplit": (), "glow": (),
    "mdcat": (), "nano": (), "emacs": (), "ed": (), "micro": (), "highlight": (), "pygmentize": ("-l",), "open": (),
    "xdg-open": (), "look": (), "shuf": ("-n",), "zcat": (), "gzcat": (), "xzcat": (), "bzcat": (), "zless": (),
    "vipe": (), "ccat": (), "code": (), "pbcopy": (), "xclip": ("-selection", "-sel"), "xsel": (), "wl-copy": (),
    "jless": (), "lolcat": (), "moreutils": (), "busybox-cat": (), "plutil": (), "defaults": (),
    "keytool": ("-keystore", "-alias"), "file-roller": (),
}  # fmt: skip


@program(*_READERS)
def show(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, _READERS[command.name])
    if command.name == "keytool":
        return ANYTHING
    return content(machine, found.operands, command)


def content(machine: Machine, operands: list[Value], command: Command) -> Value:
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
    valued = (
        "-e",
        "-f",
        "-A",
        "-B",
        "-C",
        "-m",
        "-d",
        "-D",
        "--include",
        "--exclude",
        "--exclude-dir",
        "--color",
        "-g",
        "--glob",
        "-t",
        "--type",
        "--regexp",
        "--file",
        "-T",
        "-M",
        "-j",
    )
    found = parse(command.args, valued)
    operands = list(found.operands)
    pattern = found.values.get("-e") or found.values.get("--regexp")
    if pattern is None and operands and not found.any("-f", "--file", "--files"):
        pattern = operands.pop(0)
    if found.any("-c", "--count", "-q", "--quiet", "--silent", "-l", "--files-with-matches", "-L", "--files"):
        return Value(SOME)
    if not operands and command.stdin is None:
        return ANYTHING
    value = content(machine, operands, command)
    asked = pattern.text if pattern is not None else ""
    environment = not operands and value.marks & SECRET and machine.origin.startswith("the whole environment")
    if environment and not found.any("-v", "--invert-match") and not _SECRET_PATTERN.search(asked.rstrip("=")):
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
        machine.aside(runs[1])
    if found.any("-i", "--in-place") or any(flag.startswith("-i") for flag in found.flags):
        for operand in operands:
            where = machine.absolute(operand.text)
            if machine.touches_guarded(where) or host_settings.disarms_by_edit(where, text, machine.world.hermes):
                machine.effect("tampering", f"edits {where}", where)
            if watched_paths.is_account_file(where):
                machine.effect("account", f"edits {where}", where)
            machine.files.pop(where, None)
        return NOTHING
    value = content(machine, operands, command)
    if re.search(r"=\.[*+]", text):
        return Value(value.text, value.marks & ~SECRET)  # the names alone
    change = re.fullmatch(r"s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1g?", text, re.DOTALL)
    if change and value.known and len(value.text) < 4096 and re.fullmatch(r"[\w ./:@%,_-]*", change[2]):
        old, new = change[2].replace("\\", ""), change[3]
        return Value(
            value.text.replace(old, new) if text.endswith("g") else value.text.replace(old, new, 1), value.marks
        )
    return value


@program("cut", "gcut")
def cut(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-d", "-f", "-c", "-b", "--delimiter", "--fields"))
    value = content(machine, found.operands, command)
    fields = (found.values.get("-f") or found.values.get("--fields") or NOTHING).text
    if fields == "1" and (found.values.get("-d") or found.values.get("--delimiter") or NOTHING).text == "=":
        return Value(UNKNOWN, value.marks & ~SECRET)
    return Value(UNKNOWN if not value.known or not value.text else UNKNOWN, value.marks)


@program("jq", "yq", "gojq", "jaq", "dasel", "xq", "tomlq", "miller", "mlr", "csvcut", "xmllint", "xpath", "yj")
def query(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("--arg", "--argjson", "-f", "--from-file", "--indent", "--slurpfile", "--rawfile"))
    value = content(machine, found.operands[1:], command)
    if found.operands and re.search(r"\bkeys\b|\blength\b|\bhas\(", found.operands[0].text):
        return Value(UNKNOWN, value.marks & ~SECRET)
    return Value(UNKNOWN, value.marks)


@program(
    "wc",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "cksum",
    "b2sum",
    "md5",
    "file",
    "test-nothing",
    "xxhsum",
    "sum",
    "cmp",
)
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
    for name, chars in (
        ("[:lower:]", "a-z"),
        ("[:upper:]", "A-Z"),
        ("[:digit:]", "0-9"),
        ("[:space:]", " \t\n\r"),
        ("[:alpha:]", "A-Za-z"),
    ):
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
    value = content(machine, parse(command.args).operands, command)
    return Value("\n".join(line[::-1] for line in value.text.split("\n")), value.marks)


# --- decoders


# --- sources
