"""Figures of the recording itself, the same for every strategy."""

from __future__ import annotations

from typing import Any

from ..model import Counting, RecordingShown, Trace, non_text_parts
from ..tokens.caching import cache_use
from ..tokens.calibration import Calibration, count_error
from ..tokens.counting import TokenCounter
from ..tokens.prices import unit_prices
from .of_trace import TraceEvidence

MOST = 20  # the most cuts and resets of one recording that are kept

_STATED = (("model_stats", "instance_cost"), ("instance_cost",), ("cost_usd",), ("cost",))
"""The places in `Trace.meta` where recorders write the cost of a run."""


def recording_shown(
    evidence: TraceEvidence,
    count: TokenCounter,
    calibration: Calibration,
) -> RecordingShown:
    """The figures of a recording, its prompts counted with `count`, as `calibration` says; without what its own strategy costs."""
    trace, sizes = evidence.trace, calibration.sizes
    counted = count_error(trace, count, sizes)
    plain = count.calibrated(Counting())
    worst = sorted(evidence.cuts, key=lambda cut: (-cut.needed, -cut.lost, cut.step))
    parts = sum(result.non_text for result in trace.results)
    parts += sum(non_text_parts(getattr(step, "content", "")) for step in trace.steps)
    return RecordingShown(
        sha256=trace.sha256,
        steps_sha256=trace.steps_sha256,
        task=trace.task,
        prompts_known=trace.labels.get("prompts") != "unknown",
        format=trace.source.format,
        calls=len(trace.model_turns),
        results=len(trace.results),
        cut_at_source=sum(result.truncated_at_source for result in trace.results),
        non_text=parts,
        threads=len({step.thread for step in trace.steps}),
        model=evidence.model,
        outcome=trace.outcome,
        left_out=trace.left_out,
        cuts=tuple(worst[:MOST]),
        cuts_total=len(worst),
        cuts_needed=sum(bool(cut.needed) for cut in worst),
        resets=tuple(sorted(evidence.resets, key=lambda item: (-item.lost, item.step))[:MOST]),
        resets_total=len(evidence.resets),
        counted_tokens=sum(ours for _, ours, _ in counted),
        reported_tokens=sum(theirs for _, _, theirs in counted),
        error_tokens=_error(counted),
        error_tokens_plain=_error(count_error(trace, plain, {})),
        counting=calibration.counting,
        reasoning=calibration.reasoning,
        not_calibrated=calibration.problem,
        stated_usd=stated_usd(trace),
        usage_usd=usage_usd(evidence),
    )


def _error(counted: list[tuple[int, int, int]]) -> int:
    """The sum of the differences, whatever their sign."""
    return sum(abs(ours - theirs) for _, ours, theirs in counted)


def stated_usd(trace: Trace) -> float | None:
    """The cost in dollars that a trace states for its model calls; None where it states none, or zero."""
    found: Any = None
    for path in _STATED:
        found = trace.meta
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, int | float) and not isinstance(found, bool) and found > 0:
            return float(found)
    return None


def usage_usd(evidence: TraceEvidence) -> float | None:
    """The cost in dollars of the recorded usage at listed prices, cache reads and writes as recorded.

    None unless every turn has usage and a price, and the usage says what the cache served.
    """
    total = 0.0
    if not cache_use(evidence.trace, evidence.model).known:
        return None
    for turn in evidence.trace.model_turns:
        prices = unit_prices(evidence.model_of(turn.index), evidence.recorded_at_s)
        if prices is None or turn.usage is None:
            return None
        read, written = turn.usage.cached_prompt_tokens or 0, turn.usage.cache_write_tokens or 0
        total += prices.cost_usd(turn.usage.prompt_tokens, read, written, turn.usage.completion_tokens)
    return total or None
