"""The output of `codex exec --json`: events of a thread, of which the items make turns and results."""

from __future__ import annotations

from typing import Any

from ...model import ToolCall, compact_json
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register, values_of
from ..blocks import Blocks
from ..conversations import records
from ..parts import usage_of
from ..steps import Ran, Said, Steps

_EVENTS = {"thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.updated", "item.completed", "error"}  # fmt: skip
_CALLS = {
    "command_execution": ("shell", ("command",), "aggregated_output"),
    "file_change": ("apply_patch", ("changes",), ""),
    "mcp_tool_call": ("", (), "result"),
    "web_search": ("web_search", ("query",), ""),
    "collab_tool_call": ("", ("prompt", "receiver_thread_ids"), "agents_states"),
    "todo_list": ("update_plan", ("items",), ""),
}
"""Items that are a tool's run: the name of the tool, its arguments (else they are the item's own), where its output is."""


@register("reader", "codex_exec")
class CodexExec:
    """One trace a file, its turns in order. Reasoning, a message and the run of a tool are items; an item is told as it was when it was completed.

    The text before a run is of the turn that asked for it. The usage of `turn.completed` is that of all model calls since `turn.started`: it is
    the usage of the last turn where that was the only one, else it is kept in `meta`. The user's prompt is not printed: a turn begins without it.

    Source: github.com/openai/codex, `codex-rs/exec/src/exec_events.rs`; developers.openai.com/codex/noninteractive
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "errors", "reasoning"),
        never="the user's prompt, instructions, tool definitions, times, usage by call, the model's name: none of them is printed",
        tested="codex exec --json of October 2025, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        kinds = [str(line.get("type")) for line in records(document)]
        items = any(kind.startswith("item.") for kind in kinds)
        return by_marks({"events of a thread": bool(kinds) and set(kinds) <= _EVENTS, "items": items})

    def read(self, document: Document) -> Traces:
        """The file's one thread; its id and the usage of its turns are in `meta`."""
        lines, run = values_of(document), _ExecRun()
        for line in lines:
            run.event(line)
        run.end()
        yield run.trace(document, "codex_exec", lines[0])


class _ExecRun(Steps):
    def __init__(self) -> None:
        super().__init__()
        self.turn = Blocks()
        self.turns = 0

    def event(self, line: Node) -> None:
        kind = line["type"].text()
        if kind == "thread.started":
            self.meta["session_id"] = line["thread_id"].text()
        elif kind == "item.completed":
            self._item(line["item"])
        elif kind in ("turn.completed", "turn.failed"):
            self.end(line["usage"])
            if line["usage"].value is not None:
                self.meta.setdefault("usage_of_turns", []).append(line["usage"].value)
            if line["error"].value is not None:
                self._error(line["error"])
        elif kind == "error":
            self._error(line)
        elif kind not in _EVENTS:
            self.unread.kind("event", kind)

    def _error(self, node: Node) -> None:
        self.meta.setdefault("errors", []).append(node["message"].value)

    def _item(self, item: Node) -> None:
        kind = item["type"].text_or_none() or item["item_type"].text()
        if kind in ("reasoning", "agent_message", "assistant_message"):
            if self.turn.calls:
                self.end()
            (self.turn.thoughts.append if kind == "reasoning" else self.turn.text)(item["text"].text())
        elif kind in _CALLS:
            self._ran(item, kind)
        elif kind == "error":
            self._error(item)
        else:
            self.unread.kind("item", kind)

    def end(self, usage: Node | None = None) -> None:
        alone = usage_of(usage) if usage is not None and not self.turns and not self.turn.calls else None
        told, self.turn = self.turn.answer(usage=alone), Blocks()
        self.turns += bool(told)
        self.tell(told)

    def _ran(self, item: Node, kind: str) -> None:
        name, given, held = _CALLS[kind]
        told = item[held].value if held else None
        code, error = item["exit_code"].value, item["error"].value
        failed = code not in (0, None) or item["status"].value in ("failed", "declined") or error is not None
        self.unread.add(f"result of {name or kind}, which is not printed", told is None and error is None)
        arguments = {key: item[key].value for key in given} if given else item["arguments"].value
        call = ToolCall(id=item["id"].text(), name=name or item["tool"].text_or_none() or kind, arguments=arguments)
        why = error.get("message") if isinstance(error, dict) else error
        text = _text(told) or str(why or item["status"].value or "")
        ran = Ran(data=as_dict(told).get("structured_content"))
        self.turn.calls.append(call)
        error = str(why) if why else None
        self.turn.results.append(Said("tool", text, call_id=call.id, failed=failed, error=error, ran=ran))


def _text(told: Any) -> str:
    if told is None or isinstance(told, str):
        return told or ""
    texts = [block["text"] for block in dicts(as_dict(told).get("content")) if isinstance(block.get("text"), str)]
    return "\n".join(texts) if texts else compact_json(told)
