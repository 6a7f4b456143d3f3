"""Evaluation logs of Inspect, as JSON or as `.eval` (a zip file): one run a sample, put together
from its model calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...model import Outcome, Trace, compact_json
from ...model.errors import TraceError
from .. import Confidence, Document, NoRun, Traces, as_dict, certain_if, dicts, register
from ..content import content_of
from ..messages import message
from ..prompts import Prompts
from ..records import filled, seconds_between, text, time_of
from ..steps import Ran, ReadMessage
from ..unpacked import ZipEntries
from ..usage import usage_in

_SAMPLE = {"id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "store", "events", "model_usage", "role_usage",
           "total_time", "working_time", "uuid", "error_retries", "attachments", "choices", "sandbox", "files", "setup", "error", "limit",
           "started_at", "completed_at", "message_pool", "call_pool", "events_data", "turn_count"}  # fmt: skip
_BESIDE = {"sample_init", "state", "store", "info", "logger", "score", "score_edit", "sample_limit", "input", "error", "sandbox", "step",
           "subtask", "span_begin", "span_end", "compaction", "checkpoint", "branch", "interrupt", "anchor", "tool"}  # fmt: skip
"""Events that no prompt shows: what the harness did, kept and measured."""
_MESSAGE = {"id", "content", "role", "source", "tool_calls", "model", "tool_call_id", "function", "error", "metadata", "internal",
            "reasoning"}  # fmt: skip
_GRADES = {"C": (True, 1.0), "I": (False, 0.0), "P": (None, 0.5), "N": (False, 0.0)}
_HEADERS = ("header.json", "_journal/start.json")
_ENTRY = re.compile(r"samples/.*\.json")
_REFERENCE, _ZIP = "attachment://", b"PK\x03\x04"


@register("reader", "inspect")
class Inspect:
    """One trace a sample and epoch, from the model calls among its events, each with the whole
    prompt it was sent; else from its messages.

    Tool events give times, errors and what Inspect cut of an output. Agents (spans of that kind)
    have threads of their own. Calls that only grade are counted, not read. All scores and the
    target are labels, the first score the outcome: C and 1 are success. Attachments and message
    pools are resolved.

    Not kept: model calls that only grade.

    Source: Inspect documentation "Log Files" (inspect.aisi.org.uk/eval-logs.html);
    github.com/UKGovernmentBEIS/inspect_ai, `src/inspect_ai/log/_log.py`, `_recorders/eval.py`,
    `_condense.py`, `_pool.py`. Tested: inspect_ai 0.3.95 (published JSON) and 0.3.285 (recorded
    `.eval`), log version 2
    """

    def sniff(self, document: Document) -> Confidence:
        try:
            packed = _packed(document)
        except TraceError:
            return Confidence.NO
        if packed is not None:
            return certain_if(
                any(name in _HEADERS or _ENTRY.fullmatch(name) for name in packed.names)
            )
        head = as_dict(document.head)
        evaluation = {"task", "model"} <= as_dict(head.get("eval")).keys()
        stated = {"status", "eval"} <= head.keys()
        return certain_if(evaluation and stated)

    def read(self, document: Document) -> Traces:
        """The log's samples in order; task, sample, epoch and times are in `meta`."""
        if (packed := _packed(document)) is not None:
            header = next(
                (_entry(document, packed, name) for name in _HEADERS if name in packed.names), {}
            )
            listed = [
                _entry(document, packed, name) for name in packed.names if _ENTRY.fullmatch(name)
            ]
            samples = sorted(listed, key=_order)
        else:
            header = as_dict(document.json)
            samples = dicts(header.get("samples"))
        runs = [(sample, _Sample(sample)) for sample in samples]
        complete = [(sample, run) for sample, run in runs if run.spoke]
        if not complete:
            what = "holds no samples — they were not logged, or the run ended before the first; run it again"
            raise NoRun(str(document.fail(what)))
        complete[0][1].unread.add("sample in which nothing was said", len(runs) - len(complete))
        for sample, run in complete:
            yield _trace(document, header, sample, run)


def _packed(document: Document) -> ZipEntries | None:
    """The entries of a zip file; None for any other file. TraceError for a damaged one."""
    raw = document.disk_bytes
    return ZipEntries(raw, document.name) if raw.startswith(_ZIP) else None


