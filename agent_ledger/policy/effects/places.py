"""What a path or a name stands for: a disk, a temporary or system folder, a whole tree, something for tests."""

from __future__ import annotations

import posixpath
import re

from ..model import SOME, UNKNOWN, Command, Value

_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/shm" + "/")
_SYSTEM_ROOTS = frozenset(
    "/ /etc /usr /var /bin /sbin /lib /lib32 /lib64 /boot /root /home /opt /srv /sys /proc /dev /run /snap"
    " /System /Library /Applications /Users /private /private/etc /private/var /Volumes".split()
)
# Character devices and folders of /dev that hold no one's data; everything else two levels deep is a volume.
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|console|ptmx|kvm|fuse|loop|fb|video|audio|dsp|hidraw|"
    r"ttyUSB|ttyACM|ttyS|rtc|i2c|spidev|gpio|uinput|net/|fd/|pts/|shm/|input/|snd/|dri/|usb/|serial/|bus/|char/|cpu/|"
    r"vfio/|mqueue|hugepages|tcp/|udp/|nvidia|vhost|watchdog|log\b)"
)
_DISK = re.compile(
    r"/dev/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|md/|dm-\d|mapper/|disk/|sr\d|st\d|nst\d|sg\d|nbd\d|zd\d|"
    r"zvol/|block/|ad\d|ada\d|da\d|mtd|ubi\d|bcache\d|drbd\d|rbd|pmem\d|ram\d|mem$|kmem$|port$|\ue000|[^/]+/[^/])"
)
_WINDOWS_DISK = re.compile(r"\\\\\.\\(?:physicaldrive\d|[a-z]:$)", re.IGNORECASE)
_TEST_WORDS = frozenset(
    "test tests testing tmp temp scratch ci spec e2e pytest unittest sandbox throwaway fixture fixtures".split()
)
_NOT_TESTS = frozenset("latest contest attest protest greatest fastest".split())
_WORDS = re.compile(r"[A-Za-z]+|\d+")
_GLOB_ALL = frozenset(("*", ".*", "{*,.*}", "**"))


def resolve(path: str, cwd: str) -> str:
    """The absolute, normalised path, as far as it is known where it starts."""
    joined = path if path[:1] in ("/", UNKNOWN, SOME) else posixpath.join(cwd or UNKNOWN, path)
    normal = posixpath.normpath(joined)
    return normal[1:] if normal.startswith("//") else normal


def is_device(path: str) -> bool:
    """A disk, a partition, a volume or the memory itself, not a file in a filesystem."""
    if path.startswith("\\\\.\\"):
        return _WINDOWS_DISK.match(path) is not None
    if not path.startswith("/dev/"):
        return False
    return _HARMLESS_DEVICES.match(path) is None and _DISK.match(path) is not None


def is_temporary(path: str) -> bool:
    """Strictly inside a folder for temporary files. ``path`` is resolved."""
    return path.startswith(_TEMPORARY)


def is_system(path: str) -> bool:
    """The root or one of its first folders, as a whole. ``path`` is resolved."""
    return path in _SYSTEM_ROOTS


def inside(path: str, folder: str) -> bool:
    """``path`` is ``folder`` or in it."""
    return path == folder or (bool(folder) and path.startswith(folder.rstrip("/") + "/"))


def tree(path: str, cwd: str) -> str:
    """What a recursive command given ``path`` works on: ``/*`` means ``/``, ``./*`` the working directory."""
    head, _, last = path.rpartition("/")
    if last in _GLOB_ALL:
        path = head or ("/" if "/" in path else ".")
    if path in (UNKNOWN + "/", UNKNOWN + "/."):  # an unset variable in front makes it the root
        return "/"
    return resolve(path, cwd)


def is_unknown(value: Value | str) -> bool:
    """Nothing of it is known, so it could be anything at all."""
    text = value if isinstance(value, str) else value.text
    return text.strip("/." + UNKNOWN) == "" and UNKNOWN in text


def has_unknown(value: Value) -> bool:
    """Some of it is not known, and that may be empty or many words."""
    return UNKNOWN in value.text


def is_test_name(name: str) -> bool:
    """A database, file, project or address that is named as one for tests: its last two parts count."""
    if SOME in name or UNKNOWN in name:
        return False
    tail = "/".join(name.partition("?")[0].rstrip("/").split("/")[-2:])
    for word in _WORDS.findall(tail):
        lower = word.lower()
        if lower in _TEST_WORDS or (lower.startswith("test") and not lower.startswith(("testi", "testa"))):
            return True
        if lower.endswith("test") and lower not in _NOT_TESTS:
            return True
    return False


_ENVIRONMENTS = ("ENV", "ENVIRONMENT")
_DATABASE_VARIABLES = (
    "DATABASE_URL", "DATABASE", "DB_NAME", "DB_DATABASE", "PGDATABASE", "MYSQL_DATABASE", "DJANGO_SETTINGS_MODULE",
    "SQLALCHEMY_DATABASE_URI", "DB_URL", "FLYWAY_URL", "GOOSE_DBSTRING",
)  # fmt: skip


def in_test_environment(command: Command) -> bool:
    """The command's own variables say that it works on a test environment (``RAILS_ENV=test``)."""
    return any(
        is_test_name(value.text) or is_temporary(value.text)
        for name, value in command.env.items()
        if name.endswith(_ENVIRONMENTS) or name in _DATABASE_VARIABLES
    )
