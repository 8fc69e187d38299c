"""From the JSON of a policy to its rules, with a message for all that is wrong: rule and key."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from . import patterns, rules
from .linear import Linear, PatternError
from .model import EFFECTS
from .patterns import PathGlob
from .rules import Example, Except, Match, Rule

MAX_RULES = 500
MAX_EXAMPLES = 100  # of one rule, of either kind
MAX_EXAMPLES_IN_ALL = 1000  # each is judged when the policy loads, which a hook may have to wait for
MAX_TEXT = 400  # of a reason or a safer way: an agent reads it
MAX_LIST = 500
VERSION = 1

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_MATCHES = ("effect", "argv", "command_regex", "path_glob", "argument")
_WITH = {"allow_paths": "effect", "protect_paths": "effect"}
_RULE_KEYS = ("id", "action", "severity", "reason", "instead", "tools", "except", "examples", *_MATCHES, *_WITH)
_EXCEPT_KEYS = ("name", *_MATCHES, "allow_paths")


class _Wrong(Exception):
    """One thing that is wrong. ``key``: where in the rule, '' for the rule as a whole."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"key {key!r}: {what}" if key else what)


def rules_of(found: Any) -> tuple[list[Rule], list[str]]:
    """(the rules, what is wrong with others). Only a policy without problems is whole."""
    if not isinstance(found, dict):
        return [], [f"it holds {_short(found)}; a JSON object is expected: {{\"version\": 1, \"rules\": [...]}}"]
    problems = [_unknown(key, ("version", "rules")) for key in found if key not in ("version", "rules")]
    version = found.get("version")
    if type(version) is not int or version != VERSION:
        said = f"is {_short(version)}" if "version" in found else "is missing"
        problems.append(f"key 'version' {said}; this version of the plugin reads version {VERSION}")
    listed = found.get("rules")
    if not isinstance(listed, list):
        said = f"is {_short(listed)}" if "rules" in found else "is missing"
        return [], [*problems, f"key 'rules' {said}; a list of rules is expected"]
    if len(listed) > MAX_RULES:
        return [], [*problems, f"key 'rules' has {len(listed)} rules; {MAX_RULES} are the most"]
    made: list[Rule] = []
    places: dict[str, int] = {}
    for number, value in enumerate(listed, 1):
        name = value.get("id") if isinstance(value, dict) else None
        called = f"rule {name!r}" if isinstance(name, str) and len(name) <= 64 else f"rule number {number}"
        try:
            rule = _rule(value)
            if rule.id in places:
                raise _Wrong("id", f"rule number {places[rule.id]} has the same id")
            places[rule.id] = number
            made.append(rule)
        except _Wrong as wrong:
            problems.append(f"{called}: {wrong}")
        except RecursionError:
            problems.append(f"{called}: it is nested too deeply")
    if (many := sum(len(rule.examples) for rule in made)) > MAX_EXAMPLES_IN_ALL:
        problems.append(f"the rules have {many} examples; {MAX_EXAMPLES_IN_ALL} are the most")
    return made, problems


def _rule(value: Any) -> Rule:
    if not isinstance(value, dict):
        raise _Wrong("", f"it is {_short(value)}; an object is expected")
    _only(value, _RULE_KEYS)
    identity = _text(value, "id", required=True)
    if not _ID.fullmatch(identity):
        raise _Wrong("id", f"{_short(identity)} is not made of a-z, 0-9, '.', '_' and '-', at most 64 characters")
    action = _choice(value, "action", ("deny", "allow"), "deny")
    return Rule(
        id=identity,
        severity=_choice(value, "severity", rules.SEVERITIES),
        reason=_text(value, "reason", required=True),
        instead=_text(value, "instead", required=False),
        match=_match(value, ""),
        denies=action == "deny",
        tools=_texts(value["tools"], "tools") if "tools" in value else (),
        exceptions=_exceptions(value.get("except", [])),
        examples=_examples(value.get("examples", {})),
    )


