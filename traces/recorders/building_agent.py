"""The scripted building agent: how one request becomes steps, and what the recorded system showed of each result.

The agent knows only what it was shown: its answers are computed from that text, never from the model behind it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bench.model import (
    AnyStep,
    Approval,
    ModelTurn,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
    as_text,
    lines_of,
)

from .building_scripts import Engine, manifest, parameters_of

BASE_T = 1_789_372_800.0
SHOWN_ROWS = 5

SYSTEM = (
    "You automate a building model by running scripts. Choose the script whose action fits the request, name its parameters, wait for approval, "
    "then report what the execution result says. Quote ids and numbers exactly. Never claim what the result does not show."
)

TOOLS = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": ["script_name"]},
        },
    }
    for name, description, properties in (
        (
            "get_script_parameters_tool",
            "The parameters of a script with their defaults.",
            {"script_name": {"type": "string"}},
        ),
        (
            "run_script_by_name",
            "Ask the user to approve running a script; it runs only after approval.",
            {"script_name": {"type": "string"}, "parameters": {"type": "object"}},
        ),
    )
)


def summary_as_deployed(raw: dict[str, Any]) -> dict[str, Any] | None:
    """What the recorded system made of a raw execution result: the table-and-console rule of document 000 as first deployed.

    Every console line that starts with ✅ or ❌ counts as noise. None where nothing is above five rows or lines.
    """
    for item in raw["structured_output"]:
        try:
            rows = json.loads(item["data"])
        except ValueError:
            continue
        if isinstance(rows, list) and len(rows) > SHOWN_ROWS:
            table = {"row_count": len(rows), "truncated_rows_json": rows[:SHOWN_ROWS]}
            message = f"Table with {len(rows)} rows; first {SHOWN_ROWS} shown."
            return {"type": "table", "message": message, "table": table}
    lines = [line for line in lines_of(raw["output"]) if not line.startswith(("✅", "❌"))]
    if len(lines) <= SHOWN_ROWS:
        return None
    console = {"line_count": len(lines), "truncated_lines": lines[:SHOWN_ROWS]}
    message = f"{len(lines)} console lines; first {SHOWN_ROWS} shown."
    return {"type": "console", "message": message, "console": console}


class Shown:
    """What the agent can read in the text it was given for one execution: tables, console lines, success."""

    def __init__(self, text: str) -> None:
        value = json.loads(text)
        self.tables: list[list[dict[str, Any]]] = []
        self.summarised = "type" in value
        self.error: str = value.get("error_message", "")
        if self.summarised:
            self.tables = [value["table"]["truncated_rows_json"]] if "table" in value else []
            self.lines: list[str] = value.get("console", {}).get("truncated_lines", [])
            self.message: str = value["message"]
            return
        self.lines = lines_of(value["output"])
        self.message = ""
        for item in value["structured_output"]:
            try:
                rows = json.loads(item["data"])
            except ValueError:
                continue
            if isinstance(rows, list):
                self.tables.append(rows)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the first table; `[]` where none was shown."""
        return self.tables[0] if self.tables else []


Answer = str | Callable[[Shown], str]


class Session:
    """One conversation being recorded. `deployed`: results pass through the summary rule before the agent sees them."""

    def __init__(self, name: str, engine: Engine, deployed: bool, folder: str = "building_model") -> None:
        self.name, self.engine, self.deployed, self.folder = name, engine, deployed, folder
        self.steps: list[AnyStep] = []
        self.scripts: dict[str, str] = {}
        self.calls = 0
        self.add(SystemTurn, content=SYSTEM)
        self.add(ToolsChanged, tools=TOOLS)

    def add(self, kind: Any, **values: Any) -> int:
        """Append one step, seven seconds after the one before; gives its index."""
        index = len(self.steps)
        self.steps.append(kind(index=index, t=BASE_T + 7.0 * index, **values))
        return index

    def user(self, text: str, script: str | None = None) -> None:
        index = self.add(UserTurn, content=text)
        if script:
            self.scripts[str(index)] = script

    def reply(self, text: str) -> None:
        self.add(ModelTurn, content=text)

    def _call(self, thought: str, name: str, arguments: dict[str, Any]) -> ToolCall:
        self.calls += 1
        call = ToolCall(id=f"call_{self.calls}", name=name, arguments=arguments)
        self.add(ModelTurn, content=thought, tool_calls=(call,))
        return call

    def parameters(self, request: str, script: str) -> list[dict[str, Any]]:
        """The user asks for something; the agent looks up the script's parameters and names them with their defaults."""
        self.user(request, script)
        call = self._call(f"{script} fits the request.", "get_script_parameters_tool", {"script_name": script})
        found = parameters_of(script)
        self.add(ToolResult, call_id=call.id, function=call.name, arguments=call.arguments, data=found)
        named = ", ".join(f"{p['name']} ({p['type']}, default {p['default']!r})" for p in found)
        self.reply(
            f"{script} takes {named}. Shall I run it, and with which values?"
            if found
            else f"{script} takes no parameters. Shall I run it?"
        )
        return found

    def run(
        self,
        request: str,
        script: str,
        parameters: dict[str, Any],
        answer: Answer,
        thought: str = "",
        approved: bool = True,
    ) -> Shown | None:
        """The user asks, the agent proposes the execution, a person approves or rejects, the script runs, the agent answers."""
        self.user(request, script)
        arguments = {"script_name": script, "parameters": parameters}
        call = self._call(thought or f"I run {script}.", "run_script_by_name", arguments)
        self.add(Approval, call_id=call.id, approved=approved)
        if not approved:
            self.reply(str(answer))
            return None
        raw = self.engine.run(script, parameters)
        summary = summary_as_deployed(raw) if self.deployed else None
        seen = as_text(raw if summary is None else summary)
        self.add(
            ToolResult,
            call_id=call.id,
            function=call.name,
            arguments=arguments,
            success=raw["is_success"],
            seen=seen if self.deployed else None,
            full=None if summary is None else as_text(raw),
            data=raw,
            error=raw["error_message"] or None,
        )
        shown = Shown(seen)
        self.reply(answer if isinstance(answer, str) else answer(shown))
        return shown

    def trace(self) -> Trace:
        return Trace(
            id=self.name,
            source=Source(format="native", path=f"traces/{self.folder}/{self.name}.jsonl"),
            steps=tuple(self.steps),
            labels={"scripts": self.scripts},
            meta={
                "recorder": "traces/record_building_model.py",
                "simulated": "a building model in memory; the scripts really run on it, the user and the agent are scripted",
                "shown": "summary as first deployed, else the raw result" if self.deployed else "the raw result",
                "manifest": manifest(),
            },
        )
