"""Runners of project scripts: make, npm, just and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import ANYTHING, UNKNOWN, Command, Value
from ..options import parse
from ..registry import program
from ..simple import execute
from .words import as_text

if TYPE_CHECKING:
    from ..machine import Machine


@program("make", "gmake", "bmake", "remake", "colormake")
def make(machine: Machine, command: Command) -> Value | None:
    from ..code import recipes

    found = parse(
        command.args, ("-f", "-C", "-I", "-j", "-l", "-o", "-W", "--file", "--makefile", "--directory", "--jobs")
    )
    if found.any("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "-p", "--help", "--version"):
        return ANYTHING

    def work() -> Value:
        if folder := found.values.get("-C") or found.values.get("--directory"):
            machine.scope.cwd = machine.absolute(folder.text)
        given = found.values.get("-f") or found.values.get("--file") or found.values.get("--makefile")
        if given and given.text == "-":
            text = command.stdin
        elif given:
            text = machine.content(given.text)
        else:
            text = _first_file(machine, "GNUmakefile", "makefile", "Makefile")
        if text is None or text.text in ("", UNKNOWN):
            return ANYTHING
        goals = [word.text for word in found.operands if "=" not in word.text]
        settings = dict(word.text.split("=", 1) for word in found.operands if "=" in word.text)
        for line in recipes.make_lines(text.text, goals, settings):
            machine.aside(line)
        return ANYTHING

    return machine.subshell(work)


def _first_file(machine: Machine, *names: str) -> Value | None:
    for name in names:
        value = machine.content(name)
        if value.text != UNKNOWN:
            return value
    return None


@program("npm", "yarn", "pnpm", "bun-run")
def project_script(machine: Machine, command: Command) -> Value | None:
    from ..code import recipes

    valued = ("--prefix", "-C", "--cwd", "-w", "--workspace", "--filter", "-F", "--dir", "-c", "--call")
    found = parse(command.args, valued)
    words = found.operands
    if not words:
        return None
    verb = words[0].text
    if verb in ("exec", "dlx", "x"):
        if text := found.values.get("-c") or found.values.get("--call"):
            return as_text(machine, [text])
        rest = list(command.args[[arg.text for arg in command.args].index(verb) + 1 :])
        while rest and rest[0].text.startswith("-"):
            rest.pop(0)
        return execute(machine, rest, command.stdin, {}) if rest else None
    if verb in ("run", "run-script", "rum", "urn"):
        name = words[1].text if len(words) > 1 else ""
    elif command.name in ("yarn", "pnpm", "bun-run") or verb in (
        "test",
        "start",
        "stop",
        "restart",
        "t",
        "install",
        "ci",
        "publish",
        "pack",
        "prepare",
    ):
        name = {"t": "test", "ci": "install"}.get(verb, verb)
    else:
        return None
    folder = (
        found.values.get("--prefix") or found.values.get("-C") or found.values.get("--cwd") or found.values.get("--dir")
    )

    def work() -> Value:
        if folder:
            machine.scope.cwd = machine.absolute(folder.text)
        text = machine.content("package.json")
        if text.text not in ("", UNKNOWN):
            for line in recipes.package_lines(text.text, name):
                machine.aside(line)
        return ANYTHING

    return machine.subshell(work)


@program("just", "task", "go-task")
def recipe(machine: Machine, command: Command) -> Value | None:
    from ..code import recipes

    found = parse(command.args, ("-f", "--justfile", "-d", "--working-directory", "-t", "--taskfile", "--dir", "--set"))
    if found.any("-n", "--dry-run", "--dry", "-l", "--list", "--summary", "--show", "-s", "--help", "--version"):
        return ANYTHING
    given = (
        found.values.get("-f")
        or found.values.get("--justfile")
        or found.values.get("-t")
        or found.values.get("--taskfile")
    )
    just = command.name == "just"
    names = (
        ("justfile", "Justfile", ".justfile")
        if just
        else ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml")
    )
    text = machine.content(given.text) if given else _first_file(machine, *names)
    if text is None or text.text in ("", UNKNOWN):
        return ANYTHING
    goals = [word.text for word in found.operands if "=" not in word.text]
    lines = recipes.just_lines(text.text, goals) if just else recipes.task_lines(text.text, goals)
    for line in lines:
        machine.aside(line)
    return ANYTHING
