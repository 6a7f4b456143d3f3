"""Metrics: each is a plain function from the evidence of one replay to one number, registered under its name.

A family with places registers a name for each: `loss.fact_recall` with the places `shown` and `end`
is `loss.fact_recall.shown` and `loss.fact_recall.end`. Nothing here knows a strategy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..evidence.checks import CheckedReplay
from ..evidence.index import index_trace
from ..evidence.of_replay import TraceSession
from ..model import Message, ModelTurn, Record, Source, ToolCall, ToolResult, Trace, UserTurn
from ..model.errors import SpecError, nearest
from ..model.replay import Call, Replay, StepOutcome
from ..model.scores import Number
from ..plugins.registry import Entry, entries, register

NOTHING = Number(None, 0.0)
"""There was nothing to measure."""

Aggregate = Literal["total", "mean over tasks"]


def metric(
    name: str,
    *,
    unit: str,
    better: Literal["lower", "higher"],
    aggregate: Aggregate,
    places: Sequence[str] = (),
) -> Callable[[Callable[..., Number]], Callable[..., Number]]:
    """Decorator that registers a metric. `unit` is what its value is counted in: tokens, usd, share, turns, results, …

    With `places` the function is given one of them as its second argument; an empty place leaves no
    trace in the name.
    """
    return register("number", name, unit=unit, better=better, aggregate=aggregate, places=tuple(places))


@dataclass(frozen=True)
class Metric:
    """One metric: its name, what it is counted in, which way is better, and how runs add up."""

    name: str
    entry: Entry
    place: str = ""

    @property
    def unit(self) -> str:
        """The unit of one value."""
        return str(self.entry.meta["unit"])

    @property
    def better(self) -> Literal["lower", "higher"]:
        """The better direction."""
        better: Literal["lower", "higher"] = self.entry.meta["better"]
        return better

    @property
    def aggregate(self) -> Aggregate:
        """The way in which the values of runs add up."""
        aggregate: Aggregate = self.entry.meta["aggregate"]
        return aggregate

    @property
    def title(self) -> str:
        """The first line of its docstring, with its place.

        >>> metrics()["loss.fact_recall.end"].title
        "Share of a tool result's facts that are still there (end)."
        """
        first = self.entry.doc.partition("\n")[0]
        return f"{first.removesuffix('.')} ({self.place})." if self.place else first

    def number(self, evidence: CheckedReplay) -> Number:
        """The number of one replay."""
        arguments = (self.place,) if self.entry.meta["places"] else ()
        number: Number = self.entry.target(evidence, *arguments)
        return number


@functools.cache
def metrics() -> dict[str, Metric]:
    """Every metric by name, sorted.

    >>> metrics()["cost.usd"].unit
    'usd'
    """
    all_metrics = [
        Metric(".".join(filter(None, (entry.name, place))), entry, place)
        for entry in entries("number").values()
        for place in entry.meta["places"] or ("",)
    ]
    return {item.name: item for item in sorted(all_metrics, key=lambda item: item.name)}


def metric_of(name: str) -> Metric:
    """The metric of a name. Raises SpecError with the nearest names where there is none."""
    known = metrics()
    if name not in known:
        raise SpecError(f"unknown metric {name!r}{nearest(name, known)}")
    return known[name]


def numbers_of(evidence: CheckedReplay) -> dict[str, Number]:
    """All numbers of one replay, by metric."""
    return {name: item.number(evidence) for name, item in metrics().items()}


def share(part: float, total: float) -> Number:
    """A share whose weight is its denominator; of nothing there is none.

    >>> share(1, 4), share(0, 0)
    (Number(value=0.25, weight=4.0, reason=''), Number(value=None, weight=0.0, reason=''))
    """
    return Number(part / total, float(total)) if total else NOTHING


def mean(shares: Sequence[float]) -> Number:
    """The mean of shares, each of the same weight; of none there is none."""
    return share(sum(shares), len(shares))


def total(values: Sequence[float | None], unknown: str) -> Number:
    """A sum; not measured where some value is not known, for the reason given."""
    known = [value for value in values if value is not None]
    return Number(float(sum(known))) if len(known) == len(values) else Number(None, reason=unknown)


def example() -> CheckedReplay:
    """The evidence of one small run in which a result was shown and stored cut: what the examples of the metrics measure.

    >>> evidence = example()
    >>> evidence.trace.results[0].text, evidence.replay.written[0].text
    ('{"rows": 471, "file": "a/b.csv"}', '{"rows": 471')
    """
    call = ToolCall(id="c1", name="count", arguments={})
    text, data = '{"rows": 471, "file": "a/b.csv"}', {"rows": 471, "file": "a/b.csv"}
    result = ToolResult(index=2, call_id="c1", function="count", seen=text, data=data)
    asked = UserTurn(index=0, content="How many?"), ModelTurn(index=1, tool_calls=(call,), model="gpt-4o")
    answer = ModelTurn(index=3, content="There are 471 in a/b.csv.")
    trace = Trace(id="example", source=Source(format="native"), steps=(*asked, result, answer))
    cut = Message(role="tool", text=text[:12], kind="result", step=2, call_id="c1")
    record = Record(step=2, call_id="c1", function="count", success=True, value=cut.text)
    replay = Replay(
        strategy="cut",
        spec="",
        written=(cut,),
        calls=(Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 4))),
        results=(StepOutcome(step=2, call_id="c1", message=4, record=record, stored=cut.text),),
    )
    return CheckedReplay(TraceSession(trace, index_trace(trace)), replay)
