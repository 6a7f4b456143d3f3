"""Small traces written by hand, and what their prompts were under a strategy: for tests of strategies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from measured import MeasuredReplay

from bench.model import (
    AnyStep,
    ContextReset,
    Message,
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
)
from bench.strategies import Strategy, build_strategy
from bench.strategies.declaring import declaration

TABLE = {
    "type": "table",
    "data": json.dumps([{"Name": f"Wall_{number}", "Length": number * 1.5} for number in range(36)]),
}
LOG = "✅ Code executed successfully\r\n" + "".join(f"line {number}\r\n" for number in range(12))


def compose(name: str, slots: dict[str, Any], base: Path | None = None) -> Strategy:
    """A strategy of these slots, in this process."""
    return build_strategy(declaration(slots, name), base)


def trace(*steps: AnyStep, id: str = "t", meta: dict[str, Any] | None = None) -> Trace:
    """A trace of these steps, as they are."""
    return Trace(id=id, source=Source(format="native", sha256="0" * 64), steps=steps, meta=meta or {})


def result(text: str | None = None, **fields: Any) -> ToolResult:
    """A tool result with the fields that matter."""
    return ToolResult(**{"index": 0, "call_id": "c", "function": "run_script", "seen": text, **fields})


def shell(turns: int, *, chars: int = 400, thread: str = "main", start: int = 0) -> list[AnyStep]:
    """A shell session: each turn runs a command on what the result before it named, each result names the next file."""
    steps: list[AnyStep] = []
    for turn in range(turns):
        number = start + 2 * turn
        command = f"cat /data/part_{turn}.csv"
        call = ToolCall(id=f"{thread}-{turn}", name="bash", arguments={"command": command}, in_text=True)
        said = f"The file before named it; I read on.\n\nexecute: {command}"
        steps.append(ModelTurn(index=number, thread=thread, content=said, tool_calls=(call,)))
        body = (
            f"<returncode>0</returncode>\n<output>\nnext is /data/part_{turn + 1}.csv\n{'x ' * (chars // 2)}\n</output>"
        )
        steps.append(
            ToolResult(
                index=number + 1, thread=thread, call_id=call.id, function="bash", role="user", seen=body,
                arguments=call.arguments,
            )
        )  # fmt: skip
    return steps


def conversation_of(steps: Iterable[AnyStep], *, id: str = "t") -> Trace:
    """A trace that opens with system and user turn and ends with a model turn; `steps` start at index 2."""
    middle = list(steps)
    return trace(
        SystemTurn(index=0, content="You run commands."),
        UserTurn(index=1, content="Follow the files to the end."),
        *middle,
        ModelTurn(index=2 + len(middle), content="Done."),
        id=id,
    )


def _calls(index: int, *names: str) -> ModelTurn:
    return ModelTurn(index=index, tool_calls=tuple(ToolCall(id=f"{index}-{name}", name=name) for name in names))


SMALL = {
    "empty": trace(),
    "no model turns": trace(UserTurn(index=0, content="hi"), result("total 471", index=1)),
    "only a model turn": trace(ModelTurn(index=0, content="Hello.")),
    "empty results": conversation_of([_calls(2, "a", "b"), result("", index=3, call_id="2-a"), result(None, index=4, call_id="2-b")]),
    "structured": conversation_of(
        [
            _calls(2, "run_script", "perform_enrichment_analyses", "process_cells", "display_umap"),
            result(None, index=3, call_id="2-run_script", data={"is_success": True, "output": LOG, "structured_output": [TABLE]}),
            result(None, index=4, call_id="2-perform_enrichment_analyses", function="perform_enrichment_analyses",
                   data={"go": {"total_significant": 12, "top_terms": ["mitosis"] * 90, "top_pvalues": [0.001] * 90}}),
            result("Discovered 2 cell types: T cell, NK cell", index=5, call_id="2-process_cells", function="process_cells"),
            result("<div>" + "x" * 600 + "</div>", index=6, call_id="2-display_umap", function="display_umap"),
            ModelTurn(index=7, content="Wall_35 is the longest; 12 terms, 0.001."),
        ]
    ),
    "malformed": conversation_of(
        [
            result(None, index=2, data={"output": None, "structured_output": [{"type": "table", "data": "[{"}, 7, None]}),
            result(None, index=3, data={"structuredOutput": {"type": "table", "data": '{"a": 1}'}, "output": ["x"]}),
            result(None, index=4, data=[[1, [2, {"deep": None}]], float("nan"), True]),
            result('{"output": "a\\nb", "structured_output": "[1"', index=5),
            result(None, index=6, data=0),
            result("no call asked for this", index=7, call_id="unknown"),
        ]
    ),
    "failed": conversation_of(
        [
            _calls(2, "display_umap"),
            result("", index=3, call_id="2-display_umap", function="display_umap", success=False, error="ModuleNotFoundError: umap"),
            result("ValueError: 36.5", index=4, function="process_cells", success=False, error="ValueError: 36.5"),
            result(None, index=5, success=False, data={"is_success": False, "output": LOG, "error_message": "no"}),
        ]
    ),
    "unicode": conversation_of(
        [result("値は ✅ \u2028 é\x85 𝒳 /データ/表_1.csv\r\n[1, 2]{", index=2), ModelTurn(index=3, content="/データ/表_1.csv")]
    ),
    "threads": trace(
        *(SystemTurn(index=number, thread=name, content=name) for number, name in enumerate(("main", "critic"))),
        *shell(5, start=2),
        *shell(5, thread="critic", start=12),
        ModelTurn(index=22, content="/data/part_5.csv"),
        ModelTurn(index=23, thread="critic", content="/data/part_5.csv"),
    ),
    "resets and tools": conversation_of(
        [
            ToolsChanged(index=2, tools=({"name": "bash"},)),
            *shell(3, start=3),
            ContextReset(index=9, summary="read three files", kept=(1, 8)),
            *shell(3, start=10),
            ContextReset(index=16),
            RouteDecision(index=17, at="after_result", taken="step_evaluate", router="executor", state={"total_steps": 9}),
            UserTurn(index=18, content="see", non_text=1),
        ]
    ),
    "long": conversation_of(shell(30, start=2)),
}  # fmt: skip
"""Traces that every strategy must get through, by what is odd about them."""


def prompts_of(run: MeasuredReplay) -> list[list[Message]]:
    """The messages of every prompt, in order."""
    return [prompt.messages for prompt in run.prompts]


def prompt_tokens(run: MeasuredReplay) -> int:
    """The tokens of all prompts together."""
    return sum(prompt.tokens for prompt in run.prompts)
