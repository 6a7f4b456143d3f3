"""The replay of somebody's own code: moments go out to its child, outcomes come back as data."""

from __future__ import annotations

import contextlib
import functools
import json
import pickle
from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

from ..model import Failure, ModelTurn, ToolResult
from ..model.errors import StrategyError, one_line, own_error
from ..plugins.worker import Answer, NoAnswer
from ..strategies import Strategy
from ..tokens.counting import TokenCounter
from .loop import Loop, Outcomes
from .recording import Frame, Moment
from .serving import answer, open_replay

_TIMES, _MORE = 100, 10_000_000
"""A strategy may answer so many times the bytes that it was given, and so many more."""


def outcomes_of_own_code(
    strategy: Strategy,
    frame: Frame,
    counter: TokenCounter,
    moments: Iterable[Moment],
    *,
    ended: bool,
) -> Outcomes:
    """The outcomes of some moments under a strategy with somebody's own code; `ended`: and of the
    end.

    Code that cannot be sent to a child is replayed here, in the same way.
    """
    out, room, given = Outcomes(), _MORE, 0
    with _answering(strategy, frame, counter) as answering:
        for portion, is_last in _portions(strategy, moments):
            request = pickle.dumps((portion, is_last and ended), pickle.HIGHEST_PROTOCOL)
            given += _messages_in(portion)
            try:
                body = answering(request)
                room += _TIMES * len(request) - len(body)
                out.join(_read(body, room, portion, given, len(out.written)))
            except (NoAnswer, StrategyError, MemoryError) as error:
                at = portion[-1].step.index if portion else -1
                slot = "strategy" if len(strategy.own_slots) > 1 else min(strategy.own_slots)
                out.failure = Failure(step=at, slot=slot, error=_reason(error))
            if out.failure is not None:
                break
    return out


@contextlib.contextmanager
def _answering(strategy: Strategy, frame: Frame, counter: TokenCounter) -> Iterator[Answer]:
    """What answers during one replay: a session of the strategy's child, or this process."""
    if strategy.sandbox is None:
        yield functools.partial(answer, Loop(strategy, frame, counter))
        return
    child, number = strategy.sandbox.child, strategy.sandbox.number
    given = number, frame, counter.encoding, counter.counting
    with child.session(open_replay, *given, count=counter.encoded) as session:
        yield session.ask


def _portions(strategy: Strategy, moments: Iterable[Moment]) -> Iterator[tuple[list[Moment], bool]]:
    """Yield moments in portions, and True with the last one.

    The last moment of a portion alone may call own code: so no later one is in its process.
    """
    own = strategy.own_slots
    portion: list[Moment] = []
    for moment in moments:
        portion.append(moment)
        if _may_call(own, moment):
            yield portion, False
            portion = []
    yield portion, True


def _may_call(own: Set[str], moment: Moment) -> bool:
    """True if a moment may call what fills some slots."""
    if "routers" in own:
        return True
    if isinstance(moment.step, ToolResult):
        return own != {"compactor"}
    return moment.asks and "compactor" in own


def _messages_in(moments: Sequence[Moment]) -> int:
    """The number of recorded messages in some moments."""
    return sum(len({id(each.message), id(each.seen)}) for each in moments if each.message)


def _read(
    body: bytes, room: int, moments: Sequence[Moment], recorded: int, written: int
) -> Outcomes:
    """The outcomes in an answer about some moments. Raises StrategyError where they cannot be.

    `recorded` and `written` are the messages that there are: of the recording up to these moments,
    and of the strategy before them.
    """
    if room < 0:
        what = f"it answers more than {_TIMES} times as much as it was given"
        raise StrategyError(f"{what}, and {_MORE:,} bytes")
    try:
        out = msgspec.convert(json.loads(body), Outcomes)
    except (ValueError, RecursionError) as error:
        raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
    if out.failure is not None:
        slot, reason = one_line(out.failure.slot), one_line(out.failure.error)
        out.failure = msgspec.structs.replace(out.failure, slot=slot, error=reason)
        return out
    calls = [each.step.index for each in moments if each.asks and isinstance(each.step, ModelTurn)]
    results = [each.step.index for each in moments if isinstance(each.step, ToolResult)]
    if [one.step for one in out.calls] != calls or [one.step for one in out.results] != results:
        raise StrategyError("its answer is about other steps than it was given")
    numbers = {one.message for one in out.results}.union(*(call.tail for call in out.calls))
    least = -written - len(out.written)
    if not all(least <= number < recorded for number in numbers):
        raise StrategyError("its answer holds messages that do not exist")
    return out


def _reason(error: BaseException) -> str:
    """The reason of an answer that did not come, or cannot be one."""
    if isinstance(error, NoAnswer):
        return f"{error} — a strategy returns or raises" if error.ended else str(error)
    return own_error(error)
