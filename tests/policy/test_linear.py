"""Regular expressions of a policy: the same answers as ``re``, in linear time."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.policy.linear import Linear, OutOfTime, PatternError

PATTERNS = [
    r"", r"a", r"ab|cd", r"a.c", r"^ab$", r"\bgit\b", r"\Bx", r"a*b", r"(a|b)*c", r"a{2,3}", r"a{3}", r"[a-c]+d", r"[^a]b",
    r"\d+\s\w", r"\D\S\W", r"(?i)AbC", r"a(?i:B)c", r"(?s)a.b", r"(?m)^b$", r"a$", r"\Aab\Z", r"(a+)+$", r"x??y", r"[\w.-]+@",
    r"(?:ab?){0,2}c", r"[]-]", r"é|ß", r"(?a)\w\b",
]  # fmt: skip
TEXTS = st.text(alphabet="abcdxyABC é_1 .\n@-git", max_size=12)


@pytest.mark.parametrize("pattern", PATTERNS)
@given(text=TEXTS)
@settings(max_examples=150, deadline=None)
def test_answers_are_those_of_re(pattern: str, text: str) -> None:
    """A pattern is found exactly where the interpreter's own engine finds it."""
    assert Linear(pattern).search(text) == bool(re.search(pattern, text))


@given(
    pattern=st.recursive(
        st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "^", "$", r"\b"]),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map("".join),
            st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
            st.tuples(inner, st.sampled_from(["*", "+", "?", "{0,2}", "{2}", "*?"])).map(lambda two: f"(?:{two[0]}){two[1]}"),
        ),
        max_leaves=6,
    ),
    text=st.text(alphabet="ab \n", max_size=8),
)
@settings(max_examples=300, deadline=None)
def test_any_pattern_answers_as_re_does(pattern: str, text: str) -> None:
    """So does any pattern put together from the parts that linear matching has."""
    assert Linear(pattern).search(text) == bool(re.search(pattern, text))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*x", ".*a.*b.*c.*d.*e", "(a?){30}a{30}", "(x+x+)+y", "(a|aa)+$"])
def test_a_pattern_that_backtracks_is_quick_all_the_same(pattern: str) -> None:
    """Thousands of characters take milliseconds where ``re`` would take years."""
    matcher, text = Linear(pattern), "ax" * 2000 + "a" * 4000 + "!"
    began = time.perf_counter()
    matcher.search(text)

    assert time.perf_counter() - began < 1.0


def test_many_states_do_not_grow_without_end() -> None:
    """A pattern with exponentially many states is cut in memory and bounded in time."""
    matcher, text = Linear("(a|b)*a(a|b){60}x"), "".join(random.Random(1).choices("ab", k=8000))  # noqa: S311
    with pytest.raises(OutOfTime):
        matcher.search(text + "x", time.monotonic() + 0.02)
    assert len(matcher._states) <= 500


@pytest.mark.parametrize("pattern", [r"(a)\1", r"(?=a)b", r"(?<!a)b", r"(?>a)b", r"a++", r"(?(1)a|b)()", r"(a){5000}", "a" * 1001, "(", "*a", "[z-a]", "((((a{50}){50}){50}){50})", "(?:(?:){9999}){9999}"])
def test_what_linear_matching_cannot_do_is_refused(pattern: str) -> None:
    """References, looking around and giants are refused when the policy loads, with a reason."""
    with pytest.raises(PatternError) as refused:
        Linear(pattern)
    assert str(refused.value)


def test_a_long_text_is_looked_at_up_to_the_bound() -> None:
    """The end of a text that was cut is no end."""
    assert not Linear("a$").search("a" * 9000)
    assert Linear("a$").search("a" * 8192)
