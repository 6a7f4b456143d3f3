"""The choice of a selector that reads the future: it gives up the facts that cost most to keep.

The curve of a trace, the fewest tokens at which a verbatim selection reaches a share of what was needed, is what `floor:recall=…` costs when it is
replayed. Here is the choice behind it, which `clairvoyant:recall=…` makes too.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, NamedTuple

import msgspec

from ..model import Trace, grouped
from ..text.search import first_places
from ..text.texts import FactsHeld, Texts, longer_holding
from .dependencies import Dependency, Origin

Recall = Annotated[float, msgspec.Meta(ge=0, le=1)]  # a share of dependencies to reach, from 0 to 1
SLACK = 1e-9  # the rounding error allowed when a share is turned into a whole number of dependencies
Fact = tuple[str, str]  # a thread and a fact that it depends on


class Need(NamedTuple):
    """A fact that a thread depends on: who said it first at which step, up to which turn it is needed, in how many prompts that is, how many
    dependencies it serves, and the key under which a structured result says it (`""`: it is prose).
    """

    thread: str
    fact: str
    origin: Origin
    source: int
    last: int
    prompts: int
    dependencies: int
    label: str = ""

    @property
    def key(self) -> Fact:
        """Its name in a trace."""
        return self.thread, self.fact


@dataclass(frozen=True)
class Future:
    """The input of a strategy that reads the future: every need of a trace, and each tool result untruncated, by its step.

    `held` finds needed facts in texts. What follows from all this is found once, for all strategies that read the same future.
    """

    needs: tuple[Need, ...]
    results: Mapping[int, str]
    held: FactsHeld

    @classmethod
    def of(cls, needs: Iterable[Need], results: Mapping[int, str]) -> Future:
        """A future that shares nothing with any other."""
        needs = tuple(needs)
        return cls(needs, results, FactsHeld((need.fact for need in needs), Texts()))

    @cached_property
    def places(self) -> dict[int, dict[str, tuple[int, int]]]:
        """By result the first place in its decoded text of each needed fact that it told first, as (start, end)."""
        told: dict[int, dict[str, None]] = {}
        for need in self.needs:
            if need.origin == "result":
                told.setdefault(need.source, {})[need.fact] = None
        return {step: first_places(self.plain(self.results[step]), facts) for step, facts in told.items()}

    @cached_property
    def longer(self) -> dict[str, frozenset[str]]:
        """For each needed fact the longer needed facts that hold it."""
        return longer_holding((need.fact for need in self.needs), self.held)

    def plain(self, text: str) -> str:
        """A text as facts are looked for in it."""
        return self.held.texts.plain(text)


class Bundle(NamedTuple):
    """Needs that are kept or given up together, and the tokens that giving them up saves over all prompts."""

    needs: tuple[Need, ...]
    saved_tokens: float

    @property
    def dependencies(self) -> int:
        """The number of dependencies that go with it."""
        return sum(need.dependencies for need in self.needs)


def find_needs(trace: Trace, dependencies: Iterable[Dependency], label: Callable[[int, str], str]) -> tuple[Need, ...]:
    """Every need of a trace, in the order in which it first arose; `label` gives the key of a fact of a result. `()` where nothing was needed."""
    turns = grouped((turn.thread, turn.index) for turn in trace.model_turns)
    first: dict[Fact, Dependency] = {}
    last: dict[Fact, int] = {}
    count: dict[Fact, int] = {}
    for item in dependencies:
        key = item.thread, item.fact
        first.setdefault(key, item)
        last[key] = item.turn
        count[key] = count.get(key, 0) + 1
    return tuple(
        Need(
            key[0],
            key[1],
            item.origin,
            item.origin_step,
            last[key],
            bisect_right(turns[key[0]], last[key]) - bisect_right(turns[key[0]], item.origin_step),
            count[key],
            label(item.origin_step, key[1]) if item.origin == "result" else "",
        )
        for key, item in first.items()
    )


def may_miss(needs: Sequence[Need], recall: float) -> int:
    """The number of dependencies that a selection may miss and still reach a share of them; 0 where there are none."""
    total = sum(need.dependencies for need in needs)
    return total - math.ceil(recall * total - SLACK)


def given_up(
    needs: Sequence[Need], recall: float, bundles: Callable[[Sequence[Need]], Iterable[Bundle]]
) -> frozenset[Fact]:
    """The facts that a selection gives up to reach a share of dependencies: greedy, most tokens saved per dependency first.

    Giving up a fact gives up all of its dependencies. At a recall of 1 nothing is given up. A bundle that would give up too many, or saves
    nothing, is passed over. Where every bundle is one fact and savings add up the choice is a good one, not the best, so what it costs is an upper
    bound of the fewest tokens.

    >>> needs = [Need("main", fact, "result", source=2, last=3, prompts=1, dependencies=1) for fact in ("471", "a/b.csv")]
    >>> each = lambda needs: [Bundle((need,), len(need.fact)) for need in needs]
    >>> sorted(given_up(needs, 0.5, each)), sorted(given_up(needs, 1.0, each))
    ([('main', 'a/b.csv')], [])
    """
    left = may_miss(needs, recall)
    if not left:
        return frozenset()
    gone: set[Fact] = set()
    for bundle in sorted(bundles(needs), key=lambda item: item.saved_tokens / max(1, item.dependencies), reverse=True):
        if bundle.dependencies <= left and bundle.saved_tokens > 0:
            left -= bundle.dependencies
            gone.update(need.key for need in bundle.needs)
    return frozenset(gone)
