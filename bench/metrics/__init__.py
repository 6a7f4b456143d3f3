"""Metrics: each is a family declared once, plus one pure function `evidence → samples`. Nothing here knows a strategy.

`better` is lower or higher. `aggregate` says how samples add up, within a case and over all cases: `sum`, `max`, or `pooled` (Σ numerator / Σ
denominator). No samples means there was nothing to measure; a Sample with `numerator=None` and a reason means it could not be measured.

A family may have parameters. Their values become part of the name, in the order declared: `loss.fact_recall` with `kind="number"` and
`place="end"` is `loss.fact_recall.number.end`; an empty value leaves no trace in it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..evidence.dependencies import Dependency
from ..evidence.of_run import RunEvidence
from ..evidence.of_trace import TraceEvidence
from ..model import (
    Detail,
    Lost,
    Message,
    MetricInfo,
    Missed,
    ModelTurn,
    Prompt,
    Record,
    ResultOutcome,
    Run,
    Sample,
    Source,
    Splice,
    ToolCall,
    ToolResult,
    Trace,
    UserTurn,
)
from ..model.errors import SpecError, nearest
from ..plugins.registry import Entry, entries, register

MetricFunction = Callable[..., Sequence[Sample]]

LISTED = 20  # the most lost facts that a sample names
DOES_NOT_FIT = "does not fit the model's window"
"""The reason why a run has no price: some prompt of it could not have been sent."""


def metric(
    name: str,
    *,
    unit: str,
    better: Literal["lower", "higher"],
    aggregate: Literal["sum", "max", "pooled"],
    when: Callable[..., bool] | None = None,
    version: int = 1,
    recall: bool = False,
    **parameters: Sequence[str],
) -> Callable[[MetricFunction], MetricFunction]:
    """Decorator that registers a family of metrics. `unit` is what one value is counted in: tokens, usd, fraction, turns, results, …

    Each of the `parameters` is an argument of the function and lists its values; `when` says which combinations exist (None: all). `version` goes up
    whenever the family counts otherwise: values accepted by an earlier version are then not compared with. `recall`: it is a share of what the
    untruncated history holds, so that `keep_all` has all of it, and showing or storing less never gains.
    """
    declared = {
        "unit": unit, "better": better, "aggregate": aggregate, "when": when, "version": version, "recall": recall,
    }  # fmt: skip
    return register("metric", name, parameters={**parameters}, **declared)


@dataclass(frozen=True)
class Metric:
    """One metric: a family with its parameters set. Its name prints and parses back."""

    name: str
    entry: Entry
    arguments: tuple[tuple[str, str], ...] = ()

    @functools.cached_property
    def info(self) -> MetricInfo:
        """Its declaration; the title is the first line of the docstring, with the values of its parameters.

        >>> metric_of("loss.fact_recall.end").info.title
        "Share of a tool result's facts that are still there. (place: end)"
        """
        declared = {key: self.entry.meta[key] for key in ("unit", "better", "aggregate", "version")}
        first = self.entry.doc.splitlines()[0] if self.entry.doc else ""
        told = ", ".join(f"{name}: {value}" for name, value in self.arguments if value)
        title = f"{first} ({told})" if told else first
        return MetricInfo(name=self.name, family=self.entry.name, title=title, **declared)

    def samples(self, evidence: RunEvidence) -> tuple[Sample, ...]:
        """The measurements of one run."""
        return tuple(self.entry.target(evidence, **dict(self.arguments)))


def _variants(family: Entry) -> Iterator[Metric]:
    parameters, when = family.meta["parameters"], family.meta["when"]
    for values in itertools.product(*parameters.values()):
        arguments = dict(zip(parameters, values, strict=True))
        if when is None or when(**arguments):
            yield Metric(".".join([family.name, *filter(None, values)]), family, tuple(arguments.items()))


def metrics() -> dict[str, Metric]:
    """Every metric of every family, by name, sorted.

    >>> metrics()["loss.fact_recall.number.end"].arguments
    (('kind', 'number'), ('place', 'end'))
    """
    found = [variant for family in entries("metric").values() for variant in _variants(family)]
    return {item.name: item for item in sorted(found, key=lambda item: item.name)}


def metric_of(name: str) -> Metric:
    """The metric of a name. Raises SpecError with the nearest names where there is none."""
    known = metrics()
    if name not in known:
        raise SpecError(f"unknown metric {name!r}{nearest(name, known)}")
    return known[name]


def sample(
    value: float,
    step: int | None = None,
    call_id: str | None = None,
    *,
    of: float | None = None,
    detail: Detail | None = None,
) -> Sample:
    """One measurement: a value, or a share `of` something.

    >>> sample(True, 4, of=2).numerator, sample(3).denominator
    (1.0, None)
    """
    total = None if of is None else float(of)
    return Sample(numerator=float(value), denominator=total, step=step, call_id=call_id, detail=detail)


def with_rest(samples: list[Sample], numerator: float, denominator: float) -> list[Sample]:
    """Samples of a pooled metric that deserve a line of their own, and one more, without a step, for all the rest together.

    `numerator` and `denominator` are those of everything. `[]` where there is nothing at all.

    >>> [(sample.step, sample.numerator) for sample in with_rest([Sample(numerator=0.0, denominator=2.0, step=4)], 5, 7)]
    [(4, 0.0), (None, 5.0)]
    """
    kept = numerator - sum(item.numerator or 0.0 for item in samples)
    total = denominator - sum(item.denominator or 0.0 for item in samples)
    return [*samples, sample(kept, of=total)] if total else samples


def missed(item: Dependency) -> Missed:
    """The detail of a sample for a dependency that a prompt did not hold."""
    return Missed(fact=item.fact, kind=item.kind, source=item.origin_step, origin=item.origin, distance=item.distance)


def of_result(result: ToolResult, kept: float, total: float, lost: Sequence[str] = ()) -> Sample:
    """A share of one result as a sample, with up to 20 of the facts that were lost.

    >>> of_result(ToolResult(index=4, call_id="c", function="f"), 1, 2, ["471"]).detail
    Lost(facts=('471',), cut_at_source=False)
    """
    told = bool(lost) or result.truncated_at_source
    detail = Lost(facts=tuple(lost[:LISTED]), cut_at_source=result.truncated_at_source) if told else None
    return sample(kept, result.index, result.call_id, of=total, detail=detail)


def example() -> RunEvidence:
    """The evidence of one small run in which a result was shown and stored cut: what the examples of the metrics measure.

    >>> evidence = example()
    >>> evidence.trace.results[0].text, evidence.run.messages["result"].text
    ('{"rows": 471, "file": "a/b.csv"}', '{"rows": 471')
    """
    call = ToolCall(id="c1", name="count", arguments={})
    text, data = '{"rows": 471, "file": "a/b.csv"}', {"rows": 471, "file": "a/b.csv"}
    result = ToolResult(index=2, call_id="c1", function="count", seen=text, data=data)
    asked = UserTurn(index=0, content="How many?"), ModelTurn(index=1, tool_calls=(call,), model="gpt-4o")
    said = ModelTurn(index=3, content="There are 471 in a/b.csv.")
    trace = Trace(id="example", source=Source(format="native"), steps=(*asked, result, said))
    cut = result.text[:12]
    messages = {
        "user": Message(role="user", text="How many?", kind="user", step=0),
        "call": Message(role="assistant", text="", kind="model", step=1, tool_calls=(call,)),
        "result": Message(role="tool", text=cut, kind="result", step=2, call_id="c1"),
    }
    record = Record(step=2, call_id="c1", function="count", success=True, value=cut)
    edits = (1, 9, Splice(at=0, removed=0, added=("user",))), (3, 22, Splice(at=1, removed=0, added=("call", "result")))
    run = Run(
        trace_id="example",
        trace_sha256="",
        strategy="cut",
        spec="",
        encoding="o200k_base",
        model="gpt-4o",
        messages=messages,
        message_tokens={"user": 6, "call": 5, "result": 8},
        prompts=tuple(Prompt(step=at, thread="main", splices=(edit,), tokens=size) for at, size, edit in edits),
        results=(ResultOutcome(step=2, call_id="c1", shown="result", record=record, stored=cut),),
    )
    return RunEvidence(TraceEvidence(trace), run, oracle_tokens=lambda reference, recall: 11)
