"""A reader of Who&When: multi-agent runs whose failing agent and step people labelled, in its two dialects."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

from bench.model import AnyStep, ContextReset, ModelTurn, RouteDecision, ToolCall, ToolResult, Trace, UserTurn
from bench.traces import Confidence, Document, Traces, source_of
from bench.traces.values import as_dict, dicts

_ORCHESTRATOR = re.compile(r"(\w*Orchestrator) \((.*)\)", re.DOTALL)
_OUTCOMES = {"stalled": "replan", "request satisfied": "satisfied", "replan counter exceeded": "terminated"}
_NEXT_SPEAKER = re.compile(r"Next speaker (\w+)")
_LEDGER = "Updated Ledger"
_WARNING = re.compile(r"^\S+\.py:\d+: \w*Warning: .*\n?(?:[ \t]+[^\s\"{}\[\]].*\n?)?", re.MULTILINE)
_SERVED = re.compile(r"Resolved model mismatch: \S+ != (\S+?)\.?(?:\s|$)")
_CODE = re.compile(r"^```(?:python|sh|bash|shell|py)[ \t]*\r?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_EXIT_CODE = re.compile(r"(?:exitcode:|.*Unix exit code(?: was)?:) *(-?\d{1,9})")
_TERMINAL = "Computer_terminal"
_LABELS = ("mistake_agent", "mistake_step", "mistake_reason", "ground_truth", "is_correct", "is_corrected")


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and infinity could not be written again


_JSON = json.JSONDecoder(parse_constant=_refuse)


class WhoAndWhen:
    """Runs of Who&When, one per file: `{question, history, mistake_agent, mistake_step, mistake_reason}`, or, as AgentRx publishes them, the
    history of a Magentic-One run alone. Step indices are history positions.

    Hand-Crafted (Magentic-One), as its orchestrator saw it. Each `Updated Ledger` is a RouteDecision before its next model call, with the ledger
    as `state` and what the log shows next as `taken` (`next`, `replan`, `satisfied`, `terminated`; empty where the log ends first). An
    instruction is a model turn that calls the agent it names, and that agent's answer is the result, handed back as a user message (an answer
    nobody asked for is a user turn). Plans and the final answer are model turns. The ledger is not resent, so it is the reasoning of the
    turn that follows it. Log lines (`Next speaker …`) never reach a prompt: they are route decisions of `orchestrator`. `Stalled…` begins
    the turn that says the `New plan`; where the log shows that, Magentic-One has cleared its history down to task and plan: a ContextReset.
    The model is the one that a warning in the log names.

    Algorithm-Generated (a group chat): the first message is the task, experts are model turns, `Computer_terminal` runs the code of the message
    before it (a tool call in text) or says as a user that there is none. Experts' system prompts differ; they are in `meta`, not in the prompts.

    Labels are kept as recorded, `mistake_step` as a number counted from 0; it is the step that failed.

    Not kept: usage, times, the tools of the agents behind the orchestrator.

    Source: Zhang et al. 2025, "Which Agent Causes Task Failures and When?" (arXiv:2505.00212),
    repository mingyin1/Agents_Failure_Attribution. Tested: Who&When at 3d9d568 (Magentic-One and
    Captain Agent logs), published files
    """

    def sniff(self, document: Document) -> Confidence:
        head = {"history": document.head} if isinstance(document.head, list) else as_dict(document.head)
        history = dicts(head.get("history"))
        if not history or history != head["history"]:
            return Confidence.NO
        labelled = "mistake_agent" in head and "mistake_step" in head
        orchestrated = any(_ORCHESTRATOR.fullmatch(str(item.get("role"))) for item in history)
        chat = "question" in head and all("name" in item and "content" in item for item in history)
        return Confidence.CERTAIN if labelled or orchestrated or chat else Confidence.NO

    def read(self, document: Document) -> Traces:
        whole = as_dict(document.json)
        history = whole["history"] if whole else document.json
        labels = {key: whole[key] for key in _LABELS if key in whole}
        if "mistake_step" in labels:
            labels["mistake_step"] = _step_number(whole["mistake_step"])
        chat = all("name" in message for message in history)
        steps = _GroupChat(history).steps if chat else _Orchestrated(document, history).steps
        alone = _without_call(steps)
        yield Trace(
            id="",
            source=source_of(document, "who_and_when"),
            steps=tuple(steps),
            labels=labels,
            meta={key: value for key, value in whole.items() if key != "history" and key not in labels},
            left_out={"call of a result: the result stands alone": alone} if alone else {},
        )


def _without_call(steps: list[AnyStep]) -> int:
    """The number of results that no model turn called for: the terminal runs code that the task brought with it, too."""
    made = {call.id for step in steps if isinstance(step, ModelTurn) for call in step.tool_calls}
    return sum(isinstance(step, ToolResult) and step.call_id not in made for step in steps)


def _step_number(value: Any) -> int | None:
    return None if value is None else int(value)


class _Orchestrated:
    """A Hand-Crafted run on its way to a trace: the ledger that waits for its instruction, the call that waits for its answer."""

    def __init__(self, document: Document, history: list[dict[str, Any]]) -> None:
        self.document, self.history = document, history
        self.texts = [message["content"] for message in history]
        served = next(filter(None, map(_SERVED.search, self.texts)), None)
        self.model = served.group(1) if served else None
        self.ledger: str | None = None
        self.waiting: ToolCall | None = None
        self.steps = [self._step(index, message["role"]) for index, message in enumerate(history)]

    def _step(self, index: int, role: str) -> AnyStep:
        match, text = _ORCHESTRATOR.fullmatch(role), self.texts[index]
        if match is None:
            call = self.waiting
            if call is None or call.name != role:
                return UserTurn(index=index, content=text)
            self.waiting = None
            return _result(index, call, text)
        part = match.group(2)
        if part.startswith("->"):
            name = part.removeprefix("->").strip()
            self.waiting = ToolCall(id=f"text{index}", name=name, arguments={"instruction": text}, in_text=True)
            return self._turn(index, self.waiting)
        if part == "termination condition":
            return self._turn(index) if "FINAL ANSWER" in text else _announced(index, "END")
        if text.startswith(_LEDGER):
            ledger, self.ledger = self._ledger(index)
            decided = _announced(index, self._taken(index))
            return msgspec.structs.replace(decided, at="before_model", router="ledger", state={"ledger": ledger})
        if speaker := _NEXT_SPEAKER.match(text):
            return _announced(index, speaker.group(1))
        outcome = _outcome(text)
        if outcome == "replan" and self._is_plan(index + 1):
            return self._turn(index, said=index + 1)
        if self._is_plan(index) and _outcome(self.texts[index - 1]) == "replan":
            return ContextReset(index=index, kept=(0, index - 1))
        return self._turn(index) if outcome is None else _announced(index, outcome)

    def _is_plan(self, index: int) -> bool:
        return index < len(self.texts) and self.texts[index].startswith("New plan")

    def _ledger(self, index: int) -> tuple[dict[str, Any], str]:
        """The ledger and its text. Other output of the same process may stand on either side of it, a library's warning inside it too."""
        text = self.texts[index]
        for said in (text, _WARNING.sub("", text)):
            for brace in re.finditer(r"^\s*\{", said, re.MULTILINE):
                start = brace.end() - 1
                try:
                    value, end = _JSON.raw_decode(said, start)
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict) and "is_request_satisfied" in value:
                    return value, said[start:end]
        raise self.document.fail(
            "expected the ledger as JSON after 'Updated Ledger' — the log was cut there; record it again or drop the message"
        )

    def _taken(self, index: int) -> str:
        """The outcome of a ledger as the log shows it: the first sign of one before the next ledger; `""` where there is none."""
        for message, text in zip(self.history[index + 1 :], self.texts[index + 1 :], strict=True):
            match = _ORCHESTRATOR.fullmatch(message["role"])
            if match is None or text.startswith(_LEDGER):
                return ""
            if match.group(2).startswith("->") or _NEXT_SPEAKER.match(text):
                return "next"
            if (outcome := _outcome(text)) is not None:
                return outcome
        return ""

    def _turn(self, index: int, *calls: ToolCall, said: int | None = None) -> ModelTurn:
        text, model = self.texts[index if said is None else said], self.model
        reasoning, self.ledger = self.ledger, None
        return ModelTurn(index=index, content=text, tool_calls=calls, model=model, reasoning=reasoning)


