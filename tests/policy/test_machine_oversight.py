"""What touches the recorder itself. Reading it is fine."""

from __future__ import annotations

import pytest

from tests.policy.words_machine import DATA, HERMES, PLUGIN, Talk, kinds, line, table

TAMPERS = """
@rm @DATA/ledger.db
@DEL @DATA
@DEL @PLUGIN
@DEL ~/.hermes/plugins
@DEL ~/.hermes
cd ~/.hermes && @DEL plugin-data
@rm ~/.hermes/plugin-data/agent-ledger/ledger.db-wal
@rm "$HOME"/.hermes/plugin-data/agent-ledger/*
echo off > @DATA/policy_mode
echo off | tee @DATA/policy_mode
printf off > ~/.hermes/plugin-data/agent-ledger/policy_mode
: > @DATA/ledger.db
> @DATA/ledger.db
truncate -s 0 @DATA/ledger.db
cp /dev/null @DATA/ledger.db
cp empty.json @DATA/policy.json
mv @DATA/policy.json /tmp/
mv @DATA /tmp/x
mv new.py @PLUGIN/__init__.py
sed -i 's/enforce/off/' @DATA/policy_mode
sed -i d @DATA/policy.json
chmod 000 @DATA/ledger.db
chmod -R 000 @PLUGIN
chown nobody @DATA
ln -sf /dev/null @DATA/ledger.db
dd if=/dev/zero of=@DATA/ledger.db count=1
shred @DATA/ledger.db
find @DATA -delete
find @DATA -type f | xargs @rm
sqlite3 @DATA/ledger.db 'DELETE FROM ledger'
sqlite3 @DATA/ledger.db "UPDATE ledger SET status='CONFIRMED'"
sqlite3 @DATA/ledger.db 'DROP TABLE ledger'
echo 'delete from ledger;' | sqlite3 @DATA/ledger.db
sqlite3 @DATA/ledger.db <<< 'insert into ledger default values'
sqlite3 @DATA/ledger.db <<EOF\\nVACUUM;\\nEOF
cd @DATA; @rm policy.json
cd @DATA && sqlite3 ledger.db 'delete from ledger'
rsync -a --delete empty/ @DATA/
@SU @rm @DATA/ledger.db
@bash -c 'echo off > @DATA/policy_mode'
D=@DATA; @rm $D/ledger.db
hermes ledger settle 12 --as applied
hermes ledger prune --before 2020
hermes ledger policy mode off
hermes ledger policy mode dry_run
hermes --profile x ledger prune
hermes plugins disable agent-ledger
hermes plugins remove agent-ledger
hermes plugins uninstall agent-ledger
hermes plugins disable --all
pip uninstall -y agent-ledger
pip3 uninstall agent-ledger
python3 -m pip uninstall -y agent-ledger
hermes config set plugins.disabled agent-ledger
hermes --safe-mode chat
HERMES_SAFE_MODE=1 hermes chat
export HERMES_SAFE_MODE=1
AGENT_LEDGER_POLICY=off hermes
export AGENT_LEDGER_MODE=off
env HERMES_SAFE_MODE=1 hermes
declare -x AGENT_LEDGER_HOME=/tmp
echo 'HERMES_SAFE_MODE=1' >> @HERMES/.env
echo 'AGENT_LEDGER_POLICY=off' | tee -a @HERMES/.env
printf 'plugins:\\n  disabled: [agent-ledger]\\n' >> @HERMES/config.yaml
sed -i 's/- agent-ledger//' @HERMES/config.yaml
sed -i '/agent-ledger/d' ~/.hermes/config.ya¦ml
echo 'plugins: {}' > @HERMES/config.yaml
"""

