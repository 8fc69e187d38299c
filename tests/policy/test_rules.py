"""What a policy says: its rules match what they should, and whatever is wrong with a file is named."""

from __future__ import annotations

import fnmatch
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.policy import examples, judge, load, patterns, validate
from agent_ledger.policy.judge import Judgement
from agent_ledger.policy.model import EFFECTS, UNKNOWN, Effect
from agent_ledger.policy.rules import Called, Policy, Rule, Subject
from agent_ledger.policy.session import Session
from tests.hosts.checkout import ROOT

EXAMPLE = ROOT / "policy.example.json"
RULE: dict[str, Any] = {"id": "r", "severity": "high", "reason": "because", "argv": ["tool", "..."]}


def rule(**fields: Any) -> Rule:
    """One rule, from what differs from a plain one. A match replaces the plain one's."""
    value = {**RULE, **fields}
    if len({"effect", "argv", "command_regex", "path_glob", "argument"} & set(value)) > 1:
        value.pop("argv")
    made, problems = validate.rules_of({"version": 1, "rules": [value]})
    assert not problems
    return made[0]


def wrong(**fields: Any) -> str:
    """What is said of a rule that cannot be used."""
    value = {key: found for key, found in {**RULE, **fields}.items() if found is not ...}
    made, problems = validate.rules_of({"version": 1, "rules": [value]})
    assert not made and len(problems) == 1
    return problems[0]


def subject(*commands: str, tool: str = "terminal", args: object = None, paths: tuple[str, ...] = (), effects: tuple[Effect, ...] = ()) -> Subject:
    return Subject(Called(tool, args, paths), effects, tuple(tuple(line.split(" ")) for line in commands))


def hits(of: Rule, call: Subject) -> int:
    return len(list(of.hits(call)))


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (["git", "push"], "git push", True), (["git", "push"], "git push origin", False), (["git", "push", "..."], "git push", True),
        (["git", "...", "push", "..."], "git -C x push origin", True), (["tf", ["destroy", "apply"], "..."], "tf apply -x", True),
        (["tf", ["destroy", "apply"]], "tf plan", False), (["git", "..."], "/usr/bin/git log", True), (["a", "--env=*"], "a --env=prod", True),
        (["a", "...", "b", "...", "c"], "a x b y b c", True), (["a", "...", "b"], "a b c", False), (["a?"], "ab", True),
    ],
)  # fmt: skip
def test_words_of_a_command(pattern: list[Any], line: str, expected: bool) -> None:
    """A pattern of words has alternatives, wild cards, and dots for any words; the program counts by its base name."""
    assert bool(hits(rule(argv=pattern), subject(line))) is expected


def test_a_pattern_with_many_dots_is_quick() -> None:
    """Thousands of words against many dots take milliseconds."""
    of = rule(argv=["a", *["...", "b"] * 20, "c"])
    began = time.perf_counter()
    hits(of, Subject(Called("terminal", None), (), (("a", *["b"] * 4000),)))
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("/srv/data", "/srv/data", True), ("/srv/data", "/srv/data/x/y", True), ("/srv/data", "/srv/database", False),
        ("/srv/*/x", "/srv/a/x", True), ("/srv/*/x", "/srv/a/b/x", False), ("/srv/**/x", "/srv/a/b/x", True), ("/srv/**", "/srv", True),
        ("*.pem", "/a/b.pem", True), ("*.pem", "/a/b.pem.txt", False), ("secrets", "/a/secrets/b", True), ("**/secrets", "/a/secrets/b", True),
        ("/srv/data/", "/srv/data/x", True), ("/srv/data/*", "/srv/x/../data/y", True),
    ],
)  # fmt: skip
def test_paths(glob: str, path: str, expected: bool) -> None:
    """A pattern of paths covers what it names and all below it."""
    assert bool(hits(rule(path_glob=[glob]), subject(paths=(path,)))) is expected


