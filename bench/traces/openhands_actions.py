"""OpenHands' first event stream: actions and observations, with the answers that the actions came from."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..model import ContextReset, Outcome, ToolCall
from .content import Blocks
from .decoded import dicts
from .messages import calls_beside
from .openhands_shown import seconds_between, terminal_text
from .records import dict_in, text, time_of, typed
from .steps import Ran, Said, Steps
from .tables import data_of
from .usage import usage_in

_SILENT = {"change_agent_state", "agent_state_changed", "null", "condensation_request", "condense", "pause", "resume",
           "stop"}  # fmt: skip
"""Events that no prompt shows: bookkeeping of the harness."""
_OWN = {"thought", "blocking", "hidden", "is_input", "confirmation_state", "security_risk", "impl_source",
        "translated_ipython_code"}  # fmt: skip
"""Arguments of an action that are the harness' own."""
_CUT = re.compile(r"\[\.\.\. (?:Command output|Observation) truncated|<response clipped>")
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
    args: dict[str, Any] | None = None
    observation: str | None = None
    content: str | None = None
    extras: dict[str, Any] | None = None
    cause: int | str | None = None
    tool_call_metadata: dict[str, Any] | None = None
    llm_metrics: Any = None
    success: bool | None = None
    message: Any = None
    timeout: Any = None


