"""Behaviour of the scanner: what each construct of the shell becomes."""

from __future__ import annotations

from typing import Any

import pytest

from agent_ledger.policy import plain, scan
from agent_ledger.policy import syntax as sx
from agent_ledger.policy.syntax import Literal, Script, Simple, Variable


def shape(text: str) -> list[list[str]]:
    """The words of every simple command in a text, without their quotes."""
    found = scan.commands(scan.parse(text))
    return [[word.source if word.literal is None else word.literal for word in command.words] for command in found]


def only(text: str) -> Any:
    """The only command of a text that reads completely."""
    script = scan.parse(text)
    assert script.complete
    (item,) = script.items
    return item.command


def parts(text: str) -> tuple[Any, ...]:
    """The parts of the first argument of ``echo``."""
    return only(f"echo {text}").words[1].parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a $b'", [("a $b", True)]),
        ('"a b"', [("a b", True)]),
        (r'"a\"b\$c\\d\e"', [('a"b$c\\d\\e', True)]),
        ("r''m", [("r", False), ("", True), ("m", False)]),
        (r"a\ b", [("a", False), (" ", True), ("b", False)]),
        (r"$'\x41\102\u0043\n\'\0gone'", [("ABC\n'", True)]),
        ('$"text"', [("text", True)]),
        ("a\\\nb", [("ab", False)]),
        ('"a\\\nb"', [("ab", True)]),
        ("''", [("", True)]),
        ("*.{a,b}'*'", [("*.{a,b}", False), ("*", True)]),
        ("@(a b|c)", [("@(a b|c)", False)]),
        ("a#b", [("a#b", False)]),
        ("$", [("$", False)]),
        ("\u00e9\u00a0\U0001f600", [("\u00e9\u00a0\U0001f600", False)]),
    ],
)
def test_quoted_and_unquoted_text_stand_apart(text: str, expected: list[tuple[str, bool]]) -> None:
    """Quotes are gone, escapes are decoded, and each literal tells whether it was quoted."""
    assert [(part.text, part.quoted) for part in parts(text)] == expected


@pytest.mark.parametrize(
    ("text", "name", "op", "arg", "index"),
    [
        ("$x", "x", "", None, ""),
        ("${x}", "x", "", None, ""),
        ("$1", "1", "", None, ""),
        ("$@", "@", "", None, ""),
        ("${#}", "#", "", None, ""),
        ("${#x}", "x", "#len", None, ""),
        ("${!x}", "x", "!", None, ""),
        ("${!x*}", "x", "!", None, ""),
        ("${a[@]}", "a", "", None, "@"),
        ("${#a[@]}", "a", "#len", None, "@"),
        ("${x: -1:2}", "x", ":", " -1:2", ""),
        ("${x@Q}", "x", "@", "Q", ""),
        ("${x^^}", "x", "^^", None, ""),
        ("${x,}", "x", ",", None, ""),
        ("${x:-}", "x", ":-", None, ""),
        ("${x/#a/b}", "x", "/#", "a/b", ""),
        *[(f"${{x{op}a b}}", "x", op, "a b", "") for op in ":- - := = :? ? :+ + # ## % %% / //".split()],
    ],
)
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_variable_has_its_operator(text: str, name: str, op: str, arg: str | None, index: str, quote: str) -> None:
    """Every operator is told apart, inside quotes and outside."""
    (variable,) = parts(quote + text + quote)
    assert isinstance(variable, Variable)
    assert (variable.name, variable.op, variable.index, variable.quoted) == (name, op, index, bool(quote))
    assert (variable.arg and variable.arg.literal) == arg


def test_expansions_nest() -> None:
    """A default value may hold quotes, a substitution, and another default."""
    assert shape('echo "${x:-$(id -u "${y:-`uname`}")}"')[1:] == [["id", "-u", '"${y:-`uname`}"'], ["uname"]]
    assert shape("echo ${a[$(id)]}")[1:] == [["id"]]
    assert shape("echo `echo \\`id \\$x\\``")[1:] == [["echo", "`id $x`"], ["id", "$x"]]
    assert shape('echo "`echo \\"a b\\"`"')[1:] == [["echo", "a b"]]
    assert shape("echo ${ id; } ${|id; }")[1:] == [["id"], ["id"]]


def test_arithmetic_is_text_but_its_substitutions_run() -> None:
    """``$((`` is arithmetic where it closes as one, and a subshell in a substitution where not."""
    (arithmetic,) = parts("$((1 + $(nproc) * (2)))")
    assert isinstance(arithmetic, sx.Arithmetic) and arithmetic.text == "1 + $(nproc) * (2)"
    assert shape("echo $((1 + $(nproc)))")[1:] == [["nproc"]]
    assert isinstance(parts("$((a); b)")[0], sx.Substitution)
    assert isinstance(only("(( x++ ))"), sx.Test)
    assert isinstance(only("((a); b)"), sx.Group)


