"""Evaluation logs of Inspect, as JSON or as `.eval` (a zip file): one run a sample, put together from its model calls."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from ...files.limits import joined, limit, raised
from ...model import Outcome, ToolCall, Trace, compact_json
from ...model.errors import TraceError
from ...text.texts import Remembered
from .. import Confidence, Document, Keeps, Near, Node, NoRun, Traces, all_but, as_dict, by_marks, register
from ..blocks import blocks_of
from ..documents import unzstd
from ..nodes import at, between, members, moment, only_text, picked
from ..parts import role_of, usage_of
from ..prompts import Prompts
from ..steps import Ran, Said

_SAMPLE = {"id", "epoch", "input", "target", "messages", "output", "scores", "metadata", "store", "events", "model_usage", "role_usage",
           "total_time", "working_time", "uuid", "error_retries", "attachments", "choices", "sandbox", "files", "setup", "error", "limit",
           "started_at", "completed_at", "message_pool", "call_pool", "events_data", "turn_count"}  # fmt: skip
_BESIDE = {"sample_init", "state", "store", "info", "logger", "score", "score_edit", "sample_limit", "input", "error", "sandbox", "step", "subtask",
           "span_begin", "span_end", "compaction", "checkpoint", "branch", "interrupt", "anchor", "tool"}  # fmt: skip
"""Events that no prompt shows: what the harness did, kept and measured."""
_MESSAGE = {"id", "content", "role", "source", "tool_calls", "model", "tool_call_id", "function", "error", "metadata", "internal",
            "reasoning"}  # fmt: skip
_GRADES = {"C": (True, 1.0), "I": (False, 0.0), "P": (None, 0.5), "N": (False, 0.0)}
_HEADERS = ("header.json", "_journal/start.json")
_ENTRY = re.compile(r"samples/.*\.json")
_REFERENCE = "attachment://"
_MAGIC = b"PK\x03\x04"
_ZSTD = 93  # the method's number in the zip format; Python knows it from 3.14 on
_LOCAL_HEADER = 30
_ENCRYPTED = 1  # the flag of an entry that needs a password


@register("reader", "inspect_log")
class InspectLog:
    """One trace a sample and epoch, from the model calls among its events, each with the whole prompt it was sent; else from its messages.

    Tool events give times, errors and what Inspect cut of an output. Agents (spans of that kind) have threads of their own. Calls that only
    grade (within a scorer, or in the role `grader`) are counted, not read. All scores and the target are labels, the first score the
    outcome: C and 1 are success. Attachments and message pools are resolved. Zstd inside a `.eval` needs the extra `zstd`.

    Source: Inspect documentation "Log Files" (inspect.aisi.org.uk/eval-logs.html); github.com/UKGovernmentBEIS/inspect_ai,
    `src/inspect_ai/log/_log.py`, `_recorders/eval.py`, `_condense.py`, `_pool.py`
    """

    keeps = Keeps(
        results="untruncated",
        also=all_but("routes", "resets"),
        never="model calls that only grade",
        tested="inspect_ai 0.3.95 (published JSON) and 0.3.285 (recorded `.eval`), log version 2",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        if _is_zip(document):
            try:
                names = _Zipped(document).names()
            except TraceError:
                return Confidence.NO
            typical = any(name in _HEADERS or _ENTRY.fullmatch(name) for name in names)
            return Confidence.CERTAIN if typical else Confidence.NO
        head = as_dict(document.head)
        evaluation, stated = {"task", "model"} <= as_dict(head.get("eval")).keys(), {"status", "eval"} <= head.keys()
        return by_marks({"an evaluation 'eval' with task and model": evaluation, "an 'eval' beside a 'status'": stated})

    def read(self, document: Document) -> Traces:
        """The log's samples in order; task, sample, epoch and times are in `meta`."""
        if _is_zip(document):
            entries = _Zipped(document)
            names = entries.names()
            header = next((entries.node(name) for name in _HEADERS if name in names), None)
            samples = sorted((entries.node(name) for name in names if _ENTRY.fullmatch(name)), key=_order)
        else:
            header = document.node()
            samples = header["samples"].items()
        if not samples:
            what = "holds no samples — they were not logged, or the run ended before the first; run it again"
            raise NoRun(str(document.fail(what)))
        for sample in samples:
            yield _trace(document, header, sample)


def _order(sample: Node) -> tuple[str, int, str]:
    """The order of samples in a zip file, which has them as they ended: by epoch, then by id, numbers by value."""
    name = str(sample["id"].value)
    return str(sample["epoch"].value), len(name), name


