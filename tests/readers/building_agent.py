"""Sessions of the building-model agent of documents 000, 001 and 003, with raw execution results and the script manifest."""

from __future__ import annotations

import re
from typing import Any

from bench.model import ToolResult
from bench.traces import Confidence, Document, Traces
from bench.traces.intakes.messages import messages as read_messages
from bench.traces.steps import ReadMessage, Steps, traces_of
from bench.traces.values import dicts

_RAW = "raw_execution_result"
_ESCAPED_BREAK = re.compile(r"(?<!\\)((?:\\\\)*)\\r\\n")


class BuildingAgent:
    """One session: chat messages whose tool messages hold the raw execution result, `{source, manifest, messages}` around them.

    A raw result becomes the result's `data`, its keys spelled as recorded (`structuredOutput` or `structured_output`), and every `\\r\\n` is
    `\\n`, inside a table's JSON too. Keys that were not recorded are left out; without `is_success` a result counts as a success. What the
    model saw was not recorded (`seen` is None). The manifest is in `meta`.

    Not kept: what the model saw, usage, times.

    Source: 000 Steps 1–2, 003 §3. Tested: one published session of the agent of documents 000, 001
    and 003
    """

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        framed = isinstance(head, dict) and "manifest" in head
        messages = head.get("messages") if isinstance(head, dict) else head
        if not isinstance(messages, list):
            return Confidence.NO
        if any(_RAW in item for item in dicts(messages)):
            return Confidence.CERTAIN
        return Confidence.POSSIBLE if framed else Confidence.NO

    def read(self, document: Document) -> Traces:
        """The file's one session, its id that of the object around the messages, if it has one."""
        whole = document.json if isinstance(document.json, dict) else {"messages": document.json}
        steps = Steps()
        for message in whole["messages"]:
            if message.get("role") == "tool" and _RAW in message:
                steps.add(ToolResult, **_result(steps, message))
            else:
                steps.add_messages(read_messages([message], steps.unread))
        steps.meta = {key: whole[key] for key in ("source", "manifest") if key in whole}
        steps.id, steps.labels = whole.get("id") or "", whole.get("labels", {})
        return traces_of(document, "building_agent", [steps])


def _result(steps: Steps, message: dict[str, Any]) -> dict[str, Any]:
    call = steps.take_call(ReadMessage("tool", call_id=message["tool_call_id"]))
    data = {key: _unix(value) for key, value in message[_RAW].items()}
    return {
        "call_id": call.id,
        "function": call.name,
        "arguments": call.arguments,
        "success": data.get("is_success", True),
        "seen": message.get("content"),
        "data": data,
        "error": message[_RAW].get("error_message") or None,
    }


def _unix(value: Any, is_json: bool = False) -> Any:
    """The value with `\\n` for every `\\r\\n`; a table's rows are JSON in the string `data`, which may also hold one escaped."""
    if isinstance(value, str):
        text = value.replace("\r\n", "\n")
        return _ESCAPED_BREAK.sub(r"\1\\n", text) if is_json else text
    if isinstance(value, list):
        return [_unix(item) for item in value]
    if isinstance(value, dict):
        return {key: _unix(item, key == "data") for key, item in value.items()}
    return value