def _entry(document: Document, packed: ZipEntries, name: str) -> dict[str, Any]:
    """The object in an entry of a zip file; complaints name the file and the entry."""
    return as_dict(Document(document.path, f"{document.name}:{name}").decode(packed.data(name)))


def _order(sample: dict[str, Any]) -> tuple[str, int, str]:
    """The order of samples in a zip file, which has them as they ended: by epoch, then by id,
    numbers by value."""
    name = str(sample.get("id"))
    return str(sample.get("epoch")), len(name), name


def _trace(
    document: Document, header: dict[str, Any], sample: dict[str, Any], run: _Sample
) -> Trace:
    about = as_dict(header.get("eval"))
    meta = filled(about, ("task", "model", "created"))
    meta |= filled(sample, ("epoch", "metadata", "total_time", "working_time", "limit"))
    meta["sample_id"] = sample.get("id")
    error, scores = sample.get("error"), as_dict(sample.get("scores"))
    outcome = next(
        filter(None, (_graded(name, as_dict(score)) for name, score in scores.items())), None
    )
    if error is not None:
        meta["error"] = text(as_dict(error).get("message")) or (
            compact_json(error) if error else ""
        )
        outcome = outcome or Outcome(
            success=False, said_by="Inspect: the sample ended with an error"
        )
    labels = filled(sample, ("scores", "target"))
    labels["task"] = f"{meta.get('task', '')} {sample.get('id')}".strip()
    return run.trace(document, "inspect", labels=labels, meta=meta, outcome=outcome)


def _graded(name: str, score: dict[str, Any]) -> Outcome | None:
    """A score as the outcome: a grade, yes or no, or a number, of which 1 is success and 0 is none;
    None for any other."""
    value, said_by = score.get("value"), f"Inspect's scorer {name!r}"
    if isinstance(value, str) and value in _GRADES:
        success, points = _GRADES[value]
        return Outcome(success=success, score=points, said_by=said_by)
    if isinstance(value, bool | int | float):
        return Outcome(
            success={0.0: False, 1.0: True}.get(float(value)), score=float(value), said_by=said_by
        )
    return None


