"""Programs that encode and decode: base64, xxd, gunzip, openssl, gpg."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from ..model import ANYTHING, DECODED, NOTHING, REMOTE, SECRET, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from .filters import content

if TYPE_CHECKING:
    from ..machine import Machine


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
    value = machine.content(given.text) if given else content(machine, found.operands, command)
    if found.any("-d", "-D", "--decode") or command.name in ("uudecode", "b64decode"):
        out = (
            _decoded(value, _from_base64)
            if command.name in ("base64", "gbase64")
            else Value(UNKNOWN, value.marks | DECODED)
        )
    else:
        out = (
            Value(base64.b64encode(value.text.encode()).decode(), value.marks)
            if value.known and value.text and command.name == "base64"
            else Value(UNKNOWN, value.marks)
        )
    if target := found.values.get("-o"):
        machine.write(target, out)
        return NOTHING
    return out


@program("xxd")
def xxd(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-l", "-s", "-c", "-g"))
    value = content(machine, found.operands[:1], command)
    if found.any("-r", "--revert"):
        return (
            _decoded(value, _from_hex)
            if found.any("-p", "--plain") or found.any("-ps")
            else Value(UNKNOWN, value.marks | DECODED)
        )
    return Value(UNKNOWN, value.marks)


@program(
    "gunzip",
    "bunzip2",
    "unxz",
    "zstd",
    "unzstd",
    "lz4",
    "gzip",
    "bzip2",
    "xz",
    "lzma",
    "brotli",
    "uncompress",
    "unlzma",
    "compress",
    "pigz",
    "unpigz",
)
def squeeze(machine: Machine, command: Command) -> Value | None:
    found = parse(command.args, ("-S", "-T", "--threads", "-o"))
    value = content(machine, found.operands, command)
    unpacks = command.name.startswith(("un", "gunzip", "bunzip2")) or found.any("-d", "--decompress", "--uncompress")
    if found.operands and not found.any("-c", "--stdout"):
        return NOTHING
    return Value(UNKNOWN, value.marks | (DECODED if unpacks else 0))


@program("openssl")
def openssl(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    verb = args[0].text if args else ""
    found = parse(
        args[1:],
        (
            "-in",
            "-out",
            "-k",
            "-K",
            "-iv",
            "-pass",
            "-passin",
            "-passout",
            "-inkey",
            "-connect",
            "-subj",
            "-days",
            "-newkey",
            "-keyout",
            "-S",
        ),
        single_dash_long=True,
    )
    if verb == "s_client":
        if command.stdin is not None:
            machine.send(command.stdin, found.values.get("-connect", NOTHING).text)
        return Value(UNKNOWN, REMOTE)
    given = found.values.get("-in")
    value = machine.content(given.text) if given else (command.stdin if command.stdin is not None else ANYTHING)
    target = found.values.get("-out")
    if verb in ("base64", "enc") or verb.startswith(("aes", "des")):
        if found.any("-d"):
            out = (
                _decoded(value, _from_base64)
                if verb == "base64" or (found.any("-base64") and verb == "enc")
                else Value(UNKNOWN, value.marks | DECODED)
            )
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
        machine.origin = "a secret key"
        return Value(UNKNOWN, SECRET)
    if any(text.startswith(("--delete-secret", "--delete-key")) for text in texts):
        machine.effect("recursive_delete", f"{command.name} deletes keys", "keys", "keys that cannot be had again")
    if any(text in ("-d", "--decrypt") for text in texts):
        return Value(UNKNOWN, DECODED)
    return ANYTHING
