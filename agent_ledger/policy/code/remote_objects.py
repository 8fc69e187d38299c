"""Method calls of client libraries that destroy what a server holds: databases, clouds, clusters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import Actions
from .values import text_of

_DATABASE = frozenset(
    "drop_database dropDatabase drop_collection flushall flushdb flushAll flushDb drop_all drop_db".split()
)
_EVERY_ROW = re.compile(r"(?:\.objects\.all\(\)|\.objects|\.query\(\)|\.query|\.objects\.raw\(\))\.delete$")
_CLUSTER = re.compile(r"^delete_(?:namespace|node|persistent_volume|cluster_role|custom_resource_definition|"
                      r"namespaced_persistent_volume_claim|collection_\w+)$")  # fmt: skip
_CLOUD = re.compile(
    r"^(?:terminate_(?:instances|job_flows|environment)|schedule_key_deletion|delete_(?:bucket|table|stack|stack_set|db_instance|"
    r"db_cluster|cluster|volume|snapshot|user|role|function|hosted_zone|vpc|file_system|domain|user_pool|repository|nodegroup|"
    r"log_group|load_balancer|distribution|rest_api|backup_vault|recovery_point|secret|account|db_snapshot|replication_group|"
    r"cache_cluster|key_pair|service|stream|database|catalog|workspace|project|resource_group|instance))$"
)
_ALL_OBJECTS = re.compile(
    r"(?:\.objects|\.object_versions)(?:\.all\(\)|\.filter\(\))?\.delete$|\.Bucket\(\)\.delete$|\.Table\(\)\.delete$"
)


def _dry(named: Mapping[str, Any]) -> bool:
    return named.get("DryRun") is True or named.get("dry_run") not in (None, False)


def _empty_filter(args: Sequence[Any], named: Mapping[str, Any]) -> bool:
    given = args[0] if args else named.get("filter", named.get("query"))
    return isinstance(given, dict) and not given


def judge(act: Actions, full: str, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> bool:
    """Note what the method ``name`` of the object called ``full`` destroys; False where it is none of these."""
    if name in _DATABASE or (name in ("delete_many", "deleteMany", "remove") and _empty_filter(args, named)):
        if name == "drop_all" and "metadata" not in full and not full.endswith(("db.drop_all", "Base.drop_all")):
            return False
        act.effect("database_destruction", name, text_of(args[0]).text if args else "")
        return True
    if name == "drop" and "MongoClient" in full:
        act.effect("database_destruction", "drop of a collection")
        return True
    if name == "execute_command" and args:
        act.code("redis", " ".join(text_of(arg).text for arg in args))
        return True
    if name == "delete" and "boto3." not in full and _EVERY_ROW.search(full):
        act.effect("database_destruction", "deletes every row of a model")
        return True
    if name == "call_command" and args:
        act.argv(["python", "manage.py", *[text_of(arg) for arg in args]])
        return True
    if _CLUSTER.match(name) and not _dry(named):
        act.effect("container_destruction", name, text_of(args[0]).text if args else "")
        return True
    if name == "prune" and full.endswith((".volumes.prune", ".system.prune")):
        act.effect("container_destruction", "prunes volumes")
        return True
    if (
        full.startswith(("boto3.", "aioboto3."))
        and not _dry(named)
        and (_CLOUD.match(name) or _ALL_OBJECTS.search(full))
    ):
        target = next((text_of(value).text for value in named.values()), "")
        act.effect("cloud_destruction", name, target)
        return True
    if full.startswith(("google.cloud.", "azure.")) and _CLOUD.match(name.removeprefix("begin_")) and not _dry(named):
        act.effect("cloud_destruction", name)
        return True
    return False