def test_substitutions_of_processes_have_a_direction() -> None:
    """``<(..)``, ``>(..)`` and zsh's ``=(..)`` are parts of words, also behind a redirection."""
    assert [parts(text)[0].direction for text in ("<(a)", ">(b)", "=(c)")] == ["<", ">", "<"]
    assert shape("a > >(b) 2> >(c)") == [["a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2>&1", ("2", ">&", "1")),
        (">f", ("", ">", "f")),
        (">> 'f g'", ("", ">>", "f g")),
        (">|f", ("", ">|", "f")),
        ("<>f", ("", "<>", "f")),
        ("&>f", ("", "&>", "f")),
        ("&>>f", ("", "&>>", "f")),
        (">&-", ("", ">&", "-")),
        ("<&3", ("", "<&", "3")),
        ("{fd}>f", ("{fd}", ">", "f")),
        ("<<<word", ("", "<<<", "word")),
    ],
)
@pytest.mark.parametrize("frame", ["a %s b", "%s a b", "a b %s"])
def test_redirections_stand_anywhere_in_a_command(text: str, expected: tuple[str, str, str], frame: str) -> None:
    """A redirection keeps its number, operator and target, and the words stay together."""
    command = only(frame % text)
    (redirect,) = command.redirects
    assert (redirect.fd, redirect.op, redirect.target.literal) == expected
    assert [word.literal for word in command.words] == ["a", "b"]


def test_heredocs_follow_their_line() -> None:
    """Bodies come in the order of their redirections, and the commands go on behind them."""
    script = scan.parse("cat <<A <<-'B' | c; d\nx $(e)\nA\n\t\ty $(f)\n\tB\ng")
    assert script.complete
    assert [command.words[0].source for command in scan.commands(script)] == ["cat", "e", "c", "d", "g"]
    first, second = next(scan.commands(script)).redirects
    assert [type(part) for part in first.target.parts] == [Literal, sx.Substitution, Literal]
    assert second.target.parts == (Literal("y $(f)\n", True),)


def test_a_heredoc_may_stand_in_a_substitution() -> None:
    """Its body may hold parentheses, and the delimiter may have the closing one behind it."""
    assert shape("x=$(cat <<'E'\na ) b\nE\n); c") == [[], ["cat"], ["c"]]
    assert shape("echo $(cat <<'E'\na\nE); c")[1:] == [["cat"], ["c"]]
    assert shape("cat <<A $(cat <<B\nb\nB\n)\na\nA\nx")[1:] == [["cat"], ["x"]]


def test_lists_and_pipelines_keep_their_operators() -> None:
    """Each command has the operator behind it; a pipeline is one command."""
    script = scan.parse("a && b || c; d & e\nf |& g | h")
    assert [item.operator for item in script.items] == ["&&", "||", ";", "&", ";", ""]
    pipeline = script.items[-1].command
    assert isinstance(pipeline, sx.Pipeline) and len(pipeline.commands) == 3 and not pipeline.negated
    assert only("! a").negated


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("if a; then b; elif c\nthen d; else e; fi", sx.If, "abcde"),
        ("while a; do b; done", sx.While, "ab"),
        ("until a\ndo\nb\ndone", sx.While, "ab"),
        ("for x in 1 $(a); do b; done", sx.For, "ab"),
        ("for x; do b; done", sx.For, "b"),
        ("for x in 1 2; { b; }", sx.For, "b"),
        ("for x (1 2) { b; }", sx.For, "b"),
        ("for ((i=$(a); i<3; i++)); do b; done", sx.For, "ab"),
        ("select x in 1 2; do b; done", sx.For, "b"),
        ("case $(a) in x|'y z') b;; (w) c;& *) d; esac", sx.Case, "abcd"),
        ("case x in esac", sx.Case, ""),
        ("{ a; b; }", sx.Group, "ab"),
        ("(a; b)", sx.Group, "ab"),
        ("[[ -n $(a) && x =~ ^(b|c)$ ]]", sx.Test, "a"),
        ("coproc a", sx.Coprocess, "a"),
        ("coproc NAME { a; }", sx.Coprocess, "a"),
        ("f() { a; }", sx.Function, "a"),
        ("f ( )\n( a )", sx.Function, "a"),
        ("function f { a; }", sx.Function, "a"),
        ("function f() if a; then b; fi", sx.Function, "ab"),
        ("f() a", sx.Function, "a"),
    ],
)
@pytest.mark.parametrize("behind", ["", " > out 2>&1"])
def test_compound_commands(text: str, kind: type, expected: str, behind: str) -> None:
    """Every compound command is read whole, with the redirections behind it."""
    command = only(text + behind)
    assert isinstance(command, kind)
    assert "".join(words[0] for words in shape(text)) == expected
    if not isinstance(command, (sx.Function, sx.Coprocess)):
        assert [redirect.op for redirect in command.redirects] == ([">", ">&"] if behind else [])


