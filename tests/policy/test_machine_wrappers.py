"""Programs that run other programs: none hides what it runs, and none makes harmless lines dangerous."""

from __future__ import annotations

import pytest

from agent_ledger.policy import registry
from agent_ledger.policy.programs import runners, wrappers
from agent_ledger.policy.registry import SHELLS
from tests.policy.words_machine import kinds, line, table

registry.load()

# Wrapper with its options -> what stands between it and the program; the name alone for the rest.
OWN = {
    "timeout": ("5", "-k 5 10s", "--signal=KILL 1m"), "gtimeout": ("5",), "chroot": ("/mnt", "--userspec=a:b /mnt"),
    "perf": ("stat", "record -o x"), "taskset": ("0x1",), "chrt": ("10",), "faketime": ("now",), "runcon": ("ctx",),
    "envdir": ("env",), "direnv-exec": (".",), "nice": ("", "-n 10", "-n10", "--adjustment=5", "-5"),
    "ionice": ("-c2 -n7", "-c 3"), "stdbuf": ("-oL", "-o L -e L"), "time": ("", "-p", "-f %e"),
    line("@SU"): ("", "-u root", "-E", "-n", "A=b", "--user=root", "-u root -H --"), "dotenv": ("", "run", "-f .x run --"),
    "strace": ("-f", "-o x -e trace=file"), "systemd-run": ("--user", "-p X=1 --unit a"), "nohup": ("",),
    "retry": ("-t 3",), "proxychains": ("", "-f c"), "nsenter": ("-t 1 -m",), "unshare": ("-m",), "busybox": ("",),
}  # fmt: skip
NO_PROGRAM = {"hyperfine"}
ACT, CALM = line("@DEL /etc"), "ls -la /etc"


def _lines(act: str) -> list[str]:
    found = []
    for name in wrappers._SIMPLE:
        for between in OWN.get(name, ("",)) if name not in NO_PROGRAM else ():
            found.append(f"{name} {between} {act}".replace("  ", " "))
    return found


RUNNERS = {
    "npx": "{}", "bunx": "{}", "pnpx": "{}", "uvx": "{}", "corepack": "{}", "envchain": "ns {}", "cross-env": "A=b {}",
    "spring": "{}", "nodemon": "--exec '{}'", "sops": "exec-env f '{}'", "aws-vault": "exec prod -- {}",
    "aws-okta": "exec prod -- {}", "chamber": "exec svc -- {}", "direnv": "exec . {}",
}  # fmt: skip


def _runner_lines(act: str) -> list[str]:
    found = []
    for name, verbs in runners._VERBS.items():
        form = RUNNERS.get(name) or f"{verbs[0]} {{}}"
        found.append(f"{name} {form.format(act)}")
    return found


@pytest.mark.parametrize("command", [*_lines(ACT), *_runner_lines(ACT)])
def test_a_wrapper_hides_nothing(command: str) -> None:
    """The program behind it is judged, whatever options stand between."""
    assert "recursive_delete" in kinds(command)


@pytest.mark.parametrize("command", [*_lines(CALM), *_runner_lines(CALM)])
def test_a_wrapper_accuses_nothing(command: str) -> None:
    """A harmless program stays one."""
    assert not kinds(command)


@pytest.mark.parametrize("shell", sorted(SHELLS))
def test_every_shell_runs_its_text(shell: str) -> None:
    """Given on the line, with options in front, from a heredoc, a here-string or a pipe."""
    for command in ("{} -c '@DEL /'", "{} -ec '@DEL /'", "echo '@DEL /' | {}", "{} <<< '@DEL /'", "{} <<'EOF'\n@DEL /\nEOF", "/bin/{} -c '@DEL /'"):
        assert "recursive_delete" in kinds(command.format(shell)), command
    for command in ("{} -c 'ls /'", "echo 'ls' | {}", "{} --version", "{} -n x", "echo '@DEL /' | grep {}"):
        assert not kinds(command.format(shell)), command


