"""Whatever a call is given: no exception, no hang, and a verdict that harmless text around a command does not change."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_ledger.policy.judge import judge
from agent_ledger.policy.model import SOME, UNKNOWN
from tests.policy import test_machine_code_runs as code_runs
from tests.policy import test_machine_deletes as deletes
from tests.policy import test_machine_oversight as oversight
from tests.policy import test_machine_secrets as secrets
from tests.policy import test_machine_wrappers as wrapped
from tests.policy.words_machine import Talk, kinds, line, table

MOST = 65_536
DEADLINE_S = 0.8  # of any input, on a machine that is busy
CORPUS = Path(__file__).parents[3] / "shared" / "policy" / "corpus-dev.jsonl"

DANGEROUS = table(
    deletes.DELETES + wrapped.RUNS + secrets.SHOWN + secrets.SENT + code_runs.DOWNLOADS + code_runs.SHELLS_AWAY
    + code_runs.MULTIPLIES + code_runs.PLANTED + oversight.TAMPERS
)  # fmt: skip
HARMLESS = table(
    deletes.KEEPS + wrapped.CALM_RUNS + secrets.USED + code_runs.FETCHES + code_runs.TALKS + code_runs.LOOPS
    + code_runs.SETTINGS + oversight.LOOKS
)  # fmt: skip
if CORPUS.exists():
    for case in map(json.loads, CORPUS.read_text().splitlines()):
        if case.get("tool") == "terminal":
            (DANGEROUS if case["expect"] == "block" else HARMLESS).append(case["args"]["command"])


def _one_line(command: str) -> bool:
    return not re.search(r"[\n#]|<<|[;&]\s*$", command)


def _named(command: str) -> bool:
    """The line begins with the plain name of a program, not with a word of the grammar or of PowerShell."""
    first = re.match(r"[a-z0-9_.-]+(?= |$)", command)
    grammar = "if for while until case function select time coproc iwr iex irm ri del rd erase".split()
    return first is not None and first[0] not in grammar


AROUND: dict[str, Callable[[str], str | None]] = {
    "a command in front": lambda text: "echo hi; " + text,
    "and": lambda text: "true && " + text,
    "or": lambda text: "false || " + text,
    "a comment behind": lambda text: text + " # done" if _one_line(text) else None,
    "a comment in front": lambda text: "# first\n" + text,
    "a command behind": lambda text: text + "\nls",
    "a command behind on the line": lambda text: text + "; ls" if _one_line(text) else None,
    "white space": lambda text: " \t " + text + "   \n",
    "a subshell": lambda text: f"( {text}\n)",
    "a group": lambda text: f"{{ {text}\n}}",
    "a condition": lambda text: f"if true; then {text}\nfi",
    "a loop": lambda text: f"for q in 1; do {text}\ndone",
    "a quoted name": lambda text: re.sub(r"^(\S+)", r'"\1"', text) if _named(text) else None,
    "a backslash": lambda text: "\\" + text if _named(text) else None,
    "many commands in front": lambda text: "echo x; " * 300 + text,
    **{
        other: lambda text, other=other: other + "\n" + text  # type: ignore[misc]
        for other in ("export Y=2", "mkdir -p b", "a=(1 2)", "f0() { ls; }", "cat <<E\nhi\nE", "set -euo pipefail", "sleep 1 &",
                      "[ -d x ] && echo y", "echo $(date)", "case x in y) ls;; esac", 'echo "it\'s"', "pushd . && popd")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", AROUND)
def test_harmless_text_around_changes_no_verdict(name: str) -> None:
    """Neither is a dangerous command hidden by it, nor a harmless one accused."""
    chosen = random.Random(name)  # noqa: S311
    flipped = []
    for examples in (DANGEROUS, HARMLESS):
        for command in chosen.sample(examples, min(250, len(examples))):
            changed = AROUND[name](command)
            if changed is not None and bool(kinds(changed)) != bool(kinds(command)):
                flipped.append(changed)
    assert not flipped


def _mutated(text: str, dice: random.Random) -> str:
    pieces = list(text)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(pieces) + 1)
        match dice.randrange(5):
            case 0:
                pieces[at:at] = dice.choice(["'", '"', "`", "$(", ")", "${", "}", "{", "<<E\n", "\\", "\n", "|", "&", ";", "((", "\0", "\ud800", UNKNOWN, SOME, "é", "*", "~"])
            case 1:
                del pieces[at : at + dice.randint(1, 5)]
            case 2:
                pieces[at:at] = pieces[: dice.randint(0, 40)]
            case 3:
                other = dice.choice(DANGEROUS)
                pieces[at:at] = other[: dice.randint(0, len(other))]
            case _:
                pieces = pieces * dice.randint(1, 3)
    return "".join(pieces)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_examples_raise_nothing(seed: int) -> None:
    """Cut, doubled, mixed, with quotes and brackets put in anywhere; what they leave is remembered and read again."""
    dice = random.Random(seed)  # noqa: S311
    talk = Talk()
    for _ in range(400):
        text = _mutated(dice.choice(DANGEROUS + HARMLESS), dice)
        begin = time.monotonic()
        talk.run(text)
        assert time.monotonic() - begin < DEADLINE_S, text
    talk.restarted().run("ls")


WORDS = st.sampled_from([*" \n;|&(){}<>$`'\"\\*?~=#!", "<<E\n", "$(", "${x", "rm", "-rf", "/", "x=", "$x", "f()", "do", "done", "for",
                         "while", "if", "fi", "case", "esac", "cat", "eval", "bash", "-c", "xargs", "find", "-exec", "env", "su" "do", "cd"])  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(max_size=200), st.lists(WORDS, max_size=60).map("".join), st.lists(WORDS, max_size=60).map(" ".join)))
def test_any_text_raises_nothing(text: str) -> None:
    """Text of any characters, and every order of the words of a shell."""
    talk = Talk()
    talk.run(text)
    talk.write("a.sh", text)
    talk.run("@bash a.sh; cat a.sh | @sh; @eval \"$(cat a.sh)\"")


@pytest.mark.parametrize("args", [None, 3, [], {}, {"command": None}, {"command": 3}, {"command": ["ls"]}, {"command": "ls", "workdir": 3},
                                  {"command": "ls", "workdir": "\0"}, {"command": b"ls"}])  # fmt: skip
@pytest.mark.parametrize("tool", ["terminal", "write_file", "patch", "execute_code", "mcp__a__b", ""])
def test_any_arguments_raise_nothing(tool: str, args: object) -> None:
    """Whatever the host passes on."""
    talk = Talk()
    judge(tool, args, talk.session)
    talk.session.delta()


BOMBS = {
    "substitutions in substitutions": "$(" * 1000 + "x" + ")" * 1000,
    "groups in groups": "{ " * 1000 + "x" + "; }" * 1000,
    "functions that call each other": "a() { b; b; }; b() { a; a; }; a",
    "functions that call two each": "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }};" for n in range(40)) + "f0",
    "aliases that call two each": "".join(f"alias a{n}='a{n + 1}; a{n + 1}';" for n in range(40)) + "a0",
    "files that call two each": "".join(f"echo 'sh g{n + 1}; sh g{n + 1}' > g{n};" for n in range(60)) + "sh g0",
    "braces": "echo " + "a{1..100}{1..100}{1..100} " * 2000,
    "braces in braces": "echo " + "{a," * 3000 + "b" + "}" * 3000,
    "loops in loops": "for a in {1..20}; do " * 20 + "date" + "; done" * 20,
    "a variable that doubles": "x=aaaaaaaaaa;" + "x=$x$x;" * 3000 + "echo $x",
    "an export that doubles": "x=aaaaaaaaaa;" + "export x=$x$x;" * 3000,
    "an array that doubles": "a=(x);" + 'a+=("${a[@]}" "${a[@]}");' * 1000,
    "parameters that double": "set -- x;" + 'set -- "$@" "$@";' * 1000,
    "a long word of long variables": "x=" + "a" * 30_000 + ";echo " + "$x" * 10_000,
    "a replacement that grows": "x=aaaa;" + "x=${x//a/aaaa};" * 2000,
    "holes that are filled": "x=" + "%" * 30_000 + "; echo $x | xargs -I% echo $x$x",
    "holes of find": "find . -exec echo " + "{}" * 20_000 + " ;",
    "wrappers": "env " * 15_000 + "ls",
    "eval": "eval " * 12_000 + "ls",
    "pipes": "echo " + "a" * 30_000 + " | rev" * 4000,
    "encoded again and again": "echo " + "a" * 30_000 + " | base64" * 3000,
    "appended again and again": "cat f f f f >> f; echo aaa >> f;" * 2000,
    "start-up files": "cat ~/.bashrc ~/.bashrc >> ~/.bashrc; echo ls >> ~/.bashrc;" * 800,
    "links": "".join(f"ln -s l{n + 1} l{n};" for n in range(3000)) + "rm l0/x",
    "a path": "cat " + "a/" * 30_000,
    "a path of secret words": "cat " + ".config/google-chrome/" * 2900 + "x",
    "a name of secret words": "cat " + "private" * 9000 + "x.pem",
    "patterns": "x=" + "a" * 2000 + ";" + "echo ${x##*a*a*a*a*b};" * 3000,
    "heredocs": "".join(f"cat <<E{n}\nx $(ls)\nE{n}\n" for n in range(2500)),
    "quotes": "'" * MOST, "double quotes": '"' * MOST, "backslashes": "\\" * MOST, "brackets": "(" * MOST, "ampersands": "&" * MOST,
    "commands": ": ;" * 20_000, "globs": "rm " + "*/" * 30_000, "operands": "rm -r " + "a/ " * 20_000, "unknown": UNKNOWN * MOST,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_judged_in_time(name: str) -> None:
    """What grows or nests without end is bounded."""
    best = min(_seconds(BOMBS[name][:MOST]) for _ in range(2))
    assert best < DEADLINE_S


@pytest.mark.parametrize("name", ["functions that call two each", "loops in loops", "a variable that doubles", "an array that doubles"])
def test_nothing_hides_behind_a_bomb(name: str) -> None:
    """Each command of the line has something left to be judged with."""
    assert "recursive_delete" in kinds(BOMBS[name].removesuffix("echo $x") + line("; @DEL /; X=/etc; echo '@DEL /' | @bash"))


@pytest.mark.parametrize("piece", ["ls -la src\n", "x=1; echo \"$x\" | grep a\n", "# note\n", "echo 'a b' >> f\n", "abc ", "'x' "])
def test_time_grows_with_the_length(piece: str) -> None:
    """A text of 1 MB takes at most twice the time for a character that one of 250 KB does, and its first part is not passed over."""
    short, long = piece * (250_000 // len(piece)), piece * (1_000_000 // len(piece))
    assert min(_seconds(long) for _ in range(3)) <= 8 * min(_seconds(short) for _ in range(3)) + 0.05
    assert kinds(line("@DEL /\n") + long)


def _seconds(command: str) -> float:
    kinds("ls")  # what is only imported once
    begin = time.perf_counter()
    Talk().run(command)
    return time.perf_counter() - begin
