"""The event log of OpenHands' SDK: messages, calls, results, condensations and branches."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import ContextReset, Outcome, ToolCall, as_text, text_of
from .branches import paired, way_to
from .decoded import as_dict, dicts
from .messages import ROLES
from .openhands_results import blocks_of, observed, seconds_between
from .records import arguments, count_unknown, dict_in, text, time_of, typed
from .steps import Ran, ReadMessage, Steps
from .tables import data_of
from .usage import usage_in

_RESULTS = {"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"}
EVENTS = {"SystemPromptEvent", "MessageEvent", "ActionEvent", "Condensation", "CondensationSummaryEvent",
          "ConversationErrorEvent", "ACPToolCallEvent", *_RESULTS}  # fmt: skip
"""The kinds of events that a prompt or the run's end shows."""
_SILENT = {"CondensationRequest", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "SecurityAnalysisEvent",
           "StreamingDeltaEvent", "LLMCompletionLogEvent"}  # fmt: skip
"""Events that no prompt shows: bookkeeping, and answers in pieces before the whole."""
_IGNORED = {"source", "activated_skills", "sender", "critic_result", "action", "action_id", "security_risk",
            "classification", "summary_offset"}  # fmt: skip
_ROOT = "__root__"


class Event(msgspec.Struct):
    """An event of any kind that is shown; `parent_id` where the run went on from an earlier event."""

    kind: str = ""
    id: str | None = None
    timestamp: Any = None
    parent_id: str | None = None
    system_prompt: dict[str, Any] | None = None
    dynamic_context: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    llm_message: dict[str, Any] = {}
    llm_response_id: str | None = None
    extended_content: list[Any] = []
    thought: list[Any] | None = None
    reasoning_content: str | None = None
    thinking_blocks: Any = None
    responses_reasoning_item: dict[str, Any] | None = None
    tool_name: str | None = None
    tool_call_id: str = ""
    tool_call: dict[str, Any] = {}
    observation: dict[str, Any] = {}
    rejection_reason: str | None = None
    rejection_source: str | None = None
    error: str | None = None
    forgotten_event_ids: list[str] = []
    summary: str | None = None
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
        self.usages: dict[str, dict[str, Any]] = {}  # by the same
        self.costs: dict[str, float] = {}  # so far, by what models were used for
        self.asked: dict[str, float | None] = {}  # when a call was made, where its answer made no other
        self.results: set[str] = set()
        self.parents: dict[str, str | None] = {_ROOT: None}
        self.steps_of: dict[str, set[int]] = {}  # by the id of an event
        self.forgotten: dict[str, list[str]] = {}  # the events that a condensation left out
        self.last: str = _ROOT

    def event(self, value: dict[str, Any]) -> None:
        """Add one event."""
        kind = text(value.get("kind")) or ""
        if kind == "ConversationStateUpdateEvent":
            key, state = value.get("key"), value.get("value")
            self.state(as_dict(state) if key == "full_state" else {str(key): state})
            return
        event = typed(value, Event, self.unread)
        goes_on = bool(self.batch) and self.batch[0].llm_response_id == event.llm_response_id
        if kind not in _SILENT and not (kind == "ActionEvent" and goes_on):
            self._end_answer()
        own = event.id or f"event {len(self.parents)}"
        parent = event.parent_id or self.last
        if parent in self.parents and parent != self.last:  # the events between are left behind
            self._end_answer()
            self._reset(event, parent, None)
        self.parents[own], self.last = parent, own
        if kind in EVENTS:
            count_unknown(value, Event, self.unread, "an event", _IGNORED)
            before = self.index
            self._add(event, own)
            self.steps_of.setdefault(own, set()).update(range(before, self.index))
        elif kind not in _SILENT:
            self.unread.kind("event", kind)

    def state(self, state: dict[str, Any]) -> None:
        """Note a state, or the part of it that changed: how the run stands, usage and cost."""
        status = text(state.get("execution_status"))
        if status in ("error", "stuck"):
            self.outcome = self.outcome or Outcome(success=False, said_by=f"OpenHands: {status}")
        for name, metrics in dict_in(state, "stats", "usage_to_metrics").items():
            self.metrics(name, as_dict(metrics))

    def metrics(self, name: str, metrics: dict[str, Any]) -> None:
        """Note the usage of each answer, and the cost of all."""
        self.usages |= {str(usage.get("response_id")): usage for usage in dicts(metrics.get("token_usages"))}
        cost = metrics.get("accumulated_cost")
        if isinstance(cost, int | float):
            self.costs[name] = float(cost)

    def end(self) -> None:
        """Finish the last answer, give turns their usage, and note the cost."""
        self._end_answer()
        for answer, index in self.answers.items():
            used = self.usages.get(answer, {})
            usage, model = usage_in(used, self.unread), text(used.get("model"))
            self.steps[index] = msgspec.structs.replace(self.steps[index], usage=usage, model=model)
        self.unread.add("model call that is not in the prompts", len(self.usages.keys() - self.answers.keys()))
        if cost := sum(self.costs.values()):
            self.meta["cost_usd"] = cost

    def _add(self, event: Event, own: str) -> None:
        if event.kind == "ActionEvent":
            self.batch.append(event)
        elif event.kind == "SystemPromptEvent":
            self.tools(list(map(self._definition, event.tools or ())))
            parts = [part for part in (event.system_prompt, event.dynamic_context) if part]
            self._say(ReadMessage("system", blocks_of(parts, self.unread).content), event)
        elif event.kind == "MessageEvent":
            self._message(event)
        elif event.kind == "CondensationSummaryEvent":
            self._say(ReadMessage("user", event.summary or ""), event)
        elif event.kind == "Condensation":
            self.forgotten[own] = event.forgotten_event_ids
            self._reset(event, own, event.summary)
        elif event.kind == "ConversationErrorEvent":
            self.meta["error"] = {"code": event.code, "detail": event.detail}
            self.outcome = Outcome(success=False, said_by="OpenHands: the run broke off")
        elif event.kind == "ACPToolCallEvent":
            self._other_agent(event)
        else:
            self._result(event)

    def _say(self, said: ReadMessage, event: Event) -> int:
        return self.say(said, t=time_of(event.timestamp, self.unread))

    def _message(self, event: Event) -> None:
        message = event.llm_message
        role = ROLES.get(str(message.get("role")), "user")
        content = message.get("content")
        parts = content if isinstance(content, list) else [content]
        blocks = blocks_of([*parts, *event.extended_content], self.unread)
        reasoning = self._reasoning(message) if role == "assistant" else None
        index = self._say(ReadMessage(role, blocks.content, reasoning=reasoning), event)
        if role == "assistant":
            self.answers[event.llm_response_id or ""] = index

    def _reset(self, event: Event, end: str, summary: str | None) -> None:
        """Keep the way to an event without what condensations on it left out."""
        way = list(way_to(end, self.parents))
        kept = {index for one in way for index in self.steps_of.get(one, ())}
        forgotten = {event_id for one in way for event_id in self.forgotten.get(one, ())}
        lost = {index for one in forgotten for index in self.steps_of.get(one, ())}
        t = time_of(event.timestamp, self.unread)
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=paired(self.steps, kept, lost)))

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
        if own := text(fields.get("reasoning_content")):
            return own
        blocks = blocks_of(fields.get("thinking_blocks"), self.unread)
        item = dict_in(fields, "responses_reasoning_item")
        lists = [held for key in ("summary", "content") if isinstance(held := item.get(key), list)]
        return blocks.reasoning or "\n".join(one for held in lists for one in held if text(one)) or None

    def _end_answer(self) -> None:
        if not self.batch:
            return
        actions, self.batch = self.batch, []
        thoughts = blocks_of([part for action in actions for part in action.thought or ()], self.unread)
        reasoning = self._reasoning(msgspec.structs.asdict(actions[0]))
        index = self._say(ReadMessage("assistant", thoughts.content, tuple(map(_call, actions)), reasoning), actions[0])
        self.answers[actions[0].llm_response_id or ""] = index
        if len(actions) == 1:  # several calls of one answer run side by side
            self.asked[actions[0].tool_call_id] = time_of(actions[0].timestamp, self.unread)
        for action in actions:
            self.steps_of.setdefault(action.id or "", set()).add(index)

    def _result(self, event: Event) -> None:
        call_id, t = event.tool_call_id, time_of(event.timestamp, self.unread)
        if call_id in self.results:
            self.unread.add("second result of a call, which the model is not shown")
            return
        self.results.add(call_id)
        if event.kind == "ObservationEvent":
            result = observed(event.observation, event.extended_content, self.unread)
            broken = event.observation.get("is_error") is True
            ran = Ran(
                data=data_of(_without_paste_marks(result.output)),
                full=None if result.full == text_of(result.content) else result.full,
                duration_s=seconds_between(self.asked.get(call_id), t),
                error=result.output if broken else None,
                failed=broken or event.observation.get("exit_code") not in (None, 0, -1),
            )
            self.say(ReadMessage("tool", result.content, call_id=call_id, name=event.tool_name or "", ran=ran), t=t)
            return
        error = event.error or ""
        if event.kind == "UserRejectObservation":
            error = f"Action rejected: {event.rejection_reason or ''}"
            if event.rejection_source != "hook":
                self.approve(call_id, approved=False, t=t)
        self.say(ReadMessage("tool", error, call_id=call_id, name=event.tool_name or "", failed=True, error=error), t=t)

    def _other_agent(self, event: Event) -> None:
        """Add a call that an agent of another make did by itself: its last event holds all of it."""
        if event.status not in ("completed", "failed"):
            return
        texts = [text(dict_in(item, "content").get("text")) for item in dicts(event.content)]
        seen = "\n".join(filter(None, texts)) if event.raw_output is None else as_text(event.raw_output)
        name = event.tool_kind or event.title or "tool"
        self._say(
            ReadMessage("assistant", calls=(ToolCall(id=event.tool_call_id, name=name, arguments=event.raw_input),)),
            event,
        )
        self._say(ReadMessage("tool", seen, call_id=event.tool_call_id, failed=event.is_error is True), event)


def _call(action: Event) -> ToolCall:
    """The call as the model wrote it, in the SDK's form or a provider's."""
    written = dict_in(action.tool_call, "function") or action.tool_call
    name = action.tool_name or "unknown"
    return ToolCall(id=action.tool_call_id, name=name, arguments=arguments(written.get("arguments")))


def _without_paste_marks(output: str) -> str:
    """A command's output without the marks of bracketed paste that shells write around it."""
    return output.replace("\x1b[?2004l", "").replace("\x1b[?2004h", "")
