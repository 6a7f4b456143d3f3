"""Runs of OpenHands: event streams of its first agent and of its SDK, and the completions that both log."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...model import Outcome, Trace
from .. import Confidence, Document, Keeps, PartOf, Traces, all_but, as_dict, certain_if, dicts, register
from ..openhands_actions import Actions
from ..openhands_completions import is_completion, run_ended_by
from ..openhands_events import EVENTS, Events
from ..parts import Unread
from ..records import objects_of, text

_LISTS = ("history", "trajectory", "items", "events")
_NOTED = ("instance_id", "test_result", "metrics", "error", "git_patch")
_FRAME = {*_LISTS, *_NOTED, "instance", "metadata", "instruction", "llm_completions", "attempt", "next_page_id"}
_STATE = {"execution_status", "stats", "agent", "workspace"}
_EVENT_FILE = re.compile(r"event[-_](\d{5,})[-_].+\.json$")


@register("reader", "openhands", also=("openhands_sdk",))
class OpenHands:
    """One run a file: a list or lines of events, or an object (a line each in an evaluation's output)
    with them as `history` or `trajectory`; or the logged model calls of a run, one a file.

    The SDK writes a folder with one event a file; given the folder, its first file is the run, with
    usage and times from `base_state.json`. A model turn is one answer with all its calls. A result is
    put together and shortened as OpenHands shows it; the whole is kept where it was recorded, else the
    result is cut at the source. A condensation, or going on from an earlier event, is a ContextReset; a
    delegate of the first agent is a thread of its own; a rejected action is an Approval. What a recall
    found is a user turn. An evaluation's verdict is the outcome, else how the run ended where that is said.

    Logged calls: two are of one run where the later prompt holds the earlier answer; in a folder the last
    call is the run. A file given by name is read alone: usage and times of earlier calls are not there.

    Source: github.com/All-Hands-AI/OpenHands, `openhands/events/serialization/event.py`, `openhands/memory/conversation_memory.py`,
    `openhands/llm/llm.py`; github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`, `conversation/persistence_const.py`,
    `llm/utils/telemetry.py`
    """

    keeps = Keeps(
        results="as shown",
        also=all_but("labels", "routes"),
        never="the template around what a recall found; in logged calls: errors of tools, how the run ended",
        tested="OpenHands events at 156d068, openhands-sdk 1.58.2 and at 611629e, published and recorded files",
    )

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        if isinstance(head, dict):
            if head.keys() >= _STATE or is_completion(head):
                return Confidence.CERTAIN
            head = next((head[key] for key in _LISTS if isinstance(head.get(key), list)), [head])
        events = _flat(head) if isinstance(head, list) else []
        acts = {"timestamp", "action", "observation"}
        sourced = [event for event in events if "source" in event and acts & event.keys()]
        return certain_if(any(map(_is_event, sourced)))

    def read(self, document: Document) -> Traces:
        """The file's run, or those of an evaluation in order. PartOf for a file that another is read with."""
        skipped = Unread()
        if document.is_json_lines:
            objects = objects_of(document, skipped)
        else:
            value = document.json
            objects = _flat(value if isinstance(value, list) else [value])
            if isinstance(value, dict) and is_completion(value):
                yield run_ended_by(document)
                return
        runs = [run for run in objects if any(key in run for key in _LISTS)]
        for run in runs:
            events: list[Any] = next((run[key] for key in _LISTS if isinstance(run.get(key), list)), [])
            yield _trace(document, events, frame=run)
        if not runs and len(objects) == 1 and isinstance(document.head, dict):
            yield _conversation(document, objects[0])
        elif not runs:
            yield _trace(document, objects, skipped=skipped)


def _flat(values: Sequence[Any]) -> list[dict[str, Any]]:
    """The events of a list, where an action and its observation may stand in a list of two."""
    return dicts([event for value in values for event in (value if isinstance(value, list) else [value])])


def _is_event(event: dict[str, Any]) -> bool:
    of_the_first = {"action", "args"} <= event.keys() or {"observation", "content"} <= event.keys()
    return of_the_first or ("timestamp" in event and event.get("kind") in EVENTS)


def _conversation(document: Document, only: dict[str, Any]) -> Trace:
    """The run of a folder of events, given its first file."""
    if only.keys() >= _STATE:
        what = "the state of the conversation whose events are in the folder 'events' beside it"
        raise PartOf(f"{document.name}: {what}")
    numbers = {path: found for path in document.beside if (found := _EVENT_FILE.search(path.name))}
    mates = sorted(numbers, key=lambda path: int(numbers[path][1]))
    if not mates or not _EVENT_FILE.search(document.path.name):
        raise document.fail("expected a list of events, got one event — give the folder with all of them")
    if document.path.name != mates[0].name:
        raise PartOf(f"{document.name}: an event of the conversation that {mates[0].name} begins")
    path = document.path.parent.parent / "base_state.json"
    state = as_dict(Document(path).json) if path.is_file() else {}
    files = [Document(mate, Path(document.name).with_name(mate.name).as_posix()) for mate in mates]
    trace = _trace(document, [file.json for file in files], state=state)
    digest = hashlib.sha256(b"".join(file.disk_bytes for file in files)).hexdigest()
    return msgspec.structs.replace(trace, source=msgspec.structs.replace(trace.source, sha256=digest))


def _trace(
    document: Document,
    listed: Sequence[Any],
    *,
    frame: dict[str, Any] | None = None,
    state: dict[str, Any] | None = None,
    skipped: Unread | None = None,
) -> Trace:
    events = _flat(listed)
    steps = Events() if any("kind" in event for event in events) else Actions()
    for what, count in (skipped.counts if skipped else {}).items():
        steps.unread.add(what, count)
    for event in events:
        steps.event(event)
    if isinstance(steps, Events):
        steps.metrics(as_dict((frame or {}).get("metrics")))
        steps.state(state or {})
        steps.end()
    if frame is not None:
        steps.unread.extra_keys(frame, _FRAME, "the file")
        steps.meta |= {key: frame[key] for key in _NOTED if frame.get(key) not in (None, "", {}, [])}
        steps.outcome = _verdict(frame.get("test_result")) or steps.outcome
    labels = {"task": str(steps.meta["instance_id"])} if "instance_id" in steps.meta else {}
    return steps.trace(document, "openhands", id=text((state or {}).get("id")) or "", labels=labels)


def _verdict(report: Any) -> Outcome | None:
    parts = dicts([report, *(as_dict(report).get(key) for key in ("report", "result"))])
    verdict = next((part["resolved"] for part in parts if "resolved" in part), None)
    return Outcome(success=bool(verdict), said_by="OpenHands' evaluation") if isinstance(verdict, bool | int) else None
