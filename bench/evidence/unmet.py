"""The needs of the turns of a replay, and those that their prompts do not meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..model import grouped
from ..model.index import Need
from .handles import Handles
from .messages import TraceMessages
from .walk import Walked, with_one_of


class Missed(NamedTuple):
    """A need that a prompt did not meet, and a handle in that prompt that leads to the fact; `""`
    without one."""

    step: int
    need: Need
    handle: str = ""


class Needed(NamedTuple):
    """The needs of all calls, and the unmet ones among them."""

    needs: list[Need]
    missed: list[Missed]

    @property
    def lost(self) -> list[Missed]:
        """The unmet needs that no handle leads to."""
        return [item for item in self.missed if not item.handle]

    @property
    def turns_missing(self) -> int:
        """The number of turns with such a need."""
        return len({item.step for item in self.lost})


def needed_in(
    walked: Walked,
    messages: TraceMessages,
    handles: Handles,
    keeps: Callable[[int, Need], bool],
) -> Needed:
    """The needs of the walked calls. A need is met by a recorded message with its fact, or by one of
    the strategy that has it and `keeps` it, by its number.
    """
    index, during = messages.index, walked.during
    own = sorted(number for number in during if number >= messages.recorded)
    saying = grouped((fact, number) for number in own for fact in messages.needed_in(number))
    said = {fact: with_one_of(numbers, during) for fact, numbers in saying.items()}
    met: dict[int, int] = {}  # by fact the calls whose prompts have a recorded message with it
    found = Needed([], [])
    for at, call in enumerate(walked.calls):
        for need in index.needs.get(call.step, ()):
            found.needs.append(need)
            if need.fact not in met:
                met[need.fact] = with_one_of(index.holders[need.fact], during)
            if met[need.fact] >> at & 1:
                continue
            fact = index.facts[need.fact]
            if said.get(fact, 0) >> at & 1 and any(
                during[n] >> at & 1 and keeps(n, need) for n in saying[fact]
            ):
                continue
            shown = [number for number in own if during[number] >> at & 1] if handles else []
            handle = handles.giving(fact, call.step, shown)
            found.missed.append(Missed(call.step, need, handle))
    return found
