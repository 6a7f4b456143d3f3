"""Completions that OpenHands logs, one file a model call: the prompt, the answer, its cost and its time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from ..model import Trace
from ..model.errors import TraceError
from .decoded import as_dict
from .documents import Document
from .exchange import answers_of, prompt_of
from .messages import messages
from .parts import Unread
from .prompts import Prompts, key_of
from .reader import PartOf
from .records import typed

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class _Call(msgspec.Struct):
    """A logged call. The `fncall_` fields hold it as the agent meant it, for models without function calling."""

    timestamp: float | None = None
    latency_sec: float | None = None
    cost: float | None = None
    context_window: Any = None
    messages: Any = None
    input: Any = None
    instructions: Any = None
    tools: list[Any] | None = None
    response: Any = None
    fncall_messages: list[Any] | None = None
    fncall_response: Any = None
    kwargs: Any = None
    args: Any = None
    usage_summary: Any = None
    raw_response: Any = None
    llm_path: Any = None
    metrics: Any = None


class _Logged:
    def __init__(self, document: Document) -> None:
        self.document, self.unread = document, Unread()
        value = as_dict(document.json)
        self.call = call = typed(value, _Call, self.unread, "the file")
        meant = call.fncall_messages
        self.prompt = messages(meant, self.unread) if meant else prompt_of(value, self.unread)
        answers = answers_of(call.fncall_response or call.response, self.unread)
        if not answers:
            raise document.fail("expected an answer, got none — the call failed; leave the file out")
        self.answer = answers[0]
        self.keys = [key_of(said) for said in self.prompt]

    def goes_on_from(self, earlier: _Logged) -> bool:
        """True if the prompt holds an earlier call's answer: by the ids of its tool calls, else in its place."""
        answer = key_of(earlier.answer)
        if earlier.answer.calls and all(call.id for call in earlier.answer.calls):
            return answer in self.keys
        return self.keys[: len(earlier.keys) + 1] == [*earlier.keys, answer]

    def ask(self, steps: Prompts) -> int:
        """Add the call to a run; gives the index of its turn."""
        ended, seconds = self.call.timestamp, self.call.latency_sec
        begun = None if ended is None or seconds is None else ended - seconds
        tools = self.call.tools or []
        return steps.ask(self.prompt, self.answer, tools=tools, asked=begun, answered=ended)


def is_completion(value: dict[str, Any]) -> bool:
    """True for a logged call: a prompt beside a response, with a field that the logger alone writes."""
    asked = isinstance(value.get("messages"), list) or isinstance(value.get("input"), list)
    logged = {"latency_sec", "context_window", "fncall_messages"} & value.keys()
    return asked and isinstance(value.get("response"), dict) and bool(logged)


def run_ended_by(document: Document) -> Trace:
    """The run that a call ends: of the calls beside it, those whose answers its prompt holds.

    Raises PartOf where a later call of the folder holds this one's answer.
    """
    last = _Logged(document)
    others = [path for path in sorted(document.beside, key=_order) if path.name != document.path.name]
    place = sum(_order(path) < _order(document.path) for path in others)
    for later in map(_opened, others[place:]):
        if later is not None and later.goes_on_from(last):
            raise PartOf(f"{document.name}: a call of the run that {later.document.path.name} ends")
    run = [last]
    for earlier in map(_opened, reversed(others[:place])):
        if earlier is not None and run[0].goes_on_from(earlier):
            run.insert(0, earlier)
    steps = Prompts()
    costs, latencies = {}, {}
    for logged in run:
        step = str(logged.ask(steps))
        if logged.call.cost is not None:
            costs[step] = logged.call.cost
        if logged.call.latency_sec is not None:
            latencies[step] = logged.call.latency_sec
    for what, count in last.unread.counts.items():  # the last prompt holds what the others hold
        steps.unread.add(what, count)
    notes = {"costs_usd": costs, "latencies_s": latencies, "context_window": last.call.context_window}
    return steps.trace(document, "openhands", meta={key: value for key, value in notes.items() if value})


def _order(path: Path) -> tuple[float, str]:
    """The files' order in time: the logger ends a name with the time of the call."""
    numbers = _NUMBER.findall(path.stem)
    return (float(numbers[-1]) if numbers else 0.0, path.name)


def _opened(path: Path) -> _Logged | None:
    try:
        return _Logged(Document(path))
    except TraceError:
        return None
