"""The child side of a replay: a loop that takes the steps as they are sent, and answers with plain data."""

from __future__ import annotations

import contextlib
import io
import json
import pickle

import msgspec

from ..model import (
    AnyStep,
    Counting,
    Decision,
    Failure,
    Message,
    ModelTurn,
    Note,
    Record,
    Resolved,
    ToolResult,
    WriterCall,
)
from ..model.replay import Call, StepOutcome
from ..plugins.child import Link
from ..plugins.worker import Answer
from ..strategies import compose
from ..strategies.sandboxed import Place, Ready, prepared
from ..tokens.counting import TokenCounter
from .cassettes import offline, refused
from .loop import Loop
from .numbering import Recorded
from .outcomes import About, Broken, Outcomes

_encoded = json.JSONEncoder(check_circular=False).encode
END = b"end"
"""The request behind the last step."""


class Made(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcomes of some steps, as the child says. `extra_s`: what its programs may take more."""

    written: tuple[Message, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[StepOutcome, ...] = ()
    decisions: tuple[Decision, ...] = ()
    own_calls: tuple[WriterCall, ...] = ()
    handles: tuple[Resolved, ...] = ()
    notes: tuple[Note, ...] = ()
    failure: Failure | None = None
    extra_s: float = 0.0


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

    def count(given: Message | str) -> int:
        return counter.text(given) if isinstance(given, str) else counter.message(given)

    loop = Loop(about, prepared(ready, item, name, place), count, own=True)
    asking = contextlib.ExitStack()
    asking.enter_context(offline(place.base, loop.charge))
    last: list[AnyStep] = []
    started: list[bool] = []

    def answer(request: bytes) -> bytes:
        failure = None
        written = len(loop.numbers.written)
        try:
            if not started:
                started.append(True)
                loop.start()
            if request == END:
                loop.end(last[-1])
                asking.close()
            else:
                stream = io.BytesIO(request)
                while stream.tell() < len(request):
                    recorded: Recorded = pickle.load(stream)
                    last[:] = [recorded.step]
                    loop.take(recorded)
        except MemoryError:
            raise
        except BaseException as error:
            told = error if isinstance(error, Broken) else Broken("strategy", error)
            at = last[-1].index if last else -1
            failure = Failure(step=at, slot=told.slot, error=told.text)
        if why := refused():  # also where the code went on without an answer
            failure = Failure(step=last[-1].index if last else -1, slot="strategy", error=why)
        return _answered(loop, written, failure)

    return answer


def _answered(loop: Loop, written: int, failure: Failure | None) -> bytes:
    """The outcomes since the last answer, behind so many written messages."""
    out, loop.out = loop.out, Outcomes()
    stored = "store" in loop.strategy.plugins
    results = out.results if stored else [_untouched(outcome) for outcome in out.results]
    given = Made(
        written=tuple(loop.numbers.written[written:]),
        calls=tuple(out.calls),
        results=tuple(results),
        decisions=tuple(out.decisions),
        own_calls=tuple(out.own_calls),
        handles=tuple(out.handles),
        notes=tuple(out.notes),
        failure=failure,
        extra_s=loop.extra_s,
    )
    return _encoded(msgspec.to_builtins(given)).encode("ascii")


def _untouched(outcome: StepOutcome) -> StepOutcome:
    """An outcome without the untruncated record, which the process that measures has."""
    record = Record(step=outcome.step, call_id=outcome.call_id, function="", success=True)
    return msgspec.structs.replace(outcome, record=record, stored=None)


def warm_up() -> None:
    """Replay two steps, so that no fork of this process has to make what the first replay makes."""
    turn = ModelTurn(index=1, content="")
    given = ToolResult(index=0, call_id="a", function="f", seen="text")
    shown = Message(kind="result", role="tool", text="text", step=0), 0, 1
    about = About(2, 0, None, {}, frozenset())
    strategy = compose("warm", {"summarizer": lambda result: f"{result.text}."})
    loop = Loop(about, strategy, lambda item: 1, own=True)
    loop.start()
    for recorded in (Recorded(given, shown, shown), Recorded(turn)):
        loop.take(pickle.loads(pickle.dumps(recorded)))
    _answered(loop, 0, None)
