"""Trajectories of mini-swe-agent: its text dialect, and the chat and OpenAI Responses dialects of its format 1.1."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ...model import Outcome, ToolCall, text_of
from .. import Confidence, Document, Keeps, Node, Traces, as_dict, dicts, register, strict_json
from ..commands import calls_in, is_observation, observation, observation_text
from ..exchange import end_of_items
from ..messages import answer_of_items, message as read_message
from ..nodes import at, inside
from ..parts import content_of
from ..steps import Ran, Said, Steps
from ..usage import usage_in

_FORMATS = ("mini-swe-agent-1", "mini-swe-agent-1.1")
_GRADED = "result.json"


@register("reader", "mini_swe_agent")
class MiniSweAgent:
    """Runs of mini-swe-agent, one per file: a list of messages or `{info, messages, trajectory_format}`, in any of three dialects.

    Text: commands in fenced blocks (or `execute:` lines) and their output as user messages with `<returncode>`, which `Command result:` may
    precede; the message after the last command is its output even without one. Chat and Responses (format 1.1): tool calls, with the whole output
    beside what the model saw; where that was cut, `full` is the same envelope with the whole output in it. `data` stays None, as the envelope is
    text. Exit status, submission and the recorder's statistics go to `meta`.

    Source: github.com/SWE-agent/mini-swe-agent, docs "Trajectory files" (trajectory_format mini-swe-agent-1.1)
    """

    keeps = Keeps(
        results="untruncated",
        also=("cuts", "usage", "times", "errors", "outcome", "reasoning", "tools", "model"),
        never="structured values: an envelope of text is what the tool gives",
        tested="mini-swe-agent 2.2.7 (trajectory_format 1.1) and bare message lists, published files",
    )

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        named = str(as_dict(head).get("trajectory_format", "")).startswith("mini-swe-agent")
        listed = head.get("messages") if isinstance(head, dict) else head
        typical = dicts(listed) == listed and any(map(_is_typical, listed))
        return Confidence.CERTAIN if named or typical else Confidence.NO

    def read(self, document: Document) -> Traces:
        whole = document.node()
        framed = isinstance(whole.value, dict)
        form, messages = inside(whole, "trajectory_format"), whole["messages"] if framed else whole
        if form.value is not None and form.text() not in _FORMATS:
            raise form.fail(f"this reader knows {' and '.join(_FORMATS)} — convert the run, or write a reader for it")
        if not messages.items():
            raise messages.fail("expected messages, got none — nothing was recorded")
        run = _Trajectory(inside(whole, "info"), messages.items())
        graded = _graded(document)
        task = inside(whole, "instance_id").text_or_none() or graded.get("task")
        labels = {"task": task} if isinstance(task, str) else {}
        outcome = _outcome(as_dict(graded.get("result")))
        yield run.trace(document, "mini_swe_agent", messages, labels=labels, outcome=outcome)


def _graded(document: Document) -> dict[str, Any]:
    """The file that a grader wrote beside the trajectory, `result.json`; `{}` without one."""
    path = document.path.with_name(_GRADED)
    return as_dict(Document(path).node().value) if document.path.name != _GRADED and path.is_file() else {}


def _outcome(result: dict[str, Any]) -> Outcome | None:
    """A grader's verdict: `passed` and a score; None where it says nothing of the kind."""
    if not isinstance(result.get("passed"), bool):
        return None
    score = as_dict(result.get("grader_result")).get("score")
    number = float(score) if isinstance(score, int | float) else None
    return Outcome(success=result["passed"], score=number, said_by=f"the grader's {_GRADED}")


def _is_typical(message: dict[str, Any]) -> bool:
    content = message.get("content")
    observed = message.get("role") == "user" and isinstance(content, str) and is_observation(content)
    return observed or "raw_output" in as_dict(message.get("extra"))


