"""What is done to stores of secrets and settings, and to backups and their copies."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Actions, Command
from ..options import Options, parse
from . import places
from .cloud import KIND
from .verbs import Judge, both, is_harmless, judge, programs, runs_rest, say, tools

_BACKUPS = "deletes backups"

_TABLES = {
    "vault bao": """
        delete : deletes a secret
        kv delete|destroy : deletes a secret
        kv metadata delete : deletes a secret with all its versions
        secrets|auth disable : deletes all secrets or logins of an engine
        policy|namespace delete : deletes it
        lease revoke +-prefix|-force : takes many credentials back
        operator generate-root|rekey|migrate : changes the keys of the whole store
        """,
    "consul": """
        kv delete +-recurse : deletes a tree of keys
        acl policy|token|role delete : deletes access rights
        """,
    "nomad": """
        job stop +-purge : deletes a job
        stop +-purge : deletes a job
        namespace|volume delete : deletes it
        var purge : deletes a variable
        """,
    "doppler": "projects|environments|configs|secrets delete : deletes settings and secrets",
    "infisical": "secrets delete : deletes secrets",
    "op": "vault|item|document|user|group delete !--archive : deletes secrets",
    "bw": "delete +--permanent|-p : deletes secrets for good",
    "chezmoi": "purge : deletes the settings",
    "wal-g": f"delete +--confirm : {_BACKUPS}",
    "pgbackrest": f"stanza-delete : {_BACKUPS}\\n* stanza-delete : {_BACKUPS}",
    "barman": f"delete : {_BACKUPS}",
    "kopia": f"snapshot delete +--delete|--all-snapshots-for-source : {_BACKUPS}",
}
_SINGLE_DASH = frozenset(("vault", "bao", "consul", "nomad"))


def _judge(name: str, table: str) -> Judge:
    text = "\n".join(line.strip() for line in table.replace("\\n", "\n").strip().splitlines())
    valued = ("-address", "-namespace", "-ns", "-token", "-p", "--project", "-c", "--config", "-http-addr", "-region")
    return judge(KIND, text, () if name == "bw" else valued, single_dash_long=name in _SINGLE_DASH)


# --- backups

_RESTIC_VALUED = frozenset(
    "-r --repo --repository-file -p --password-file --password-command --tag --host -H --path --keep-last -l "
    "--keep-hourly --keep-daily -d --keep-weekly -w --keep-monthly -m --keep-yearly -y --keep-within --keep-tag -g "
    "--group-by -o".split()
)


def _rotates(options: Options) -> bool:
    """A rotation that keeps more than one backup."""
    kept = [value.text for name, value in options.values.items() if name.startswith("--keep")]
    return any(value not in ("0", "1") for value in kept)


def _restic(command: Command, act: Actions) -> None:
    options = parse(command.args, _RESTIC_VALUED)
    verb = options.operands[0].text if options.operands else ""
    if is_harmless(options) or options.any("-n"):
        return
    if (verb == "forget" and not _rotates(options)) or (verb == "rewrite" and options.any("--forget")):
        act.effect(KIND, say("restic", options.operands[:2], _BACKUPS))


_BORG_VALUED = frozenset(
    "-a --glob-archives -P --prefix --keep-last --keep-within --keep-secondly --keep-minutely -H --keep-hourly -d "
    "--keep-daily -w --keep-weekly -m --keep-monthly -y --keep-yearly --first --last -r --repo".split()
)


def _borg(command: Command, act: Actions) -> None:
    options = parse(command.args, _BORG_VALUED)
    verb = options.operands[0].text if options.operands else ""
    if is_harmless(options) or options.any("-n"):
        return
    short = any(name in options.values for name in ("-d", "-w", "-m", "-y", "-H"))
    if verb in ("delete", "rdelete", "repo-delete") or (verb == "prune" and not short and not _rotates(options)):
        act.effect(KIND, say(command.name, options.operands[:2], _BACKUPS))


_RCLONE_VALUED = frozenset(
    "--config --include --exclude --filter --filter-from --min-age --max-age --min-size --max-size --transfers "
    "--checkers --log-file --log-level --bwlimit --include-from --exclude-from".split()
)
_RCLONE_FILTERS = ("--include", "--filter", "--filter-from", "--min-age", "--max-age", "--min-size", "--max-size")


def _rclone(command: Command, act: Actions) -> None:
    options = parse(command.args, _RCLONE_VALUED)
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options) or options.any("-n", "-i", "--interactive") or verb not in ("purge", "delete"):
        return
    target = operands[1].text if len(operands) > 1 else ""
    local = ":" not in target and places.is_temporary(places.resolve(target, command.cwd))
    if not local and (verb == "purge" or not options.any(*_RCLONE_FILTERS)):
        act.effect(KIND, say("rclone", operands[:2], "deletes everything below it"), target)


def _hdfs(command: Command, act: Actions) -> None:
    """``hdfs dfs -rm -r PATH``, ``hadoop fs -rm -r``, ``hdfs namenode -format``."""
    words = [arg.text for arg in command.args]
    if "-format" in words and words[:1] == ["namenode"]:
        act.effect(KIND, "hdfs namenode -format (deletes the whole filesystem)")
    elif words[:1] in (["dfs"], ["fs"]) and _is_recursive(words):
        targets = [word for word in words[1:] if not word.startswith("-")]
        if targets and not all(places.is_test_name(target) for target in targets):
            act.effect(KIND, say(command.name, words[:4], "deletes a folder of the cluster"), targets[0])


def _is_recursive(words: Sequence[str]) -> bool:
    return "-rmr" in words or ("-rm" in words and not {"-r", "-R"}.isdisjoint(words))


_TOOLS = {name: _judge(name, table) for names, table in _TABLES.items() for name in names.split()}

PROGRAMS: dict[str, Judge] = programs(
    _TOOLS,
    *(tools(name, both(_TOOLS[name], runs_rest("run"))) for name in ("op", "doppler", "infisical")),
    tools("restic rustic", _restic),
    tools("borg borg2", _borg),
    tools("rclone", _rclone),
    tools("hdfs hadoop", _hdfs),
)
