"""Programs that run a command on another machine or in a container: ssh, docker, kubectl."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..model import ANYTHING, NOTHING, REMOTE, SECRET, SOME, UNKNOWN, Command, Value
from ..registry import JUDGES, PROGRAMS, program
from ..simple import execute
from .secrets import printed
from .words import as_text, behind_options

if TYPE_CHECKING:
    from ..machine import Machine


@program("ssh", "autossh", "mosh", "dbclient", "slogin")
def run_remote(machine: Machine, command: Command) -> Value | None:
    valued = frozenset("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B".split())
    for at, arg in enumerate(command.args):
        text = (
            arg.text
            if not arg.text.startswith("-o") or len(arg.text) > 2
            else (command.args[at + 1].text if at + 1 < len(command.args) else "")
        )
        if text.removeprefix("-o").lower().startswith(("proxycommand=", "localcommand=")):
            machine.aside(text.partition("=")[2])
    rest = behind_options(command.args, valued)
    if len(rest) < 2:
        if rest and command.stdin is not None and command.stdin.text:
            machine.aside(command.stdin or NOTHING, "host")
        return Value(UNKNOWN, REMOTE)
    if command.stdin is not None:
        machine.send(command.stdin if command.stdin.marks & SECRET else NOTHING, rest[0].text)
    behind = behind_options(rest[1:], valued)
    said = as_text(machine, behind, "host", command.stdin)
    return Value(UNKNOWN, REMOTE | said.marks & SECRET)


_ENGINE_VALUES = frozenset(
    "-e --env -u --user -w --workdir -v --volume --mount --name -p --publish --env-file --network --entrypoint -h"
    " --hostname -l --label -m --memory --cpus --platform --pull"
    " --restart --add-host --device --ipc --pid --gpus --tmpfs --ulimit --cap-add --cap-drop --security-opt -f"
    " --file --project-directory --profile --index --detach-keys"
    " -n --namespace -c --container --context --kubeconfig --image --overrides --annotations -l --cidfile"
    " --log-driver --dns --shm-size --runtime --userns --group-add".split()
)  # fmt: skip


def run_in_container(machine: Machine, args: Sequence[Value], named: bool, stdin: Value | None, image: bool) -> Value:
    """``docker exec [options] NAME command``, ``docker run [options] IMAGE command``: what runs inside."""
    rest = behind_options(args, _ENGINE_VALUES)
    own = list(args[: len(args) - len(rest)])
    if named and rest:
        # An image that bears the name of a tool runs that tool.
        tool = rest[0].text.rpartition("/")[2].partition(":")[0]
        rest = rest[1:]
        if image and tool in JUDGES and (not rest or rest[0].text not in PROGRAMS):
            rest = [Value(tool), *rest]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    mounts = _mounts(machine, own) if image else ()
    entry = next((own[n + 1] for n, arg in enumerate(own[:-1]) if arg.text == "--entrypoint"), None)
    entry = entry or next(
        (Value(arg.text.partition("=")[2]) for arg in own if arg.text.startswith("--entrypoint=")), None
    )
    if entry is not None and entry.text:
        rest = [entry, *rest]
    if not rest:
        return ANYTHING
    folder = next((own[n + 1].text for n, arg in enumerate(own[:-1]) if arg.text in ("-w", "--workdir")), "/")

    def work() -> Value:
        before, machine.mounts = machine.mounts, mounts
        place, machine.place = machine.place, "container"
        machine.scope.cwd = folder
        try:
            return execute(machine, rest, stdin, {})
        finally:
            machine.mounts, machine.place = before, place

    return machine.subshell(work)


def _mounts(machine: Machine, own: Sequence[Value]) -> tuple[tuple[str, str], ...]:
    found = []
    for at, arg in enumerate(own):
        text = arg.text
        if text in ("-v", "--volume", "--mount") and at + 1 < len(own):
            text = own[at + 1].text
        elif text.startswith(("-v=", "--volume=", "--mount=")):
            text = text.partition("=")[2]
        elif text.startswith("-v") and len(text) > 3:
            text = text[2:]
        else:
            continue
        if "target=" in text or "dst=" in text or "destination=" in text:
            fields = dict(part.partition("=")[::2] for part in text.split(","))
            outside, inside = (
                fields.get("source", fields.get("src", "")),
                fields.get("target", fields.get("dst", fields.get("destination", ""))),
            )
        else:
            outside, _, inside = text.partition(":")
            inside = inside.partition(":")[0]
        if outside.startswith(("/", ".", "~")) and inside.startswith("/"):
            found.append((posixpath.normpath(inside), machine.absolute(outside)))
    return tuple(found)


@program(
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "podman-compose",
    "kubectl",
    "oc",
    "k3s",
    "crictl",
    "lxc",
    "incus",
    "microk8s",
    "minikube",
    "finch",
)
def engine(machine: Machine, command: Command) -> Value | None:
    """The parts of container tools that run something; what they remove is judged elsewhere."""
    args = list(command.args)
    rest = behind_options(
        args, _ENGINE_VALUES | {"-H", "--host", "--log-level", "--config", "--server", "--token", "--as"}
    )
    if command.name in ("k3s", "microk8s", "minikube") and rest and rest[0].text in ("kubectl", "--"):
        return execute(machine, [Value("kubectl"), *rest[1:]], command.stdin, {})
    if rest and rest[0].text in ("container", "compose"):
        rest = behind_options(rest[1:], _ENGINE_VALUES)
    if not rest:
        return None
    verb = rest[0].text
    if command.name in ("kubectl", "oc", "lxc", "incus", "k3s"):
        if verb in ("exec", "rsh", "debug"):
            return _behind_dashes(machine, rest[1:], command.stdin)
        if verb == "run" and "--" in [arg.text for arg in rest]:
            return _behind_dashes(machine, rest[1:], command.stdin)
        return printed(machine, command)
    if verb == "exec":
        return run_in_container(machine, rest[1:], True, command.stdin, image=False)
    if verb in ("run", "create"):
        said = run_in_container(machine, rest[1:], True, command.stdin, image=True)
        detached = verb == "create" or any(arg.text in ("-d", "--detach") for arg in rest)
        return Value(SOME) if detached else said  # the id of the one that was made
    return printed(machine, command)


def _behind_dashes(machine: Machine, rest: Sequence[Value], stdin: Value | None) -> Value:
    texts = [arg.text for arg in rest]
    if "--" in texts:
        return run_in_container(machine, rest[texts.index("--") + 1 :], False, stdin, image=False)
    return run_in_container(machine, rest, True, stdin, image=False)


@program(
    "vagrant",
    "heroku",
    "gcloud-ssh",
    "adb",
    "fly",
    "flyctl",
    "railway",
    "kamal",
    "pdsh",
    "clush",
    "pssh",
    "multipass",
    "limactl",
    "colima",
    "wsl",
    "toolbox",
    "distrobox",
)
def run_there(machine: Machine, command: Command) -> Value | None:
    """Other ways to run a command on another machine."""
    args = list(command.args)
    texts = [arg.text for arg in args]
    for flag in ("-c", "-C", "--command"):
        if (
            flag in texts
            and texts.index(flag) + 1 < len(texts)
            and command.name in ("vagrant", "fly", "flyctl", "railway")
        ):
            return as_text(machine, args[texts.index(flag) + 1 :][:1], "host")
    if command.name in ("heroku", "fly", "flyctl", "railway", "kamal") and texts[:1] != ["run"]:
        return printed(machine, command)
    rest = args[1:] if texts[:1] in (["run"], ["shell"], ["exec"], ["ssh"]) else args
    rest = behind_options(rest, frozenset({"-a", "--app", "-w", "-s", "-n", "-d", "-u"}))
    if (
        command.name in ("multipass", "limactl", "toolbox", "distrobox", "pdsh", "clush", "pssh")
        and rest
        and command.name in ("multipass", "limactl")
    ):
        rest = rest[1:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    return as_text(machine, rest, "host") if rest else None
