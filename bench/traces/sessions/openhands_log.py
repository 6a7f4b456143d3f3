"""Event logs of OpenHands, of its SDK and of its first agent, as steps, with results as the model
saw them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from ...model import ContextReset, ModelTurn, ToolCall
from ..intakes.content import Blocks, call_in
from ..intakes.exchange import answers_of
from ..intakes.messages import ROLES
from ..intakes.usage import usage_in
from ..steps import ReadMessage, Steps, ToolRun
from ..values import as_dict, as_list, data_of, dict_in, dicts, number, text, time_of
from .branches import paired

Event = dict[str, Any]
_SILENT = {"CondensationRequest", "PauseEvent", "InterruptEvent", "HookExecutionEvent", "StreamingDeltaEvent",
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
_ANY_TOOL = 50_000  # characters of a text in a prompt
_LIMITS = {
    "TerminalObservation": (30_000, "terminal"),
    "BrowserObservation": (_ANY_TOOL, "browser"),
}
_NOTICE = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content"
    " (truncated part starts around line {line})."
)
_PLACE = {"Current working directory": "working_dir", "Python interpreter": "py_interpreter_path"}


class EventLog(Steps):
    """The steps of one run; events are added in the order of the log."""

    def __init__(self) -> None:
        super().__init__()
        self._steps_of: dict[str, range] = {}  # what each event became
        self._forgotten: set[int] = set()  # the steps that condensations left out
        self._answers: dict[str, int] = {}  # the turn that an answer became, by the answer's id
        self._usages: dict[str, dict[str, Any]] = {}  # by the same
        self._costs: dict[str, float] = {}  # so far, by what models were used for
        self._actions: dict[str, str] = {}  # the call of an action, by the action's id

    def event(self, event: Event) -> None:
        """Add one event: of the SDK (with a `kind`), or of the first agent (an `action` or an
        `observation`)."""
        before, time = self.index, time_of(event.get("timestamp"), self.unread)
        self.unread.extra_keys(event, _KNOWN, "an event")
        self.note_state({"metrics": event.get("llm_metrics")})
        kinds = (text(event.get(key)) for key in ("kind", "action", "observation"))
        kind = next(filter(None, kinds), "")
        if add := _KINDS.get(kind) or _of_first_agent(kind, event):
            add(self, event, time)
        elif kind not in _SILENT:
            self.unread.kind("event", kind)
        self._steps_of.setdefault(str(event.get("id")), range(before, self.index))

    # ---------------------------------------------------------------- messages and answers

    def _system(self, event: Event, time: float | None) -> None:
        """Add the system prompt."""
        fields = {**event, **dict_in(event, "args")}
        self.set_tools(list(map(self._definition, dicts(fields.get("tools")))))
        parts = [fields.get(key) for key in ("system_prompt", "dynamic_context", "content")]
        self.add_message(self._blocks(*parts).message("system"), time=time)

    def _message(self, event: Event, time: float | None) -> None:
        """Add a message of the user, or an answer without a call."""
        message, args = dict_in(event, "llm_message"), dict_in(event, "args")
        pictures = [{"type": "image", "url": url} for url in as_list(args.get("image_urls"))]
        listed = [message.get("content"), event.get("extended_content"), args.get("content")]
        blocks = self._blocks(*listed, pictures)
        if ROLES.get(str(message.get("role"))) == "assistant":
            turn = blocks.message("assistant", reasoning=self._reasoning(message))
            self._answer(str(event.get("llm_response_id")), event, turn, time)
        else:
            self.add_message(blocks.message("user"), time=time)

    def _action(self, event: Event, time: float | None) -> None:
        """Add the turn of an action."""
        own = {"id": event.get("tool_call_id"), "name": event.get("tool_name")}
        written = dict_in(event, "tool_call", "function") or dict_in(event, "tool_call")
        call = call_in({**written, **own}, self.unread)
        thought, reasoning = self._blocks(event.get("thought")), self._reasoning(event)
        turn = thought.message("assistant", calls=(call,), reasoning=reasoning)
        self._answer(str(event.get("llm_response_id")), event, turn, time)

    def _answer(self, answer: str, event: Event, turn: ReadMessage, time: float | None) -> None:
        """Add an answer; if it is already there, add the calls of a further action to it."""
        step = self.steps[self._answers[answer]] if answer in self._answers else None
        if isinstance(step, ModelTurn):
            known = {call.id for call in step.tool_calls}
            calls = tuple(call for call in turn.calls if call.id not in known)
            self.note_calls(calls)
            calls = step.tool_calls + calls
            self.steps[step.index] = msgspec.structs.replace(step, tool_calls=calls)
        else:
            self._answers[answer] = self.add_message(turn, time=time)
        index = self._answers[answer]
        self._steps_of[str(event.get("id"))] = range(index, index + 1)

    # ---------------------------------------------------------------- results

    def _observation(self, event: Event, time: float | None) -> None:
        """Add a result as the model saw it: each of its texts clipped, then additions of the
        agent's context."""
        observation = dict_in(event, "observation")
        kind, is_error = str(observation.get("kind")), observation.get("is_error") is True
        blocks = self._blocks(observation.get("content"))
        texts = blocks.texts
        output = "".join(texts)
        if kind in _LIMITS:
            texts = [terminal_text(dict_in(observation, "metadata"), output)]
        if is_error:
            texts.insert(0, "[An error occurred during execution.]\n")
        texts = list(filter(None, texts))
        limit, tool = _LIMITS.get(kind, (_ANY_TOOL, ""))
        folder = text(observation.get("full_output_save_dir")) if tool else None
        clips = [clipped(one, limit, folder, tool) for one in texts]
        more = self._blocks(event.get("extended_content")).texts
        if screenshot := text(observation.get("screenshot_data")):
            blocks.add({"type": "image", "data": screenshot}, self.unread)
        seen = "\n".join([*clips, *more])
        ran = ToolRun(
            # without the terminal's marks of pasting
            data=data_of(output.replace("\x1b[?2004l", "").replace("\x1b[?2004h", "")),
            full="\n".join([*texts, *more]) if clips != texts else None,
            error=output if is_error else None,
            failed=is_error or observation.get("exit_code") not in (None, 0, -1),
        )
        self._result(event, ReadMessage("tool", seen, ran=ran, other=tuple(blocks.other)), time)

    def _error(self, event: Event, time: float | None) -> None:
        """Add the failed result of a call that the agent could not run, or that a person or hook
        refused."""
        error = text(event.get("error")) or ""
        if event.get("kind") == "UserRejectObservation":
            error = f"Action rejected: {event.get('rejection_reason') or ''}"
            if event.get("rejection_source") != "hook":
                self.add_approval(_call_id(event), approved=False, time=time)
        self._result(event, ReadMessage("tool", error, failed=True), time)

    def _result(self, event: Event, shown: ReadMessage, time: float | None) -> None:
        name = text(event.get("tool_name"))
        self.add_message(shown.with_known(call_id=_call_id(event), name=name), time=time)

    # ---------------------------------------------------------------- the first agent

    def _first_action(self, event: Event, time: float | None) -> None:
        """Add the answer behind an action of the first agent: the provider's where it is recorded,
        else one built from the action."""
        kind, args = str(event.get("action")), dict_in(event, "args")
        own, metadata = f"event{event.get('id')}", dict_in(event, "tool_call_metadata")
        response = dict_in(metadata, "model_response")
        answers = answers_of(response, self.unread)
        if not answers:
            given = {key: value for key, value in args.items() if key not in _OWN}
            calls = (ToolCall(id=own, name=kind, arguments=given),)
            thought = text(args.get("content" if kind == "message" else "thought")) or ""
            said = kind in ("message", "finish")
            answers = [ReadMessage("assistant", thought, () if said else calls)]
        self._actions[str(event.get("id"))] = text(metadata.get("tool_call_id")) or own
        self._answer(text(response.get("id")) or own, event, answers[0], time)

    def _first_observation(self, event: Event, time: float | None) -> None:
        """Add the result of an action; without such an action a user message."""
        kind, extras = str(event.get("observation")), dict_in(event, "extras")
        output, ran_in = text(event.get("content")) or "", dict_in(extras, "metadata")
        seen = output + _ENDS.get(kind, "")
        if kind == "run":
            seen = terminal_text(ran_in, output)
        elif kind == "edit":
            seen = text(extras.get("formatted_output_and_error")) or output
        call_id = _call_id(dict_in(event, "tool_call_metadata"))
        call_id = call_id or self._actions.get(str(event.get("cause")), "")
        if call_id not in {call.id for call in self.unanswered_calls()}:
            self.add_message(ReadMessage("user", seen), time=time)
            return
        if kind == "user_rejected":
            self.add_approval(call_id, approved=False)
        failed = event.get("success") is False or ran_in.get("exit_code") not in (None, 0, -1)
        ran = ToolRun(
            data=data_of(output) if kind == "run" else None,  # the model sees more
            failed=failed or kind in _ENDS,
            error=seen if kind in _ENDS else None,
        )
        self.add_message(ReadMessage("tool", seen, call_id=call_id, ran=ran), time=time)

    # ---------------------------------------------------------------- the run

    def _condensation(self, event: Event, time: float | None) -> None:
        """Add a reset that leaves out the steps of some events, and those that earlier resets left
        out."""
        fields = {**event, **dict_in(event, "args")}
        for forgotten in as_list(fields.get("forgotten_event_ids")):
            self._forgotten.update(self._steps_of.get(str(forgotten), ()))
        kept = paired(self.steps, set(range(self.index)), self._forgotten)
        self.add(ContextReset, t=time, summary=text(fields.get("summary")), kept=kept)

    def _state(self, event: Event, time: float | None) -> None:
        key, value = event.get("key"), event.get("value")
        self.note_state(as_dict(value) if key == "full_state" else {str(key): value})

    def note_state(self, state: dict[str, Any]) -> None:
        """Note the usage of each answer, and the cost of all, in a state or in the part of it that
        changed."""
        noted = {**dict_in(state, "stats", "usage_to_metrics"), "run": state.get("metrics")}
        for name, metrics in noted.items():
            for usage in dicts(as_dict(metrics).get("token_usages")):
                self._usages[str(usage.get("response_id"))] = usage
            cost = number(as_dict(metrics).get("accumulated_cost"))
            self._costs |= {} if cost is None else {name: float(cost)}

    def end(self) -> None:
        """Set the usage of turns and the cost of the run, after the last event."""
        for answer, usage in self._usages.items():
            index = self._answers.get(answer)
            if index is None:
                self.unread.add("model call that is not in the prompts")
                continue
            known = {"usage": usage_in(usage, self.unread), "model": text(usage.get("model"))}
            self.steps[index] = msgspec.structs.replace(self.steps[index], **known)
        self.cost_usd = sum(self._costs.values())

    # ---------------------------------------------------------------- contents

    def _blocks(self, *contents: Any) -> Blocks:
        """The blocks of some contents."""
        blocks = Blocks()
        for content in contents:
            blocks.add_all(content, self.unread)
        return blocks

    def _definition(self, tool: dict[str, Any]) -> dict[str, Any]:
        """A tool's definition as far as it is recorded: complete for the first agent and MCP, else
        without parameters."""
        if "function" in tool:
            return tool
        if given := dict_in(tool, "mcp_tool"):
            described = {key: given.get(key) for key in ("name", "description")}
            return {**described, "parameters": given.get("inputSchema")}
        self.unread.add("parameters of a tool's definition, which were not recorded")
        name = text(tool.get("title")) or text(tool.get("kind")) or "tool"
        return {"name": name, "description": tool.get("description")}

    def _reasoning(self, fields: dict[str, Any]) -> str | None:
        """The reasoning of a message or an action, from any provider's interface."""
        item = dict_in(fields, "responses_reasoning_item")
        listed = [*as_list(item.get("summary")), *as_list(item.get("content"))]
        signed = self._blocks(fields.get("thinking_blocks")).reasoning
        own = text(fields.get("reasoning_content"))
        return own or signed or "\n".join(filter(None, map(text, listed))) or None


