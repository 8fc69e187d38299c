"""What an awk program runs: ``system()``, pipes from and to commands, files it writes."""

from __future__ import annotations

from ..model import NOTHING, UNKNOWN, Actions, Value
from .tokens import LINE, NUMBER, OPERATOR, STRING, WORD, Dialect, Token, tokenize
from .values import MAX_TEXT

_DIALECT = Dialect("awk", comments=("#",), blocks=(), quotes={'"': "escape"}, lines_end=True)
MAX_VALUE = 4096


def judge_awk(text: str, act: Actions) -> Value:
    """Note what the program runs and writes; what its BEGIN block prints as far as that is known."""
    tokens = tokenize(text[:MAX_TEXT], _DIALECT)
    variables: dict[str, str] = {}
    printed: list[str] = []
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.kind == WORD and token.text == "system" and following is not None and following.text == "(":
            act.shell(Value(_joined(tokens[at + 2 : min(following.partner, at + 200)], variables)))
        elif token.kind == WORD and following is not None and following.text == "=":
            variables[token.text] = _joined(_operand(tokens, at + 2), variables)
        elif token.kind == WORD and token.text in ("print", "printf"):
            printed.append(_print(tokens, at, variables, act))
        elif token.text == "|" and following is not None and following.text == "getline":
            act.shell(Value(_joined(_before(tokens, at), variables)))
        elif token.text in ("|", "|&") and following is not None and following.kind in (STRING, WORD):
            command = _joined(_operand(tokens, at + 1), variables)
            printed_to = [each for each in _before(tokens, at) if each.text not in ("print", "printf")]
            if command.replace(" ", "").replace("-", "").isalnum():
                act.argv(command.split(), stdin=Value(_joined(printed_to, variables) + "\n"))
            else:
                act.shell(Value(command))
        elif token.text == "while" and _forks(tokens, at):
            act.effect("fork_bomb", "starts processes in an endless loop")
    begins = any(token.text == "BEGIN" for token in tokens[:1])
    return Value("".join(printed[:200])) if begins and printed else NOTHING


def _operand(tokens: list[Token], at: int) -> list[Token]:
    """The tokens up to the end of the statement or the next operator that ends an operand."""
    end = at
    while end < len(tokens) and end < at + 100:
        token = tokens[end]
        if token.kind == LINE or (token.kind == OPERATOR and token.text in ("|", ",", ">", ";", "}", "{", "&&", "||")):
            break
        end += 1
    return tokens[at:end]


def _before(tokens: list[Token], at: int) -> list[Token]:
    start = at
    while start > 0 and start > at - 100:
        token = tokens[start - 1]
        if token.kind == LINE or (
            token.kind == OPERATOR and token.text in ("|", ";", "}", "{", "=", "(", ",", "&&", "!")
        ):
            break
        start -= 1
    return tokens[start:at]


def _joined(tokens: list[Token], variables: dict[str, str]) -> str:
    """Adjacent values are one text in awk."""
    out: list[str] = []
    field = False
    for token in tokens:
        if token.kind == STRING:
            out.append("".join(text for _, text in token.pieces))
        elif token.kind == WORD and not token.text.startswith("$"):
            out.append(variables.get(token.text, UNKNOWN))
        elif token.kind in (NUMBER, WORD):
            out.append(UNKNOWN if field or token.kind == WORD else token.text)
        field = token.text == "$"
    return "".join(out)[:MAX_VALUE]


def _print(tokens: list[Token], at: int, variables: dict[str, str], act: Actions) -> str:
    """What is printed to the output; a file that is printed to is written."""
    parts = _operand(tokens, at + 1)
    end = at + 1 + len(parts)
    text = _joined(parts, variables)
    if end < len(tokens) and tokens[end].text == ">":
        target = _operand(tokens, end + (2 if end + 1 < len(tokens) and tokens[end + 1].text == ">" else 1))
        path = _joined(target, variables)
        if path.strip(UNKNOWN) and any(token.kind == STRING for token in target):
            act.write(path, Value(text), append=True)
        return ""
    if end < len(tokens) and tokens[end].text == "|":
        return ""
    return text if tokens[at].text == "printf" else text + "\n"


def _forks(tokens: list[Token], at: int) -> bool:
    """``while (1) system("... &")``."""
    head = [token.text for token in tokens[at + 1 : at + 4]]
    if head != ["(", "1", ")"]:
        return False
    body = tokens[at + 4 : at + 24]
    return any(token.kind == STRING and token.text.rstrip().endswith("&") for token in body)
