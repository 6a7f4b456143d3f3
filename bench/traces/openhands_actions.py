"""OpenHands' first event stream: actions and observations, with the answers that the actions came from."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import ContextReset, Outcome, ToolCall
from .branches import paired
from .content import Blocks
from .decoded import dicts
from .messages import calls_beside
from .openhands_results import seconds_between, terminal_text
from .records import dict_in, text, time_of, typed
from .steps import Ran, ReadMessage, Steps
from .tables import data_of
from .usage import usage_in

_SILENT = {"change_agent_state", "agent_state_changed", "null", "condensation_request", "condense", "pause", "resume",
           "stop"}  # fmt: skip
"""Events that no prompt shows: bookkeeping of the harness."""
_OWN = {"thought", "blocking", "hidden", "is_input", "confirmation_state", "security_risk", "impl_source",
        "translated_ipython_code"}  # fmt: skip
"""Arguments of an action that are the harness' own."""
_RECALLED = ("repo_instructions", "additional_agent_instructions", "conversation_instructions", "microagent_knowledge")
_ENDS = {
    "error": "\n[Error occurred in processing last action]",
    "user_rejected": "\n[Last action has been rejected by the user]",
}


class Event(msgspec.Struct):
    """An action (with `args`) or an observation (with `content` and `extras`) that it caused."""

    id: int | str | None = None
    timestamp: Any = None
    source: str | None = None
    action: str | None = None
    args: dict[str, Any] = {}
    observation: str | None = None
    content: str = ""
    extras: dict[str, Any] = {}
    cause: int | str | None = None
    tool_call_metadata: dict[str, Any] = {}
    llm_metrics: dict[str, Any] = {}
    success: bool | None = None
    message: Any = None
    timeout: Any = None


class Actions(Steps):
    """The steps of one run; events are added in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.steps_of: dict[Any, range] = {}  # by the id of an event
        self.lost: set[int] = set()  # the steps that condensations left out
        self.call_of: dict[Any, str] = {}  # the id of the call that an action is, by the action's id
        self.times: dict[Any, float | None] = {}
        self.answers: set[str] = set()

    def event(self, value: dict[str, Any]) -> None:
        """Add one event."""
        event = typed(value, Event, self.unread, "an event")
        before, t = self.index, time_of(event.timestamp, self.unread)
        self.times[event.id] = t
        cost = event.llm_metrics.get("accumulated_cost")
        if isinstance(cost, int | float):
            self.meta["cost_usd"] = float(cost)
        if event.action is not None:
            self._action(event, event.action, t)
        elif event.observation is not None:
            self._observation(event, event.observation, t)
        else:
            self.unread.add("event that is neither action nor observation")
        if self.index > before:
            self.steps_of[event.id] = range(before, self.index)

    def _action(self, event: Event, kind: str, t: float | None) -> None:
        args = event.args
        if kind == "system":
            tools = args.get("tools")
            self.tools(tools if isinstance(tools, list) else [])
            self.say(ReadMessage("system", text(args.get("content")) or ""), t=t)
        elif kind == "condensation":
            self._condense(args, t)
        elif kind in _SILENT or kind == "recall":
            return
        elif event.source == "agent":
            self._answer(event, kind, t)
            if kind == "finish":
                done = {"true": True, "false": False}.get(str(args.get("task_completed")).lower())
                self.outcome = Outcome(success=done, said_by="the agent, when it finished")
        elif kind == "message":
            self.say(ReadMessage("user", text(args.get("content")) or ""), t=t)
            pictures = args.get("image_urls")
            self.unread.add("picture of a user message", len(pictures) if isinstance(pictures, list) else 0)
        else:
            self.unread.kind("user action", kind)

    def _answer(self, event: Event, kind: str, t: float | None) -> None:
        """Add the model's answer that an action came from; one answer may have several actions."""
        response, args = dict_in(event.tool_call_metadata, "model_response"), event.args
        choice = next(iter(dicts(response.get("choices"))), None)
        if choice is None:
            words = text(args.get("content" if kind == "message" else "thought")) or ""
            given = {key: value for key, value in args.items() if key not in _OWN}
            call = ToolCall(id=f"event{event.id}", name=kind, arguments=given)
            self.call_of[event.id] = call.id
            self.say(ReadMessage("assistant", words, () if kind in ("message", "finish") else (call,)), t=t)
            return
        message = dict_in(choice, "message")
        call_id = text(event.tool_call_metadata.get("tool_call_id")) or ""
        self.call_of[event.id] = call_id
        answer = text(response.get("id")) or call_id
        if answer in self.answers:
            return
        self.answers.add(answer)
        said = ReadMessage(
            "assistant",
            Blocks().add_all(message.get("content"), self.unread).content,
            calls_beside(message, self.unread),
            text(message.get("reasoning_content")),
            model=text(response.get("model")),
            finish_reason=text(choice.get("finish_reason")),
            usage=usage_in(response.get("usage"), self.unread),
        )
        self.say(said, t=t)

    def _observation(self, event: Event, kind: str, t: float | None) -> None:
        if kind == "recall":
            if recalled := _recalled(event.extras):
                self.say(ReadMessage("user", "\n\n".join(recalled)), t=t)
            return
        if kind in _SILENT:
            return
        seen = _seen(event, kind)
        call_id = text(event.tool_call_metadata.get("tool_call_id")) or self.call_of.get(event.cause, "")
        if call_id not in {call.id for call in self.waiting()}:
            self.say(ReadMessage("user", seen), t=t)
            return
        if kind == "user_rejected":
            self.approve(call_id, approved=False)
        code, broken = dict_in(event.extras, "metadata").get("exit_code"), kind in _ENDS
        ran = Ran(
            data=data_of(event.content) if kind == "run" else None,  # the model sees more than the output
            duration_s=seconds_between(self.times.get(event.cause), t),
            failed=broken or event.success is False or code not in (None, 0, -1),
            error=seen if broken else None,
        )
        self.say(ReadMessage("tool", seen, call_id=call_id, ran=ran), t=t)

    def _condense(self, args: dict[str, Any], t: float | None) -> None:
        """Add a reset that keeps the steps but those of the events named as forgotten."""
        listed = args.get("forgotten_event_ids")
        ids = {one for one in listed if isinstance(one, int | str)} if isinstance(listed, list) else set()
        start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if isinstance(start, int) and isinstance(end, int):
            ids.update(number for number in self.steps_of if isinstance(number, int) and start <= number <= end)
        self.lost.update(index for one in ids for index in self.steps_of.get(one, ()))
        kept = paired(self.steps, set(range(self.index)), self.lost)
        self.add(ContextReset(index=self.index, t=t, summary=text(args.get("summary")), kept=kept))

    def end(self) -> None:
        """Nothing is left to add."""


def _recalled(extras: dict[str, Any]) -> list[str]:
    """The texts of instructions and knowledge that a recall added to the prompt."""
    values = [extras.get(key) for key in _RECALLED]
    pieces = [piece for value in values for piece in (value if isinstance(value, list) else [value])]
    texts = [piece.get("content") if isinstance(piece, dict) else piece for piece in pieces]
    return [one for one in map(text, texts) if one]


def _seen(event: Event, kind: str) -> str:
    if kind == "run":
        return terminal_text(dict_in(event.extras, "metadata"), event.content)
    if kind == "edit":
        return text(event.extras.get("formatted_output_and_error")) or event.content
    return event.content + _ENDS.get(kind, "")
