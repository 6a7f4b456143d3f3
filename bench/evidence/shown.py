"""The part of one run that is kept for reports: how its window moved, where it was routed, what it said of itself. Bounded, whatever the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from ..model import (
    CallShown,
    Decision,
    Judgement,
    Note,
    Prompt,
    ResultOutcome,
    RouteCount,
    RoutesShown,
    RouteTurn,
    Run,
    RunShown,
    WindowShown,
    as_text,
)
from .losses import Scored, agree, finding_changes, judged, turned
from .of_run import RunEvidence
from .own_words import ALTERED, SENTENCES
from .validity import Checked

CURVE_CALLS = 240  # the calls of one run that are kept to draw its window, apart from the two at its ends
COMPACTIONS = 20
NOTES = 12
JUDGEMENTS = 12
TURNS = 48
ROUTE_COUNTS = 200
WHOLE_PATH = 12
"""Paths up to this long are shown decision by decision; in longer ones, right decisions in a row become one."""

_MISSED = 6
_EVICTED = 8
_TEXT_CHARS = 400
_RULES, _RULE_CHARS = 3, 160
_JUDGED_APART = frozenset(
    ["step_index", "function_name", "success", "result_type", "timestamp", "evaluation_version", "critical_failure"]
)


def run_shown(
    evidence: RunEvidence, calls: Sequence[CallShown], scored: Scored
) -> RunShown:
    """The kept part of a run; `calls` are its model calls, `scored` its samples."""
    run = evidence.run
    evaluated = [outcome for outcome in run.results if outcome.evaluation is not None]
    differing = [outcome for outcome in run.results if judged(outcome) and not agree(outcome)]
    handles = [outcome for outcome in run.results if outcome.record.handle]
    compactions = () if run.failure is not None else evidence.prompts.scan.compactions.values()
    return RunShown(
        failure=run.failure,
        spent=evidence.spent,
        encoding=run.encoding,
        encoding_assumed=run.encoding_assumed,
        window=window_shown(run, calls),
        routes=routes_shown(run.decisions),
        notes=notes_shown(run),
        judgements=tuple(map(_judgement, evaluated[:JUDGEMENTS])),
        judged=len(evaluated),
        finding_changes=finding_changes(differing),
        findings_differing=len(differing),
        findings_judged=sum(map(judged, run.results)),
        probes=(*scored.get("probes.recall", ()), *scored.get("probes.unwanted", ())),
        compactions=tuple(tuple(found[:COMPACTIONS]) for found in compactions),
        own_words=() if run.failure is not None else evidence.own.sentences[:SENTENCES],
        altered_words=() if run.failure is not None else evidence.own.altered[:ALTERED],
        handles=len(handles) + len({item.handle for item in run.handles}),
        handles_empty=sum(outcome.stored is None for outcome in handles),
    )


def calls_of_run(evidence: RunEvidence) -> list[CallShown]:
    """Every model call of a run, in order; of a run that failed only what its prompts say by themselves."""
    if evidence.run.failure is not None:
        return calls_shown(evidence.run)
    missed: dict[int, dict[str, None]] = {}
    for item in evidence.prompts.scan.judged:
        if not item.present:
            missed.setdefault(item.dependency.turn, {})[item.dependency.fact] = None
    return calls_shown(evidence.run, {step: tuple(facts) for step, facts in missed.items()}, evidence.prompts.checked)


def calls_shown(
    run: Run, missed: Mapping[int, tuple[str, ...]] | None = None, checked: Iterable[Checked] = ()
) -> list[CallShown]:
    """Every model call of a run, in order; `missed` are the facts that a turn needed and did not find, by its step, `checked` its prompts.

    A result that left a prompt and came back leaves once only.
    """
    live: dict[str, list[str]] = {}
    gone: set[int] = set()
    of_step = {item.step: item for item in checked}
    found = []
    for number, prompt in enumerate(run.prompts, 1):
        evicted = _evicted(run, prompt, live.setdefault(prompt.thread, []))
        item = of_step.get(prompt.step, Checked(prompt.step))
        found.append(
            CallShown(number=number, step=prompt.step, tokens=prompt.tokens, compacted=prompt.compacted,
                      evicted=tuple(sorted(evicted - gone)), missed=(missed or {}).get(prompt.step, ()), invalid=item.invalid,
                      invalid_at=item.places, task_missing=item.task_missing, system_missing=item.system_missing,
                      rules_missing=tuple(rule[:_RULE_CHARS] for rule in item.rules_missing[:_RULES]))
        )  # fmt: skip
        gone |= evicted
    return found


def _evicted(run: Run, prompt: Prompt, keys: list[str]) -> set[int]:
    """The steps of the results that a prompt no longer shows as the one before did."""
    removed = prompt.edit(keys)
    added = {key for splice in prompt.splices for key in splice.added}
    messages = (run.messages[key] for key in removed if key not in added)
    return {message.step for message in messages if message.kind == "result" and message.step is not None}


def window_shown(run: Run, calls: Sequence[CallShown]) -> WindowShown:
    """The window of a run in figures, and the curve of its calls."""
    over = [prompt.tokens > prompt.window_tokens for prompt in run.prompts if prompt.window_tokens is not None]
    return WindowShown(
        calls=len(calls),
        largest_tokens=max((item.tokens for item in calls), default=0),
        total_tokens=sum(item.tokens for item in calls),
        compacted=sum(item.compacted for item in calls),
        evicted=sum(len(item.evicted) for item in calls),
        over=sum(over) if over else None,
        invalid=sum(bool(item.invalid) for item in calls),
        task_missing=sum(item.task_missing for item in calls),
        system_missing=sum(item.system_missing for item in calls),
        rules_missing=sum(bool(item.rules_missing) for item in calls),
        curve=tuple(_thinned(calls)),
    )


def most_happened(runs: Sequence[Sequence[CallShown]], length: int, most: int) -> set[int]:
    """The places of calls, of `most` stretches the one where most kinds of things happened in all runs, else its first; the first and the last."""
    counts = [0] * length
    for run in runs:
        for at, call in enumerate(run):
            counts[at] += bool(call.missed) + call.compacted + bool(call.evicted)
    every = -(-length // most) or 1
    stretches = (range(start, min(start + every, length)) for start in range(0, length, every))
    chosen = {max(stretch, key=lambda at: (counts[at], -at)) for stretch in stretches}
    return chosen | {0, length - 1} if length else chosen


def _thinned(calls: Sequence[CallShown]) -> Iterator[CallShown]:
    """Calls enough to draw the window."""
    for at in sorted(most_happened([calls], len(calls), CURVE_CALLS)):
        item = calls[at]
        yield msgspec.structs.replace(
            item,
            evicted=item.evicted[:_EVICTED],
            missed=tuple(fact[:60] for fact in item.missed[:_MISSED]),
            invalid=item.invalid[:_TEXT_CHARS],
        )


def routes_shown(decisions: Sequence[Decision]) -> RoutesShown:
    """The routing of a run. No decisions: nothing in it."""
    counts = Counter((item.router, item.expected, item.route, item.expected_from) for item in decisions)
    turns = list(path(decisions))
    wrong = next((item for item in decisions if item.route != item.expected), None)
    return RoutesShown(
        counts=tuple(
            RouteCount(router=router, expected=expected, taken=taken, expected_from=origin, count=count)
            for (router, expected, taken, origin), count in sorted(counts.items())[:ROUTE_COUNTS]
        ),
        path=tuple(turns[:TURNS]),
        left_out=max(0, len(turns) - TURNS),
        first_wrong=None if wrong is None else turned(wrong),
        first_wrong_step=None if wrong is None else wrong.step,
        labelled=tuple(sorted({item.step for item in decisions if item.labelled is not None})),
    )


def path(decisions: Sequence[Decision]) -> Iterator[RouteTurn]:
    """The decisions of a run in order: every wrong turn, and the right ones around it; of a long path, right ones in a row become one."""
    wrong = [decision.route != decision.expected for decision in decisions]
    near = [any(wrong[max(0, at - 1) : at + 2]) or len(wrong) <= WHOLE_PATH for at in range(len(wrong))]
    for alone, group in groupby(zip(decisions, wrong, near, strict=True), key=lambda item: item[2]):
        several = [(item, item.expected if differs else None) for item, differs, _ in group]
        if alone:
            yield from (RouteTurn(item.step, item.router, item.route, expected) for item, expected in several)
        else:
            yield RouteTurn(several[0][0].step, "", "as expected", None, len(several))


def notes_shown(run: Run) -> tuple[Note, ...]:
    """The notes of a strategy, counted, most often first."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for note in run.notes:
        counts[note.slot, note.text] += 1
        first.setdefault((note.slot, note.text), note.step)
    some = sorted(counts, key=lambda key: (-counts[key], key))[:NOTES]
    return tuple(Note(slot=key[0], text=key[1][:_TEXT_CHARS], count=counts[key], step=first[key]) for key in some)


def _judgement(outcome: ResultOutcome) -> Judgement:
    found = outcome.evaluation or {}
    state = "succeeded" if found.get("success", True) else "failed"
    concluded = "; ".join(f"{key}: {as_text(value)}" for key, value in found.items() if key not in _JUDGED_APART)
    return Judgement(
        step=outcome.step,
        function=outcome.record.function,
        outcome="critical failure" if found.get("critical_failure") else state,
        result_type=str(found.get("result_type", outcome.record.result_type)),
        conclusions=concluded if len(concluded) <= _TEXT_CHARS else concluded[: _TEXT_CHARS - 3] + "...",
    )