def _exceptions(value: Any) -> tuple[Except, ...]:
    if not isinstance(value, list) or len(value) > MAX_LIST:
        raise _Wrong("except", f"{_short(value)} is no list of exceptions, each with a name and a match")
    found: list[Except] = []
    for number, one in enumerate(value):
        key = f"except[{number}]"
        if not isinstance(one, dict):
            raise _Wrong(key, f"it is {_short(one)}; an object with a name and a match is expected")
        _only(one, _EXCEPT_KEYS, key + ".")
        name = one.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_TEXT:
            raise _Wrong(f"{key}.name", "every exception needs a name")
        if name in [other.name for other in found]:
            raise _Wrong(f"{key}.name", f"another exception is called {_short(name)} too")
        found.append(Except(name, _match(one, key + ".")))
    return tuple(found)


def _match(value: dict[str, Any], at: str) -> Match:
    ways = [key for key in _MATCHES if key in value]
    if len(ways) != 1:
        said = f"it has {' and '.join(ways)}" if ways else "it has none"
        raise _Wrong(at.rstrip("."), f"exactly one of {', '.join(_MATCHES)} is expected; {said}")
    way = ways[0]
    for key, belongs in _WITH.items():
        if key in value and way != belongs:
            raise _Wrong(at + key, f"it goes with {belongs!r} only")
    makers: dict[str, Callable[[Any, str], Match]] = {
        "argv": _argv,
        "command_regex": lambda found, key: rules.OfCommand(_regex(found, key)),
        "path_glob": lambda found, key: rules.OfPath(_globs(found, key)),
        "argument": _argument,
    }
    if way != "effect":
        return makers[way](value[way], at + way)
    kind = value["effect"]
    if not isinstance(kind, str) or kind not in EFFECTS:
        raise _Wrong(at + "effect", f"{_short(kind)} is no effect{_near(kind, tuple(EFFECTS))}: {', '.join(EFFECTS)}")
    return rules.OfEffect(
        kind,
        _globs(value["allow_paths"], at + "allow_paths") if "allow_paths" in value else (),
        _globs(value["protect_paths"], at + "protect_paths") if "protect_paths" in value else (),
    )


def _argv(value: Any, key: str) -> Match:
    if not isinstance(value, list) or not 0 < len(value) <= 50:
        raise _Wrong(key, f'{_short(value)} is no list of words, such as ["terraform", ["apply", "destroy"], "..."]')
    places = tuple(_texts(one, key) if isinstance(one, list) else (_word(one, key),) for one in value)
    if any(patterns.REST in place and len(place) > 1 for place in places):
        raise _Wrong(key, "'...' stands for any words, so it cannot be one of several alternatives")
    if all(place == (patterns.REST,) for place in places):
        raise _Wrong(key, "it would match every command")
    return rules.OfWords(places)


def _argument(value: Any, key: str) -> Match:
    if not isinstance(value, dict):
        raise _Wrong(key, f'{_short(value)} is no object such as {{"name": "sql", "regex": "..."}}')
    _only(value, ("name", "equals", "regex"), key + ".")
    if "name" not in value:
        raise _Wrong(f"{key}.name", "it is missing: the name of an argument, or a list of names")
    if ("equals" in value) == ("regex" in value):
        raise _Wrong(key, "exactly one of equals and regex is expected")
    names = _texts(value["name"], f"{key}.name")
    if "equals" in value:
        return rules.OfArgument(names, equals=frozenset(_texts(value["equals"], f"{key}.equals", empty=True)))
    return rules.OfArgument(names, regex=_regex(value["regex"], f"{key}.regex"))


def _regex(value: Any, key: str) -> Linear:
    if not isinstance(value, str) or not value:
        raise _Wrong(key, f"{_short(value)} is no regular expression")
    try:
        return Linear(value)
    except PatternError as wrong:
        raise _Wrong(key, f"{_short(value)} cannot be used: {wrong}") from wrong


def _globs(value: Any, key: str) -> tuple[PathGlob, ...]:
    globs = _texts(value, key)
    for text in globs:
        if not PathGlob.is_one(text):
            raise _Wrong(key, f"{_short(text)} must begin with '/', '~/' or '**/', or be one name without a slash")
    return tuple(PathGlob(text) for text in globs)


# --- examples


