"""What a project's own scripts run: makefiles, justfiles, package.json and Taskfiles.

Each function gives the command lines that a goal would run, in order, with the file's own variables put in. Pure text:
nothing is run, ``$(shell ...)`` is left for the shell that judges the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..model import UNKNOWN

MAX_TEXT = 128 * 1024
MAX_LINES = 400
MAX_DEPTH = 12
MAX_VALUE = 8192  # characters of a line, or of a variable, once its variables are put in

_MAKE_VARIABLE = re.compile(r"(?:export\s+|override\s+)*([\w.-]+)\s*(:::?=|::=|:=|\?=|\+=|!=|=)\s*(.*)")
_MAKE_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?![=])\s*([^;=]*?)\s*(?:;\s*(.*))?")
_MAKE_REFERENCE = re.compile(r"\$(?:\(([\w.-]+)\)|\{([\w.-]+)\}|([@<^?*]))")


_MAKE_KNOWN = {"MAKE": "make", "RM": "rm -f", "CURDIR": "$PWD", "SHELL": "sh", "HOME": "$HOME"}


@dataclass(slots=True)
class Target:
    """A goal: what it needs first, and its lines."""

    needs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    parameters: list[tuple[str, str]] = field(default_factory=list)


def _joined_lines(text: str) -> Iterator[str]:
    """Lines, with those that end in a backslash put together."""
    kept: list[str] = []
    for line in text[:MAX_TEXT].split("\n"):
        if line.endswith("\\"):
            kept.append(line[:-1])
        else:
            yield " ".join([*kept, line.strip()]) if kept else line
            kept = []
    if kept:
        yield " ".join(kept)


# --- make


def targets(text: str, settings: Mapping[str, str] | None = None) -> dict[str, Target]:
    """The rules of a makefile, in order; ``settings``: variables of the command line, which win."""
    variables: dict[str, str] = {}
    found: dict[str, Target] = {}
    current: list[Target] = []
    defining = ""
    for line in _joined_lines(text):
        if defining:
            if line.startswith("endef"):
                defining = ""
            else:
                variables[defining] = f"{variables.get(defining, '')}{line}\n"
            continue
        if line.startswith("\t"):
            for target in current:
                target.lines.append(line[1:])
            continue
        stripped = line.split(" #", 1)[0].strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("define "):
            defining = stripped.split()[1] if len(stripped.split()) > 1 else ""
            variables[defining] = ""
            continue
        if assigned := _MAKE_VARIABLE.fullmatch(stripped):
            _assign(variables, assigned)
            current = []
            continue
        rule = _MAKE_RULE.fullmatch(stripped)
        if rule is None:
            continue
        names = _expand(rule[1], variables, settings or {}).split()
        needs = _expand(rule[2], variables, settings or {}).split()
        current = []
        for name in names[:50]:
            target = found.setdefault(name, Target())
            target.needs.extend(needs)
            if rule[3]:
                target.lines.append(rule[3])
            current.append(target)
    for name, target in found.items():
        own = {"@": name, "<": target.needs[0] if target.needs else "", "^": " ".join(target.needs)}
        target.lines = [_expand(line, {**variables, **own}, settings or {}) for line in target.lines[:MAX_LINES]]
    return found


def _assign(variables: dict[str, str], found: re.Match[str]) -> None:
    name, operator, value = found[1], found[2], found[3]
    if operator == "?=" and name in variables:
        return
    if operator == "!=":
        variables[name] = f"$(shell {value})"
    elif operator == "+=":
        variables[name] = f"{variables.get(name, '')} {value}".strip()
    elif operator in (":=", "::=", ":::="):
        variables[name] = _expand(value, variables, {})
    else:
        variables[name] = value


def _expand(
    text: str, variables: Mapping[str, str], settings: Mapping[str, str], known: dict[str, str] | None = None
) -> str:
    """The text with the variables of make put in; ``$$`` is the shell's, ``$(shell x)`` becomes ``$(x)``.

    ``known``: what variables were found to be, so that each is worked out once.
    """
    if "$" not in text:
        return text[:MAX_VALUE]
    values = {} if known is None else known

    def one(found: re.Match[str]) -> str:
        name = found[1] or found[2] or found[3]
        if name not in values:
            values[name] = UNKNOWN  # what it is inside itself
            if name in settings:
                values[name] = settings[name]
            elif name in variables:
                values[name] = _expand(variables[name], variables, settings, values) if len(values) < 60 else UNKNOWN
            else:
                values[name] = _MAKE_KNOWN.get(name, f"${{{name}}}" if name.isidentifier() else UNKNOWN)
        return values[name]

    parts = text[:MAX_VALUE].split("$$")
    return "$".join(_MAKE_REFERENCE.sub(one, part).replace("$(shell ", "$(") for part in parts)[:MAX_VALUE]


def make_lines(text: str, goals: Sequence[str] = (), settings: Mapping[str, str] | None = None) -> list[str]:
    """The command lines that make would run for these goals, or for the first one."""
    found = targets(text, settings)
    first = next((name for name in found if not name.startswith(".") and "%" not in name), "")
    default = _default_goal(text) or first
    lines: list[str] = []
    for goal in goals or [default]:
        _follow(found, goal, lines, set(), 0)
    return [line.lstrip("@-+ \t") for line in lines[:MAX_LINES]]


def _default_goal(text: str) -> str:
    found = re.search(r"^\.DEFAULT_GOAL\s*:?=\s*(\S+)", text[:MAX_TEXT], re.MULTILINE)
    return found[1] if found else ""


def _follow(found: Mapping[str, Target], goal: str, lines: list[str], done: set[str], depth: int) -> None:
    if goal in done or depth > MAX_DEPTH or len(lines) > MAX_LINES:
        return
    done.add(goal)
    target = found.get(goal)
    if target is None:
        return
    for need in target.needs[:100]:
        _follow(found, need, lines, done, depth + 1)
    lines.extend(target.lines)


# --- just

_JUST_VARIABLE = re.compile(r"(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)")
_JUST_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:]*?)?)\s*:(?!=)\s*(.*)")
_JUST_REFERENCE = re.compile(r"\{\{\s*([^{}]{1,200}?)\s*\}\}")


def just_lines(text: str, goals: Sequence[str] = ()) -> list[str]:
    """The command lines that just would run for a recipe (and its arguments), or for the first recipe."""
    variables: dict[str, str] = {}
    recipes: dict[str, Target] = {}
    current: Target | None = None
    for line in _joined_lines(text):
        if line[:1] in (" ", "\t"):
            if current is not None:
                current.lines.append(line.strip())
            continue
        stripped = line.strip()
        if not stripped or stripped[0] in "#[":
            continue
        if assigned := _JUST_VARIABLE.fullmatch(stripped):
            variables[assigned[1]] = _just_value(assigned[2], variables)
        elif recipe := _JUST_RECIPE.fullmatch(stripped):
            current = recipes[recipe[1]] = Target(_just_needs(recipe[3]))
            for word in recipe[2].split():
                name, _, default = word.lstrip("+*$").partition("=")
                current.parameters.append((name, default.strip("'\"") or UNKNOWN))
        elif alias := re.fullmatch(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)", stripped):
            recipes[alias[1]] = Target([alias[2]])
    lines: list[str] = []
    rest = list(goals)
    if not rest:
        rest = ["default" if "default" in recipes else next(iter(recipes), "")]
    while rest:
        name = rest.pop(0)
        target = recipes.get(name)
        if target is None:
            continue
        given = {}
        for parameter, default in target.parameters:
            given[parameter] = rest.pop(0) if rest else default
        _just_follow(recipes, name, {**variables, **given}, lines, set(), 0)
    return lines[:MAX_LINES]


def _just_needs(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_][\w-]*", re.sub(r"#.*|'[^']*'|\"[^\"]*\"", "", text).replace("&&", " "))


def _just_value(source: str, variables: Mapping[str, str]) -> str:
    parts = [part.strip() for part in source.split(" + ")]
    out = ""
    for part in parts[:20]:
        if len(part) > 1 and part[0] in "'\"" and part[-1] == part[0]:
            out += part[1:-1]
        elif part.startswith("`") and part.endswith("`"):
            out += f"$({part[1:-1]})"
        elif found := re.fullmatch(r"env(?:_var)?(?:_or_default)?\(\s*['\"](\w+)['\"].*\)", part):
            out += f"${{{found[1]}}}"
        else:
            out += variables.get(part, UNKNOWN)
    return out


def _just_follow(
    recipes: Mapping[str, Target], name: str, variables: Mapping[str, str], lines: list[str], done: set[str], depth: int
) -> None:
    target = recipes.get(name)
    if target is None or name in done or depth > MAX_DEPTH or len(lines) > MAX_LINES:
        return
    done.add(name)
    for need in target.needs[:100]:
        _just_follow(recipes, need, variables, lines, done, depth + 1)
    body = [
        _JUST_REFERENCE.sub(lambda found: _just_value(found[1], variables), line) for line in target.lines[:MAX_LINES]
    ]
    if body and body[0].startswith("#!"):
        if re.search(r"sh\b", body[0]):
            lines.append("\n".join(body))
        elif interpreter := re.search(r"(python3?|node|perl|ruby)\b", body[0]):
            lines.append(f"{interpreter[1]} <<'JUST_BODY'\n" + "\n".join(body[1:]) + "\nJUST_BODY")
        return
    lines.extend(line.lstrip("@-") for line in body)


# --- package.json

_RUNS = re.compile(
    r"\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)|\b(?:run-s|run-p|npm-run-all)\s+([^&|;]+)"
)


def package_lines(text: str, name: str) -> list[str]:
    """The command lines of a script of package.json: ``pre`` and ``post`` scripts and the scripts it runs included."""
    try:
        loaded = json.loads(text[:MAX_TEXT])
    except (ValueError, RecursionError):
        return []
    scripts = loaded.get("scripts") if isinstance(loaded, dict) else None
    if not isinstance(scripts, dict):
        return []
    lines: list[str] = []
    names = [name]
    if name in ("install", "ci"):
        names = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"]
        for each in names:
            _package_script(scripts, each, lines, set(), 0, around=False)
        return lines
    if name in ("publish", "pack"):
        names = ["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"]
    for each in names:
        _package_script(scripts, each, lines, set(), 0)
    return lines[:MAX_LINES]


def _package_script(
    scripts: Mapping[str, object], name: str, lines: list[str], done: set[str], depth: int, around: bool = True
) -> None:
    if name in done or depth > MAX_DEPTH:
        return
    done.add(name)
    for each in (f"pre{name}", name, f"post{name}") if around else (name,):
        script = scripts.get(each)
        if not isinstance(script, str):
            continue
        lines.append(script)
        for found in _RUNS.finditer(script[:4096]):
            for called in [found[1]] if found[1] else found[2].split():
                if called in scripts:
                    _package_script(scripts, called, lines, done, depth + 1)


# --- Taskfile

_TASK_NAME = re.compile(r"(\s*)(['\"]?)([\w:.*-]+)\2:\s*(.*)")
_TASK_REFERENCE = re.compile(r"\{\{\s*\.(\w+)\s*\}\}")


def task_lines(text: str, goals: Sequence[str] = ()) -> list[str]:
    """The command lines of tasks of a Taskfile, read by their indentation; ``default`` where none is named."""
    variables: dict[str, str] = {}
    tasks: dict[str, Target] = {}
    section, current, key = "", None, ""
    task_indent = -1
    for line in text[:MAX_TEXT].split("\n"):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0:
            section = stripped.rstrip(":")
            current, task_indent = None, -1
            continue
        named = _TASK_NAME.fullmatch(line)
        if section == "vars" and named:
            variables[named[3]] = named[4].strip("'\"")
        elif section == "tasks":
            if named and (task_indent < 0 or indent <= task_indent):
                task_indent = indent
                current = tasks[named[3]] = Target()
                key = "cmds"
                if named[4]:
                    current.lines.append(named[4].strip("'\""))
            elif current is not None:
                key = _task_entry(current, stripped, key)
    lines: list[str] = []
    for goal in goals or ["default"]:
        _follow(tasks, goal, lines, set(), 0)
    return [_TASK_REFERENCE.sub(lambda found: variables.get(found[1], UNKNOWN), line) for line in lines[:MAX_LINES]]


def _task_entry(task: Target, line: str, key: str) -> str:
    """One line below a task; the key that the next lines belong to."""
    if line.startswith("- "):
        body = line[2:].strip()
        if key == "deps":
            task.needs.append(body.removeprefix("task:").strip().strip("'\""))
        elif key == "cmds":
            if body.startswith("task:"):
                task.needs.append(body[5:].strip().strip("'\""))
            else:
                body = body.removeprefix("cmd:").strip()
                task.lines.append(body[1:-1] if len(body) > 1 and body[0] == body[-1] and body[0] in "'\"" else body)
        return key
    name, colon, rest = line.partition(":")
    if colon and name in (
        "cmds",
        "cmd",
        "deps",
        "vars",
        "env",
        "sources",
        "generates",
        "desc",
        "dir",
        "silent",
        "preconditions",
    ):
        rest = rest.strip()
        if name == "deps" and rest.startswith("["):
            task.needs.extend(re.findall(r"[\w:.-]+", rest))
        elif name in ("cmd", "cmds") and rest and rest not in ("|", ">"):
            task.lines.append(rest.strip("'\""))
        return "cmds" if name == "cmd" else name
    if key == "cmds" and task.lines and task.lines[-1] in ("|", ">", "|-"):
        task.lines[-1] = line
    elif key == "cmds":
        task.lines.append(line)
    return key
