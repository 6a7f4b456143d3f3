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
from .records import dict_in, text, typed
from .sent import EXACT, NEAR, Edits, HistoryText, Masking, best_fit
from .steps import Ran, Said, Steps

_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
_MASKED = "Old environment output: ({} lines omitted)"
_UNMASKED = {"default", "cache_control", "tag_tool_call_observations"}
_PUBLISHED = (None, Masking(5), Masking(2))
"""The history processors of the configurations before 1.0, whose files do not name them."""
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_LONGEST_ENVELOPE = 500
_CLIPPED = re.compile(r"<response clipped>(<NOTE>.{0,2000}?</NOTE>)?", re.DOTALL)


class File(msgspec.Struct):
    """A `.traj` file, or one of its attempts."""

    trajectory: list[dict[str, Any]] | None = None
    history: list[dict[str, Any]] | None = None
    info: dict[str, Any] | None = None
    environment: Any = None
    replay_config: Any = None
    attempts: list[dict[str, Any]] | None = None


class Entry(msgspec.Struct):
    """A message of the history. `agent` may be one of several; demonstrations stand before the task."""

    role: str = ""
    content: Any = None
    agent: str | None = None
    message_type: str | None = None
    thought: Any = None
    action: str | None = None
    tool_calls: Any = None
    tool_call_ids: list[str] | None = None
    is_demo: bool | None = None
    tags: list[str] | None = None
    cache_control: Any = None
    thinking_blocks: list[dict[str, Any]] | None = None


class Action(msgspec.Struct):
    """A step of the trajectory: an action that ran. `query` is the prompt before it, since 1.0."""

    action: str | None = None
    observation: str | None = None
    response: str | None = None
    execution_time: float | None = None
    query: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]] | None = None
    state: Any = None
    thought: Any = None
    extra_info: Any = None


def attempts_of(document: Document) -> list[dict[str, Any]]:
    """The attempts of a file, or the one run that it is."""
    return dicts(document.json.get("attempts")) or [document.json]


def trace_of(document: Document, run: dict[str, Any]) -> Trace:
    """One run as a trace, with its instance as label `task`."""
    steps = _History(run)
    info = steps.file.info or {}
    meta = {key: value for key, value in info.items() if value not in (None, "", {}, [])}
    if steps.file.environment is not None:
        meta["environment"] = steps.file.environment
    last = (steps.actions[-1].query or steps.actions[-1].messages or []) if steps.actions else []
    if masked := sum(str(entry.get("content")).startswith(_MASKED[:24]) for entry in last):
        meta["results_masked_by_recorder"] = masked
    status = text(info.get("exit_status"))
    outcome = None
    if status is not None:
        success = None if status.startswith("submitted") else False
        outcome = Outcome(success=success, said_by=f"SWE-agent's exit status {status!r}")
    labels = {}
    named = text(dict_in(steps.config, "problem_statement").get("id"))
    if task := named or _INSTANCE.match(case_id(document.path.name)):
        labels["task"] = task if isinstance(task, str) else task.group()
    if steps.edits is None:
        labels["prompts"] = "unknown"
    return steps.trace(document, "swe", labels=labels, meta=meta, outcome=outcome)


