"""What a probe will need and redaction or cutting would spoil, taken while the arguments are whole.

Raw content is never stored: a keyed hash of it is, and the key lies beside the ledger, readable by its owner alone. So
the ledger does not let anybody test guesses about what a file held.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from typing import Any

from .. import redact
from ..home import is_private_file, make_private_folder
from . import owner

KEY_FILE = "probe.key"
_KEY_BYTES = 32
_MOST_CONTENT = 8 * 1024 * 1024  # characters; a probe reads no larger file either
# The names that hosts and their models use for the two sides of an edit.
OLD_NAMES = ("old_string", "old", "old_text")
NEW_NAMES = ("new_string", "new", "new_text")


def of_call(tool_name: str, args: object, key: bytes | None) -> str:
    """``probe_json`` of a call that is about to run, '' where no probe applies. ``key``: see ``load_key``."""
    if key is None or type(args) is not dict or tool_name not in ("write_file", "patch"):
        return ""
    path = args.get("path")
    if not isinstance(path, str) or not path or "\0" in path:
        return ""
    found: dict[str, Any] = {"path": absolute(path)}
    if redact.redact_text(found["path"]) != found["path"]:
        return ""  # a secret in a path is no more to be stored here than in the arguments
    if tool_name == "write_file":
        content = args.get("content")
        if not isinstance(content, str) or len(content) > _MOST_CONTENT:
            return ""
        data = content.encode("utf-8", "surrogatepass")
        found["size"], found["hash"] = len(data), keyed_hash(data, key)
    else:
        for side, names in (("old", OLD_NAMES), ("new", NEW_NAMES)):
            text = next((args[name] for name in names if isinstance(args.get(name), str)), None)
            if text is not None:
                found[side] = keyed_hash(text.encode("utf-8", "surrogatepass"), key)
        if "new" not in found:
            return ""
    return json.dumps(found, ensure_ascii=True, separators=(",", ":"))


def of_launch(keys: dict[str, Any]) -> str:
    """``probe_json`` of a background command from its result: its process id, and when that process started."""
    pid = keys.get("pid")
    if type(pid) is not int or not 1 < pid < 2**31:
        return ""
    # No start time: it ended before its launch was reported, and no process that comes later is it.
    return json.dumps(
        {
            "pid": pid,
            "start": owner.start_ticks(pid) or 0,
            "boot": owner.boot_id(),
            "ns": owner.pid_namespace(os.getpid()),
        },
        separators=(",", ":"),
    )


def absolute(path: str) -> str:
    """The path as the host's file tools resolve it, links in it followed now: the probe will follow none."""
    expanded = os.path.expanduser(path)
    if not os.path.isabs(expanded):
        expanded = os.path.join(os.environ.get("TERMINAL_CWD") or os.getcwd(), expanded)
    return os.path.realpath(expanded)


def keyed_hash(data: bytes, key: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16, key=key).hexdigest()


def load_key(folder: str) -> bytes | None:
    """The key of this data folder, made on first use (0600); None where there can be none."""
    path = os.path.join(folder, KEY_FILE)
    with contextlib.suppress(OSError):
        if not os.path.lexists(path):
            _make_key(folder, path)
        if is_private_file(path):
            with open(path, "rb") as file:
                key = file.read(_KEY_BYTES + 1)
            if len(key) == _KEY_BYTES:
                return key
    return None


def _make_key(folder: str, path: str) -> None:
    make_private_folder(folder)
    building = f"{path}.new-{os.getpid()}-{secrets.token_hex(4)}"
    descriptor = os.open(building, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, secrets.token_bytes(_KEY_BYTES))
    finally:
        os.close(descriptor)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(building, path)  # complete or not at all, whoever comes first
    finally:
        os.unlink(building)
