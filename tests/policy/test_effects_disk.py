"""What is done to disks and volumes."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import disk, volumes
from agent_ledger.policy.effects.places import is_device
from agent_ledger.policy.model import Value
from tests.policy.recording import PROJECT, Recording, judged, lines, resolved

PROGRAMS = {**disk.PROGRAMS, **volumes.PROGRAMS}
MAKE = "mk" + "fs"
DD = "d" + "d"

ERASES = """
COPY if=x.iso of=/dev/sdc bs=4M status=progress
COPY of=/dev/nvme1n1p3 <<< x
COPY if=x of=/dev/mapper/vg-home
COPY if=x of=/dev/vg0/home
COPY if=x of=/dev/disk/by-id/usb-x
COPY if=x of=/dev/rdisk4
COPY if=x of=/dev/$DISK
COPY if=x of=$DISK bs=1M
dcfldd if=x of=/dev/sdb
ddrescue -f /dev/sda /dev/sdb map
qemu-img convert -O raw vm.qcow2 /dev/sdb
MAKE /dev/sdb
MAKE -t btrfs -f /dev/vdb1
mke2fs -t ext4 /dev/xvdf
mkswap /dev/sdb2
wipefs -a /dev/sdb
wipefs --all --force /dev/sdb1
fdisk /dev/sdb <<< g n w
cfdisk /dev/sdb
gdisk /dev/nvme0n1
sfdisk /dev/sdb <<< label: gpt
sgdisk -Z /dev/sdb
sgdisk -n 1:0:0 -t 1:8300 /dev/sdb
parted --script /dev/sdb rm 1
parted /dev/sdb mkpart primary 0% 100%
shred -vfz -n 3 /dev/sdb
blkdiscard -f /dev/sdb
hdparm --user-master u --security-erase pw /dev/sdb
nvme sanitize /dev/nvme0 -a 2
nvme delete-ns /dev/nvme0 -n 1
badblocks -wsv /dev/sdb
xfs_repair -L /dev/sdb1
cryptsetup luksFormat /dev/sdb1
cryptsetup -q luksFormat --type luks2 /dev/sdb1 key
cryptsetup erase /dev/sdb1
cryptsetup luksKillSlot /dev/sdb1 0
lvremove vg/data
vgremove -y vg0
pvremove -ff /dev/sdb1
pvcreate /dev/sdb
lvreduce -L 10G vg/data
lvresize -L -5G vg/data
zfs destroy tank/data
zfs destroy -r tank/data@old
zfs destroy tank/data@a%b
zfs rollback -r tank/data@old
zfs receive -F tank/data
zpool destroy -f tank
zpool labelclear -f /dev/sdb
zpool create tank mirror /dev/sdb /dev/sdc
btrfs sub del /srv/data
btrfs subvolume delete data
btrfs device remove /dev/sdb /mnt
mdadm --zero-superblock --force /dev/sdb1
mdadm --create /dev/md1 -l1 -n2 /dev/sdb /dev/sdc
mdadm -S /dev/md0
ceph osd pool delete x x --yes-i-really-really-mean-it
rbd rm pool/image
diskutil eraseDisk JHFS+ X disk3
diskutil apfs deleteContainer disk3
diskutil zeroDisk disk3
tmutil delete /Volumes/x
gpart destroy -F ada1
efibootmgr -b 0003 -B
fastboot -w
fastboot oem unlock
format d: /fs:ntfs
diskpart /s x.txt
diskpart <<< select disk 1 clean
vssadmin delete shadows /all /quiet
Clear-Disk -Number 1 -RemoveData
"""

SPARES = """
COPY
COPY --version
COPY if=/dev/sda of=/dev/null
COPY if=/dev/random of=/dev/stdout count=1
COPY if=/dev/random of=$OUT bs=1 count=16
ddrescue /dev/sda disk.img map
qemu-img create -f raw x.img 1G
qemu-img convert a.vmdk b.qcow2
MAKE x.img
MAKE -V
MAKE -t ext4 -n /dev/sdb1
MAKE -t ext4 /dev/loop0
mke2fs -n /dev/sdb1
mkswap swap.img
wipefs /dev/sdb
wipefs -n -a /dev/sdb
wipefs -a disk.img
fdisk -l /dev/sdb
fdisk --list
fdisk /dev/sdb <<< p q
fdisk x.img
gdisk -l /dev/sdb
sfdisk -d /dev/sdb
sfdisk --json /dev/sdb
sfdisk x.img
sgdisk -p /dev/sdb
sgdisk -i 1 /dev/sdb
sgdisk --backup=t.bin /dev/sdb
sgdisk -P -Z /dev/sdb
parted -l
parted /dev/sdb unit s print
parted x.img mklabel gpt
hdparm -tT /dev/sdb
hdparm /dev/sdb
nvme list
nvme smart-log /dev/nvme0
badblocks -sv /dev/sdb
xfs_repair -n /dev/sdb1
cryptsetup luksDump /dev/sdb1
cryptsetup open /dev/sdb1 x
cryptsetup luksFormat vault.img
cryptsetup luksHeaderBackup /dev/sdb1 --header-backup-file h
lvremove --test vg/data
lvcreate -L 1G -n x vg
lvresize -L +5G vg/data
lvextend -l +100%FREE vg/data
vgreduce vg0 /dev/sdb
lvs
zfs destroy -n tank/data
zfs destroy tank/data@old
zfs snapshot -r tank@x
zfs list -t snapshot
zfs receive tank/new
zpool create -n tank /dev/sdb
zpool create test /tmp/a.img
zpool scrub tank
zpool export tank
btrfs subvolume list /
btrfs subvolume snapshot / /snap
btrfs subvolume delete /tmp/x
btrfs subvolume delete /.snapshots/4/snapshot
btrfs scrub start /
mdadm --detail /dev/md0
mdadm --assemble --scan
ceph status
ceph osd pool ls
rbd ls
diskutil list
diskutil unmountDisk disk3
diskutil info disk3
tmutil listbackups
gpart show
efibootmgr -v
fastboot devices
format
format c
diskpart
vssadmin list shadows
"""


def example(line: str) -> str:
    """The line with the words that installers scan for put in."""
    return line.replace("MAKE", MAKE).replace("COPY", DD)


@pytest.mark.parametrize("line", lines(ERASES))
def test_what_erases_or_reformats_is_noted(line: str) -> None:
    """A disk, partition, volume or array that loses its data."""
    assert judged(PROGRAMS, example(line)).kinds[:1] == ["disk"]


@pytest.mark.parametrize("line", lines(SPARES))
def test_what_only_looks_or_works_on_files_is_not(line: str) -> None:
    """Listings, dry runs and images in files are no effect."""
    command = resolved(example(line))
    recording = Recording()
    judge = PROGRAMS.get(command.name)
    if judge is not None:
        judge(command, recording)
    assert recording.whats == []


def test_a_filesystem_is_made_by_a_family_of_programs() -> None:
    """Each type has a program of its own, and its own option for a dry run."""
    judge = disk.FAMILIES[MAKE + "."]
    told = {
        ".ext4 /dev/sdb1": True, ".ext4 -n /dev/sdb1": False, ".ext4 -F root.img": False, ".vfat -n X /dev/sdb1": True,
        ".xfs -N /dev/sdb1": False, ".xfs -f /dev/sdb1": True, ".vfat -C b.img 64": False, ".btrfs $DISK": True,
    }  # fmt: skip
    for line, expected in told.items():
        recording = Recording()
        judge(resolved(MAKE + line), recording)
        assert bool(recording.kinds) is expected, line


def test_copied_files_are_read_and_written() -> None:
    """What is no disk is judged as a file; erasing a file is deleting it."""
    assert judged(PROGRAMS, DD + " if=a of=b").said == [("read", f"{PROJECT}/a"), ("write", f"{PROJECT}/b")]
    assert judged(PROGRAMS, DD + " if=/srv/key").said == [("read", "/srv/key")]
    assert judged(PROGRAMS, "shred -u -n 3 a").said == [("delete", f"{PROJECT}/a")]
    assert judged(PROGRAMS, "lvm lvs vg").said == [("argv", "lvs", "vg")]


@pytest.mark.parametrize("path", "sda sdb1 hdc vda3 xvdf nvme0n1 nvme0n1p2 mmcblk0p1 disk2 rdisk2s1 md0 dm-3 vg/lv".split())
def test_disks_are_told_from_other_devices(path: str) -> None:
    """Block devices hold data; the null device, terminals and loops over files do not."""
    assert is_device("/dev/" + path)
    for other in ("null", "zero", "tty", "stdout", "fd/3", "loop0", "ttyUSB0", "urandom", "pts/1", "kvm", "snd/x"):
        assert not is_device("/dev/" + other)
    assert not is_device(f"{PROJECT}/dev/{path}")


def test_nothing_raises_on_odd_words() -> None:
    """Every judge takes no words, empty words and words that are not known."""
    for name, judge in PROGRAMS.items():
        for words in ([], [""], ["-"], ["--"], ["\ue000"], ["-x"], ["--x="], ["a"] * 5):
            command = resolved("x")
            command.name, command.args = name, [Value(word) for word in words]
            judge(command, Recording())
