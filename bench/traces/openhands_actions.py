"""OpenHands' first event stream: actions and observations, and the model's answers that the actions came from."""

from __future__ import annotations

import re
from typing import Any

from ..model import ContextReset, Outcome, ToolCall
from .documents import Node
from .messages import calls_beside
from .nodes import at, between, first_of, moment, only_text
from .openhands_shown import terminal
from .parts import simple_content, usage_of
from .steps import Ran, Said, Steps
from .tables import data_of

_EVENT = {"id", "timestamp", "source", "message", "action", "observation", "args", "content", "extras", "cause",
          "tool_call_metadata", "llm_metrics", "timeout", "success"}  # fmt: skip
_SILENT = {"change_agent_state", "agent_state_changed", "null", "condensation_request", "condense", "pause", "resume", "stop"}  # fmt: skip
"""Events that no prompt shows: bookkeeping of the harness."""
_OWN = {"thought", "blocking", "hidden", "is_input", "confirmation_state", "security_risk", "impl_source", "translated_ipython_code"}  # fmt: skip
"""Arguments of an action that are the harness' own."""
_CUT = re.compile(r"\[\.\.\. (?:Command output|Observation) truncated|<response clipped>")
_RECALLED = ("repo_instructions", "additional_agent_instructions", "conversation_instructions", "microagent_knowledge")
_ENDS = {
    "error": "\n[Error occurred in processing last action]",
    "user_rejected": "\n[Last action has been rejected by the user]",
}


