"""Trajectories of SWE-agent (`.traj`): its history of messages, with what each action printed and how long it took."""

from __future__ import annotations

import re
from typing import Any

from ...model import Content, ContextEdit, ModelTurn, Outcome, ToolCall, Trace, text_of
from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, case_id, dicts, register, strict_json
from ..messages import calls_beside
from ..nodes import at, picked
from ..parts import reasoning_of, role_of, simple_content
from ..sent import Edits, HistoryText, Masking, fits_sent, fitted
from ..steps import Ran, Said, Steps

_FILE = {"environment", "trajectory", "history", "info", "replay_config", "attempts"}
_ENTRY = {"role", "content", "agent", "message_type", "thought", "action", "tool_calls", "tool_call_ids", "is_demo", "tags",
          "cache_control", "thinking_blocks"}  # fmt: skip
_STEP = {"action", "observation", "response", "state", "thought", "execution_time", "messages", "query", "extra_info"}
_NO_MODELS = {"replay", "human", "human_thought", "instant_empty_submit"}
_MASKED = "Old environment output: ({} lines omitted)"
_UNMASKED = {"default", "cache_control", "tag_tool_call_observations"}
_PUBLISHED = (None, Masking(5), Masking(2))
"""The history processors of SWE-agent's own configurations before 1.0, whose files do not name them."""
_UNKNOWN = "prompt of which the file does not tell what stood for old messages"
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-\d+")
_LONGEST_ENVELOPE = 500
_CLIPPED = re.compile(r"<response clipped>(<NOTE>.{0,2000}?</NOTE>)?", re.DOTALL)


