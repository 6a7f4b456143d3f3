"""What was compared, and what a reader must know before believing it."""

from __future__ import annotations

from collections.abc import Iterator

from ...model import Comparison, non_text_parts
from .. import REPLAY_LIMIT, panel
from ..blocks import Block, Cell, Column, Fold, Prose, Table, counted, listed, quantity

MAX_LISTED = 50


@panel("trust", order=10, title="What was compared, and can I trust it?")
def trust(comparison: Comparison) -> list[Block]:
    """What was compared: counts, what was skipped or assumed, the limits of replay, and the signature of the scores.

    Source: design §6
    """
    traces = [comparison.traces[case] for case in comparison.cases]
    calls, results = sum(len(t.model_turns) for t in traces), sum(len(t.results) for t in traces)
    blocks: list[Block] = [
        Prose(
            f"{counted(len(comparison.strategies), 'strategy', 'strategies')} ({listed(comparison.strategies)}) and "
            f"{counted(len(comparison.references), 'reference strategy', 'reference strategies')} on {counted(len(comparison.cases), 'case')}: "
            f"{counted(calls, 'model call')}, {counted(results, 'tool result')}. {REPLAY_LIMIT}"
        )
    ]
    blocks.extend(_failures(comparison))
    blocks.extend(Prose(text, "warn") for text in _warnings(comparison))
    blocks.extend(_skipped(comparison))
    blocks.append(_signature(comparison))
    return blocks


def _failures(comparison: Comparison) -> list[Block]:
    failed = [run for run in comparison.runs.values() if run.failure is not None]
    found: list[Block] = [
        Prose(f"{run.strategy} raised on {run.trace_id}, in {run.failure.slot} at step {run.failure.step}: "
              f"{run.failure.error}. Its numbers over all cases are missing.", "bad")
        for run in failed[:MAX_LISTED] if run.failure is not None
    ]  # fmt: skip
    if len(failed) > MAX_LISTED:
        found.append(Prose(f"… and {len(failed) - MAX_LISTED} more failures.", "bad"))
    return found


def _warnings(comparison: Comparison) -> Iterator[str]:
    traces = [comparison.traces[case] for case in comparison.cases]
    results = [result for trace in traces for result in trace.results]
    if comparison.baseline_problem:
        yield f"The baseline was not used: {comparison.baseline_problem}."
    assumed = {run.trace_id for run in comparison.runs.values() if run.encoding_assumed}
    if assumed:
        yield (
            f"The encoding is assumed ({listed(comparison.signature.encodings)}) in {counted(len(assumed), 'case')}, "
            "whose model names no encoding that is known here: tokens compare well, their totals may be off."
        )
    error = next(filter(None, (comparison.row(name, "cost.token_count_error") for name in comparison.strategies)), None)
    if error is not None and error.value is not None:
        yield (
            f"Against the {quantity(error.n, 'tokens')} prompt tokens that providers reported, "
            f"our counts are off by {quantity(error.value, error.unit)}."
        )
    cut = sum(result.truncated_at_source for result in results)
    if cut:
        yield f"{counted(cut, 'tool result')} of {len(results)} were recorded cut: what was missing then counts nowhere."
    parts = sum(
        result.non_text for result in results
    ) + sum(non_text_parts(getattr(step, "content", "")) for trace in traces for step in trace.steps)  # fmt: skip
    if parts:
        yield f"{counted(parts, 'part')} of messages are not text (images, files): counted here, never priced."


def _skipped(comparison: Comparison) -> list[Block]:
    if not comparison.skipped:
        return []
    shown = comparison.skipped[:MAX_LISTED]
    rows = tuple((Cell(path), Cell(reason)) for path, reason in shown)
    left = len(comparison.skipped) - len(shown)
    caption = f"{left} more are left out here." if left else ""
    title = f"{counted(len(comparison.skipped), 'file')} skipped: no chosen reader recognised them"
    return [Fold(title, (Table((Column("file"), Column("why")), rows, caption),))]


def _signature(comparison: Comparison) -> Block:
    signed = comparison.signature
    settings = [
        ("bench version", signed.bench_version),
        ("token encodings", ", ".join(signed.encodings)),
        ("fact pattern", signed.facts_version),
        ("price tables", signed.prices_date),
        ("seed of intervals", str(signed.seed)),
        *((f"strategy {name}", spec) for name, spec in signed.strategies.items()),
        *((f"code of {spec}", f"sha256 {sha}") for spec, sha in sorted(signed.code.items())),
        *((f"trace {case}", f"sha256 {sha}") for case, sha in sorted(signed.traces.items())[:MAX_LISTED]),
    ]
    rows = tuple((Cell(name), Cell(value)) for name, value in settings)
    left = max(0, len(signed.traces) - MAX_LISTED)
    caption = f"{left} more traces are in the JSON report." if left else ""
    return Fold("Signature: the settings behind every number", (Table((Column("setting"), Column("value")), rows, caption),))  # fmt: skip
