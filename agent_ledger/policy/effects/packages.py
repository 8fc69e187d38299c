"""Where packages come from, which of them leave, and which published ones are taken back."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..model import Actions, Command, Value
from ..options import Options, parse
from .verbs import Judge, both, every, is_harmless, judge, programs, say, tools

KIND = "package_source"
_PLAIN = re.compile(r"(?:git\+|svn\+|hg\+)?(?:http|git|ftp)://(?:[^/@]*@)?(\[?[^/:\]]+)")
_LOCAL = re.compile(
    r"localhost$|127\.|::1|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|[^.]+$|.+\.(?:local|localhost|internal|lan|home|corp|svc)$"
)
_INSECURE = "installs from a source that anybody on the way can change"
_UNCHECKED = "installs what nobody has signed"


def is_insecure(address: str) -> bool:
    """An address without encryption, on another network than this one."""
    found = _PLAIN.match(address)
    return found is not None and _LOCAL.match(found[1]) is None


def _tell(command: Command, act: Actions, words: Sequence[Value | str], note: str = _INSECURE) -> None:
    act.effect(KIND, say(command.name, words, note))


def _any_insecure(command: Command, act: Actions, values: Sequence[Value]) -> bool:
    for value in values:
        if is_insecure(value.text):
            _tell(command, act, [value])
            return True
    return False


_PIP_VALUED = frozenset(
    "-i --index-url --extra-index-url --default-index --index -f --find-links --trusted-host -r --requirement -c "
    "--constraint -t --target --prefix --root --proxy --cert --python -p --allow-insecure-host --pip-args".split()
)
_PIP_INDEX = frozenset("-i --index-url --extra-index-url --default-index --index -f --find-links --pip-args".split())
_PIP_TRUST = frozenset(("--trusted-host", "--allow-insecure-host"))
_PYTHON_HOSTS = re.compile(r"(?:.*\.)?(?:pypi\.org|pythonhosted\.org|pypi\.python\.org)")
_PIP_VERBS = frozenset("install download wheel add sync lock inject tool pip config source index compile".split())


def _pip(command: Command, act: Actions) -> None:
    """``pip``, ``uv``, ``pipx``, ``poetry``, ``pdm``, ``conda``."""
    options = parse(command.args, _PIP_VALUED)
    operands = options.operands
    if is_harmless(options) or not operands or operands[0].text not in _PIP_VERBS:
        return
    indexes = every(command.args, _PIP_INDEX, _PIP_VALUED)
    variables = [value for name, value in command.env.items() if name.startswith(("PIP_", "UV_")) and "INDEX" in name]
    if _any_insecure(command, act, [*indexes, *variables, *operands]):
        return
    for host in every(command.args, _PIP_TRUST, _PIP_VALUED):
        name = host.text.partition(":")[0]
        if not _LOCAL.match(name) and not _PYTHON_HOSTS.fullmatch(name):
            _tell(command, act, ["--trusted-host", host])
            return


_NPM_INSTALLS = frozenset("install i add ci update up upgrade config c set create init exec dlx x link".split())
_NPM_VALUED = frozenset("--registry --prefix -C --userconfig -w --workspace --tag --otp --loglevel --cache".split())


def _npm(command: Command, act: Actions) -> None:
    """``npm``, ``yarn``, ``pnpm``, ``bun``."""
    options = parse(command.args, _NPM_VALUED)
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options):
        return
    registry = [value for name, value in options.values.items() if "registry" in name]
    variables = [value for name, value in command.env.items() if name.lower() == "npm_config_registry"]
    if verb in ("config", "c"):
        text = " ".join(operand.text for operand in operands)
        if re.search(r"strict-ssl[= ]false", text):
            _tell(command, act, ["config set strict-ssl false"], "accepts packages from anybody on the way")
            return
    if verb in _NPM_INSTALLS:
        addresses = [Value(operand.text.partition("registry=")[2] or operand.text) for operand in operands]
    else:
        addresses = []
    _any_insecure(command, act, [*registry, *variables, *addresses])


def _addresses(valued: Collection[str] = (), verbs: str = "") -> Judge:
    """A program that installs from the addresses among its options' values and operands."""
    with_value, wanted = frozenset(valued), frozenset(verbs.split())

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, with_value)
        operands = options.operands
        if is_harmless(options) or (wanted and (not operands or operands[0].text not in wanted)):
            return
        _any_insecure(command, act, [*options.values.values(), *operands])

    return look


def _go(command: Command, act: Actions) -> None:
    options = parse(command.args, single_dash_long=True)
    proxy = command.env.get("GOPROXY")
    insecure = proxy is not None and any(is_insecure(one) for one in re.split(r"[,|]", proxy.text))
    if insecure or options.any("-insecure", "--insecure"):
        _tell(command, act, command.args[:2])


# --- system packages

_NEEDED = "removes what the system needs"
_CORE_PACKAGES = re.compile(
    r"(?:libc6|libc-bin|glibc|musl|systemd|systemd-sysv|init|udev|bash|dash|coreutils|util-linux|dpkg|apt|rpm|dnf|yum|"
    r"pacman|su" r"do|passwd|login|base-files|openssh-server|openssh|linux-image(?:-generic|-amd64|-\*|\*)?|"
    r"linux-generic|kernel(?:-core|-\*|\*)?|filesystem|shadow|pam|libpam\S*|python3|python3-minimal)(?:[:=].*)?"
)  # fmt: skip
_REMOVES = frozenset("remove purge erase autoremove rm uninstall del delete".split())


