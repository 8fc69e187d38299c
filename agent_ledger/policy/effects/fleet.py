"""What is run on many machines at once, or with credentials lent for it."""

from __future__ import annotations

from ..model import Actions, Command, Value
from ..options import parse
from .cloud import KIND
from .verbs import Judge, judge, programs, runs_rest, tools

_SHELLS = frozenset(("shell", "command", "raw", "win_shell", "win_command"))


def _ansible(command: Command, act: Actions) -> None:
    """``ansible HOSTS -m shell -a 'COMMAND'``; without a module it is a command."""
    options = parse(
        command.args,
        ("-m", "--module-name", "-a", "--args", "-i", "--inventory", "-u", "--user", "-l", "--limit", "-e", "-f", "-t"),
    )
    module = (options.values.get("-m") or options.values.get("--module-name") or Value("command")).text
    told = options.values.get("-a") or options.values.get("--args")
    if told is None or options.any("-C", "--check", "--syntax-check", "--list-hosts"):
        return
    if module.rpartition(".")[2] in _SHELLS:
        act.shell(told, "host")
    elif module.rpartition(".")[2] == "file" and "state=absent" in told.text:
        for part in told.text.split():
            name, _, path = part.partition("=")
            if name in ("path", "dest", "name"):
                act.argv(["rm", "-r" + "f", path], None, "host")


def _on_hosts(valued: str) -> Judge:
    """A program that runs its operands on the machines that its options name."""
    with_value = frozenset(valued.split())

    def look(command: Command, act: Actions) -> None:
        args, at = command.args, 0
        while at < len(args) and args[at].text.startswith("-"):
            at += 2 if args[at].text in with_value else 1
        rest = args[at:]
        if len(rest) == 1:
            act.shell(rest[0], "host")
        elif rest:
            act.argv(list(rest), None, "host")

    return look


def _salt(command: Command, act: Actions) -> None:
    operands = parse(command.args, ("-t", "--timeout", "-b", "--batch", "-c")).operands
    if len(operands) > 2 and operands[1].text in ("cmd.run", "cmd.shell", "cmd.run_all"):
        act.shell(operands[2], "host")


_KNIFE = "node|client|role|environment|cookbook delete|bulk : deletes it"

PROGRAMS: dict[str, Judge] = programs(
    tools("ansible", _ansible),
    tools("pdsh", _on_hosts("-w -x -g -R -l -t -f")),
    tools("pssh parallel-ssh", _on_hosts("-h --hosts -H --host -l -p -t -o -e -O -x")),
    tools("clush", _on_hosts("-w -x -g -l -t -f")),
    tools("dsh", _on_hosts("-m -g -f -o")),
    tools("salt", _salt),
    tools("knife", judge(KIND, _KNIFE)),
    tools("aws-vault chamber saml2aws aws-okta aws-sso berglas teller summon envconsul", runs_rest()),
)
