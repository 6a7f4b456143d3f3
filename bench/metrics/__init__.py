"""Metrics: plain functions from the evidence of one replay to a number, registered under their
names.

A family registers a name for each of its places: `loss.fact_recall.{}` with the places `shown` and
`end` is `loss.fact_recall.shown` and `loss.fact_recall.end`. Nothing here knows a strategy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..model import Message, ModelTurn, Record, Source, ToolCall, ToolResult, Trace, UserTurn
from ..model.metric import Aggregate, MetricInfo
from ..model.replay import Call, Replay, StepOutcome
from ..model.scores import Number
from ..plugins.registry import Plugin, entries, register

if TYPE_CHECKING:
    from ..evidence.of_replay import ReplayEvidence

NOTHING = Number(None, 0.0)
"""The number if there was nothing to measure."""

_OF_BOUNDS = {"cost", "needed"}
"""The families that are measured also for a replay that reads the future."""

LABELS = {
    "cost.usd": "price with cache",
    "cost.usd_uncached": "price without cache",
    "cost.prompt_tokens": "prompt tokens",
    "cost.cached_prompt_tokens": "prompt tokens from the cache",
    "cost.peak_prompt_tokens": "largest prompt of a run",
    "cost.strategy_call_tokens": "tokens of the strategy's own calls",
    "cost.conversation_tokens": "tokens of the conversation",
    "cost.command_history_tokens": "tokens of the command history",
    "cost.window_overflows": "prompts above the window",
    "cost.refetch_usd": "price of fetching missed facts again",
    "needed.recall": "needed facts kept",
    "needed.recall.far": "old facts kept, from six or more turns back",
    "needed.missed_turns": "missed turns, in all runs",
    "needed.missed_turn_rate": "turns that would have missed something",
    "needed.handle_turns": "turns that fetch something by its handle",
    "needed.refetches": "calls repeated for a dropped answer",
    "loss.fact_recall.shown": "facts kept when first shown",
    "loss.fact_recall.stored": "facts kept in the store",
    "loss.fact_recall.end": "facts kept to the end",
    "loss.leaf_recall.shown": "fields kept when first shown",
    "loss.leaf_recall.stored": "fields kept in the store",
    "loss.leaf_recall.end": "fields kept to the end",
    "loss.retrievable": "facts behind a handle",
    "loss.silent_truncation": "results cut without a notice",
    "loss.commands_lost": "commands lost",
    "faithful.changed": "values changed",
    "faithful.invented": "texts with invented facts",
    "faithful.hidden_errors": "errors hidden",
    "prompt.invalid": "prompts a provider would refuse",
    "prompt.system_missing": "prompts without the system prompt",
    "prompt.task_missing": "prompts without the task",
    "prompt.rules_missing": "prompts without a standing instruction",
    "findings.agreement": "judgements unchanged",
    "findings.evaluation_agreement": "evaluations unchanged",
    "findings.extraction_agreement": "extractions unchanged",
    "probes.recall": "questions still answered",
    "routing.accuracy": "routes as expected",
    "routing.agreement": "routes as with whole results",
    "routing.first_divergence": "routes before the first wrong one",
    "routing.false_aborts": "runs aborted wrongly",
    "routing.missed_aborts": "aborts missed",
    "routing.loops": "loops",
    "routing.missed_loops": "loops missed",
    "routing.false_loops": "loops seen wrongly",
    "routing.unreset_states": "replies that did not clear the state",
    "routing.reply_errors": "replies that failed",
    "routing.unapproved_executions": "scripts run without approval",
    "routing.selection_top1": "right script found first",
    "routing.selection_recall_at_3": "right script in the first three",
}
"""Short names of metrics for people, in the order of a report; any other is called by the first
line of its docstring."""


def metric(
    name: str,
    *,
    unit: str,
    better: Literal["lower", "higher"] = "lower",
    aggregate: Aggregate = "total",
    places: Sequence[str] = (),
) -> Callable[[Callable[..., Number]], Callable[..., Number]]:
    """Decorator that registers a metric. `unit` is the unit of its value: tokens, usd, share,
    turns, results, …

    `places` make a family: each replaces `{}` in the name, and is the function's second argument.
    """
    return register(
        "number", name, unit=unit, better=better, aggregate=aggregate, places=tuple(places)
    )


share_metric = functools.partial(metric, unit="share", better="higher", aggregate="mean over tasks")
"""Decorator that registers a share of which more is better."""


@dataclass(frozen=True)
class Metric:
    """One metric: its declaration, and the function that computes its number for a replay."""

    info: MetricInfo
    entry: Plugin
    places: tuple[str, ...] = ()

    def number(self, evidence: ReplayEvidence) -> Number:
        """The number of one replay."""
        number: Number = self.entry.target(evidence, *self.places)
        return number


@functools.cache
def metrics() -> dict[str, Metric]:
    """Every metric by name, in the order of a report: by family, then as labelled.

    >>> metrics()["cost.usd"].info.unit
    'usd'
    """
    known: dict[str, Metric] = {}
    for entry in entries("number").values():
        for place in entry.meta["places"] or (None,):
            item = _at_place(entry, place)
            known[item.info.name] = item
    in_order = [*LABELS, *(name for name in known if name not in LABELS)]
    families = [*dict.fromkeys(map(_family, in_order))]
    in_order.sort(key=lambda name: families.index(_family(name)))
    return {name: known[name] for name in in_order}


def _family(name: str) -> str:
    family, _, _ = name.partition(".")
    return family


def _at_place(entry: Plugin, place: str | None) -> Metric:
    """The metric of a family at one place; a metric without places if that is None."""
    name = entry.name if place is None else entry.name.format(place)
    label = LABELS.get(name) or entry.doc.partition("\n")[0].rstrip(".")
    declared = {key: value for key, value in entry.meta.items() if key != "places"}
    info = MetricInfo(name=name, label=label, **declared)
    return Metric(info, entry, () if place is None else (place,))


def metric_infos() -> dict[str, MetricInfo]:
    """The declaration of every metric, in the order of a report."""
    return {name: metric.info for name, metric in metrics().items()}


def numbers_of(evidence: ReplayEvidence) -> dict[str, Number]:
    """All numbers of one replay, by metric. One that reads the future, which is only a bound for
    others, has only costs and needs."""
    is_bound = evidence.replay.reads_future
    return {
        name: NOTHING if is_bound and _family(name) not in _OF_BOUNDS else item.number(evidence)
        for name, item in metrics().items()
    }


def amount(value: float, of: object) -> Number:
    """A count or size; nothing to measure if there was nothing to count: `of` is empty, 0 or False.

    >>> amount(2, of=["a", "b", "c"]).value, amount(0, of=[]) == NOTHING
    (2.0, True)
    """
    return Number(float(value)) if of else NOTHING


def share(part: float, total: float) -> Number:
    """A share whose weight is its denominator; nothing to measure if the total is 0.

    >>> share(1, 4), share(0, 0)
    (Number(value=0.25, weight=4.0, reason=''), Number(value=None, weight=0.0, reason=''))
    """
    return Number(part / total, float(total)) if total else NOTHING


def mean(shares: Sequence[float]) -> Number:
    """The mean of shares, each with the same weight; nothing to measure without shares."""
    return share(sum(shares), len(shares))


def total(values: Sequence[float | None], unknown: str) -> Number:
    """A sum; not measured if a value is None, with `unknown` as the reason. 0 without values."""
    known = [value for value in values if value is not None]
    return Number(float(sum(known))) if len(known) == len(values) else Number(None, reason=unknown)


def example() -> ReplayEvidence:
    """The evidence of a small run whose result is shown and stored truncated, for the examples of
    the metrics.

    >>> evidence = example()
    >>> evidence.trace.results[0].text, evidence.replay.written[0].text
    ('{"rows": 471, "file": "a/b.csv"}', '{"rows": 471')
    """
    from ..evidence.index import index_trace
    from ..evidence.of_replay import ReplayEvidence
    from ..evidence.session import TraceSession

    call = ToolCall(id="c1", name="count", arguments={})
    text, data = '{"rows": 471, "file": "a/b.csv"}', {"rows": 471, "file": "a/b.csv"}
    result = ToolResult(index=2, call_id="c1", function="count", seen=text, data=data)
    asked = (
        UserTurn(index=0, content="How many?"),
        ModelTurn(index=1, tool_calls=(call,), model="gpt-4o"),
    )
    answer = ModelTurn(index=3, content="There are 471 in a/b.csv.")
    trace = Trace(id="example", source=Source(format="native"), steps=(*asked, result, answer))
    cut = Message(role="tool", text=text[:12], kind="result", step=2, call_id="c1")
    record = Record(step=2, call_id="c1", function="count", success=True, value=cut.text)
    replay = Replay(
        strategy="cut",
        spec="",
        written=(cut,),
        calls=(Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 4))),
        results=(StepOutcome(step=2, message=4, record=record, stored=cut.text),),
    )
    return ReplayEvidence(TraceSession(trace, index_trace(trace)), replay)