def _trace(document: Document, header: Node | None, sample: Node) -> Trace:
    run = _Sample(sample)
    meta = {} if header is None else picked(header["eval"], "task", "model", "created")
    meta |= picked(sample, "epoch", "metadata", "total_time", "working_time", "limit")
    meta["sample_id"] = sample["id"].value
    error = sample["error"]
    outcome = next(filter(None, (_graded(name, score) for name, score in members(sample["scores"]))), None)
    if error.value is not None:
        meta["error"] = only_text(error["message"]) or compact_json(error.value) if error.object() else ""
        outcome = outcome or Outcome(success=False, said_by="Inspect: the sample ended with an error")
    labels = {key: value for key in ("scores", "target") if (value := sample[key].value)}
    labels["task"] = f"{meta.get('task', '')} {sample['id'].value}".strip()
    return run.trace(document, "inspect_log", sample, labels=labels, meta=meta, outcome=outcome)


def _graded(name: str, score: Node) -> Outcome | None:
    """A score as the outcome: a grade, yes or no, or a number, of which 1 is success and 0 is none; None for any other."""
    value, said_by = score["value"].value, f"Inspect's scorer {name!r}"
    if isinstance(value, str) and value in _GRADES:
        success, points = _GRADES[value]
        return Outcome(success=success, score=points, said_by=said_by)
    if isinstance(value, bool | int | float):
        return Outcome(success={0.0: False, 1.0: True}.get(float(value)), score=float(value), said_by=said_by)
    return None