def _examples(value: Any) -> tuple[Example, ...]:
    if not isinstance(value, dict):
        raise _Wrong("examples", f'{_short(value)} is no object such as {{"block": [...], "allow": [...]}}')
    _only(value, ("block", "allow"), "examples.")
    found = []
    for kind in ("block", "allow"):
        listed = value.get(kind, [])
        if not isinstance(listed, list) or len(listed) > MAX_EXAMPLES:
            raise _Wrong(f"examples.{kind}", f"a list of at most {MAX_EXAMPLES} calls is expected")
        for number, one in enumerate(listed):
            place = f"examples.{kind}[{number}]"
            tool, args = _call(one, place)
            found.append(Example(place, tool, args, kind == "block"))
    return tuple(found)


def _call(value: Any, key: str) -> tuple[str, Mapping[str, Any]]:
    """An example's tool and arguments: a command line, its words, ``{"parts": [...]}`` or ``{"tool", "args"}``."""
    if isinstance(value, dict) and "tool" in value:
        _only(value, ("tool", "args"), key + ".")
        args = value.get("args", {})
        if not isinstance(value["tool"], str) or not isinstance(args, dict):
            raise _Wrong(key, "the name of a tool and an object of arguments are expected")
        return value["tool"], {name: _joined(one, f"{key}.args.{name}") for name, one in args.items()}
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return "terminal", {"command": shlex.join(value)}
    line = _joined(value, key)
    if not isinstance(line, str) or not line.strip():
        raise _Wrong(key, f"{_short(value)} is no command line, no list of words and no tool with arguments")
    return "terminal", {"command": line}


def _joined(value: Any, key: str) -> Any:
    """A value, or the text that its ``{"parts": [...]}`` make: so an example need not spell out what it forbids."""
    if not isinstance(value, dict) or "parts" not in value:
        return value
    _only(value, ("parts",), key + ".")
    parts = value["parts"]
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise _Wrong(f"{key}.parts", f"{_short(parts)} is no list of texts")
    return "".join(parts)


# --- values


def _only(value: dict[str, Any], known: tuple[str, ...], at: str = "") -> None:
    for key in value:
        if key not in known:
            raise _Wrong("", _unknown(at + str(key), tuple(at + name for name in known)))


def _unknown(key: str, known: tuple[str, ...]) -> str:
    return f"unknown key {_short(key)}{_near(key, known)}; the keys are: {', '.join(known)}"


def _near(word: object, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(word.lower(), known, 1) if isinstance(word, str) and len(word) < 100 else []
    return f" (did you mean {close[0]!r}?)" if close else ""


def _text(value: dict[str, Any], key: str, required: bool) -> str:
    if key not in value and not required:
        return ""
    text = value.get(key)
    if not isinstance(text, str) or not text.strip():
        raise _Wrong(key, f"it is {_short(text)}; a text is expected" if key in value else "it is missing")
    if len(text) > MAX_TEXT:
        raise _Wrong(key, f"it has {len(text)} characters; {MAX_TEXT} are the most")
    return text.strip()


def _choice(value: dict[str, Any], key: str, accepted: tuple[str, ...], default: str = "") -> str:
    chosen = value.get(key, default)
    if not isinstance(chosen, str) or chosen not in accepted:
        said = f"it is {_short(chosen)}{_near(chosen, accepted)}" if key in value else "it is missing"
        raise _Wrong(key, f"{said}; expected one of {', '.join(accepted)}")
    return chosen


def _word(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value or len(value) > MAX_TEXT or "\0" in value:
        raise _Wrong(key, f"{_short(value)} is no text of 1 to {MAX_TEXT} characters")
    return value


def _texts(value: Any, key: str, empty: bool = False) -> tuple[str, ...]:
    """One text or a list of them."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not 0 < len(value) <= MAX_LIST:
        raise _Wrong(key, f"{_short(value)} is no text and no list of texts")
    return tuple(one if empty and one == "" else _word(one, key) for one in value)


def _short(value: Any) -> str:
    try:
        text = "null" if value is None else repr(value)
    except RecursionError:
        text = f"a {type(value).__name__} nested too deeply"
    return text if len(text) <= 80 else text[:77] + "..."