LOOKS = """
ls -la @DATA
cat @DATA/policy.json
cat @DATA/policy_mode
stat @DATA/ledger.db
du -sh @DATA
sqlite3 @DATA/ledger.db 'SELECT count(*) FROM ledger'
sqlite3 -readonly @DATA/ledger.db .schema
echo 'select 1;' | sqlite3 @DATA/ledger.db
cp @DATA/ledger.db /tmp/copy.db
tail @DATA/log
find @DATA -name '*.db'
tar czf /tmp/x.tgz @DATA
hermes ledger status
hermes ledger doctor
hermes ledger list --session x
hermes ledger show 12
hermes ledger prune --dry-run
hermes ledger settle --help
hermes ledger policy mode
hermes ledger policy check
hermes ledger policy explain '@DEL /'
hermes ledger policy report
hermes ledger export
hermes plugins list
hermes plugins disable other
hermes plugins enable agent-ledger
hermes config get model
hermes config set model x
hermes --version
pip show agent-ledger
pip uninstall -y requests
cat @HERMES/config.yaml
echo 'model: x' >> @HERMES/config.yaml
sed -i 's/gpt-4/gpt-5/' @HERMES/config.yaml
grep -n plugins @HERMES/config.yaml
sqlite3 other.db 'DELETE FROM t WHERE id = 1'
echo AGENT_LEDGER_MODE
grep -r HERMES_SAFE_MODE .
echo $AGENT_LEDGER_MODE
unset X
"""


@pytest.mark.parametrize("command", table(TAMPERS))
def test_the_recorder_is_disarmed(command: str) -> None:
    """Its files, its plugin, its commands that change something, the switches of its host."""
    assert "tampering" in kinds(command)


@pytest.mark.parametrize("command", table(LOOKS))
def test_the_recorder_is_read(command: str) -> None:
    """Looking, copying, explaining, and everything about other plugins and settings."""
    assert not kinds(command)


@pytest.mark.parametrize(("tool", "args"), [
    ("write_file", {"path": DATA + "/policy_mode", "content": "off"}),
    ("write_file", {"path": "~/.hermes/plugin-data/agent-ledger/policy.json", "content": "{}"}),
    ("write_file", {"path": PLUGIN + "/plugin.yaml", "content": ""}),
    ("patch", {"path": PLUGIN + "/agent_ledger/hooks.py", "old_string": "a", "new_string": "b"}),
    ("write_file", {"path": HERMES + "/.env", "content": "HERMES_SAFE_MODE=1\n"}),
    ("write_file", {"path": HERMES + "/config.yaml", "content": "plugins:\n  disabled:\n    - agent-ledger\n"}),
    ("mcp__filesystem__write_file", {"path": DATA + "/policy.json", "content": "{}"}),
    ("mcp__filesystem__delete_file", {"path": DATA + "/ledger.db"}),
])  # fmt: skip
def test_other_tools_disarm_it(tool: str, args: dict[str, str]) -> None:
    """Whatever writes or deletes."""
    assert "tampering" in {effect.kind for effect in Talk().call(tool, args)}


@pytest.mark.parametrize(("tool", "args"), [
    ("write_file", {"path": HERMES + "/config.yaml", "content": "model: x\nplugins:\n  enabled:\n    - agent-ledger\n"}),
    ("write_file", {"path": HERMES + "/notes.md", "content": "HERMES_SAFE_MODE=1"}),
    ("write_file", {"path": "notes/agent-ledger.md", "content": "hermes ledger prune"}),
    ("read_file", {"path": DATA + "/policy.json"}),
])  # fmt: skip
def test_other_tools_leave_it_alone(tool: str, args: dict[str, str]) -> None:
    """Notes about it, and settings that keep it."""
    assert not Talk().call(tool, args)


def test_what_is_told_names_the_file() -> None:
    """The target is the recorder's own path."""
    found = Talk().call("terminal", {"command": line("@rm ~/.hermes/plugin-data/agent-ledger/ledger.db")})
    assert [(effect.kind, effect.target) for effect in found] == [("tampering", DATA + "/ledger.db")]