def _removes_core(options: Options, verbs: Collection[str]) -> Value | None:
    operands = options.operands
    if not operands or operands[0].text not in verbs:
        return None
    return next((operand for operand in operands[1:] if _CORE_PACKAGES.fullmatch(operand.text)), None)


_APT_OPTIONS = re.compile(
    r"(?:apt::get::allowunauthenticated|acquire::allow\w*insecure\w*)=(?:true|1|yes)", re.IGNORECASE
)
_UNSIGNED = ("--allow-unauthenticated", "--nogpgcheck", "--no-gpg-checks", "--no-gpg-check")


def _apt(command: Command, act: Actions) -> None:
    """``apt``, ``apt-get``, ``aptitude``, ``dnf``, ``yum``, ``zypper``, ``apk``."""
    options = parse(command.args, ("-o", "--option", "-t", "-c", "--repository", "-X", "--installroot", "--repo"))
    if is_harmless(options) or options.any("-s", "--simulate", "--just-print", "--assumeno", "--download-only"):
        return
    core = _removes_core(options, _REMOVES)
    settings = every(command.args, ("-o", "--option"))
    # A local file is often not signed; what comes over a network must be.
    untrusted = options.any("--allow-untrusted") and any("://" in arg.text for arg in command.args)
    if core is not None:
        act.effect("overwrite", say(command.name, [options.operands[0], core], _NEEDED), core.text)
    elif untrusted or options.any(*_UNSIGNED) or any(_APT_OPTIONS.fullmatch(value.text) for value in settings):
        _tell(command, act, options.operands[:2], _UNCHECKED)
    elif command.name in ("dnf", "yum", "zypper"):
        _any_insecure(command, act, options.operands)


def _rpm(command: Command, act: Actions) -> None:
    """``rpm -e``, ``rpm -i http://``, ``dpkg --purge``, ``pacman -R``, ``pacman -U http://``."""
    options = parse(command.args, ("--root", "--dbpath", "--prefix", "-b", "--config"))
    if is_harmless(options, help_short=False) or options.any("--test", "-p", "--print", "-Q", "-q", "-S", "-l"):
        return
    removing = options.any("-e", "--erase", "-R", "--remove", "--purge", "-r", "-P")
    core = next((operand for operand in options.operands if _CORE_PACKAGES.fullmatch(operand.text)), None)
    if removing and core is not None:
        act.effect("overwrite", say(command.name, [core], _NEEDED), core.text)
    elif not removing:
        _any_insecure(command, act, options.operands)


def _repository(command: Command, act: Actions) -> None:
    if any("trusted=yes" in arg.text for arg in command.args):
        _tell(command, act, command.args[:1], _UNCHECKED)


# --- published packages

_TAKEN_BACK = "takes a published package back"
_PUBLISHED = "cloud_destruction"


def _yank(command: Command, act: Actions) -> None:
    options = parse(command.args, ("--version", "--vers", "--registry", "--index", "--token", "-v", "-p", "--platform"))
    undo = options.any("--undo")
    if options.operands and options.operands[0].text == "yank" and not undo and not options.any("--help", "-h"):
        act.effect(_PUBLISHED, say(command.name, options.operands[:2], _TAKEN_BACK))


def _published(table: str) -> Judge:
    return judge(_PUBLISHED, table, _NPM_VALUED)


_UNPUBLISH = f"unpublish : {_TAKEN_BACK}\nteam destroy : deletes a team\naccess revoke : takes rights away"

PROGRAMS: dict[str, Judge] = programs(
    tools("pip pip3 uv pipx poetry pdm pipenv", _pip),
    tools("conda mamba micromamba", _addresses(("-c", "--channel", "-n", "--name", "-p"), "install create config")),
    tools("npm pnpm yarn bun", both(_npm, _published(_UNPUBLISH))),
    tools("gem", both(_addresses(("-s", "--source", "-a", "--add"), "install sources update"), _yank)),
    tools("bundle bundler", _addresses((), "config install")),
    tools("cargo", both(_addresses(("--index", "--git", "--registry"), "install add"), _yank)),
    tools("go", _go),
    tools("apt apt-get aptitude dnf yum zypper apk", _apt),
    tools("rpm dpkg pacman yay paru", _rpm),
    tools("add-apt-repository", _repository),
    tools("brew", _addresses((), "install tap")),
    tools("choco", _addresses(("-s", "--source"), "install upgrade")),
    tools("nuget", both(_addresses(("-Source", "-source"), "install"), _published(f"delete : {_TAKEN_BACK}"))),
    tools("flatpak", judge(KIND, f"remote-add|install +--no-gpg-verify : {_UNCHECKED}")),
    tools("vsce", _published(f"unpublish : {_TAKEN_BACK}")),
    tools("pod", _published(f"trunk delete : {_TAKEN_BACK}")),
    tools("anaconda", _published(f"remove : {_TAKEN_BACK}")),
    tools("hf huggingface-cli", _published(f"repo delete : {_TAKEN_BACK}\nrepo-files delete : {_TAKEN_BACK}")),
    tools("crane skopeo", _published(f"delete : {_TAKEN_BACK}")),
    tools("oras regctl", _published(f"manifest|tag|image|repo delete|rm : {_TAKEN_BACK}")),
)

FAMILIES: dict[str, Judge] = {"pip3.": _pip}
