"""Runners of packages and environments: npx, uv run, bundle exec, aws-vault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model import ANYTHING, Command, Value
from ..registry import program
from ..simple import execute
from .secrets import printed
from .words import as_text, behind_options, take_assignments

if TYPE_CHECKING:
    from ..machine import Machine

_RUNNERS = {
    "npx": ("-p", "--package", "-c"), "bunx": (), "pnpx": (), "uvx": ("--from", "--with", "--python", "-p"),
    "pipx": ("--spec",), "poetry": ("-C",), "pipenv": (), "bundle": (), "rye": (), "hatch": ("-e",),
    "conda": ("-n", "-p", "--name", "--prefix"), "mamba": ("-n", "-p"), "mise": (), "asdf": (), "rbenv": (),
    "pyenv": (), "nvm": (), "fnm": (), "volta": (), "direnv": (), "doppler": ("-p", "-c", "--project", "--config"),
    "op": ("--env-file",), "aws-vault": ("-d", "--duration"), "aws-okta": (), "chamber": (), "infisical": ("--env",),
    "teller": (), "sops": (), "envchain": (), "pdm": (), "pixi": (),
    "uv": ("--with", "--python", "-p", "--env-file", "--directory", "--project", "--extra", "--group"), "yarn": (),
    "pnpm": (), "bun": (), "corepack": (), "dotenvx": ("-f",), "nodemon": ("-w", "-e"), "cross-env": (), "dlx": (),
    "mvx": (), "foreman": (), "honcho": (), "spring": (), "docker-machine": (), "rustup": (), "cargo": (), "go": (),
    "deno": (), "make": (),
}  # fmt: skip
_VERBS = {
    "uv": ("run",), "uvx": ("",), "npx": ("",), "bunx": ("",), "pnpx": ("",), "pipx": ("run",), "poetry": ("run",),
    "pipenv": ("run",), "bundle": ("exec",), "rye": ("run",), "pdm": ("run",), "hatch": ("run",), "conda": ("run",),
    "mamba": ("run",), "mise": ("exec", "x"), "asdf": ("exec",), "rbenv": ("exec",), "pyenv": ("exec",),
    "nvm": ("exec",), "fnm": ("exec",), "volta": ("run",), "direnv": ("exec",), "doppler": ("run",), "op": ("run",),
    "aws-vault": ("exec",), "aws-okta": ("exec",), "chamber": ("exec",), "infisical": ("run",), "teller": ("run",),
    "envchain": ("",), "pixi": ("run",), "dotenvx": ("run",), "nodemon": ("--exec", "-x"), "cross-env": ("",),
    "foreman": ("run",), "honcho": ("run",), "corepack": ("",), "spring": ("",), "sops": ("exec-env", "exec-file"),
}  # fmt: skip
_NAMED_FIRST = frozenset({"aws-vault", "aws-okta", "chamber", "direnv", "envchain", "sops"})


@program(*_VERBS)
def run_through(machine: Machine, command: Command) -> Value | None:
    args = list(command.args)
    verbs = _VERBS[command.name]
    valued = frozenset(_RUNNERS.get(command.name, ()))
    if verbs != ("",):
        at = next((n for n, arg in enumerate(args[:6]) if arg.text in verbs), -1)
        if at < 0:
            return printed(machine, command)
        args = args[at + 1 :]
    if command.name == "npx" and len(args) > 1 and args[0].text == "-c":
        return as_text(machine, args[1:2])
    rest = behind_options(args, valued)
    if command.name in _NAMED_FIRST:
        rest = rest[1:]
        rest = behind_options(rest, valued)
    if rest and rest[0].text == "--":
        rest = rest[1:]
    env = dict(command.env)
    rest = take_assignments(machine, rest, env)
    if not rest:
        return None
    if command.name == "sops" or (len(rest) == 1 and " " in rest[0].text):
        return as_text(machine, rest)
    name = rest[0].text
    if command.name in ("uv", "poetry", "pipenv", "pdm", "hatch", "rye") and name.endswith(".py"):
        machine.run_file(name, "python", rest)
        return ANYTHING
    if "@" in name[1:] and command.name in ("npx", "bunx", "pnpx", "uvx", "pipx"):
        rest = [Value(name[0] + name[1:].partition("@")[0], rest[0].marks), *rest[1:]]
    return execute(machine, rest, command.stdin, env)
