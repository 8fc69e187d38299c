"""A quick look at raw arguments: is there anything that a rule could want to know? Only then a command is parsed, which
takes a hundred times as long. It errs on the side of parsing."""

from __future__ import annotations

import re

from ..policy import registry

# What words consist of; all else parts them. Numbers are left out: they make every word a new one.
_PARTING = bytes(byte if byte > 127 or chr(byte).isalpha() or chr(byte) in "_.~-" else 32 for byte in range(256))
# Programs that do nothing here without one of the words below, or without an odd character or a telling path.
_QUIET = frozenset(
    """cat head tail less more grep egrep fgrep rg sed awk gawk mawk ls echo printf cd pwd export test make python
    python3 pytest node npm npx yarn pnpm bun git sort
    uniq wc cut tr jq diff mkdir touch cp tar date sleep true false timeout
    time which type set unset return exit read local declare env tee basename dirname realpath stat file cargo go rustc
    pip pip3 uv poetry ruff mypy tox just cmake ninja mvn gradle docker command xargs find tree column paste comm seq
    source builtin cmp md5sum sha256sum gzip gunzip unzip zip if then else fi do done for while nl tac rev fold yes
    pushd popd id whoami uname hostname df du free ps top watch history job jobs fg bg wait trap shift let expr install
    ruby perl php java javac gcc cc clang ld ar as dotnet mix elixir rails rake bundle gem composer django-admin
    manage.py alembic flask uvicorn gunicorn vite next webpack tsc eslint prettier black isort clear reset link info
    split join ip host dig ping format at from import help dirs sync dump import convert print open look w b mc transfer
    links run exec-out GET get query""".split()
)
_WORDS = frozenset(
    """rm -delete -exec -execdir -ok -c -e -r -i --in-place push reset clean checkout restore branch stash filter-branch
    filter-repo reflog gc update-ref worktree rebase --force -f -D --hard --no-verify -n core.hooksPath --mirror prune
    rmi volume volumes down privileged --privileged install add i dlx uvx pipx npx publish unpublish yank eval exec
    system popen subprocess rmtree unlink rmdir remove removedirs remove_tree socket requests urllib httpx aiohttp
    fetch child_process execSync spawn b64decode atob pty environ getenv shutil Remove-Item drop truncate delete grant
    alter DROP TRUNCATE DELETE GRANT ALTER flushall FLUSHALL enable disable --yolo -y crontab
    --dangerously-skip-permissions --full-auto flush migrate db:drop db:reset downgrade zap wipe format
    create_connection write_text os.remove os.system download_and_run""".split()
    + ["authorized_" "keys"]
)
# What a word of a command, or a part of a path, holds that leads to secrets, to what runs by itself, to the system, or
# to the recorder and its host.
_PLACES = re.compile(
    r"\.e[n]v|env\.|id_|\.git|ecret|SECRET|redential|pem|key|KEY|passw|PASS|oken|TOKEN|ledger|LEDGER|hermes|HERMES"
    r"|systemd|cron|ibrary|hook|\.p$|kube|^(?:etc|usr|boot|spool|root|proc|bin|sd[a-z]|nvme\w*|tcp|udp)$"
)
# The same for a file that is written.
_FILES = re.compile(r"mcp|plugin|config|settings|SKILL|profile|customize|^lib|^dev$|^sbin$|aider|opencode|claude")
_DOTS = re.compile(r"^\.{1,2}$|^\.(?:py|txt|md|js|ts|json|go|rs|log|toml|cfg|yml|yaml|html|css|csv|c|h|x)$")
_DIGITS = b"0123456789"

_META = re.compile(r"[;|&$`]")

_MOST_KNOWN = 50_000
_harmless: set[str] = set()  # words that were looked at and tell nothing
_harmless_parts: set[str] = set()
_telling: frozenset[str] = frozenset()
_families: tuple[str, ...] = ()


def _load() -> None:
    """The programs that the policy engine judges, but the quiet ones, and the words that make those worth a look."""
    global _telling, _families
    registry.load()
    _families = tuple(registry.FAMILIES)
    judged = (frozenset(registry.PROGRAMS) | frozenset(registry.JUDGES)) - _QUIET
    _telling = frozenset(_without_digits(word) for word in judged | _WORDS) - {"", "python", "pip"}


def _without_digits(text: str) -> str:
    return text.encode("utf-8", "replace").translate(None, _DIGITS).decode()  # a third of the time of str.translate


def in_command(text: str) -> bool:
    """For a shell command or code, as JSON."""
    if "\\" in text:  # a line's end would hide the word behind it
        if "\\\\" in text or '\\"\\"' in text:
            return True
        text = text.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ")
    words = text.encode("utf-8", "replace").translate(_PARTING, _DIGITS).decode().split()
    if not _harmless.issuperset(words):
        if not _telling:
            _load()
        unknown = set(words) - _harmless
        telling = set(filter(_tells, unknown))
        _keep(_harmless, unknown - telling)
        if telling:
            return True
    # Words that were put together so as not to be read, addresses, hidden folders, functions. A look for one character
    # takes a tenth of that for two, so it comes first.
    return (
        "`" in text
        or "?" in text
        or "://" in text
        or ("'" in text and "''" in text)
        or ("<" in text and "<<" in text)
        or ("." in text and "/." in text)
        or ("$" in text and ("${" in text or "$'" in text or "$@" in text or "$()" in text))
        or ("{" in text[1:] and ("(){" in text or "() {" in text))
    )


def in_path(path: str) -> bool:
    """For the path of a file tool."""
    if path[:1] in (".", "~") or "/." in path or _META.search(path):
        return True
    unknown = set(_without_digits(path).split("/")) - _harmless_parts
    if unknown:
        if any(_PLACES.search(part) or _FILES.search(part) for part in unknown):
            return True
        _keep(_harmless_parts, unknown)
    return False


def _tells(word: str) -> bool:
    if word in _telling or _DOTS.match(word):
        return word in _telling
    return (
        word[0] in ".~"
        or _PLACES.search(word) is not None
        or word.startswith(_families)
        or ("." in word and not _WORDS.isdisjoint(word.split(".")))
    )


def _keep(known: set[str], words: set[str]) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known |= words