def test_home_in_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tilde is the user's home."""
    monkeypatch.setenv("HOME", "/home/dev")
    assert hits(rule(path_glob="~/keys"), subject(paths=("/home/dev/keys/a",))) == 1


@given(pattern=st.text("ab*?", max_size=8), text=st.text("ab", max_size=8))
@settings(max_examples=300, deadline=None)
def test_wild_cards_match_as_a_shell_does(pattern: str, text: str) -> None:
    """Stars and question marks answer as fnmatch does."""
    assert patterns.wild(pattern, text) == fnmatch.fnmatchcase(text, pattern)


# --- matches and exceptions


def test_command_regex_sees_each_resolved_command() -> None:
    """It is searched in the words of every command, one space between them."""
    of = rule(command_regex=r"^deploy .*--env[ =]prod\b")
    assert hits(of, subject("ls", "deploy web --env prod")) == 1
    assert hits(of, subject("echo deploy --env prod")) == 0


@pytest.mark.parametrize(
    ("args", "expected"),
    [({"sql": "DROP it"}, 1), ({"query": ["x", "drop it"]}, 1), ({"sql": "select"}, 0), ({"other": "drop it"}, 0), (None, 0), ([1], 0), ({"sql": 5}, 0)],
)  # fmt: skip
def test_named_argument(args: object, expected: int) -> None:
    """A rule on an argument looks at the named ones only, also where they hold a list, whatever the arguments are."""
    of = rule(argument={"name": ["sql", "query"], "regex": "(?i)drop"})
    assert hits(of, subject(tool="mcp__db__run", args=args)) == expected


def test_argument_that_equals() -> None:
    """Numbers and truth values are compared as JSON writes them."""
    of = rule(argument={"name": "force", "equals": ["true", "1"]})
    assert [hits(of, subject(args={"force": value})) for value in (True, 1, "1", False, None)] == [1, 1, 1, 0, 0]


def test_tools_limit_a_rule() -> None:
    """A rule with tools is asked about those alone; their names may be patterns."""
    of = rule(argument={"name": "a", "equals": "x"}, tools=["mcp__*", "patch"])
    assert [hits(of, subject(tool=tool, args={"a": "x"})) for tool in ("mcp__db__x", "patch", "terminal")] == [1, 1, 0]


def effect(target: str = "/srv/x", dangerous: bool = True, kind: str = "recursive_delete") -> Effect:
    return Effect(kind, f"remove {target}", target, dangerous)


@pytest.mark.parametrize(
    ("fields", "found", "expected"),
    [
        ({}, effect(), 1), ({}, effect(dangerous=False), 0), ({}, effect(kind="disk"), 0),
        ({"allow_paths": ["/srv"]}, effect(), 0), ({"allow_paths": ["/srv/y"]}, effect(), 1),
        ({"allow_paths": ["/srv"]}, effect(f"/srv/{UNKNOWN}"), 1), ({"allow_paths": ["/srv"]}, effect(""), 1),
        ({"protect_paths": ["/srv/x"]}, effect("/srv/x/y", dangerous=False), 1), ({"protect_paths": ["/srv/x"]}, effect("/srv", dangerous=False), 1),
        ({"protect_paths": ["/srv/x"]}, effect("/opt/y", dangerous=False), 0),
        ({"protect_paths": ["/srv/x"], "allow_paths": ["/srv"]}, effect(), 1),
    ],
)  # fmt: skip
def test_effect_with_its_paths(fields: dict[str, Any], found: Effect, expected: int) -> None:
    """Allowed targets do not count, protected ones always do; a target that is not known is never allowed."""
    assert hits(rule(effect="recursive_delete", **fields), subject(effects=(found,))) == expected


