"""The event log of OpenHands' SDK: messages, calls, results, condensations and branches."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import ContextReset, ModelTurn, Outcome, ToolCall, ToolResult, Usage, as_text, text_of
from .content import Blocks
from .decoded import as_dict, dicts, strict_json
from .messages import ROLES
from .openhands_shown import observation_shown, parts_of, seconds_between
from .records import arguments, dict_in, text, time_of, typed
from .steps import Ran, Said, Steps
from .tables import data_of
from .usage import usage_in

_RESULTS = {"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"}
EVENTS = {"SystemPromptEvent", "MessageEvent", "ActionEvent", "Condensation", "CondensationSummaryEvent",
          "ConversationErrorEvent", "ACPToolCallEvent", *_RESULTS}  # fmt: skip
"""The kinds of events that a prompt or the run's end shows."""
_SILENT = {"CondensationRequest", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "SecurityAnalysisEvent",
           "StreamingDeltaEvent"}  # fmt: skip
"""Events that no prompt shows: bookkeeping, and answers in pieces before the whole."""
_CUT = "<response clipped>"
_PASTE = ("\x1b[?2004l", "\x1b[?2004h")
"""The marks that shells write around a command's output."""


class Event(msgspec.Struct):
    """An event of any kind that is shown; `parent_id` where the run went on from an earlier event."""

    id: str | None = None
    timestamp: Any = None
    source: str | None = None
    parent_id: str | None = None
    kind: str = ""
    system_prompt: dict[str, Any] | None = None
    dynamic_context: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    llm_message: dict[str, Any] | None = None
    llm_response_id: str | None = None
    extended_content: list[Any] | None = None
    activated_skills: Any = None
    sender: Any = None
    critic_result: Any = None
    thought: list[Any] | None = None
    reasoning_content: str | None = None
    thinking_blocks: list[dict[str, Any]] | None = None
    responses_reasoning_item: dict[str, Any] | None = None
    action: Any = None
    action_id: Any = None
    tool_name: str | None = None
    tool_call_id: str = ""
    tool_call: dict[str, Any] | None = None
    security_risk: Any = None
    observation: dict[str, Any] | None = None
    rejection_reason: str | None = None
    rejection_source: str | None = None
    error: str | None = None
    classification: Any = None
    forgotten_event_ids: list[str] | None = None
    summary: str | None = None
    summary_offset: Any = None
    code: Any = None
    detail: Any = None
    title: str | None = None
    status: str | None = None
    tool_kind: str | None = None
    raw_input: Any = None
    raw_output: Any = None
    content: Any = None
    is_error: bool | None = None


