"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session, and the histories that `/chat save` writes."""

from __future__ import annotations

from ...model import ToolCall
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..keyed import is_keyed, said_of_keyed, unwrapped
from ..nodes import moment
from ..parts import usage_of
from ..steps import Ran, Said, Steps

_MESSAGE = {"id", "timestamp", "type", "content", "toolCalls", "thoughts", "model", "tokens", "displayContent"}
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")


@register("reader", "gemini_cli")
class GeminiCLI:
    """One session a file: `{sessionId, messages}`, a line of JSON each in later versions, or a list of `{role, parts}` that was saved by hand.

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
        marks = {"a session's id and its project's hash": {"sessionId", "projectHash"} <= first.keys()}
        if any(marks.values()):
            lines = document.readable_lines if document.is_json_lines else None
            spoken = any(item.get("type") in ("user", "gemini") for item in dicts(lines or first.get("messages")))
            marks["messages of type user or gemini"] = spoken
        return by_marks(marks)

    def read(self, document: Document) -> Traces:
        """The file's session; its id is in `meta`."""
        values = values_of(document)
        steps, meta = Steps(), {}
        head = values[0] if values else document.node()
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


def _say(steps: Steps, message: Node) -> None:
    kind, t = message["type"].value, moment(message["timestamp"])
    if kind not in ("user", "gemini"):
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
    """The result of a call, out of the parts that went back to the model."""
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