class Actions(Steps):
    """The steps of one run; `threads` are the agents at work, a delegate last."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = [("main", "agent")]
        self.steps_of: dict[Any, range] = {}  # by the id of an event
        self.forgotten: set[int] = set()  # steps
        self.call_of: dict[Any, str] = {}  # the id of the call that an action is, by the action's id
        self.times: dict[Any, float | None] = {}
        self.answers: set[str] = set()

    def event(self, value: dict[str, Any]) -> None:
        """Add one event."""
        event = typed(value, Event, self.unread, "an event")
        before, t = self.index, time_of(event.timestamp, self.unread)
        self.times[event.id] = t
        if event.llm_metrics is not None:
            self.meta["llm_metrics"] = event.llm_metrics
        if event.action is not None:
            self._action(event, event.action, t)
        elif event.observation is not None:
            self._observation(event, event.observation, t)
        else:
            self.unread.add("event that is neither action nor observation")
        if self.index > before:
            self.steps_of[event.id] = range(before, self.index)

    def _say(self, said: Said, t: float | None, **turn: Any) -> None:
        self.say(said, *self.threads[-1], t, **turn)

    def _action(self, event: Event, kind: str, t: float | None) -> None:
        args = event.args or {}
        if kind == "system":
            tools = args.get("tools")
            self.tools(tools if isinstance(tools, list) else [], *self.threads[-1])
            self._say(Said("system", text(args.get("content")) or ""), t)
        elif kind == "condensation":
            self._condense(args, t)
        elif kind in _SILENT or kind == "recall":
            return
        elif event.source == "agent":
            self._answer(event, kind, t)
            if kind == "delegate":
                name = text(args.get("agent")) or "delegate"
                self.threads.append((f"{name} {event.id}", name))
                self._say(Said("user", text(dict_in(args, "inputs").get("task")) or ""), t)
            if kind == "finish":
                done = {"true": True, "false": False}.get(str(args.get("task_completed")).lower())
                self.outcome = Outcome(success=done, said_by="the agent, when it finished")
        elif kind in ("message", "run"):
            if event.source not in (None, "user", "environment"):
                self.unread.kind("source, taken for the user,", event.source)
            shown = text(args.get("content")) or text(args.get("command")) or ""
            self._say(Said("user", f"User executed the command:\n{shown}" if kind == "run" else shown), t)
            pictures = args.get("image_urls")
            self.unread.add("picture of a user message", len(pictures) if isinstance(pictures, list) else 0)
        else:
            self.unread.kind("user action", kind)

    def _answer(self, event: Event, kind: str, t: float | None) -> None:
        """Add the model's answer that an action came from; one answer may have several actions."""
        response = dict_in(event.tool_call_metadata, "model_response")
        choices, args = dicts(response.get("choices")), event.args or {}
        if not choices:
            own_words = text(args.get("content" if kind == "message" else "thought")) or ""
            given = {key: value for key, value in args.items() if key not in _OWN}
            call = ToolCall(id=f"event{event.id}", name=kind, arguments=given)
            self.call_of[event.id] = call.id
            self._say(Said("assistant", own_words, () if kind in ("message", "finish") else (call,)), t)
            return
        message = dict_in(choices[0], "message")
        call_id = text(dict_in(event.tool_call_metadata).get("tool_call_id")) or ""
        self.call_of[event.id] = call_id
        answer = text(response.get("id")) or call_id
        if answer not in self.answers:
            self.answers.add(answer)
            thought = text(message.get("reasoning_content")) or text(message.get("reasoning"))
            content = Blocks().add_all(message.get("content"), self.unread).content
            self._say(
                Said("assistant", content, calls_beside(message, self.unread), thought),
                t,
                model=text(response.get("model")),
                finish_reason=text(choices[0].get("finish_reason")),
                usage=usage_in(response.get("usage"), self.unread),
            )

    def _observation(self, event: Event, kind: str, t: float | None) -> None:
        if kind == "recall":
            if recalled := _recalled(event.extras or {}):
                self._say(Said("user", "\n\n".join(recalled)), t)
            return
        if kind in _SILENT:
            return
        if kind == "delegate" and len(self.threads) > 1:
            self.threads.pop()
        shown = _shown(event, kind)
        call_id = text(dict_in(event.tool_call_metadata).get("tool_call_id")) or self.call_of.get(event.cause, "")
        if call_id not in {call.id for call in self.waiting(self.threads[-1][0])}:  # not the agent's own
            prefix = "\nObserved result of command executed by user:\n" if kind == "run" else ""
            self._say(Said("user", prefix + shown), t)
            return
        if kind == "user_rejected":
            self.approve(call_id, approved=False)
        data = data_of(event.content or "") if kind == "run" else None  # the text shown has more
        seconds = seconds_between(self.times.get(event.cause), t)
        ran = Ran(data=data, duration_s=seconds, cut=_CUT.search(shown) is not None)
        code, broken = dict_in(event.extras, "metadata").get("exit_code"), kind in _ENDS
        failed = broken or event.success is False or code not in (None, 0, -1)
        error = shown if broken else None
        self._say(Said("tool", shown, call_id=call_id, failed=failed, error=error, ran=ran), t)

    def _condense(self, args: dict[str, Any], t: float | None) -> None:
        """Add a reset that keeps the thread's steps but those of the events named as forgotten."""
        lists = (args.get(key) for key in ("forgotten_event_ids", "pruned_event_ids"))
        ids = {one for listed in lists if isinstance(listed, list) for one in listed if isinstance(one, int | str)}
        start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if isinstance(start, int) and isinstance(end, int):
            ids.update(number for number in self.steps_of if isinstance(number, int) and start <= number <= end)
        self.forgotten.update(index for one in ids for index in self.steps_of.get(one, ()))
        thread, agent = self.threads[-1]
        kept = tuple(step.index for step in self.steps if step.thread == thread and step.index not in self.forgotten)
        summary = text(args.get("summary"))
        self.add(ContextReset(index=self.index, agent=agent, thread=thread, t=t, summary=summary, kept=kept))


def _recalled(extras: dict[str, Any]) -> list[str]:
    """The texts that a recall found."""
    values = [extras.get(key) for key in _RECALLED]
    pieces = [piece for value in values for piece in (value if isinstance(value, list) else [value])]
    texts = [piece.get("content") if isinstance(piece, dict) else piece for piece in pieces]
    return [one for one in map(text, texts) if one]


def _shown(event: Event, kind: str) -> str:
    content, extras = event.content or "", event.extras or {}
    if kind == "run":
        return terminal_text(dict_in(extras, "metadata"), content)
    if kind == "edit":
        return text(extras.get("formatted_output_and_error")) or content
    if kind == "delegate":
        return content or text(dict_in(extras, "outputs").get("content")) or ""
    return content + _ENDS.get(kind, "")