class Events(Steps):
    """The steps of one conversation; events are added in the order of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.batch: list[Event] = []  # the actions of the answer that is being read
        self.answers: dict[str, int] = {}  # the turn that an answer became, by the answer's id
        self.usage: dict[str, tuple[Usage | None, str | None]] = {}  # and its model
        self.latencies: dict[str, float] = {}
        self.status: str | None = None
        self.asked: dict[str, tuple[float | None, int]] = {}  # when a call was made, and of how many
        self.results: set[str] = set()
        self.parents: dict[str, str] = {}
        self.steps_of: dict[str, set[int]] = {}  # by the id of an event
        self.forgotten: dict[str, list[str]] = {}  # the events that a condensation left out
        self.last = ""

    def event(self, value: dict[str, Any]) -> None:
        """Add one event."""
        kind = text(value.get("kind")) or ""
        if kind == "LLMCompletionLogEvent":
            log = as_dict(strict_json(text(value.get("log_data")) or ""))
            self._use(dict_in(log, "response"), "id", dict_in(log, "response").get("usage"))
            return
        if kind == "ConversationStateUpdateEvent":
            key, state = value.get("key"), value.get("value")
            self.state(as_dict(state) if key == "full_state" else {str(key): state})
            return
        event = typed(value, Event, self.unread, "an event" if kind in EVENTS else "")
        first = self.batch[0].llm_response_id if self.batch else None
        goes_on = bool(self.batch) and kind == "ActionEvent" and first == event.llm_response_id
        if not goes_on and kind not in _SILENT:
            self._end_answer()
        own = event.id or f"event{len(self.parents)}"
        parent = event.parent_id or self.last
        known = parent in self.parents or parent == "__root__"
        if known and parent != self.last:  # the events between are left behind
            self._end_answer()
            self._reset(event, parent, None)
        self.parents[own], self.last = parent, own
        if kind in EVENTS:
            before = self.index
            self._add(kind, event, own)
            self.steps_of.setdefault(own, set()).update(range(before, self.index))
        elif kind not in _SILENT:
            self.unread.kind("event", kind)

    def state(self, state: dict[str, Any]) -> None:
        """Note a state, or the part of it that changed."""
        self.status = text(state.get("execution_status")) or self.status
        for metrics in dict_in(state, "stats", "usage_to_metrics").values():
            self.metrics(as_dict(metrics))

    def metrics(self, metrics: dict[str, Any]) -> None:
        """Note the usage and the latency of each answer; sums are left out."""
        for usage in dicts(metrics.get("token_usages")):
            self._use(usage, "response_id", usage)
        for latency in dicts(metrics.get("response_latencies")):
            answer, seconds = text(latency.get("response_id")), latency.get("latency")
            if answer and isinstance(seconds, int | float):
                self.latencies[answer] = float(seconds)

    def _use(self, about: dict[str, Any], key: str, usage: Any) -> None:
        if answer := text(about.get(key)):
            self.usage[answer] = (usage_in(usage, self.unread), text(about.get("model")))

    def end(self) -> None:
        """Finish the last answer, give turns the usage of theirs, and note how the run stands."""
        self._end_answer()
        for answer, index in self.answers.items():
            usage, model = self.usage.get(answer, (None, None))
            self.steps[index] = msgspec.structs.replace(self.steps[index], usage=usage, model=model)
        others = [used for answer, (used, _) in self.usage.items() if answer not in self.answers and used]
        latencies = {str(at): self.latencies[one] for one, at in self.answers.items() if one in self.latencies}
        notes = {
            "execution_status": self.status,
            "latencies_s": latencies,
            "usage_of_other_calls": msgspec.to_builtins(others),
        }
        self.meta |= {key: value for key, value in notes.items() if value}
        if self.status in ("error", "stuck"):
            self.outcome = self.outcome or Outcome(success=False, said_by=f"OpenHands: {self.status}")

    def _add(self, kind: str, event: Event, own: str) -> None:
        if kind == "ActionEvent":
            self.batch.append(event)
        elif kind == "SystemPromptEvent":
            self.tools([self._definition(tool) for tool in event.tools or ()])
            parts = [part for part in (event.system_prompt, event.dynamic_context) if part]
            self._say(Said("system", Blocks(parts_of(parts, self.unread)).content), event)
        elif kind == "MessageEvent":
            self._message(event)
        elif kind == "CondensationSummaryEvent":
            self._say(Said("user", event.summary or ""), event)
        elif kind == "Condensation":
            self.forgotten[own] = event.forgotten_event_ids or []
            self.unread.add("model call that condenses", event.llm_response_id is not None)
            self._reset(event, own, event.summary)
        elif kind == "ConversationErrorEvent":
            self.meta["error"] = {"code": event.code, "detail": event.detail}
            self.outcome = Outcome(success=False, said_by="OpenHands: the run broke off")
        elif kind == "ACPToolCallEvent":
            self._other_agent(event)
        else:
            self._result(kind, event)

    def _message(self, event: Event) -> None:
        message = event.llm_message or {}
        role = ROLES.get(str(message.get("role")), "user")
        content = message.get("content")
        parts = parts_of([*(content if isinstance(content, list) else [content]), *(event.extended_content or [])],
                         self.unread)  # fmt: skip
        reasoning = self._reasoning(message) if role == "assistant" else None
        index = self._say(Said(role, Blocks(parts).content, reasoning=reasoning), event)
        if role == "assistant":
            self.answers[event.llm_response_id or ""] = index

    def _reset(self, event: Event, end: str, summary: str | None) -> None:
        """Keep the way to an event without what condensations on it left out, and no half of a call."""
        way: list[str] = []
        while end in self.parents and end not in way:
            way.append(end)
            end = self.parents[end]
        gone = {item for one in way for item in self.forgotten.get(one, ())}
        left = {index for one in way for index in self.steps_of.get(one, ())}
        lost = {index for one in gone for index in self.steps_of.get(one, ())}
        turns = {call.id: step.index for step in self.steps if isinstance(step, ModelTurn) for call in step.tool_calls}
        results = [step for step in self.steps if isinstance(step, ToolResult)]
        lost |= {turns.get(result.call_id, -1) for result in results if result.index in lost}
        lost |= {result.index for result in results if turns.get(result.call_id) in lost}
        kept = tuple(sorted(left - lost))
        t = time_of(event.timestamp, self.unread)
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=kept))

    def _say(self, said: Said, event: Event) -> int:
        return self.say(said, t=time_of(event.timestamp, self.unread))

    def _definition(self, tool: dict[str, Any]) -> dict[str, Any]:
        """A tool as far as it is recorded: an MCP tool wholly, others without their parameters."""
        if given := dict_in(tool, "mcp_tool"):
            described = {"description": given.get("description"), "parameters": given.get("inputSchema")}
            return {"name": given.get("name"), **described}
        self.unread.add("parameters of a tool's definition, which were not recorded")
        name = text(tool.get("title")) or text(tool.get("kind")) or "tool"
        return {"name": name, "description": tool.get("description")}

    def _reasoning(self, fields: dict[str, Any]) -> str | None:
        """The reasoning of a message or an action, whichever interface of a provider it came by."""
        own = text(fields.get("reasoning_content"))
        blocks = [text(block.get("thinking")) for block in dicts(fields.get("thinking_blocks"))]
        self.unread.add("reasoning whose text is not recorded", 0 if own else blocks.count(None))
        item = dict_in(fields, "responses_reasoning_item")
        lists = [item.get(key) for key in ("summary", "content")]
        texts = [text(one) for listed in lists if isinstance(listed, list) for one in listed]
        return own or "\n".join(filter(None, blocks)) or "\n".join(filter(None, texts)) or None

    def _end_answer(self) -> None:
        if not self.batch:
            return
        actions, self.batch = self.batch, []
        calls = tuple(map(_call, actions))
        thoughts = parts_of([part for action in actions for part in action.thought or ()], self.unread)
        reasoning = self._reasoning(msgspec.structs.asdict(actions[0]))
        index = self._say(Said("assistant", Blocks(thoughts).content, calls, reasoning), actions[0])
        self.answers[actions[0].llm_response_id or ""] = index
        for action, call in zip(actions, calls, strict=True):
            self.asked[call.id] = (time_of(action.timestamp, self.unread), len(calls))
            self.steps_of.setdefault(action.id or "", set()).add(index)

    def _result(self, kind: str, event: Event) -> None:
        if event.tool_call_id in self.results:
            self.unread.add("second result of a call, which the model is not shown")
            return
        self.results.add(event.tool_call_id)
        about: dict[str, Any] = {"call_id": event.tool_call_id, "name": event.tool_name or ""}
        if kind == "ObservationEvent":
            observation, (asked, among) = event.observation or {}, self.asked.get(event.tool_call_id, (None, 0))
            parts, full, own = observation_shown(observation, event.extended_content or [], self.unread)
            content, broken = Blocks(parts).content, observation.get("is_error") is True
            ended = time_of(event.timestamp, self.unread)
            ran = Ran(
                data=data_of(own.replace(_PASTE[0], "").replace(_PASTE[1], "")),
                whole=None if full == text_of(content) else full,
                duration_s=seconds_between(asked, ended) if among == 1 else None,  # one answer's calls run together
                error=own if broken else None,
                cut=_CUT in own,
            )
            failed = broken or observation.get("exit_code") not in (None, 0, -1)
            self._say(Said("tool", content, **about, failed=failed, ran=ran), event)
            return
        error = ""
        if kind == "UserRejectObservation":
            error = f"Action rejected: {event.rejection_reason or ''}"
            if event.rejection_source != "hook":
                self.approve(event.tool_call_id, approved=False, t=time_of(event.timestamp, self.unread))
        elif kind == "AgentErrorEvent":
            error = event.error or ""
        self._say(Said("tool", error, **about, failed=True, error=error), event)

    def _other_agent(self, event: Event) -> None:
        """Add a call that an agent of another make did by itself: its last event holds all of it."""
        if event.status not in ("completed", "failed"):
            return
        name = event.tool_kind or event.title or "tool"
        texts = [text(dict_in(item, "content").get("text")) for item in dicts(event.content)]
        shown = "\n".join(filter(None, texts)) if event.raw_output is None else as_text(event.raw_output)
        call = ToolCall(id=event.tool_call_id, name=name, arguments=event.raw_input)
        self._say(Said("assistant", calls=(call,)), event)
        failed, ran = event.is_error is True, Ran(cut=_CUT in shown)
        self._say(Said("tool", shown, call_id=call.id, failed=failed, ran=ran), event)


def _call(action: Event) -> ToolCall:
    """The call as the model wrote it, in the SDK's form or a provider's; without one, the action that came of it."""
    written = action.tool_call or {}
    written = dict_in(written, "function") or written
    given = arguments(written.get("arguments")) if written else action.action
    return ToolCall(id=action.tool_call_id, name=action.tool_name or "unknown", arguments=given)
