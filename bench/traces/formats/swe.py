"""Runs of mini-swe-agent (lists of messages and format 1.1) and of SWE-agent (`.traj`)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ...model import ToolCall, as_text
from .. import Confidence, Document, Traces, certain_if, register
from ..decoded import strict_json
from ..intakes.exchange import answers_of
from ..intakes.messages import messages
from ..intakes.usage import usage_in
from ..records import Kinds, fields_of
from ..sessions.commands import calls_in, is_observation, observation, observation_text
from ..sessions.swe_agent import run_of
from ..steps import ReadMessage, Steps, ToolRun, traces_of
from ..values import as_dict, dict_in, dicts, number, text

_FORMATS = (None, "mini-swe-agent-1", "mini-swe-agent-1.1")
_GRADED = "result.json"


@register("reader", "swe")
class Swe:
    """One run per file.

    mini-swe-agent: a list of messages or `{info, messages, trajectory_format}`. Its commands are
    tool calls, in OpenAI's chat or Responses form, or stand in the text of a turn (fenced blocks,
    `execute:` lines; the next user message is the result). The envelope of a result is text, so
    `data` is None; where the model saw a cut one, `full` is the same envelope with the recorded
    `raw_output`.

    SWE-agent: the history is what the model was sent; each agent in it has its thread. An action is
    a tool call, or a command `bash` in the turn's text, and the next message its result;
    `trajectory` has the output that the message clips, and its time. Old results that the model no
    longer saw are a ContextEdit before the turn, by the `query` of each step (since 1.0). Where
    tokens were sent and no query is recorded, the label `prompts` is "unknown".

    The label `task` is the instance, or what a grader's `result.json` beside the file names.

    Not kept: structured values: an envelope of text is what the tool gives; SWE-agent: usage by
    call, exit codes.

    Source: github.com/SWE-agent/mini-swe-agent, docs "Trajectory files";
    github.com/SWE-agent/SWE-agent, `sweagent/types.py`, `docs/usage/trajectories.md`. Tested:
    mini-swe-agent 2.2.7 (trajectory_format 1.1) and bare lists, SWE-agent at 3ea751c, published
    files
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for a trajectory of mini-SWE-agent or SWE-agent."""
        fields = as_dict(document.head)
        listed = fields.get("messages") if fields else document.head
        typical = dicts(listed) == listed and any(map(_is_typical, listed))
        if typical or str(fields.get("trajectory_format", "")).startswith("mini-swe-agent"):
            return Confidence.CERTAIN
        actions, history = dicts(fields.get("trajectory")), dicts(fields.get("history"))
        acted = any({"action", "observation"} <= action.keys() for action in actions)
        agents = [entry for entry in history if "agent" in entry]
        return certain_if(
            acted or any({"message_type", "action"} & entry.keys() for entry in agents)
        )

    def read(self, document: Document) -> Traces:
        """The file's one run."""
        fields = as_dict(document.json)
        listed = fields.get("messages") if fields else document.json
        if not isinstance(listed, list):
            return traces_of(document, "swe", [run_of(document, fields)])
        steps = _MiniRun(dict_in(fields, "info"), listed)
        if fields.get("trajectory_format") not in _FORMATS:
            steps.unread.kind("trajectory", fields["trajectory_format"])
        path = document.path.with_name(_GRADED)
        graded = as_dict(Document(path).json) if document.path != path and path.is_file() else {}
        steps.labels["task"] = text(fields.get("instance_id")) or text(graded.get("task"))
        return traces_of(document, "swe", [steps])


def _is_typical(message: dict[str, Any]) -> bool:
    content = message.get("content") if message.get("role") == "user" else None
    observed = isinstance(content, str) and is_observation(content)
    return observed or "raw_output" in dict_in(message, "extra")


_EXTRA: Kinds = {"timestamp": float, "raw_output": str, "returncode": int, "exception_info": object,
                 "response": dict}  # fmt: skip
"""The recorder's own fields beside a message. `raw_output` is a command's whole output."""
Fields = dict[str, Any]


class _MiniRun(Steps):
    """The steps of a run of mini-swe-agent; `commands` are those of the last turn's text without
    output so far."""

    def __init__(self, info: Fields, listed: list[Any]) -> None:
        super().__init__()
        values = dicts(listed)
        self.unread.add("message that is no object", len(listed) - len(values))
        self.cost_usd = number(dict_in(info, "model_stats").get("instance_cost")) or 0.0
        self.model = text(dict_in(info, "config", "model").get("model_name"))
        self.commands: list[ToolCall] = []
        entries = [value for value in values if value.get("role") != "exit"]
        in_text = not any(map(_is_of_call, entries))
        for entry in entries:
            extra = fields_of(entry.get("extra"), _EXTRA, self.unread)
            for message in self._messages_in(entry, extra):
                if in_text and message.role == "assistant":
                    calls = calls_in(message.content, self.index)
                    message, self.commands = replace(message, calls=calls), list(calls)
                self._add(message, extra, last=entry is entries[-1])

    def _messages_in(self, entry: Fields, extra: Fields) -> list[ReadMessage]:
        """The messages of an entry: an answer of the Responses interface with its results, or a
        chat message with the model and the usage of the provider's response."""
        fields = {key: member for key, member in entry.items() if key != "extra"}
        is_answer = entry.get("role") is None and entry.get("type") != "function_call_output"
        if "output" in entry and is_answer:
            if isinstance(entry.get("tools"), list):
                self.set_tools(entry["tools"])
            return answers_of(fields, self.unread) or [ReadMessage("assistant")]
        response = extra.get("response", {})
        known = {
            "model": text(response.get("model")),
            "usage": usage_in(response.get("usage"), self.unread),
        }
        return [message.with_known(**known) for message in messages([fields], self.unread)]

    def _add(self, message: ReadMessage, extra: Fields, *, last: bool) -> None:
        """Add a message; a user message after commands is the output of the first one without
        output."""
        if message.role == "tool":
            message = replace(message, failed=False, error=None, ran=_run(message.content, extra))
        elif message.role == "user" and self.commands and (last or is_observation(message.content)):
            shown = observation(self.commands.pop(0), message.content, extra.get("raw_output"))
            message = replace(shown, other=message.other)
        elif message.role == "user":
            self.commands = []
        self.add_message(message, time=extra.get("timestamp"))


def _is_of_call(entry: Fields) -> bool:
    """True for a message with calls, or a result, in a provider's own format."""
    return "output" in entry or entry.get("role") == "tool" or bool(entry.get("tool_calls"))


def _run(seen: str, extra: Fields) -> ToolRun:
    """The execution of a command whose output the model saw in an envelope, JSON or tags. The whole
    output is put into the same envelope as the harness would if it were short."""
    envelope = as_dict(strict_json(seen))
    code = extra.get("returncode", envelope.get("returncode", 0))
    error = extra.get("exception_info") or envelope.get("exception_info") or None
    raw, full = extra.get("raw_output"), None
    if raw is not None and envelope.get("output") != raw and raw not in seen:
        full = observation_text(code, raw)
        if seen.lstrip().startswith("{"):
            exception = f', "exception_info": {_tojson(error)}' if error else ""
            full = f'{{\n  "returncode": {code},\n  "output": {_tojson(raw)}{exception}\n}}'
    why = None if error is None else as_text(error)
    return ToolRun(full=full, failed=code != 0, error=why, prose=True)


def _tojson(value: Any) -> str:
    """JSON as the harness' templates write it: ASCII, with HTML's special characters escaped."""
    written = json.dumps(value)
    for char in "<>&'":
        written = written.replace(char, f"\\u{ord(char):04x}")
    return written
