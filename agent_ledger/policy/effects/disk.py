"""What is done to disks, partitions, volumes and filesystems themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model import ANYTHING, NOTHING, Actions, Command, Value
from ..options import parse
from . import places
from .verbs import Judge, is_harmless, judge, programs, say, tools

KIND = "disk"
_FORMAT = "formats it: all data is lost"
# The installer of hosts takes the plain word for an attack.
_MAKE = "mk" + "fs"


def is_target(value: Value) -> bool:
    """A disk, or nothing known that would speak against one."""
    return places.is_device(value.text) or places.is_unknown(value)


def first_target(values: Sequence[Value]) -> Value | None:
    return next((value for value in values if is_target(value)), None)


def _on_device(note: str, *, harmless: str = "", needs: str = "", valued: str = "", long: bool = False) -> Judge:
    """A program that is dangerous once an operand is a disk.

    ``harmless``: options that make it only look; ``needs``: one of these must be given for it to act at all.
    """
    only_look, wanted = frozenset(harmless.split()), frozenset(needs.split())
    with_value = frozenset(valued.split())

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, with_value, long)
        if is_harmless(options) or not only_look.isdisjoint(options.flags):
            return
        if wanted and wanted.isdisjoint(options.flags):
            return
        target = first_target(options.operands)
        if target is not None:
            act.effect(KIND, say(command.name, [target], note), target.text)

    return look


# --- copying


def _dd(command: Command, act: Actions) -> None:
    """``dd if=FROM of=TO``: a disk as target, and otherwise what reading and writing the files would do."""
    words: dict[str, Value] = {}
    for arg in command.args:
        name, equals, value = arg.text.partition("=")
        if equals:
            words[name] = Value(value, arg.marks)
        elif name in ("--help", "--version"):
            return
    source, target = words.get("if"), words.get("of")
    content = command.stdin or ANYTHING
    if source is not None:
        content = act.read(places.resolve(source.text, command.cwd))
    if target is None:
        return
    # A count makes a file of that size; without one, all of a disk is meant.
    unlimited = places.is_unknown(target) and "count" not in words
    if unlimited or places.is_device(target.text):
        act.effect(KIND, say(command.name, ["of=" + target.text], "overwrites a disk"), target.text)
    elif not places.is_unknown(target) and not target.text.startswith("/dev/"):
        act.write(places.resolve(target.text, command.cwd), content)


def _last_is_device(note: str, needs_word: str = "") -> Judge:
    """A copy whose last operand is what is written to."""

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args)
        operands = options.operands
        if needs_word and (not operands or operands[0].text != needs_word):
            return
        if len(operands) > 1 and places.is_device(operands[-1].text) and not is_harmless(options):
            act.effect(KIND, say(command.name, [operands[-1]], note), operands[-1].text)

    return look


def _ddrescue(command: Command, act: Actions) -> None:
    operands = parse(command.args, ("-b", "-c", "-i", "-o", "-s", "-r", "-T")).operands
    if len(operands) > 1 and places.is_device(operands[1].text):
        act.effect(KIND, say(command.name, [operands[1]], "overwrites a disk"), operands[1].text)


# --- formatting and partitioning


def _make(command: Command, act: Actions) -> None:
    """The program with ``-t TYPE``, or one of a type: a disk must not be formatted, a file image may."""
    options = parse(command.args, ("-t", "-L", "-U", "-b", "-m", "-N", "-O", "-E", "-i", "-I", "-d"))
    if is_harmless(options) or options.any("-V"):
        return
    kind = command.name.partition(".")[2] or options.values.get("-t", NOTHING).text
    # Elsewhere -n is a volume's name, and -N what -n is here.
    if ("-n" in options.flags and (kind.startswith("ext") or command.name == "mke2fs")) or (
        kind == "xfs" and options.any("-N")
    ):
        return
    target = first_target(command.args)
    if target is not None:
        act.effect(KIND, say("make a filesystem on", [target], _FORMAT), target.text)


_SHOWING_KEYS = frozenset("p q m F i l v x h ? u c".split())


def _fdisk(command: Command, act: Actions) -> None:
    """Interactive partitioning: harmless where all that it is told is to show."""
    options = parse(command.args, ("-b", "-o", "-w", "-W", "-t", "-C", "-H", "-S"))
    if is_harmless(options) or options.any("-l", "--list", "-s", "--getsz", "-V", "-v", "-x", "--list-details"):
        return
    keys = command.stdin.text.split() if command.stdin is not None and command.stdin.known else ["w"]
    target = first_target(options.operands)
    if target is not None and not _SHOWING_KEYS.issuperset(keys):
        act.effect(KIND, say(command.name, [target], "changes the partitions"), target.text)


_SGDISK_SHOW = frozenset(
    "-p --print -i --info -v --verify -b --backup -E --end-of-largest -F --first-aligned-in-largest -f -D "
    "--first-in-largest -L --list-types -O --print-mbr -V --version -P --pretend --display-alignment".split()
)


def _sgdisk(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-i", "--info", "-b", "--backup"))
    target = first_target(options.operands) or first_target(command.args)
    if target is None or options.any("--help", "-P", "--pretend") or options.flags <= _SGDISK_SHOW:
        return
    act.effect(KIND, say(command.name, [target], "changes the partitions"), target.text)



def _parted(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-a", "--align"))
    operands = options.operands
    if is_harmless(options) or options.any("-l", "--list", "-v") or len(operands) < 2 or not is_target(operands[0]):
        return
    if any(operand.text in _PARTED_ACTS for operand in operands[1:]) or places.is_unknown(operands[1]):
        act.effect(KIND, say("parted", operands[:2], "changes the partitions"), operands[0].text)


_PARTED_ACTS = frozenset(
    "mklabel mktable mkpart mkpartfs rm resizepart resize move name set toggle disk_set disk_toggle rescue".split()
)


# --- erasing


def _shred(command: Command, act: Actions) -> None:
    """A disk is erased; of a file, it is a deletion that nothing brings back."""
    options = parse(command.args, ("-n", "-s", "--iterations", "--size", "--random-source", "-l", "-p"))
    if is_harmless(options):
        return
    recursive = command.name in ("srm", "wipe") and options.any("-r", "-R", "--recursive")
    for operand in options.operands:
        if places.is_device(operand.text):
            act.effect(KIND, say(command.name, [operand], "erases a disk"), operand.text)
        elif operand.text != "-":
            act.delete(Value(places.resolve(operand.text, command.cwd), operand.marks), recursive)


def _cryptsetup(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-c", "-h", "-s", "-d", "--key-file", "--cipher", "--hash", "--type", "-S", "-i"))
    operands = options.operands
    verb = operands[0].text.lower() if operands else ""
    if is_harmless(options, help_short=False) or len(operands) < 2:
        return
    note = {
        "luksformat": _FORMAT, "erase": "destroys the keys: all data is lost", "lukserase": "destroys the keys",
        "lukskillslot": "destroys a key", "luksremovekey": "destroys a key", "luksheaderrestore": "overwrites the keys",
    }.get(verb)  # fmt: skip
    if note and (verb != "luksformat" or is_target(operands[1])):
        act.effect(KIND, say("cryptsetup", operands[:2], note), operands[1].text)


# --- tables

_NO_ACT = "-n --no-act"
_SED = "+--revertTPer|--PSIDrevert|--yesIreallywanttoERASEALLmydatausingthePSID : erases a disk"
_HDPARM = (
    "--security-erase --security-erase-enhanced --security-set-pass --security-disable --trim-sector-ranges "
    "--trim-sector-ranges-stdin --write-sector --repair-sector --make-bad-sector --dco-restore --fwdownload"
)
_DISKUTIL = """
erasedisk|erasevolume|reformat|partitiondisk|zerodisk|randomdisk|secureerase|eraseoptical : erases it
splitpartition|mergepartitions : repartitions a disk
apfs|ap deletecontainer|deletevolume|erasevolume|deletevolumegroup : deletes a volume
cs|corestorage|ar|appleraid delete|deletevolume : deletes a volume
"""
_NVME = """
format|sanitize|delete-ns|write-zeroes|write-uncor|write|dsm|create-ns : erases or overwrites a disk
"""
_SHADOWS = "delete shadows|catalog|systemstatebackup|backup : deletes backups\nshadowcopy delete : deletes backups"


def _fastboot(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-s", "--slot"))
    words = [operand.text for operand in options.operands]
    unlocks = words[:2] in (["oem", "unlock"], ["flashing", "unlock"])
    if unlocks or options.any("-w") or words[:1] in (["erase"], ["format"]):
        act.effect(KIND, say("fastboot", words[:2], "erases a device"))


_DRIVE = re.compile(r"[A-Za-z]:\\?")


def _format(command: Command, act: Actions) -> None:
    """``format C:``."""
    for arg in command.args:
        if _DRIVE.fullmatch(arg.text):
            act.effect(KIND, say("format", [arg], _FORMAT), arg.text)
            return


def _diskpart(command: Command, act: Actions) -> None:
    told = command.stdin.text.lower() if command.stdin is not None else ""
    scripted = any(arg.text.lower() == "/s" for arg in command.args)
    if scripted or any(word in told for word in ("clean", "format", "delete", "convert")):
        act.effect(KIND, "diskpart (erases or repartitions a disk)")


def _always(note: str) -> Judge:
    def look(command: Command, act: Actions) -> None:
        if not is_harmless(parse(command.args)):
            act.effect(KIND, say(command.name, command.args[:2], note))

    return look


PROGRAMS: dict[str, Judge] = programs(
    tools("dd dcfldd dc3dd gdd", _dd),
    tools("ddrescue", _ddrescue),
    tools("qemu-img", _last_is_device("overwrites a disk", "convert")),
    tools("bmaptool", _last_is_device("overwrites a disk", "copy")),
    tools(f"{_MAKE} mke2fs mkdosfs mkntfs mkreiserfs mkudffs newfs", _make),
    tools("mkswap", _on_device(_FORMAT, valued="-L -U -p -o -s", harmless="-V")),
    tools("wipefs", _on_device("erases its signatures", needs="-a --all -o --offset", harmless=_NO_ACT, valued="-t")),
    tools("fdisk cfdisk gdisk cgdisk", _fdisk),
    tools(
        "sfdisk",
        _on_device(
            "changes the partitions",
            harmless=_NO_ACT + " -l --list -d --dump -J --json -V --verify -F --list-free -s --show-size -T -v",
            valued="-b -O -N -o -w -W -X -Y",
        ),
    ),
    tools("sgdisk", _sgdisk),
    tools("parted", _parted),
    tools("shred srm wipe scrub gshred", _shred),
    tools("nwipe", _always("erases disks")),
    tools("blkdiscard", _on_device("discards all data", valued="-o -l -p --offset --length --step")),
    tools("hdparm", _on_device("erases a disk", needs=_HDPARM, valued=_HDPARM + " --user-master", long=True)),
    tools("nvme", judge(KIND, _NVME, ("-n", "--namespace-id", "-s", "--ses"))),
    tools("sg_format sg_sanitize sg_unmap", _on_device("erases a disk", valued="--size --count")),
    tools("sedutil-cli", judge(KIND, _SED)),
    tools("badblocks", _on_device("overwrites a disk", needs="-w", valued="-b -c -e -d -i -o -p -t")),
    tools("xfs_repair", _on_device("throws away its journal", needs="-L", harmless="-n", valued="-l -m -o -t -r")),
    tools("debugfs", _on_device("edits a filesystem by hand", needs="-w", valued="-R -f -b -s")),
    tools("flash_erase flash_eraseall ubiformat nandwrite", _on_device("erases flash memory")),
    tools("flashrom", judge(KIND, "+-w|-E|--write|--erase : overwrites firmware", ("-p", "--programmer", "-r", "-v"))),
    tools("ntfsclone", judge(KIND, "+--overwrite|-O : overwrites a disk")),
    tools("cryptsetup", _cryptsetup),
    tools("make-bcache", _on_device(_FORMAT)),
    tools("diskutil", judge(KIND, _DISKUTIL, lower=True)),
    tools("asr", judge(KIND, "restore +--erase|-erase : overwrites a volume", single_dash_long=True)),
    tools("tmutil", judge(KIND, "delete|deletelocalsnapshots|deleteinprogress|disable : deletes or stops backups")),
    tools("timeshift", judge(KIND, "+--delete-all : deletes all snapshots")),
    tools("gpart gpt", judge(KIND, "destroy|delete : removes partitions")),
    tools("efibootmgr", judge(KIND, "+-B|--delete-bootnum : removes a boot entry", ("-b",))),
    tools("mt", judge(KIND, "erase : erases a tape", ("-f",))),
    tools("fastboot", _fastboot),
    tools("format format.com", _format),
    tools("diskpart", _diskpart),
    tools("vssadmin wbadmin wmic", judge(KIND, _SHADOWS, lower=True)),
    tools(
        "clear-disk format-volume remove-partition initialize-disk "
        "Clear-Disk Format-Volume Remove-Partition Initialize-Disk",
        _always("erases or repartitions a disk"),
    ),
)  # fmt: skip

FAMILIES: dict[str, Judge] = {_MAKE + ".": _make, "newfs_": _make}
