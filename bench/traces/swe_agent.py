"""Runs of SWE-agent (`.traj`): its history of messages, with the output and the time of each action."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..model import Content, ContextEdit, ModelTurn, Outcome, ToolCall, Trace, text_of
from .content import Blocks
from .decoded import dicts, strict_json
from .documents import Document
from .messages import ROLES, calls_beside
from .parts import Unread
from .paths import case_id
from .records import Record, count_unknown, dict_in, text, typed
from .steps import Ran, ReadMessage, Steps

_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_WORDS_STAY = {"default", "cache_control", "tag_tool_call_observations"}
"""History processors that leave the texts of messages as they are."""
_LONGEST_ENVELOPE = 500
_CLIPPED = re.compile(r"<response clipped>(<NOTE>.{0,2000}?</NOTE>)?", re.DOTALL)
_FILE = {"trajectory", "history", "info", "environment", "replay_config", "attempts"}
_IGNORED = {"thought", "message_type", "tags", "cache_control", "messages", "state", "extra_info", "response"}


class Entry(msgspec.Struct):
    """A message of the history. `agent` may be one of several; demonstrations stand before the task."""

    role: str = ""
    content: Any = None
    agent: str = "agent"
    action: str = ""
    tool_calls: list[Any] | None = None
    tool_call_ids: list[str] = []
    thinking_blocks: list[Any] = []
    is_demo: bool | None = None


class Action(msgspec.Struct):
    """A step of the trajectory: an action that ran. `query` is the prompt before it, since 1.0."""

    action: str = ""
    observation: str = ""
    execution_time: float | None = None
    query: list[Any] = []


def trace_of(document: Document, run: dict[str, Any]) -> Trace:
    """One run as a trace, with its instance as label `task`."""
    steps = _History(run)
    info = dict_in(run, "info")
    meta = {key: info[key] for key in info if info[key] not in (None, "", {}, [])}
    if run.get("environment") is not None:
        meta["environment"] = run["environment"]
    if cost := dict_in(info, "model_stats").get("instance_cost"):
        meta["cost_usd"] = cost
    status, outcome = text(info.get("exit_status")), None
    if status is not None:
        success = None if status.startswith("submitted") else False
        outcome = Outcome(success=success, said_by=f"SWE-agent's exit status {status!r}")
    named = _INSTANCE.match(case_id(document.path.name))
    task = text(dict_in(steps.config, "problem_statement").get("id")) or (named.group() if named else None)
    labels = {} if task is None else {"task": task}
    if not steps.prompts_known:
        labels["prompts"] = "unknown"
    return steps.trace(document, "swe", labels=labels, meta=meta, outcome=outcome)


class _History(Steps):
    """The steps of one run; `actions` are those that the history has not come to."""

    def __init__(self, run: dict[str, Any]) -> None:
        super().__init__()
        self.unread.extra_keys(run, _FILE, "the file")
        config = run.get("replay_config")
        self.config = strict_json(config) if isinstance(config, str) else config
        name = text(dict_in(self.config, "agent", "model").get("name"))
        self.model = None if name in _NO_MODELS else name
        entries = [self._typed(value, Entry, "a message") for value in dicts(run.get("history"))]
        self.actions = [self._typed(value, Action, "a trajectory step") for value in dicts(run.get("trajectory"))]
        self.first = entries[0].agent if entries else ""
        queries = {len(action.query): action.query for action in self.actions if action.query}
        answers = {number for number, entry in enumerate(entries) if entry.role == "assistant"}
        sent = dict_in(run, "info", "model_stats").get("tokens_sent")
        rules = dicts(dict_in(self.config, "agent").get("history_processors"))
        reworded = any(rule.get("type") not in _WORDS_STAY for rule in rules)
        self.prompts_known = queries.keys() <= answers and bool(queries or not (sent or reworded))
        places: list[int] = []  # the step of each entry
        texts = [self._content(entry.content) for entry in entries]  # as the last prompt had them
        for number, entry in enumerate(entries):
            if self.prompts_known and number in queries:
                self._edit(self._place(entry), places, texts, queries[number])
            places.append(self.index)
            self._add(entry)
        self.unread.add("trajectory step that is not in the history", len(self.actions))
        self.add_unseen_results()
        if not self.prompts_known:
            turns = sum(isinstance(step, ModelTurn) for step in self.steps)
            self.unread.add("prompt of which the file does not tell what stood for old messages", turns)

    def _typed(self, value: dict[str, Any], kind: type[Record], where: str) -> Record:
        count_unknown(value, kind, self.unread, where, _IGNORED)
        return typed(value, kind, self.unread)

    def _content(self, content: Any) -> str:
        return text_of(Blocks().add_all(content, Unread()).content)

    def _edit(self, place: tuple[str, str], places: list[int], texts: list[str], query: list[Any]) -> None:
        """Note which earlier messages a prompt words otherwise than the one before it."""
        worded = [self._content(dict_in(message).get("content")) for message in query]
        edited = {at: new for at, new in enumerate(worded) if new != texts[at]}
        texts[: len(worded)] = worded
        if edited:
            shown = {places[at]: new for at, new in edited.items()}
            self.add(ContextEdit(index=self.index, thread=place[0], shown=shown))

    def _place(self, entry: Entry) -> tuple[str, str]:
        """The thread and the agent of a message."""
        return ("main" if entry.agent == self.first else entry.agent), entry.agent

    def _add(self, entry: Entry) -> None:
        role, content = ROLES.get(entry.role), Blocks().add_all(entry.content, self.unread).content
        place = self._place(entry)
        if role is None:
            self.unread.kind("message", entry.role)
        elif entry.is_demo and role != "system":
            self.unread.add("call shown in a demonstration", len(entry.tool_calls or ()))
            self.say(ReadMessage("user", content), place[0], "demonstration")
        elif role == "assistant":
            self._answer(entry, content, place)
        elif role == "tool" or (role == "user" and self.waiting(place[0])):
            self._result(content, "".join(entry.tool_call_ids[:1]), place)
        else:
            self.say(ReadMessage(role, content), *place)

    def _answer(self, entry: Entry, content: Content, place: tuple[str, str]) -> None:
        calls = calls_beside({"tool_calls": entry.tool_calls}, self.unread)
        if not calls and entry.action.strip():
            arguments, in_text = {"command": entry.action}, entry.action.strip() in text_of(content)
            calls = (ToolCall(id=f"turn{self.index}", name="bash", arguments=arguments, in_text=in_text),)
        reasoning = Blocks().add_all(entry.thinking_blocks, self.unread).reasoning
        resent = entry.tool_calls is not None
        self.say(ReadMessage("assistant", content, calls, reasoning), *place, model=self.model, reasoning_resent=resent)
        at = next((at for at, action in enumerate(self.actions) if action.action == entry.action), None)
        if at is not None:  # those before it are in no history
            action = self.actions.pop(at)
            self.ran |= {
                call.id: Ran(output=action.observation, duration_s=action.execution_time) for call in calls[:1]
            }

    def _result(self, content: Content, call_id: str, place: tuple[str, str]) -> None:
        waiting, seen = self.waiting(place[0]), text_of(content)
        call_id = call_id or (waiting[0].id if waiting else "")
        if ran := self.ran.get(call_id):
            self.ran[call_id] = Ran(full=_full_text(seen, ran.output), duration_s=ran.duration_s)
        self.say(ReadMessage("tool", content, call_id=call_id), *place)


def _full_text(seen: str, output: str) -> str | None:
    """The text of a clipped result with the full output in it; None where that is not known."""
    if output.strip() in seen:
        return None
    clipped = _CLIPPED.search(seen)
    if clipped is None:
        return output if len(output) > len(seen) else None
    for start in range(min(clipped.start(), _LONGEST_ENVELOPE)):
        if output.startswith(seen[start : clipped.start()]):
            return f"{seen[:start]}{output}{seen[clipped.end() :]}"
    return None
