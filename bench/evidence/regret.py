"""Metrics that need a second run: what a strategy spends beyond a reference that was told to serve no more than the strategy did.

Each is computed by `compare` once the runs of a case are there, gives ordinary rows, and is listed, gated and written like any other metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..model import Run, Sample, Trace
from ..plugins.registry import Entry
from .oracle import CURVE

RECALL = "needed.recall"

PAIRED: dict[str, Entry] = {}
"""Every metric of this kind, by name: entries like those of the registry, called with a Pair."""


@dataclass(frozen=True)
class Pair:
    """A run to measure, with how many first uses it served (`kept` of `total`), and what a reference costs at any recall on the same trace.

    `reference_tokens` is called with `floor` or `clairvoyant` and a share of first uses to reach; it gives prompt tokens over the whole run.
    """

    run: Run
    kept: int
    total: int
    reference_tokens: Callable[[str, float], int]

    @property
    def recall(self) -> float:
        """The run's own recall of first uses."""
        return self.kept / self.total


PairedFunction = Callable[[Pair], list[Sample]]


def paired(
    name: str, *, unit: str, better: Literal["lower", "higher"], aggregate: Literal["sum", "max", "pooled"]
) -> Callable[[PairedFunction], PairedFunction]:
    """Decorator that adds a paired metric, declared as any other."""

    def add(function: PairedFunction) -> PairedFunction:
        PAIRED[name] = Entry("metric", name, function, {"unit": unit, "better": better, "aggregate": aggregate})
        return function

    return add


@paired("needed.tokens_over_oracle", unit="tokens", better="lower", aggregate="sum")
def regret(pair: Pair) -> list[Sample]:
    """Prompt tokens beyond the fewest with which a verbatim selection reaches the same `needed.recall` on the same case.

    The selection is `floor:recall=…`: system turns and needed facts until their last use, the facts given up that cost most. It is a good
    selection, not a proven optimum, and it does not rewrite: below 0 a strategy beat it. No uses: no sample.

    Source: design §4 "needed"

    >>> from bench.metrics import example
    >>> regret(Pair(example()[1], 1, 2, lambda reference, recall: 11))[0].numerator
    20.0
    """
    return [_beyond(pair, "floor")]


@paired("needed.tokens_over_clairvoyant", unit="tokens", better="lower", aggregate="sum")
def distance_to_clairvoyant(pair: Pair) -> list[Sample]:
    """Prompt tokens beyond those of `clairvoyant` told to reach the same `needed.recall` on the same case.

    `clairvoyant:recall=…` keeps the whole conversation and of each result the lines still needed, so a strategy that drops conversation can
    be below 0. No uses: no sample.

    Source: issue 3; design §4 "needed"

    >>> from bench.metrics import example
    >>> distance_to_clairvoyant(Pair(example()[1], 1, 2, lambda reference, recall: 40))[0].numerator
    -9.0
    """
    return [_beyond(pair, "clairvoyant")]


def _beyond(pair: Pair, reference: str) -> Sample:
    theirs = pair.reference_tokens(reference, pair.recall)
    return Sample(
        numerator=float(_tokens(pair.run) - theirs),
        detail={"kept": pair.kept, "total": pair.total, f"{reference}_tokens": theirs},
    )


def _tokens(run: Run) -> int:
    return sum(prompt.tokens for prompt in run.prompts)


def _curve_point(share: float) -> None:
    percent = round(share * 100)

    def fewest_tokens(pair: Pair) -> list[Sample]:
        return [Sample(numerator=float(pair.reference_tokens("floor", share)))]

    fewest_tokens.__doc__ = f"""Fewest prompt tokens at which a verbatim selection reaches {percent} % of first uses in every case.

    A figure of the trace, the same for every strategy: what `floor:recall={share:g}` costs, an upper bound of the least possible. No uses: no
    sample.

    Source: issue 3
    """
    paired(f"needed.fewest_tokens.{percent}", unit="tokens", better="lower", aggregate="sum")(fewest_tokens)


for _share in CURVE:
    _curve_point(_share)


def paired_samples(
    trace: Trace,
    runs: Mapping[str, Run],
    recalls: Mapping[str, Sequence[Sample]],
    replayed: Callable[[str], Run],
) -> dict[tuple[str, str], tuple[Sample, ...]]:
    """The samples of every paired metric on one case, by (strategy, metric). `recalls` are the samples of `needed.recall` by strategy.

    `replayed` replays this trace under a strategy given as a spec string; each share of a reference is replayed once. A run that failed, and a
    case in which nothing was used, have none.
    """
    known: dict[tuple[str, float], int] = {}

    def reference_tokens(reference: str, recall: float) -> int:
        key = reference, recall
        if key not in known:
            known[key] = _tokens(replayed(f"{reference}_at=compactor={reference}:recall={recall!r}"))
        return known[key]

    found: dict[tuple[str, str], tuple[Sample, ...]] = {}
    for strategy, run in runs.items():
        samples = recalls.get(strategy, ())
        kept, total = (sum(int(getattr(item, side) or 0) for item in samples) for side in ("numerator", "denominator"))
        pair = Pair(run, kept, total, reference_tokens)
        for name, entry in PAIRED.items():
            measured = run.failure is None and total > 0
            found[strategy, name] = tuple(entry.target(pair)) if measured else ()
    return found
