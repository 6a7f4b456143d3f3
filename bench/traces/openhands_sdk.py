"""The event log of OpenHands' SDK: messages, calls, results and condensations."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import Outcome, Part, TextPart, ToolCall
from .content import Blocks
from .decoded import as_dict, dicts
from .messages import ROLES
from .openhands_log import EventLog, clipped, terminal_text
from .parts import simple
from .records import arguments, dict_in, seconds_between, text, time_of
from .steps import Ran, ReadMessage
from .tables import data_of
from .usage import usage_in

_RESULTS = {"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"}
_STATE = "ConversationStateUpdateEvent"
EVENTS = {"SystemPromptEvent", "MessageEvent", "ActionEvent", "Condensation", "ConversationErrorEvent", *_RESULTS}
"""The kinds of events that a prompt or the run's end shows."""
_SILENT = {"CondensationRequest", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "StreamingDeltaEvent",
           "LLMCompletionLogEvent", "TokenEvent"}  # fmt: skip
"""Events that no prompt shows: bookkeeping, and answers in pieces before the complete one."""
_KNOWN = {"kind", "id", "timestamp", "parent_id", "system_prompt", "dynamic_context", "tools", "llm_message",
          "llm_response_id", "extended_content", "thought", "reasoning_content", "thinking_blocks",
          "responses_reasoning_item", "tool_name", "tool_call_id", "tool_call", "observation", "rejection_reason",
          "rejection_source", "error", "forgotten_event_ids", "summary", "code", "detail", "source",
          "activated_skills", "sender", "critic_result", "action", "action_id", "security_risk", "classification",
          "summary_offset"}  # fmt: skip
_ANY_TOOL = 50_000  # characters of a text in a prompt
_LIMITS = {"TerminalObservation": (30_000, "terminal"), "BrowserObservation": (_ANY_TOOL, "browser")}