def test_exception_covers_one_act_and_not_the_call() -> None:
    """What an exception covers does not cover the other acts of the same call."""
    of = rule(effect="recursive_delete", **{"except": [{"name": "scratch", "path_glob": "/scratch"}]})
    assert hits(of, subject(effects=(effect("/scratch/a"), effect("/srv")))) == 1
    assert hits(of, subject(effects=(effect("/scratch/a"),))) == 0


@pytest.mark.parametrize(
    "exception",
    [{"argv": ["tool", "...", "--dry-run"]}, {"command_regex": "--dry-run$"}, {"argument": {"name": "mode", "equals": "test"}}],
)  # fmt: skip
def test_exceptions_of_every_kind(exception: dict[str, Any]) -> None:
    """Words, expressions and arguments make exceptions too."""
    of = rule(**{"except": [{"name": "safe", **exception}]})
    assert hits(of, subject("tool now --dry-run", args={"mode": "test"})) == 0
    assert hits(of, subject("tool now", args={"mode": "real"})) == 1


# --- what is wrong with a rule


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"id": ...}, "id"), ({"id": "Has Space"}, "id"), ({"id": 5}, "id"), ({"severity": "High"}, "'high'"), ({"severity": ...}, "severity"),
        ({"reason": ...}, "reason"), ({"reason": "x" * 500}, "reason"), ({"instead": 5}, "instead"), ({"action": "Deny"}, "'deny'"),
        ({"argv": ...}, "exactly one"), ({"effect": "disk"}, "argv"), ({"argv": ..., "effect": "recursive_deletes"}, "recursive_delete"),
        ({"argv": ..., "effect": 7}, "effect"), ({"argv": []}, "argv"), ({"argv": ["..."]}, "argv"), ({"argv": [["a", "..."]]}, "argv"), ({"argv": [1]}, "argv"),
        ({"allow_paths": ["/a"]}, "allow_paths"), ({"argv": ..., "effect": "disk", "allow_paths": ["a/b"]}, "allow_paths"),
        ({"argv": ..., "command_regex": "("}, "command_regex"), ({"argv": ..., "command_regex": r"(a)\1"}, "command_regex"), ({"argv": ..., "command_regex": 5}, "command_regex"),
        ({"argv": ..., "path_glob": []}, "path_glob"), ({"argv": ..., "path_glob": "a/b"}, "path_glob"), ({"argv": ..., "argument": "x"}, "argument"),
        ({"argv": ..., "argument": {"name": "a"}}, "argument"), ({"argv": ..., "argument": {"regex": "a"}}, "argument.name"),
        ({"argv": ..., "argument": {"name": "a", "regexp": "a"}}, "'argument.regex'"), ({"tools": []}, "tools"), ({"tools": [""]}, "tools"),
        ({"exceptions": []}, "'except'"), ({"except": {}}, "except"), ({"except": [{"argv": ["a"]}]}, "except[0].name"), ({"except": [{"name": "a"}]}, "except[0]"),
        ({"except": [{"name": "a", "argv": ["a"]}, {"name": "a", "argv": ["a"]}]}, "except[1].name"), ({"except": ["a"]}, "except[0]"),
        ({"examples": []}, "examples"), ({"examples": {"blocks": []}}, "examples.block"), ({"examples": {"block": [5]}}, "examples.block[0]"),
        ({"examples": {"block": [{"tool": 5}]}}, "examples.block[0]"), ({"examples": {"block": [{"parts": [1]}]}}, "examples.block[0].parts"), ({"severty": "x"}, "'severity'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(fields: dict[str, Any], named: str) -> None:
    """One message with the rule and the key, or the word that was meant."""
    told = wrong(**fields)
    assert named in told and (fields.get("id", "r") != "r" or "'r'" in told)


def test_ids_are_unique() -> None:
    """The second rule with an id is named."""
    _, problems = validate.rules_of({"version": 1, "rules": [RULE, RULE]})
    assert problems == ["rule 'r': key 'id': rule number 1 has the same id"]


@pytest.mark.parametrize(
    ("found", "named"),
    [([], "object"), ({}, "version"), ({"version": 2, "rules": []}, "version 1"), ({"version": True, "rules": []}, "version"), ({"version": 1}, "rules"),
     ({"version": 1, "rules": {}}, "rules"), ({"version": 1, "rules": [], "mode": "x"}, "'mode'"), ({"version": 1, "rules": [5]}, "rule number 1"), ({"version": 1, "rules": [RULE] * 501}, "501")],
)  # fmt: skip
def test_what_is_wrong_with_the_whole(found: Any, named: str) -> None:
    """The same for the keys of the policy itself."""
    _, problems = validate.rules_of(found)
    assert any(named in problem for problem in problems)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.sampled_from(sorted(EFFECTS)),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["version", "rules", "id", "severity", "reason", "argv", "effect", "command_regex", "path_glob", "argument", "except", "examples", "block", "name", "regex", "tool", "args", "parts", "x"]),
        inner, max_size=6,
    ),
    max_leaves=20,
)  # fmt: skip


