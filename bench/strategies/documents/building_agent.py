"""Consumer `building_agent`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model import ToolResult, as_text
from ...model.run import OUTPUT, PARAMETERS, SELECTED, SUMMARY, TASK_STATE
from ...plugins.registry import register
from .. import Execution, Reply
from ..histories import Count
from . import Noise, script_output, tables_of

_TOLD = {
    "table": ("returned a table of", "row", "Table", ("truncated_rows_json", "truncated_rows")),
    "console": ("printed", "line", "Console", ("truncated_lines",)),
}


@register("consumer", "building_agent")
def building_agent(
    execution: Execution, *, max_rows: Count = 5, max_lines: Count = 5, noise: Noise = "status"
) -> Reply:
    """The agent's reply to one execution: from the summary where there is one, else from the raw output while that is short.

    Paths: `table` and `console` (a summary of that type: its first rows or lines), `text` (any other summary), `empty` (no output, or status lines
    alone), `message` (a short output, or what a failed execution says), and `error`: an output that the summarizer should have summarised. On every
    path the task state is cleared and the run goes to `END`.

    Source: 000 Step 5; 001 §2

    >>> log = ToolResult(index=0, call_id="a", function="f", data={"output": "✅ Wall created.\\n✅ Code executed successfully"})
    >>> reply = building_agent(Execution(log, None))
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
    """Return the state of the task when the agent replies: the script, its parameters, its output, and the summary where there is one."""
    result = execution.result
    arguments = result.arguments if isinstance(result.arguments, Mapping) else {}
    return {
        SELECTED: arguments.get("script_name", result.function),
        PARAMETERS: arguments.get("parameters", dict(arguments)),
        SUMMARY: execution.summary,
        OUTPUT: result.value,
    }


def _of_summary(summary: Any, failure: str | None) -> tuple[str, str]:
    ran = "The script ran successfully" if failure is None else f"The script failed ({failure})"
    path = summary.get("type") if isinstance(summary, Mapping) else None
    if path not in _TOLD:
        return "text", f"{ran}: {as_text(summary)}"
    did, unit, tab, shown = _TOLD[path]
    body = summary.get(path)
    held = body if isinstance(body, Mapping) else summary  # one of counts alone has them at its top, and shows none
    first: list[Any] = next((held[key] for key in shown if isinstance(held.get(key), list)), [])
    count = held.get(f"{unit}_count", len(first))
    listed = f" Here are the first {unit}s:\n" + "\n".join(map(as_text, first)) + "\n" if first else ""
    what = f"{ran} and {did} {count} {unit}{'s' * (count != 1)}."
    return path, f"{what}{listed} See the {tab} tab for all of it."


def _of_output(result: ToolResult, max_rows: int, max_lines: int, noise: Noise) -> tuple[str, str]:
    output = script_output(result)
    lines, unreadable = list(output.without(noise)), list[str]()
    tables = tables_of(output, unreadable)
    if len(lines) > max_lines or any(len(rows) > max_rows for rows in tables):
        longest = max(map(len, tables), default=0)
        problem = f"no summary was made of an output of {len(lines)} lines and a table of {longest} rows"
        return "error", f"The output is too long to be shown, and {problem}: the summarizer is at fault."
    said = [*lines, *(as_text(row) for rows in tables for row in rows)]
    said += [as_text(item) for item in output.items if not (isinstance(item, dict) and item.get("type") == "table")]
    said += ["A table came back that cannot be read."] * len(unreadable)
    failure = _failure(result)
    if failure is not None:
        said = said if failure in "\n".join(said) else [*said, failure]
        return "message", "The script failed: " + "\n".join(said)
    if not said:
        return "empty", "Action completed successfully."
    return "message", "The script ran and returned the following message: " + "\n".join(said)


def _failure(result: ToolResult) -> str | None:
    """Return the message of a failed execution; None where it did not fail. A failure is never reported as a success."""
    data = result.data if isinstance(result.data, dict) else {}
    if result.success and data.get("is_success", True):
        return None
    return result.error or as_text(data.get("error_message") or data.get("error_details") or "no reason was given")
