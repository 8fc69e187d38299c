"""What SQL text would do: statements taken apart in one pass, strings and comments known as such."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import UNKNOWN, Actions, Value

MAX_TEXT = 64 * 1024
MAX_DEPTH = 4
MAX_TAIL = 400  # tokens read for the condition of one DELETE or UPDATE
KIND = "database_destruction"

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<comment>--[^\n]*|/\*!\d*|(?<![^\s;])\#(?=[\s!])[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|\*/)
      | (?P<string>[NnEeBbXx]?'(?:[^'\\]|\\.|'')*(?:'|\Z))
      | (?P<dollar>\$(?P<tag>[A-Za-z_]\w*|)\$)
      | (?P<meta>\\[^\n]*)
      | (?P<name>"[^"]*"|`[^`]*`|\[[A-Za-z_][^\]\n]{0,128}\])
      | (?P<word>[\w#$@\ue000\ue001*]+(?:\.+[\w#$@\ue000\ue001*]+)*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
# A line that a client takes for itself, where a statement could start.
_DOT_LINE = re.compile(r"[ \t]*\.([a-z]+)[ \t]*([^\n]*)")
_WORD_LINE = re.compile(r"[ \t]*(system|source|shell)[ \t]+([^\n;]+)", re.IGNORECASE)
_TEMPORARY = re.compile(
    r"(?:^|[._#])(?:te?mp|test|tests|testing|scratch|sandbox|fixture|dummy|pg_temp(?:_\d+)?)(?:$|[._\d])|^#|_te?mp\d*$",
    re.IGNORECASE,
)

# What cannot be made again once it is dropped.
_PRECIOUS = frozenset(
    "TABLE TABLES DATABASE SCHEMA KEYSPACE USER ROLE LOGIN TABLESPACE OWNED COLLECTION MEASUREMENT SERIES BUCKET "
    "DATASET CATALOG COLUMNFAMILY STREAM TOPIC GRAPH".split()
)
_BEFORE_KIND = frozenset("FOREIGN EXTERNAL UNLOGGED GLOBAL CACHED MEMORY".split())
_NOT_A_COLUMN = frozenset(
    "CONSTRAINT INDEX KEY DEFAULT PRIMARY FOREIGN CHECK NOT IDENTITY EXPRESSION PROJECTION STATISTICS POLICY TRIGGER "
    "RULE UNIQUE".split()
)
_SECRET_TABLES = {"PG_SHADOW": ("PASSWD", "*"), "PG_AUTHID": ("ROLPASSWORD", "*"),
                  "MYSQL.USER": ("AUTHENTICATION_STRING", "PASSWORD", "*"), "SYS.SQL_LOGINS": ("PASSWORD_HASH", "*")}
_READERS = frozenset({"LOAD_FILE", "PG_READ_FILE", "PG_READ_BINARY_FILE", "READFILE", "LO_IMPORT", "BFILENAME"})
_WRITERS = frozenset({"WRITEFILE", "LO_EXPORT"})

Token = tuple[str, str]


def _unquoted(text: str) -> str:
    if text[:1] in "NnEeBbXx":
        text = text[1:]
    text = text[1:-1] if len(text) > 1 and text[-1] == "'" else text[1:]
    return text.replace("''", "'")


def _statements(text: str, act: Actions) -> Iterator[list[Token]]:
    """The tokens of each statement; what a client runs by itself (``\\! x``, ``.shell x``) is noted on the way."""
    tokens: list[Token] = []
    at, size = 0, len(text)
    while at < size:
        if not tokens and (at == 0 or text[at - 1] in "\n;"):
            line = _DOT_LINE.match(text, at) or _WORD_LINE.match(text, at)
            if line:
                _client_line(line[1].lower(), line[2].strip(), act)
                at = line.end()
                continue
        found = _TOKEN.match(text, at)
        if found is None:  # nothing matches only at the end
            break
        at = found.end()
        kind = found.lastgroup or ""
        if kind in ("space", "comment"):
            continue
        if kind == "meta":
            _backslash_line(found[0], act)
        elif kind in ("dollar", "tag"):
            end = text.find(found[0], at)
            end = size if end < 0 else end
            tokens.append(("body", text[at:end]))
            at = min(size, end + len(found[0]))
        elif kind == "string":
            tokens.append(("string", _unquoted(found[0])))
        elif kind == "name":
            tokens.append(("name", found[0][1:-1]))
        elif found[0] == ";":
            if tokens:
                yield tokens
            tokens = []
        else:
            tokens.append((kind, found[0]))
    if tokens:
        yield tokens


def _client_line(name: str, rest: str, act: Actions) -> None:
    """A line that sqlite3 or mysql takes for itself."""
    if name in ("shell", "system"):
        act.shell(rest)
    elif name in ("read", "source"):
        _run(rest, act)
    elif name in ("output", "once", "excel") and rest.startswith("|"):
        act.shell(rest[1:])
    elif name == "import" and rest.startswith(("|", '"|')):
        act.shell(rest.strip('"')[1:])


def _backslash_line(line: str, act: Actions) -> None:
    """A backslash command of psql or mysql."""
    name, _, rest = line[1:].strip().partition(" ")
    rest = rest.strip()
    if name.startswith("!"):
        act.shell((name[1:] + " " + rest).strip())
    elif name in ("i", "ir", "include", "include_relative", "."):
        _run(rest, act)
    elif name in ("o", "out", "g", "w") and rest.startswith("|"):
        act.shell(rest[1:])
    elif name == "copy" and (found := re.search(r"\bprogram\s+'([^'\n]*)'", rest, re.IGNORECASE)):
        act.shell(found[1])


def _run(path: str, act: Actions) -> None:
    path = path.strip().strip("'\"`;")
    if path.startswith("|"):
        act.shell(path[1:])
    elif path:
        act.run_file(path, "sql")


def _harmless(name: str, made_here: set[str]) -> bool:
    return name.upper() in made_here or bool(_TEMPORARY.search(name))


def _true(term: list[Token]) -> bool:
    """Whether a condition holds for every row."""
    while term and term[0][1] == "(" and term[-1][1] == ")":
        term = term[1:-1]
    words = [text.upper() for _, text in term]
    if len(term) == 1:
        return words[0] in ("TRUE", "1") or (words[0].isdigit() and int(words[0][:9]) > 0)
    if words in (["NOT", "FALSE"], ["NOT", "0"]):
        return True
    if len(term) == 3 and words[1] == "=":
        return words[0] == words[2] and term[0][0] == term[2][0]
    if len(term) == 3 and words[1] == "LIKE":
        return words[2] == "%"
    if len(term) == 4 and words[1:] in (["IS", "NOT", "NULL"], [">", "=", "0"]):
        return words[0].rpartition(".")[2] in ("ID", "ROWID", "_ID")
    if len(term) == 3 and words[1] == ">" and words[2] in ("0", "-1"):
        return words[0].rpartition(".")[2] in ("ID", "ROWID")
    if len(term) == 4 and words[1:3] in (["<", ">"], ["!", "="]):
        numbers = term[0][0] == term[3][0] == "word" and words[0].isdigit() and words[3].isdigit()
        return numbers and words[0] != words[3]
    return False


def _split(tokens: list[Token], word: str) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token[1] == "(") - (token[1] == ")")
        if depth == 0 and token[0] == "word" and token[1].upper() == word:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _filtered(tail: list[Token]) -> bool:
    """Whether what follows the table of a DELETE or UPDATE leaves some rows alone."""
    depth = 0
    for at, (kind, text) in enumerate(tail):
        if kind != "word":
            depth += (text == "(") - (text == ")")
            if depth < 0:
                return False
            continue
        word = text.upper()
        if depth == 0 and word in ("LIMIT", "TOP", "JOIN", "USING", "FETCH"):
            return True
        if depth == 0 and word == "WHERE":
            end = next((i for i in range(at + 1, len(tail)) if tail[i][1].upper() in ("RETURNING", "ORDER")), len(tail))
            condition = tail[at + 1 : end]
            while condition and condition[-1][1] == ")" and _depth(condition) < 0:
                condition = condition[:-1]
            return not any(all(_true(term) for term in _split(one, "AND")) for one in _split(condition, "OR"))
    return False


def _depth(tokens: list[Token]) -> int:
    return sum((text == "(") - (text == ")") for kind, text in tokens if kind == "other")


def _name_after(tokens: list[Token], at: int, skip: tuple[str, ...]) -> tuple[str, int]:
    """The object named from ``at`` on, and the place behind it; quoted parts and dots are put together."""
    while at < len(tokens) and tokens[at][0] == "word" and tokens[at][1].upper() in skip:
        at += 1
    name = ""
    while at < len(tokens) and (not name or name.endswith(".") or tokens[at][1].startswith(".")):
        name += tokens[at][1]
        at += 1
    return name, at


def _drop(tokens: list[Token], words: list[str], at: int, act: Actions, made_here: set[str]) -> None:
    at += 1
    while at < len(words) and words[at] in _BEFORE_KIND:
        at += 1
    kind = words[at] if at < len(words) else ""
    if kind not in _PRECIOUS:
        return
    name, end = _name_after(tokens, at + 1, ("IF", "EXISTS", "BY"))
    names = [name]
    while end < len(tokens) and tokens[end][1] == ",":
        name, end = _name_after(tokens, end + 1, ())
        names.append(name)
    if kind in ("USER", "ROLE", "LOGIN") and not name:
        return
    for name in names:
        if not _harmless(name, made_here):
            act.effect(KIND, f"DROP {kind} {name}".strip(), name)


def _delete_or_update(tokens: list[Token], words: list[str], at: int, act: Actions, made_here: set[str]) -> None:
    word = words[at]
    name, end = _name_after(tokens, at + 1, ("LOW_PRIORITY", "QUICK", "IGNORE", "FROM", "ONLY", "OR", "ROLLBACK"))
    if not name or name.upper() in ("TOP", "STATISTICS", "SET"):
        return
    following = words[end : end + MAX_TAIL]
    if word == "UPDATE" and ("SET" not in following or ("FROM" in following and "WHERE" in following)):
        return
    if _harmless(name, made_here) or _filtered(tokens[end : end + MAX_TAIL]):
        return
    act.effect(KIND, f"{word} of every row of {name}", name)


def _alter(tokens: list[Token], words: list[str], act: Actions, made_here: set[str]) -> None:
    kind = words[1] if len(words) > 1 else ""
    if kind in ("USER", "ROLE", "LOGIN"):
        if "SUPERUSER" in words or "SYSADMIN" in words:
            act.effect("permissions", f"ALTER {kind} to superuser", words[2] if len(words) > 2 else "")
        return
    if kind != "TABLE":
        return
    name, end = _name_after(tokens, 2, ("IF", "EXISTS", "ONLY"))
    if _harmless(name, made_here):
        return
    for at in range(end, len(words) - 1):
        if tokens[at][0] != "word":
            continue
        following = words[at + 1]
        if words[at] == "DROP":
            if following in _NOT_A_COLUMN:
                continue
            column, _ = _name_after(tokens, at + 1, ("COLUMN", "IF", "EXISTS", "PARTITION"))
            act.effect(KIND, f"ALTER TABLE {name} DROP {column}", name)
            return
        if words[at] == "TRUNCATE" and following == "PARTITION":
            act.effect(KIND, f"ALTER TABLE {name} TRUNCATE PARTITION", name)
            return
        if words[at] == "DELETE" and at == end and not _filtered(tokens[at + 1 :]):
            act.effect(KIND, f"ALTER TABLE {name} DELETE of every row", name)
            return


def _grant(tokens: list[Token], words: list[str], act: Actions) -> None:
    everything = "ALL" in words[:3] and ("*.*" in words or "PUBLIC" in words or ("string", "%") in tokens)
    if everything or "SUPER" in words[:3] or "SYSADMIN" in words or "DBA" in words[:3]:
        act.effect("permissions", "GRANT of all rights", words[-1] if words else "")


def _files(tokens: list[Token], words: list[str], act: Actions) -> None:
    """Functions and clauses that reach files and programs of the server."""
    for at, word in enumerate(words):
        if tokens[at][0] != "word":
            continue
        after = next((text for kind, text in tokens[at + 1 : at + 4] if kind == "string"), None)
        if word in _READERS and after is not None:
            act.read(Value(after))
        elif (word in _WRITERS or word in ("OUTFILE", "DUMPFILE")) and after is not None:
            act.write(Value(after), Value(UNKNOWN))
        elif word == "INFILE" and after is not None:
            act.read(Value(after))
        elif after is not None and (word.endswith("XP_CMDSHELL") or (word == "PROGRAM" and words[0] == "COPY")):
            act.shell(after, place="host")
    if words[0] in ("EXEC", "EXECUTE") and ("string", "xp_cmdshell") in tokens and "1" in words:
        act.effect("permissions", "lets SQL start programs of the server")


def _secrets(words: list[str], act: Actions) -> None:
    for table, columns in _SECRET_TABLES.items():
        if any(word == table or word.endswith("." + table) for word in words) and not words[0].startswith("CREATE"):
            shown = words[1 : words.index("FROM")] if "FROM" in words else words
            if any(column in shown for column in columns):
                act.effect("credential_read", f"reads password hashes from {table.lower()}", table.lower())


def judge_sql(text: str, act: Actions, depth: int = 0) -> None:
    """Note what SQL statements would destroy, open or reach. Linear in the text; nothing is raised."""
    made_here: set[str] = set()
    statements = list(_statements(text[:MAX_TEXT], act))
    heads = [tokens[0][1].upper() for tokens in statements]
    undone = _undone(heads, statements)
    for at, tokens in enumerate(statements):
        if at not in undone:
            _judge(tokens, act, made_here, depth)


def _undone(heads: list[str], statements: list[list[Token]]) -> set[int]:
    """The statements between a BEGIN and a ROLLBACK of everything."""
    found: set[int] = set()
    start: int | None = None
    for at, head in enumerate(heads):
        if head in ("BEGIN", "START"):
            start = at
        elif head in ("COMMIT", "END"):
            start = None
        elif head == "ROLLBACK" and start is not None and not any(t[1].upper() == "TO" for t in statements[at]):
            found.update(range(start, at))
            start = None
    return found


def _judge(tokens: list[Token], act: Actions, made_here: set[str], depth: int) -> None:
    words = [text.upper() if kind == "word" else text if kind == "other" else "" for kind, text in tokens]
    while words and words[0] in ("BEGIN", "THEN", "ELSE", "LOOP", "GO", "DECLARE", "END"):
        tokens, words = tokens[1:], words[1:]
    if not words:
        return
    if words[0] == "EXPLAIN":
        if "ANALYZE" not in words[:6] and "ANALYSE" not in words[:6]:
            return
        while words and words[0] not in ("DELETE", "UPDATE", "WITH"):
            tokens, words = tokens[1:], words[1:]
        if not words:
            return
    head = words[0]
    _files(tokens, words, act)
    if head in ("SELECT", "TABLE", "COPY", "WITH"):
        _secrets(words, act)
    if head == "CREATE":
        if "TABLE" in words[1:5] or "DATABASE" in words[1:3] or "SCHEMA" in words[1:3]:
            kind = next(word for word in words[1:5] if word in ("TABLE", "DATABASE", "SCHEMA"))
            name, _ = _name_after(tokens, words.index(kind) + 1, ("IF", "NOT", "EXISTS"))
            made_here.add(name.upper())
        elif len(words) > 1 and words[1] in ("USER", "ROLE") and "SUPERUSER" in words:
            act.effect("permissions", f"CREATE {words[1]} with superuser")
        return  # what a function or trigger holds runs later
    if head == "ALTER":
        _alter(tokens, words, act, made_here)
    elif head == "GRANT":
        _grant(tokens, words, act)
    elif head == "SHUTDOWN" or words[:2] in (["RESET", "MASTER"], ["PURGE", "BINARY"], ["PURGE", "MASTER"]):
        act.effect(KIND, " ".join(words[:2]))
    elif head == "MATCH" and "DELETE" in words and "WHERE" not in words and "{" not in words:
        act.effect(KIND, "deletes every node of the graph")
    elif head in ("DO", "EXEC", "EXECUTE", "PREPARE", "IF"):
        _dynamic(tokens, words, act, depth)
    for at, word in enumerate(words):
        starts = at == 0 or words[at - 1] in ("(", ")", "THEN", "ELSE", "BEGIN")
        if not starts or tokens[at][0] != "word":
            continue
        if word == "DROP":
            _drop(tokens, words, at, act, made_here)
        elif word == "TRUNCATE" and (at + 1 >= len(words) or words[at + 1] != "("):
            name, _ = _name_after(tokens, at + 1, ("TABLE", "ONLY", "IF", "EXISTS", "DATABASE"))
            if name and not _harmless(name, made_here):
                act.effect(KIND, f"TRUNCATE {name}", name)
        elif word in ("DELETE", "UPDATE"):
            _delete_or_update(tokens, words, at, act, made_here)


def _dynamic(tokens: list[Token], words: list[str], act: Actions, depth: int) -> None:
    """Strings that are run as SQL: in DO blocks, EXEC, EXECUTE and PREPARE."""
    if depth >= MAX_DEPTH:
        return
    for at, (kind, text) in enumerate(tokens):
        if kind == "body" or (kind == "string" and words[0] == "DO"):
            judge_sql(text, act, depth + 1)
        elif kind == "string" and text[:1].isalpha() and " " in text:
            before = words[max(0, at - 4) : at]
            if not any(word.endswith("XP_CMDSHELL") for word in before):
                judge_sql(text, act, depth + 1)
