"""What is done to applications on hosting platforms."""

from __future__ import annotations

from ..model import Actions, Command
from ..options import parse
from .cloud import KIND
from .migrations import d1_execute
from .verbs import Judge, both, judge, programs, runs_rest, tools

# Programs and their destructive sub-commands.
_TABLES = {
    "heroku": """
        apps:destroy|apps:delete|destroy : deletes an application
        pg:reset|pg:copy : overwrites a database
        addons:destroy|pg:backups:delete|redis:destroy : deletes stored data
        pipelines:destroy|spaces:destroy|domains:clear|repo:reset|teams:destroy : deletes a part of it
        """,
    "fly flyctl": """
        apps|app destroy|delete|rm : deletes an application
        destroy : deletes an application
        volumes|volume|vol destroy|delete|rm : deletes stored data
        machine|machines|m destroy|remove|rm : deletes a machine
        redis|storage|mpg|mysql|postgres|pg|managed-postgres|extensions destroy|delete : deletes stored data
        ips release : gives an address away
        orgs delete : deletes an organization
        """,
    "vercel now": """
        remove|rm : deletes deployments
        project|projects rm|remove : deletes a project
        domains|dns|certs rm|remove : deletes a domain or its records
        blob del|store|delete : deletes stored data
        """,
    "netlify ntl": """
        sites:delete : deletes a site
        sites delete : deletes a site
        api deleteSite : deletes a site
        """,
    "wrangler": """
        delete : deletes a worker
        pages project delete : deletes a project
        kv:namespace|r2|d1|vectorize|hyperdrive|queues delete : deletes stored data
        kv|r2 namespace|bucket delete : deletes stored data
        kv bulk delete : deletes stored data
        kv:bulk delete : deletes stored data
        queues purge : deletes stored data
        dispatch-namespace|workflows delete : deletes a part of it
        secret delete : deletes a secret
        versions secret delete : deletes a secret
        """,
    "railway": """
        down : removes the deployment
        delete : deletes a project
        volume|environment|service delete : deletes a part of it
        """,
    "render": "services|postgres|keyvalues delete : deletes a service",
    "supabase": """
        projects delete : deletes a project
        db reset : empties the database
        functions|branches|sso delete|remove : deletes a part of it
        storage rm +-r|--recursive : deletes stored data
        stop +--no-backup : deletes the local data
        """,
    "firebase": """
        firestore:delete +--all-collections|-r|--recursive : deletes stored data
        firestore:databases:delete|database:remove|functions:delete|hosting:sites:delete : deletes a part of it
        hosting:disable|apphosting:backends:delete|dataconnect:services:delete : deletes a part of it
        """,
    "surge": "teardown : takes a site down",
    "deployctl": "projects delete : deletes a project",
    "dokku": """
        apps:destroy : deletes an application
        postgres:destroy|mysql:destroy|mariadb:destroy|mongo:destroy|redis:destroy : deletes a database
        storage:unmount : takes storage away
        """,
    "cf": "delete|d|delete-org|delete-space|delete-service|delete-orphaned-routes|ds|delete-user : deletes it",
    "platform upsun": "project:delete|environment:delete|organization:delete : deletes it",
    "scalingo": "destroy|addons-remove : deletes an application",
    "clever": "delete : deletes an application",
    "koyeb": "app|apps|service|services|database|databases|volumes delete : deletes it",
    "northflank": "delete : deletes it",
    "kamal": """
        remove : removes the application and its data
        app|accessory remove : removes the application or its data
        """,
    "appwrite": "databases|storage|projects|functions|users delete : deletes it",
    "confluent": "* delete : deletes it\n* * delete : deletes it",
    "avn": "service|project terminate|delete : deletes a service",
    "astro": "deployment|workspace delete : deletes it",
    "databricks": """
        workspace|fs delete|rm +-r|--recursive : deletes a folder
        clusters permanent-delete : deletes it
        schemas|catalogs|tables|volumes|warehouses|jobs delete : deletes it
        """,
    "sentry-cli": "projects|organizations delete : deletes it",
    "kaggle": "datasets|models delete : takes a published one back",
    "zkCli.sh zkcli": "deleteall|rmr : deletes a tree of nodes",
}
_VALUED = frozenset(
    "-a --app -c --config -e --env --project -P --org -o --remote --project-name --scope -t --token --project-ref "
    "-s --site -n -p --environment --service --cwd".split()
)


def _table(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _heroku_run(command: Command, act: Actions) -> None:
    """``heroku run [-a APP] COMMAND``, ``heroku pg:psql -c SQL``."""
    options = parse(command.args, ("-a", "--app", "-r", "--remote", "-s", "--size", "-e", "-c", "--command", "--type"))
    operands = options.operands
    verb = operands[0].text if operands else ""
    statement = options.values.get("-c") or options.values.get("--command")
    if verb in ("run", "run:detached") and len(operands) > 1:
        rest = operands[1:]
        if len(rest) == 1:
            act.shell(rest[0], "container")
        else:
            act.argv(rest, None, "container")
    elif verb in ("pg:psql", "psql"):
        text = statement or command.stdin
        if text is not None:
            act.code("sql", text)


def _fly_console(command: Command, act: Actions) -> None:
    """``fly ssh console -C COMMAND``."""
    options = parse(command.args, ("-a", "--app", "-C", "--command", "-c", "--config", "-r", "--region", "-s"))
    inner = options.values.get("-C") or options.values.get("--command")
    if inner is not None and [operand.text for operand in options.operands[:2]] == ["ssh", "console"]:
        act.shell(inner, "container")


_TOOLS: dict[str, Judge] = {
    name: judge(KIND, _table(table), _VALUED) for names, table in _TABLES.items() for name in names.split()
}

PROGRAMS: dict[str, Judge] = programs(
    _TOOLS,
    tools("heroku", both(_TOOLS["heroku"], _heroku_run)),
    tools("fly flyctl", both(_TOOLS["fly"], _fly_console)),
    tools("railway", both(_TOOLS["railway"], runs_rest("run"))),
    tools("wrangler", both(_TOOLS["wrangler"], d1_execute)),
)