@register("reader", "swe_agent")
class SweAgent:
    """One trace a file, or one an attempt where several were made. The history is what the model was sent; each agent in it has its thread.

    An action is a tool call, or a command `bash` in the turn's text, and the next message its result. `trajectory` gives the untruncated
    output where the message clips it, the output of the last action, which no message shows, and how long it ran. The format holds no exit
    codes: no result counts as failed. A step of `trajectory` that is not in the history (an answer asked for again) is counted. How often
    the recorder masked an old result is in `meta`, with exit status, submission and statistics; a run that was not submitted failed.

    Old results that the model no longer saw are a ContextEdit before the turn. What was sent is known from the `query` of each step (since 1.0),
    else from the history processors of the configuration, else from `tokens_sent`: the published processor whose prompts add up to it, within
    0.05 %. Where none does, or what the configuration gives is more than 5 % off, the label `prompts` is "unknown". The label `task` is the instance.

    Source: github.com/SWE-agent/SWE-agent, `sweagent/types.py`, `docs/usage/trajectories.md`
    """

    keeps = Keeps(
        results="untruncated",
        also=("times", "outcome", "reasoning", "threads", "model"),
        never="usage by call, exit codes (no result counts as failed), tool definitions",
        tested="SWE-agent trajectories (`.traj`) at 3ea751c, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = as_dict(document.head)
        if not isinstance(document.head, dict):
            return Confidence.NO
        head = next(iter(dicts(head.get("attempts"))), head)
        ran, said = dicts(head.get("trajectory")), dicts(head.get("history"))
        acted = any({"action", "observation"} <= step.keys() for step in ran)
        typical = any("agent" in entry and ("message_type" in entry or "action" in entry) for entry in said)
        what = "steps with 'action' and 'observation', or entries with 'agent' and what they are"
        return by_marks({"a list 'history' or 'trajectory'": bool(ran or said), what: acted or typical})

    def read(self, document: Document) -> Traces:
        """The file's run, or each of its attempts in order."""
        whole = document.node()
        for run in whole["attempts"].items() or [whole]:
            yield _trace(document, run)


def _trace(document: Document, run: Node) -> Trace:
    told, ahead, info = _History(run), run["trajectory"].items(), run["info"]
    meta = picked(info, *info.object()) if info.value is not None else {}
    if run["environment"].value is not None:
        meta["environment"] = run["environment"].value
    last = [] if not ahead else (ahead[-1]["query"] if ahead[-1]["query"].value else ahead[-1]["messages"]).items()
    masked = sum(str(message["content"].value).startswith(_MASKED[:24]) for message in last)
    if masked:
        meta["results_masked_by_recorder"] = masked
    status = at(info, "exit_status").text_or_none()
    success = None if status is None or status.startswith("submitted") else False
    outcome = None if status is None else Outcome(success=success, said_by=f"SWE-agent's exit status {status!r}")
    task = at(told.config, "problem_statement", "id").text_or_none() or _INSTANCE.match(case_id(document.path.name))
    labels = {"task": task if isinstance(task, str) else task.group()} if task else {}
    if not told.known:
        labels["prompts"] = "unknown"
    return told.trace(document, "swe_agent", run, labels=labels, meta=meta, outcome=outcome)


class _History(Steps):
    """One run on its way to a trace: its history, and the steps of its trajectory that the history has not come to."""

    def __init__(self, run: Node) -> None:
        super().__init__()
        self.unread.keys(run, _FILE, "the file")
        config = run["replay_config"]
        self.config = config.made(strict_json(config.value)) if isinstance(config.value, str) else config
        name = at(self.config, "agent", "model", "name").text_or_none()
        self.model = None if name in _NO_MODELS else name
        self.ahead = run["trajectory"].items()
        history = run["history"].items()
        self.first = history[0]["agent"].text_or_none() if history else None
        edits = self._edits(history, at(run["info"], "model_stats", "tokens_sent").value)
        self.known = edits is not None
        places: list[int] = []
        for step in self.ahead:
            self.unread.keys(step, _STEP, "a trajectory step")
        for number, entry in enumerate(history):
            if shown := (edits or {}).get(number):
                reworded = {places[old]: text for old, text in shown.items()}
                self.add(ContextEdit(index=self.index, thread=self._thread(entry), shown=reworded))
            places.append(self.index)
            self.tolerate("message that cannot be read", self._entry, entry)
        if not history:
            for step in list(self.ahead):
                self._answer(step, step["response"].text_or_none() or "", "main", "agent")
                self.never_shown()
        self.unread.add("trajectory step that is not in the history", len(self.ahead))
        self.never_shown()
        if not self.known:
            self.unread.add(_UNKNOWN, sum(isinstance(step, ModelTurn) for step in self.steps))

    def _edits(self, history: list[Node], sent: Any) -> Edits | None:
        """Return what the prompts showed in place of old messages; None where the file tells neither that nor how to find it."""
        told = [_said(entry) for entry in history]
        queries = [step["query"].items() for step in self.ahead if step["query"].value]
        if queries:
            return _queried(told, queries)
        processors = at(self.config, "agent", "history_processors")
        if processors.value is not None:
            rules = [item for item in processors.items() if item["type"].value not in _UNMASKED]
            known = len(rules) == 1 and rules[0]["type"].value == "last_n_observations"
            if rules and not known:
                return None
            edits = _masking(rules[0]).edits(told) if rules else {}
            fits = not isinstance(sent, int) or sent <= 0 or not told or fits_sent(told, edits, sent, self.model)
            return edits if fits else None
        if not isinstance(sent, int) or sent <= 0:
            return {}
        return fitted(told, sent, _PUBLISHED, self.model) if told else None

    def _thread(self, entry: Node) -> str:
        return "main" if entry["agent"].value in (None, self.first) else entry["agent"].text()

    def _entry(self, entry: Node) -> None:
        self.unread.keys(entry, _ENTRY, "a message")
        role = role_of(entry)
        agent, thread = entry["agent"].text_or_none() or "agent", self._thread(entry)
        content = simple_content(entry["content"])
        if entry["is_demo"].value is True and role != "system":
            self.unread.add("call shown in a demonstration", len(entry["tool_calls"].items()))
            self.say(Said("user", content), thread, "demonstration")
        elif role == "assistant":
            self._answer(entry, content, thread, agent)
        elif role == "tool" or (role == "user" and self.waiting(thread)):
            ids = entry["tool_call_ids"].items()
            self._shown(Said("tool", content, call_id=ids[0].text() if ids else ""), thread, agent)
        else:
            self.say(Said(role, content), thread, agent)

    def _answer(self, entry: Node, content: Content, thread: str, agent: str) -> None:
        action, text = entry["action"].text_or_none(), text_of(content)
        calls = calls_beside(entry.object(), self.unread) if entry.has("tool_calls") else ()
        if not calls and action and action.strip():
            arguments, shown = {"command": action}, action.strip() in text
            calls = (ToolCall(id=f"turn{self.index}", name="bash", arguments=arguments, in_text=shown),)
        said = Said("assistant", content, calls, reasoning=reasoning_of(entry, self.unread))
        self.say(said, thread, agent, model=self.model, reasoning_resent=entry["tool_calls"].value is not None)
        for step in self.ahead:  # those before it that are in no history stay where they are
            same = step["response"].value == text or step["action"].value == action
            if step is entry or (same and (action is None or step["action"].value == action)):
                self.ahead.remove(step)
                if calls:
                    output, seconds = step["observation"].text_or_none() or "", step["execution_time"].seconds()
                    self.ran[calls[0].id] = Ran(output=output, duration_s=seconds)
                break

    def _shown(self, said: Said, thread: str, agent: str) -> None:
        waiting = self.waiting(thread)
        call_id = said.call_id or (waiting[0].id if waiting else "")
        ran, clipped = self.ran.get(call_id), _CLIPPED.search(said.text) is not None
        if ran is not None:
            whole = _whole(said.text, ran.output)
            cut = whole is None and clipped and ran.output.strip() not in said.text
            self.ran[call_id] = Ran(whole=whole, duration_s=ran.duration_s, cut=cut)
        elif clipped:
            self.ran[call_id] = Ran(cut=True)
        self.say(said, thread, agent)


def _whole(seen: str, output: str) -> str | None:
    """The untruncated text of a result that was clipped: the whole output in place of the clipped one; None where it is not known."""
    if output.strip() in seen:
        return None
    clipped = _CLIPPED.search(seen)
    if clipped is None:
        return output if len(output) > len(seen) else None
    left = range(min(clipped.start(), _LONGEST_ENVELOPE))
    start = next((place for place in left if output.startswith(seen[place : clipped.start()])), None)
    return None if start is None else f"{seen[:start]}{output}{seen[clipped.end() :]}"


def _said(entry: Node) -> HistoryText:
    """A message as a masking rule sees it: since 1.0 an observation says so, before that each user message but a demonstration is one."""
    shown, kind = entry["is_demo"].value is not True, entry["message_type"].value
    observed = kind == "observation" if kind else entry["role"].value in ("user", "tool")
    tags = frozenset(tag.text() for tag in entry["tags"].items())
    text = text_of(simple_content(entry["content"]))
    return HistoryText(text, shown and entry["role"].value == "assistant", shown and observed, tags)


def _masking(rule: Node) -> Masking:
    keep, remove = (
        frozenset(tag.text() for tag in rule[key].items()) if rule.has(key) else frozenset((default,))
        for key, default in (
            ("always_keep_output_for_tags", "keep_output"),
            ("always_remove_output_for_tags", "remove_output"),
        )
    )
    return Masking(rule["n"].count() or 0, rule["polling"].count() or 1, keep, remove, _MASKED)


def _queried(told: list[HistoryText], queries: list[list[Node]]) -> Edits | None:
    """Return what the recorded prompts show in place of a history's messages; None where one has not a place for each of them."""
    shown, edits = [entry.text for entry in told], dict[int, dict[int, str]]()
    for query in queries:
        if len(query) >= len(told) or not told[len(query)].answer:
            return None
        texts = [text_of(simple_content(message["content"])) for message in query]
        edits[len(query)] = {at: text for at, text in enumerate(texts) if text != shown[at]}
        shown[: len(texts)] = texts
    return edits
