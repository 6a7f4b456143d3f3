"""What a selector that reads the future may give up: the uses that cost most to keep, so that the rest is reached with few tokens.

The curve of a trace, the fewest tokens at which a verbatim selection reaches a share of first uses, is what `floor:recall=…` costs when it is
replayed. Here is the choice behind it, which `clairvoyant:recall=…` makes too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from ..model import Trace
from .uses import Use

CURVE = (0.90, 0.95, 0.99, 1.0)
"""The shares of first uses that the curve of a trace names."""

Recall = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A share of first uses to reach, from 0 to 1."""

SLACK = 1e-9
"""What a share may miss a whole number of uses by, because it is a float."""

Fact = tuple[str, str]
"""A thread and a fact that it uses."""


@dataclass(frozen=True)
class Need:
    """A fact that a thread uses: from which result on, up to which turn, and in how many prompts that is.

    `first` says whether one of its uses is a first use (it has at most one); without, it is only reused.
    """

    thread: str
    fact: str
    source: int
    last: int
    prompts: int
    first: bool

    @property
    def key(self) -> Fact:
        """What names it in a trace."""
        return self.thread, self.fact


@dataclass(frozen=True)
class Bundle:
    """Needs that are kept or given up together, and the tokens that giving them up saves over all prompts."""

    needs: tuple[Need, ...]
    saved_tokens: float

    @property
    def first_uses(self) -> int:
        """How many first uses go with it."""
        return sum(need.first for need in self.needs)


def find_needs(trace: Trace, uses: Iterable[Use]) -> tuple[Need, ...]:
    """Every need of a trace, in order of first use; uses for which no strategy can be blamed are left out. `()` where nothing was used."""
    turns: dict[str, list[int]] = {}
    for turn in trace.model_turns:
        turns.setdefault(turn.thread, []).append(turn.index)
    born: dict[Fact, int] = {}
    last: dict[Fact, int] = {}
    first: set[Fact] = set()
    for use in uses:
        if use.recorded_only:
            continue
        key = use.thread, use.fact
        born.setdefault(key, use.source)
        last[key] = use.turn
        if use.first:
            first.add(key)
    return tuple(
        Need(key[0], key[1], source, last[key], sum(source < turn <= last[key] for turn in turns[key[0]]), key in first)
        for key, source in born.items()
    )


def may_miss(needs: Sequence[Need], recall: float) -> int:
    """How many first uses a selection may miss and still reach a share of them; 0 where nothing was used.

    >>> needs = [Need("main", fact, source=2, last=3, prompts=1, first=True) for fact in ("471", "a/b.csv")]
    >>> may_miss(needs, 1.0), may_miss(needs, 0.5), may_miss(needs, 0.51)
    (0, 1, 0)
    """
    total = sum(need.first for need in needs)
    return total - math.ceil(recall * total - SLACK)


def given_up(
    needs: Sequence[Need], recall: float, bundles: Callable[[Sequence[Need]], Iterable[Bundle]]
) -> frozenset[Fact]:
    """The facts that a selection gives up to reach a share of first uses: greedy, most tokens saved per first use first.

    Giving up a fact gives up all of its uses. At a recall of 1 nothing is given up; below, what is only reused goes first, because it costs
    no first use. A bundle that would give up too many, or saves nothing, is passed over. Where every bundle is one fact and savings add up,
    no choice saves more; in general the choice is a good one, not the best, so what it costs is an upper bound of the fewest tokens.

    >>> needs = [Need("main", fact, source=2, last=3, prompts=1, first=True) for fact in ("471", "a/b.csv")]
    >>> each = lambda needs: [Bundle((need,), len(need.fact)) for need in needs]
    >>> sorted(given_up(needs, 0.5, each)), sorted(given_up(needs, 1.0, each))
    ([('main', 'a/b.csv')], [])
    """
    left = may_miss(needs, recall)
    if not left:
        return frozenset()
    gone: set[Fact] = set()
    for bundle in sorted(bundles(needs), key=_worth, reverse=True):
        if bundle.first_uses <= left and bundle.saved_tokens > 0:
            left -= bundle.first_uses
            gone.update(need.key for need in bundle.needs)
    return frozenset(gone)


def _worth(bundle: Bundle) -> tuple[float, float]:
    """Tokens saved per first use given up; without any it is beyond price. `sorted` is stable, so equal ones keep the order of first use."""
    return bundle.saved_tokens / bundle.first_uses if bundle.first_uses else math.inf, bundle.saved_tokens
