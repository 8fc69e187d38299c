"""What changes who may log in, and who may become root."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Actions, Command, Value
from ..options import Options, parse
from . import places
from .permissions import ROOT_GROUP
from .verbs import Judge, is_harmless, programs, say, tools

KIND = "account"
_POWERFUL = frozenset((ROOT_GROUP, "wheel", "root", "admin", "shadow", "disk", "administrators", "domain admins"))
_ROOT = "makes somebody root"


def _groups(options: Options, *names: str) -> bool:
    """One of the options' comma-separated groups makes its members root."""
    for name in names:
        value = options.values.get(name)
        if value is not None and not _POWERFUL.isdisjoint(value.text.lower().split(",")):
            return True
    return False


def _is_root(options: Options) -> bool:
    """The user id given is 0."""
    value = options.values.get("-u") or options.values.get("--uid")
    return value is not None and value.text == "0"


def _note(command: Command, act: Actions, words: Sequence[Value | str], note: str) -> None:
    act.effect(KIND, say(command.name, words, note))


_USER_VALUED = frozenset(
    "-c --comment -d --home -e --expiredate -f --inactive -g --gid -G --groups -l --login -p --password -s --shell -u "
    "--uid -k --skel -b --base-dir -R --root -P --prefix -K --key --ingroup".split()
)


def _useradd(command: Command, act: Actions) -> None:
    """``useradd``, ``adduser``: a plain account is ordinary work; one with the rights of root is not."""
    options = parse(command.args, _USER_VALUED)
    operands = [operand.text for operand in options.operands]
    joins = command.name == "adduser" and len(operands) > 1 and operands[1].lower() in _POWERFUL
    if is_harmless(options):
        return
    if _is_root(options) or joins or _groups(options, "-G", "--groups", "-g", "--gid", "--ingroup"):
        _note(command, act, operands[:2], _ROOT)


def _usermod(command: Command, act: Actions) -> None:
    options = parse(command.args, _USER_VALUED)
    name = options.operands[-1:]
    if is_harmless(options):
        return
    if _is_root(options) or _groups(options, "-G", "--groups", "-g", "--gid"):
        _note(command, act, name, _ROOT)
    elif options.any("-p", "--password"):
        _note(command, act, ["-p", *name], "sets a password")
    elif options.any("-L", "--lock", "-U", "--unlock") and [operand.text for operand in name] == ["root"]:
        _note(command, act, name, "locks or unlocks root")


def _userdel(command: Command, act: Actions) -> None:
    """``userdel``, ``deluser``: with a second operand it only leaves a group."""
    options = parse(command.args, ("-R", "--root", "-P", "--prefix", "--group"))
    operands = options.operands
    if is_harmless(options) or len(operands) != 1 or places.is_test_name(operands[0].text):
        return
    _note(command, act, operands, "deletes an account")


def _gpasswd(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-a", "--add", "-d", "--delete", "-A", "-M"))
    group = options.operands[-1].text.lower() if options.operands else ""
    if options.any("-a", "--add", "-A", "-M") and group in _POWERFUL:
        _note(command, act, [group], _ROOT)


def _groupmod(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-A", "-n", "-g", "-G", "-U"))
    if options.operands and options.operands[-1].text in _POWERFUL and not is_harmless(options):
        _note(command, act, options.operands[-1:], "changes a group of administrators")


def _passwd(command: Command, act: Actions) -> None:
    """``passwd``: one's own, asked for on the terminal, is one's own affair."""
    options = parse(command.args, ("-n", "-x", "-w", "-i", "-R", "--root"))
    name = options.operands[-1:]
    root = [operand.text for operand in name] == ["root"]
    if is_harmless(options) or options.any("-S", "--status", "-e", "--expire", "-?"):
        return
    if options.any("-d", "--delete"):
        _note(command, act, ["-d", *name], "removes a password")
    elif options.any("--stdin") or command.stdin is not None or root:
        _note(command, act, name, "changes a password or locks the account")
    elif options.any("-u", "--unlock", "-l", "--lock") and name:
        _note(command, act, name, "locks or unlocks an account")


def _chpasswd(command: Command, act: Actions) -> None:
    if not is_harmless(parse(command.args, ("-c", "-s", "-R"))):
        _note(command, act, [], "sets passwords")


def _edit_rights(command: Command, act: Actions) -> None:
    """The editor of the root rules: ``-c`` only checks them."""
    options = parse(command.args, ("-f", "--file"))
    if not is_harmless(options) and not options.any("-c", "--check", "-V", "-x"):
        _note(command, act, [], "changes who may become root")


# --- macOS, Windows


def _dscl(command: Command, act: Actions) -> None:
    words = [arg.text for arg in command.args if arg.text not in (".", "/Local/Default", "localhost")]
    verb = words[0].lstrip("-") if words else ""
    if verb in ("append", "merge", "create", "change", "delete", "passwd"):
        told = " ".join(words[1:])
        if verb in ("passwd", "delete") or "/Groups/admin" in told or "/Users/root" in told or "UniqueID 0" in told:
            _note(command, act, words[:3], "changes accounts")


def _dseditgroup(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-o", "-a", "-d", "-t", "-n", "-u", "-p", "-P"))
    group = options.operands[-1].text if options.operands else ""
    if options.any("-a") and group in _POWERFUL:
        _note(command, act, [group], _ROOT)


def _sysadminctl(command: Command, act: Actions) -> None:
    found = {arg.text for arg in command.args} & {"-deleteUser", "-resetPasswordFor", "-newPassword", "-admin"}
    if found:
        _note(command, act, sorted(found), "changes accounts")


def _net(command: Command, act: Actions) -> None:
    """``net user NAME PASSWORD /add``, ``net localgroup administrators NAME /add``."""
    words = [arg.text.lower() for arg in command.args]
    if words[:1] == ["user"] and (len(words) > 2 or "/delete" in words) and "/domain" not in words[2:3]:
        _note(command, act, words[:2], "changes accounts")
    elif words[:1] in (["localgroup"], ["group"]) and "/add" in words and words[1] in _POWERFUL:
        _note(command, act, words[:2], _ROOT)


def _local_group(command: Command, act: Actions) -> None:
    if any(arg.text.lower() in _POWERFUL for arg in command.args):
        _note(command, act, command.args[:2], _ROOT)


PROGRAMS: dict[str, Judge] = programs(
    tools("useradd adduser", _useradd),
    tools("usermod", _usermod),
    tools("userdel deluser", _userdel),
    tools("gpasswd", _gpasswd),
    tools("groupdel delgroup groupmod", _groupmod),
    tools("passwd", _passwd),
    tools("chpasswd newusers", _chpasswd),
    tools("vi" + ROOT_GROUP, _edit_rights),
    tools("vipw vigr", _edit_rights),
    tools("dscl", _dscl),
    tools("dseditgroup", _dseditgroup),
    tools("sysadminctl", _sysadminctl),
    tools("net net.exe net1", _net),
    tools("Add-LocalGroupMember add-localgroupmember", _local_group),
)
