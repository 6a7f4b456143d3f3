"""The event log of OpenHands' SDK: messages, actions, observations, condensations and branches, with the usage told of its answers."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import ContextReset, ModelTurn, Outcome, ToolCall, ToolResult, Usage, as_text, text_of
from .decoded import as_dict, strict_json
from .documents import Node
from .nodes import at, between, filled, first_of, members, moment
from .openhands_shown import parts_of, shown_of
from .parts import ROLES, arguments_of, reasoning_of, simple, usage_of
from .steps import Ran, Said, Steps
from .tables import data_of

_CALL, _EVERY = "tool_name tool_call_id action_id", "id timestamp source parent_id kind"
EVENTS = {
    kind: frozenset(f"{keys} {_EVERY}".split())
    for kind, keys in {
        "SystemPromptEvent": "system_prompt tools dynamic_context",
        "MessageEvent": "llm_message llm_response_id activated_skills extended_content sender critic_result",
        "ActionEvent": "thought reasoning_content thinking_blocks responses_reasoning_item action tool_name tool_call_id tool_call"
        " llm_response_id security_risk critic_result summary",
        "ObservationEvent": f"{_CALL} observation extended_content",
        "UserRejectObservation": f"{_CALL} rejection_reason rejection_source",
        "AgentErrorEvent": f"{_CALL} error classification",
        "Condensation": "forgotten_event_ids summary summary_offset llm_response_id",
        "CondensationSummaryEvent": "summary",
        "ConversationErrorEvent": "code detail classification",
        "ACPToolCallEvent": "tool_call_id title status tool_kind raw_input raw_output content is_error",
    }.items()
}
"""The kinds of events that a prompt or the run's end shows, and what each holds."""
_SILENT = {"CondensationRequest", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "SecurityAnalysisEvent", "StreamingDeltaEvent"}  # fmt: skip
"""Events that no prompt shows: bookkeeping, and answers in pieces before the whole."""
_CUT = "<response clipped>"
_PASTE = ("\x1b[?2004l", "\x1b[?2004h")
"""The marks that shells write around a command's output."""


