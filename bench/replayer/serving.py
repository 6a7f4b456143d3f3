"""The child side of a replay: a loop that takes the steps as they are sent, and answers with plain data."""

from __future__ import annotations

import contextlib
import io
import json
import pickle

import msgspec

from ..model import Counting, Failure, Message, ModelTurn, Record, ToolResult
from ..model.replay import StepOutcome
from ..plugins.child import Link
from ..plugins.worker import Answer
from ..strategies import compose
from ..strategies.sandboxed import Place, Ready, prepared
from ..tokens.counting import TokenCounter
from .cassettes import offline, refused
from .loop import Loop
from .numbering import Recorded
from .outcomes import About, Outcomes, failed

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
    loop = Loop(about, prepared(ready, item, name, place), counter.of, own=True)
    connections = contextlib.ExitStack()
    connections.enter_context(offline(place.base, loop.charge))
    is_started = False

    def answer(request: bytes) -> bytes:
        nonlocal is_started
        failure, written = None, len(loop.numbers.written)
        try:
            if not is_started:
                is_started = True
                loop.start()
            if request == END:
                loop.end()
                connections.close()
            else:
                stream = io.BytesIO(request)
                while stream.tell() < len(request):
                    loop.take(pickle.load(stream))
        except MemoryError:
            raise
        except BaseException as error:
            failure = failed(error, loop.at)
        if why := refused():  # also where the code went on without an answer
            failure = Failure(step=loop.at, slot="strategy", error=why)
        loop.out.failure = failure
        return _answered(loop, written)

    return answer


def _answered(loop: Loop, written: int) -> bytes:
    """The outcomes since the last answer, behind so many written messages."""
    out, loop.out = loop.out, Outcomes()
    out.written = loop.numbers.written[written:]
    out.extra_s = loop.extra_s
    if "store" not in loop.strategy.plugins:
        out.results = [_without_record(outcome) for outcome in out.results]
    return _encoded(msgspec.to_builtins(out)).encode("ascii")


def _without_record(outcome: StepOutcome) -> StepOutcome:
    """An outcome without the untruncated record, which the process that measures has."""
    record = Record(step=outcome.step, call_id=outcome.call_id, function="", success=True)
    return msgspec.structs.replace(outcome, record=record, stored=None)


def warm_up() -> None:
    """Replay two steps, so that no fork of this process has to make what the first replay makes."""
    turn = ModelTurn(index=1, content="")
    given = ToolResult(index=0, call_id="a", function="f", seen="text")
    message = Message(kind="result", role="tool", text="text", step=0), 0, 1
    strategy = compose("warm", {"summarizer": lambda result: f"{result.text}."})
    loop = Loop(About(2, 0, None, {}, frozenset()), strategy, lambda item: 1, own=True)
    loop.start()
    for recorded in (Recorded(given, message, message), Recorded(turn)):
        loop.take(pickle.loads(pickle.dumps(recorded)))
    _answered(loop, 0)
