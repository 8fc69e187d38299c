"""What is done to whole databases, search indexes, queues and topics."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..model import Actions, Command
from ..options import parse
from . import places
from .database import KIND
from .verbs import Judge, every, is_for_tests, is_harmless, judge, say


def _drops(names: Collection[str], note: str, valued: str) -> Judge:
    """A program that drops the database given as operand, unless it is one for tests."""
    options_with_value = frozenset(valued.split())

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, options_with_value)
        if is_harmless(options, help_short=False) or options.any("-?", "-V", "-l", "--list") or not options.operands:
            return
        if names and not options.any(*names):
            return
        if not is_for_tests(command, options):
            act.effect(KIND, say(command.name, [options.operands[-1]], note), options.operands[-1].text)

    return look


_PG = "-h --host -p --port -U --username -d --dbname -T --template --maintenance-db -j --jobs -n -t --schema --table -F"


def _pg_restore(command: Command, act: Actions) -> None:
    options = parse(command.args, (_PG + " -L --use-list -f --file -I -P --role --section").split())
    base = options.values.get("-d") or options.values.get("--dbname")
    if options.any("-l", "--list", "--help", "-?") or base is None or is_for_tests(command, options, 9):
        return
    if options.any("-c", "--clean"):
        act.effect(KIND, say("pg_restore --clean -d", [base], "drops what is there before it restores"), base.text)


def _mongo_restore(command: Command, act: Actions) -> None:
    options = parse(command.args, "-h --host --port -u -p --username --password --uri -d --db -c --collection".split())
    if options.any("--drop") and not options.any("--dryRun", "--help") and not is_for_tests(command, options):
        act.effect(KIND, f"{command.name} --drop (drops collections before it restores)")


def _mysqladmin(command: Command, act: Actions) -> None:
    args = [arg for arg in command.args if not arg.text.startswith("-p")]
    options = parse(args, "-u --user -h --host -P --port -S --socket --defaults-file -i -c".split())
    operands = [operand.text for operand in options.operands]
    if "drop" in operands and not options.any("--help", "-?"):
        name = operands[-1]
        if name != "drop" and not places.is_test_name(name):
            act.effect(KIND, say("mysqladmin drop", [name], "drops a database"), name)


# --- search engines over HTTP

_CURL_VALUED = frozenset(
    "-X --request -H --header -d --data --data-binary --data-raw --data-urlencode -u --user -o --output -A -b -c -e -F "
    "--form -T -m --max-time --connect-timeout -w --cacert --cert -E --key -x --proxy --retry --url -K".split()
)
_SEARCH_PORT = re.compile(r"(?:https?://)?(?:[^/@]*@)?([^/:?]+)(:\d+)?(/[^?#]*)?")
_SEARCH_HOST = re.compile(r"(?:^|[.-])(?:es|elastic|elasticsearch|opensearch)\d*(?:$|[.-])")
_DOCUMENT = re.compile(r"/[^/]+/_?\w+/[^/]+$")


def _curl(command: Command, act: Actions) -> None:
    """``curl -X DELETE`` of an index, or a delete-by-query of all, on a search engine or a CouchDB."""
    options = parse(command.args, _CURL_VALUED)
    method = options.values.get("-X") or options.values.get("--request")
    if method is None:
        return
    addresses = [*options.operands, *every(command.args, ("--url",))]
    for address in addresses:
        found = _SEARCH_PORT.match(address.text)
        if found is None:
            continue
        path = (found[3] or "/").rstrip("/")
        search = found[2] in (":9200", ":9201", ":9243") or _SEARCH_HOST.search(found[1]) is not None
        couch = found[2] == ":5984"
        verb = method.text.upper()
        if verb == "DELETE" and path and (search or couch):
            if not _DOCUMENT.match(path) and path.count("/") == 1 and not places.is_test_name(path):
                act.effect(KIND, say("curl -X DELETE", [path], "deletes a whole index or database"), path)
            elif path.startswith(("/_snapshot/", "/_data_stream/", "/_index_template/")):
                act.effect(KIND, say("curl -X DELETE", [path], "deletes backups, streams or templates"), path)
        elif verb == "POST" and search and path.endswith("/_delete_by_query"):
            body = "".join(value.text for value in every(command.args, ("-d", "--data", "--data-raw", "--data-binary")))
            if "match_all" in body:
                act.effect(KIND, say("curl -X POST", [path], "deletes all documents"), path)


_QUEUES = """
reset|force_reset : deletes all queues, users and messages
delete_vhost|delete_queue|purge_queue|delete_user : deletes queues or their messages
"""
_NODES = """
assassinate|removenode|decommission : removes a node
clearsnapshot : deletes snapshots
"""
_topics = judge(
    KIND,
    "+--delete : deletes topics",
    "--bootstrap-server --topic --zookeeper --command-config".split(),
    test_exempt=True,
)


def _bq(command: Command, act: Actions) -> None:
    """BigQuery: ``bq query SQL``, ``bq rm``."""
    options = parse(command.args, "--project_id --location --dataset_id --format".split(), single_dash_long=True)
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options) or options.any("--dry_run"):
        return
    if verb == "rm" and not is_for_tests(command, options, 1):
        act.effect(KIND, say("bq rm", [operands[-1]], "deletes a dataset, table or view"), operands[-1].text)
    elif verb == "query":
        for text in operands[1:] or ([command.stdin] if command.stdin else []):
            act.code("sql", text)


PROGRAMS: dict[str, Judge] = {
    "dropdb": _drops((), "drops a database", _PG),
    "dropuser": _drops((), "drops a database role", _PG),
    "pg_dropcluster": _drops((), "deletes a whole database cluster", ""),
    "pg_resetwal": _drops(("-f", "--force"), "throws away transactions", "-D --pgdata"),
    "pg_restore": _pg_restore,
    "mongorestore": _mongo_restore,
    "mongoimport": _mongo_restore,
    "mysqladmin": _mysqladmin,
    "mariadb-admin": _mysqladmin,
    "mysqlimport": _drops(("--delete", "-D"), "empties the table first", "-u -h -P -S"),
    "curl": _curl,
    "rabbitmqctl": judge(KIND, _QUEUES, "-n --node -p --vhost -t".split(), test_exempt=True),
    "kafka-topics": _topics,
    "kafka-topics.sh": _topics,
    "sqlite-utils": judge(KIND, "drop-table|drop-view : drops a table", test_exempt=True),
    "nodetool": judge(KIND, _NODES, "-h -p -u -pw".split()),
    "bq": _bq,
}