class _GroupChat:
    def __init__(self, history: list[dict[str, Any]]) -> None:
        self.texts = [message["content"] for message in history]
        self.names = [message["name"] for message in history]
        self.steps = [self._step(index) for index in range(len(history))]

    def _ran(self, index: int) -> bool:
        """True if the message at an index is a terminal's output."""
        known = index < len(self.names) and self.names[index] == _TERMINAL
        return known and _EXIT_CODE.match(self.texts[index]) is not None

    def _call(self, index: int) -> ToolCall:
        code = "\n".join(_CODE.findall(self.texts[index])) if index >= 0 else ""
        return ToolCall(id=f"text{index}", name=_TERMINAL, arguments={"code": code}, in_text=True)

    def _step(self, index: int) -> AnyStep:
        text, name = self.texts[index], self.names[index]
        if self._ran(index):
            return _result(index, self._call(index - 1), text)
        if index == 0 or name == _TERMINAL:
            return UserTurn(index=index, content=text)
        calls = (self._call(index),) if self._ran(index + 1) else ()
        return ModelTurn(index=index, content=text, tool_calls=calls)


def _outcome(text: str) -> str | None:
    said = text.lstrip().lower()
    return next((route for start, route in _OUTCOMES.items() if said.startswith(start)), None)


def _announced(index: int, taken: str) -> RouteDecision:
    """A log line that says where the run goes; nothing is decided there."""
    return RouteDecision(index=index, at="after_model", router="orchestrator", taken=taken)


def _result(index: int, call: ToolCall, text: str) -> ToolResult:
    """An agent's answer to a call. It failed where its first line has an exit code other than 0, or says that the browser broke down."""
    code = _EXIT_CODE.match(text)
    failed = text.startswith("Web surfing error") or (code is not None and int(code.group(1)) != 0)
    return ToolResult(
        index=index,
        call_id=call.id,
        function=call.name,
        arguments=call.arguments,
        success=not failed,
        role="user",
        seen=text,
        error=text.strip().splitlines()[-1] if failed else None,
        non_text=text.splitlines().count("<Image>"),
    )
