"""What is done to containers, volumes and virtual machines; clusters are in ``cluster``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model import ANYTHING, SOME, Actions, Command, Value
from ..options import Options, parse
from . import places
from .verbs import Judge, is_harmless, judge, programs, say, tools

KIND = "container_destruction"
_VOLUMES = "deletes volumes and the data in them"

_GLOBAL = frozenset(
    "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey --root --runroot --url --connection "
    "--namespace -n --address --filter --format --time -t".split()
)
_COMPOSE = frozenset("-f --file -p --project-name --profile --env-file --project-directory --ansi -t --timeout".split())
_FILTERED = frozenset(("-f", "--filter"))


def _docker(command: Command, act: Actions) -> None:
    """``docker``, ``podman`` and ``nerdctl``: sub-commands of one object, or of a group and a verb."""
    args = command.args
    at = 0
    while at < len(args) and args[at].text.startswith("-"):
        at += 2 if args[at].text in _GLOBAL else 1
    if at >= len(args):
        return
    group, rest = args[at].text, args[at + 1 :]
    if group == "compose":
        _compose_words(command, act, rest)
        return
    if group == "container" and rest:
        group, rest = rest[0].text, rest[1:]
        if group == "prune":
            return
    elif group == "image" and rest and rest[0].text in ("rm", "remove"):
        group, rest = "rmi", rest[1:]
    options = parse(rest, frozenset(("--filter", "--time", "-t", "--format")))
    if is_harmless(options):
        return
    look = _GROUPS.get(group)
    note = look(options) if look is not None else ""
    if note:
        act.effect(KIND, say(command.name, [group, *options.operands[:2]], note))


def _many(options: Options) -> bool:
    """All, or a list that is only known when it runs."""
    return options.any("-a", "--all") or any(places.has_unknown(operand) for operand in options.operands)


def _rm(options: Options) -> str:
    return "removes every container it is told at run time" if _many(options) else ""


def _rmi(options: Options) -> str:
    return "removes every image it is told at run time" if _many(options) else ""


def _kill(options: Options) -> str:
    return "kills every container it is told at run time" if _many(options) else ""


def _volume(options: Options) -> str:
    verb = options.operands[0].text if options.operands else ""
    return _VOLUMES if verb in ("rm", "remove", "prune") else ""


def _system(options: Options) -> str:
    verb = options.operands[0].text if options.operands else ""
    if verb == "reset":
        return "removes all containers, images and volumes"
    if verb == "prune" and options.any("--volumes"):
        return _VOLUMES
    return "removes all images that no container uses" if verb == "prune" and options.any("-a", "--all") else ""


def _image(options: Options) -> str:
    verb = options.operands[0].text if options.operands else ""
    everything = verb == "prune" and options.any("-a", "--all") and "--filter" not in options.flags
    return "removes all images that no container uses" if everything else ""


def _verb(verbs: str, note: str, needs: str = "") -> Callable[[Options], str]:
    wanted, needed = frozenset(verbs.split()), frozenset(needs.split())

    def look(options: Options) -> str:
        verb = options.operands[0].text if options.operands else ""
        if verb not in wanted or (needed and needed.isdisjoint(options.flags)):
            return ""
        return note

    return look


_GROUPS: dict[str, Callable[[Options], str]] = {
    "rm": _rm, "remove": _rm, "rmi": _rmi, "kill": _kill, "volume": _volume, "system": _system, "image": _image,
    "swarm": _verb("leave", "takes this node out of the swarm", "-f --force"),
    "stack": _verb("rm remove down", "removes a whole stack"),
    "service": _verb("rm remove", "removes a service"),
    "node": _verb("rm remove", "removes a node", "-f --force"),
    "secret": _verb("rm remove", "deletes a secret"),
    "pod": _verb("rm", "removes all pods", "-a --all"),
    "machine": _verb("rm reset", "deletes the machine with all containers and volumes"),
    "namespace": _verb("rm remove", "deletes a namespace"),
}  # fmt: skip


def _compose(command: Command, act: Actions) -> None:
    _compose_words(command, act, command.args)


def _compose_words(command: Command, act: Actions, args: Sequence[Value]) -> None:
    options = parse(args, _COMPOSE)
    verb = options.operands[0].text if options.operands else ""
    if verb != "down" or is_harmless(options) or not options.any("-v", "--volumes"):
        return
    if not any(places.is_test_name(value.text) for value in options.values.values()):
        act.effect(KIND, say(command.name, ["down --volumes"], _VOLUMES))


def prints(command: Command) -> Value:
    """What a container program prints that others are then given: one id, or a chosen part of a list, is not empty and
    not everything (SOME); an unfiltered list is anything (UNKNOWN)."""
    words = [arg.text for arg in command.args]
    groups = ("container", "image", "compose")
    verb = next((word for word in words if not word.startswith("-") and word not in groups), "")
    if verb in ("run", "create", "build", "commit"):
        return Value(SOME)
    filtered = any(word in _FILTERED or word.startswith("--filter=") for word in words)
    if verb in ("ps", "ls", "list", "images") and (filtered or ("compose" in words and len(words) > 3)):
        return Value(SOME)
    return ANYTHING


# --- virtual machines and other runtimes


def _lxc(command: Command, act: Actions) -> None:
    options = parse(command.args, ("--project",))
    operands = [operand.text for operand in options.operands]
    if is_harmless(options) or not operands:
        return
    # A name with a slash is one snapshot.
    if operands[0] in ("delete", "rm") and not all("/" in operand for operand in operands[1:]):
        act.effect(KIND, say(command.name, operands[:2], "deletes an instance and its disk"))
    elif operands[0] in ("storage", "project") and "delete" in operands[1:3]:
        act.effect(KIND, say(command.name, operands[:3], "deletes storage"))


_VIRSH = """
undefine : deletes a virtual machine
destroy : cuts the power of a virtual machine
vol-delete|vol-wipe|pool-delete|pool-destroy|pool-undefine : deletes storage
"""
_VBOX = """
unregistervm +--delete|--delete-all : deletes a virtual machine and its disks
closemedium +--delete : deletes a disk
closemedium * +--delete : deletes a disk
"""
_XE = """
vm-destroy|vm-uninstall|vdi-destroy|sr-destroy|sr-forget|pool-eject : deletes machines or storage
"""
_GOVC = """
vm.destroy|datastore.rm|datacenter.destroy|object.destroy|host.remove|cluster.rm : deletes machines or storage
"""

PROGRAMS: dict[str, Judge] = programs(
    tools("docker podman nerdctl finch lima-nerdctl", _docker),
    tools("docker-compose podman-compose", _compose),
    tools("docker-machine", judge(KIND, "rm : deletes a machine", ("-s", "--storage-path"))),
    tools("ctr", judge(KIND, "namespaces|namespace|ns remove|rm|del|delete : deletes a namespace", ("-n", "-a"))),
    tools("crictl", judge(KIND, "rm|rmp|rmi +-a|--all : removes everything", ("-r", "-i"))),
    tools("buildah", judge(KIND, "rm|rmi +-a|--all : removes everything")),
    tools("toolbox distrobox", judge(KIND, "rm +-a|--all : removes all of its containers")),
    tools("lxc incus", _lxc),
    tools("lxc-destroy", judge(KIND, "+-n|--name : deletes an instance\n* : deletes an instance")),
    tools("machinectl", judge(KIND, "remove|clean : deletes images")),
    tools("virsh", judge(KIND, _VIRSH, ("-c", "--connect"))),
    tools("vagrant", judge(KIND, "destroy : deletes the virtual machines")),
    tools("multipass", judge(KIND, "delete +-p|--purge|--all : deletes instances\npurge : deletes instances for good")),
    tools("VBoxManage vboxmanage", judge(KIND, _VBOX)),
    tools("prlctl", judge(KIND, "delete : deletes a virtual machine")),
    tools("qm pct", judge(KIND, "destroy : deletes a virtual machine and its disks")),
    tools("pvesm", judge(KIND, "free|remove : deletes storage")),
    tools("pvecm", judge(KIND, "delnode : removes a node")),
    tools("xe", judge(KIND, _XE)),
    tools("govc", judge(KIND, _GOVC, single_dash_long=True)),
    tools("wsl wsl.exe", judge(KIND, "+--unregister : deletes a distribution and its disk")),
)

# Programs whose output other commands are given as arguments.
OUTPUTS = dict.fromkeys(("docker", "podman", "nerdctl"), prints)