class _Sample(Prompts):
    """One sample on its way to a trace, with the texts that it keeps once put where they belong."""

    def __init__(self, sample: Node) -> None:
        super().__init__()
        self.attachments = {key: value.text() for key, value in members(sample["attachments"])}
        pool = sample["message_pool"] if sample.has("message_pool") else at(sample, "events_data", "messages")
        self.pool = pool.items()
        self.pooled = Remembered(lambda at: self._said(self.pool[at]))
        """The messages of the pool as what they say: many calls refer to each."""

        self.spans: dict[Any, tuple[Any, str, str]] = {}  # parent, type and name of a span, by its id
        self.solving: list[str] = []  # the types of the steps at work, in logs older than spans
        events = list(_flat(sample["events"].items()))
        for event in events:
            if event["event"].value == "tool":
                self.ran[event["id"].text()] = self._ran(event)
        for event in events:
            self._event(event)
        if not any(event["event"].value == "model" for event in events):
            for message in sample["messages"].items():
                self.say(self._said(message), model=message["model"].text_or_none())
        self.never_shown()
        self.unread.keys(sample, _SAMPLE, "a sample")

    def _event(self, event: Node) -> None:
        kind = event["event"].text()
        if kind == "model":
            self._call(event)
        elif kind == "approval":
            approved = event["decision"].value in ("approve", "modify")
            self.approve(at(event, "call", "id").text_or_none() or "", approved, moment(event["timestamp"]))
        elif kind == "span_begin":
            told = (event["parent_id"].value, event["type"].text_or_none() or "", event["name"].text_or_none() or "")
            self.spans[str(event["id"].value)] = told
        elif kind == "step":
            begins = event["action"].value == "begin"
            self.solving = [*self.solving, event["type"].text_or_none() or ""] if begins else self.solving[:-1]
        elif kind not in _BESIDE:
            self.unread.kind("event", kind)

    def _call(self, event: Node) -> None:
        around: list[tuple[str, str]] = []  # type and name of the spans around the event, innermost first
        span: Any = event["span_id"].value
        while str(span) in self.spans and len(around) < len(self.spans):
            span, kind, name = self.spans[str(span)]
            around.append((kind, name))
        inside = [*self.solving, *(kind for kind, _ in around)]
        if event["role"].value == "grader" or any(kind.startswith("scorer") for kind in inside):
            self.unread.add("model call that grades")
            return
        output = event["output"]
        choices = at(output, "choices").items()
        if not choices:
            self.unread.add("model call without an answer")
            return
        self.unread.add("further answer of one model call", len(choices) - 1)
        told = [self._said(message) for message in event["input"].items()]
        for reference in event["input_refs"].items():
            start, end = ([place.count() or 0 for place in reference.items()] + [0, 0])[:2]
            told += [self.pooled[at] for at in range(start, min(end, len(self.pool)))]
        self.ask(
            told,
            self._said(choices[0]["message"]),
            group=next((name for kind, name in around if kind == "agent"), "agent"),
            tools=[self._resolved(tool.value) for tool in event["tools"].items()],
            asked=moment(event["timestamp"]),
            answered=moment(event["completed"]) or moment(event["timestamp"]),
            model=output["model"].text_or_none() or event["model"].text_or_none(),
            finish_reason=choices[0]["stop_reason"].text_or_none(),
            usage=usage_of(output["usage"]),
        )

    def _resolved(self, value: Any) -> Any:
        """A value with the texts that it refers to in place of the references; one that the log does not hold is counted."""
        if isinstance(value, dict):
            return {key: self._resolved(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if not isinstance(value, str) or not value.startswith(_REFERENCE):
            return value
        name = value.removeprefix(_REFERENCE)
        self.unread.add("attachment that the log does not hold", name not in self.attachments)
        return self.attachments.get(name, value)

    def _said(self, message: Node) -> Said:
        """A message as what it says. A tool message without content says its error."""
        message = message.made(self._resolved(message.object()))
        self.unread.keys(message, _MESSAGE, "a message")
        role = role_of(message)
        blocks, error = blocks_of(message["content"], with_tools=False), at(message["error"], "message").text_or_none()
        return Said(
            role,
            blocks.content or error or "",
            tuple(map(_tool_call, message["tool_calls"].items())),
            "\n".join(filter(None, [*blocks.thoughts, message["reasoning"].text_or_none()])) or None,
            call_id=message["tool_call_id"].text_or_none() or "",
            name=message["function"].text_or_none() or "",
            failed=message["error"].value is not None,
            error=error,
        )

    def _ran(self, event: Node) -> Ran:
        start, end = moment(event["timestamp"]), moment(event["completed"])
        return Ran(
            failed=event["error"].value is not None or event["failed"].value is True,
            error=at(event, "error", "message").text_or_none(),
            output=self._resolved(only_text(event["result"])),
            t=end,
            duration_s=event["working_time"].seconds() or between(start, end),
            cut=event["truncated"].value is not None,
        )


def _tool_call(call: Node) -> ToolCall:
    return ToolCall(id=call["id"].text(), name=call["function"].text(), arguments=call["arguments"].value)


def _flat(events: list[Node]) -> Iterator[Node]:
    """The events in order, with those that older logs keep within a tool's or a subtask's event."""
    for event in events:
        yield event
        yield from _flat(event["events"].items())


# ---------------------------------------------------------------- JSON files inside a zip file


def _is_zip(document: Document) -> bool:
    """True if a file begins as zip files do. Never raises: a file that cannot be read is none."""
    try:
        return document.disk_bytes.startswith(_MAGIC)
    except TraceError:
        return False


_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)
"""All that Python raises over a zip file whose bytes are not what they were."""


class _Zipped:
    def __init__(self, document: Document) -> None:
        self.document = document
        self._expanded = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(document.disk_bytes))
        except _DAMAGED as error:
            raise document.fail(f"zip data is damaged or cut short ({error}) — copy or record it again") from None

    def names(self) -> list[str]:
        return self._zip.namelist()

    def node(self, name: str) -> Node:
        """The JSON value of an entry; complaints name the zip file and the entry."""
        inside = Document(self.document.path, f"{self.document.name}:{name}", self.document.below)
        return Node(inside, None, "$", inside.decode(self._bytes(name, inside)))

    def _bytes(self, name: str, inside: Document) -> bytes:
        info = self._zip.getinfo(name)
        self._expanded += info.file_size
        if self._expanded > limit("size"):
            raise inside.fail(f"the entries expand to more than {limit('size'):,} bytes — {raised('size')}")
        if info.flag_bits & _ENCRYPTED:
            raise inside.fail("is encrypted — save it without a password")
        try:
            return self._unzstd(info, inside) if info.compress_type == _ZSTD else self._zip.read(info)
        except _DAMAGED as error:
            raise inside.fail(f"cannot be unpacked ({error}) — copy or record it again") from None

    def _unzstd(self, info: zipfile.ZipInfo, inside: Document) -> bytes:
        raw = self.document.disk_bytes
        name, extra = struct.unpack_from("<HH", raw, info.header_offset + 26)
        start = info.header_offset + _LOCAL_HEADER + name + extra
        try:
            unpacked = joined(unzstd(raw[start : start + info.compress_size], inside.name), info.file_size)
        except ValueError as error:
            raise inside.fail(f"zstd data is {error} — copy or record it again") from None
        if unpacked is None or len(unpacked) != info.file_size:
            raise inside.fail("zstd data is not as long as it says — copy or record it again")
        if zlib.crc32(unpacked) != info.CRC:  # few of these zstd frames carry a checksum of their own
            raise inside.fail("zstd data is damaged (checksum) — copy or record it again")
        return unpacked