class _Trajectory(Steps):
    def __init__(self, info: Node, messages: list[Node]) -> None:
        super().__init__()
        self.commands: list[ToolCall] = []
        self._note(info, "exit_status", "submission", "model_stats", "mini_version")
        self.model = at(info, "config", "model", "model_name").text_or_none()
        told = [message for message in messages if message["role"].value != "exit"]
        self.in_text = not any(
            message.has("output") or message["role"].value == "tool" or message["tool_calls"].value for message in told
        )
        for message, answer in zip_longest(messages, messages[1:]):
            last = bool(told) and message is told[-1]
            self.tolerate("message that cannot be read", self._add, message, answer, last)

    def _note(self, node: Node, *keys: str) -> None:
        self.meta |= {key: value for key in keys if (value := at(node, key).value) is not None}

    def _add(self, message: Node, answer: Node | None, last: bool) -> None:
        extra, role = message["extra"], message["role"].value
        t = at(extra, "timestamp").seconds()
        if role == "exit":
            self._note(extra, "exit_status", "submission")
        elif role == "tool":
            self._ran_tool(message["tool_call_id"], message["content"], extra, t)
        elif role is None and message["type"].value == "function_call_output":
            self._ran_tool(message["call_id"], message["output"], extra, t)
        elif role is None and message.has("output"):
            self._response(message, t)
        else:
            self._message(message, answer, extra, t, last)

    def _message(self, message: Node, answer: Node | None, extra: Node, t: float | None, last: bool) -> None:
        found = read_message({key: value for key, value in message.object().items() if key != "extra"}, self.unread)
        if not found:
            return
        said = found[0]
        if said.role == "user" and self.commands and (last or is_observation(said.text)):
            raw_output = at(extra, "raw_output").text_or_none()
            self.unread.parts(said.content)
            self.say(observation(self.commands.pop(0), said.text, raw_output), t=t)
            return
        if said.role == "assistant" and self.in_text:
            reply = None if answer is None else answer["content"].value
            said = replace(said, calls=calls_in(said.text, self.index, reply if isinstance(reply, str) else ""))
        if said.role != "system":
            self.commands = list(said.calls) if self.in_text else []
        response = at(extra, "response")
        reason = next((choice["finish_reason"].text_or_none() for choice in at(response, "choices").items()), None)
        model, usage = (
            at(response, "model").text_or_none() or self.model,
            usage_in(at(response, "usage").value, self.unread),
        )
        self.say(said, t=None if said.role == "system" else t, model=model, finish_reason=reason, usage=usage)

    def _response(self, message: Node, t: float | None) -> None:
        """An answer of the Responses interface: its output items are one model turn."""
        if message["tools"].value is not None:
            self.tools([tool.value for tool in message["tools"].items()])
        turn, *results = answer_of_items(message.value["output"], self.unread) or [Said("assistant")]
        self.unread.add("result of a tool that the server ran", len(results))
        usage, model = usage_in(message["usage"].value, self.unread), message["model"].text_or_none() or self.model
        self.say(turn, t=t, model=model, finish_reason=end_of_items(message.value), usage=usage)

    def _ran_tool(self, call_id: Node, content: Node, extra: Node, t: float | None) -> None:
        shown = content_of(content)
        seen = text_of(shown)
        envelope = as_dict(strict_json(seen))
        returncode = at(extra, "returncode").value
        returncode = envelope.get("returncode", 0) if returncode is None else returncode
        error = at(extra, "exception_info").value or envelope.get("exception_info") or None
        raw_output, whole = at(extra, "raw_output").text_or_none(), None
        if raw_output is not None and envelope.get("output") != raw_output and raw_output not in seen:
            whole = _envelope(seen, returncode, raw_output, error)
        ran = Ran(
            whole=whole,
            failed=returncode != 0,
            error=error if error is None or isinstance(error, str) else json.dumps(error),
            cut=raw_output is None and "elided_chars" in envelope,
            prose=True,
        )
        self.say(Said("tool", shown, call_id=self.require_call(call_id), ran=ran), t=t)


def _envelope(seen: str, returncode: Any, output: str, error: Any) -> str:
    """The whole output in the envelope of what the model saw: the harness' own rendering of an output that is not too long."""
    if not seen.lstrip().startswith("{"):
        return observation_text(returncode, output)
    exception = f', "exception_info": {_tojson(error)}' if error else ""
    return f'{{\n  "returncode": {returncode},\n  "output": {_tojson(output)}{exception}\n}}'


def _tojson(value: Any) -> str:
    """JSON as the harness' templates write it: ASCII, and without the characters that mean something in HTML."""
    text = json.dumps(value)
    for char in "<>&'":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