_Add = Callable[[EventLog, Event, float | None], None]
_KINDS: dict[str, _Add] = {
    "SystemPromptEvent": EventLog._system,
    "system": EventLog._system,
    "MessageEvent": EventLog._message,
    "ActionEvent": EventLog._action,
    "ObservationEvent": EventLog._observation,
    "UserRejectObservation": EventLog._error,
    "AgentErrorEvent": EventLog._error,
    "Condensation": EventLog._condensation,
    "condensation": EventLog._condensation,
    "ConversationStateUpdateEvent": EventLog._state,
}
SDK_EVENTS = {kind for kind in _KINDS if kind[0].isupper()}


def _of_first_agent(kind: str, event: Event) -> _Add | None:
    """The method for an event of the first agent; None for one that is not read."""
    if kind in _SILENT or kind == "recall" or "kind" in event:
        return None
    if text(event.get("action")) is None:
        return EventLog._first_observation if kind else None
    if event.get("source") == "agent":
        return EventLog._first_action
    return EventLog._message if kind == "message" else None


def _call_id(fields: dict[str, Any]) -> str:
    return text(fields.get("tool_call_id")) or ""


def clipped(output: str, limit: int, folder: str | None = None, name: str = "") -> str:
    """A text without its middle if it is longer than the limit; the notice names the file in
    `folder` with all of it.

    >>> short = clipped("a" * 100 + "b" * 100, 150)
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
        saved = _SAVED.format(path=f"{folder}/{name}_output_{digest}.txt", line=line)
        notice = f"{_NOTICE}{saved}</NOTE>"
    room = max(limit - len(notice), 0)
    head = min(head, room)
    return output[:head] + notice[:limit] + (output[head - room :] if room > head else "")


def terminal_text(metadata: dict[str, Any], output: str) -> str:
    """A command's output with the folder, the interpreter and the exit code that are shown around
    it."""
    seen = f"{text(metadata.get('prefix')) or ''}{output}{text(metadata.get('suffix')) or ''}"
    for label, key in _PLACE.items():
        if value := text(metadata.get(key)):
            seen += f"\n[{label}: {value}]"
    code = metadata.get("exit_code")
    return seen + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")
