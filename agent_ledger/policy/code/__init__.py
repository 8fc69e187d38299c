"""Judges of source code: what a program would do, read from its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..model import NOTHING, Actions, Value

Judge = Callable[[str, Actions, Sequence[Value]], "Value | None"]


def run(language: str, text: Value | str, act: Actions, arguments: Sequence[Value] = ()) -> Value:
    """Note what a program in this language would do; what it prints, as far as that is known.

    ``language``: python, node, perl, ruby, php, lua, awk, powershell, cmd, sql, redis, mongo, make, shell, applescript,
    other. ``arguments``: what the program is given, its own name not among it. That nobody has seen the code is for the
    caller to note.
    """
    judge = _JUDGES.get(language)
    printed = judge(text.text if isinstance(text, Value) else text, act, arguments) if judge is not None else None
    return printed if printed is not None else NOTHING


# The languages are imported where they are first met: most calls need none of them.


def _python(text: str, act: Actions, arguments: Sequence[Value]) -> Value | None:
    from . import python, scripting

    printed = python.judge_python(text, act, arguments)
    return scripting.judge("python2", text, act, arguments) if printed is None else printed


def _node(text: str, act: Actions, arguments: Sequence[Value]) -> Value | None:
    from . import node

    return node.judge_node(text, act, arguments)


def _script(language: str) -> Judge:
    def judge(text: str, act: Actions, arguments: Sequence[Value]) -> Value | None:
        from . import scripting

        return scripting.judge(language, text, act, arguments)

    return judge


def _awk(text: str, act: Actions, arguments: Sequence[Value]) -> Value | None:
    from . import awk

    return awk.judge_awk(text, act)


def _powershell(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import windows

    windows.judge_powershell(text, act)


def _cmd(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import windows_tools

    windows_tools.judge_cmd(text, act)


def _sql(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import sql

    sql.judge_sql(text, act)


def _redis(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import keyvalue

    keyvalue.judge_redis(text, act)


def _mongo(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import keyvalue

    keyvalue.judge_mongo(text, act)


def _make(text: str, act: Actions, arguments: Sequence[Value]) -> None:
    from . import recipes

    for line in recipes.make_lines(text, [argument.text for argument in arguments]):
        act.shell(line)


def _shell(text: str, act: Actions, arguments: Sequence[Value]) -> Value | None:
    return act.shell(text, arguments=arguments)


_JUDGES: dict[str, Judge] = {
    "python": _python,
    "node": _node,
    "awk": _awk,
    "powershell": _powershell,
    "cmd": _cmd,
    "sql": _sql,
    "redis": _redis,
    "mongo": _mongo,
    "make": _make,
    "shell": _shell,
    **{name: _script(name) for name in ("perl", "ruby", "php", "lua", "applescript", "other")},
}
