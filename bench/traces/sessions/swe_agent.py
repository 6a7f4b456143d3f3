"""Runs of SWE-agent (`.traj`): its history of messages, with the output and the time of each
action."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...model import ContextEdit, ModelTurn, ToolCall
from ..decoded import strict_json
from ..documents import Document
from ..intakes.content import blocks_of
from ..intakes.messages import message
from ..paths import case_id
from ..records import Kinds, Unread, fields_of
from ..steps import ReadMessage, Steps, ToolRun
from ..values import dict_in, dicts, number, text

_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_FILE = {"trajectory", "history", "info", "environment", "replay_config"}
_BESIDE = {"thought": object, "message_type": object, "tags": object, "cache_control": object, "state": object,
           "extra_info": object, "response": object, "messages": object}  # fmt: skip
_MESSAGE: Kinds = {"role": str, "content": object, "agent": str, "action": str, "tool_calls": list, "tool_call_ids": list,
            "thinking_blocks": list, "is_demo": bool, **_BESIDE}  # fmt: skip
_SENT = ("role", "content", "tool_calls", "thinking_blocks")
_ACTION: Kinds = {"action": str, "observation": str, "execution_time": float, "query": list,
                  **_BESIDE}  # fmt: skip
Fields = dict[str, Any]


def run_of(document: Document, run: Fields) -> Steps:
    """The steps of a SWE-agent run, with its instance as label `task`."""
    steps = _History(run)
    steps.cost_usd = number(dict_in(run, "info", "model_stats").get("instance_cost")) or 0.0
    instance = _INSTANCE.match(case_id(document.path.name))
    stated = text(dict_in(steps.config, "problem_statement").get("id"))
    steps.labels["task"] = stated or (instance.group() if instance else None)
    steps.labels["prompts"] = None if steps.prompts_known else "unknown"
    return steps


class _History(Steps):
    """The steps of one run. Since 1.0, `query` of an action is the prompt before it."""

    def __init__(self, run: Fields) -> None:
        super().__init__()
        self.unread.extra_keys(run, _FILE, "the file")
        config = run.get("replay_config")
        self.config = strict_json(config) if isinstance(config, str) else config
        name = text(dict_in(self.config, "agent", "model").get("name"))
        self.model = None if name in _NO_MODELS else name
        listed, taken = dicts(run.get("history")), dicts(run.get("trajectory"))
        entries = [fields_of(entry, _MESSAGE, self.unread, "a message") for entry in listed]
        self.actions = [fields_of(one, _ACTION, self.unread, "a trajectory step") for one in taken]
        self.first = entries[0].get("agent", "agent") if entries else ""
        queries = {len(query): query for action in self.actions if (query := action.get("query"))}
        answers = {at for at, entry in enumerate(entries) if entry.get("role") == "assistant"}
        sent = dict_in(run, "info", "model_stats").get("tokens_sent")
        self.prompts_known = queries.keys() <= answers and bool(queries or not sent)
        self.entry_texts = list(map(_text_of, entries))  # as the last prompt had them
        self.entry_steps: list[int] = []  # the step of each entry
        for at, entry in enumerate(entries):
            if self.prompts_known and at in queries:
                self._edit(self._thread(entry), queries[at])
            self.entry_steps.append(self.index)
            self._add(entry)
        self.unread.add("trajectory step that is not in the history", len(self.actions))
        self.add_unseen_results()
        if not self.prompts_known:
            turns = sum(isinstance(step, ModelTurn) for step in self.steps)
            what = "prompt of which the file does not tell what stood for old messages"
            self.unread.add(what, turns)

    def _edit(self, thread: str, query: list[Any]) -> None:
        """Add a ContextEdit for the earlier messages that a prompt words differently."""
        texts, known = list(map(_text_of, query)), self.entry_texts
        changed = [at for at, text in enumerate(texts) if text != known[at]]
        known[: len(texts)] = texts
        if edits := {self.entry_steps[at]: texts[at] for at in changed}:
            self.add(ContextEdit, thread=thread, shown=edits)

    def _thread(self, entry: Fields) -> str:
        agent: str = entry.get("agent", "agent")
        return "main" if agent == self.first else agent

    def _add(self, entry: Fields) -> None:
        """Add a message of the history by its role."""
        thread = self._thread(entry)
        for shown in message({key: entry.get(key) for key in _SENT}, self.unread):
            if entry.get("is_demo") and shown.role != "system":
                self.unread.add("call shown in a demonstration", len(shown.calls))
                self.add_message(ReadMessage("user", shown.content, other=shown.other), thread)
            elif shown.role == "assistant":
                self._answer(entry, shown, thread)
            elif shown.role == "tool" or (shown.role == "user" and self.unanswered_calls(thread)):
                self._result(shown, entry.get("tool_call_ids", []), thread)
            else:
                self.add_message(shown, thread)

    def _answer(self, entry: Fields, shown: ReadMessage, thread: str) -> None:
        """Add an answer, and note its action's output in the trajectory."""
        command, calls = entry.get("action", ""), shown.calls
        if not calls and command.strip():
            given, in_text = {"command": command}, command.strip() in shown.content
            own = f"turn{self.index}"
            calls = (ToolCall(id=own, name="bash", arguments=given, in_text=in_text),)
        resent = "tool_calls" in entry
        self.add_message(replace(shown, calls=calls, reasoning_resent=resent), thread)
        same = (at for at, action in enumerate(self.actions) if action.get("action", "") == command)
        if (at := next(same, None)) is not None:  # those before it are in no history
            action = self.actions.pop(at)
            ran = ToolRun(output=action.get("observation", ""))
            self.ran |= {call.id: ran for call in calls[:1]}

    def _result(self, shown: ReadMessage, call_ids: list[Any], thread: str) -> None:
        """Add a message as the result of a call, with the whole output if the message clips it."""
        waiting, seen = self.unanswered_calls(thread), shown.content
        call_id = next(filter(None, map(text, call_ids)), waiting[0].id if waiting else "")
        if ran := self.ran.get(call_id):
            clipped = len(ran.output) > len(seen) and ran.output.strip() not in seen
            full = ran.output if clipped else None
            self.ran[call_id] = ToolRun(full=full)
        self.add_message(replace(shown, role="tool", call_id=call_id), thread)


def _text_of(entry: Any) -> str:
    """The text of a message."""
    return blocks_of(dict_in(entry).get("content"), Unread()).content
