"""What database clients are told to do: their statements are handed on, unless the database is one for tests."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from ..model import Actions, Command, Value
from ..options import Options, parse
from . import places
from .verbs import Judge, both, every, judge

KIND = "database_destruction"


@dataclasses.dataclass(frozen=True, slots=True)
class Client:
    """How a client is told its statements.

    ``run``, ``files``: options that hold a statement or the path of a script; ``base``: those that name the database,
    besides the first operand; ``valued``: other options with a value; ``operands``: the operands after the database are
    statements.
    """

    run: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    base: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    operands: bool = False
    language: str = "sql"
    single_dash_long: bool = False

    @property
    def all_valued(self) -> frozenset[str]:
        return self.run | self.files | self.base | self.valued


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLIENTS = {
    "psql": Client(
        _words("-c --command"), _words("-f --file"), _words("-d --dbname"),
        _words("-h --host -p --port -U --username -v --set --variable -o --output -L --log-file -F -P "
               "--field-separator --pset -R --record-separator -T --table-attr"),
    ),
    "mysql": Client(
        _words("-e --execute"), _words("--init-command"), _words("-D --database"),
        _words("-u --user -h --host -P --port -S --socket --default-character-set --defaults-file "
               "--defaults-extra-file --ssl-ca --delimiter --protocol"),
    ),
    "sqlite3": Client(
        run=_words("-cmd"), files=_words("-init"),
        valued=_words("-separator -nullvalue -newline -vfs -mmap -lookaside"),
        operands=True, single_dash_long=True,
    ),
    "duckdb": Client(
        _words("-c -cmd -s"), _words("-f -init"), valued=_words("-separator -nullvalue -newline"), operands=True,
        single_dash_long=True,
    ),
    "mongosh": Client(
        _words("--eval"), _words("-f --file"), frozenset(),
        _words("-h --host -p --port -u --username --password --authenticationDatabase --authenticationMechanism "
               "--tlsCAFile --tlsCertificateKeyFile --apiVersion"),
        language="mongo",
    ),
    "sqlcmd": Client(
        _words("-Q -q --query"), _words("-i --input-file"), _words("-d --database-name"),
        _words("-S -U -P -s -w -h -o -l -t -v -H -m -b -c -y -Y -K -a"),
    ),
    "clickhouse-client": Client(
        _words("-q --query"), _words("--queries-file"), _words("-d --database"),
        _words("-h --host --port -u --user --password -f --format -c --config-file --param"),
    ),
    "cqlsh": Client(
        _words("-e --execute"), _words("-f --file"), _words("-k --keyspace"), _words("-u -p --cqlshrc --encoding"),
    ),
    "influx": Client(
        _words("-execute"), frozenset(), _words("-database"), _words("-host -port -username -password -format"),
        single_dash_long=True,
    ),
    "snowsql": Client(
        _words("-q --query"), _words("-f --filename"), _words("-d --dbname"),
        _words("-a -u -s -r -w -h -p -c -o -D --accountname --username --schemaname --rolename --warehouse --option"),
    ),
    "hive": Client(
        _words("-e"), _words("-f"), _words("--database"),
        _words("-u -n -p -i --hiveconf --hivevar -d --define"),
    ),
    "impala-shell": Client(
        _words("-q --query"), _words("-f --query_file"), _words("-d --database"), _words("-i -u -o"),
    ),
    "trino": Client(
        _words("--execute"), _words("-f --file"), _words("--schema"),
        _words("--server --catalog --user --output-format"),
    ),
    "sqlplus": Client(valued=_words("-m")),
    "cypher-shell": Client(
        files=_words("-f --file"), base=_words("-d --database"),
        valued=_words("-a --address -u --username -p --password --format -P --param"),
    ),
}  # fmt: skip
_ALIASES = {
    "psql": "pgcli ysqlsh vsql usql gpsql",
    "mysql": "mariadb mycli mysqlsh",
    "sqlite3": "sqlite litecli sqlcipher",
    "mongosh": "mongo",
    "sqlcmd": "osql tsql mssql-cli isql",
    "hive": "beeline spark-sql spark-beeline",
    "trino": "presto presto-cli",
    "cqlsh": "cqlsh-expansion",
}

# A statement that names another database than the one that is connected to.
_ELSEWHERE = re.compile(r"\b(?:database|schema|use|getSiblingDB|\\c|\\connect)\b", re.IGNORECASE)
_META = re.compile(
    r"\s*(?:\\(!|ir?|include(?:_relative)?|\.|c|connect)|\.(shell|system|read)\b|(source|system)\s)\s*(.*)"
)


def statements(text: Value, language: str, command: Command, act: Actions) -> None:
    """Hand statements on; a client's own commands in them run a shell or a script."""
    rest: list[str] = []
    for line in text.text.splitlines():
        found = _META.fullmatch(line) if line.lstrip()[:1] in ("\\", ".", "s") else None
        if found is None:
            rest.append(line)
            continue
        verb, what = found[1] or found[2] or found[3], found[4].strip().rstrip(";").strip("'\"")
        if verb in ("!", "shell", "system"):
            act.shell(Value(what, text.marks), command.place)
        elif verb not in ("c", "connect") and what:
            act.run_file(places.resolve(what, command.cwd), language)
    if any(line.strip() for line in rest):
        act.code(language, Value("\n".join(rest), text.marks))


