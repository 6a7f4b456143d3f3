"""Document 001, "Proposed Strategy for Agent Output Summarization": its summary, and its loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from ...model import Message, ToolResult, compact_json
from ...plugins.registry import register
from ..settings import Count
from . import script_output


@register("summarizer", "output_summary")
def output_summary(result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5) -> Any:
    """The first rows of a table; without one, the first lines of a log longer than `max_lines`.

    Where there is a table, however short, the console text is ignored. A short log or an empty
    result gives none. Table data that cannot be read counts as no table.

    Source: 001 §1

    >>> table = {"output": "done", "structured_output": [{"type": "table", "data": "[1,2,3]"}]}
    >>> output_summary(ToolResult(index=0, call_id="a", function="f", data=table), max_rows=2)["table"]
    {'row_count': 3, 'truncated_rows': [1, 2]}
    """
    output = script_output(result)
    rows, lines = output.rows(), output.lines
    if rows is not None:
        shown = rows[:max_rows]
        message = f"Showing {len(shown)} of {len(rows)} rows"
        table = {"row_count": len(rows), "truncated_rows": shown}
        return {"type": "table", "message": message, "table": table}
    if len(lines) <= max_lines:
        return None
    message = f"Showing {max_lines} of {len(lines)} lines"
    console = {"line_count": len(lines), "truncated_lines": list(lines[:max_lines])}
    return {"type": "console", "message": message, "console": console}


@register("router", "after_execution", at="after_result")
def after_execution(state: Mapping[str, Any]) -> str:
    """`respond_with_summary` where the execution left a summary, else `respond_with_raw`.

    Both end the task. A summary that is null counts as none, as in the documents; an empty state is
    `respond_with_raw`.

    Source: 000 Step 5, 001 §2, 003 §3.3

    >>> after_execution({"execution_summary": {"type": "table", "row_count": 50}})
    'respond_with_summary'
    """
    return "respond_with_raw" if state.get("execution_summary") is None else "respond_with_summary"


@register("router", "loop_detector", at="before_model", loop="break_loop")
class LoopDetector:
    """`break_loop` where the prompt shows one call and its result `repeats` times, else `continue`.

    A repetition has the same function, arguments and result. The router sees the model's prompt, so
    compaction can hide a loop, and equal placeholders can look like one. Calls whose result is not
    shown do not count. No prompt: `continue`.

    Source: 001 §2 Step 3 "stuck in a loop"

    >>> from bench.model import Message, ToolCall
    >>> call = Message(role="assistant", text="", kind="model", tool_calls=(ToolCall(id="1", name="ls"),))
    >>> result = Message(role="tool", text="a.csv", kind="result", call_id="1")
    >>> LoopDetector(repeats=2).decide({"prompt": [call, result, call, result]})
    ('break_loop', {'function': 'ls', 'times': 2})
    """

    def __init__(self, *, repeats: Annotated[int, msgspec.Meta(ge=2)] = 3) -> None:
        self.repeats = repeats

    def decide(self, state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The route, with the repeated function and its number of executions as detail."""
        executions = Counter(_executions(state.get("prompt") or ()))
        for (function, _, _), times in executions.most_common(1):
            if times >= self.repeats:
                return "break_loop", {"function": function, "times": times}
        return "continue", {}


def _executions(prompt: Sequence[Message]) -> list[tuple[str, str, str]]:
    """The function, the arguments and the result of each call whose result the prompt shows."""
    open_calls: dict[str | None, tuple[str, str]] = {}
    executions = []
    for message in prompt:
        for call in message.tool_calls:
            open_calls[call.id] = (call.name, compact_json(call.arguments))
        asked = open_calls.pop(message.call_id, None) if message.kind == "result" else None
        if asked is not None:
            executions.append((*asked, message.text))
    return executions
