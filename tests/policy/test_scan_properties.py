"""What holds of the scanner for any text, and what two other readers of the shell say."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_bash
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Language, Parser

from agent_ledger.policy import scan
from agent_ledger.policy.syntax import Literal, Simple, Word

HERE = Path(__file__).parent
CORPUS = HERE.parents[2] / "shared" / "policy" / "corpus-dev.jsonl"
SHELL = shutil.which("bash")

PIECES = (
    "( (( )) ) { } ; ;; & && | || |& < > << <<- <<< <<E\n <<'E'\n E\n \n \r\n \t $( $(( ${ ${a:- ` \\` \" ' $' $\" \\ a b= c=( [[ ]] if then fi for in do done case "
    "esac while time ! coproc function f() # $x ${#a} $[ @( * {a,b} 2>&1 {fd}> &> =( <( \u00e9 \ud800 \0 \x0b ~ a[ 1]= select until elif else"
).split(" ")
shell_text = st.one_of(st.text(), st.lists(st.sampled_from([*PIECES, " ", "; "]), max_size=60).map("".join))


def texts(words: tuple[Word, ...]) -> list[str | None]:
    return [word.literal for word in words]


@given(shell_text)
def test_no_text_raises(text: str) -> None:
    """Every text has a script, and every script can be walked."""
    for command in scan.commands(scan.parse(text)):
        assert isinstance(command, Simple)


@given(st.lists(st.text(), min_size=1))
def test_quoted_text_is_one_literal(values: list[str]) -> None:
    """What `shlex.quote` makes of a text reads as that text, in one literal."""
    (item,) = scan.parse("echo " + shlex.join(values)).items
    assert isinstance(item.command, Simple)
    assert texts(item.command.words[1:]) == values
    for word, value in zip(item.command.words[1:], values, strict=True):
        assert word.parts in ((Literal(value, True),), (Literal(value, False),))


@given(st.lists(st.sampled_from((HERE / "shell_examples.txt").read_text().split("\n---\n")), max_size=4), shell_text)
def test_what_stands_before_is_read_alike(examples: list[str], behind: str) -> None:
    """Commands on their own lines read the same, whatever follows them."""
    alone = [command for example in examples for command in scan.commands(scan.parse(example + "\n"))]
    together = scan.commands(scan.parse("\n".join([*examples, behind])))
    assert [command for command, _ in zip(together, alone, strict=False)] == alone


@given(st.lists(st.sampled_from(["ls -l", "a=1 b", "echo 'x;y' \"z\"", "(a; b)", "{ c; }", "if d; then e; fi", "f() { g; }", "h > i"]), min_size=1))
def test_a_semicolon_joins_commands(lines: list[str]) -> None:
    """A list has the commands that its parts have."""
    alone = [command for line in lines for command in scan.commands(scan.parse(line))]
    assert list(scan.commands(scan.parse("; ".join(lines)))) == alone


HOSTILE = [
    *["'", '"', "`", "$(", "(", "{ ", "((", "$((", "${", "${a:-", "<(", "[[ ", "if ", "case a in ", "a=(", "a[", "@(", '"$(', "\\`", "$'", "$["],
    *["a ", "a", ";", "|", "a|", "a;", "!", "! ", ">&", "<<a ", "<<a\n", "\\a", "\\aa", "'a'b", '"a"b', "$a", "`a` ", "a()", "function a ", "coproc "],
    *["\n", "\\\n", "#", " ", "\0", "((a) b);", "((a;", "time ", "a=b ", "x$(a)", "for a in ", "cat <<E\n$a\n", "cat <<'E'\nE\n", "<<-'\t'\n\t"],
]


def seconds(text: str) -> float:
    """The shorter of two readings of the processor time: the machine may be busy."""
    took = []
    for _ in range(2):
        start = time.thread_time()
        scan.parse(text)
        took.append(time.thread_time() - start)
    return min(took)


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear(piece: str) -> None:
    """Four times the text takes four times as long, below the bounds and above them; a megabyte takes about a second."""
    for size in (12_000, 250_000):
        first, fourfold = seconds((piece * size)[:size]), seconds((piece * size)[: 4 * size])
        assert fourfold < 12 * first + 0.05
    assert fourfold < 3


def test_a_typical_command_takes_microseconds() -> None:
    """Far below what a decision may take; the bound leaves room for a busy machine."""
    text = "cd /srv/app && git pull --rebase origin main && npm ci && npm run build 2>&1 | tail -20"
    assert min(seconds(text) for _ in range(200)) < 200e-6


BASH_WORDS = st.lists(
    st.lists(
        st.sampled_from(["a", "b c", "'", '"', "\\", "\\\n", "$'", "x41", "\\n", "\\x41", "\\101", "\\u00e9", "\\'", "é", "#", "$", "-", "%", "\\\\"]),
        max_size=8,
    )
    .map("".join)
    .filter(lambda word: "$\\\n" not in word),  # nobody continues a line within an operator
    min_size=1,
    max_size=8,
)


@pytest.mark.skipif(SHELL is None, reason="no bash here")
@settings(max_examples=60, deadline=None)
@given(BASH_WORDS)
def test_quotes_read_as_bash_reads_them(words: list[str]) -> None:
    """Where ours is complete and without expansions, bash passes the same arguments to a command."""
    line = "printf '%s\\0' " + " ".join(["start", *words, "end"])  # a backslash at the very end is not the same to every bash
    script = scan.parse(line)
    command = script.items[0].command
    if not script.complete or len(script.items) != 1 or not isinstance(command, Simple) or None in texts(command.words):
        return
    run = subprocess.run([str(SHELL), "-c", line], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert run.stdout.decode().split("\0")[:-1] == texts(command.words[2:])


# Names that the oracle sees and ours does not, and why ours is right.
DISAGREEMENTS = {
    "time": "a reserved word: the command is what it times",
    "coproc": "a reserved word: the command is what it starts",
    "}": "after a named coprocess, the oracle takes what closes its group for a command",
    "*.o": "the oracle takes a glob such as !(*.o) for a subshell",
    "TWO": "of two heredocs on a line, the oracle reads the second one's body as commands",
    "never": "as above",
    "indented": "as above",
}


def oracle_names(text: str) -> Counter[str]:
    """The command names that tree-sitter-bash finds."""
    found: Counter[str] = Counter()
    waiting = [Parser(Language(tree_sitter_bash.language())).parse(text.encode()).root_node]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.type == "command_name" and node.text is not None:
            found[node.text.decode()] += 1
    return found


def corpus_commands(node: object) -> Iterator[str]:
    """Every text that a corpus case gives as ``command``, at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "command" and isinstance(value, str):
                yield value
            else:
                yield from corpus_commands(value)
    elif isinstance(node, list):
        for value in node:
            yield from corpus_commands(value)


def missed(text: str) -> list[str]:
    """The names that only the oracle sees."""
    ours = Counter(command.words[0].source for command in scan.commands(scan.parse(text)) if command.words)
    if text.startswith("{") and " " not in text:  # a brace expansion, which the oracle takes for a group
        return []
    return [name for name in oracle_names(text) - ours if name not in DISAGREEMENTS]


@pytest.mark.parametrize("example", (HERE / "shell_examples.txt").read_text().split("\n---\n"))
def test_examples_read_as_the_oracle_reads_them(example: str) -> None:
    """Every command name that tree-sitter finds in an example is found, and the example is complete."""
    assert missed(example) == []
    assert scan.parse(example).complete


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus lies beside the checkout, not in it")
def test_the_corpus_reads_as_the_oracle_reads_it() -> None:
    """Every command name that tree-sitter finds in the corpus is found."""
    lines = CORPUS.read_text(encoding="utf-8").splitlines()
    assert [(text, names) for line in lines for text in corpus_commands(json.loads(line)) if (names := missed(text))] == []
