"""Evaluation logs of Inspect, as JSON or `.eval` (a zip file): one run a sample."""

from __future__ import annotations

import re
from typing import Any

from ...model.errors import TraceError
from .. import Document, Fields, register
from ..intakes.exchange import answers_of
from ..intakes.messages import message, messages
from ..intakes.prompts import Prompts
from ..intakes.tree import inherited
from ..steps import ReadMessage, Steps, ToolRun
from ..unpacked import ZipEntries
from ..values import Unread, as_dict, as_list, dicts, text, time_of
from . import Format

_SAMPLE = {"id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "store", "events", "model_usage", "role_usage",
           "total_time", "working_time", "uuid", "error_retries", "attachments", "choices", "sandbox", "files", "setup", "error", "limit",
           "started_at", "completed_at", "message_pool", "call_pool", "events_data", "turn_count"}  # fmt: skip
_NOT_IN_PROMPTS = {"sample_init", "state", "store", "info", "logger", "score", "score_edit", "sample_limit", "input", "error", "sandbox", "step",
           "subtask", "span_begin", "span_end", "compaction", "checkpoint", "branch", "interrupt", "anchor", "tool"}  # fmt: skip
"""Events that no prompt shows: what the harness did, kept and measured."""
_HEADERS = ("header.json", "_journal/start.json")
_ENTRY = re.compile(r"samples/.*\.json")
_REFERENCE, _ZIP = "attachment://", b"PK\x03\x04"


@register("reader", "inspect")
class Inspect(Format):
    """One trace per sample and epoch, from the model calls among its events, each with the whole
    prompt it was sent; else from its messages.

    Tool events give times, errors and what Inspect cut of an output. Agents (spans of that kind)
    have threads of their own. Calls that only grade are counted, not read. Attachments and message
    pools are resolved.

    Not kept: model calls that only grade.

    Source: Inspect documentation "Log Files" (inspect.aisi.org.uk/eval-logs.html);
    github.com/UKGovernmentBEIS/inspect_ai, `src/inspect_ai/log/_log.py`, `_recorders/eval.py`,
    `_condense.py`, `_pool.py`. Tested: inspect_ai 0.3.95 (published JSON) and 0.3.285 (recorded
    `.eval`), log version 2
    """

    def marked(self, document: Document) -> object:
        try:
            packed = _zip_entries(document)
        except TraceError:
            return False
        if packed is not None:
            return _HEADERS[0] in packed.names or any(map(_ENTRY.fullmatch, packed.names))
        head = as_dict(document.head)
        return "status" in head and {"task", "model"} <= as_dict(head, "eval").keys()

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        if (packed := _zip_entries(document)) is not None:
            named = [name for name in _HEADERS if name in packed.names]
            header = _entry(document, packed, named[0]) if named else {}
            names = sorted(filter(_ENTRY.fullmatch, packed.names))
            samples = [_entry(document, packed, name) for name in names]
        else:
            header = as_dict(document.json)
            samples = dicts(header.get("samples"))
        task = text(as_dict(header, "eval").get("task")) or ""
        return [_Sample(sample, task) for sample in samples]


def _zip_entries(document: Document) -> ZipEntries | None:
    raw = document.disk_bytes
    return ZipEntries(raw, document.name) if raw.startswith(_ZIP) else None


def _entry(document: Document, packed: ZipEntries, name: str) -> Fields:
    return as_dict(Document(document.path, f"{document.name}:{name}").decode(packed.data(name)))


class _Sample(Prompts):
    """The steps of one sample, with its attachments and pooled messages put in place."""

    def __init__(self, sample: Fields, task: str) -> None:
        super().__init__()
        self.labels["task"] = f"{task} {sample.get('id')}".strip()
        self.attachments = as_dict(sample, "attachments")
        sample = self._resolved(sample)
        pool = dicts(sample.get("message_pool") or as_dict(sample, "events_data").get("messages"))
        self.pool = [message(value, self.unread) for value in pool]
        self.grading = False  # in logs older than spans
        events = dicts(sample.get("events"))
        kinds = [text(event.get("event")) or "" for event in events]
        self.spans = _spans(events)
        for event, kind in zip(events, kinds, strict=True):
            if kind == "tool":
                self.ran[str(event.get("id"))] = self._tool_ran(event)
        for event, kind in zip(events, kinds, strict=True):
            self._event(event, kind)
        for value in [] if "model" in kinds else dicts(sample.get("messages")):
            self.add_messages(message(value, self.unread))
        self.add_unseen_results()
        self.unread.extra_keys(sample, _SAMPLE, "a sample")

    def _event(self, event: Fields, kind: str) -> None:
        if kind == "model":
            self._call(event)
        elif kind == "approval":
            call_id = text(as_dict(event, "call").get("id")) or ""
            approved = event.get("decision") in ("approve", "modify")
            self.at(event.get("timestamp"))
            self.add_approval(call_id, approved)
        elif kind == "step" and event.get("type") == "scorer":
            self.grading = event.get("action") == "begin"
        elif kind not in _NOT_IN_PROMPTS:
            self.unread.kind("event", kind)
        inner = dicts(event.get("events"))
        self.unread.add("event within another, as older logs keep those of sub-agents", len(inner))

    def _call(self, event: Fields) -> None:
        agent, grades = self.spans.get(str(event.get("span_id")), ("", False))
        if self.grading or grades or event.get("role") == "grader":
            self.unread.add("model call that grades")
            return
        answers = answers_of(event.get("output"), self.unread)
        if not answers:
            self.unread.add("model call without an answer")
            return
        asked, (turn, *results) = time_of(event.get("timestamp"), self.unread), answers
        self.add_model_call(
            self._prompt(event),
            turn,
            results=results,
            group=agent or "agent",
            tools=as_list(event.get("tools")),
            asked=asked,
            answered=time_of(event.get("completed"), self.unread) or asked,
        )

    def _prompt(self, event: Fields) -> list[ReadMessage]:
        prompt = messages(as_list(event.get("input")), self.unread)
        for reference in as_list(event.get("input_refs")):
            places = [place for place in as_list(reference) if type(place) is int]
            odd = len(places) != 2 or places[1] > len(self.pool)
            self.unread.add("reference to the pool of messages that cannot be read", odd)
            pooled = [] if odd else self.pool[slice(*places)]
            prompt += [one for group in pooled for one in group]
        return prompt

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if not isinstance(value, str) or not value.startswith(_REFERENCE):
            return value
        name = value.removeprefix(_REFERENCE)
        self.unread.add("attachment that the log does not hold", name not in self.attachments)
        return self.attachments.get(name, value)

    def _tool_ran(self, event: Fields) -> ToolRun:
        return ToolRun(
            output=text(event.get("result")),
            failed=event.get("error") is not None or event.get("failed") is True,
            error=text(as_dict(event, "error").get("message")),
            time=time_of(event.get("completed"), self.unread),
            cut=event.get("truncated") is not None,
        )


def _spans(events: list[Fields]) -> dict[str, tuple[str, bool]]:
    begun = {str(event.get("id")): event for event in events if event.get("event") == "span_begin"}
    parents = {name: str(span.get("parent_id")) for name, span in begun.items()}

    def about(name: str, above: tuple[str, bool] | None) -> tuple[str, bool]:
        kind, (agent, grades) = str(begun[name].get("type")), above or ("", False)
        own = text(begun[name].get("name")) if kind == "agent" else agent
        return own or "", grades or kind.startswith("scorer")

    return inherited(parents, about)
