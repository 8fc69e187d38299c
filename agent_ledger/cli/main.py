"""Runs one command: parses, prints, and turns every error into a message and an exit code."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from ..errors import LedgerError
from . import exits, parser
from .output import Closed, Screen
from .text import safe


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script ``agent-ledger``; returns the exit code. argparse ends the process itself for --help (0), and
    for arguments that do not parse (2)."""
    options = parser.build().parse_args(arguments)
    return run(options)


def hermes_setup(host_parser: argparse.ArgumentParser) -> None:
    """What the host calls with the parser it made for ``hermes ledger``."""
    parser.fill(host_parser)


def hermes_run(options: argparse.Namespace) -> None:
    """What the host calls for ``hermes ledger ...``. Leaves by SystemExit: hosts before 0.20 ignore a returned code."""
    code = run(options)
    if code:
        raise SystemExit(code)


def run(options: argparse.Namespace) -> int:
    """Run the chosen command and print what it says; returns the exit code and raises nothing."""
    screen = Screen()
    code = exits.OK
    try:
        if options.ledger_command == "tail" and options.ledger_follow:
            _follow(options, screen)
        elif options.ledger_command == "export":
            importlib.import_module(".export", __package__).stream(options, screen)
        else:
            command: Any = importlib.import_module(f".{options.ledger_command or 'status'}", __package__)
            answer = command.run(options)
            code = answer.code
            if options.ledger_json:
                screen.json(answer.data)
            else:
                answer.show(screen)
        screen.flush()
    except Closed:
        screen.silence()
    except LedgerError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except OSError as error:
        return _fail(f"{error}. See `hermes ledger doctor` for the state of the ledger", exits.PROBLEM)
    return code


def _follow(options: argparse.Namespace, screen: Screen) -> None:
    from .tail import Follower

    Follower(options, screen, say=lambda text: print(f"agent-ledger: {safe(text)}", file=sys.stderr)).run()


def _fail(message: str, code: int) -> int:
    try:
        print(f"agent-ledger: {safe(message)}", file=sys.stderr)
    except (OSError, ValueError):
        pass
    return code