@given(found=JSON)
@settings(max_examples=400, deadline=None)
def test_any_json_is_a_policy_or_a_message(found: Any) -> None:
    """Whatever JSON a file holds, it is a policy or it is told why not."""
    loaded = load.parse(json.dumps(found).encode(), "p.json")
    assert (loaded.policy is None) == bool(loaded.problems)


@given(rules=st.lists(JSON, max_size=3))
@settings(max_examples=400, deadline=None)
def test_any_rules_are_rules_or_messages(rules: list[Any]) -> None:
    """So are any rules in a well-formed policy."""
    value = {"version": 1, "rules": [{**RULE, **one} if isinstance(one, dict) else one for one in rules]}
    assert isinstance(load.parse(json.dumps(value).encode(), "p.json"), load.Loaded)


@given(raw=st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_answered(raw: bytes) -> None:
    """Bytes that are no JSON make one message with the file's name."""
    loaded = load.parse(raw, "p.json")
    assert loaded.policy is None and all(problem.startswith("p.json") for problem in loaded.problems) and loaded.problems


# --- broken files

GOOD = json.dumps({"version": 1, "rules": [RULE]})


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        (GOOD[:-9].encode(), "line 1 column"), (b"", "not JSON"), (b"\xef\xbb\xbf", "not JSON"), (GOOD.encode("utf-16"), "UTF-16"), (b'{"version": 1, "\xff": 1}', "UTF-8"),
        (b'{"version": 1, "version": 1, "rules": []}', "'version' is there twice"), (GOOD.replace('"high"', '"high", "reason": "x"').encode(), "with the id 'r'"),
        (b"[" * 100_000, "nested"), (b'{"version": NaN}', "NaN"), (b'{"version": ' + b"9" * 5000 + b"}", "usable"), (b"null", "object"),
    ],
)  # fmt: skip
def test_broken_file_is_explained(raw: bytes, named: str) -> None:
    """Truncated, coded otherwise, with duplicate keys or no JSON at all: the message says which."""
    loaded = load.parse(raw, "/x/policy.json")
    assert loaded.policy is None and named in loaded.problems[0] and loaded.problems[0].startswith("/x/policy.json")


def test_byte_order_mark_is_no_obstacle() -> None:
    """A file that an editor began with a byte order mark counts."""
    assert load.parse(b"\xef\xbb\xbf" + GOOD.encode(), "p").policy is not None


