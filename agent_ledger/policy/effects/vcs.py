"""What version control programs other than git would lose."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Actions, Command, Value
from ..options import parse
from . import places
from .git import KIND
from .verbs import Judge, is_harmless, judge

_ALL = frozenset((".", "./", "*", "./*", "..", "/"))


def _hg(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-R", "--repository", "--cwd", "-r", "--rev", "--config", "-X", "-I", "-d", "-m"))
    operands = [operand.text for operand in options.operands]
    sub = operands[0] if operands else ""
    tree = options.values.get("-R") or options.values.get("--cwd") or Value(command.cwd)
    if is_harmless(options) or options.any("-n") or places.is_temporary(places.resolve(tree.text, command.cwd)):
        return
    note = ""
    clean = sub in ("update", "up", "checkout", "co") and options.any("-C", "--clean")
    if clean or (sub == "revert" and (options.any("-a", "--all") or _names_all(operands[1:]))):
        note = "discards all uncommitted changes"
    elif sub in ("purge", "clean") and not options.any("-p", "--print"):
        note = "deletes untracked files" if len(operands) < 2 else ""
    elif sub in ("strip", "debugstrip", "rollback"):
        note = "removes commits"
    elif sub in ("shelve", "unshelve") and options.any("-d", "--delete", "--cleanup"):
        note = "loses shelved changes"
    if note:
        act.effect(KIND, f"hg {sub} ({note})")


def _names_all(paths: Sequence[str]) -> bool:
    return any(path in _ALL or path == "..." or path.endswith("/...") for path in paths)


def _svn(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-m", "--message", "-F", "--depth", "-r", "--username", "--password"))
    operands = [operand.text for operand in options.operands]
    sub = operands[0] if operands else ""
    if is_harmless(options) or places.is_temporary(command.cwd):
        return
    recursive = options.any("-R", "--recursive", "--depth")
    if sub == "revert" and recursive and _names_all(operands[1:]):
        act.effect(KIND, "svn revert -R (discards all uncommitted changes)")
    elif sub == "cleanup" and options.any("--remove-unversioned", "--remove-ignored"):
        act.effect(KIND, "svn cleanup (deletes unversioned files)")
    elif sub in ("delete", "del", "remove", "rm") and any("://" in operand for operand in operands[1:]):
        act.effect(KIND, "svn delete (removes a folder of the repository at once)", operands[-1])


def _repo(command: Command, act: Actions) -> None:
    """``repo forall -c COMMAND``: the rest is a command line, run in every project."""
    for at, arg in enumerate(command.args):
        if arg.text == "-c" and at + 1 < len(command.args):
            rest = command.args[at + 1 :]
            if len(rest) == 1:
                act.shell(rest[0])
            else:
                act.argv(list(rest))
            return


def _p4(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-p", "-u", "-c", "-d", "-C", "-P", "-x"))
    operands = [operand.text for operand in options.operands]
    sub = operands[0] if operands else ""
    if sub == "obliterate" and options.any("-y"):
        act.effect(KIND, "p4 obliterate (removes files and their history from the server)")
    elif sub in ("revert", "clean") and not options.any("-n", "-k", "-a"):
        everything = sub == "clean" and len(operands) == 1
        if everything or any(operand.endswith("...") for operand in operands[1:]):
            act.effect(KIND, f"p4 {sub} (discards local changes)")

_darcs = judge(
    KIND,
    """
    obliterate|unpull +-a|--all : removes patches
    revert +-a|--all : discards uncommitted changes
    """,
)

_fossil = judge(
    KIND,
    """
    clean +-f|--force|-x !-n : deletes unmanaged files
    purge checkins|obliterate : removes commits
    """,
)

_jj = judge(
    KIND,
    """
    op|operation abandon : removes the record from which lost commits are found again
    util gc +--expire : removes unreachable commits for good
    """,
    ("-R", "--repository", "--at-op"),
)


def _bfg(command: Command, act: Actions) -> None:
    options = parse(command.args)
    if options.flags and not is_harmless(options) and not places.is_temporary(command.cwd):
        act.effect(KIND, "bfg (rewrites the whole history)")


PROGRAMS: dict[str, Judge] = {
    "bfg": _bfg, "hg": _hg, "svn": _svn, "repo": _repo, "p4": _p4, "darcs": _darcs, "fossil": _fossil, "jj": _jj,
}  # fmt: skip
