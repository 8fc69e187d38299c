"""What frameworks and migration tools do to a database: dropping, resetting and rolling back all of it."""

from __future__ import annotations

from ..model import Actions, Command
from ..options import parse
from . import places
from .database import KIND, statements
from .verbs import Judge, both, every, is_for_tests, is_harmless, judge, say

_DROP, _RESET, _UNDO = "drops the database", "drops everything and starts again", "rolls back all migrations"

_RAKE_TASKS = {
    "db:drop": _DROP, "db:drop:all": _DROP, "db:reset": _RESET, "db:purge": "empties the database",
    "db:purge:all": "empties the database", "db:truncate_all": "empties all tables", "db:migrate:reset": _RESET,
    "db:seed:replant": "empties all tables",
}  # fmt: skip
_RAKE_VALUED = frozenset("-e --environment -f --rakefile -C -I -r --directory".split())


def _rails(command: Command, act: Actions) -> None:
    """``rails``, ``rake``: tasks by name; ``rails runner`` and ``dbconsole`` run code."""
    options = parse(command.args, _RAKE_VALUED)
    operands = options.operands
    if not operands or options.any("--help", "-n", "--dry-run", "-T", "--tasks", "-P"):
        return
    if any(_is_test_setting(operand.text) for operand in operands) or is_for_tests(command, options, len(operands)):
        return
    verb = operands[0].text
    if verb in ("runner", "r") and len(operands) > 1:
        code = operands[1]
        if code.text.endswith(".rb"):
            act.run_file(places.resolve(code.text, command.cwd), "ruby")
        else:
            act.code("ruby", code)
    elif verb in ("dbconsole", "db") and command.stdin is not None:
        statements(command.stdin, "sql", command, act)
    else:
        unchecked = "DISABLE_DATABASE_ENVIRONMENT_CHECK" in command.env
        for operand in operands:
            task = operand.text.partition("[")[0]
            if task.startswith("db:drop:"):
                task = "db:drop"
            note = _RAKE_TASKS.get(task)
            if note is None and unchecked and task == "db:schema:load":
                note = _RESET
            if note:
                act.effect(KIND, f"{command.name} {task} ({note})")


def _is_test_setting(text: str) -> bool:
    name, equals, value = text.partition("=")
    return bool(equals) and name.endswith("ENV") and places.is_test_name(value)


_DJANGO = frozenset("--settings --database --pythonpath --verbosity -v -c --command -R --router -D".split())


def _django(command: Command, act: Actions) -> None:
    """``manage.py``, ``django-admin``."""
    options = parse(command.args, _DJANGO)
    operands = [operand.text for operand in options.operands]
    verb = operands[0] if operands else ""
    if not verb or options.any("--help", "-h", "--plan", "--check") or is_for_tests(command, options, len(operands)):
        return
    if verb in ("flush", "reset_db", "reset_schema", "truncate_all"):
        act.effect(KIND, f"{command.name} {verb} (empties the whole database)")
    elif verb == "migrate" and len(operands) > 2 and operands[-1] == "zero" and not options.any("--fake"):
        act.effect(KIND, say("migrate", [operands[1], "zero"], "drops all tables of the app"), operands[1])
    elif verb in ("shell", "shell_plus"):
        for code in [*every(command.args, ("-c", "--command")), *([command.stdin] if command.stdin else [])]:
            act.code("python", code)
    elif verb == "dbshell":
        for text in [*every(command.args, ("-c",)), *([command.stdin] if command.stdin else [])]:
            statements(text, "sql", command, act)


def _artisan(command: Command, act: Actions) -> None:
    """Laravel."""
    options = parse(command.args, ("--env", "--database", "--path", "--execute", "--step", "--seeder"))
    verb = options.operands[0].text if options.operands else ""
    if verb == "tinker":
        for code in [*every(command.args, ("--execute",)), *([command.stdin] if command.stdin else [])]:
            act.code("php", code)
    elif verb in ("migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe", "tenants:migrate-fresh"):
        stepped = verb == "migrate:refresh" and "--step" in options.values
        if not options.any("--pretend", "--help", "-h") and not stepped and not is_for_tests(command, options, 1):
            act.effect(KIND, f"{command.name} {verb} (drops all tables)")


