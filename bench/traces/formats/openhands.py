"""Runs of OpenHands: events of its SDK and of its first agent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .. import Confidence, Document, PartOf, Traces, certain_if, register
from ..sessions.openhands_log import SDK_EVENTS, EventLog
from ..steps import traces_of
from ..values import Unread, as_dict, as_id, dicts, text

_LISTS = ("history", "trajectory", "items", "events")
_FRAME = {*_LISTS, "instance_id", "test_result", "error", "git_patch", "metrics", "instance", "metadata", "instruction", "llm_completions", "attempt",
          "next_page_id"}  # fmt: skip
_STATE = {"execution_status", "stats", "agent", "workspace"}
_EVENT_FILE = re.compile(r"event[-_](\d{5,})[-_].+\.json$")


@register("reader", "openhands")
class OpenHands:
    """One run per file: a list or lines of events, or an object (a line each in an evaluation's
    output) with them as `history` or `trajectory`.

    The SDK writes a folder with one event a file; given the folder, its first file is the run, with
    usage and cost from `base_state.json`. A model turn is one answer with all its calls. A result
    is put together and shortened as OpenHands shows it; all of it is kept where it was recorded. A
    condensation is a ContextReset, a rejected action an Approval. The model calls that the SDK logs
    are read by `request_log`.

    Not kept: what the first agent recalls into a prompt (counted).

    Source: github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`,
    `conversation/persistence_const.py`; github.com/All-Hands-AI/OpenHands,
    `openhands/events/serialization/event.py`, `openhands/memory/conversation_memory.py`. Tested:
    openhands-sdk 1.58.2 and at 611629e, OpenHands events at 156d068, published and recorded files
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for the state of a run, or for events with source and time."""
        head = as_dict(document.head)
        events = dicts(_events_in(head)) or document.first_objects
        placed = any({"source", "timestamp"} <= event.keys() for event in events)
        return certain_if(head.keys() >= _STATE or (placed and any(map(_is_event, events))))

    def read(self, document: Document) -> Traces:
        """The file's run, or an evaluation's runs in order. Raises PartOf for a file that is read
        with another."""
        unread = Unread()
        objects = document.objects(unread)
        framed = [(value, events) for value in objects if (events := _events_in(value)) is not None]
        if framed:
            runs = [_run(events, value) for value, events in framed]
        elif len(objects) == 1 and isinstance(document.head, dict):
            runs = [_conversation(document, objects[0])]
        else:
            runs = [_run(objects, {})]
        return traces_of(document, "openhands", runs, unread)


def _events_in(value: dict[str, Any]) -> list[Any] | None:
    """The events listed in a run's record; None without a list."""
    return next((listed for key in _LISTS if isinstance(listed := value.get(key), list)), None)


def _is_event(event: dict[str, Any]) -> bool:
    acted = {"action", "args"} <= event.keys() or {"observation", "content"} <= event.keys()
    return acted or str(event.get("kind")) in SDK_EVENTS


def _run(listed: list[Any], frame: dict[str, Any]) -> EventLog:
    """The run of a list of events; `frame` is the evaluation's record around it, or the
    conversation's state."""
    events, steps = dicts(listed), EventLog()
    steps.unread.add("event that is no object", len(listed) - len(events))
    for event in events:
        steps.event(event)
    steps.note_state(frame)
    steps.end()
    steps.unread.extra_keys({} if frame.keys() >= _STATE else frame, _FRAME, "the file")
    steps.id, steps.labels["task"] = text(frame.get("id")) or "", as_id(frame.get("instance_id"))
    return steps


def _conversation(document: Document, only: dict[str, Any]) -> EventLog:
    """The run of a folder of events, given its first file."""
    if only.keys() >= _STATE:
        state = "the state of the conversation whose events are in the folder 'events' beside it"
        raise PartOf(f"{document.name}: {state}")
    mates = sorted(path for path in document.beside if _EVENT_FILE.search(path.name))
    if not mates or not _EVENT_FILE.search(document.path.name):
        what = "expected a list of events, got one event"
        raise document.fail(f"{what} — give the folder with all of them")
    if document.path.name != mates[0].name:
        raise PartOf(f"{document.name}: an event of the conversation that {mates[0].name} begins")
    path = document.path.parent.parent / "base_state.json"
    frame = as_dict(Document(path).json) if path.is_file() else {}
    files = [Document(mate, Path(document.name).with_name(mate.name).as_posix()) for mate in mates]
    return _run([file.json for file in files], frame)
