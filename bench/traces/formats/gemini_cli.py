"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session, and the histories that `/chat save` writes."""

from __future__ import annotations

from typing import Any

from ...model import ToolCall, text_of
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..blocks import Blocks
from ..conversations import records
from ..keyed import is_keyed, said_of_keyed, unwrapped
from ..nodes import moment
from ..parts import usage_of
from ..steps import Ran, Said, Steps

_MESSAGE = {"id", "timestamp", "type", "content", "toolCalls", "thoughts", "model", "tokens", "displayContent"}
_SPOKEN = ("user", "gemini", "model")
_FIRST = 3
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")


@register("reader", "gemini_cli")
class GeminiCLI:
    """One session a file: `{sessionId, messages}`, a line of JSON each in later versions and in Qwen Code's, a list of `{role, parts}` that was
    saved by hand, or what `--output-format stream-json` printed, a session each.

    A message of type `gemini` is a turn with its thoughts, its tokens and its `toolCalls`; each call holds its own result, of which an object
    around one text is that text. Calls that were cancelled or failed did not succeed. What the CLI told its user alone is counted.

    Source: github.com/google-gemini/gemini-cli, `packages/core/src/services/chatRecordingService.ts` (ConversationRecord)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "reasoning", "model"),
        never="the system prompt, tool definitions, how the run ended, results above what the model was sent",
        tested="sessions of Gemini CLI of October 2025, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head
        if isinstance(head, list):
            saved = bool(head) and all(is_keyed(item) and "parts" in item and "kind" not in item for item in head)
            typed = saved and any("type" in part for item in head for part in item["parts"])
            return Confidence.CERTAIN if saved and not typed else Confidence.NO
        first = as_dict(head)
        started = [line for line in records(document)[:_FIRST] if line.get("type") == "init" and "session_id" in line]
        if started or (is_keyed(first.get("message")) and "sessionId" in first):
            return Confidence.CERTAIN
        known = "sessionId" in first and ("projectHash" in first or {"startTime", "lastUpdated"} <= first.keys())
        marks = {"a session's id and its project's hash, or its times": known}
        if any(marks.values()):
            lines = document.readable_lines if document.is_json_lines else None
            spoken = any(item.get("type") in _SPOKEN for item in dicts(lines or first.get("messages")))
            marks["messages of type user or gemini"] = spoken
        return by_marks(marks)

    def read(self, document: Document) -> Traces:
        """The file's session; its id is in `meta`."""
        values = values_of(document)
        steps, meta = Steps(), {}
        head = values[0] if values else document.node()
        if any(value["type"].value == "init" for value in values[:_FIRST]):
            yield from _streamed(document, values)
            return
        if head.has("message"):  # Qwen Code's
            for line in values:
                usage, t = usage_of(line["usageMetadata"]), moment(line["timestamp"])
                told = said_of_keyed(line["message"], steps.unread) if line["message"].value else []
                steps.tell(told, t=t, model=line["model"].text_or_none(), usage=usage)
            yield steps.trace(document, "gemini_cli", head, meta={"session_id": head["sessionId"].text()})
            return
        if is_keyed(head.value):
            for message in values:
                steps.tell(said_of_keyed(message, steps.unread))
        else:
            listed = head["messages"].items()
            if len(values) > 1:  # a line says a message anew
                listed = list({str(message["id"].value): message for message in (*listed, *values[1:])}.values())
            for message in listed:
                _say(steps, message)
            meta = {"session_id": head["sessionId"].text(), "project": head["projectHash"].value}
        yield steps.trace(document, "gemini_cli", head, meta=meta)


def _streamed(document: Document, lines: list[Node]) -> Traces:
    """The sessions that `--output-format stream-json` printed: what was said and called up to a result is a turn."""
    runs: list[list[Node]] = [[]]
    for told in lines:
        if told["type"].value == "init" and any(known["type"].value == "init" for known in runs[-1]):
            runs.append([])
        runs[-1].append(told)
    for run in runs:
        steps, turn = Steps(), Blocks()
        meta: dict[str, Any] = {}
        ended: list[Node | None] = [*run, None]
        model = next((known["model"].text_or_none() for known in run if known["type"].value == "init"), None)
        for line in ended:
            kind = "end" if line is None else line["type"].text()
            if line is None or (kind in ("message", "tool_use") and (turn.results or line["role"].value == "user")):
                steps.tell(turn.answer(), model=model)
                turn = Blocks()
            if line is None:
                break
            if kind == "message" and line["role"].value == "user":
                steps.say(Said("user", line["content"].text()), t=moment(line["timestamp"]))
            elif kind == "message":
                before = text_of((turn.parts.pop(),)) if line["delta"].value and turn.parts else ""
                turn.text(before + line["content"].text())
            elif kind == "tool_use":
                call = ToolCall(
                    id=line["tool_id"].text(), name=line["tool_name"].text(), arguments=line["parameters"].value
                )
                turn.calls.append(call)
            elif kind == "tool_result":
                why, shown = (
                    line["error"]["message"].text_or_none() if line["error"].value else None,
                    line["output"].text_or_none(),
                )
                ran = Ran(failed=line["status"].value == "error", error=why, t=moment(line["timestamp"]))
                turn.results.append(Said("tool", shown or why or "", call_id=line["tool_id"].text(), ran=ran))
            elif kind in ("init", "result"):
                meta |= {key: line[key].value for key in ("session_id", "stats") if line.has(key)}
            else:
                steps.unread.kind("event", kind)
        yield steps.trace(document, "gemini_cli", run[0], meta=meta)


def _say(steps: Steps, message: Node) -> None:
    kind, t = message["type"].value, moment(message["timestamp"])
    if kind not in _SPOKEN:
        steps.unread.kind("message", kind) if kind not in _NOTES else steps.unread.add("message to the user alone")
        return
    steps.unread.keys(message, _MESSAGE, "a message")
    role = "user" if kind == "user" else "model"
    told = said_of_keyed(message.made({"role": role, "content": message["content"].value}), steps.unread)
    if kind == "user":
        steps.tell(told, t=t)
        return
    named = [
        [thought[key].text_or_none() or "" for key in ("subject", "description")]
        for thought in message["thoughts"].items()
    ]
    calls = message["toolCalls"].items()
    made = tuple(
        ToolCall(id=call["id"].text_or_none() or "", name=call["name"].text(), arguments=call["args"].value)
        for call in calls
    )
    said = Said("assistant", told[0].content, made, "\n".join(map(": ".join, named)) or None)
    steps.say(said, t=t, model=message["model"].text_or_none(), usage=usage_of(message["tokens"]))
    for call in calls:
        _result(steps, call)


def _result(steps: Steps, call: Node) -> None:
    held, status = call["result"], call["status"].value
    spoken = (
        [part.made({"role": "user", "parts": [part.value]}) for part in held.items()]
        if isinstance(held.value, list)
        else []
    )
    texts = [said for part in spoken for said in said_of_keyed(part, steps.unread)]
    if not texts and status in _PENDING:
        return
    shown = "\n".join(said.text for said in texts if said.text)
    if not texts and held.value is not None:
        shown = str(unwrapped(held.value)[0])
    failed = status not in (None, "success") or any(said.failed for said in texts)
    ran, error = Ran(failed=failed, t=moment(call["timestamp"])), shown if failed and shown else None
    call_id, name = call["id"].text_or_none() or "", call["name"].text()
    steps.say(Said("tool", shown, call_id=call_id, name=name, ran=ran, error=error))
