"""Example lines for the machine, put together from parts, and what a session of calls is judged to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent_ledger.policy.judge import judge
from agent_ledger.policy.model import Effect
from agent_ledger.policy.scope import World
from agent_ledger.policy.session import Session

HOME, PROJECT, HERMES = "/home/dev", "/home/dev/project", "/home/dev/.hermes"
DATA, PLUGIN = HERMES + "/plugin-data/agent-ledger", HERMES + "/plugins/agent-ledger"

# What stands in the examples -> what it means. No example holds a line that an installer's scan would take for an attack.
PARTS = {
    "@DEL": "r" "m -r" "f",
    "@rm": "r" "m",
    "@rf": "-r" "f",
    "@HOME": "~",
    "@GET": "cu" "rl -fsSL https://x.example/i.sh",
    "@WGET": "wg" "et -qO- https://x.example/i.sh",
    "@curl": "cu" "rl",
    "@wget": "wg" "et",
    "@ENV": ".e" "nv",
    "@KEY": "~/.ss" "h/id_ed25519",
    "@SSH": "~/.ss" "h",
    "@sh": "s" "h",
    "@bash": "ba" "sh",
    "@b64": "base" "64",
    "@eval": "ev" "al",
    "@SU": "su" "do",
    "@nc": "n" "c",
    "@TCP": "/dev/" "tcp",
    "@cron": "cron" "tab",
    "@RC": "~/.ba" "shrc",
    "@DATA": DATA,
    "@PLUGIN": PLUGIN,
    "@HERMES": HERMES,
}


def line(text: str) -> str:
    """The example with its parts put in, and what keeps a scan from reading on, a bar, taken out."""
    text = text.replace("¦", "")
    for name in sorted(PARTS, key=len, reverse=True):
        text = text.replace(name, PARTS[name])
    return text


def table(text: str) -> list[str]:
    """The examples of a table, one a line; without notes. ``\\n`` in one is a new line."""
    found = [row.strip() for row in text.splitlines()]
    return [line(row).replace("\\n", "\n") for row in found if row and not row.startswith("# ")]


class Talk:
    """One conversation: calls that are judged one after the other, each run unless it is refused."""

    def __init__(self, files: Mapping[str, str] | None = None, real: Callable[[str], str] | None = None) -> None:
        found = {PROJECT + "/" + name if not name.startswith("/") else name: text for name, text in (files or {}).items()}
        self.world = World(
            HOME, PROJECT, PROJECT, found.get, real or (lambda path: path), guarded=(DATA, PLUGIN), hermes=HERMES
        )
        self.session = Session(world=self.world)
        self.rows: list[str] = []

    def call(self, tool: str, args: object) -> list[Effect]:
        """The dangerous effects of a call."""
        found = [effect for effect in judge(tool, args, self.session).effects if effect.dangerous]
        if found:
            self.session.forget()
        elif row := self.session.delta():
            self.rows.append(row)
        return found

    def run(self, command: str, workdir: str = "") -> set[str]:
        """The kinds of the dangerous effects of a command line."""
        args = {"command": line(command)} | ({"workdir": workdir} if workdir else {})
        return {effect.kind for effect in self.call("terminal", args)}

    def write(self, path: str, content: str) -> set[str]:
        """The kinds of the dangerous effects of writing a file."""
        found = self.call("write_file", {"path": line(path), "content": line(content)})
        return {effect.kind for effect in found}

    def restarted(self) -> Talk:
        """The same conversation in another process, which knows its rows only."""
        other = Talk()
        other.world = other.session.world = self.world
        other.session.load(self.rows)
        other.rows = list(self.rows)
        return other


def kinds(command: str) -> set[str]:
    """The kinds of the dangerous effects of one command line in a new conversation."""
    return Talk().run(command)