RUNS = """
# texts of commands
@sh -c "@DEL /"
@bash -lc '@DEL /'
@bash -euo pipefail -c '@DEL /'
@bash -c 'eval "@DEL /"'
@bash -c "@bash -c '@DEL /'"
@bash -c '@DEL "$1"' _ /
@bash -c '@DEL $0' /
@bash -c '"$@"' _ @rm @rf /
X=/ @bash -c '@DEL $X'
env X=/ @bash -c '@DEL "$X"'
@eval "@DEL /"
@eval @rm @rf /
@eval "$(echo '@DEL /')"
X='@DEL /'; @eval "$X"
X='@DEL /'; @eval $X
X='@DEL /'; @bash -c "$X"
X='@DEL /'; $X
X='@DEL /'; echo "$X" | @sh
echo '@DEL /' | @bash
echo "@DEL /" | @SU @bash -s
echo '@DEL /' | tee /dev/null | @sh
printf '%s %s' '@DEL' / | @sh
cat <<'EOF' | @bash\\n@DEL /\\nEOF
@bash <<EOF\\n@DEL /\\nEOF
@bash -s <<< "@DEL /"
@bash <(echo '@DEL /')
source <(echo '@DEL /')
. <(echo '@DEL /')
source /dev/stdin <<< '@DEL /'
@bash /dev/stdin <<< '@DEL /'
@eval "$(cat <<'EOF'\\n@DEL /\\nEOF\\n)"
echo '/ fr- mr' | rev | @sh
echo 'RM -¦RF /' | tr A-Z a-z | @sh
echo 'xx @DEL /' | sed 's/xx //' | @sh
echo '@rm @rf ROOT' | sed s/ROOT/\\\\// | @sh
{ echo @rm; echo @rf; echo /; } | xargs env
yes | @DEL /
# decoders
echo cm0gLXJmIC8= | @b64 -d | @sh
@bash -c "$(echo cm0gLXJmIC8= | @b64 --decode)"
@eval "$(@b64 -d <<< cm0gLXJmIC8=)"
echo 726d202d7266202f | xxd -r -p | @sh
@sh <(@b64 -d <<< cm0gLXJmIC8=)
# env
env @rm @rf /
env -i PATH=/bin @rm @rf /
env -u X A=b @rm @rf /
env -S '@DEL /'
env --split-string='@DEL /'
env -C / @DEL etc
# others
su -c '@DEL /'
su - root -c '@DEL /'
su root --command='@DEL /'
runuser -u root -- @rm @rf /
sg docker -c '@DEL /'
script -c '@DEL /' /dev/null
script -qc '@DEL /' /dev/null
flock /tmp/l @rm @rf /
flock /tmp/l -c '@DEL /'
watch '@DEL /'
watch -n 5 @rm @rf /
exec @rm @rf /
exec -a x @rm @rf /
echo '@DEL /' | at now
at now <<< '@DEL /'
batch <<< '@DEL /'
tmux new-session -d '@DEL /'
tmux send-keys -t a '@DEL /' Enter
screen -dmS a @bash -c '@DEL /'
nix-shell --run '@DEL /'
find . -exec @sh -c '@DEL /' \\;
xargs -I{} @sh -c '@DEL {}' <<< /
tar cf a.tar --checkpoint=1 --checkpoint-action=exec='@DEL /' x
tar cf /dev/null x --use-compress-program='@DEL /'
git -c alias.x='!@DEL /' x
git -c core.pager='@DEL /' log
git submodule foreach '@DEL /'
git bisect run @rm @rf /
git rebase -x '@DEL /' main
vim -c '!@DEL /' f
sed '1e @DEL /' f
parallel '@DEL {}' ::: /
entr -r @rm @rf /
hyperfine '@DEL /'
# elsewhere
ssh host '@DEL /'
ssh -p 22 -i @KEY user@host @rm @rf /
ssh -t host "@SU @DEL /etc"
ssh host <<< '@DEL /'
ssh host @bash -s <<'EOF'\\n@DEL /\\nEOF
ssh host "cd / && @DEL *"
ssh -o ProxyCommand='@DEL /' host
docker run --rm -v /:/mnt alpine @rm @rf /mnt
docker run -v /etc:/x alpine sh -c '@DEL /x'
docker run --mount type=bind,source=/,target=/h alpine @DEL /h/etc
docker run -v $HOME:/w -w /w alpine @DEL /w
podman run --rm -v /:/host busybox @DEL /host
vagrant ssh -c '@DEL /'
"""

CALM_RUNS = """
@sh -c 'ls /'
@bash -c 'echo "$1"' _ '@DEL /'
@bash -n x.sh
@bash -lc 'pytest -q'
@eval "$(ssh-agent -s)"
@eval "$(direnv hook @bash)"
@eval "$(pyenv init -)"
@eval "$(opam env)"
@eval "$X"
$CMD --help
source venv/bin/activate
source ~/.profile
. ./env.sh
echo hi | @bash -c 'cat'
cat x.json | python3 -m json.tool
echo aGk= | @b64 -d
@b64 -d x.b64 > x.png
@b64 < logo.png
xxd -r -p x.hex > x.bin
gunzip -c dump.sql.gz | head
zcat dump.sql.gz | psql db
tar xzf a.tar.gz
env¦ | sort | grep PATH
env -i PATH=/bin ls
env A=b pytest
su -c 'systemctl status x'
ssh host
ssh host uptime
ssh -i @KEY host 'ls /'
ssh host 'tail -f /var/log/x'
ssh host "grep -c '@DEL' x"
docker run --rm alpine @rm @rf /tmp/x
docker exec web ls /
docker exec -it db psql -U a
docker run --rm -v "$PWD:/w" -w /w node ls
docker run --rm -v $PWD:/w alpine @DEL /w/build
kubectl exec pod -- ls /
tmux new-session -d 'cargo run'
screen -dmS a cargo run
xargs -n1 echo < f
ls | xargs -I{} echo {}
find . -exec grep -l x {} +
find . -name '*.py' -exec wc -l {} \\;
parallel gzip ::: a b
watch -n 5 kubectl get pods
flock /tmp/l cargo build
timeout 60 cargo test
nohup node server.js > log 2>&1 &
git -c user.name=x commit -m y
git submodule foreach git pull
git bisect run cargo test
at -l
vim +10 f
npx create-react-app x
uv run pytest
bundle exec rspec
poetry run python x.py
"""


@pytest.mark.parametrize("command", table(RUNS))
def test_what_runs_it_is_seen_through(command: str) -> None:
    """Shells in shells, eval, pipes, heredocs, decoders, other users, other machines, mounted folders."""
    assert kinds(command) & {"recursive_delete", "unknown_code"}


@pytest.mark.parametrize("command", table(CALM_RUNS))
def test_what_runs_something_harmless(command: str) -> None:
    """The everyday lines of the same programs."""
    assert not kinds(command)