def test_files_that_do_not_count(tmp_path: Path) -> None:
    """Too large, writable by others, a folder, a pipe: each is refused with what to do."""
    path = tmp_path / "policy.json"
    path.write_text(GOOD + " " * 5_000_000)
    path.chmod(0o600)
    with pytest.raises(load.Broken, match="5000"):
        load.read(str(path))
    path.write_text(GOOD)
    for mode in (0o620, 0o602, 0o666):
        path.chmod(mode)
        with pytest.raises(load.Broken, match="chmod 600"):
            load.read(str(path))
    path.unlink()
    path.mkdir()
    with pytest.raises(load.Broken):
        load.read(str(path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(load.Broken, match="plain file"):
        load.read(str(tmp_path / "pipe"))


@pytest.mark.parametrize("content", ["Enforce", "dry-run", "on", "", "ENFORCE\n", "enforce dry_run"])
def test_wrong_mode_is_explained(content: str) -> None:
    """A mode in another case or word is named with what is accepted."""
    with pytest.raises(load.Broken, match="off, dry_run, enforce"):
        load.mode_in(content.encode(), "/x/policy_mode")


# --- examples


def by_words(tool: str, args: Any, session: Session) -> Judgement:
    """A judgement that takes a command apart at its spaces."""
    return Judgement(commands=(tuple(str(args.get("command", "")).split()),), paths=(str(args.get("path", "")),))


@pytest.mark.parametrize(
    ("examples_of", "place"),
    [({"block": ["other x"]}, "examples.block[0]"), ({"allow": ["ls", "tool x"]}, "examples.allow[1]"), ({"block": [["tool", "x"], {"parts": ["to", "ols"]}]}, "examples.block[1]")],
)  # fmt: skip
def test_rule_that_fails_its_own_examples_is_refused_by_name(examples_of: Any, place: str) -> None:
    """The rule and the example are named; the other rules stay."""
    kept, problems = examples.check([rule(examples=examples_of), rule(id="other")], judge=by_words)
    assert [one.id for one in kept] == ["other"] and "'r'" in problems[0] and place in problems[0]


def test_examples_that_hold() -> None:
    """A command line, its words, its parts and a tool with arguments are all examples."""
    of = rule(examples={"block": ["tool a", ["tool", "b"], {"parts": ["to", "ol c"]}, {"tool": "terminal", "args": {"command": {"parts": ["tool", " d"]}}}], "allow": ["ls"]})
    assert examples.check([of], judge=by_words) == ([of], [])


def test_safer_way_must_be_allowed_itself() -> None:
    """A rule whose advice another rule denies is refused."""
    _, problems = examples.check([rule(id="a", argv=["x"], instead="Use `tool y`."), rule()], judge=by_words)
    assert len(problems) == 1 and "'instead'" in problems[0] and "'r'" in problems[0]


def test_judgement_that_fails_refuses_the_rule() -> None:
    """An example that cannot be judged proves nothing."""

    def failing(*_: Any) -> Judgement:
        raise RuntimeError("no")

    kept, problems = examples.check([rule(examples={"allow": ["ls"]})], judge=failing)
    assert not kept and "could not be judged" in problems[0]


def test_examples_cost_a_bounded_time() -> None:
    """Behind its budget the rest is taken as it is: a hook waits for it."""

    def slow(*_: Any) -> Judgement:
        time.sleep(0.01)
        return Judgement()

    began = time.perf_counter()
    examples.check([rule(examples={"allow": ["ls"] * 90})], 0.05, slow)
    assert time.perf_counter() - began < 0.5


# --- the pack


def test_example_pack_is_well_formed_and_names_every_effect() -> None:
    """policy.example.json parses, every rule has examples of both kinds, and no effect is left out."""
    made, problems = validate.rules_of(json.loads(EXAMPLE.read_text()))
    assert not problems
    assert Policy.of(tuple(made)).effects == set(EFFECTS)
    assert all({example.blocks for example in one.examples} == {True, False} and one.instead for one in made)


def test_example_pack_does_what_it_says() -> None:
    """Every rule of the pack holds its own examples."""
    if not judge.judge("terminal", {"command": "ls"}, Session()).commands:
        pytest.skip("the judgement of commands is not in this checkout")
    assert load.parse(EXAMPLE.read_bytes(), "policy.example.json").problems == ()
