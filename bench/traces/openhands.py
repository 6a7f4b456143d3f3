"""Event streams of OpenHands: actions, observations and the model's answers that the actions came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..files.documents import Document, Node
from ..model import ContextReset, Outcome, ToolCall, Trace
from ..plugins.registry import register
from . import Confidence
from .reading.chat import tool_calls_of, usage_of
from .reading.nodes import at, between, first_of, moment, only_text
from .reading.steps import Ran, Said, Steps, said_content

_FRAME = ("instance_id", "test_result", "metrics", "error", "git_patch", "instance", "history", "trajectory", "metadata", "instruction",
          "llm_completions")  # fmt: skip
_EVENT = {"id", "timestamp", "source", "message", "action", "observation", "args", "content", "extras", "cause", "tool_call_metadata",
          "llm_metrics", "timeout", "success"}  # fmt: skip
_SILENT = {
    "change_agent_state",
    "agent_state_changed",
    "null",
    "condensation_request",
    "condense",
    "pause",
    "resume",
    "stop",
}
"""Events that no prompt shows: bookkeeping of the harness."""
_OWN = {
    "thought",
    "blocking",
    "hidden",
    "is_input",
    "confirmation_state",
    "security_risk",
    "impl_source",
    "translated_ipython_code",
}
"""Arguments of an action that are the harness' own."""
_CUT = re.compile(r"\[\.\.\. (?:Command output|Observation) truncated|<response clipped>")
_RECALLED = ("repo_instructions", "additional_agent_instructions", "conversation_instructions", "microagent_knowledge")


@register("reader", "openhands")
class OpenHands:
    """One run a file: a list or lines of events, or an object (a line each in an evaluation's output) with them as `history` or `trajectory`.

    A model turn is the answer in an action's `tool_call_metadata`, once for all its calls, with its usage; else the action itself. What
    the model was shown of a command's output is put together as OpenHands does: prefix, output, suffix, folder, interpreter, exit code.
    A condensation is a ContextReset, a delegate a thread of its own, a rejected action an Approval. What a recall found is a user turn; the
    template around it is not recorded. Outputs that say they were cut are cut at the source. An evaluation's verdict is the outcome, else
    what the agent said of its task when it finished.

    Source: github.com/All-Hands-AI/OpenHands, `openhands/events/serialization/event.py`, `openhands/memory/conversation_memory.py`
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for events that have a source and are an action with arguments or an observation with content; else NO."""
        head = document.head
        if isinstance(head, dict):
            head = next((head[key] for key in ("history", "trajectory") if isinstance(head.get(key), list)), [head])
        events = (
            [item[0] if isinstance(item, list) and item else item for item in head] if isinstance(head, list) else []
        )
        typical = any(isinstance(event, dict) and _is_event(event.keys()) for event in events)
        return Confidence.CERTAIN if typical else Confidence.NO

    def read(self, document: Document) -> Iterator[Trace]:
        """The file's run, or those of an evaluation in order."""
        whole = list(document.line_nodes()) if document.is_json_lines else [document.node()]
        runs = [run for run in whole if run.has("history") or run.has("trajectory")]
        for run in runs:
            yield _trace(document, run, first_of(run, "history", "trajectory").items(), framed=True)
        if not runs:
            yield _trace(document, whole[0], whole if document.is_json_lines else whole[0].items(), framed=False)


def _is_event(keys: Any) -> bool:
    return "source" in keys and ({"action", "args"} <= keys or {"observation", "content"} <= keys)


def _trace(document: Document, run: Node, events: list[Node], *, framed: bool) -> Trace:
    told = _Run()
    for event in events:
        for single in event.items() if isinstance(event.value, list) else [event]:  # once they came in pairs
            told.add(single)
    if framed:
        told.steps.unread.keys(run, _FRAME, "the file")
        told.meta |= {key: run[key].value for key in _FRAME[:5] if run[key].value not in (None, {}, "")}
        report = run["test_result"].value
        held = [report, *(report.get(key) for key in ("report", "result"))] if isinstance(report, dict) else []
        verdict = next((part["resolved"] for part in held if isinstance(part, dict) and "resolved" in part), None)
        if isinstance(verdict, bool | int):
            told.outcome = Outcome(success=bool(verdict), said_by="OpenHands' evaluation")
    return told.steps.trace(document, "openhands", run, meta=told.meta, outcome=told.outcome)


