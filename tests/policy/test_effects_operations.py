"""The table of all judges of operations."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_ledger.policy.effects import operations, places, verbs
from agent_ledger.policy.model import SOME, UNKNOWN, Command, Value
from agent_ledger.policy.options import parse
from tests.policy.recording import Recording, judged, resolved

ALL = [*operations.PROGRAMS.items(), *((prefix + "x", judge) for prefix, judge in operations.FAMILIES.items())]
WORDS = st.lists(
    st.one_of(
        st.text(alphabet=string.ascii_letters + "-=/:.*~@+%" + UNKNOWN + SOME, max_size=8),
        st.sampled_from("-f --force -a --all -r -R delete rm drop down run -- -X DELETE /dev/sda / . --delete destroy".split()),
    ),
    max_size=6,
)


def test_no_program_has_two_judges() -> None:
    """A name stands in one module's table, so none is lost when they are put together."""
    names = [name for room in operations.ROOMS for name in room.PROGRAMS]

    assert len(names) == len(set(names)) == len(operations.PROGRAMS)


@given(WORDS, st.sampled_from(["", "/home/dev/project", UNKNOWN]), st.one_of(st.none(), st.text(max_size=20)))
def test_no_judge_raises(words: list[str], cwd: str, stdin: str | None) -> None:
    """Whatever the words, the folder and the input."""
    for name, judge in ALL:
        given_input = None if stdin is None else Value(stdin)
        judge(Command(name, [Value(word) for word in words], cwd, given_input), Recording(cwd))


@pytest.mark.parametrize("line", ["aws-vault exec live -- ls -l", "doppler run -- ls -l", "railway run -- ls -l"])
def test_a_command_with_lent_credentials_is_run(line: str) -> None:
    """What follows the two dashes is judged by itself."""
    assert judged(operations.PROGRAMS, line).said == [("argv", "ls", "-l")]


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("a", "/srv", "/srv/a"),
        ("../a/./b", "/srv/x", "/srv/a/b"),
        ("//etc", "/srv", "/etc"),
        (UNKNOWN, "/srv", UNKNOWN),
        (SOME + "/a", "/srv", SOME + "/a"),
        ("a", UNKNOWN, UNKNOWN + "/a"),
        ("a", "", UNKNOWN + "/a"),
    ],
)
def test_paths_are_resolved_as_far_as_they_are_known(path: str, cwd: str, expected: str) -> None:
    """What starts with something unknown may be absolute, and stays as it is."""
    assert places.resolve(path, cwd) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/*", "/"), ("*", "/srv"), ("./*", "/srv"), ("..", "/"), ("a/*", "/srv/a"), (UNKNOWN + "/", "/"),
        (UNKNOWN + "/*", UNKNOWN), ("/", "/"),
    ],
)  # fmt: skip
def test_a_pattern_for_all_means_the_folder(path: str, expected: str) -> None:
    """A recursive command on a pattern for everything works on the folder."""
    assert places.tree(path, "/srv") == expected


def test_names_for_tests_are_told_from_others() -> None:
    """A whole word that means test, or a word that starts or ends with it."""
    for name in ("test", "app_test", "testdb", "apptest", "tmp-1", "postgres://h/app_test?x=y", "ci", "a.test.yml"):
        assert places.is_test_name(name), name
    for name in ("app", "latest", "contest", "testimonials", "production", "city", "template", UNKNOWN + "test"):
        assert not places.is_test_name(name), name


def test_a_repeated_option_gives_all_its_values() -> None:
    """In every spelling, and not what belongs to another option."""
    args = resolved("x -e a -eb -qe c --exec=d --exec e -o -e f -- -e g").args

    assert [value.text for value in verbs.every(args, ("-e", "--exec"), ("-o",))] == ["a", "b", "c", "d", "e"]
    assert parse(args, ("-e", "--exec", "-o")).values["-e"].text == "c"


def test_a_table_is_read_with_its_conditions() -> None:
    """Words and choices in order, options that must and that must not be there."""
    judge = verbs.judge("disk", "a|b * delete +-f|--force !-n : ends it", ("-x",))
    told = {
        "p a q delete -f": True, "p -x v b q delete --force z": True, "p a q delete": False, "p a q delete -f -n": False,
        "p a delete -f": False, "p c q delete -f": False, "p a q delete -f --dry-run": False,
        "p a q delete -f --dry-run=none": True, "p a q delete -f --help": False, "p help a q delete -f": False,
    }  # fmt: skip
    for line, expected in told.items():
        recording = Recording()
        judge(resolved(line), recording)
        assert recording.whats == (["p " + recording.whats[0][2:]] if expected else []), line


def test_what_is_said_is_short_and_printable() -> None:
    """Unknown parts are question marks, long ones are cut."""
    assert verbs.say("x", ["a", Value(UNKNOWN)], "ends it") == "x a ? (ends it)"
    assert verbs.say("x", [], "ends it") == "x (ends it)"
    assert len(verbs.say("x", ["a" * 500], "ends it")) < 100