class _Sample(Prompts):
    """One sample on its way to a trace, with the texts that it keeps once put where they belong."""

    def __init__(self, sample: dict[str, Any]) -> None:
        super().__init__()
        self.attachments = as_dict(sample.get("attachments"))
        pool = sample.get("message_pool") or as_dict(sample.get("events_data")).get("messages")
        self.pool = [self._messages_of(value) for value in dicts(pool)]
        # Parent, type and name of a span, by its id.
        self.spans: dict[str, tuple[Any, str, str]] = {}
        self.solving: list[str] = []  # the types of the steps at work, in logs older than spans
        events = list(_flat(dicts(sample.get("events"))))
        for event in events:
            if event.get("event") == "tool":
                self.ran[str(event.get("id"))] = self._tool_ran(event)
        for event in events:
            self._event(event)
        if not any(event.get("event") == "model" for event in events):
            for value in dicts(sample.get("messages")):
                self.tell(
                    one.with_known(model=text(value.get("model")))
                    for one in self._messages_of(value)
                )
        self.add_unseen_results()
        self.unread.extra_keys(sample, _SAMPLE, "a sample")

    def _event(self, event: dict[str, Any]) -> None:
        """Add an event by its type."""
        kind = text(event.get("event")) or ""
        if kind == "model":
            self._call(event)
        elif kind == "approval":
            approved = event.get("decision") in ("approve", "modify")
            self.approve(
                text(as_dict(event.get("call")).get("id")) or "",
                approved,
                time_of(event.get("timestamp"), self.unread),
            )
        elif kind == "span_begin":
            begun = (
                event.get("parent_id"),
                text(event.get("type")) or "",
                text(event.get("name")) or "",
            )
            self.spans[str(event.get("id"))] = begun
        elif kind == "step":
            begins = event.get("action") == "begin"
            self.solving = (
                [*self.solving, text(event.get("type")) or ""] if begins else self.solving[:-1]
            )
        elif kind not in _BESIDE:
            self.unread.kind("event", kind)

    def _around(self, event: dict[str, Any]) -> list[tuple[str, str]]:
        """Type and name of the spans around an event, innermost first."""
        around: list[tuple[str, str]] = []
        span: Any = event.get("span_id")
        while str(span) in self.spans and len(around) < len(self.spans):
            span, kind, name = self.spans[str(span)]
            around.append((kind, name))
        return around

    def _call(self, event: dict[str, Any]) -> None:
        """Add a model call with its whole prompt."""
        around = self._around(event)
        inside = [*self.solving, *(kind for kind, _ in around)]
        if event.get("role") == "grader" or any(kind.startswith("scorer") for kind in inside):
            self.unread.add("model call that grades")
            return
        output = as_dict(event.get("output"))
        choices = dicts(output.get("choices"))
        answer = self._messages_of(as_dict(choices[0].get("message"))) if choices else []
        if not answer:
            self.unread.add("model call without an answer")
            return
        self.unread.add("further answer of one model call", len(choices) - 1)
        asked, done = (time_of(event.get(key), self.unread) for key in ("timestamp", "completed"))
        tools = event.get("tools")
        turn = answer[0].with_known(
            model=text(output.get("model")) or text(event.get("model")),
            finish_reason=text(choices[0].get("stop_reason")),
            usage=usage_in(output.get("usage"), self.unread),
        )
        self.ask(
            self._prompt(event),
            turn,
            results=answer[1:],
            group=next((name for kind, name in around if kind == "agent"), "agent"),
            tools=[self._resolved(tool) for tool in tools] if isinstance(tools, list) else [],
            asked=asked,
            answered=done or asked,
        )

    def _prompt(self, event: dict[str, Any]) -> list[ReadMessage]:
        prompt = [one for value in dicts(event.get("input")) for one in self._messages_of(value)]
        refs = event.get("input_refs")
        for reference in refs if isinstance(refs, list) else ():
            places = (
                [place for place in reference if type(place) is int]
                if isinstance(reference, list)
                else []
            )
            self.unread.add(
                "reference to the pool of messages that cannot be read", len(places) != 2
            )
            pooled = self.pool[slice(*places)] if len(places) == 2 else []
            prompt += [one for group in pooled for one in group]
        return prompt

    def _resolved(self, value: Any) -> Any:
        """A value with the texts that it refers to in place of the references; one that the log
        does not hold is counted."""
        if isinstance(value, dict):
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if not isinstance(value, str) or not value.startswith(_REFERENCE):
            return value
        name = value.removeprefix(_REFERENCE)
        self.unread.add("attachment that the log does not hold", name not in self.attachments)
        return self.attachments.get(name, value)

    def _messages_of(self, value: dict[str, Any]) -> list[ReadMessage]:
        """A message as what it says. A tool message without content says its error."""
        value = self._resolved(value)
        self.unread.extra_keys(value, _MESSAGE, "a message")
        if value.get("role") != "tool":
            kept = {"role", "content", "tool_calls", "reasoning"}
            fields = {key: member for key, member in value.items() if key in kept}
            return message(fields, self.unread)
        error = text(as_dict(value.get("error")).get("message"))
        seen = content_of(value.get("content"), self.unread) or error or ""
        call_id, name = text(value.get("tool_call_id")) or "", text(value.get("function")) or ""
        return [
            ReadMessage(
                "tool",
                seen,
                call_id=call_id,
                name=name,
                failed=value.get("error") is not None,
                error=error,
            )
        ]

    def _tool_ran(self, event: dict[str, Any]) -> Ran:
        """The run of a tool by its event: the whole output, error and times."""
        start, end = (time_of(event.get(key), self.unread) for key in ("timestamp", "completed"))
        worked = event.get("working_time")
        took = (
            float(worked)
            if type(worked) in (int, float) and worked
            else seconds_between(start, end)
        )
        error = as_dict(event.get("error")).get("message")
        return Ran(
            output=self._resolved(text(event.get("result"))),
            failed=event.get("error") is not None or event.get("failed") is True,
            error=text(error),
            t=end,
            duration_s=took,
            cut=event.get("truncated") is not None,
        )


def _flat(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events in order, with those that older logs keep within a tool's or a subtask's event."""
    for event in events:
        yield event
        yield from _flat(dicts(event.get("events")))
