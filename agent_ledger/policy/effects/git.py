"""What a git command would lose: commits, branches, uncommitted changes."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Callable, Sequence

from ..model import ANYTHING, UNKNOWN, Actions, Command, Value
from ..options import parse
from . import places
from .verbs import Judge, every, say

KIND = "git_destruction"

_GLOBAL_VALUED = frozenset(
    "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source".split()
)
_PROTECTED = frozenset(
    "main master trunk develop development dev production prod release stable staging default gh-pages".split()
)
_RELEASE = re.compile(r"v?\d+\.\d+(?:\.\d+)?")
_ALL = frozenset((".", "./", "*", "./*", ":/", ":", ":/*", "/", "..", "../", "**", ":(top)", ":/."))
# Settings whose value git runs as a command.
_RUN_SETTINGS = frozenset(
    "core.pager core.editor core.sshcommand core.fsmonitor core.askpass sequence.editor diff.external".split()
)


class Call:
    """One git command: its working tree, sub-command and options."""

    __slots__ = ("act", "args", "command", "options", "sub", "tree")

    def __init__(self, command: Command, act: Actions, sub: str, args: Sequence[Value], tree: str) -> None:
        self.command, self.act, self.sub, self.args, self.tree = command, act, sub, args, tree
        self.options = parse(args, _VALUED.get(sub, ()))

    def long(self, full: str, shortest: str, short: str = "") -> bool:
        """An option, its unique abbreviations included, was given."""
        flags = self.options.flags
        if short and short in flags:
            return True
        return any(len(flag) >= len(shortest) and full.startswith(flag) for flag in flags)

    def lost(self, words: str, note: str, target: str = "") -> None:
        self.act.effect(KIND, say("git " + self.sub, [words] if words else [], note), target)

    @property
    def throw_away(self) -> bool:
        """The clone lies in a folder for temporary files."""
        return places.is_temporary(self.tree)

    def covers_all(self, paths: Sequence[Value]) -> bool:
        """One of the paths is the whole working tree."""
        for path in paths:
            text = path.text
            if text in _ALL or (text.startswith("/") and places.inside(self.act.project, places.resolve(text, ""))):
                return True
        return False

    def paths(self) -> Sequence[Value]:
        """What follows ``--``."""
        for at, arg in enumerate(self.args):
            if arg.text == "--":
                return self.args[at + 1 :]
        return ()


def is_shared_branch(ref: str) -> bool:
    """A branch that others build on."""
    name = ref.removeprefix("refs/heads/").removeprefix("heads/")
    return name in _PROTECTED or name.startswith(("release/", "hotfix/"))


def _wholesale(paths: Sequence[Value], call: Call) -> bool:
    """The whole tree or a whole folder, not a named file."""
    return call.covers_all(paths) or any(path.text.endswith("/") for path in paths)


def _reset(call: Call) -> None:
    if call.long("--hard", "--ha"):
        call.lost("--hard", "discards all uncommitted changes")
    elif call.long("--merge", "--me"):
        call.lost("--merge", "discards staged changes")


def _clean(call: Call) -> None:
    options = call.options
    if not call.long("--force", "--f", "-f") and not _unforced_clean(call):
        return
    if options.any("-n", "-i", "--interactive") or call.long("--dry-run", "--d"):
        return
    if options.operands and not call.covers_all(options.operands) and not any(map(places.is_unknown, options.operands)):
        return
    ignored = options.any("-x", "-X")
    call.lost("-f", "deletes untracked and ignored files" if ignored else "deletes untracked files")


def _unforced_clean(call: Call) -> bool:
    """``-c clean.requireForce=false`` was given."""
    wanted = "clean.requireforce=false"
    return any(arg.text.lower() == wanted for arg in call.command.args)


def _checkout(call: Call) -> None:
    options = call.options
    if options.any("-p", "--patch", "--ours", "--theirs"):
        return
    paths = call.paths()
    new = options.values.get("-B")
    if new is not None:
        if is_shared_branch(new.text) and options.operands:
            call.lost(f"-B {new.text}", "moves a shared branch and forgets its commits", new.text)
        return
    if paths:
        if _wholesale(paths, call):
            call.lost("-- " + paths[0].text, "discards changes in a whole folder", paths[0].text)
    elif call.long("--force", "--f", "-f"):
        call.lost("--force", "discards uncommitted changes")
    elif _wholesale(options.operands, call):
        call.lost(options.operands[-1].text, "discards changes in a whole folder")


def _restore(call: Call) -> None:
    options = call.options
    if options.any("-p", "--patch", "--ours", "--theirs"):
        return
    staged = call.long("--staged", "--st", "-S")
    if staged and not call.long("--worktree", "--w", "-W"):
        return
    if _wholesale(options.operands, call):
        call.lost(options.operands[-1].text, "discards changes in a whole folder")


def _switch(call: Call) -> None:
    new = call.options.values.get("-C") or call.options.values.get("--force-create")
    if call.long("--discard-changes", "--di") or call.options.any("-f", "--force"):
        call.lost("--discard-changes", "discards uncommitted changes")
    elif new is not None and is_shared_branch(new.text) and call.options.operands:
        call.lost(f"-C {new.text}", "moves a shared branch and forgets its commits", new.text)


def _push(call: Call) -> None:
    options = call.options
    if options.any("-n") or call.long("--dry-run", "--dr"):
        return
    if options.any("-f", "--force"):
        call.lost("--force", "overwrites the history that others have")
    elif options.any("--mirror"):
        call.lost("--mirror", "makes the remote's branches and tags the same as here, deleting the others")
    elif options.any("--prune") and not any(":" in operand.text for operand in options.operands):
        call.lost("--prune", "deletes all remote branches that are not here")
    else:
        refs = options.operands[1:]
        deleting = call.long("--delete", "--de", "-d")
        for ref in refs:
            text = ref.text
            if text.startswith("+"):
                call.lost(text, "overwrites the history that others have", text)
            elif deleting or (text.startswith(":") and len(text) > 1):
                _delete_remote(call, text.removeprefix(":"))


def _delete_remote(call: Call, ref: str) -> None:
    if UNKNOWN in ref:
        call.lost("--delete", "deletes remote branches that cannot be told in advance")
    elif is_shared_branch(ref):
        call.lost(f"--delete {ref}", "deletes a shared branch", ref)
    elif _RELEASE.fullmatch(ref.removeprefix("refs/tags/").removeprefix("tags/")):
        call.lost(f"--delete {ref}", "deletes a published release tag", ref)


def _branch(call: Call) -> None:
    options = call.options
    force = options.any("-f", "--force")
    if options.any("-r", "--remotes"):
        return
    if options.any("-D") or (force and call.long("--delete", "--de", "-d")):
        for branch in options.operands:
            if UNKNOWN in branch.text:
                call.lost("-D", "deletes branches that cannot be told in advance, merged or not")
            elif is_shared_branch(branch.text):
                call.lost(f"-D {branch.text}", "deletes a shared branch, merged or not", branch.text)
    elif force and options.operands[1:] and is_shared_branch(options.operands[0].text) and not options.any("-m", "-c"):
        call.lost(f"-f {options.operands[0].text}", "moves a shared branch and forgets its commits")


def _stash(call: Call) -> None:
    verb = call.options.operands[0].text if call.options.operands else ""
    if verb == "clear":
        call.lost("clear", "loses all stashed changes")
    elif verb == "drop":
        call.lost("drop", "loses stashed changes")


def _rewrite(call: Call) -> None:
    if not call.options.any("--analyze", "--dry-run", "-h", "--version", "--state-branch-only"):
        call.lost("", "rewrites the whole history")


_NOW = re.compile(r"(?:now|all|0|[01][.\s]?(?:second|minute|hour)s?(?:[.\s]ago)?)")


def _reflog(call: Call) -> None:
    operands, values = call.options.operands, call.options.values
    verb = operands[0].text if operands else ""
    if verb not in ("expire", "delete") or call.options.any("-n", "--dry-run"):
        return
    times = [values[name].text for name in ("--expire", "--expire-unreachable") if name in values]
    if verb == "delete" or any(_NOW.fullmatch(time) for time in times):
        call.lost(verb, "removes the record from which lost commits are found again")


def _gc(call: Call) -> None:
    prune = call.options.values.get("--prune")
    if prune is not None and _NOW.fullmatch(prune.text):
        call.lost(f"--prune={prune.text}", "removes unreachable commits for good")


def _prune(call: Call) -> None:
    expire = call.options.values.get("--expire")
    if call.options.any("-n", "--dry-run") or (expire is not None and not _NOW.fullmatch(expire.text)):
        return
    call.lost("", "removes unreachable commits for good")


def _worktree(call: Call) -> None:
    operands = call.options.operands
    if operands and operands[0].text == "remove" and call.long("--force", "--f", "-f"):
        path = operands[1].text if len(operands) > 1 else ""
        if not places.is_temporary(places.resolve(path, call.tree)):
            call.lost("remove --force", "discards the changes in that working tree", path)


def _submodule(call: Call) -> None:
    operands = call.options.operands
    verb = operands[0].text if operands else ""
    if verb == "deinit" and call.long("--force", "--f", "-f"):
        if call.options.any("--all") or call.covers_all(operands[1:]):
            call.lost("deinit --force", "discards the changes in all submodules")
    elif verb == "foreach":
        _run_rest(call, [arg for arg in call.args if arg.text not in ("foreach", "--recursive", "-q", "--quiet")])


def _rm(call: Call) -> None:
    options = call.options
    if options.any("-n", "--dry-run", "--cached"):
        return
    if call.covers_all(options.operands) and options.any("-r", "-f", "--force"):
        call.lost("-r " + options.operands[0].text, "deletes all tracked files")


def _update_ref(call: Call) -> None:
    operands = call.options.operands
    if operands and (is_shared_branch(operands[0].text) or (operands[0].text == "HEAD" and call.options.any("-d"))):
        call.lost(operands[0].text, "moves or deletes a shared branch by hand", operands[0].text)


def _tag(call: Call) -> None:
    if call.options.any("-d", "--delete") and any(UNKNOWN in operand.text for operand in call.options.operands):
        call.lost("-d", "deletes tags that cannot be told in advance")


def _read_tree(call: Call) -> None:
    if call.options.any("--reset") and call.options.any("-u"):
        call.lost("--reset -u", "discards all uncommitted changes")


def _checkout_index(call: Call) -> None:
    if call.options.any("-f", "--force") and call.options.any("-a", "--all"):
        call.lost("-f -a", "discards all unstaged changes")


def _lfs(call: Call) -> None:
    if [operand.text for operand in call.options.operands[:2]] == ["migrate", "import"]:
        call.lost("migrate import", "rewrites the history")


def _rebase(call: Call) -> None:
    for value in every(call.args, ("-x", "--exec")):
        call.act.shell(value)


def _bisect(call: Call) -> None:
    if call.args and call.args[0].text == "run":
        call.act.argv(list(call.args[1:]))


def _run_rest(call: Call, words: Sequence[Value]) -> None:
    """Run what follows: one word is a command line, several are a program and its arguments."""
    if len(words) == 1:
        call.act.shell(words[0])
    elif words:
        call.act.argv(list(words))


_VALUED: dict[str, frozenset[str]] = {
    "clean": frozenset(("-e", "--exclude")),
    "checkout": frozenset(("-b", "-B", "--orphan", "--conflict", "--pathspec-from-file")),
    "switch": frozenset(("-c", "-C", "--create", "--force-create", "--orphan", "--conflict")),
    "restore": frozenset(("-s", "--source", "--conflict", "--pathspec-from-file")),
    "push": frozenset(("-o", "--push-option", "--repo", "--receive-pack", "--exec")),
    "branch": frozenset(("-u", "--set-upstream-to", "--sort", "--format", "--contains", "--points-at")),
    "stash": frozenset(("-m", "--message")),
    "tag": frozenset(("-m", "-F", "-u", "--message", "--file", "--sort", "--format")),
    "reflog": frozenset(("--expire", "--expire-unreachable")),
    "prune": frozenset(("--expire",)),
    "update-ref": frozenset(("-m",)),
    "rebase": frozenset(("-x", "--exec", "-s", "-X", "--onto", "--strategy", "--strategy-option")),
    "bisect": frozenset(),
    "submodule": frozenset(("-b", "--branch", "--reference", "--depth")),
}

# Local ones: a clone in a temporary folder may be treated as one likes.
_LOCAL: dict[str, Callable[[Call], None]] = {
    "reset": _reset, "clean": _clean, "checkout": _checkout, "restore": _restore, "switch": _switch, "branch": _branch,
    "stash": _stash, "filter-branch": _rewrite, "filter-repo": _rewrite, "reflog": _reflog, "gc": _gc, "prune": _prune,
    "worktree": _worktree, "rm": _rm, "update-ref": _update_ref, "tag": _tag, "read-tree": _read_tree,
    "checkout-index": _checkout_index, "lfs": _lfs,
}  # fmt: skip
_ANYWHERE: dict[str, Callable[[Call], None]] = {
    "push": _push, "submodule": _submodule, "rebase": _rebase, "bisect": _bisect,
}  # fmt: skip


def git(command: Command, act: Actions) -> None:
    """Judge a git command: its global options first, then the sub-command."""
    args = command.args
    tree = command.cwd
    work_tree = command.env.get("GIT_WORK_TREE")
    if work_tree is not None:
        tree = places.resolve(work_tree.text, tree)
    settings: dict[str, Value] = {}
    at = 0
    while at < len(args) and args[at].text.startswith("-"):
        name, equals, text = args[at].text.partition("=")
        value = Value(text, args[at].marks)
        at += 1
        if name in ("--help", "-h", "--version", "-v"):
            return
        if name in _GLOBAL_VALUED and not equals:
            value = args[at] if at < len(args) else ANYTHING
            at += 1
        if name == "-C" or name == "--work-tree":
            tree = places.resolve(value.text, tree)
        elif name == "-c":
            key, _, setting = value.text.partition("=")
            settings[key.lower()] = Value(setting, value.marks)
    for key, value in settings.items():
        if key in _RUN_SETTINGS and value.text not in ("", "true", "false", "cat", "less"):
            act.shell(value)
    if at >= len(args):
        return
    sub, rest = args[at].text, args[at + 1 :]
    alias = settings.get("alias." + sub.lower())
    if alias is not None:
        _alias(command, act, alias, rest)
        return
    local = _LOCAL.get(sub)
    look = local or _ANYWHERE.get(sub)
    if look is None or any(arg.text == "--help" for arg in rest) or (rest and rest[0].text == "-h"):
        return
    call = Call(command, act, sub, rest, tree)
    if local is None or not call.throw_away:
        look(call)


def _alias(command: Command, act: Actions, alias: Value, rest: Sequence[Value]) -> None:
    """Run an alias given on the command line itself."""
    if alias.text.startswith("!"):
        act.shell(Value(alias.text[1:], alias.marks), command.place, (Value("git"), *rest))
        return
    try:
        words = shlex.split(alias.text)
    except ValueError:
        words = alias.text.split()
    act.argv([command.name, *words, *rest], command.stdin, command.place)


def _filter_repo(command: Command, act: Actions) -> None:
    git(dataclasses.replace(command, name="git", args=(Value("filter-repo"), *command.args)), act)


PROGRAMS: dict[str, Judge] = {"git": git, "git-filter-repo": _filter_repo}