class _History(Steps):
    """The steps of one run; `ahead` are the actions that the history has not come to."""

    def __init__(self, run: dict[str, Any]) -> None:
        super().__init__()
        self.file = typed(run, File, self.unread, "the file")
        config = self.file.replay_config
        self.config = strict_json(config) if isinstance(config, str) else config
        name = text(dict_in(self.config, "agent", "model").get("name"))
        self.model = None if name in _NO_MODELS else name
        entries = [typed(entry, Entry, self.unread, "a message") for entry in self.file.history or ()]
        self.actions = [
            typed(action, Action, self.unread, "a trajectory step") for action in self.file.trajectory or ()
        ]
        self.ahead = list(self.actions)
        self.first = entries[0].agent if entries else None
        self.edits = self._edits(entries)
        places: list[int] = []
        for number, entry in enumerate(entries):
            if texts := (self.edits or {}).get(number):
                shown = {places[old]: new for old, new in texts.items()}
                thread = self._thread(entry)
                self.add(ContextEdit(index=self.index, thread=thread, shown=shown))
            places.append(self.index)
            self._add(entry)
        if not entries:
            for action in self.actions:
                self._answer(Entry("assistant", action.response, action=action.action))
                self.never_shown()
        self.unread.add("trajectory step that is not in the history", len(self.ahead))
        self.never_shown()
        if self.edits is None:
            turns = sum(isinstance(step, ModelTurn) for step in self.steps)
            self.unread.add("prompt of which the file does not tell what stood for old messages", turns)

    def _edits(self, entries: list[Entry]) -> Edits | None:
        """The texts that prompts showed in place of old messages; None where they cannot be known."""
        history = list(map(_history_text, entries))
        if queries := [action.query for action in self.actions if action.query]:
            return _queried(history, queries)
        counted = dict_in(self.file.info, "model_stats").get("tokens_sent")
        sent = counted if isinstance(counted, int) and counted > 0 else None
        processors = dict_in(self.config, "agent").get("history_processors")
        if processors is None and sent is None:
            return {}
        if processors is None:
            candidates = [{} if rule is None else rule.edits(history) for rule in _PUBLISHED]
        else:
            rules = [rule for rule in dicts(processors) if rule.get("type") not in _UNMASKED]
            if rules and [rule.get("type") for rule in rules] != ["last_n_observations"]:
                return None
            candidates = [_masking(rules[0]).edits(history) if rules else {}]
        if not history or sent is None:
            return candidates[0] if processors is not None else None
        edits, miss = best_fit(history, sent, candidates, self.model)
        return edits if miss <= (EXACT if processors is None else NEAR) else None

    def _thread(self, entry: Entry) -> str:
        return "main" if entry.agent in (None, self.first) else str(entry.agent)

    def _add(self, entry: Entry) -> None:
        role, content = ROLES.get(entry.role), Blocks().add_all(entry.content, self.unread).content
        place = (self._thread(entry), entry.agent or "agent")
        if role is None:
            self.unread.kind("message", entry.role)
        elif entry.is_demo and role != "system":
            self.unread.add("call shown in a demonstration", len(dicts(entry.tool_calls)))
            self.say(Said("user", content), place[0], "demonstration")
        elif role == "assistant":
            self._answer(entry)
        elif role == "tool" or (role == "user" and self.waiting(place[0])):
            self._result(content, (entry.tool_call_ids or [""])[0], *place)
        else:
            self.say(Said(role, content), *place)

    def _answer(self, entry: Entry) -> None:
        content, action = Blocks().add_all(entry.content, self.unread).content, entry.action
        calls = calls_beside({"tool_calls": entry.tool_calls}, self.unread)
        if not calls and action and action.strip():
            in_text = action.strip() in text_of(content)
            call_id, arguments = f"turn{self.index}", {"command": action}
            calls = (ToolCall(id=call_id, name="bash", arguments=arguments, in_text=in_text),)
        blocks = entry.thinking_blocks or []
        thoughts = [one for block in blocks if (one := text(block.get("thinking")))]
        self.unread.add("reasoning whose text is not recorded", len(blocks) - len(thoughts))
        turn = Said("assistant", content, calls, reasoning="\n".join(thoughts) or None)
        resent = entry.tool_calls is not None
        place = (self._thread(entry), entry.agent or "agent")
        self.say(turn, *place, model=self.model, reasoning_resent=resent)
        for at, ran in enumerate(self.ahead):  # those before it are in no history
            if ran.action == action or (action is None and ran.response == text_of(content)):
                del self.ahead[at]
                if calls:
                    run = Ran(output=ran.observation or "", duration_s=ran.execution_time)
                    self.ran[calls[0].id] = run
                break

    def _result(self, content: Content, call_id: str, thread: str, agent: str) -> None:
        waiting, seen = self.waiting(thread), text_of(content)
        call_id = call_id or (waiting[0].id if waiting else "")
        ran, clipped = self.ran.get(call_id), _CLIPPED.search(seen) is not None
        if ran is not None:
            full = _full_text(seen, ran.output)
            cut = full is None and clipped and ran.output.strip() not in seen
            self.ran[call_id] = Ran(whole=full, duration_s=ran.duration_s, cut=cut)
        elif clipped:
            self.ran[call_id] = Ran(cut=True)
        self.say(Said("tool", content, call_id=call_id), thread, agent)


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


def _history_text(entry: Entry) -> HistoryText:
    """A message as a masking rule sees it: before 1.0 each user message but a demonstration is observed."""
    role = entry.role in ("user", "tool")
    observed = entry.message_type == "observation" if entry.message_type else role
    own = not entry.is_demo
    answer = own and entry.role == "assistant"
    return HistoryText(_plain(entry.content), answer, own and observed, frozenset(entry.tags or ()))


def _plain(content: Any) -> str:
    return text_of(Blocks().add_all(content, Unread()).content)


def _masking(rule: dict[str, Any]) -> Masking:
    def tags(key: str, default: str) -> frozenset[str]:
        given = rule.get(key, [default])
        return frozenset(map(str, given if isinstance(given, list) else ()))

    n, polling = (rule.get(key) for key in ("n", "polling"))
    return Masking(
        n if isinstance(n, int) else 0,
        polling if isinstance(polling, int) and polling > 0 else 1,
        tags("always_keep_output_for_tags", "keep_output"),
        tags("always_remove_output_for_tags", "remove_output"),
        _MASKED,
    )


def _queried(history: list[HistoryText], queries: list[list[dict[str, Any]]]) -> Edits | None:
    """The edits by the recorded prompts; None where one has not a place for each message before it."""
    shown, edits = [entry.text for entry in history], dict[int, dict[int, str]]()
    for query in queries:
        if len(query) >= len(history) or not history[len(query)].answer:
            return None
        texts = [_plain(message.get("content")) for message in query]
        edits[len(query)] = {at: new for at, new in enumerate(texts) if new != shown[at]}
        shown[: len(texts)] = texts
    return edits