class Events(Steps):
    """One conversation on its way to a trace: events are added in the order of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.batch: list[Node] = []  # the actions of the answer that is being read
        self.answers: dict[str, int] = {}  # the turn that an answer became, by the answer's id
        self.usage: dict[str, tuple[Usage | None, str | None]] = {}  # of an answer, by its id, and its model
        self.latencies: dict[str, float] = {}
        self.status: str | None = None
        self.asked: dict[str, tuple[float | None, int]] = {}  # when a call was made, and of how many
        self.results: set[str] = set()
        self.parents: dict[str, str] = {}
        self.made: dict[str, set[int]] = {}  # the steps an event became, by its id
        self.forgotten: dict[str, list[str]] = {}  # the events that a condensation left out
        self.last = ""

    def event(self, event: Node) -> None:
        """Add one event, whatever it is."""
        kind = event["kind"].text()
        if kind == "LLMCompletionLogEvent":
            log = as_dict(strict_json(event["log_data"].text_or_none() or ""))
            response = event.made(log, ".log_data")["response"]
            if isinstance(response.value, dict):
                self._used(response["id"], usage_of(response["usage"]), response["model"])
            return
        if kind == "ConversationStateUpdateEvent":
            key = event["key"].text_or_none() or ""
            self.state(event["value"] if key == "full_state" else event.made({key: event["value"].value}))
            return
        goes_on = kind == "ActionEvent" and bool(self.batch) and _answer_id(self.batch[0]) == _answer_id(event)
        if not goes_on and kind not in _SILENT:
            self._answer()
        own = event["id"].text_or_none() or f"event{len(self.parents)}"
        parent = event["parent_id"].text_or_none() or self.last
        known = parent in self.parents or parent == "__root__"
        if known and parent != self.last:  # the events between are left behind
            self._answer()
            self._reset(event, parent, None)
        self.parents[own], self.last = parent, own
        if kind in EVENTS:
            self.unread.keys(event, EVENTS[kind], "an event")
            before = self.index
            self._event(kind, event, own)
            self.made.setdefault(own, set()).update(range(before, self.index))
        elif kind not in _SILENT:
            self.unread.kind("event", kind)

    def state(self, state: Node) -> None:
        """Note a state, or the part of it that changed."""
        self.status = state["execution_status"].text_or_none() or self.status
        for _, metrics in members(at(state, "stats", "usage_to_metrics")):
            self.metrics(metrics)

    def metrics(self, metrics: Node) -> None:
        """Note the usage and the latency of each answer; metrics that hold sums only say nothing here."""
        for told in at(metrics, "token_usages").items():
            self._used(told["response_id"], usage_of(told), told["model"])
        for told in at(metrics, "response_latencies").items():
            answer, seconds = told["response_id"].text_or_none(), told["latency"].seconds()
            if answer and seconds is not None:
                self.latencies[answer] = seconds

    def _used(self, answer: Node, usage: Usage | None, model: Node) -> None:
        if answer.text_or_none():
            self.usage[answer.text()] = (usage, model.text_or_none())

    def end(self) -> None:
        """Finish the last answer, give turns the usage of theirs, and say how the run stands."""
        self._answer()
        for answer, index in self.answers.items():
            if index >= self.index:  # an answer that could not be read
                continue
            usage, model = self.usage.get(answer, (None, None))
            self.steps[index] = msgspec.structs.replace(self.steps[index], usage=usage, model=model)
        others = [usage for answer, (usage, _) in self.usage.items() if answer not in self.answers and usage]
        latencies = {str(at): self.latencies[name] for name, at in self.answers.items() if name in self.latencies}
        others = msgspec.to_builtins(others)
        self.meta |= filled(execution_status=self.status, latencies_s=latencies, usage_of_other_calls=others)
        if self.status in ("error", "stuck"):
            self.outcome = self.outcome or Outcome(success=False, said_by=f"OpenHands: {self.status}")

    def _event(self, kind: str, event: Node, own: str) -> None:
        if kind == "ActionEvent":
            self.batch.append(event)
        elif kind == "SystemPromptEvent":
            self.tools([self._definition(tool) for tool in event["tools"].items()])
            parts = [node for node in (event["system_prompt"], event["dynamic_context"]) if node.value is not None]
            self._say(Said("system", simple(parts_of(parts))), event)
        elif kind == "MessageEvent":
            message = event["llm_message"]
            role = ROLES.get(message["role"].text(), "user")
            content = simple(parts_of([*message["content"].items(), *event["extended_content"].items()]))
            reasoning = self._thought(message) if role == "assistant" else None
            index = self._say(Said(role, content, reasoning=reasoning), event)
            if role == "assistant":
                self.answers[_answer_id(event)] = index
        elif kind == "CondensationSummaryEvent":
            self._say(Said("user", event["summary"].text()), event)
        elif kind == "Condensation":
            self.forgotten[own] = [item.text() for item in event["forgotten_event_ids"].items()]
            self.unread.add("model call that condenses", int(event["llm_response_id"].value is not None))
            self._reset(event, own, event["summary"].text_or_none())
        elif kind == "ConversationErrorEvent":
            self.meta["error"] = {key: event[key].value for key in ("code", "detail")}
            self.outcome = Outcome(success=False, said_by="OpenHands: the run broke off")
        elif kind == "ACPToolCallEvent":
            self._elsewhere(event)
        else:
            self._result(kind, event)

    def _reset(self, event: Node, end: str, summary: str | None) -> None:
        """Keep the way to an event without what condensations on it left out, and no half of a call."""
        way: list[str] = []
        while end in self.parents and end not in way:
            way.append(end)
            end = self.parents[end]
        gone = {item for one in way for item in self.forgotten.get(one, ())}
        left = {index for one in way for index in self.made.get(one, ())}
        lost = {index for one in gone for index in self.made.get(one, ())}
        turns = {call.id: step.index for step in self.steps if isinstance(step, ModelTurn) for call in step.tool_calls}
        results = [step for step in self.steps if isinstance(step, ToolResult)]
        lost |= {turns.get(result.call_id, -1) for result in results if result.index in lost}
        lost |= {result.index for result in results if turns.get(result.call_id) in lost}
        t, kept = moment(event["timestamp"]), tuple(sorted(left - lost))
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=kept))

    def _say(self, said: Said, event: Node) -> int:
        return self.say(said, t=moment(event["timestamp"]))

    def _definition(self, tool: Node) -> dict[str, Any]:
        """A tool as far as it is recorded: an MCP tool wholly, others without their parameters, which is counted."""
        given = tool["mcp_tool"]
        if given.value is not None:
            described = {"description": given["description"].value, "parameters": given["inputSchema"].value}
            return {"name": given["name"].text(), **described}
        self.unread.add("parameters of a tool's definition, which were not recorded")
        name = first_of(tool, "title", "kind").text_or_none() or "tool"
        return {"name": name, "description": tool["description"].value}

    def _thought(self, said: Node) -> str | None:
        """The reasoning of a message or an action, whichever interface of a provider it came by."""
        item = said["responses_reasoning_item"]
        texts = [text.text() for key in ("summary", "content") for text in at(item, key).items()]
        return reasoning_of(said, self.unread) or "\n".join(texts) or None

    def _answer(self) -> None:
        if not self.batch:
            return
        (first, *_), actions, self.batch = self.batch, self.batch, []
        calls = tuple(map(_call, actions))
        content = simple(parts_of([part for action in actions for part in action["thought"].items()]))
        index = self._say(Said("assistant", content, calls, self._thought(first)), first)
        self.answers[_answer_id(first)] = index
        for action, call in zip(actions, calls, strict=True):
            self.asked[call.id] = (moment(action["timestamp"]), len(calls))
            self.made.setdefault(action["id"].text_or_none() or "", set()).add(index)

    def _result(self, kind: str, event: Node) -> None:
        call_id, t = event["tool_call_id"].text(), moment(event["timestamp"])
        name = event["tool_name"].text_or_none() or ""
        if call_id in self.results:
            self.unread.add("second result of a call, which the model is not shown")
            return
        self.results.add(call_id)
        if kind == "ObservationEvent":
            observation, (asked, among) = event["observation"], self.asked.get(call_id, (None, 0))
            content, whole, own = shown_of(observation, event["extended_content"].items())
            broken = observation["is_error"].value is True
            failed = broken or observation["exit_code"].value not in (None, 0, -1)
            ran = Ran(
                data=data_of(own.replace(_PASTE[0], "").replace(_PASTE[1], "")),
                whole=None if whole == text_of(content) else whole,
                duration_s=between(asked, t) if among == 1 else None,  # the calls of one answer are timed together
                error=own if broken else None,
                cut=_CUT in own,
            )
            self._say(Said("tool", simple(content), call_id=call_id, name=name, failed=failed, ran=ran), event)
            return
        rejected = kind == "UserRejectObservation"
        text = f"Action rejected: {event['rejection_reason'].text()}" if rejected else event["error"].text()
        if rejected and event["rejection_source"].value != "hook":
            self.approve(call_id, approved=False, t=t)
        self._say(Said("tool", text, call_id=call_id, name=name, failed=True, error=text), event)

    def _elsewhere(self, event: Node) -> None:
        """A call that an agent of another make did by itself (ACP): the last event of a call holds all of it."""
        if event["status"].value not in ("completed", "failed"):
            return
        name = first_of(event, "tool_kind", "title").text_or_none() or "tool"
        call = ToolCall(id=event["tool_call_id"].text(), name=name, arguments=event["raw_input"].value)
        output = event["raw_output"].value
        texts = [at(item, "content", "text").text_or_none() or "" for item in event["content"].items()]
        text = "\n".join(filter(None, texts)) if output is None else as_text(output)
        self._say(Said("assistant", calls=(call,)), event)
        failed, ran = event["is_error"].value is True, Ran(cut=_CUT in text)
        self._say(Said("tool", text, call_id=call.id, failed=failed, ran=ran), event)


def _answer_id(event: Node) -> str:
    return event["llm_response_id"].text_or_none() or ""


def _call(action: Node) -> ToolCall:
    """The call as the model wrote it, in the SDK's form or a provider's; without one, the action that came of it."""
    call = action["tool_call"]
    made = call["function"] if call.value is not None and call.has("function") else call
    arguments = arguments_of(made["arguments"]) if made.value is not None else action["action"].value
    return ToolCall(id=action["tool_call_id"].text(), name=action["tool_name"].text(), arguments=arguments)