class SdkLog(EventLog):
    """The steps of one conversation; events are added in the order of the log."""

    def __init__(self) -> None:
        super().__init__()
        self.actions: list[dict[str, Any]] = []  # those of the answer that is being read
        self.answers: dict[str, int] = {}  # the turn that an answer became, by the answer's id
        self.usages: dict[str, dict[str, Any]] = {}  # by the same
        self.costs: dict[str, float] = {}  # so far, by what models were used for
        self.asked: dict[str, float | None] = {}  # when a call was made, where its answer made no other
        self.last = ""  # the event before

    def event(self, event: dict[str, Any]) -> None:
        """Add one event."""
        kind, own = text(event.get("kind")) or "", str(event.get("id"))
        if kind == _STATE:
            key, state = event.get("key"), event.get("value")
            self.state(as_dict(state) if key == "full_state" else {str(key): state})
            return
        parent = text(event.get("parent_id"))
        earlier = parent != self.last and parent in self.steps_of
        self.unread.add("event after an earlier one than the last, read as after the last", earlier)
        self.last = own
        if kind in _SILENT:
            return
        if kind != "ActionEvent" or (self.actions and _answer_id(self.actions[0]) != _answer_id(event)):
            self._end_answer()
        if kind not in EVENTS:
            self.unread.kind("event", kind)
            return
        self.unread.extra_keys(event, _KNOWN, "an event")
        before = self.index
        self._add(kind, event, time_of(event.get("timestamp"), self.unread))
        self.steps_of[own] = range(before, self.index)

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

    def _add(self, kind: str, event: dict[str, Any], t: float | None) -> None:
        if kind == "ActionEvent":
            self.actions.append(event)
        elif kind == "SystemPromptEvent":
            self.tools(list(map(self._definition, dicts(event.get("tools")))))
            parts = [part for key in ("system_prompt", "dynamic_context") if (part := event.get(key))]
            self.say(ReadMessage("system", self._blocks(parts).content), t=t)
        elif kind == "MessageEvent":
            self._message(event, t)
        elif kind == "Condensation":
            listed = event.get("forgotten_event_ids")
            self.condense(map(str, listed if isinstance(listed, list) else ()), text(event.get("summary")), t)
        elif kind == "ConversationErrorEvent":
            self.meta["error"] = {key: event.get(key) for key in ("code", "detail")}
            self.outcome = Outcome(success=False, said_by="OpenHands: the run broke off")
        else:
            self._result(kind, event, t)

    def _message(self, event: dict[str, Any], t: float | None) -> None:
        message = dict_in(event, "llm_message")
        role = ROLES.get(str(message.get("role")), "user")
        blocks = self._blocks(message.get("content"), event.get("extended_content"))
        reasoning = self._reasoning(message) if role == "assistant" else None
        index = self.say(ReadMessage(role, blocks.content, reasoning=reasoning), t=t)
        if role == "assistant":
            self.answers[_answer_id(event)] = index

    def _end_answer(self) -> None:
        """Add the answer that is being read as one turn with all its calls."""
        if not self.actions:
            return
        actions, self.actions = self.actions, []
        first, t = actions[0], time_of(actions[0].get("timestamp"), self.unread)
        thoughts = self._blocks(*(action.get("thought") for action in actions))
        calls = tuple(map(_call, actions))
        turn = ReadMessage("assistant", thoughts.content, calls, self._reasoning(first))
        self.answers[_answer_id(first)] = index = self.say(turn, t=t)
        if len(calls) == 1:  # several calls of one answer run side by side
            self.asked[calls[0].id] = t
        for action in actions:
            self.steps_of[str(action.get("id"))] = range(index, index + 1)

    def _result(self, kind: str, event: dict[str, Any], t: float | None) -> None:
        call_id, name = text(event.get("tool_call_id")) or "", text(event.get("tool_name")) or ""
        if kind == "ObservationEvent":
            self.say(self._observed(event, ReadMessage("tool", call_id=call_id, name=name), t), t=t)
            return
        error = text(event.get("error")) or ""
        if kind == "UserRejectObservation":
            error = f"Action rejected: {event.get('rejection_reason') or ''}"
            if event.get("rejection_source") != "hook":
                self.approve(call_id, approved=False, t=t)
        self.say(ReadMessage("tool", error, call_id=call_id, name=name, failed=True, error=error), t=t)

    def _observed(self, event: dict[str, Any], result: ReadMessage, t: float | None) -> ReadMessage:
        """A result as the model saw it: each of its texts clipped, then what the agent's context
        added."""
        observation = dict_in(event, "observation")
        kind, broken = str(observation.get("kind")), observation.get("is_error") is True
        blocks = self._blocks(observation.get("content"))
        output = "".join(part.text for part in blocks.parts if isinstance(part, TextPart))
        texts = [part.text for part in blocks.parts if isinstance(part, TextPart)]
        if kind in _LIMITS:
            texts = [terminal_text(dict_in(observation, "metadata"), output)]
        if broken:
            texts.insert(0, "[An error occurred during execution.]\n")
        texts = list(filter(None, texts))
        limit, name = _LIMITS.get(kind, (_ANY_TOOL, ""))
        folder = text(observation.get("full_output_save_dir")) if name else None
        clips = [clipped(one, limit, folder, name) for one in texts]
        context = self._blocks(event.get("extended_content")).parts
        more = [part.text for part in context if isinstance(part, TextPart)]
        pictures: list[Part] = [part for part in blocks.parts if not isinstance(part, TextPart)]
        if screenshot := text(observation.get("screenshot_data")):
            url = {"type": "image_url", "image_url": f"data:image/png;base64,{screenshot}"}
            pictures += self._blocks(url).parts
        ran = Ran(
            data=data_of(output.replace("\x1b[?2004l", "").replace("\x1b[?2004h", "")),  # marks of pasting
            full="\n".join([*texts, *more]) if clips != texts else None,
            duration_s=seconds_between(self.asked.get(result.call_id), t),
            error=output if broken else None,
            failed=broken or observation.get("exit_code") not in (None, 0, -1),
        )
        content = simple((TextPart(text="\n".join([*clips, *more])), *pictures))
        return ReadMessage("tool", content, call_id=result.call_id, name=result.name, ran=ran)

    def _blocks(self, *contents: Any) -> Blocks:
        """The blocks of some contents; one of pictures may hold several."""
        blocks = Blocks()
        for content in contents:
            for value in content if isinstance(content, list) else [content]:
                urls = as_dict(value).get("image_urls")
                listed = [{"type": "image_url", "image_url": url} for url in urls] if isinstance(urls, list) else value
                blocks.add_all(listed, self.unread)
        return blocks

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
        item = dict_in(fields, "responses_reasoning_item")
        lists = [listed for key in ("summary", "content") if isinstance(listed := item.get(key), list)]
        thoughts = "\n".join(one for listed in lists for one in listed if text(one))
        return self._blocks(fields.get("thinking_blocks")).reasoning or thoughts or None


def _answer_id(event: dict[str, Any]) -> str:
    return text(event.get("llm_response_id")) or ""


def _call(action: dict[str, Any]) -> ToolCall:
    """The call as the model wrote it, in the SDK's form or a provider's."""
    written = dict_in(action, "tool_call", "function") or dict_in(action, "tool_call")
    call_id, name = text(action.get("tool_call_id")) or "", text(action.get("tool_name")) or "unknown"
    return ToolCall(id=call_id, name=name, arguments=arguments(written.get("arguments")))
