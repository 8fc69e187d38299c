"""What programs do when they are run in thought, one room for each kind; each registers its programs."""


def load() -> None:
    """Import every room."""
    from . import (  # noqa: F401
        builtins,
        decoders,
        each_line,
        elsewhere,
        files,
        filters,
        languages,
        oversight,
        projects,
        runners,
        search,
        secrets,
        shells,
        sources,
        transfer,
        wrappers,
    )