def _prisma(command: Command, act: Actions) -> None:
    options = parse(command.args, ("--schema", "--file", "--url", "--from-url"))
    words = [operand.text for operand in options.operands[:2]]
    if options.any("--help", "-h") or is_for_tests(command, options, 2):
        return
    if words == ["migrate", "reset"]:
        act.effect(KIND, "prisma migrate reset (drops everything and starts again)")
    elif words == ["db", "push"] and options.any("--force-reset", "--accept-data-loss"):
        act.effect(KIND, "prisma db push (drops what does not fit)")
    elif words == ["db", "execute"]:
        path = options.values.get("--file")
        if path is not None:
            act.run_file(places.resolve(path.text, command.cwd), "sql")
        elif command.stdin is not None:
            act.code("sql", command.stdin)


def _alembic(command: Command, act: Actions) -> None:
    """``alembic downgrade base`` and what wraps it (``flask db downgrade base``)."""
    options = parse(command.args, ("-c", "--config", "-n", "--name", "-x", "-d", "--directory", "-A", "--app", "-e"))
    operands = [operand.text for operand in options.operands]
    if options.any("--sql", "--help", "-h") or is_for_tests(command, options, len(operands)):
        return
    if "downgrade" in operands and operands[-1] == "base":
        act.effect(KIND, f"{command.name} downgrade base ({_UNDO})")


