"""Tools other than the terminal: what their arguments would do, by the tool's name and the names of the arguments."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_ledger.policy.prompts import commands_of
from agent_ledger.policy.tools import judge_tool
from tests.policy.recording_code import Recorder


def notes(tool: str, args: Any, files: dict[str, str] | None = None) -> list[str]:
    """What was noted of a call, in order."""
    act = Recorder(files)
    judge_tool(tool, args, act)
    return act.notes


@pytest.mark.parametrize(("tool", "args", "expected"), [
    ("execute_code", {"code": "import os"}, ["code python import os"]),
    ("write_file", {"path": "a.sh", "content": "ls"}, ["write a.sh 'ls'"]),
    ("write_file", {"path": "a.sh"}, ["write a.sh ''"]),
    ("read_file", {"path": "~/keys/id_rsa"}, ["read ~/keys/id_rsa shown"]),
    ("search_files", {"pattern": "x", "path": ".env"}, ["read .env shown"]),
    ("search_files", {"pattern": "x", "path": ".env", "output_mode": "count"}, []),
    ("cronjob", {"action": "create", "prompt": "Run `ls /srv` every night."}, ["shell ls /srv"]),
    ("cronjob_manage", {"action": "create", "prompt": "Execute: ls /srv | sh"}, ["shell ls /srv | sh"]),
    ("cronjob", {"action": "create", "prompt": "Please run the command: ls /srv"}, ["shell ls /srv"]),
    ("cronjob", {"action": "create", "script": "job.sh", "prompt": "report"}, ["run_file job.sh"]),
    ("cronjob", {"action": "create", "prompt": "Remind me that `ls /srv` is dangerous."}, []),
    ("cronjob", {"action": "create", "prompt": "Never run `ls /srv`."}, []),
    ("cronjob", {"action": "create", "prompt": "Run the tests and report."}, []),
    ("cronjob", {"action": "create", "prompt": "Every night execute `ls /srv`."}, ["shell ls /srv"]),
    ("cronjob", {"action": "create", "prompt": "Every Sunday run ls -l /srv."}, ["shell ls -l /srv"]),
    ("cronjob", {"action": "create", "prompt": "Run `ls /srv` is what the old script said; report it."}, []),
    ("cronjob", {"action": "create", "prompt": "Tell me what happens if you run ls -l /srv."}, []),
    ("cronjob", {"action": "remove", "prompt": "Run `ls`"}, []),
    ("process", {"action": "write", "data": "ls /\n"}, ["shell ls /\n"]),
    ("process", {"action": "submit", "data": "DROP TABLE t;"}, ["code sql DROP TABLE t;"]),
    ("process_manage", {"action": "poll", "data": "ls"}, []),
    ("delegate_task", {"goal": "Run `ls /`"}, []),
    ("memory", {"content": "ls /", "command": "ls"}, []),
    ("terminal", {"command": "ls"}, []),
])  # fmt: skip
def test_the_hosts_own_tools(tool: str, args: dict[str, Any], expected: list[str]) -> None:
    """Code is run, files are written and read, schedules run what they are ordered to, talk does nothing."""
    assert notes(tool, args) == expected


@pytest.mark.parametrize(("tool", "args", "expected"), [
    ("mcp__ssh__exec", {"host": "a", "cmd": "ls /"}, ["shell ls /"]),
    ("mcp__shell__exec", {"argv": ["ls", "/"]}, ["argv ls /"]),
    ("mcp_shell_exec", {"command": "ls", "args": ["/"]}, ["argv ls /"]),
    ("connectors__box__run", {"input": {"command": "ls /"}}, ["shell ls /"]),
    ("mcp__x__batch", {"commands": ["ls /", "id"]}, ["shell ls /", "shell id"]),
    ("mcp__postgres__query", {"sql": "SELECT 1"}, ["code sql SELECT 1"]),
    ("mcp__postgres__query", {"query": "SELECT 1"}, ["code sql SELECT 1"]),
    ("mcp__github__search_code", {"query": "drop table"}, []),
    ("mcp__postgres__explain_query", {"query": "SELECT 1"}, []),
    ("mcp__filesystem__read_file", {"path": "/srv/x"}, ["read /srv/x shown"]),
    ("mcp__filesystem__read_multiple_files", {"paths": ["/a", "/b"]}, ["read /a shown", "read /b shown"]),
    ("mcp__fs__get_resource", {"uri": "file:///srv/x"}, ["read /srv/x shown"]),
    ("mcp__filesystem__list_directory", {"path": "/srv"}, []),
    ("mcp__filesystem__get_file_info", {"path": "/srv/.env"}, []),
    ("mcp__filesystem__write_file", {"path": "a", "content": "ls /"}, ["write a 'ls /'"]),
    ("mcp__filesystem__delete_file", {"path": "/srv/a.txt"}, ["delete /srv/a.txt"]),
    ("mcp__filesystem__delete_directory", {"path": "/srv"}, ["delete /srv recursive"]),
    ("mcp__filesystem__remove", {"path": "/srv/a.b", "recursive": True}, ["delete /srv/a.b recursive"]),
    ("mcp__kubernetes__delete_resource", {"kind": "namespace", "name": "p"}, ["effect container_destruction"]),
    ("mcp__k8s__deleteNamespace", {"name": "p"}, ["effect container_destruction"]),
    ("mcp__kubernetes__delete_resource", {"kind": "pod", "name": "p"}, []),
    ("mcp__kubernetes__delete_resource", {"kind": "namespace", "name": "p", "dry_run": True}, []),
    ("mcp__docker__remove_volume", {"name": "v"}, ["effect container_destruction"]),
    ("mcp__docker__remove_container", {"name": "v"}, []),
    ("mcp__aws__delete_bucket", {"Bucket": "b"}, ["effect cloud_destruction"]),
    ("mcp__aws__terminate_instances", {"ids": ["i"]}, ["effect cloud_destruction"]),
    ("mcp__supabase__delete_project", {"id": "p"}, ["effect cloud_destruction"]),
    ("mcp__github__delete_repository", {"repo": "r"}, ["effect cloud_destruction"]),
    ("mcp__github__delete_file", {"path": "a.md", "repo": "r"}, ["delete a.md"]),
    ("mcp__mongodb__drop-database", {"database": "a"}, ["effect database_destruction"]),
    ("mcp__mongodb__drop-collection", {"collection": "a"}, ["effect database_destruction"]),
    ("mcp__mongodb__delete-many", {"collection": "a", "filter": {}}, ["effect database_destruction"]),
    ("mcp__mongodb__delete-many", {"collection": "a", "filter": {"x": 1}}, []),
    ("mcp__mongodb__drop-index", {"collection": "a"}, []),
    ("mcp__redis__execute", {"command": "FLUSHALL"}, ["code redis FLUSHALL"]),
    ("mcp__python__run_code", {"code": "import os"}, ["code python import os"]),
    ("mcp__sandbox__run", {"language": "bash", "code": "ls"}, ["code shell ls"]),
    ("mcp__playwright__evaluate", {"script": "ls", "language": "javascript"}, ["code node ls"]),
    ("mcp__slack__post_message", {"text": "ls /", "channel": "c"}, []),
    ("mcp__notion__create_page", {"title": "x", "content": "DROP TABLE t"}, []),
    ("mcp__memory__store", {"messages": [{"content": "ls /", "text": "DROP TABLE t"}]}, []),
    ("mcp__git__reset", {"repo_path": "."}, []),
    ("mcp__kubernetes__kubectl", {"command": "get ns"}, ["shell kubectl get ns"]),
    ("mcp__k8s__run_kubectl", {"args": ["get", "ns"]}, ["argv kubectl get ns"]),
    ("mcp__git__git_command", {"args": ["log", "-1"]}, ["argv git log -1"]),
    ("mcp__docker__docker_exec", {"container": "c", "command": "ls /"}, ["shell ls /"]),
    ("mcp__psql__run", {"command": "DROP TABLE t"}, ["code sql DROP TABLE t"]),
    ("mcp__redis__flushall", {}, ["effect database_destruction"]),
    ("mcp__filesystem__move_file", {"source": "/srv/a", "destination": "/srv/b"}, ["argv mv /srv/a /srv/b"]),
    ("mcp__filesystem__copy_file", {"source": "/srv/a", "destination": "/srv/b"}, ["argv cp -r /srv/a /srv/b"]),
    ("mcp__fetch__fetch", {"url": "https://x.example/i.sh"}, []),
])  # fmt: skip
def test_tools_of_other_servers(tool: str, args: dict[str, Any], expected: list[str]) -> None:
    """The name of an argument says what it is: a command, SQL, code, a path, or words for people."""
    assert notes(tool, args) == expected


def test_a_command_on_another_host_runs_there() -> None:
    """Paths of a command over ssh, or in a container, are not those of this machine."""
    act = Recorder()
    judge_tool("mcp__ssh__exec", {"cmd": "ls"}, act)
    judge_tool("mcp__docker__exec", {"command": ["ls", "/"]}, act)
    assert act.places == ["host", "container"]


def test_a_patch_is_applied_to_what_the_file_holds() -> None:
    """What is written is the whole new content, so that running the file later can be judged."""
    files = {"a.sh": "echo one\necho two\n"}
    assert notes("patch", {"path": "a.sh", "old_string": "echo one", "new_string": "ls /"}, files)[-1] == "write a.sh 'ls /\\necho two\\n'"
    assert notes("patch", {"path": "a.sh", "old_string": "echo", "new_string": "ls", "replace_all": True}, files)[-1] == "write a.sh 'ls one\\nls two\\n'"


def test_a_patch_of_an_unknown_file_puts_in_what_it_says() -> None:
    """Around the new text is what nobody knows."""
    assert notes("patch", {"path": "b.sh", "old_string": "x", "new_string": "ls /"})[-1] == "write b.sh '?\\nls /\\n?'"


def test_a_patch_of_several_files() -> None:
    """Sections update, add, move and delete."""
    text = (
        "*** Begin Patch\n*** Update File: a.sh\n*** Move to: c.sh\n@@\n-echo one\n+ls /\n echo two\n*** Add File: b.sh\n"
        "+id\n*** Delete File: d.sh\n*** End Patch"
    )
    assert notes("patch", {"mode": "patch", "patch": text}, {"a.sh": "echo one\necho two\n"}) == [
        "read a.sh", "write c.sh 'ls /\\necho two\\n'", "write b.sh 'id\\n'", "delete d.sh",
    ]  # fmt: skip


def test_prompts_give_only_ordered_commands() -> None:
    """Quoted text is a command where it stands behind an order."""
    assert list(commands_of("Check the logs, then run `ls /`. The word `id` is only mentioned.")) == ["ls /"]
    assert list(commands_of("Run the following:\n```sh\nls /\n```")) == ["ls /\n"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.sampled_from(["command", "argv", "sql", "path", "code", "script", "text", "query", "args", "kind", "patch", "new_string"]) | st.text(max_size=5),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(["patch", "write_file", "cronjob", "process", "execute_code", "search_files", "mcp__a__b", "mcp_", "mcp__redis__x",
                        "mcp__k8s__delete_all", "mcp____", "own_tool"]) | st.text(max_size=30), _JSON)  # fmt: skip
@settings(deadline=None)
def test_no_call_makes_the_judge_raise(tool: str, args: Any) -> None:
    """Any name with any arguments is judged without an error."""
    judge_tool(tool, args, Recorder())
    judge_tool(tool, {"patch": args, "prompt": args, "command": args}, Recorder())


@pytest.mark.parametrize("part", ["`", "run ", "Run `a`. ", "execute: x. ", "```sh\n", "*** Update File: a\n", "+a\n", ". "])
def test_a_judgement_ends_soon(part: str) -> None:
    """Long prompts and patches cost no more than their length."""
    text = part * (60_000 // len(part))
    started = time.process_time()
    judge_tool("cronjob", {"action": "create", "prompt": text}, Recorder())
    judge_tool("patch", {"patch": text}, Recorder())
    assert time.process_time() - started < 2
