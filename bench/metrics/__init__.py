"""What a metric is: declared data plus a pure function `(trace, run) → samples`. One function, one metric, one row a case.

`better` is lower or higher. `aggregate` says how samples add up, within a case and over all cases: `sum`, `max`, or `pooled` (Σ numerator / Σ
denominator). No samples means there was nothing to measure; a Sample with `numerator=None` and a reason means it could not be measured.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from ..evidence.alike import alike
from ..evidence.regret import PAIRED
from ..model import (
    Message,
    MetricInfo,
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
from ..plugins.registry import Entry, entries, register

MetricFunction = Callable[[Trace, Run], Sequence[Sample]]
_Computed = TypeVar("_Computed")


def metric(
    name: str,
    *,
    unit: str,
    better: Literal["lower", "higher"],
    aggregate: Literal["sum", "max", "pooled"],
    of_prompts: bool = False,
) -> Callable[[MetricFunction], MetricFunction]:
    """Decorator that registers a metric. `unit` is what one value is counted in: tokens, usd, fraction, turns, results, …

    `of_prompts` says that the samples depend on nothing of a run but what `alike` compares: they are then made once for all runs alike.
    """

    def add(measure: MetricFunction) -> MetricFunction:
        @functools.wraps(measure)
        def shared(trace: Trace, run: Run) -> Sequence[Sample]:
            return once(alike(trace, run), name, lambda: measure(trace, run))

        target = shared if of_prompts else measure
        return register("metric", name, unit=unit, better=better, aggregate=aggregate)(target)

    return add


def measured() -> dict[str, Entry]:
    """Every metric that a comparison has rows of, by name, sorted: the registered ones and those that pair two runs.

    >>> {"needed.recall", "needed.tokens_over_oracle"} <= measured().keys()
    True
    """
    return dict(sorted((entries("metric") | PAIRED).items()))


def info(entry: Entry) -> MetricInfo:
    """What a registered metric declares; its title is the first line of its docstring."""
    return MetricInfo(name=entry.name, title=entry.doc.splitlines()[0] if entry.doc else "", **entry.meta)


def once(owner: Trace | Run | dict[str, Any], key: str, compute: Callable[[], _Computed]) -> _Computed:
    """What several metrics of one family need from one trace or run (or all runs `alike`), computed on first use and kept with it.

    `key` names it among everything that is kept with its owner. A trace or run that is copied or written down loses it and computes it again.

    >>> trace, _ = example()
    >>> once(trace, "turns", lambda: len(trace.model_turns)), once(trace, "turns", lambda: 0)
    (2, 2)
    """
    kept = owner if isinstance(owner, dict) else owner.__dict__
    if key not in kept:
        kept[key] = compute()
    found: _Computed = kept[key]
    return found


def with_rest(samples: list[Sample], numerator: float, denominator: float) -> list[Sample]:
    """Samples of a pooled metric that deserve a line of their own, and one more, without a step, for all the rest together.

    `numerator` and `denominator` are those of everything. `[]` where there is nothing at all.

    >>> [(sample.step, sample.numerator) for sample in with_rest([Sample(numerator=0.0, denominator=2.0, step=4)], 5, 7)]
    [(4, 0.0), (None, 5.0)]
    """
    kept = numerator - sum(sample.numerator or 0.0 for sample in samples)
    total = denominator - sum(sample.denominator or 0.0 for sample in samples)
    return [*samples, Sample(numerator=kept, denominator=total)] if total else samples


def example() -> tuple[Trace, Run]:
    """One small trace and a run of it in which a result was shown and stored cut: what the examples of the metrics measure.

    >>> trace, run = example()
    >>> trace.results[0].text, run.messages["result"].text
    ('{"rows": 471, "file": "a/b.csv"}', '{"rows": 471')
    """
    call = ToolCall(id="c1", name="count", arguments={})
    result = ToolResult(
        index=2,
        call_id="c1",
        function="count",
        seen='{"rows": 471, "file": "a/b.csv"}',
        data={"rows": 471, "file": "a/b.csv"},
    )
    trace = Trace(
        id="example",
        source=Source(format="native"),
        steps=(
            UserTurn(index=0, content="How many?"),
            ModelTurn(index=1, tool_calls=(call,), model="gpt-4o"),
            result,
            ModelTurn(index=3, content="There are 471 in a/b.csv."),
        ),
    )
    cut = result.text[:12]
    messages = {
        "user": Message(role="user", text="How many?", kind="user", step=0),
        "call": Message(role="assistant", text="", kind="model", step=1, tool_calls=(call,)),
        "result": Message(role="tool", text=cut, kind="result", step=2, call_id="c1"),
    }
    record = Record(step=2, call_id="c1", function="count", success=True, value=cut)
    run = Run(
        trace_id="example",
        trace_sha256="",
        strategy="cut",
        spec="",
        encoding="o200k_base",
        model="gpt-4o",
        messages=messages,
        message_tokens={"user": 6, "call": 5, "result": 8},
        prompts=(
            Prompt(step=1, thread="main", splices=(Splice(at=0, removed=0, added=("user",)),), tokens=9),
            Prompt(step=3, thread="main", splices=(Splice(at=1, removed=0, added=("call", "result")),), tokens=22),
        ),
        results=(ResultOutcome(step=2, call_id="c1", shown="result", record=record, stored=cut),),
    )
    return trace, run
