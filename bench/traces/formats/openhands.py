"""Events of OpenHands, of its SDK and its first agent, with results as the model saw them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from ...model import ContextReset, ToolCall
from .. import Document, Fields, PartOf, pieces_of, register
from ..intakes.content import Blocks, call_in
from ..intakes.exchange import answers_of
from ..intakes.messages import ROLES
from ..intakes.usage import usage_in
from ..steps import ReadMessage, Steps, ToolRun, paired
from ..values import Unread, as_dict, as_id, as_list, data_of, dicts, number, text
from . import Format

_LISTS = ("history", "trajectory", "items", "events")
_FRAME = {*_LISTS, "instance_id", "test_result", "error", "git_patch", "metrics", "instance", "metadata", "instruction", "llm_completions", "attempt",
          "next_page_id"}  # fmt: skip
_STATE = {"execution_status", "stats", "agent", "workspace"}
_NOT_IN_PROMPTS = {"CondensationRequest", "ConversationStateUpdateEvent", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "StreamingDeltaEvent",
           "LLMCompletionLogEvent", "TokenEvent", "ConversationErrorEvent", "change_agent_state", "agent_state_changed", "null"}  # fmt: skip
"""Events that no prompt shows: bookkeeping, and answers in pieces before the complete one."""
_KNOWN = {"kind", "id", "timestamp", "parent_id", "system_prompt", "dynamic_context", "tools", "llm_message",
          "llm_response_id", "extended_content", "thought", "reasoning_content", "thinking_blocks",
          "responses_reasoning_item", "tool_name", "tool_call_id", "tool_call", "observation", "rejection_reason",
          "rejection_source", "error", "forgotten_event_ids", "summary", "code", "detail", "source", "key", "value",
          "activated_skills", "sender", "critic_result", "action", "action_id", "security_risk", "classification",
          "summary_offset", "args", "content", "extras", "cause", "tool_call_metadata", "llm_metrics", "success",
          "message", "timeout"}  # fmt: skip
_OWN = {"thought", "blocking", "hidden", "is_input", "confirmation_state", "security_risk", "impl_source",
        "translated_ipython_code"}  # fmt: skip
"""Arguments of the first agent's actions that are for the harness."""
_ENDS = {
    "error": "\n[Error occurred in processing last action]",
    "user_rejected": "\n[Last action has been rejected by the user]",
}
"""Ends of observations of the first agent, by their kinds."""
_TERMINALS = {
    "TerminalObservation": (30_000, "terminal"),
    "BrowserObservation": (50_000, "browser"),
}
"""How many characters of an observation's text a prompt shows, and the name of its tool."""
_ANY_TOOL = (50_000, "")
_NOTICE = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content"
    " (truncated part starts around line {line})."
)
_PLACE = {"Current working directory": "working_dir", "Python interpreter": "py_interpreter_path"}


@register("reader", "openhands")
class OpenHands(Format):
    """One run per file: a list or lines of events, or an object (a line each in an evaluation's
    output) with them as `history` or `trajectory`.

    The SDK writes a folder with one event a file; given the folder, its first file is the run, with
    usage and cost from `base_state.json`. A model turn is one answer with all its calls. A result
    is put together and shortened as OpenHands shows it; all of it is kept where it was recorded. A
    condensation is a ContextReset, a rejected action an Approval. The model calls that the SDK logs
    are read by `request_log`.

    Not kept: what the first agent recalls into a prompt (counted).

    Source: github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`,
    `conversation/persistence_const.py`; github.com/All-Hands-AI/OpenHands,
    `openhands/events/serialization/event.py`, `openhands/memory/conversation_memory.py`. Tested:
    openhands-sdk 1.58.2 and at 611629e, OpenHands events at 156d068, published and recorded files
    """

    def marked(self, document: Document) -> object:
        head = as_dict(document.head)
        events = dicts(_events_in(head)) or document.first_objects
        placed = any({"source", "timestamp"} <= event.keys() for event in events)
        return head.keys() >= _STATE or (placed and any(map(_is_event, events)))

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        objects = document.objects(unread)
        runs = [(events, value) for value in objects if (events := _events_in(value)) is not None]
        if not runs and len(objects) == 1 and isinstance(document.head, dict):
            runs = [_folder_of_events(document, objects[0])]
        return [_Log(*run) for run in runs or [(objects, {})]]


