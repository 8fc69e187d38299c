"""Run by a host's interpreter: begin a turn of a session, and print as JSON what the plugins add to its user
message."""

from __future__ import annotations

import json
import sys

from hermes_cli.plugins import discover_plugins, invoke_hook

session, words = sys.argv[1:]
discover_plugins()
answers = invoke_hook(
    "pre_llm_call",
    session_id=session,
    task_id=session,
    turn_id=f"{session}:{session}:0000000f",
    user_message=words,
    conversation_history=[{"role": "user", "content": words}],
    is_first_turn=False,
    model="scripted-model",
    platform="cli",
    sender_id="",
)
context = "\n\n".join(answer["context"] for answer in answers if isinstance(answer, dict) and answer.get("context"))
print(json.dumps({"context": context}))
