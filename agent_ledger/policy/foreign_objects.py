"""Objects of clouds, clusters and databases that a tool destroys, by what it is called and what kind it is told."""

from __future__ import annotations

import re
from typing import Any

from ..operation import argument
from .model import Actions

MAX_TEXT = 64 * 1024


def text_argument(args: object, *names: str) -> str:
    """The first of these arguments that is a text, cut to a bound; '' where there is none."""
    for name in names:
        value = argument(args, name)
        if isinstance(value, str) and value:
            return value[:MAX_TEXT]
    return ""


_DESTROYS = re.compile(
    r"(?:^|_)(?:delete|drop|destroy|terminate|purge|wipe|truncate|flush(?:all|db)?|reset|remove)(?:_|$)"
)
_NAMES = ("name", "id", "bucket", "Bucket", "table", "collection", "database", "stack", "repo", "target")
_KINDS = ("kind", "resource", "resource_type", "resourceType", "type")
_CLUSTER_KINDS = frozenset(
    "namespace namespaces ns node nodes no persistentvolume persistentvolumes pv pvs persistentvolumeclaim "
    "persistentvolumeclaims pvc pvcs crd crds customresourcedefinition customresourcedefinitions storageclass "
    "storageclasses clusterrole clusterroles statefulset statefulsets all".split()
)
_OBJECTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"namespace|persistent_?volume|(?:^|_)pvc?(?:_|$)|volume|(?:^|_)node(?:s|_|$)|(?:^|_)cluster"),
     "container_destruction"),
    (re.compile(r"database|(?:^|_)db(?:_|$)|schema|table|collection|keyspace|(?:^|_)all_data"), "database_destruction"),
    (re.compile(r"bucket|instance|stack|(?:^|_)vpc|hosted_?zone|(?:^|_)vm(?:_|$)|server|project|repo|repository|account|"
                r"subscription|resource_?group|environment|droplet|app(?:_|$)|service_?account|user_?pool|backup|snapshot|"
                r"domain|function|distribution|infrastructure|(?:^|_)kms|key_?vault|organization|org(?:_|$)|workspace"),
     "cloud_destruction"),
)  # fmt: skip
_CLUSTERS = re.compile(r"kube|k8s|helm|openshift|docker|podman|container|nomad")
_DRY = ("dry_run", "dryRun", "DryRun", "dryrun", "preview")


def judge_object(server: str, tool: str, args: dict[Any, Any], act: Actions) -> None:
    if not _DESTROYS.search(tool) or any(
        argument(args, name) not in (None, False, "", "none", "false") for name in _DRY
    ):
        return
    name = text_argument(args, *_NAMES)
    if _CLUSTERS.search(server) or _CLUSTERS.search(tool):
        kind = text_argument(args, *_KINDS).lower().partition(".")[0]
        everything = argument(args, "all") is True or name in ("*", "all", "--all")
        if kind in _CLUSTER_KINDS or everything or _OBJECTS[0][0].search(tool):
            act.effect("container_destruction", f"{tool} {kind}".strip(), name)
        return
    if server in (
        "git",
        "filesystem",
        "fs",
        "slack",
        "notion",
        "gmail",
        "calendar",
        "memory",
        "linear",
        "jira",
        "todoist",
    ):
        return
    if tool.startswith(("flush", "drop_all", "wipe")):
        act.effect("database_destruction", tool, name)
        return
    if re.search(r"(?:^|_)(?:delete_many|remove_many)(?:_|$)", tool):
        given = argument(args, "filter")
        if isinstance(given, dict) and not given:
            act.effect("database_destruction", f"{tool} of everything", name)
        return
    if re.search(
        r"_(?:item|row|record|key|object|entry|label|tag|comment|file|member|branch|rule|policy|alias|message|event)s?$",
        tool,
    ):
        return
    for pattern, kind in _OBJECTS:
        if (
            pattern.search(tool)
            and not tool.startswith("reset")
            and not re.search(r"(?:^|_)(?:index|column|view|trigger)", tool)
        ):
            act.effect(kind, tool, name)
            return
