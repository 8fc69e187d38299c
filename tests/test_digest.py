"""Digests of arguments and results: bounded, redacted, canonical, and never an exception."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import hashlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.digest import (
    LARGE,
    MAX_ARGS,
    MAX_RESULT,
    MAX_SUMMARY,
    args_key,
    clean_error,
    clean_id,
    digest_args,
    digest_args_with_key,
    digest_result,
    summarize,
)

BODY = "A1b2C3d4E5f6G7h8J9k0L1m2N3p4Q5r6S7t8"
TOKEN = "gh" + "p_" + BODY


class Hostile:
    """An object whose every method raises."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("hostile value")

    __repr__ = __str__ = __bool__ = __hash__ = __eq__ = __len__ = __iter__ = _refuse  # type: ignore[assignment]


class HostileDict(dict):  # type: ignore[type-arg]
    """A dict that cannot be read."""

    def _refuse(self, *_: object) -> Any:
        raise SystemExit(3)

    items = keys = values = __iter__ = __len__ = __getitem__ = _refuse  # type: ignore[assignment]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def check(digest: Any) -> None:
    """What holds for every digest."""
    assert len(digest.json) <= MAX_ARGS
    json.loads(digest.json)
    assert sqlite3.connect(":memory:").execute("SELECT json_valid(?)", (digest.json,)).fetchone() == (1,)
    assert len(digest.sha256) == 64
    assert digest.length > 0


def test_short_arguments_are_stored_whole() -> None:
    """What is not cut can be checked from the row itself."""
    digest = digest_args({"workdir": "/w", "command": "make é"})

    assert digest.json == '{"command":"make é","workdir":"/w"}'
    assert (digest.sha256, digest.length, digest.marks) == (sha(digest.json), len(digest.json), ())


def test_key_order_does_not_matter() -> None:
    """The same arguments in another order give the same digest, at any depth."""
    assert digest_args({"a": {"x": 1, "y": [2]}, "b": 3}) == digest_args({"b": 3, "a": {"y": [2], "x": 1}})


def test_redaction_comes_before_hash_and_length() -> None:
    """Hash and length are of the redacted text."""
    digest = digest_args({"command": f"deploy {TOKEN}", "password": "hunter2"})

    assert digest.json == '{"command":"deploy [redacted]","password":"[redacted]"}'
    assert (digest.sha256, digest.length) == (sha(digest.json), len(digest.json))


def test_a_token_behind_an_escape_is_redacted() -> None:
    """A line break before a token is an escape in JSON; the token is known all the same."""
    assert BODY not in digest_args({"content": f"a\n{TOKEN}\nb"}).json


def test_mode_full_keeps_secrets_and_mode_hash_keeps_names_only() -> None:
    """The three modes differ in what is stored; hash mode has the redacted hash."""
    args = {"command": f"deploy {TOKEN}"}

    assert TOKEN in digest_args(args, "full").json
    assert digest_args(args, "hash").json == '{"keys":["command"]}'
    assert digest_args(args, "hash").sha256 == digest_args(args).sha256


def test_long_arguments_keep_their_small_values() -> None:
    """The cut falls into the long value, and says how much it took."""
    digest = digest_args({"path": "/work/a.txt", "content": "word " * 9000, "mode": "w"})
    stored = json.loads(digest.json)

    check(digest)
    assert stored["path"] == "/work/a.txt"
    assert stored["mode"] == "w"
    assert "chars]" in stored["content"]
    assert len(digest.json) > MAX_ARGS - 200
    assert digest.length > 45_000