def _client(client: Client) -> Judge:
    valued = client.all_valued

    def look(command: Command, act: Actions) -> None:
        args = command.args
        options = parse(args, valued, client.single_dash_long)
        if options.any("--help", "--version", "-help", "-version", "-?", "-V", "-readonly", "--readonly"):
            return
        texts = every(args, client.run, valued)
        paths = every(args, client.files, valued)
        operands = options.operands
        if client.operands:
            texts.extend(operands[1:])
        elif client.language == "mongo":
            paths.extend(operand for operand in operands if operand.text.endswith((".js", ".mongodb")))
        if command.stdin is not None and not texts and not paths:
            texts.append(command.stdin)
        if _is_test_database(command, client, options) and not any(_ELSEWHERE.search(text.text) for text in texts):
            return
        for text in texts:
            statements(text, client.language, command, act)
        for path in paths:
            if path.text == "-" and command.stdin is not None:
                statements(command.stdin, client.language, command, act)
            else:
                act.run_file(places.resolve(path.text, command.cwd), client.language)

    return look


def _is_test_database(command: Command, client: Client, options: Options) -> bool:
    if places.in_test_environment(command):
        return True
    named = [options.values[name].text for name in client.base if name in options.values]
    if not named and options.operands:
        named = [options.operands[0].text]
    for name in named:
        name = name.partition("dbname=")[2] or name
        if name in (":memory:", "memory") or places.is_test_name(name):
            return True
        if client.operands and places.is_temporary(places.resolve(name, command.cwd)):
            return True
    return client.operands and not named


def _mysql(look: Judge) -> Judge:
    """``-pSECRET`` must not be read as a cluster of options."""

    def without_password(command: Command, act: Actions) -> None:
        args = [arg for arg in command.args if not arg.text.startswith("-p")]
        look(dataclasses.replace(command, args=args), act)

    return without_password


_WHOLE_GRAPH = re.compile(r"match\s*\(\s*\w*\s*\)\s*detach\s+delete", re.IGNORECASE)


def _cypher(look: Judge) -> Judge:
    """``cypher-shell 'statement'``: the graph language is judged here."""
    def shell(command: Command, act: Actions) -> None:
        options = parse(command.args, _CLIENTS["cypher-shell"].all_valued)
        texts = [*options.operands, *([command.stdin] if command.stdin else [])]
        if any(_WHOLE_GRAPH.match(text.text.strip()) or "drop database" in text.text.lower() for text in texts):
            act.effect(KIND, "cypher-shell (deletes the whole graph)")

    return shell


def _sqlplus(command: Command, act: Actions) -> None:
    """``sqlplus user/password @script`` or statements on standard input."""
    for arg in command.args:
        if arg.text.startswith("@") and len(arg.text) > 1:
            act.run_file(places.resolve(arg.text[1:], command.cwd), "sql")
    if command.stdin is not None:
        statements(command.stdin, "sql", command, act)


_REDIS_VALUED = _words(
    "-h -p -s -a -u -n -r -i -d -D -t --pass --user --cacert --cacertdir --cert --key --sni --eval --cluster --pattern "
    "--rdb --functions-rdb --count"
)


def _redis(command: Command, act: Actions) -> None:
    """``redis-cli [options] COMMAND WORDS``, or commands on standard input."""
    args, at = command.args, 0
    while at < len(args) and args[at].text.startswith("-"):
        name = args[at].text
        if name in ("--help", "--version", "-v", "--scan", "--bigkeys", "--latency", "--stat", "--rdb"):
            return
        if name == "--cluster":
            _redis_cluster(args[at + 1 :], act)
            return
        if name == "--eval" and at + 1 < len(args):
            act.run_file(places.resolve(args[at + 1].text, command.cwd), "lua")
            return
        at += 2 if name in _REDIS_VALUED else 1
    words = args[at:]
    if words:
        act.code("redis", _join(words))
    elif command.stdin is not None:
        act.code("redis", command.stdin)


def _redis_cluster(words: Sequence[Value], act: Actions) -> None:
    verb = words[0].text if words else ""
    if verb in ("del-node", "reset") or (verb == "call" and "flush" in " ".join(word.text for word in words).lower()):
        act.effect(KIND, f"redis-cli --cluster {verb} (removes nodes or their data)")


def _join(words: Sequence[Value]) -> Value:
    text = " ".join(f'"{word.text}"' if " " in word.text else word.text for word in words)
    marks = 0
    for word in words:
        marks |= word.marks
    return Value(text, marks)


_INFLUX = """
delete : deletes measurements
bucket|org|organization delete : deletes a bucket or an organization
"""


def _same(look: Judge) -> Judge:
    return look


def _programs() -> dict[str, Judge]:
    found: dict[str, Judge] = {}
    wraps = {"mysql": _mysql, "cypher-shell": _cypher}
    for name, client in _CLIENTS.items():
        look = wraps.get(name, _same)(_client(client))
        for each in (name, *_ALIASES.get(name, "").split()):
            found[each] = look
    influx = judge(KIND, _INFLUX, _words("--host -t --token -o --org -n --name"), test_exempt=True)
    found["influx"] = both(found["influx"], influx)
    found["sqlplus"] = _sqlplus
    for name in ("redis-cli", "valkey-cli", "keydb-cli", "dragonfly-cli"):
        found[name] = _redis
    return found


PROGRAMS: dict[str, Judge] = _programs()
