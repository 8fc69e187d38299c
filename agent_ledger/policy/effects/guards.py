"""What disarms or stops a machine: firewalls, access control, auditing, the schedule, all processes, the power."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model import NOTHING, Actions, Command, Value
from ..options import parse
from . import places
from .verbs import Judge, is_harmless, judge, programs, say, tools

KIND = "permissions"
_OPEN = "takes the firewall down"
_UNGUARDED = "turns the system's protection off"


# --- firewalls and access control


def _setenforce(command: Command, act: Actions) -> None:
    if command.args and command.args[0].text.lower() in ("0", "permissive"):
        act.effect(KIND, "setenforce 0 (turns access control off)")


def _iptables(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-t", "--table", "-s", "-d", "-p", "-i", "-o", "-j", "-m", "--dport", "--sport"))
    operands = [operand.text for operand in options.operands]
    policy = options.any("-P", "--policy") and operands[-1:] == ["ACCEPT"] and "OUTPUT" not in operands
    if (options.any("-F", "--flush", "-X", "--delete-chain") or policy) and not is_harmless(options):
        act.effect(KIND, say(command.name, [*sorted(options.flags), *operands], _OPEN))


def _firewall_cmd(command: Command, act: Actions) -> None:
    words = [arg.text for arg in command.args]
    if "--set-default-zone=trusted" in words or "--panic-on" in words or any(
        word.startswith("--set-target=ACCEPT") for word in words
    ):
        act.effect(KIND, say("firewall-cmd", words[:2], _OPEN))


def _pfctl(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-F", "-f", "-t", "-T", "-s", "-a"))
    flushed = options.values.get("-F", NOTHING).text
    if options.any("-d") or flushed in ("all", "rules"):
        act.effect(KIND, say("pfctl", [arg.text for arg in command.args][:2], _OPEN))


_GUARD_SERVICES = frozenset(
    "firewalld ufw iptables ip6tables nftables auditd apparmor fail2ban crowdsec falcon-sensor clamav-daemon clamd "
    "clamav-freshclam osqueryd wazuh-agent ossec rsyslog syslog syslog-ng systemd-journald selinux-autorelabel aide "
    "sentinelone cbagentd mdatp windefend mpssvc ds_agent xagt auditbeat falco tripwire systemd-logind sshguard".split()
)
_STOPS = frozenset(("stop", "disable", "mask", "kill"))
_POWER = frozenset("poweroff reboot halt kexec emergency rescue suspend hibernate exit switch-root".split())
_POWER_TARGETS = ("rescue", "emergency", "poweroff", "reboot", "halt", "runlevel0", "runlevel6", "runlevel1")


def _systemctl(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-t", "--type", "-H", "--host", "-M", "--machine", "-n", "--lines", "-o", "-s"))
    operands = [operand.text for operand in options.operands]
    verb = operands[0] if operands else ""
    if is_harmless(options) or options.any("--user", "--dry-run"):
        return
    if verb in _STOPS:
        for name in operands[1:]:
            if name.removesuffix(".service").removesuffix(".socket") in _GUARD_SERVICES:
                act.effect(KIND, say("systemctl", [verb, name], "stops what guards or records the machine"), name)
                return
    elif verb in _POWER or (verb == "isolate" and operands[1:] and operands[1].startswith(_POWER_TARGETS)):
        _stop_machine(command, act, operands[:2])


def _service(command: Command, act: Actions) -> None:
    """``service NAME stop``, ``sc stop NAME``."""
    words = [arg.text.lower() for arg in command.args[:2]]
    if command.name == "service":
        words.reverse()
    if len(words) == 2 and words[0] in ("stop", "disable", "delete", "config") and words[1] in _GUARD_SERVICES:
        act.effect(KIND, say(command.name, words, "stops what guards or records the machine"), words[1])


_SYSCTL = re.compile(
    r"kernel\.(?:randomize_va_space|kptr_restrict|dmesg_restrict)=0|kernel\.core_pattern=\||"
    r"fs\.(?:protected_\w+)=0|fs\.suid_dumpable=[12]|vm\.mmap_min_addr=0"
)


def _sysctl(command: Command, act: Actions) -> None:
    for arg in command.args:
        if _SYSCTL.match(arg.text.replace(" ", "").replace("/", ".")):
            act.effect(KIND, say("sysctl", [arg], "turns a protection of the kernel off"))
            return


def _launchctl(command: Command, act: Actions) -> None:
    words = [arg.text for arg in command.args]
    if words[:1] in (["unload"], ["bootout"], ["disable"], ["remove"], ["kill"]) and any(
        "com.apple." in word or word.startswith("/System/") for word in words[1:]
    ):
        act.effect(KIND, say("launchctl", words[:3], "stops what the system needs"))


def _defender(command: Command, act: Actions) -> None:
    words = " ".join(arg.text.lower() for arg in command.args)
    if re.search(r"-disable\w+[: ]\$?(?:true|1)", words) or "-exclusionpath c:" in words:
        act.effect(KIND, say(command.name, command.args[:2], "turns the virus scanner off"))


def _reg(command: Command, act: Actions) -> None:
    words = [arg.text for arg in command.args]
    root = words[1].upper() if words[1:] else ""
    shared = root.startswith(("HKLM", "HKCR", "HKEY_LOCAL_MACHINE", "HKEY_CLASSES_ROOT"))
    if shared and words[0].lower() == "delete" and root.count("\\") < 3:
        act.effect("overwrite", say("reg delete", [root], "deletes settings that the system needs"), root)


# --- power, processes, schedule


def _stop_machine(command: Command, act: Actions, words: Sequence[Value | str]) -> None:
    # A container is stopped like this every day.
    if command.place != "container":
        act.effect("fork_bomb", say(command.name, words, "stops the machine"))


_ONLY_TELLS = frozenset("-c -k --show --help -w --wtmp-only /a -a /? --version".split())


def _shutdown(command: Command, act: Actions) -> None:
    """``shutdown``, ``reboot``, ``halt``, ``poweroff``: not where it cancels, shows or only warns."""
    words = [arg.text for arg in command.args]
    if not _ONLY_TELLS.isdisjoint(words):
        return
    if command.name in ("shutdown", "shutdown.exe") and not words:
        return
    _stop_machine(command, act, words[:2])


def _init(command: Command, act: Actions) -> None:
    if command.args and command.args[0].text in ("0", "1", "6", "s", "S"):
        _stop_machine(command, act, command.args[:1])


_ALL_PROCESSES = "kills all processes"


def _kill(command: Command, act: Actions) -> None:
    """``kill -9 -1``: a process number of -1 is everything; 1 is the process that all others need."""
    words = [arg.text for arg in command.args]
    if words[:1] in (["-l"], ["-L"], ["--list"], ["--help"]):
        return
    signal, pids, at = "", [], 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            pids.extend(words[at:])
            break
        if word in ("-s", "--signal", "-n"):
            signal = words[at] if at < len(words) else ""
            at += 1
        elif word.startswith("-") and not signal and not pids:
            signal = word[1:]
        else:
            pids.append(word)
    forced = signal.upper().removeprefix("SIG") in ("9", "KILL")
    if signal != "0" and ("-1" in pids or (forced and "1" in pids and command.place == "here")):
        act.effect("fork_bomb", say("kill", words[:3], _ALL_PROCESSES))


_EVERY_NAME = frozenset(("", ".", ".*", "..*", "^", ".+", "[a-z]", "[a-zA-Z]", "^.*$"))


def _pkill(command: Command, act: Actions) -> None:
    """``pkill -u USER`` without a name, ``pkill .``."""
    words = [arg for arg in command.args if not re.fullmatch(r"-(?:\d+|[A-Z]{3,})", arg.text)]
    options = parse(words, ("-u", "--euid", "-U", "--uid", "-g", "-G", "-P", "-s", "-t", "-F", "--signal", "--user"))
    names = [operand.text for operand in options.operands]
    by_user = options.any("-u", "-U", "--euid", "--uid", "--user")
    if is_harmless(options) or options.any("-l", "--list", "-0"):
        return
    if (by_user and not names) or any(name in _EVERY_NAME for name in names):
        act.effect("fork_bomb", say(command.name, command.args[:3], _ALL_PROCESSES))


def _killall5(command: Command, act: Actions) -> None:
    act.effect("fork_bomb", f"killall5 ({_ALL_PROCESSES})")


_JOB = re.compile(r"\s*(?:@\w+|(?:[\d*,/a-zA-Z-]+\s+){5})\s*(.+)")


def _crontab(command: Command, act: Actions) -> None:
    """``crontab -r`` removes all jobs; a new table's commands are judged, since they run by themselves."""
    options = parse(command.args, ("-u", "-c"))
    if options.any("-l", "-e", "-V", "-T", "-n", "--help"):
        return
    if options.any("-r", "--remove"):
        act.effect("overwrite", "crontab -r (removes every scheduled job)")
        return
    table = command.stdin
    source = options.operands[0].text if options.operands else "-"
    if source == "/dev/null":
        table = NOTHING
    elif source != "-":
        table = act.read(places.resolve(source, command.cwd), shown=False)
    if table is None:
        return
    if table.known and not table.text.strip():
        act.effect("overwrite", "crontab (removes every scheduled job)")
    for line in table.text.splitlines():
        found = None if line.lstrip().startswith("#") else _JOB.fullmatch(line)
        if found:
            act.shell(Value(found[1], table.marks))