def _events_in(value: Fields) -> list[Any] | None:
    return next((listed for key in _LISTS if isinstance(listed := value.get(key), list)), None)


def _is_event(event: Fields) -> bool:
    acted = {"action", "args"} <= event.keys() or {"observation", "content"} <= event.keys()
    return acted or str(event.get("kind")) in _ADDED_BY.keys() | _NOT_IN_PROMPTS


def _folder_of_events(document: Document, only: Fields) -> tuple[list[Any], Fields]:
    if only.keys() >= _STATE:
        state = "the state of the conversation whose events are in the folder 'events' beside it"
        raise PartOf(f"{document.name}: {state}", document.path.with_name("events"))
    if not document.beside or not _is_event_file(document):
        what = "expected a list of events, got one event"
        raise document.fail(f"{what} — give the folder with all of them")
    events = [file.json for file in pieces_of(document, _is_event_file)]
    path = document.path.parent.parent / "base_state.json"
    return events, as_dict(Document(path).json) if path.is_file() else {}


def _is_event_file(document: Document) -> bool:
    return re.search(r"event[-_]\d{5,}[-_].+\.json$", document.path.name) is not None


class _Log(Steps):
    """One run; `frame` is an evaluation's record around its events, or the state."""

    def __init__(self, listed: list[Any], frame: Fields) -> None:
        super().__init__()
        self._steps_of: dict[str, range] = {}  # what each event became
        self._forgotten: set[int] = set()  # the steps that condensations left out
        self._answers: dict[str, int] = {}  # the turn that an answer became, by the answer's id
        self._calls: dict[str, list[ToolCall]] = {}  # of the SDK's answers, by the same
        self._usages: dict[str, Fields] = {}  # by the same
        self._costs: dict[str, float] = {}  # so far, by what models were used for
        self._actions: dict[str, str] = {}  # the call of an action, by the action's id
        events = dicts(listed)
        self.unread.add("event that is no object", len(listed) - len(events))
        for event in events:
            self._note(event)
        self._note_state(frame)
        for event in events:
            self._event(event)
        self.cost_usd = sum(self._costs.values())
        unseen = self._usages.keys() - self._answers.keys()
        self.unread.add("model call that is not in the prompts", len(unseen))
        self.unread.extra_keys({} if frame.keys() >= _STATE else frame, _FRAME, "the file")
        self.id, self.labels["task"] = text(frame.get("id")) or "", as_id(frame.get("instance_id"))

    def _event(self, event: Fields) -> None:
        before = self.index
        self.at(event.get("timestamp"))
        self.unread.extra_keys(event, _KNOWN, "an event")
        kinds = (text(event.get(key)) for key in ("kind", "action", "observation"))
        kind = next(filter(None, kinds), "")
        if add := _ADDED_BY.get(kind) or _of_first_agent(kind, event):
            add(self, event)
        elif kind not in _NOT_IN_PROMPTS:
            self.unread.kind("event", kind)
        self._steps_of.setdefault(str(event.get("id")), range(before, self.index))

    def _system(self, event: Fields) -> None:
        fields = {**event, **as_dict(event, "args")}
        self.set_tools(list(map(self._definition, dicts(fields.get("tools")))))
        parts = [fields.get(key) for key in ("system_prompt", "dynamic_context", "content")]
        self.add_message(self._blocks(*parts).message("system"))

    def _message(self, event: Fields) -> None:
        message, args = as_dict(event, "llm_message"), as_dict(event, "args")
        pictures = [{"type": "image", "url": url} for url in as_list(args.get("image_urls"))]
        listed = [message.get("content"), event.get("extended_content"), args.get("content")]
        blocks = self._blocks(*listed, pictures)
        if ROLES.get(str(message.get("role"))) == "assistant":
            turn = blocks.message("assistant", reasoning=self._reasoning(message))
            self._answer(str(event.get("llm_response_id")), event, turn)
        else:
            self.add_message(blocks.message("user"))

    def _action(self, event: Fields) -> None:
        answer = str(event.get("llm_response_id"))
        calls, reasoning = tuple(self._calls[answer]), self._reasoning(event)
        blocks = self._blocks(event.get("thought"))
        turn = blocks.message("assistant", calls=calls, reasoning=reasoning)
        self._answer(answer, event, turn)

    def _first_action(self, event: Fields) -> None:
        kind, args = str(event.get("action")), as_dict(event, "args")
        own, metadata = f"event{event.get('id')}", as_dict(event, "tool_call_metadata")
        response = as_dict(metadata, "model_response")
        answers = answers_of(response, self.unread)
        if not answers:
            given = {key: value for key, value in args.items() if key not in _OWN}
            calls = (ToolCall(id=own, name=kind, arguments=given),)
            thought = text(args.get("content" if kind == "message" else "thought")) or ""
            is_message = kind in ("message", "finish")
            answers = [ReadMessage("assistant", thought, () if is_message else calls)]
        self._actions[str(event.get("id"))] = text(metadata.get("tool_call_id")) or own
        self._answer(text(response.get("id")) or own, event, answers[0])

    def _answer(self, answer: str, event: Fields, turn: ReadMessage) -> None:
        if answer not in self._answers:
            stated = self._usages.get(answer, {})
            usage, model = usage_in(stated, self.unread), text(stated.get("model"))
            self._answers[answer] = self.add_message(turn.with_known(usage=usage, model=model))

    def _observation(self, event: Fields) -> None:
        observation = as_dict(event, "observation")
        kind, is_error = str(observation.get("kind")), observation.get("is_error") is True
        blocks = self._blocks(observation.get("content"))
        texts, output = blocks.texts, "".join(blocks.texts)
        if kind in _TERMINALS:
            texts = [_terminal_text(as_dict(observation, "metadata"), output)]
        if is_error:
            texts.insert(0, "[An error occurred during execution.]\n")
        texts = list(filter(None, texts))
        limit, tool = _TERMINALS.get(kind, _ANY_TOOL)
        folder = text(observation.get("full_output_save_dir")) if tool else None
        clips = [clipped(one, limit, folder, tool) for one in texts]
        more = self._blocks(event.get("extended_content")).texts
        ran = ToolRun(
            # without the terminal's marks of pasting
            data=data_of(output.replace("\x1b[?2004l", "").replace("\x1b[?2004h", "")),
            full="\n".join([*texts, *more]) if clips != texts else None,
            error=output if is_error else None,
            failed=is_error or observation.get("exit_code") not in (None, 0, -1),
        )
        seen, other = "\n".join([*clips, *more]), tuple(blocks.other)
        self._result(event, ReadMessage("tool", seen, ran=ran, other=other))

    def _first_observation(self, event: Fields) -> None:
        kind, extras = str(event.get("observation")), as_dict(event, "extras")
        output, ran_in = text(event.get("content")) or "", as_dict(extras, "metadata")
        seen = output + _ENDS.get(kind, "")
        if kind == "run":
            seen = _terminal_text(ran_in, output)
        elif kind == "edit":
            seen = text(extras.get("formatted_output_and_error")) or output
        call_id = text(as_dict(event, "tool_call_metadata").get("tool_call_id"))
        call_id = call_id or self._actions.get(str(event.get("cause")), "")
        if call_id not in {call.id for call in self.unanswered_calls()}:
            self.add_message(ReadMessage("user", seen))
            return
        if kind == "user_rejected":
            self.add_approval(call_id, approved=False)
        failed = event.get("success") is False or ran_in.get("exit_code") not in (None, 0, -1)
        ran = ToolRun(
            data=data_of(output) if kind == "run" else None,  # the model sees more
            failed=failed or kind in _ENDS,
            error=seen if kind in _ENDS else None,
        )
        self.add_message(ReadMessage("tool", seen, call_id=call_id, ran=ran))

    def _error(self, event: Fields) -> None:
        """Add the result of a call that did not run, or that a person or hook refused."""
        error = text(event.get("error")) or ""
        if event.get("kind") == "UserRejectObservation":
            error = f"Action rejected: {event.get('rejection_reason') or ''}"
            if event.get("rejection_source") != "hook":
                self.add_approval(text(event.get("tool_call_id")) or "", approved=False)
        self._result(event, ReadMessage("tool", error, failed=True))

    def _result(self, event: Fields, shown: ReadMessage) -> None:
        call_id, name = text(event.get("tool_call_id")), text(event.get("tool_name"))
        self.add_message(shown.with_known(call_id=call_id, name=name))

    def _condensation(self, event: Fields) -> None:
        fields = {**event, **as_dict(event, "args")}
        for forgotten in as_list(fields.get("forgotten_event_ids")):
            self._forgotten.update(self._steps_of.get(str(forgotten), ()))
        kept = paired(self.steps, set(range(self.index)), self._forgotten)
        self.add(ContextReset, summary=text(fields.get("summary")), kept=kept)

    def _note(self, event: Fields) -> None:
        """Note what turns need of later events: the other calls of an answer, and its usage."""
        if event.get("kind") == "ActionEvent":
            own = {"id": event.get("tool_call_id"), "name": event.get("tool_name")}
            written = as_dict(event, "tool_call", "function") or as_dict(event, "tool_call")
            calls = self._calls.setdefault(str(event.get("llm_response_id")), [])
            calls.append(call_in({**written, **own}, self.unread))
        key, value = event.get("key"), event.get("value")
        self._note_state({"metrics": event.get("llm_metrics")})
        self._note_state(as_dict(value) if key == "full_state" else {str(key): value})

    def _note_state(self, state: Fields) -> None:
        noted = {**as_dict(state, "stats", "usage_to_metrics"), "run": state.get("metrics")}
        for name, metrics in noted.items():
            for usage in dicts(as_dict(metrics).get("token_usages")):
                self._usages[str(usage.get("response_id"))] = usage
            cost = number(as_dict(metrics).get("accumulated_cost"))
            self._costs |= {} if cost is None else {name: float(cost)}

    def _blocks(self, *contents: Any) -> Blocks:
        blocks = Blocks()
        for content in contents:
            blocks.add_all(content, self.unread)
        return blocks

    def _definition(self, tool: Fields) -> Fields:
        if "function" in tool:
            return tool
        self.unread.add("parameters of a tool's definition, which were not recorded")
        return {"name": str(tool.get("title")), "description": tool.get("description")}

    def _reasoning(self, fields: Fields) -> str | None:
        item = as_dict(fields, "responses_reasoning_item")
        listed = [*as_list(item.get("summary")), *as_list(item.get("content"))]
        signed = self._blocks(fields.get("thinking_blocks")).reasoning
        own = text(fields.get("reasoning_content"))
        return own or signed or "\n".join(filter(None, map(text, listed))) or None


