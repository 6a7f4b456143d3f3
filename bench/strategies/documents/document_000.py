"""Document 000, "Post-Execution Summary Workflow": summaries of script results, and the reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import ToolResult, as_text
from ...model.outcome import OUTPUT, PARAMETERS, SELECTED, SUMMARY, TASK_STATE
from ...plugins.registry import register
from .. import Execution, Reply
from ..settings import Count
from . import Noise, ScriptOutput, rows_of, script_output

Value = dict[str, Any] | None


@register("summarizer", "table_console")
def table_console(
    result: ToolResult, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status"
) -> Value:
    """The first rows of a table longer than `max_rows`, else lines of a long log.

    Status lines are taken out of the log before it is measured: `noise="status"` those that report
    the execution itself, `noise="markers"` every line that starts with ✅ or ❌, answers included.
    Where table data cannot be read, the rule falls through.

    Source: 000 Step 3

    >>> log = {"output": "✅ Code executed successfully\\na\\nb"}
    >>> result = ToolResult(index=0, call_id="a", function="f", data=log)
    >>> table_console(result, max_lines=1)["console"]
    {'line_count': 2, 'truncated_lines': ['a']}
    """
    output = script_output(result)
    rows, lines = output.rows(more_than=max_rows), output.without(noise)
    if rows is not None:
        message = f"Table with {len(rows)} rows; first {max_rows} shown."
        table = {"row_count": len(rows), "truncated_rows_json": rows[:max_rows]}
        return {"type": "table", "message": message, "table": table}
    if len(lines) <= max_lines:
        return None
    message = f"{len(lines)} console lines; first {max_lines} shown."
    console = {"line_count": len(lines), "truncated_lines": list(lines[:max_lines])}
    return {"type": "console", "message": message, "console": console}


# ---------------------------------------------------------------- the agent's reply


_WORDING = {
    "table": ("returned a table of", "row", "Table", ("truncated_rows_json", "truncated_rows")),
    "console": ("printed", "line", "Console", ("truncated_lines",)),
}


@register("consumer", "building_agent")
def building_agent(
    execution: Execution, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status"
) -> Reply:
    """The agent's reply to one execution: from its summary, else from a short raw output.

    Paths: `table` and `console` (a summary of that type: its first rows or lines), `text` (any
    other summary), `empty` (no output, or status lines alone), `message` (a short output, or the
    message of a failed execution), and `error`: an output that the summarizer should have
    summarised. On every path the task state is cleared and the run goes to `END`.

    Source: 000 Step 5; 001 §2

    >>> log = {"output": "✅ Wall created.\\n✅ Code executed successfully"}
    >>> result = ToolResult(index=0, call_id="a", function="f", data=log)
    >>> reply = building_agent(Execution(result, None))
    >>> reply.path, reply.text, reply.state, reply.route
    ('message', 'The script ran and returned the following message: ✅ Wall created.', {}, 'END')
    """
    if execution.summary is not None:
        path, text = _of_summary(execution.summary, _failure(execution.result))
    else:
        path, text = _of_output(execution.result, max_rows, max_lines, noise)
    left = {key: value for key, value in task_state(execution).items() if key not in TASK_STATE}
    return Reply(text, path, left, "END")


def task_state(execution: Execution) -> dict[str, Any]:
    """The state of the task when the agent replies: script, parameters, output and summary."""
    result = execution.result
    arguments = result.arguments if isinstance(result.arguments, Mapping) else {}
    return {
        SELECTED: arguments.get("script_name", result.function),
        PARAMETERS: arguments.get("parameters", dict(arguments)),
        SUMMARY: execution.summary,
        OUTPUT: result.value,
    }


def _of_summary(summary: Any, failure: str | None) -> tuple[str, str]:
    """The path and the text of a reply from a summary."""
    ran = "The script ran successfully" if failure is None else f"The script failed ({failure})"
    path = summary.get("type") if isinstance(summary, Mapping) else None
    if path not in _WORDING:
        return "text", f"{ran}: {as_text(summary)}"
    did, unit, tab, keys = _WORDING[path]
    inner = summary.get(path)
    # A summary of `count_only` has no inner part.
    body = inner if isinstance(inner, Mapping) else summary
    first: list[Any] = next((body[key] for key in keys if isinstance(body.get(key), list)), [])
    count = body.get(f"{unit}_count", len(first))
    listed = (
        f" Here are the first {unit}s:\n" + "\n".join(map(as_text, first)) + "\n" if first else ""
    )
    what = f"{ran} and {did} {count} {unit}{'s' * (count != 1)}."
    return path, f"{what}{listed} See the {tab} tab for all of it."


def _of_output(result: ToolResult, max_rows: int, max_lines: int, noise: Noise) -> tuple[str, str]:
    """The path and the text of a reply from the output, without a summary."""
    output = script_output(result)
    lines = output.without(noise)
    read = [rows_of(data) for data in output.tables]
    tables = [rows for rows in read if rows is not None]
    longest = max(map(len, tables), default=0)
    if len(lines) > max_lines or longest > max_rows:
        problem = f"an output of {len(lines)} lines and a table of {longest} rows"
        what = f"no summary was made of {problem}: the summarizer is at fault."
        return "error", f"The output is too long to be shown, and {what}"
    texts = [*lines, *(as_text(row) for rows in tables for row in rows), *_other_items(output)]
    texts += ["A table came back that cannot be read."] * read.count(None)
    failure = _failure(result)
    if failure is not None:
        if failure not in "\n".join(texts):
            texts.append(failure)
        return "message", "The script failed: " + "\n".join(texts)
    if not texts:
        return "empty", "Action completed successfully."
    text = "\n".join(texts)
    return "message", f"The script ran and returned the following message: {text}"


def _other_items(output: ScriptOutput) -> list[str]:
    """The texts of the items that are not tables."""
    items = output.items
    is_table = [isinstance(item, dict) and item.get("type") == "table" for item in items]
    return [as_text(item) for item, table in zip(items, is_table, strict=True) if not table]


def _failure(result: ToolResult) -> str | None:
    """The error message of a failed execution; None if it did not fail."""
    data = result.data if isinstance(result.data, dict) else {}
    if result.success and data.get("is_success", True):
        return None
    return result.error or as_text(
        data.get("error_message") or data.get("error_details") or "no reason was given"
    )
