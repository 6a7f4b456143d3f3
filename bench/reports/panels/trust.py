"""The things that were compared, what a reader must know before believing the numbers, and what the recorded harness itself had cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...comparison.baselines import stale_reasons
from ...comparison.rows import place_of
from ...model import Comparison, RecordedCut, RecordingShown
from ...text.wording import counted, listed, quantity
from .. import REPLAY_LIMIT, panel
from ..answered import Answered
from ..blocks import MOST_ROWS, Block, Cell, Fold, Prose, Table, by_strategy, number, table_of

MAX_LISTED = 10
SEEN = ("cost.prompt_tokens", "loss.fact_recall.shown", "loss.fact_recall.end", "needed.recall", "needed.faults")
"""The metrics of what the recorded system showed its model."""

LIMITS = (
    "A fact counts as lost when it stood neither in what the recorded model saw of the result nor in anything said before it. That it turned up "
    "later, in another result or in a model turn, shows that it mattered, unless it is a coincidence; that it never did does not show that it did "
    "not matter."
)
MORE = f"The {MOST_ROWS} worst; {{}} more."


@panel("trust", order=10, title="What was compared, and can I trust it?")
def trust(comparison: Answered) -> list[Block]:
    """Counts of what was compared, failures, what was skipped, assumed or cut by the recorded harness, and the signature of the scores."""
    recordings = [case.recording for case in comparison.cases]
    calls, results = sum(item.calls for item in recordings), sum(item.results for item in recordings)
    count = len(comparison.references)
    beside = f" and {counted(count, 'reference strategy', 'reference strategies')}" if count else ""
    said = (
        f"{counted(len(comparison.strategies), 'strategy', 'strategies')} ({listed(comparison.strategies)}){beside} on "
        f"{counted(len(recordings), 'case')}: {counted(calls, 'model call')}, {counted(results, 'tool result')}. {REPLAY_LIMIT}"
    )
    warnings = (*_about_runs(comparison), *_about_tokens(comparison), *_about_recordings(recordings))
    return [
        Prose(said),
        *(Prose(text, "bad") for text in _failures(comparison)),
        *(Prose(text, "warn") for text in warnings),
        *_skipped(comparison),
        *([_recorded_cut(comparison)] if results else []),
        _signature(comparison),
    ]


def _failures(comparison: Comparison) -> Iterator[str]:
    failures = [(name, *found) for name in comparison.everyone for found in comparison.failures.get(name, ())]
    unmeasured = {case: failure.error for _, case, failure in failures if failure.of_process}
    failed = [item for item in failures if not item[2].of_process]
    for case, error in list(unmeasured.items())[:MAX_LISTED]:
        yield f"{case} could not be measured: {error}. No strategy has numbers over all cases."
    for name, case, failure in failed[:MAX_LISTED]:
        place = place_of(failure)
        yield f"{name} raised on {case}{',' if place else ''}{place}: {failure.error}. Its numbers over all cases are missing."
    left = max(0, len(failed) - MAX_LISTED) + max(0, len(unmeasured) - MAX_LISTED)
    if left:
        yield f"… and {left} more failures."


def _about_runs(comparison: Comparison) -> Iterator[str]:
    """Baselines that were not used, files that could not be read, cases that are the same, strategies that are unstable."""
    for reason in stale_reasons(comparison.against.stale):
        yield f"The baseline was not used for {reason}."
    if comparison.damaged:
        files, first = counted(len(comparison.damaged), "file"), listed(comparison.damaged[:MAX_LISTED])
        yield f"{files} could not be read, and what was recorded there is not among the cases: {first}."
    copies = Counter(case.recording.sha256 for case in comparison.cases)
    again = [case for case in comparison.cases if copies[case.recording.sha256] > 1]
    if again:
        several = counted(len({case.recording.sha256 for case in again}), "recording")
        yield (
            f"{counted(len(again), 'case')} are {several} under several names, first {listed([case.id for case in again[:2]])}: what they say counts "
            "more than once, and nothing is as sure as it seems."
        )
    for name in comparison.everyone:
        cases = comparison.unstable.get(name, ())
        if cases:
            yield (
                f"{name} is unstable: replayed again, it gave something else in {counted(len(cases), 'case')}, first on {cases[0]} at step "
                f"{comparison.by_case[cases[0]].runs[name].unstable_at}. Its numbers are those of one try, and no gate can judge them: fix its seed, "
                "or keep its answers."
            )


def _about_tokens(comparison: Comparison) -> Iterator[str]:
    """The agreement of our counts of tokens, and of our dollars, with those that recordings hold, and what was taken from these."""
    recordings = [case.recording for case in comparison.cases]
    told = [item for item in recordings if item.reported_tokens]
    reported = sum(item.reported_tokens for item in told)
    if reported:
        plain = sum(item.error_tokens_plain for item in told) / reported
        error = sum(item.error_tokens for item in told) / reported
        yield (
            f"Against the {quantity(reported, 'tokens')} prompt tokens that providers reported, our counts are off by "
            f"{quantity(error, 'fraction')}; before anything was fitted on them, by {quantity(plain, 'fraction')}."
        )
    for word, again, are in (("resent", "sent", "counted there"), ("not resent", "not sent", "not counted")):
        cases = sum(item.reasoning == word for item in told)
        if cases:
            yield f"The model's reasoning was {again} again in {counted(cases, 'case')}, as recorded prompt tokens show; its tokens are {are}."
    for problem, count in Counter(item.not_calibrated for item in told if item.not_calibrated).most_common(MAX_LISTED):
        yield f"Token counts of {counted(count, 'case')} are not fitted on recorded usage: {problem}."
    costs = [(item.stated_usd, item.our_usd) for item in recordings]
    both = [(stated, ours) for stated, ours in costs if stated is not None and ours is not None]
    if both:
        stated, ours = sum(stated for stated, _ in both), sum(ours for _, ours in both)
        ratios = sorted(ours / stated for stated, ours in both)
        yield (
            f"{counted(len(both), 'recording')} state what they cost: {quantity(stated, 'usd')}. The strategy `recorded` costs "
            f"{quantity(ours, 'usd')} here, {quantity(ratios[0], 'fraction')} to {quantity(ratios[-1], 'fraction')} of it by case."
        )
    plain_counts = [case for case in comparison.cases if not case.recording.counting.calibrated]
    assumed = sum(any(run.encoding_assumed for run in case.runs.values()) for case in plain_counts)
    if assumed:
        yield (
            f"The encoding is assumed ({listed(comparison.signature.encodings)}) in {counted(assumed, 'case')}, "
            "whose model names no encoding that is known here, and nothing was fitted: tokens compare well, their totals may be off."
        )


def _about_recordings(recordings: Sequence[RecordingShown]) -> Iterator[str]:
    """Content of the recordings that was cut, is no text, or was left out."""
    cut = sum(item.cut_at_source for item in recordings)
    if cut:
        results = sum(item.results for item in recordings)
        yield f"{counted(cut, 'tool result')} of {results} had been cut before the recording: what is missing is not known."
    parts = sum(item.non_text for item in recordings)
    if parts:
        yield f"{counted(parts, 'part')} of messages are not text (images, files): counted here, never priced."
    left_out: Counter[str] = Counter()
    for item in recordings:
        left_out.update(item.left_out)
    for what, count in left_out.most_common(MAX_LISTED):
        yield f"Left out of the files, because the reader does not know what it means: {what} ({counted(count, 'time')})."


def _skipped(comparison: Comparison) -> Iterator[Block]:
    if comparison.skipped:
        table = table_of(
            comparison.skipped,
            {"file": lambda item: item[0], "why": lambda item: item[1]},
            most=MAX_LISTED,
            more="{} more are left out here.",
        )
        yield Fold(f"{counted(len(comparison.skipped), 'file')} left out", (table,))


def _signature(comparison: Comparison) -> Block:
    signed = comparison.signature
    traces = sorted(signed.traces.items())
    left = max(0, len(traces) - MAX_LISTED)
    settings = [
        ("bench version", signed.bench_version),
        ("token encodings", ", ".join(signed.encodings)),
        ("fact pattern", signed.facts_version),
        ("price tables", signed.prices_date),
        ("calibration of token counts", signed.calibration),
        *((("model of traces that name none", signed.model),) if signed.model else ()),
        ("seed of intervals", str(signed.seed)),
        *((f"strategy {name}", spec) for name, spec in signed.strategies.items()),
        *((f"code of {spec}", f"sha256 {sha}") for spec, sha in sorted(signed.code.items())),
        *((f"trace {case}", f"sha256 {sha}") for case, sha in traces[:MAX_LISTED]),
    ]
    table = table_of(
        settings,
        {"setting": lambda item: item[0], "value": lambda item: item[1]},
        f"{left} more traces are in the JSON report." if left else "",
    )
    return Fold("Signature: the settings behind every number", (table,))


def _recorded_cut(comparison: Comparison) -> Fold:
    """The results that the recorded model saw in part and the resets of its history, worst first, with what of the rest turned up later."""
    recordings = [case.recording for case in comparison.cases]
    cuts = [(case.id, cut) for case in comparison.cases for cut in case.recording.cuts]
    resets = [(case.id, reset) for case in comparison.cases for reset in case.recording.resets]
    fields = ("results", "cuts_total", "cuts_needed", "resets_total")
    results, cut, needed, times = (sum(getattr(item, field) for item in recordings) for field in fields)
    caption = "What the recorded system showed its model, beside everything its tools had said."
    shown = by_strategy(comparison, ("recorded", "keep_all"), [(metric, metric) for metric in SEEN], caption)
    if not cuts and not resets:
        said = "Nothing: its model saw every recorded result whole, and its history was never cleared."
        return Fold("What the recorded harness cut", (shown, Prose(said, "good")))
    said = (
        f"{quantity(cut, 'count')} of {counted(results, 'result')} were cut; of {quantity(needed, 'count')} of them something "
        f"turned up later. {counted(times, 'time')} the history was cleared."
    )
    tables = [_cuts(cuts)] if cuts else []
    if resets:
        table = table_of(
            sorted(resets, key=lambda item: (-item[1].lost, item[0], item[1].step)),
            {
                "case": lambda item: item[0],
                "at step": lambda item: str(item[1].step),
                number("results gone"): lambda item: quantity(item[1].results, "results"),
                number("steps kept"): lambda item: quantity(item[1].kept, "steps"),
                number("characters of summary"): lambda item: quantity(item[1].summary_chars, "characters"),
                number("facts lost"): lambda item: _lost(item[1].lost),
            },
            "Times the history was cleared.",
            most=MOST_ROWS,
            more=MORE,
        )
        tables.append(table)
    return Fold("What the recorded harness cut", (shown, Prose(said), Prose(LIMITS, "muted"), *tables))


def _lost(facts: float) -> Cell:
    return Cell(quantity(facts, "facts"), "bad" if facts else "plain")


def _cuts(found: list[tuple[str, RecordedCut]]) -> Table:
    return table_of(
        sorted(found, key=lambda item: (-item[1].needed, -item[1].lost, item[0], item[1].step)),
        {
            "case": lambda item: Cell(item[0], case=item[0], step=item[1].step),
            "result": lambda item: f"step {item[1].step}, {item[1].function}",
            number("characters of output"): lambda item: quantity(item[1].untruncated_chars, "characters"),
            number("characters seen"): lambda item: quantity(item[1].seen_chars, "characters"),
            number("facts lost"): lambda item: _lost(item[1].lost),
            "said later": lambda item: "; ".join(f"step {step}: {', '.join(facts)}" for step, facts in item[1].said),
        },
        "Results that the recorded model saw in part.",
        most=MOST_ROWS,
        more=MORE,
    )
