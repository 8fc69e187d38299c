"""What the judgement of a call passes around: values with marks, resolved commands, effects, and what may be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

# Characters that stand inside a value for what is not known: from the private use area, so that no shell text has them.
UNKNOWN = "\ue000"  # anything, perhaps nothing at all
SOME = "\ue001"  # anything but nothing: "${X:?}"

MOST_TEXT = 65_536  # characters of one value

# Marks of a value: what it carries from where it came from.
SECRET = 1  # read from a credential
REMOTE = 2  # fetched from the network
DECODED = 4  # the output of a decoder whose input is not known
GLOB = 8  # holds an unquoted * ? or [
TREE = 16  # names all that lies below a folder, as `find` lists it
DUMP = 32  # a whole database


@dataclass(frozen=True, slots=True)
class Value:
    """A string as far as it is known, and its marks."""

    text: str = ""
    marks: int = 0

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text and SOME not in self.text

    def __add__(self, other: Value) -> Value:
        return Value((self.text + other.text)[:MOST_TEXT], self.marks | other.marks)


NOTHING = Value()
ANYTHING = Value(UNKNOWN)


@dataclass(slots=True)
class Command:
    """One resolved simple command: what would be executed.

    ``name``: the program's base name ('' where not known); ``args``: what follows it. ``place``: 'here', 'host' (over
    ssh) or 'container'; paths mean something else there. ``env``: variables set for this command alone.
    """

    name: str
    args: Sequence[Value] = ()
    cwd: str = ""
    stdin: Value | None = None
    env: Mapping[str, Value] = field(default_factory=dict)
    place: str = "here"

    @property
    def texts(self) -> list[str]:
        return [arg.text for arg in self.args]


# The classified effects a policy rule can name, and what each means.
EFFECTS = {
    "recursive_delete": "deletes a tree, or the only copy of much",
    "overwrite": "empties, overwrites or moves away what the system or the account needs",
    "disk": "writes to a disk, partition or volume itself",
    "credential_read": "reads a secret: keys, tokens, .env files",
    "exfiltration": "sends a secret, or a whole database, away",
    "download_and_run": "runs what it has just fetched, unseen",
    "unknown_code": "runs code that was decoded and cannot be read",
    "remote_shell": "gives another machine a shell here",
    "git_destruction": "loses commits, branches or uncommitted changes",
    "database_destruction": "drops, empties or rewrites database objects",
    "cloud_destruction": "destroys cloud resources or published artifacts",
    "container_destruction": "removes volumes, namespaces or many containers",
    "permissions": "opens or takes over what must stay protected",
    "account": "changes who may log in or become root",
    "persistence": "plants commands that run by themselves",
    "fork_bomb": "starts processes without end",
    "package_source": "installs from an untrusted source",
    "tampering": "changes or disarms the ledger, its policy or its host",
}


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a call would do.

    ``kind``: of EFFECTS; ``what``: the resolved act in a few words; ``target``: the path or object it hits. An effect
    that is not ``dangerous`` matches only a rule that protects its target.
    """

    kind: str
    what: str
    target: str = ""
    dangerous: bool = True
    why: str = ""


class Actions(Protocol):
    """What judges of commands and of code may say that a call does. Everything is only noted, nothing is done."""

    home: str  # of the user, absolute
    project: str  # the root of the working tree, absolute

    @property
    def cwd(self) -> str:
        """The folder at work: absolute, or UNKNOWN."""

    def effect(self, kind: str, what: str, target: str = "", why: str = "") -> None:
        """Note a dangerous effect."""

    def shell(self, text: Value | str, place: str = "here", arguments: Sequence[Value] = ()) -> Value:
        """Run a command line (``arguments``: its ``$0 $1 ...``); returns what it prints as far as that is known."""

    def argv(self, words: Sequence[Value | str], stdin: Value | None = None, place: str = "here") -> Value:
        """Run a program with these words, without a shell; returns what it prints as far as that is known."""

    def code(self, language: str, text: Value | str) -> Value:
        """Run source code: python, node, perl, ruby, php, lua, awk, powershell, cmd, sql, redis, mongo, make, shell,
        applescript, other; returns what it prints as far as that is known."""

    def run_file(self, path: str, language: str = "", arguments: Sequence[Value] = ()) -> None:
        """Run or source a file: judged from disk, from what this session wrote, or from what was noted of it."""

    def delete(self, path: Value | str, recursive: bool = True, filtered: bool = False) -> None:
        """Delete a path. ``filtered``: only some of what is in it (a name or age was asked for)."""

    def read(self, path: Value | str, shown: bool = True) -> Value:
        """Read a file; returns its content as far as it is known. ``shown``: the content reaches output or a copy, so
        a secret counts as read."""

    def write(self, path: Value | str, content: Value, append: bool = False) -> None:
        """Write a file: overwriting what matters, planting what runs by itself, and remembering the content."""

    def send(self, content: Value, destination: str) -> None:
        """Send a value to another machine."""

    def fetched(self, path: Value | str) -> None:
        """A file now holds what came from the network."""