@pytest.mark.parametrize("shift", range(3900, 4030, 3))
def test_a_secret_across_the_cut_leaves_nothing_behind(shift: int) -> None:
    """Cutting comes after redaction."""
    assert TOKEN[:12] not in digest_args({"path": "/w", "content": "x " * (shift // 2) + TOKEN + " y" * 3000}).json


@pytest.mark.parametrize("shift", range(11_400, 12_100, 20))
def test_a_secret_across_the_window_of_a_large_text_leaves_nothing_behind(shift: int) -> None:
    """Even where a key block before it makes room, half a token at the window's end is not stored."""
    block = "-----BEGIN PRI" + "VATE KEY-----\n" + "A" * 9000 + "\n-----END PRI" + "VATE KEY-----\n"
    text = block + "x " * ((shift - len(block)) // 2) + TOKEN + "y " * LARGE

    assert TOKEN[:12] not in digest_args({"content": text}).json
    assert TOKEN[:12] not in digest_result(text)
    assert TOKEN[:12] not in summarize("x", (text,))


ODD: list[Any] = [
    b"raw\xff\x00",
    bytearray(b"x"),
    {"b", "a"},
    frozenset((1,)),
    float("nan"),
    float("inf"),
    "x\ud800y",
    10**5000,
    Hostile(),
    [Hostile()],
    {1: "a", "1": "b"},
    {None: 1, (1, 2): 2, b"k": 3},
    HostileDict(a=1),
    deep(100_000),
    object(),
    int,
    len,
    (i for i in ()),
    memoryview(b"x"),
    RuntimeError("x"),
    datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    pathlib.PurePosixPath("a/b"),
    decimal.Decimal("1.5"),
]


@pytest.mark.parametrize("index", range(len(ODD)))
def test_odd_values_are_recorded_and_marked(index: int) -> None:
    """What is not JSON is stored as far as possible, beside what is."""
    for args in ({"path": "/w", "content": ODD[index]}, ODD[index], [ODD[index]]):
        digest, key = digest_args_with_key(args)

        check(digest)
        assert digest.marks == ("odd_args",)
        assert key is None
    assert '"path":"/w"' in digest_args({"path": "/w", "content": ODD[index]}).json


@pytest.mark.parametrize("value", [None, 7, True, 1.5, "text", [], [1, "a"], {}, 2**70, "nul\0byte", (1, 2), -0.0])
def test_plain_values_are_not_marked(value: object) -> None:
    """Anything that JSON can hold is ordinary."""
    digest = digest_args({"a": value})

    check(digest)
    assert digest.marks == ()
    assert digest.sha256 == sha(digest.json)


def test_odd_values_are_readable() -> None:
    """Bytes, sets, dates, paths and dataclasses show what they hold."""

    @dataclasses.dataclass
    class Point:
        x: int
        password: str

    stored = digest_args(
        {
            "b": b"raw\xff",
            "s": {"b", "a"},
            "p": pathlib.PurePosixPath("a/b"),
            "d": Point(1, "hunter2"),
            "t": datetime.date(2026, 1, 2),
            "n": float("-inf"),
        }
    ).json

    for text in ("raw\\\\xff", '["a","b"]', '"a/b"', "2026-01-02", '"x":1', "Infinity"):
        assert text in stored
    assert "hunter2" not in stored


def test_cycles_are_cut() -> None:
    """A value that holds itself is stored once."""
    loop: dict[str, Any] = {"name": "loop"}
    loop["self"] = loop

    assert digest_args(loop).json == '{"name":"loop","self":"[cycle]"}'


def test_arguments_are_not_changed() -> None:
    """Neither redaction nor cutting touches the caller's value."""
    args = {"password": "hunter2", "content": ["x" * 9000, {"token": "t"}]}
    before = json.dumps(args)
    digest_args(args)

    assert json.dumps(args) == before


def test_equal_arguments_give_equal_hashes_in_any_process() -> None:
    """No hash seed and no address reaches the hash."""
    program = (
        "import pathlib\nfrom agent_ledger.digest import digest_args\nclass A: pass\n"
        "print(digest_args({'s': set('abcdefgh'), "
        "'p': pathlib.PurePosixPath('x'), 'o': [A(), len, {1, 'a', None}]}).sha256)"
    )
    root = pathlib.Path(__file__).resolve().parent.parent
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=root,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,  # noqa: S603
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(seen) == 1


def test_the_hash_does_not_depend_on_the_stack() -> None:
    """The same deep value has the same digest wherever it is taken."""
    args = {"a": deep(90)}

    def below(levels: int) -> str:
        return below(levels - 1) if levels else digest_args(args).sha256

    assert below(400) == digest_args(args).sha256


@pytest.mark.parametrize(
    "content",
    [
        "0123456789abcde " * 3_200_000,
        "a\n" * 12_000_000,
        list(range(3_000_000)),
        ["abcdefgh"] * 3_000_000,
        [{"a": 1}] * 3_000_000,
        deep(2000) + [[]] * 600_000,
        {str(i): i for i in range(500_000)},
    ],
    ids=["text", "lines", "ints", "words", "dicts", "lists", "keys"],
)
def test_huge_arguments_take_bounded_time(content: Any) -> None:
    """Fifty megabytes are marked and digested well within what a hook may take."""
    start = time.thread_time()
    digest = digest_args({"path": "/w", "content": content, "password": "hunter2"})
    took = time.thread_time() - start

    check(digest)
    assert "large" in digest.marks
    assert '"path":"/w"' in digest.json
    assert "hunter2" not in digest.json
    assert took < 2.0  # 0.4 here; other machines are slower


def test_large_text_has_its_true_length_and_raw_hash() -> None:
    """Above LARGE the hash is over the raw text."""
    args = {"content": "a" * LARGE + TOKEN}
    raw = json.dumps(args, separators=(",", ":"))
    digest = digest_args(args)

    assert (digest.length, digest.sha256, digest.marks) == (len(raw), sha(raw), ("large",))


def test_keys_compare_raw_arguments() -> None:
    """Equal arguments have equal keys, others do not, and a secret makes a difference."""
    assert args_key({"a": 1, "b": 2}) == args_key({"b": 2, "a": 1}) == digest_args_with_key({"a": 1, "b": 2})[1]
    assert args_key({"password": "x"}) != args_key({"password": "y"})
    assert args_key({"a": "x" * 20_000}) == digest_args_with_key({"a": "x" * 20_000})[1]
    assert len({args_key({"a": "x" * n}) for n in (1, 9000, 300_000)}) == 3
    assert args_key({"a": Hostile()}) is None


def test_summaries_join_the_name_and_the_parts() -> None:
    """The tool's name stands first, once."""
    assert summarize("cronjob", ("create", '"backup-daily"')) == 'cronjob create "backup-daily"'
    assert summarize("cronjob", ("cronjob", "create")) == "cronjob create"
    assert summarize("x", ()) == "x"


def test_summaries_are_one_short_line() -> None:
    """Line breaks, terminal codes and direction marks go; a long line ends in an ellipsis."""
    line = summarize("terminal", ("a\r\nb\x1b[31m\u202ec\u2028d\x00e", "x" * 500))

    assert line.isprintable()
    assert len(line) == MAX_SUMMARY
    assert line.endswith("…")


@pytest.mark.parametrize("shift", range(60, 130, 3))
def test_a_secret_across_the_end_of_a_summary_leaves_nothing_behind(shift: int) -> None:
    """The cut of a summary comes after redaction."""
    assert TOKEN[:12] not in summarize("terminal", ("x " * (shift // 2) + TOKEN,))


@pytest.mark.parametrize("shift", range(240, 320, 3))
def test_a_secret_across_the_end_of_a_result_leaves_nothing_behind(shift: int) -> None:
    """The cut of a result comes after redaction, as text and as JSON."""
    text = "x " * (shift // 2) + TOKEN + " end" * 200

    assert TOKEN[:12] not in digest_result(text)
    assert TOKEN[:12] not in digest_result(json.dumps({"output": text, "exit_code": 0}))
    assert TOKEN[:12] not in digest_result({"output": text})


def test_results_of_every_type_become_one_line() -> None:
    """Texts, dicts, bytes, errors and hostile objects."""
    assert digest_result('{"output": "built"}') == '{"output": "built"}'
    assert digest_result({"output": "a\nb", "n": 1}) == '{"n":1,"output":"a\\nb"}'
    assert digest_result("a\n\n  b\tc") == "a b c"
    assert digest_result(None) == ""
    assert digest_result(b"raw") == "raw"
    assert "boom" in clean_error(ValueError("boom"))
    assert digest_result(Hostile()) == "[Hostile]"
    assert len(digest_result("word " * 1000)) == MAX_RESULT


def test_results_are_redacted_by_structure_too() -> None:
    """A JSON text with an argument list or a named value gives nothing away."""
    for value in (
        {"argv": ["mysql", "-phunter2"]},
        {"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]},
        {"password": "hunter2"},
    ):
        assert "hunter2" not in digest_result(value)
        assert "hunter2" not in digest_result(json.dumps(value))


def test_huge_results_take_bounded_time() -> None:
    """A result of fifty megabytes costs little, whatever its type."""
    for result in ("x y" * 16_000_000, {"a": ["abcdefgh"] * 5_000_000}, b"x" * 50_000_000, {"a": "x" * 50_000_000}):
        start = time.thread_time()

        assert 0 < len(digest_result(result)) <= MAX_RESULT
        assert time.thread_time() - start < 0.5


def test_ids_are_kept_as_text() -> None:
    """Texts stay, numbers are spelled, anything else is no id."""
    assert [clean_id(v) for v in ("call_1", 7, None, True, 1.5, ["x"], b"b", Hostile())] == [
        "call_1",
        "7",
        "",
        "",
        "",
        "",
        "",
        "",
    ]
    assert clean_id("x" * 300) == "x" * 200
    clean_id("a\ud800").encode()


_LEAF = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    st.text(alphabet="a\ud800\udfff\0\n", max_size=5),
    st.integers(min_value=10**4400, max_value=10**4401),
    st.builds(Hostile),
    st.sets(st.integers() | st.text(max_size=3), max_size=4),
    st.builds(object),
    st.builds(lambda: HostileDict(a=1)),
    st.decimals(),
    st.datetimes(),
    st.text(min_size=3000, max_size=3100),
)
_ANYTHING = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.tuples(inner, inner)
        | st.dictionaries(
            st.text(max_size=8) | st.integers() | st.none() | st.floats() | st.binary(max_size=3), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@settings(max_examples=120, deadline=None)
@given(_ANYTHING, st.sampled_from(["redacted", "full", "hash"]))
def test_anything_at_all_has_a_digest(value: object, mode: str) -> None:
    """No value raises; every digest is bounded, valid JSON, and the same the second time."""
    digest = digest_args(value, mode)

    check(digest)
    assert digest == digest_args(value, mode)
    assert args_key(value) == digest_args_with_key(value)[1]
    for text, limit in (
        (digest_result(value), MAX_RESULT),
        (clean_error(value), MAX_RESULT),
        (summarize("x", (value,)), MAX_SUMMARY),
    ):  # type: ignore[arg-type]
        assert len(text) <= limit
        assert text.isprintable()
        text.encode()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=6), st.randoms(use_true_random=False))
def test_json_arguments_have_a_checkable_digest_in_any_order(args: dict[str, Any], random: Any) -> None:
    """Hash and length are those of the stored text whenever nothing was cut, and key order never matters."""
    names = list(args)
    random.shuffle(names)
    digest = digest_args(args)

    assert digest == digest_args({name: args[name] for name in names})
    if "odd_args" not in digest.marks and digest.length <= MAX_ARGS:
        assert (digest.sha256, digest.length) == (sha(digest.json), len(digest.json))
        assert json.loads(digest_args(args, "full").json) == args


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 4500), st.integers(0, 5000), st.sampled_from([" ", "\n", "é ", '"', "\\n", ", "]))
def test_no_part_of_a_token_is_stored_wherever_it_stands(before: int, after: int, filler: str) -> None:
    """Neither arguments, results nor summaries hold the head of a token."""
    text = filler * before + TOKEN + filler + "z" * after

    for stored in (
        digest_args({"c": text}).json,
        digest_result(text),
        digest_result({"c": text}),
        summarize("x", (text,)),
    ):
        assert TOKEN[:12] not in stored
