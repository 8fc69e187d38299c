"""What the policy says about one call, and what the agent reads."""

from __future__ import annotations

import time

import pytest

from agent_ledger.policy import decide as deciding
from agent_ledger.policy.decide import Decision, decide
from agent_ledger.policy.linear import Linear
from agent_ledger.policy.model import UNKNOWN, Effect
from agent_ledger.policy.rules import Called, Match, OfArgument, OfCommand, OfEffect, OfWords, Policy, Rule

CALL = Called("terminal", {"command": "x"})
TREE = Effect("recursive_delete", "remove /home/dev/project", "/home/dev/project")


def rule(identity: str, match: Match, severity: str = "high", denies: bool = True) -> Rule:
    return Rule(identity, severity, f"why {identity}", f"do better than {identity}", match, denies)


def policy(*rules: Rule) -> Policy:
    return Policy.of(rules, "sha")


def test_nothing_hit_is_allowed() -> None:
    """A call that no rule hits may run, and was judged."""
    assert decide((TREE,), (), CALL, policy(rule("disk", OfEffect("disk")))) == Decision("allow")
    assert decide((), (), CALL, policy()) == Decision("allow")


@pytest.mark.parametrize(("enforce", "word"), [(True, "blocked"), (False, "would_block")])
def test_a_hit_is_refused_or_only_noted(enforce: bool, word: str) -> None:
    """Enforce blocks, dry run says that it would."""
    found = decide((TREE,), (), CALL, policy(rule("tree", OfEffect("recursive_delete"))), enforce)
    assert (found.decision, found.rule, found.severity) == (word, "tree", "high")
    assert (found.kind, found.target, found.what) == ("recursive_delete", TREE.target, TREE.what)


def test_deny_beats_allow() -> None:
    """A rule that allows never opens what another denies, however grave either is."""
    allowing = rule("fine", OfEffect("recursive_delete"), "critical", denies=False)
    assert decide((TREE,), (), CALL, policy(allowing)).rule == "fine"
    assert decide((TREE,), (), CALL, policy(allowing, rule("no", OfEffect("recursive_delete"), "low"))).rule == "no"


def test_the_gravest_rule_speaks() -> None:
    """Of several rules the gravest is named, then the first."""
    commands = (("tool", "x"),)
    rules = [rule("b", OfWords((("tool",), ("...",))), "low"), rule("a", OfCommand(Linear("tool")), "high"), rule("c", OfWords((("tool",), ("...",))), "high")]
    assert decide((), commands, CALL, policy(*rules)).rule == "a"


def test_signature_names_what_it_hit() -> None:
    """Without an effect, a second try is known by rule and target."""
    found = decide((), (("tool", "x"),), CALL, policy(rule("sig", OfWords((("tool",), ("...",))))))
    assert (found.kind, found.target) == ("rule:sig", "tool x")


def test_message_says_rule_act_reason_and_safer_way() -> None:
    """Four short facts, one a line; what is not known stands as an ellipsis, and a long act is cut."""
    found = Decision("blocked", "tree", "critical", "It is all there is.", "Name one folder.", f"remove {UNKNOWN}/x\n" + "y" * 500)
    lines = found.message.split("\n")
    assert lines[0].startswith("Refused by policy rule tree (critical): remove …/x y") and len(lines[0]) < 260
    assert lines[1:] == ["Why: It is all there is.", "Instead: Name one folder."]


def test_rule_that_takes_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Behind the time for expressions a rule is not asked, the log says so, and the others still are."""
    monkeypatch.setattr(deciding, "REGEX_S", -1.0)
    found = decide((), (("tool", "x"),), CALL, policy(rule("slow", OfCommand(Linear("t.*z?x")), "critical"), rule("quick", OfWords((("tool",), ("...",))))))
    assert found.rule == "quick" and "slow" in caplog.text


def test_hostile_arguments_raise_nothing_of_their_own() -> None:
    """Arguments of any type are looked at by name only."""
    of = policy(rule("arg", OfArgument(("a",), frozenset({"x"}))))
    for args in (None, 5, "a", [1], {"a": object()}, {"a": {"b": 1}}, {1: 2}):
        assert decide((), (), Called("t", args), of).decision == "allow"


def test_a_decision_is_quick() -> None:
    """Thirty rules over ten commands take well under a tenth of a millisecond when nothing is hit."""
    effects = [rule(f"e{n}", OfEffect("disk")) for n in range(18)]
    signatures = [rule(f"s{n}", OfWords(((f"prog{n}",), ("...",)))) for n in range(9)]
    regexes = [rule(f"r{n}", OfCommand(Linear(f"^prog{n} .*--force"))) for n in range(3)]
    of, commands = policy(*effects, *signatures, *regexes), tuple(("git", "status", "--short", f"x{n}") for n in range(10))
    decide((), commands, CALL, of)
    times = []
    for _ in range(200):
        began = time.perf_counter()
        decide((), commands, CALL, of)
        times.append(time.perf_counter() - began)
    assert sorted(times)[20] < 300e-6
