"""Event streams of OpenHands: those of its first agent, and the event log of its SDK."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...model import Outcome, Trace
from .. import Confidence, Document, Keeps, Near, Node, PartOf, Traces, all_but, as_dict, by_marks, dicts, register
from ..nodes import first_of, picked
from ..openhands_actions import Actions
from ..openhands_events import EVENTS, Events
from ..parts import Unread
from ..records import objects_of

_FRAME = ("instance_id", "test_result", "metrics", "error", "git_patch", "instance", "history", "trajectory",
          "metadata", "instruction", "llm_completions", "attempt")  # fmt: skip
_LISTS = ("history", "trajectory", "items", "events")
_STATE = {"execution_status", "stats", "agent", "workspace"}
_EVENT_FILE = re.compile(r"event[-_](\d{5,})[-_].+\.json$")


@register("reader", "openhands")
class OpenHands:
    """One run a file: a list or lines of events, or an object (a line each in an evaluation's output) with them as `history` or `trajectory`.

    The SDK writes a folder with one event a file; given the folder, its first file is the run, with usage and times from `base_state.json`.
    A model turn is one answer with all its calls. What the model was shown of an output is put together and shortened as OpenHands does it;
    the whole is kept where it was recorded, else the result is cut at the source. A condensation, or going on from an earlier event, is a
    ContextReset; a delegate of the first agent is a thread of its own; a rejected action is an Approval. What a recall found is a user turn;
    the template around it is not recorded. An evaluation's verdict is the outcome, else how the run ended where that is said.

    Source: github.com/All-Hands-AI/OpenHands, `openhands/events/serialization/event.py`, `openhands/memory/conversation_memory.py`;
    github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`, `conversation/persistence_const.py`
    """

    keeps = Keeps(
        results="as shown",
        also=all_but("labels", "routes"),
        never="the template around what a recall found",
        tested="OpenHands events at 156d068 (published) and openhands-sdk 1.58.2 (recorded)",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head
        if isinstance(head, dict):
            if head.keys() >= _STATE:
                return Confidence.CERTAIN
            head = next((head[key] for key in _LISTS if isinstance(head.get(key), list)), [head])
        items = head if isinstance(head, list) else []
        events = dicts([item[0] if isinstance(item, list) and item else item for item in items])
        acts = {"timestamp", "action", "observation"}
        sourced = [event for event in events if "source" in event and acts & event.keys()]
        what = "'action' with 'args', 'observation' with 'content', or the 'kind' of an event"
        marks = {"events with a 'source' and a time or an act": bool(sourced)}
        return by_marks(marks | {what: any(map(_is_event, sourced or events))})

    def read(self, document: Document) -> Traces:
        """The file's run, or those of an evaluation in order. PartOf for a file that another of the folder is read with."""
        skipped = Unread()
        lined = document.is_json_lines
        whole = (
            [Node(document, None, "$", value) for value in objects_of(document, skipped)]
            if lined
            else [document.node()]
        )
        runs = [run for run in whole if any(map(run.has, _LISTS))]
        if len(whole) == 1 and not runs and isinstance(whole[0].value, dict):
            yield _folder(document, whole[0])
        for run in runs:
            yield _trace(document, run, first_of(run, *_LISTS).items(), framed=True)
        if whole and not runs and (len(whole) > 1 or isinstance(whole[0].value, list)):
            yield _trace(document, whole[0], whole if lined else whole[0].items(), skipped=skipped)


def _is_event(event: dict[str, Any]) -> bool:
    of_the_first = {"action", "args"} <= event.keys() or {"observation", "content"} <= event.keys()
    return of_the_first or ("timestamp" in event and event.get("kind") in (*EVENTS,))


def _folder(document: Document, only: Node) -> Trace:
    if only.value.keys() >= _STATE:
        what = "the state of the conversation whose events are in the folder 'events' beside it"
        raise PartOf(f"{document.name}: {what}")
    found = {path: found for path in document.beside if (found := _EVENT_FILE.search(path.name))}
    mates = sorted(found, key=lambda path: int(found[path][1]))
    if not mates or not _EVENT_FILE.search(document.path.name):
        raise only.fail("expected a list of events, got one event — give the folder with all of them")
    if document.path.name != mates[0].name:
        raise PartOf(f"{document.name}: an event of the conversation that {mates[0].name} begins")
    path = document.path.parent.parent / "base_state.json"
    files = [Document(mate, Path(document.name).with_name(mate.name).as_posix()) for mate in mates]
    state = Document(path).node() if path.is_file() else None
    trace = _trace(document, only, [file.node() for file in files], state=state)
    digest = hashlib.sha256(b"".join(file.disk_bytes for file in files)).hexdigest()
    return msgspec.structs.replace(trace, source=msgspec.structs.replace(trace.source, sha256=digest))


def _trace(
    document: Document,
    run: Node,
    events: Sequence[Node],
    *,
    framed: bool = False,
    state: Node | None = None,
    skipped: Unread | None = None,
) -> Trace:
    pairs = (event.items() if isinstance(event.value, list) else [event] for event in events)  # as events came once
    flat = [event for pair in pairs for event in pair]
    told = Events() if any(event.has("kind") for event in flat) else Actions()
    for what, count in (skipped.counts if skipped else {}).items():
        told.unread.add(what, count)
    for event in flat:
        told.tolerate("event that cannot be read", told.event, event)
    if isinstance(told, Events):
        if framed:
            told.metrics(run["metrics"])
        if state is not None:
            told.state(state)
        told.end()
    if framed:
        told.unread.keys(run, (*_FRAME, *_LISTS, "next_page_id"), "the file")
        told.meta |= picked(run, *_FRAME[:5])
        told.outcome = _verdict(run["test_result"].value) or told.outcome
    own = (None if state is None else state["id"].text_or_none()) or ""
    labels = {"task": str(told.meta["instance_id"])} if "instance_id" in told.meta else {}
    return told.trace(document, "openhands", run, id=own, labels=labels)


def _verdict(report: Any) -> Outcome | None:
    held = dicts([report, *(as_dict(report).get(key) for key in ("report", "result"))])
    verdict = next((part["resolved"] for part in held if "resolved" in part), None)
    return Outcome(success=bool(verdict), said_by="OpenHands' evaluation") if isinstance(verdict, bool | int) else None