def test_time_is_a_word_of_the_shell_except_with_options() -> None:
    """What is timed is the command; ``time -v`` is a program."""
    assert shape("time -p a; time ! b | c; time { d; }") == [["a"], ["b"], ["c"], ["d"]]
    assert shape("time -v e; time") == [["time", "-v", "e"], ["time"]]


def test_reserved_words_are_only_reserved_where_a_command_begins() -> None:
    """As arguments, and where they are quoted, they are words."""
    assert shape("echo if then { } done; 'if' x; {a,b} x") == [["echo", "if", "then", "{", "}", "done"], ["if", "x"], ["{a,b}", "x"]]


def test_assignments_stand_before_the_command() -> None:
    """Values, appended values, arrays and elements; behind the command they are arguments."""
    command = only("a=1 b+='x y' c=(1 $(d) 'e f') g[1]=$h i= cmd j=2")
    assert [(a.name, a.append) for a in command.assignments] == [("a", False), ("b", True), ("c", False), ("g[1]", False), ("i", False)]
    assert [a.value.literal for a in command.assignments] == ["1", "x y", "", None, ""]
    assert [word.source for word in command.assignments[2].items] == ["1", "$(d)", "'e f'"]
    assert [word.source for word in command.words] == ["cmd", "j=2"]
    assert shape("declare -a x=(a $(b)) y") == [["declare", "-a", "x=(a $(b))", "y"], ["b"]]


def test_comments_and_line_ends() -> None:
    """Comments end with their line, and CRLF is a line end."""
    assert shape("a # b; 'c\nd#e #f\r\ng\th\r\n") == [["a"], ["d#e"], ["g", "h"]]


OPEN = ["a 'b", 'a "b', "a `b", "a $(b", "(a", "{ a", "if x; then a", "case x in a) a", "a |", "a <<E\nx", "a <<E", "a; f()", "a; [[ a", "a; x=(a", "a >", "a )", "; a", "a; done"]


@pytest.mark.parametrize("text", OPEN)
def test_what_is_not_closed_is_read_and_said_to_be_incomplete(text: str) -> None:
    """The commands are found all the same."""
    assert not scan.parse(text).complete
    assert "a" in [words[0] for words in shape(text) if words]


@pytest.mark.parametrize("opener", ["$(", "(", "{ ", "<(", "if ", "while ", "${x:-", "f() ", "coproc ", "case x in x) ", "a=(", "[[ $("])
def test_beyond_the_depth_commands_are_still_found(opener: str) -> None:
    """Deeper than 32 levels the text is split at operators."""
    script = scan.parse("first; " + opener * 2_500 + "; last one")
    assert not script.complete
    found = shape("first; " + opener * 2_500 + "; last one")
    assert found[0] == ["first"] and ["last", "one"] in found


def test_beyond_the_bounds_quotes_still_hold() -> None:
    """A long document stays one word, arguments do not become commands, and later commands are found."""
    document = "ls; pwd\n" * 20_000
    assert shape(f"cat <<'E' > f\n{document}E\nlast one") == [["cat"], ["last", "one"]]
    assert [words[-1] for words in shape(f"echo '{document}'; last one")] == [document, "one"]
    many = shape("echo " + "ls " * 5_000 + "; x=1 last $HOME 'a b' 2> f | next")
    assert [words[0] for words in many] == ["echo", "last", "next"]
    assert many[1] == ["last", "$HOME", "a b"]
    assert len(plain.items("a;" * 100_000)) == plain.COMMANDS


def test_words_know_their_source() -> None:
    """The source of a word is the text that it was read from."""
    assert [word.source for word in only("a 'b c' \"$d\" e\\ f").words] == ["a", "'b c'", '"$d"', "e\\ f"]


def test_an_empty_text_is_an_empty_script() -> None:
    """Nothing, blanks and comments hold no commands."""
    assert scan.parse("") == scan.parse(" \n\t# a\n") == Script()


def test_a_deep_caller_gets_an_answer() -> None:
    """Where the stack has no room left, the text is only split at operators."""

    def deep(level: int) -> Script:
        try:
            return deep(level + 1)
        except RecursionError:
            return scan.parse("a; b") if level % 50 == 0 else deep_again()

    def deep_again() -> Script:
        raise RecursionError

    script = deep(0)
    assert [item.command.words[0].source for item in script.items if isinstance(item.command, Simple)] == ["a", "b"]
