"""The one-line summaries that compaction leaves of a result (the host's context_compressor._summarize_tool_result)."""

from __future__ import annotations

from ..lazily import pattern
from .host_texts import WRAPS_OUTPUT, Meaning, Reading

_ALIASES = {"cronjob_manage": "cronjob", "process_manage": "process", "todo_list": "todo"}
_FAILURE = r" FAILED(?:: [^\n]{1,90})?"
_FAILED = rf"(?P<failed>{_FAILURE})?"
_CHARS = r"\((?P<chars>[\d,]{1,20}) chars(?: result)?\)"
_SUMMARY = pattern(r"\[(?P<tool>[\w.:/-]{1,200})\] ?(?P<rest>[\s\S]{0,2000})")
_ENDINGS = {
    "terminal": pattern(r"ran `[\s\S]{0,100}` -> exit (?P<exit>-?\d{1,10}|\?), \d{1,12} lines output"),
    "write_file": pattern(
        rf"(?:wrote to [\s\S]{{0,1800}} \((?:\d{{1,12}}|\?) lines\)|[\s\S]{{0,1800}}?(?P<failed>{_FAILURE}))"
    ),
    "execute_code": pattern(r"`[\s\S]{0,80}` \(\d{1,12} lines output\)"),
    "memory": pattern(rf"[^\n]{{1,60}}? on [^\n]{{1,60}}?{_FAILED}"),
    "todo": pattern(r"updated task list"),
    "cronjob": pattern(rf"[^\n]{{1,60}}?(?:{_FAILED}| SKIPPED(?:: [^\n]{{1,90}})?)"),
    "process": pattern(rf"[^\n]{{1,60}} session=[^\n]{{1,100}}?{_FAILED}"),
    "skill_manage": pattern(rf"[^\n]{{0,600}}?{_FAILED} {_CHARS}"),
    "search_files": pattern(rf"[\s\S]{{0,1800}} -> (?:\d{{1,12}}|\?) matches{_FAILED}"),
    "clarify": pattern(r"asked user a question|user responded: [\s\S]{1,400}"),
    "skill_view": pattern(rf"[^\n]{{0,600}}?{_CHARS}(?: \[SKILL_PRUNED: [^\n]{{1,400}}\])?{_FAILED}"),
    "browser_console": pattern(rf"[\s\S]{{0,300}}?{_CHARS}{_FAILED}"),
}
_ANY_ENDING = pattern(rf"[\s\S]{{0,1800}}?{_CHARS}{_FAILED}")
_REFUSED = pattern(
    r"\[[\w.:/-]{1,200}\](?: `[\s\S]{0,64}`)? (?:BLOCKED, not run[^\n]{0,120}|awaiting the user's approval, not run)"
)
# A placeholder of a tool whose output the host wraps as untrusted is long enough to be pruned like a result.
_LONGEST_WRAPPED_PLACEHOLDER = 700


def read(text: str, tool_name: str) -> Reading | None:
    """A pruned result's one-line summary: it names the tool of the call, or the bridge that carried it. None for
    any other text."""
    found = _SUMMARY.fullmatch(text)
    if not found:
        return None
    short = _ALIASES.get(tool_name, tool_name)
    named = found["tool"]
    if named not in (tool_name, short, "tool_call", "unknown"):
        return None
    if _REFUSED.fullmatch(text):
        return Reading(Meaning.NEVER_STARTED, "blocked")
    rest = found["rest"]
    ending = _ENDINGS.get(_ALIASES.get(named, named))
    match = (ending.fullmatch(rest) if ending else None) or _ANY_ENDING.fullmatch(rest)
    if not match:
        return None
    groups = match.groupdict()
    if groups.get("failed"):
        return Reading(Meaning.FINISHED_RESULT_GONE, "tool_error")
    if (code := groups.get("exit")) is not None:
        return Reading(Meaning.FINISHED_RESULT_GONE, "ok" if code == "0" else f"exit_{code}" if code.isdigit() else "")
    chars = groups.get("chars")
    if chars and tool_name.startswith(WRAPS_OUTPUT):
        length = int(chars.replace(",", "") or 0)
        return Reading(Meaning.FINISHED_RESULT_GONE if length > _LONGEST_WRAPPED_PLACEHOLDER else Meaning.NOT_A_RESULT)
    return Reading(Meaning.FINISHED_RESULT_GONE)
