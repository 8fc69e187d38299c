"""Judges of resolved commands, one room for each class of effect."""

from . import cluster, container, database, datastores, disk, git, migrations, vcs, volumes

ROOMS = (cluster, container, database, datastores, disk, git, migrations, vcs, volumes)
