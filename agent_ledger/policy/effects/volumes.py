"""What is done to volumes, pools and arrays: LVM, ZFS, Btrfs, RAID and networked storage."""

from __future__ import annotations

from ..model import NOTHING, UNKNOWN, Actions, Command
from ..options import parse
from . import places
from .disk import KIND, first_target
from .verbs import Judge, is_harmless, judge, programs, say, tools


def _lvm_remove(note: str, only_devices: bool = False) -> Judge:
    valued = frozenset("-S --select --config -A --autobackup --reportformat".split())

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, valued)
        if is_harmless(options) or options.any("-t", "--test", "-?", "-h"):
            return
        if only_devices and first_target(options.operands) is None:
            return
        if options.operands or options.values:
            name = options.operands[-1] if options.operands else NOTHING
            act.effect(KIND, say(command.name, [name], note), name.text)

    return look


def _lvresize(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-L", "--size", "-l", "--extents"))
    sizes = [options.values[name].text for name in ("-L", "--size", "-l", "--extents") if name in options.values]
    if not options.any("-t", "--test") and any(size.startswith("-") for size in sizes):
        act.effect(KIND, say("lvresize", options.operands[-1:], "shrinks a volume"))


def _lvm(command: Command, act: Actions) -> None:
    """``lvm COMMAND WORDS``."""
    if command.args:
        act.argv(list(command.args), command.stdin, command.place)


def _zfs(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-o", "-x"))
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options, help_short=False) or len(operands) < 2:
        return
    target = operands[-1].text
    if verb == "destroy" and not options.any("-n"):
        single = "@" in target and not target.endswith("@") and not options.any("-r", "-R")
        if not single or "%" in target or UNKNOWN in target:
            act.effect(KIND, say("zfs destroy", [target], "destroys a dataset"), target)
    elif verb == "rollback":
        act.effect(KIND, say("zfs rollback", [target], "loses what is newer than the snapshot"), target)
    elif verb in ("receive", "recv") and options.any("-F") and not options.any("-n"):
        act.effect(KIND, say("zfs receive -F", [target], "overwrites a dataset"), target)


def _zpool(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-o", "-O", "-m", "-R", "-t"))
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options, help_short=False) or options.any("-n") or len(operands) < 2:
        return
    if verb in ("destroy", "labelclear"):
        act.effect(KIND, say("zpool", operands[:2], "destroys a pool"), operands[1].text)
    elif verb == "remove" or (verb == "create" and first_target(operands[2:]) is not None):
        note = "takes a disk out of a pool" if verb == "remove" else "formats the disks"
        act.effect(KIND, say("zpool", operands[:2], note), operands[1].text)


def _btrfs(command: Command, act: Actions) -> None:
    options = parse(command.args)
    operands = options.operands
    if len(operands) < 3 or is_harmless(options):
        return
    group, verb = operands[0].text, operands[1].text
    if "subvolume".startswith(group) and len(group) > 2 and "delete".startswith(verb) and len(verb) > 2:
        for operand in operands[2:]:
            path = places.resolve(operand.text, command.cwd)
            if not places.is_temporary(path) and "snapshots" not in path:
                act.effect(KIND, say("btrfs subvolume delete", [operand], "deletes a subvolume"), path)
                return
    elif "device".startswith(group) and len(group) > 2 and verb in ("delete", "remove", "del"):
        act.effect(KIND, say("btrfs device remove", operands[2:3], "takes a disk out of a filesystem"))


def _mdadm(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-l", "-n", "-x", "-c", "--level", "--raid-devices", "--spare-devices", "--chunk"))
    if is_harmless(options) or not options.any(*_MDADM):
        return
    verb = sorted(options.flags & _MDADM)[0]
    act.effect(KIND, say("mdadm", [verb, *options.operands[:1]], "destroys or stops an array"))


_MDADM = frozenset("--zero-superblock --stop -S --create -C --fail -f --set-faulty".split())


_CEPH = """
osd pool delete|rm : deletes a pool
osd purge|destroy|lost|rm : destroys a storage daemon
fs rm|volume : removes a filesystem
osd crush remove|rm : removes a storage daemon
"""
_DRBD = """
wipe-md|invalidate|invalidate-remote : discards data
create-md +--force : discards data
"""
_RBD = """
rm|remove|rollback : deletes or overwrites an image
snap purge|rollback : deletes or overwrites an image
image rm|remove : deletes an image
"""


PROGRAMS: dict[str, Judge] = programs(
    tools("lvremove vgremove", _lvm_remove("removes volumes")),
    tools("lvreduce", _lvm_remove("shrinks a volume")),
    tools("pvremove pvcreate", _lvm_remove("overwrites a disk's label", only_devices=True)),
    tools("lvresize", _lvresize),
    tools("lvm", _lvm),
    tools("vgreduce", judge(KIND, "+--removemissing : drops missing volumes")),
    tools("dmsetup", judge(KIND, "remove_all|wipe_table : removes volumes")),
    tools("zfs", _zfs),
    tools("zpool", _zpool),
    tools("btrfs", _btrfs),
    tools("bcachefs", judge(KIND, "format : formats disks\ndevice remove : takes a disk out of a filesystem")),
    tools("mdadm", _mdadm),
    tools("ceph", judge(KIND, _CEPH)),
    tools("rados", judge(KIND, "rmpool|purge : deletes a pool")),
    tools("rbd", judge(KIND, _RBD, ("-p", "--pool"))),
    tools("gluster", judge(KIND, "volume delete|reset-brick : deletes a volume", ("--mode",))),
    tools("drbdadm", judge(KIND, _DRBD)),
)  # fmt: skip