_ADDED_BY: dict[str, Callable[[_Log, Fields], None]] = {
    "SystemPromptEvent": _Log._system,
    "MessageEvent": _Log._message,
    "ActionEvent": _Log._action,
    "ObservationEvent": _Log._observation,
    "UserRejectObservation": _Log._error,
    "AgentErrorEvent": _Log._error,
    "Condensation": _Log._condensation,
    "system": _Log._system,
    "condensation": _Log._condensation,
}


def _of_first_agent(kind: str, event: Fields) -> Callable[[_Log, Fields], None] | None:
    if not kind or kind in _NOT_IN_PROMPTS or kind == "recall" or "kind" in event:
        return None
    if text(event.get("action")) is None:
        return _Log._first_observation
    if event.get("source") == "agent":
        return _Log._first_action
    return _Log._message if kind == "message" else None


def clipped(output: str, limit: int, folder: str | None, tool: str) -> str:
    """A text without its middle if it is longer than the limit; the notice names the file in
    `folder` with all of it.

    >>> short = clipped("a" * 100 + "b" * 100, 150, None, "")
    >>> len(short), short[:18], short[-18:]
    (150, 'aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbb')
    """
    if len(output) <= limit:
        return output
    notice = f"{_NOTICE}</NOTE>"
    head = (limit - len(notice) + 1) // 2
    if folder:
        digest = hashlib.sha256(output.encode("utf-8", "replace")).hexdigest()[:8]
        line = len(output[:head].splitlines()) + 1
        saved = _SAVED.format(path=f"{folder}/{tool}_output_{digest}.txt", line=line)
        notice = f"{_NOTICE}{saved}</NOTE>"
    tail = limit - len(notice) - head
    return output[:head] + notice + output[len(output) - tail :]


def _terminal_text(metadata: Fields, output: str) -> str:
    seen = f"{text(metadata.get('prefix')) or ''}{output}{text(metadata.get('suffix')) or ''}"
    for label, key in _PLACE.items():
        if value := text(metadata.get(key)):
            seen += f"\n[{label}: {value}]"
    code = metadata.get("exit_code")
    return seen + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")
