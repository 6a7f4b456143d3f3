"""The child side of a replay: a loop that takes the steps as they are sent, and answers with plain data."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
from typing import TYPE_CHECKING

import msgspec

from ..model import Counting, Failure, Message, ModelTurn, Record, ToolResult
from ..model.replay import StepOutcome
from ..plugins.worker import Answer
from ..strategies import compose
from ..strategies.sandboxed import Place, Ready, prepared
from ..tokens.counting import TokenCounter
from .cassettes import offline, refused
from .loop import Loop
from .numbering import Recorded
from .outcomes import About, Outcomes, failed

if TYPE_CHECKING:
    from ..plugins.child import Link

_encoded = json.JSONEncoder(check_circular=False).encode
END = b"end"
"""The request behind the last step."""


def open_replay(
    link: Link,
    ready: Ready,
    item: bytes,
    name: str | None,
    place: Place,
    about: About,
    encoding: str,
    counting: Counting,
) -> Answer:
    """A replay that takes the steps as they are sent."""
    counter = TokenCounter(encoding, counting, elsewhere=link.count)
    strategy = prepared(ready, item, name, place)
    connections = contextlib.ExitStack()
    loop: Loop | None = None

    def charge(read: int, written: int, model: str | None) -> None:
        if loop is not None:
            loop.charge(read, written, model)

    connections.enter_context(offline(place.base, charge))

    def answer(request: bytes) -> bytes:
        nonlocal loop
        failure, written = None, 0
        try:
            loop = loop or Loop(about, strategy, counter.of, own=True)
            written = len(loop.numbers.written)
            if request == END:
                loop.end()
                connections.close()
            else:
                _take(loop, request)
        except MemoryError:
            raise
        except BaseException as error:
            failure = failed(error, -1 if loop is None else loop.at)
        if why := refused():  # also where the code went on without an answer
            failure = Failure(step=-1 if loop is None else loop.at, slot="strategy", error=why)
        return _answered(loop, written, failure)

    return answer


def _take(loop: Loop, request: bytes) -> None:
    stream = io.BytesIO(request)
    while stream.tell() < len(request):
        part = pickle.load(stream)
        if isinstance(part, ModelTurn):
            loop.ask(part)
        else:
            loop.take(part)


def _answered(loop: Loop | None, written: int, failure: Failure | None) -> bytes:
    """The outcomes since the last answer, behind so many written messages."""
    out = Outcomes() if loop is None else loop.out
    out.failure = failure
    if loop is not None:
        loop.out = Outcomes()
        out.written = loop.numbers.written[written:]
        if "store" not in loop.strategy.plugins:
            out.results = [_without_record(outcome) for outcome in out.results]
    return _encoded(msgspec.to_builtins(out)).encode("ascii")


def _without_record(outcome: StepOutcome) -> StepOutcome:
    """An outcome without the untruncated record, which the process that measures has."""
    record = Record(step=outcome.step, call_id=outcome.call_id, function="", success=True)
    return msgspec.structs.replace(outcome, record=record, stored=None)


def warm_up() -> None:
    """Replay two steps, so that no fork of this process has to make what the first replay makes."""
    text = Message(kind="result", role="tool", text="text", step=0), 0, 1
    strategy = compose("warm", {"summarizer": lambda result: f"{result.text}."})
    loop = Loop(About(2, 0, None, {}, frozenset()), strategy, lambda item: 1, own=True)
    result = Recorded(ToolResult(index=0, call_id="a", function="f", seen="text"), text, text)
    _take(loop, pickle.dumps(result) + pickle.dumps(ModelTurn(index=1)))
    _answered(loop, 0, None)
