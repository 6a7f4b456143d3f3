"""OpenHands' first event stream: actions and observations, with the answers that the actions came
from."""

from __future__ import annotations

from typing import Any

from ..model import Outcome, ToolCall
from .content import Blocks
from .decoded import dicts
from .messages import calls_beside
from .openhands_log import EventLog, terminal_text
from .records import dict_in, seconds_between, text, time_of
from .steps import Ran, ReadMessage
from .tables import data_of
from .usage import usage_in

_SILENT = {"change_agent_state", "agent_state_changed", "null", "condensation_request", "condense", "pause", "resume",
           "stop"}  # fmt: skip
"""Events that no prompt shows: bookkeeping of the harness."""
_KNOWN = {"id", "timestamp", "source", "action", "args", "observation", "content", "extras", "cause",
          "tool_call_metadata", "llm_metrics", "success", "message", "timeout"}  # fmt: skip
_OWN = {"thought", "blocking", "hidden", "is_input", "confirmation_state", "security_risk", "impl_source",
        "translated_ipython_code"}  # fmt: skip
"""Arguments of an action that are the harness' own."""
_RECALLED = ("repo_instructions", "additional_agent_instructions", "conversation_instructions", "microagent_knowledge")
_ENDS = {
    "error": "\n[Error occurred in processing last action]",
    "user_rejected": "\n[Last action has been rejected by the user]",
}


class ActionLog(EventLog):
    """The steps of one run; events are added in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, tuple[str, float | None]] = {}  # the call and the time of an action, by its id
        self.answers: set[str] = set()

    def event(self, event: dict[str, Any]) -> None:
        """Add one event: an action (with `args`), or an observation (with `content`) that it
        caused."""
        self.unread.extra_keys(event, _KNOWN, "an event")
        before, t = self.index, time_of(event.get("timestamp"), self.unread)
        cost = dict_in(event, "llm_metrics").get("accumulated_cost")
        if isinstance(cost, int | float):
            self.meta["cost_usd"] = float(cost)
        action, observation = text(event.get("action")), text(event.get("observation"))
        if action is not None:
            self._action(event, action, t)
        elif observation is not None:
            self._observation(event, observation, t)
        else:
            self.unread.add("event that is neither action nor observation")
        self.steps_of[str(event.get("id"))] = range(before, self.index)

    def _action(self, event: dict[str, Any], kind: str, t: float | None) -> None:
        args = dict_in(event, "args")
        content, tools = text(args.get("content")) or "", args.get("tools")
        if kind == "system":
            self.tools(tools if isinstance(tools, list) else [])
            self.say(ReadMessage("system", content), t=t)
        elif kind == "condensation":
            self.condense(self._forgotten_events(args), text(args.get("summary")), t)
        elif kind in _SILENT or kind == "recall":
            return
        elif event.get("source") == "agent":
            self._answer(event, kind, t)
            if kind == "finish":
                done = {"true": True, "false": False}.get(str(args.get("task_completed")).lower())
                self.outcome = Outcome(success=done, said_by="the agent, when it finished")
        elif kind == "message":
            self.say(ReadMessage("user", content), t=t)
            pictures = args.get("image_urls")
            self.unread.add("picture of a user message", len(pictures) if isinstance(pictures, list) else 0)
        else:
            self.unread.kind("user action", kind)

    def _answer(self, event: dict[str, Any], kind: str, t: float | None) -> None:
        """Add the model's answer that an action came from; one answer may have several actions."""
        metadata, args = dict_in(event, "tool_call_metadata"), dict_in(event, "args")
        response = dict_in(metadata, "model_response")
        choice = next(iter(dicts(response.get("choices"))), None)
        if choice is None:
            thought = text(args.get("content" if kind == "message" else "thought")) or ""
            given = {key: value for key, value in args.items() if key not in _OWN}
            call = ToolCall(id=f"event{event.get('id')}", name=kind, arguments=given)
            self.calls[str(event.get("id"))] = (call.id, t)
            self.say(ReadMessage("assistant", thought, () if kind in ("message", "finish") else (call,)), t=t)
            return
        message, call_id = dict_in(choice, "message"), text(metadata.get("tool_call_id")) or ""
        self.calls[str(event.get("id"))] = (call_id, t)
        answer = text(response.get("id")) or call_id
        if answer in self.answers:
            return
        self.answers.add(answer)
        turn = ReadMessage(
            "assistant",
            Blocks().add_all(message.get("content"), self.unread).content,
            calls_beside(message, self.unread),
            text(message.get("reasoning_content")),
            model=text(response.get("model")),
            finish_reason=text(choice.get("finish_reason")),
            usage=usage_in(response.get("usage"), self.unread),
        )
        self.say(turn, t=t)

    def _observation(self, event: dict[str, Any], kind: str, t: float | None) -> None:
        if kind == "recall":
            if recalled := _recalled(dict_in(event, "extras")):
                self.say(ReadMessage("user", recalled), t=t)
            return
        if kind in _SILENT:
            return
        seen, (caused, asked) = _seen(event, kind), self.calls.get(str(event.get("cause")), ("", None))
        call_id = text(dict_in(event, "tool_call_metadata").get("tool_call_id")) or caused
        if call_id not in {call.id for call in self.waiting()}:
            self.say(ReadMessage("user", seen), t=t)
            return
        if kind == "user_rejected":
            self.approve(call_id, approved=False)
        code, broken = dict_in(event, "extras", "metadata").get("exit_code"), kind in _ENDS
        ran = Ran(
            data=data_of(text(event.get("content")) or "") if kind == "run" else None,  # the model sees more
            duration_s=seconds_between(asked, t),
            failed=broken or event.get("success") is False or code not in (None, 0, -1),
            error=seen if broken else None,
        )
        self.say(ReadMessage("tool", seen, call_id=call_id, ran=ran), t=t)

    def _forgotten_events(self, args: dict[str, Any]) -> list[str]:
        """The events that a condensation leaves out: a list of them, or the first and the last."""
        listed = args.get("forgotten_event_ids")
        start, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if isinstance(start, int) and isinstance(end, int):
            return [event for event in self.steps_of if event.isdecimal() and start <= int(event) <= end]
        return list(map(str, listed)) if isinstance(listed, list) else []


def _recalled(extras: dict[str, Any]) -> str:
    """The texts of instructions and knowledge that a recall added to the prompt."""
    values = [extras.get(key) for key in _RECALLED]
    pieces = [piece for value in values for piece in (value if isinstance(value, list) else [value])]
    texts = [piece.get("content") if isinstance(piece, dict) else piece for piece in pieces]
    return "\n\n".join(filter(None, map(text, texts)))


def _seen(event: dict[str, Any], kind: str) -> str:
    """An observation as the model was shown it."""
    extras, content = dict_in(event, "extras"), text(event.get("content")) or ""
    if kind == "run":
        return terminal_text(dict_in(extras, "metadata"), content)
    if kind == "edit":
        return text(extras.get("formatted_output_and_error")) or content
    return content + _ENDS.get(kind, "")