class Actions(Steps):
    """One run on its way to a trace: which steps an event became, the answers seen, and the delegates at work."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = [("main", "agent")]
        self.made: dict[Any, range] = {}  # the steps an event became, by its id
        self.gone: set[int] = set()  # the steps that were forgotten
        self.call_of: dict[Any, str] = {}  # the id of the call that an action is, by the action's id
        self.times: dict[Any, float | None] = {}
        self.answers: set[str] = set()

    def event(self, event: Node) -> None:
        """One event, whatever it is."""
        self.unread.keys(event, _EVENT, "an event")
        number, before = _id(event["id"]), self.index
        self.times[number] = moment(event["timestamp"])
        if event["llm_metrics"].value is not None:
            self.meta["llm_metrics"] = event["llm_metrics"].value
        if event.has("action"):
            self._action(event, event["action"].text_or_none() or "", event["args"])
        elif event.has("observation"):
            self._observation(event, event["observation"].text_or_none() or "")
        else:
            self.unread.add("event that is neither action nor observation")
        if self.index > before:
            self.made[number] = range(before, self.index)

    def _say(self, said: Said, event: Node, **turn: Any) -> None:
        self.say(said, *self.threads[-1], moment(event["timestamp"]), **turn)

    def _action(self, event: Node, kind: str, args: Node) -> None:
        if kind == "system":
            self.tools([tool.value for tool in args["tools"].items()], *self.threads[-1])
            self._say(Said("system", args["content"].text()), event)
        elif kind == "condensation":
            self._condense(event, args)
        elif kind in _SILENT or kind == "recall":
            return
        elif event["source"].value == "agent":
            self._answer(event, kind, args)
            if kind == "delegate":
                name = args["agent"].text_or_none() or "delegate"
                self.threads.append((f"{name} {event['id'].value}", name))
                self._say(Said("user", only_text(at(args, "inputs", "task")) or ""), event)
            if kind == "finish":
                done = {"true": True, "false": False}.get(str(args["task_completed"].value).lower())
                self.outcome = Outcome(success=done, said_by="the agent, when it finished")
        elif kind in ("message", "run"):
            if event["source"].value not in (None, "user", "environment"):
                self.unread.kind("source, taken for the user,", event["source"].value)
            text = first_of(args, "content", "command").text_or_none() or ""
            self._say(Said("user", f"User executed the command:\n{text}" if kind == "run" else text), event)
            self.unread.add("picture of a user message", len(args["image_urls"].items()))
        else:
            self.unread.kind("user action", kind)

    def _answer(self, event: Node, kind: str, args: Node) -> None:
        """The model's answer that an action came from; one answer may have several actions, and is one turn."""
        metadata, number = event["tool_call_metadata"], _id(event["id"])
        response = at(metadata, "model_response")
        if not at(response, "choices").items():
            said = only_text(args["content"] if kind == "message" else args["thought"]) or ""
            given = {key: value for key, value in args.object().items() if key not in _OWN}
            call = ToolCall(id=f"event{number}", name=kind, arguments=given)
            self.call_of[number] = call.id
            self._say(Said("assistant", said, () if kind in ("message", "finish") else (call,)), event)
            return
        choice = response["choices"].items()[0]
        message, self.call_of[number] = choice["message"], metadata["tool_call_id"].text()
        answer = response["id"].text_or_none() or self.call_of[number]
        if answer not in self.answers:
            self.answers.add(answer)
            thought = first_of(message, "reasoning_content", "reasoning").text_or_none()
            calls, content = calls_beside(message.object(), self.unread), simple_content(message["content"])
            model, finish = response["model"].text_or_none(), choice["finish_reason"].text_or_none()
            usage = usage_of(response["usage"])
            self._say(Said("assistant", content, calls, thought), event, model=model, finish_reason=finish, usage=usage)

    def _observation(self, event: Node, kind: str) -> None:
        if kind == "recall":
            found = [event["extras"][key].value for key in _RECALLED]
            pieces = [piece for value in found for piece in (value if isinstance(value, list) else [value])]
            texts = [piece.get("content") if isinstance(piece, dict) else piece for piece in pieces]
            if any(texts):
                self._say(Said("user", "\n\n".join(text for text in texts if isinstance(text, str) and text)), event)
            return
        if kind in _SILENT:
            return
        if kind == "delegate" and len(self.threads) > 1:
            self.threads.pop()
        cause, text = _id(event["cause"]), _shown(event, kind)
        call_id = at(event, "tool_call_metadata", "tool_call_id").text_or_none() or self.call_of.get(cause, "")
        waiting = {call.id for call in self.waiting(self.threads[-1][0])}
        if call_id not in waiting:  # of what the user or the harness did
            told = f"\nObserved result of command executed by user:\n{text}" if kind == "run" else text
            self._say(Said("user", told), event)
            return
        if kind == "user_rejected":
            self.approve(call_id, approved=False)
        seconds = between(self.times.get(cause), moment(event["timestamp"]))
        data = data_of(event["content"].text_or_none() or "") if kind == "run" else None  # the text shown has more
        ran = Ran(data=data, duration_s=seconds, cut=_CUT.search(text) is not None)
        code, broken = at(event, "extras", "metadata", "exit_code").value, kind in _ENDS
        failed = broken or event["success"].value is False or code not in (None, 0, -1)
        self._say(Said("tool", text, call_id=call_id, failed=failed, error=text if broken else None, ran=ran), event)

    def _condense(self, event: Node, args: Node) -> None:
        """Add a reset that keeps the thread's steps but those of the events that the harness names as forgotten."""
        gone = {_id(item) for key in ("forgotten_event_ids", "pruned_event_ids") for item in args[key].items()}
        start, end = args["forgotten_events_start_id"].count(), args["forgotten_events_end_id"].count()
        if start is not None and end is not None:
            gone.update(number for number in self.made if isinstance(number, int) and start <= number <= end)
        self.gone.update(index for number in gone for index in self.made.get(number, ()))
        thread, agent = self.threads[-1]
        kept = tuple(step.index for step in self.steps if step.thread == thread and step.index not in self.gone)
        summary, t = args["summary"].text_or_none(), moment(event["timestamp"])
        self.add(ContextReset(index=self.index, agent=agent, thread=thread, t=t, summary=summary, kept=kept))


def _id(node: Node) -> Any:
    return node.value if isinstance(node.value, int | str) else None


def _shown(event: Node, kind: str) -> str:
    text, extras = event["content"].text_or_none() or "", event["extras"]
    if kind == "run":
        return terminal(at(extras, "metadata"), text)
    if kind == "edit":
        return only_text(at(extras, "formatted_output_and_error")) or text
    if kind == "delegate":
        return text or only_text(at(extras, "outputs", "content")) or ""
    return text + _ENDS.get(kind, "")