PROGRAMS: dict[str, Judge] = programs(
    tools("setenforce", _setenforce),
    tools("ufw", judge(KIND, f"disable|reset : {_OPEN}\ndefault allow : {_OPEN}\ndefault allow incoming : {_OPEN}")),
    tools("iptables ip6tables iptables-legacy iptables-nft", _iptables),
    tools("nft", judge(KIND, f"flush ruleset|table|chain : {_OPEN}\ndelete table : {_OPEN}", ("-f",))),
    tools("firewall-cmd", _firewall_cmd),
    tools("pfctl", _pfctl),
    tools("netsh", judge(KIND, f"advfirewall set * state off : {_OPEN}\nadvfirewall reset : {_OPEN}", lower=True)),
    tools("aa-teardown aa-disable", judge(KIND, "!--help : turns access control off")),
    tools("auditctl", judge(KIND, "+-D : removes all audit rules\n0 +-e : turns auditing off")),
    tools("csrutil", judge(KIND, f"disable : {_UNGUARDED}\nauthenticated-root disable : {_UNGUARDED}")),
    tools("spctl", judge(KIND, "+--master-disable|--global-disable : turns the check of programs off")),
    tools("fdesetup", judge(KIND, "disable : turns disk encryption off")),
    tools("bcdedit", judge("overwrite", "/set|/delete|/deletevalue : changes how the machine starts", lower=True)),
    tools("systemctl", _systemctl),
    tools("service sc sc.exe", _service),
    tools("sysctl", _sysctl),
    tools("launchctl", _launchctl),
    tools("Set-MpPreference set-mppreference", _defender),
    tools("reg reg.exe", _reg),
    tools("shutdown reboot halt poweroff shutdown.exe", _shutdown),
    tools("Stop-Computer Restart-Computer stop-computer restart-computer", _shutdown),
    tools("init telinit", _init),
    tools("kill", _kill),
    tools("pkill killall skill", _pkill),
    tools("killall5", _killall5),
    tools("crontab", _crontab),
)
