"""Runs of mini-swe-agent (lists of messages and format 1.1) and of SWE-agent (`.traj`)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ...model import ContextEdit, ModelTurn, ToolCall
from .. import Document, Fields, register
from ..commands import calls_in, command_run, is_observation
from ..intakes.content import blocks_of
from ..intakes.exchange import answers_of
from ..intakes.messages import message, messages
from ..paths import case_id
from ..steps import ReadMessage, Steps, ToolRun
from ..values import Kinds, Unread, as_dict, dicts, fields_of, from_json_text, number, text
from . import Format


@register("reader", "swe")
class Swe(Format):
    """One run per file.

    mini-swe-agent: a list of messages or `{info, messages, trajectory_format}`. Its commands are
    tool calls, in OpenAI's chat or Responses form, or stand in the text of a turn (fenced blocks,
    `execute:` lines; the next user message is the result). The envelope of a result is text, so
    `data` is None; where the model saw a cut one, `full` is the same envelope with the recorded
    `raw_output`.

    SWE-agent: the history is what the model was sent; each agent in it has its thread. An action is
    a tool call, or a command `bash` in the turn's text, and the next message its result;
    `trajectory` has the output that the message clips, and its time. Old results that the model no
    longer saw are a ContextEdit before the turn, by the `query` of each step (since 1.0), or the
    `messages` after the step before. Where tokens were sent and neither is recorded, the label
    `prompts` is "unknown".

    The label `task` is the instance, or what a grader's `result.json` beside the file names.

    Not kept: structured values: an envelope of text is what the tool gives; SWE-agent: usage by
    call, exit codes.

    Source: github.com/SWE-agent/mini-swe-agent, docs "Trajectory files";
    github.com/SWE-agent/SWE-agent, `sweagent/types.py`, `docs/usage/trajectories.md`. Tested:
    mini-swe-agent 2.2.7 (trajectory_format 1.1) and bare lists, SWE-agent at 3ea751c, published
    files
    """

    def marked(self, document: Document) -> object:
        fields = as_dict(document.head)
        listed = fields.get("messages") if fields else document.head
        typical = dicts(listed) == listed and any(map(_is_typical, listed))
        if typical or str(fields.get("trajectory_format", "")).startswith("mini-swe-agent"):
            return True
        actions, history = dicts(fields.get("trajectory")), dicts(fields.get("history"))
        acted = any({"action", "observation"} <= action.keys() for action in actions)
        agents = [entry for entry in history if "agent" in entry]
        return acted or any({"message_type", "action"} & entry.keys() for entry in agents)

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        fields = as_dict(document.json)
        listed = fields.get("messages") if fields else document.json
        if not isinstance(listed, list):
            return [_History(fields, case_id(document.path.name))]
        steps = _MiniRun(as_dict(fields, "info"), listed)
        path = document.path.with_name("result.json")
        graded = as_dict(Document(path).json) if document.path != path and path.is_file() else {}
        steps.labels["task"] = text(fields.get("instance_id")) or text(graded.get("task"))
        return [steps]


def _is_typical(message: Fields) -> bool:
    content = message.get("content") if message.get("role") == "user" else None
    observed = isinstance(content, str) and is_observation(content)
    return observed or "raw_output" in as_dict(message, "extra")


_EXTRA: Kinds = {"timestamp": float, "raw_output": str, "returncode": int, "exception_info": object,
                 "response": dict}  # fmt: skip
"""The recorder's own fields beside a message. `raw_output` is a command's whole output."""


class _MiniRun(Steps):
    """A run of mini-swe-agent; `commands` are those of the last turn without output so far."""

    def __init__(self, info: Fields, listed: list[Any]) -> None:
        super().__init__()
        values = dicts(listed)
        self.unread.add("message that is no object", len(listed) - len(values))
        self.cost_usd = number(as_dict(info, "model_stats").get("instance_cost")) or 0.0
        self.model = text(as_dict(info, "config", "model").get("model_name"))
        self.commands: list[ToolCall] = []
        entries = [value for value in values if value.get("role") != "exit"]
        calls = any("output" in entry or entry.get("tool_calls") for entry in entries)
        for entry in entries:
            extra = fields_of(entry.get("extra"), _EXTRA, self.unread)
            for shown in self._messages_in(entry, extra):
                if not calls and shown.role == "assistant":
                    shown = replace(shown, calls=calls_in(shown.content, self.index))
                    self.commands = list(shown.calls)
                self._add(shown, extra, last=entry is entries[-1])

    def _messages_in(self, entry: Fields, extra: Fields) -> list[ReadMessage]:
        fields = {key: member for key, member in entry.items() if key != "extra"}
        is_answer = entry.get("role") is None and entry.get("type") != "function_call_output"
        if "output" in entry and is_answer:
            if isinstance(entry.get("tools"), list):
                self.set_tools(entry["tools"])
            return answers_of(fields, self.unread) or [ReadMessage("assistant")]
        response = extra.get("response", {})
        known = {key: response[key] for key in ("model", "usage") if key in response}
        return messages([{**fields, **known}], self.unread)

    def _add(self, shown: ReadMessage, extra: Fields, *, last: bool) -> None:
        if shown.role == "user" and self.commands and (last or is_observation(shown.content)):
            shown = replace(shown, role="tool", call_id=self.commands.pop(0).id)
        elif shown.role == "user":
            self.commands = []
        if shown.role == "tool":
            ran = command_run(shown.content, extra)
            shown = replace(shown, failed=False, error=None, ran=ran)
        self.time = extra.get("timestamp")
        self.add_message(shown)


# ---------------------------------------------------------------- SWE-agent

_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_FILE = {"trajectory", "history", "info", "environment", "replay_config"}
_OTHER_FIELDS = {"thought": object, "message_type": object, "tags": object, "cache_control": object, "state": object,
           "extra_info": object, "response": object, "messages": list}  # fmt: skip
_MESSAGE: Kinds = {"role": str, "content": object, "agent": str, "action": str, "tool_calls": list, "tool_call_ids": list,
            "thinking_blocks": list, "is_demo": bool, **_OTHER_FIELDS}  # fmt: skip
_SENT = ("role", "content", "tool_calls", "thinking_blocks")
_ACTION: Kinds = {"action": str, "observation": str, "execution_time": float, "query": list,
                  **_OTHER_FIELDS}  # fmt: skip


class _History(Steps):
    """The steps of one run. `query` of an action is the prompt before it, `messages` that after it."""

    def __init__(self, run: Fields, case: str) -> None:
        super().__init__()
        self.unread.extra_keys(run, _FILE, "the file")
        config = from_json_text(run.get("replay_config"))
        instance = _INSTANCE.match(case)
        stated = text(as_dict(config, "problem_statement").get("id"))
        self.labels["task"] = stated or (instance.group() if instance else None)
        name = text(as_dict(config, "agent", "model").get("name"))
        self.model = None if name in _NO_MODELS else name
        listed, taken = dicts(run.get("history")), dicts(run.get("trajectory"))
        entries = [fields_of(entry, _MESSAGE, self.unread, "a message") for entry in listed]
        self.actions = [fields_of(one, _ACTION, self.unread, "a trajectory step") for one in taken]
        self.first = entries[0].get("agent", "agent") if entries else ""
        sent = [one.get("messages") for one in self.actions[:-1]]
        sent += [one.get("query") for one in self.actions]
        queries = {len(query): query for query in sent if query}
        answers = {at for at, entry in enumerate(entries) if entry.get("role") == "assistant"}
        stats = as_dict(run, "info", "model_stats")
        self.cost_usd = number(stats.get("instance_cost")) or 0.0
        counted = queries or not stats.get("tokens_sent")
        self.prompts_known = bool(queries.keys() <= answers and counted)
        self.entry_texts = list(map(_text_of, entries))  # as the last prompt had them
        self.entry_steps: list[int] = []  # the step of each entry
        for at, entry in enumerate(entries):
            agent = entry.get("agent", "agent")
            self.thread = "main" if agent == self.first else agent
            if self.prompts_known and at in queries:
                self._edit(queries[at])
            self.entry_steps.append(self.index)
            self._add(entry)
        self.unread.add("trajectory step that is not in the history", len(self.actions))
        self.add_unseen_results()
        if not self.prompts_known:
            self.labels["prompts"] = "unknown"
            turns = sum(isinstance(step, ModelTurn) for step in self.steps)
            what = "prompt of which the file does not tell what stood for old messages"
            self.unread.add(what, turns)

    def _edit(self, query: list[Any]) -> None:
        texts, known = list(map(_text_of, query)), self.entry_texts
        changed = [at for at, text in enumerate(texts) if text != known[at]]
        known[: len(texts)] = texts
        if edits := {self.entry_steps[at]: texts[at] for at in changed}:
            self.add(ContextEdit, shown=edits)

    def _add(self, entry: Fields) -> None:
        for shown in message({key: entry.get(key) for key in _SENT}, self.unread):
            if entry.get("is_demo") and shown.role != "system":
                self.unread.add("call shown in a demonstration", len(shown.calls))
                self.add_message(ReadMessage("user", shown.content, other=shown.other))
            elif shown.role == "assistant":
                self._answer(entry, shown)
            elif shown.role == "tool" or (shown.role == "user" and self.unanswered_calls()):
                named = filter(None, map(text, entry.get("tool_call_ids", [])))
                self.add_message(replace(shown, role="tool", call_id=next(named, "")))
            else:
                self.add_message(shown)

    def _answer(self, entry: Fields, shown: ReadMessage) -> None:
        command, calls = entry.get("action", ""), shown.calls
        if not calls and command.strip():
            given, in_text = {"command": command}, command.strip() in shown.content
            own = f"turn{self.index}"
            calls = (ToolCall(id=own, name="bash", arguments=given, in_text=in_text),)
        resent = "tool_calls" in entry
        self.add_message(replace(shown, calls=calls, reasoning_resent=resent))
        same = (at for at, action in enumerate(self.actions) if action.get("action", "") == command)
        if (at := next(same, None)) is not None:  # those before it are in no history
            action = self.actions.pop(at)
            ran = ToolRun(output=action.get("observation", ""))
            self.ran |= {call.id: ran for call in calls[:1]}


def _text_of(entry: Any) -> str:
    return blocks_of(as_dict(entry).get("content"), Unread()).content
