"""A quick look at raw arguments: is there anything that a rule could want to know? Only then a command is parsed, which
takes a hundred times as long. It errs on the side of parsing."""

from __future__ import annotations

import re

from ..policy import registry

_TOKENS = re.compile(r"[\w.~-]+")
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
_telling: frozenset[str] = frozenset()
_families: tuple[str, ...] = ()


def _words() -> frozenset[str]:
    """The programs that the policy engine judges, but the quiet ones, and the words that make those worth a look."""
    global _telling, _families
    if not _telling:
        registry.load()
        _families = tuple(registry.FAMILIES)
        _telling = ((frozenset(registry.PROGRAMS) | frozenset(registry.JUDGES)) - _QUIET) | _WORDS
    return _telling


def in_command(text: str) -> bool:
    """For a shell command or code, as JSON."""
    return not (_telling or _words()).isdisjoint(_TOKENS.findall(text)) or _odd(text) or names_place(text)


def _odd(text: str) -> bool:
    """Words that were put together so as not to be read."""
    return (
        "''" in text
        or "\\\\" in text
        or '\\"\\"' in text
        or "$(" in text and "()" in text
        or "${" in text
        or "$'" in text
        or "$@" in text
        or "`" in text
        or "?" in text
        or "<<" in text
        or "/dev/tcp" in text
        or "/bin/" in text
        or ":(){" in text
        or "://" in text
    )


def names_place(text: str) -> bool:
    """A path that holds secrets, runs by itself, belongs to the system or to the recorder."""
    return (
        "/etc" in text
        or "/." in text
        or "~/" in text
        or ".env" in text
        or ".git" in text
        or "id_" in text
        or "/usr" in text
        or "/boot" in text
        or "/var/spool" in text
        or "/root" in text
        or "/proc" in text
        or "secret" in text
        or "redential" in text
        or ".pem" in text
        or ".key" in text
        or "key." in text
        or "passw" in text
        or "token" in text
        or "oken" in text
        or "agent-ledger" in text
        or "agent_ledger" in text
        or "AGENT_LEDGER" in text
        or "hermes" in text
        or "/dev/sd" in text
        or "/dev/nvme" in text
        or "systemd" in text
        or "cron" in text
        or "ibrary/" in text
        or "hooks" in text
        or ".p12" in text
        or "kube" in text
        or "_KEY" in text
    )


def in_path(path: str) -> bool:
    """For the path of a file tool."""
    return (
        path[:1] in (".", "~")
        or names_place(path)
        or "mcp" in path
        or "plugin" in path
        or "config" in path
        or "settings" in path
        or "SKILL" in path
        or "hook" in path
        or "/bin" in path
        or "/lib" in path
        or "/dev/" in path
        or "profile" in path
        or ";" in path
        or "|" in path
        or "&" in path
        or "$" in path
        or "customize.py" in path
    )
