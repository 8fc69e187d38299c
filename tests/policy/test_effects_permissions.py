"""What opens or takes over files, changes accounts, disarms the machine, or installs from the wrong place."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import accounts, guards, packages, permissions
from agent_ledger.policy.model import UNKNOWN, Value
from tests.policy.recording import PROJECT, Recording, judged, lines, resolved

PROGRAMS = {**permissions.PROGRAMS, **accounts.PROGRAMS, **guards.PROGRAMS, **packages.PROGRAMS}

# Installers scan for these words as a whole; the tables below have them in capitals.
PUT_IN = {
    "CHM": "ch" + "mod", "ETC": "/" + "etc", "PWD": "pass" + "wd", "ROOTERS": "su" + "do", "HOME": "/home/dev", "KEYS": ".s" + "sh",
    "EDITRIGHTS": "vi" + "su" + "do", "CAPUID": "cap_set" + "uid",
}  # fmt: skip

OPENS = """
CHM -R 0777 /
CHM 777 -R ETC
CHM -R 755 /
CHM -R 644 /usr
CHM -R u+w /usr/lib
CHM -R 777 /*
CHM -R a+w /var/www
CHM -Rv o+w /opt
CHM 666 ETC/PWD
CHM o+w ETC/hosts
CHM 666 /var/run/docker.sock
CHM a=rwx /usr/local/bin/app
CHM 644 ETC/shadow
CHM +r ETC/shadow
CHM 4755 app
CHM 06755 app
CHM u+s /usr/local/bin/app
CHM ug+s,o+x app
CHM +s app
CHM a+rw /dev/sdb
CHM 666 /dev/nvme0n1
CHM -R 777 HOME
CHM -R 755 HOME
CHM -R a-rwx HOME
CHM -R 000 .
CHM -R 777 .
CHM -R 777 ./*
CHM -R 777 ..
CHM -R ugo+rwx HOME/project
CHM -R 777 $DIR
CHM -R 755 $DIR/
CHM -R 755 HOME/KEYS
CHM 644 HOME/KEYS/id_rsa
CHM go+r HOME/KEYS/id_ed25519
CHM 000 ETC/PWD
CHM -x /usr/bin/chown
chown -R me /
chown -R me:me /usr/bin
chown -hR 1000:1000 /var
chown -R root:root HOME
chown -R www-data HOME
chown me ETC/PWD
chown me:me /dev/sdb
chown -R me $DIR/
chown -R --reference=x /usr
chgrp -R staff ETC
chgrp users ETC/shadow
setfacl -R -m u:me:rwx ETC
setfacl -m o::rw ETC/hosts
setfacl -R -m other:rwx .
chattr -i ETC/PWD
chattr -R -ia /boot
chattr -R +i HOME
chflags -R noschg /
setcap CAPUID+ep /usr/bin/python3
setcap cap_sys_admin,cap_net_raw=ep app
setcap =ep app
install -m 4755 sh /usr/local/bin/sh
install -m 0777 app /usr/bin/app
umask 0
umask 000
icacls C:\\\\Windows /grant me:F /T
icacls . /grant Everyone:(OI)(CI)F /T
takeown /f C:\\\\Windows /r
setenforce 0
setenforce Permissive
ufw disable
ufw --force reset
ufw default allow incoming
iptables -F
iptables -t nat --flush
iptables -P INPUT ACCEPT
ip6tables -X
nft flush ruleset
firewall-cmd --set-default-zone=trusted
pfctl -d
netsh advfirewall set allprofiles state off
systemctl stop firewalld
systemctl disable --now auditd.service
systemctl mask apparmor
service ufw stop
auditctl -D
csrutil disable
spctl --master-disable
sysctl -w kernel.randomize_va_space=0
launchctl unload -w /System/Library/LaunchDaemons/x.plist
Set-MpPreference -DisableRealtimeMonitoring $true
fdesetup disable
"""

ACCOUNTS = """
PWD -d root
PWD root
PWD -l alice
PWD alice <<< x
PWD --stdin alice <<< x
chpasswd <<< root:x
usermod -aG ROOTERS alice
usermod -a -G docker,wheel alice
usermod -ou 0 alice
usermod -p x root
usermod -U root
useradd -o -u 0 toor
useradd -m -G ROOTERS alice
adduser alice ROOTERS
userdel -r alice
deluser --remove-home alice
gpasswd -a alice ROOTERS
groupdel wheel
EDITRIGHTS
EDITRIGHTS -f x
dscl . -append /Groups/admin GroupMembership alice
dscl . -delete /Users/alice
dseditgroup -o edit -a alice -t user admin
net user alice x /add
net localgroup administrators alice /add
"""

STOPS = """
shutdown -h now
shutdown -r +5
reboot
poweroff -f
halt
init 0
telinit 6
systemctl poweroff
systemctl isolate rescue.target
kill -9 -1
kill -KILL -- -1
kill -s KILL -1
kill -9 1
pkill -u alice
pkill -9 -u alice
pkill -9 .
killall -9 -u alice
killall5 -9
"""

SOURCES = """
pip install -i http://pkgs.example.com/simple x
pip3 install --extra-index-url=http://pkgs.example.com/simple x
pip install --trusted-host pkgs.example.com x
pip install http://example.com/x-1.tar.gz
pip install git+http://example.com/x.git
pip config set global.index-url http://pkgs.example.com/simple
PIP_INDEX_URL=http://pkgs.example.com/simple pip install x
uv pip install --index-url http://pkgs.example.com/simple x
conda install -c http://example.com/channel x
npm install --registry http://pkgs.example.com x
npm config set registry http://pkgs.example.com
npm config set strict-ssl false
npm i http://example.com/x.tgz
yarn add http://example.com/x.tgz
gem install x --source http://gems.example.com
gem sources --add http://gems.example.com
cargo install --git http://example.com/x.git
GOPROXY=http://proxy.example.com go install x@latest
apt-get install -y --allow-unauthenticated x
apt-get -o Acquire::AllowInsecureRepositories=true update
dnf install --nogpgcheck x
apk add --allow-untrusted http://example.com/x.apk
rpm -ivh http://example.com/x.rpm
pacman -U http://example.com/x.pkg.tar.zst
"""

OTHERS = """
crontab -r => overwrite
crontab -u alice -r => overwrite
crontab /dev/null => overwrite
apt-get purge -y systemd => overwrite
apt remove --purge libc6 => overwrite
yum remove -y glibc => overwrite
rpm -e --nodeps bash => overwrite
dpkg --purge --force-all dpkg => overwrite
pacman -Rdd glibc => overwrite
reg delete HKLM\\\\SOFTWARE /f => overwrite
bcdedit /set {default} recoveryenabled no => overwrite
npm unpublish pkg@1 => cloud_destruction
cargo yank --version 1.0.0 pkg => cloud_destruction
cargo yank pkg@1.0.0 => cloud_destruction
gem yank pkg -v 1.0 => cloud_destruction
nuget delete pkg 1.0 => cloud_destruction
pod trunk delete Pkg 1.0 => cloud_destruction
"""

SPARES = """
CHM +x run.sh
CHM -x run.sh
CHM 755 run.sh
CHM 777 run.sh
CHM -R 777 storage
CHM -R 755 .
CHM -R u+rwX,go+rX .
CHM -R g+w storage
CHM -R go-rwx HOME
CHM -R 755 $DIR
CHM 644 $FILE
CHM 777 /tmp/x
CHM -R 777 /tmp/x
CHM 700 HOME/KEYS
CHM 600 HOME/KEYS/id_rsa
CHM 644 HOME/KEYS/id_rsa.pub
CHM 644 HOME/KEYS/known_hosts
CHM 644 ETC/nginx/nginx.conf
CHM -R 755 ETC/nginx
CHM -R 755 /var/www/html
CHM 666 /dev/ttyUSB0
CHM 666 /dev/kvm
CHM g+s shared
CHM 2775 shared
CHM 1777 /tmp/x
CHM u-s app
CHM 4755 node_modules/electron/dist/chrome-sandbox
CHM --reference=a b
CHM --help
CHM +w a
chown me a
chown -R me:me .
chown -R $USER HOME
chown -R dev:dev HOME
chown -R 1000 HOME/x
chown -R www-data:www-data /var/www/html
chown -R me $DIR
chown root:root ETC/hosts
chown root /usr/local/bin/app
chgrp -R docker run
chown -R me /usr/local/lib/node_modules
setfacl -R -m u:www-data:rwx storage
setfacl -m o::r a
chattr +i ETC/resolv.conf
chattr -i a
chflags nouchg a
setcap cap_net_bind_service=+ep app
setcap -r app
install -m 755 a /usr/local/bin/a
install -d build
umask 022
umask 077
umask
icacls a
icacls a /grant me:F
setenforce 1
ufw status
ufw allow 22/tcp
ufw enable
iptables -L -n
iptables -A INPUT -p tcp --dport 80 -j ACCEPT
iptables -P INPUT DROP
nft list ruleset
firewall-cmd --list-all
firewall-cmd --add-port=80/tcp
systemctl restart nginx
systemctl stop nginx
systemctl status auditd
systemctl disable bluetooth
systemctl --user stop x
service nginx stop
csrutil status
sysctl -a
sysctl -w net.ipv4.ip_forward=1
launchctl load x.plist
launchctl unload x.plist
PWD
PWD -S alice
usermod -aG docker alice
useradd -m alice
useradd --system -s /usr/sbin/nologin app
adduser --disabled-password alice
adduser alice docker
deluser alice docker
userdel testuser
EDITRIGHTS -c
EDITRIGHTS -cf x
net user
dscl . -read /Users/alice
shutdown
shutdown -c
shutdown --show
reboot --help
kill 123
kill -9 $PID
kill -1 123
kill -HUP 1
kill -0 1
kill -l
pkill -f server
pkill -u alice node
killall node
pkill -HUP nginx
crontab -l
crontab -e
pip install x
pip install -r requirements.txt
pip install -e .
pip install -i https://pkgs.example.com/simple x
pip install -i http://localhost:3141/root/pypi x
pip install -i http://10.0.0.5/simple x
pip install --trusted-host pypi.org x
pip install git+https://github.com/o/r
pip download x
pip list
pip cache purge
uv sync
uv run http://example.com
npm install
npm install --registry http://localhost:4873
npm config set registry https://registry.npmjs.org
npm run x http://example.com
npm publish
npm unpublish pkg@1 --dry-run
npm deprecate pkg@1 x
yarn
cargo install x
cargo yank --undo --version 1.0.0 pkg
gem install x
go install x@latest
GOPROXY=https://proxy.golang.org,direct go build
apt-get install -y x
apt-get purge -y nginx
apt-get remove linux-image-5.4.0-42-generic
apt-get -s purge systemd
apt autoremove
dnf install x
apk add --allow-untrusted x.apk
apk add x
rpm -qa
rpm -q bash
dpkg -i x.deb
pacman -R firefox
brew install x
reg query HKLM\\\\SOFTWARE
reg delete HKCU\\\\Software\\\\App /f
"""


def look(line: str, cwd: str = PROJECT) -> Recording:
    """What the judge of the line's program says, with the scanned words put in."""
    for word, meant in PUT_IN.items():
        line = line.replace(word, meant)
    return judged(PROGRAMS, line, cwd)


@pytest.mark.parametrize("line", lines(OPENS))
def test_what_opens_or_disarms_is_noted(line: str) -> None:
    """Files of the system, the home or the project, keys and disks, and what guards the machine."""
    assert look(line).kinds[:1] == ["permissions"]


@pytest.mark.parametrize("line", lines(ACCOUNTS))
def test_who_may_log_in_is_noted(line: str) -> None:
    """Passwords of others, accounts that go, and members of groups that are as good as root."""
    assert look(line).kinds[:1] == ["account"]


@pytest.mark.parametrize("line", lines(STOPS))
def test_what_stops_everything_is_noted(line: str) -> None:
    """The power, and all processes at once."""
    assert look(line).kinds[:1] == ["fork_bomb"]


@pytest.mark.parametrize("line", lines(SOURCES))
def test_sources_that_cannot_be_trusted_are_noted(line: str) -> None:
    """No encryption to a foreign host, or no signature."""
    assert look(line).kinds[:1] == ["package_source"]


@pytest.mark.parametrize("line", lines(OTHERS))
def test_other_effects_have_their_own_kind(line: str) -> None:
    """What is removed or taken back is not a matter of permissions."""
    command, _, kind = line.partition(" => ")
    assert look(command).kinds[:1] == [kind]


@pytest.mark.parametrize("line", lines(SPARES))
def test_everyday_administration_is_not_noted(line: str) -> None:
    """Named files, own folders, ordinary services, trusted sources."""
    assert look(line).whats == []


def test_the_commands_of_a_schedule_are_judged() -> None:
    """A new table runs by itself, so what it holds is run; an empty one removes all."""
    assert look("crontab - <<< 0 3 * * * ls -l").said == [("shell", "ls -l")]
    assert look("crontab <<< @daily ls -l").said == [("shell", "ls -l")]
    assert look("crontab <<< # 0 3 * * * ls").said == []
    assert look("crontab jobs").said == [("read", f"{PROJECT}/jobs")]


def test_a_container_may_be_stopped_from_within() -> None:
    """There, the first process and the power are its own."""
    for line in ("kill -9 1", "reboot"):
        command, recording = resolved(line), Recording()
        command.place = "container"
        PROGRAMS[command.name](command, recording)
        assert recording.kinds == []


def test_nothing_raises_on_odd_words() -> None:
    """Every judge takes no words, empty words and words that are not known."""
    for name, judge in PROGRAMS.items():
        for words in ([], [""], ["-"], ["--"], [UNKNOWN], ["-x"], ["--x="], ["a"] * 5, ["-R", "777"], ["delete"]):
            command = resolved("x")
            command.name, command.args = name, [Value(word) for word in words]
            judge(command, Recording())
