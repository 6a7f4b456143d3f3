"""Runs of OpenHands: events of its SDK and of its first agent, and the model calls that the SDK
logs."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from ...model import Outcome, Trace
from .. import Confidence, Document, PartOf, Traces, as_dict, certain_if, dicts, register
from ..calls import Calls, call_of
from ..openhands_actions import ActionLog
from ..openhands_sdk import EVENTS, SdkLog
from ..parts import Unread
from ..records import dict_in, objects_of, text, time_of

_LISTS = ("history", "trajectory", "items", "events")
_NOTED = ("instance_id", "test_result", "error", "git_patch")
_FRAME = {*_LISTS, *_NOTED, "metrics", "instance", "metadata", "instruction", "llm_completions", "attempt",
          "next_page_id"}  # fmt: skip
_STATE = {"execution_status", "stats", "agent", "workspace"}
_LOGGED = {"latency_sec", "context_window", "fncall_messages"}
_MEANT = ("fncall_messages", "raw_messages")
_LOG = {*_LOGGED, *_MEANT, "messages", "input", "instructions", "tools", "kwargs", "args", "response", "raw_response", "cost",
        "timestamp", "usage_summary", "llm_path", "metrics", "fncall_response"}  # fmt: skip
_EVENT_FILE = re.compile(r"event[-_](\d{5,})[-_].+\.json$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@register("reader", "openhands")
class OpenHands:
    """One run a file: a list or lines of events, or an object (a line each in an evaluation's
    output) with them as `history` or `trajectory`; or the logged model calls of a run, one a file.

    The SDK writes a folder with one event a file; given the folder, its first file is the run, with
    usage and cost from `base_state.json`. A model turn is one answer with all its calls. A result
    is put together and shortened as OpenHands shows it; all of it is kept where it was recorded. A
    condensation is a ContextReset, a rejected action an Approval. Recalled knowledge is a user
    turn. An evaluation's verdict is the outcome, else how the run ended where that is said.

    Logged calls of a folder are read together, as the first of them; each conversation is a trace.

    Not kept: the template around recalled knowledge; in logged calls: errors of tools, how the run
    ended.

    Source: github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/event`,
    `conversation/persistence_const.py`, `llm/utils/telemetry.py`;
    github.com/All-Hands-AI/OpenHands, `openhands/events/serialization/event.py`,
    `openhands/memory/conversation_memory.py`. Tested: openhands-sdk 1.58.2 and at 611629e,
    OpenHands events at 156d068, published and recorded files
    """

    def sniff(self, document: Document) -> Confidence:
        head = document.head
        if isinstance(head, dict) and (head.keys() >= _STATE or _is_logged_call(head)):
            return Confidence.CERTAIN
        events = dicts(_events_in(head)) if isinstance(head, dict) else []
        events = events or document.first_objects
        placed = any({"source", "timestamp"} <= event.keys() for event in events)
        return certain_if(placed and any(map(_is_event, events)))

    def read(self, document: Document) -> Traces:
        """The file's run, or those of an evaluation in order. PartOf for a file that another is
        read with."""
        unread = Unread()
        objects = objects_of(document, unread)
        lone = len(objects) == 1 and isinstance(document.head, dict)
        if lone and _is_logged_call(objects[0]):
            yield from _logged_calls(document)
        elif any(_events_in(value) is not None for value in objects):
            for value in objects:
                if (events := _events_in(value)) is not None:
                    yield _trace(document, events, Unread(), value)
        elif lone:
            yield _conversation(document, objects[0])
        else:
            yield _trace(document, objects, unread, {})


def _events_in(value: dict[str, Any]) -> list[Any] | None:
    """The events that a record of a run lists; None where it lists none."""
    return next((listed for key in _LISTS if isinstance(listed := value.get(key), list)), None)


def _is_event(event: dict[str, Any]) -> bool:
    acted = {"action", "args"} <= event.keys() or {"observation", "content"} <= event.keys()
    return acted or str(event.get("kind")) in EVENTS


def _trace(document: Document, listed: list[Any], unread: Unread, frame: dict[str, Any]) -> Trace:
    """The run of a list of events; `frame` is an evaluation's record of it, or the conversation's
    state."""
    events = dicts(listed)
    steps = SdkLog() if any("kind" in event for event in events) else ActionLog()
    steps.unread = unread
    unread.add("event that is no object", len(listed) - len(events))
    for event in events:
        steps.event(event)
    if isinstance(steps, SdkLog):
        steps.metrics("run", dict_in(frame, "metrics"))
        steps.state(frame)
        steps.end()
    if not frame.keys() >= _STATE:
        unread.extra_keys(frame, _FRAME, "the file")
    steps.meta |= {key: frame[key] for key in _NOTED if frame.get(key) not in (None, "", {}, [])}
    verdict = dict_in(frame, "test_result")
    reports = [verdict, dict_in(verdict, "report"), dict_in(verdict, "result")]
    resolved = next((part["resolved"] for part in reports if isinstance(part.get("resolved"), bool)), None)
    if resolved is not None:
        steps.outcome = Outcome(success=resolved, said_by="OpenHands' evaluation")
    labels = {"task": str(frame["instance_id"])} if frame.get("instance_id") else {}
    return steps.trace(document, "openhands", id=text(frame.get("id")) or "", labels=labels)


def _conversation(document: Document, only: dict[str, Any]) -> Trace:
    """The run of a folder of events, given its first file."""
    if only.keys() >= _STATE:
        state = "the state of the conversation whose events are in the folder 'events' beside it"
        raise PartOf(f"{document.name}: {state}")
    mates = sorted(path for path in document.beside if _EVENT_FILE.search(path.name))
    if not mates or not _EVENT_FILE.search(document.path.name):
        raise document.fail("expected a list of events, got one event — give the folder with all of them")
    if document.path.name != mates[0].name:
        raise PartOf(f"{document.name}: an event of the conversation that {mates[0].name} begins")
    path = document.path.parent.parent / "base_state.json"
    frame = as_dict(Document(path).json) if path.is_file() else {}
    files = [Document(mate, Path(document.name).with_name(mate.name).as_posix()) for mate in mates]
    trace = _trace(document, [file.json for file in files], Unread(), frame)
    digest = hashlib.sha256(b"".join(file.disk_bytes for file in files)).hexdigest()
    return msgspec.structs.replace(trace, source=msgspec.structs.replace(trace.source, sha256=digest))


# ---------------------------------------------------------------- logged calls


def _is_logged_call(value: dict[str, Any]) -> bool:
    asked = isinstance(value.get("messages"), list) or isinstance(value.get("input"), list)
    return asked and isinstance(value.get("response"), dict) and bool(_LOGGED & value.keys())


def _logged_calls(document: Document) -> Traces:
    """The runs of the logged calls of a folder, given the first of them; of a file that is named,
    its own."""
    files = [Document(path) for path in sorted(document.beside, key=_time_in_name)] or [document]
    values = [(file.path, value) for file in files if _is_logged_call(value := as_dict(file.head))]
    if values[0][0] != document.path:
        raise PartOf(f"{document.name}: a model call, read together with {values[0][0].name}")
    calls = Calls(document, "openhands")
    for _, value in values:
        # the messages as the agent meant them, where the model was sent calls and results as text
        asked = next((asked for key in _MEANT if (asked := value.get(key))), value.get("messages"))
        request = {key: value.get(key) for key in ("input", "instructions", "tools")} | {"messages": asked}
        call = call_of(request, value.get("fncall_response") or value["response"])
        call.unread.extra_keys(value, _LOG, "the file")
        call.answered = time_of(value.get("timestamp"), call.unread)
        seconds = value.get("latency_sec")
        if call.answered is not None and isinstance(seconds, int | float):
            call.asked = call.answered - seconds
        calls.add(call)
    yield from calls.traces()


def _time_in_name(path: Path) -> tuple[float, str]:
    """The logger ends a name with the time of the call."""
    numbers = _NUMBER.findall(path.stem)
    return (float(numbers[-1]) if numbers else 0.0, path.name)