def _typeorm(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-d", "--dataSource", "-c", "--connection", "-f", "--config"))
    operands = options.operands
    verb = operands[0].text if operands else ""
    if is_harmless(options) or is_for_tests(command, options, 1):
        return
    if verb == "schema:drop":
        act.effect(KIND, "typeorm schema:drop (drops all tables)")
    elif verb == "query" and len(operands) > 1:
        act.code("sql", operands[1])


def _golang_migrate(command: Command, act: Actions) -> None:
    """``migrate -path P -database URL down|drop``: ``down`` without a number means all."""
    options = parse(command.args, ("-path", "--path", "-database", "--database", "-source"), single_dash_long=True)
    operands = [operand.text for operand in options.operands]
    if is_harmless(options) or is_for_tests(command, options, len(operands)):
        return
    if operands[:1] == ["drop"]:
        act.effect(KIND, f"migrate drop ({_DROP})")
    elif operands == ["down"]:
        act.effect(KIND, f"migrate down ({_UNDO})")


def d1_execute(command: Command, act: Actions) -> None:
    """``wrangler d1 execute``: statements for a hosted database; ``--local`` is a scratch copy."""
    options = parse(command.args, ("--command", "--file", "-c", "--config", "-e", "--env"))
    if [operand.text for operand in options.operands[:2]] != ["d1", "execute"] or options.any("--local"):
        return
    for text in every(command.args, ("--command",)):
        act.code("sql", text)
    for path in every(command.args, ("--file",)):
        act.run_file(places.resolve(path.text, command.cwd), "sql")


def _dbshell(words: int) -> Judge:
    """A provider's database shell: the operand after the name, or standard input, is a statement."""

    def look(command: Command, act: Actions) -> None:
        operands = parse(command.args).operands
        if [operand.text for operand in operands[:2]] != ["db", "shell"] or any(
            places.is_test_name(operand.text) for operand in operands[2:3]
        ):
            return
        for text in operands[words:] or ([command.stdin] if command.stdin else []):
            statements(text, "sql", command, act)

    return look


_ENV = ("--env", "-e", "--environment", "--url", "-u", "--config", "-c", "--database", "-d", "--database-url", "-s")


def _tool(table: str, single_dash_long: bool = False) -> Judge:
    return judge(KIND, table, _ENV, single_dash_long, test_exempt=True)


_TABLES = {
    "sequelize sequelize-cli": f"db:drop : {_DROP}\ndb:migrate:undo:all : {_UNDO}\ndb:seed:undo:all : undoes all seeds",
    "knex": f"migrate:rollback +--all : {_UNDO}\nmigrate:down +--all : {_UNDO}",
    "dbmate": f"drop : {_DROP}",
    "mikro-orm": f"schema:drop +--run|-r : drops all tables\nschema:fresh|migration:fresh : {_RESET}",
    "drizzle-kit": "push +--force : drops what does not fit",
    "goose": f"reset : {_UNDO}\n* * reset : {_UNDO}\n* * down-to 0 : {_UNDO}\ndown-to 0 : {_UNDO}",
    "diesel": f"database|db reset|drop : {_DROP}\nmigration revert +--all|-a : {_UNDO}",
    "sqlx": f"database|db drop|reset : {_DROP}",
    "sea-orm-cli sea": f"migrate fresh|reset|refresh : {_RESET}",
    "mix": f"ecto.drop : {_DROP}\necto.reset : {_RESET}\necto.rollback +--all : {_UNDO}",
    "ace": f"migration:fresh|migration:refresh|migration:reset|db:wipe|db:truncate : {_RESET}",
    "console": (
        f"doctrine:database:drop|d:d:d +--force|-f : {_DROP}\n"
        "doctrine:schema:drop|d:s:d +--force|-f|--full-database : drops all tables"
    ),
    "spark": f"migrate:refresh : {_RESET}",
    "yii": f"migrate/fresh : {_RESET}\nmigrate/down all : {_UNDO}",
    "drush": "sql-drop|sql:drop : drops all tables\nsite:install|si : drops all tables first",
    "wp": "db drop|reset|clean : drops all tables\nsite empty : deletes all posts",
    "atlas": "schema clean : drops everything in the schema\nclusters|deployments delete : deletes a cluster",
    "payload": f"migrate:fresh|migrate:reset|migrate:refresh : {_RESET}",
    "hasura": f"migrate apply +--down : {_UNDO}\ndatabase drop : {_DROP}",
    "liquibase": "dropAll|drop-all|dropall : drops everything in the schema",
    "mvn mvnw": (
        "flyway:clean|liquibase:dropAll|org.flywaydb:flyway-maven-plugin:clean : drops everything in the schema"
    ),
    "gradle gradlew": "flywayClean|:flywayClean|dropAll : drops everything in the schema",
    "doctrine": "orm:schema-tool:drop +--force|-f : drops all tables",
    "ef": f"database drop : {_DROP}\ndatabase update 0 : {_UNDO}",
    "celery": "purge +-f : deletes all waiting tasks\n* purge +-f : deletes all waiting tasks",
    "rpk": "topic delete : deletes topics\ngroup delete : deletes consumer groups",
    "nats": (
        "stream|s|str rm|del|delete|purge : deletes streams or their messages\n"
        "kv del|rm +-f|--force : deletes a bucket"
    ),
    "turso": "db destroy : deletes a database\ngroup destroy : deletes a group",
    "pscale": "database delete : deletes a database\nbranch delete : deletes a database branch",
    "neonctl neon": "projects|databases|branches|roles delete : deletes hosted data",
}
_FLYWAY = judge(
    KIND, "clean : drops everything in the schema\n* clean : drops everything in the schema", single_dash_long=True,
    test_exempt=True,
)  # fmt: skip


def _dotnet(command: Command, act: Actions) -> None:
    """``dotnet ef database drop``."""
    if command.args and command.args[0].text == "ef":
        _TOOLS["ef"](Command("ef", command.args[1:], command.cwd, command.stdin, command.env, command.place), act)


_TOOLS: dict[str, Judge] = {name: _tool(table) for names, table in _TABLES.items() for name in names.split()}

PROGRAMS: dict[str, Judge] = {
    **_TOOLS,
    "rails": _rails, "rake": _rails, "manage.py": _django, "django-admin": _django, "artisan": _artisan,
    "prisma": _prisma, "alembic": _alembic, "flask": _alembic, "typeorm": _typeorm, "flyway": _FLYWAY,
    "typeorm-ts-node-commonjs": _typeorm, "typeorm-ts-node-esm": _typeorm, "migrate": _golang_migrate,
    "dotnet": _dotnet,
    "turso": both(_TOOLS["turso"], _dbshell(3)),
}  # fmt: skip
