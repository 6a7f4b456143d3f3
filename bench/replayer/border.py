"""Replaying of user code: moments are sent to its child, outcomes come back as data."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

from ..model import Failure, ModelTurn, ToolResult
from ..model.errors import StrategyError, one_line, own_error
from ..plugins.worker import NoAnswer
from ..strategies import Strategy
from ..tokens.counting import TokenCounter
from .loop import Outcomes
from .recording import Frame, Moment
from .serving import open_replay


def outcomes_of_child(
    strategy: Strategy,
    frame: Frame,
    counter: TokenCounter,
    moments: Iterable[Moment],
    *,
    ended: bool,
) -> Outcomes:
    """The outcomes of some moments under a strategy in a child process; with `ended` also those of
    the recording's end."""
    checked, sandbox = CheckedOutcomes(), strategy.sandbox
    given = sandbox.number, frame, counter.encoding, counter.counting
    with sandbox.child.session(open_replay, *given, count=counter.encoded) as session:
        for portion, is_last in _portions(strategy, moments):
            request = pickle.dumps((portion, is_last and ended), pickle.HIGHEST_PROTOCOL)
            try:
                checked.take(portion, session.ask(request))
            except (NoAnswer, StrategyError) as error:
                at = portion[-1].step.index if portion else -1
                slot = "strategy" if len(strategy.user_slots) > 1 else min(strategy.user_slots)
                checked.out.failure = Failure(step=at, slot=slot, error=_reason(error))
            if checked.out.failure is not None:
                break
    return checked.out


def _portions(strategy: Strategy, moments: Iterable[Moment]) -> Iterator[tuple[list[Moment], bool]]:
    """Yield moments in portions, and True with the last one.

    Only the last moment of a portion may call user code, so no later one is in its process.
    """
    own = strategy.user_slots
    portion: list[Moment] = []
    for moment in moments:
        portion.append(moment)
        if _may_call(own, moment):
            yield portion, False
            portion = []
    yield portion, True


def _may_call(own: Set[str], moment: Moment) -> bool:
    """True if a moment may call the plug-ins of some slots."""
    if "routers" in own:
        return True
    if isinstance(moment.step, ToolResult):
        return own != {"compactor"}
    return moment.asks and "compactor" in own


class CheckedOutcomes:
    """The outcomes in the child's answers so far, checked to refer only to steps and messages that
    exist."""

    def __init__(self) -> None:
        self.out = Outcomes()
        self._recorded = 0  # the messages of the recording so far
        self._lengths: dict[str, int] = {}  # of the last prompt of each thread

    def take(self, moments: Sequence[Moment], body: bytes) -> None:
        """Add the answer about some moments.

        Raises StrategyError if it cannot be true. From an answer with a failure only that is taken.
        """
        try:
            out = msgspec.convert(json.loads(body), Outcomes)
        except (ValueError, RecursionError) as error:
            raise StrategyError(f"its answer cannot be read: {one_line(error)}") from None
        if out.failure is not None:
            slot, reason = one_line(out.failure.slot), one_line(out.failure.error)
            out = Outcomes(failure=Failure(step=out.failure.step, slot=slot, error=reason))
        else:
            self._require_possible(moments, out)
        self.out.join(out)

    def _require_possible(self, moments: Sequence[Moment], out: Outcomes) -> None:
        """Raise StrategyError for outcomes of other steps, and for messages that do not exist."""
        self._recorded += sum(len({id(m.message), id(m.seen)}) for m in moments if m.message)
        turns = [m.step for m in moments if m.asks and isinstance(m.step, ModelTurn)]
        results = [m.step.index for m in moments if isinstance(m.step, ToolResult)]
        if [(turn.index, turn.thread) for turn in turns] != [
            (call.step, call.thread) for call in out.calls
        ] or results != [one.step for one in out.results]:
            raise StrategyError("its answer is about other steps than it was given")
        least = -len(self.out.written) - len(out.written)
        numbers = {one.message for one in out.results}.union(*(call.tail for call in out.calls))
        exist = all(least <= number < self._recorded for number in numbers)
        for call in out.calls:
            exist = exist and 0 <= call.keep <= self._lengths.get(call.thread, 0)
            self._lengths[call.thread] = call.keep + len(call.tail)
        if not exist:
            raise StrategyError("its answer holds messages that do not exist")


def _reason(error: BaseException) -> str:
    """The reason why there is no answer, or only a wrong one."""
    if isinstance(error, NoAnswer):
        return f"{error} — a strategy returns or raises" if error.ended else str(error)
    return own_error(error)
