"""The judges of programs that operate on repositories, databases, clouds, containers, disks and rights."""

from __future__ import annotations

from collections.abc import Callable

from ..model import Command, Value
from . import (
    accounts,
    cloud,
    cluster,
    container,
    database,
    datastores,
    disk,
    fleet,
    forges,
    git,
    guards,
    keepers,
    migrations,
    packages,
    permissions,
    platforms,
    vcs,
    volumes,
)
from .verbs import Judge

ROOMS = (
    git, vcs, database, datastores, migrations, cloud, platforms, forges, keepers, fleet, container, cluster, disk,
    volumes, permissions, accounts, guards, packages,
)  # fmt: skip

# Program -> its judge; beginning of a program's name -> judge; program -> what it prints.
PROGRAMS: dict[str, Judge] = {name: look for room in ROOMS for name, look in room.PROGRAMS.items()}
FAMILIES: dict[str, Judge] = {**disk.FAMILIES, **packages.FAMILIES}
OUTPUTS: dict[str, Callable[[Command], Value]] = dict(container.OUTPUTS)