class _Run:
    """One run on its way to a trace: which step an event became, the answers seen, and the delegates at work."""

    def __init__(self) -> None:
        self.steps = Steps()
        self.meta: dict[str, Any] = {}
        self.outcome: Outcome | None = None
        self.threads = [("main", "agent")]
        self.made: dict[Any, int] = {}  # the step an event became, by its id
        self.calls: dict[Any, str] = {}  # the id of the call that an action is, by the action's id
        self.times: dict[Any, float | None] = {}
        self.answers: set[str] = set()

    def add(self, event: Node) -> None:
        """One event, whatever it is."""
        self.steps.unread.keys(event, _EVENT, "an event")
        number, before = _id(event["id"]), self.steps.index
        self.times[number] = moment(event["timestamp"])
        if event["llm_metrics"].value is not None:
            self.meta["llm_metrics"] = event["llm_metrics"].value
        if event.has("action"):
            self._action(event, event["action"].text_or_none() or "", event["args"])
        elif event.has("observation"):
            self._observation(event, event["observation"].text_or_none() or "")
        else:
            self.steps.unread.add("event that is neither action nor observation")
        if self.steps.index > before:
            self.made[number] = before

    def _say(self, said: Said, event: Node, **turn: Any) -> None:
        self.steps.say(said, *self.threads[-1], moment(event["timestamp"]), **turn)

    def _action(self, event: Node, kind: str, args: Node) -> None:
        if kind == "system":
            self.steps.tools([tool.value for tool in args["tools"].items()], *self.threads[-1])
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
            text = first_of(args, "content", "command").text_or_none() or ""
            self._say(Said("user", f"User executed the command:\n{text}" if kind == "run" else text), event)
            self.steps.unread.add("picture of a user message", len(args["image_urls"].items()))
        else:
            self.steps.unread.kind("user action", kind)

    def _answer(self, event: Node, kind: str, args: Node) -> None:
        """The model's answer that an action came from; one answer may have several actions, and is one turn."""
        metadata, number = event["tool_call_metadata"], _id(event["id"])
        response = at(metadata, "model_response")
        if not at(response, "choices").items():
            said = only_text(args["content"] if kind == "message" else args["thought"]) or ""
            given = {key: value for key, value in args.object().items() if key not in _OWN}
            call = ToolCall(id=f"event{number}", name=kind, arguments=given)
            self.calls[number] = call.id
            self._say(Said("assistant", said, () if kind in ("message", "finish") else (call,)), event)
            return
        choice = response["choices"].items()[0]
        message, self.calls[number] = choice["message"], metadata["tool_call_id"].text()
        answer = response["id"].text_or_none() or self.calls[number]
        if answer not in self.answers:
            self.answers.add(answer)
            thought = first_of(message, "reasoning_content", "reasoning").text_or_none()
            calls, content = tool_calls_of(message, self.steps.index), said_content(message["content"])
            model, finish = response["model"].text_or_none(), choice["finish_reason"].text_or_none()
            usage = usage_of(response["usage"])
            self._say(Said("assistant", content, calls, thought), event, model=model, finish_reason=finish, usage=usage)

    def _observation(self, event: Node, kind: str) -> None:
        if kind == "recall":
            self._recall(event)
            return
        if kind in _SILENT:
            return
        if kind == "delegate" and len(self.threads) > 1:
            self.threads.pop()
        cause, text = _id(event["cause"]), _shown(event, kind)
        call_id = at(event, "tool_call_metadata", "tool_call_id").text_or_none() or self.calls.get(cause, "")
        if not any(
            call.id == call_id for call in self.steps.waiting(self.threads[-1][0])
        ):  # of what the user or the harness did
            self._say(
                Said("user", f"\nObserved result of command executed by user:\n{text}" if kind == "run" else text),
                event,
            )
            return
        if kind == "user_rejected":
            self.steps.approve(call_id, approved=False)
        seconds = between(self.times.get(cause), moment(event["timestamp"]))
        self.steps.ran[call_id] = Ran(duration_s=seconds, cut=_CUT.search(text) is not None)
        code = at(event, "extras", "metadata", "exit_code").value
        broken = kind in ("error", "user_rejected")
        failed = broken or event["success"].value is False or code not in (None, 0, -1)
        self._say(Said("tool", text, call_id=call_id, failed=failed, error=text if broken else None), event)

    def _recall(self, event: Node) -> None:
        found = [event["extras"][key].value for key in _RECALLED]
        pieces = [piece for value in found for piece in (value if isinstance(value, list) else [value])]
        texts = [piece.get("content") if isinstance(piece, dict) else piece for piece in pieces]
        if any(texts):
            self._say(Said("user", "\n\n".join(text for text in texts if isinstance(text, str) and text)), event)

    def _condense(self, event: Node, args: Node) -> None:
        """What the harness forgot is named by event; what it kept is every step of the thread before that is not."""
        gone = {_id(item) for key in ("forgotten_event_ids", "pruned_event_ids") for item in args[key].items()}
        start, end = args["forgotten_events_start_id"].count(), args["forgotten_events_end_id"].count()
        if start is not None and end is not None:
            gone.update(number for number in self.made if isinstance(number, int) and start <= number <= end)
        lost = {self.made[number] for number in gone if number in self.made}
        thread, agent = self.threads[-1]
        kept = tuple(step.index for step in self.steps.steps if step.thread == thread and step.index not in lost)
        summary, t = args["summary"].text_or_none(), moment(event["timestamp"])
        self.steps.add(
            ContextReset(index=self.steps.index, agent=agent, thread=thread, t=t, summary=summary, kept=kept)
        )


def _id(node: Node) -> Any:
    return node.value if isinstance(node.value, int | str) else None


def _shown(event: Node, kind: str) -> str:
    """What the model was shown of an observation."""
    text, extras = event["content"].text_or_none() or "", event["extras"]
    if kind == "run":
        data = at(extras, "metadata")
        text = f"{at(data, 'prefix').text_or_none() or ''}{text}{at(data, 'suffix').text_or_none() or ''}"
        for label, key in (("Current working directory", "working_dir"), ("Python interpreter", "py_interpreter_path")):
            text += f"\n[{label}: {data[key].text()}]" if at(data, key).value else ""
        code = at(data, "exit_code").value
        return text + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")
    if kind == "edit":
        return only_text(at(extras, "formatted_output_and_error")) or text
    if kind == "delegate":
        return text or only_text(at(extras, "outputs", "content")) or ""
    ends = {
        "error": "\n[Error occurred in processing last action]",
        "user_rejected": "\n[Last action has been rejected by the user]",
    }
    return text + ends.get(kind, "")
