"""What is kept of one run for reports: how its window moved, where it was routed, what it said of itself. Bounded, whatever the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ..model import (
    CallShown,
    CompactionShown,
    Decision,
    Judgement,
    Message,
    Missed,
    NoteShown,
    Prompt,
    ResultOutcome,
    RouteCount,
    RoutesShown,
    Run,
    Sample,
    Told,
    Turn,
    Turned,
    WindowShown,
    as_text,
)
from .losses import NEEDS
from .of_run import RunEvidence
from .validity import Checked

CURVE_CALLS = 240
"""How many calls of one run are kept to draw its window, apart from those at the ends of it."""

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
_JUDGED_APART = (
    "step_index",
    "function_name",
    "success",
    "result_type",
    "timestamp",
    "evaluation_version",
    "critical_failure",
)


# ---------------------------------------------------------------- the window


def calls(run: Run, missed: Mapping[int, tuple[str, ...]], wrong: Sequence[Checked] = ()) -> Iterator[CallShown]:
    """Every model call of a run in order; `missed` are the facts that a turn needed and did not find, by its step, `wrong` the prompts that
    something is wrong with.

    A result that left a prompt and came back leaves once only.
    """
    live: dict[str, list[str]] = {}
    gone: set[int] = set()
    of_step = {item.step: item for item in wrong}
    for number, prompt in enumerate(run.prompts, 1):
        evicted = _evicted(run, prompt, live.setdefault(prompt.thread, []))
        left = tuple(sorted(evicted - gone))
        gone |= evicted
        item = of_step.get(prompt.step, Checked(prompt.step))
        yield CallShown(number=number, step=prompt.step, tokens=prompt.tokens, compacted=prompt.compacted, evicted=left,
                        missed=missed.get(prompt.step, ()), invalid=item.invalid, invalid_at=item.places,
                        task_missing=item.task_missing, system_missing=item.system_missing)  # fmt: skip


def _evicted(run: Run, prompt: Prompt, keys: list[str]) -> set[int]:
    """The steps of the results that a prompt no longer shows as the one before did."""
    removed = prompt.edit(keys)
    added = {key for splice in prompt.splices for key in splice.added}
    steps = {_result_step(run.messages[key]) for key in removed if key not in added}
    return {step for step in steps if step is not None}


def _result_step(message: Message) -> int | None:
    return message.step if message.kind == "result" else None


def missed_facts(samples: Mapping[str, Sequence[Sample]]) -> dict[int, tuple[str, ...]]:
    """The facts that each turn needed and did not find, by its step."""
    found: dict[int, dict[str, None]] = {}
    for name in NEEDS:
        for sample in samples.get(name, ()):
            if isinstance(sample.detail, Missed) and sample.step is not None:
                found.setdefault(sample.step, {})[sample.detail.fact] = None
    return {step: tuple(facts) for step, facts in found.items()}


def wrong_prompts(samples: Mapping[str, Sequence[Sample]]) -> list[Checked]:
    """The prompts that the metrics found invalid, or without the task or the system prompt, in order; those that nothing is wrong with are left out.

    >>> from bench.model import Told
    >>> found = Sample(numerator=1.0, step=4, detail=Told(text="no message speaks as a user"))
    >>> wrong_prompts({"prompt.invalid": [Sample(numerator=0.0, step=2), found]})
    [Checked(step=4, invalid='no message speaks as a user', task_missing=False, places=(), system_missing=False)]
    """
    invalid = {item.step: item.detail for item in samples.get("prompt.invalid", ()) if isinstance(item.detail, Told)}
    task, system = (
        {item.step for item in samples.get(name, ()) if item.numerator}
        for name in ("prompt.task_missing", "prompt.system_missing")
    )
    steps = sorted(step for step in {*invalid, *task, *system} if step is not None)
    nothing = Told(text="")
    told = ((step, invalid.get(step, nothing)) for step in steps)
    return [Checked(step, item.text, step in task, item.steps, step in system) for step, item in told]


def window_shown(
    run: Run,
    samples: Mapping[str, Sequence[Sample]],
    budgets: Sequence[int] = (),
) -> WindowShown:
    """How the window of a run moved, and which of its prompts are wrong."""
    found = list(calls(run, missed_facts(samples), wrong_prompts(samples)))
    over = [prompt.tokens > prompt.window_tokens for prompt in run.prompts if prompt.window_tokens is not None]
    return WindowShown(
        calls=len(found),
        largest_tokens=max((item.tokens for item in found), default=0),
        total_tokens=sum(item.tokens for item in found),
        compacted=sum(item.compacted for item in found),
        evicted=sum(len(item.evicted) for item in found),
        over=sum(over) if over else None,
        invalid=sum(bool(item.invalid) for item in found),
        task_missing=sum(item.task_missing for item in found),
        system_missing=sum(item.system_missing for item in found),
        curve=tuple(_thinned(found)),
        over_budget={budget: sum(item.tokens > budget for item in found) for budget in budgets},
    )


def _thinned(found: Sequence[CallShown]) -> Iterator[CallShown]:
    """Calls enough to draw the window: of each stretch the one where most happened, else its first; the first and the last of all."""
    every = -(-len(found) // CURVE_CALLS) or 1
    for start in range(0, len(found), every):
        stretch = found[start : start + every]
        chosen = max(stretch, key=lambda item: (bool(item.missed) + item.compacted + bool(item.evicted), -item.number))
        for item in dict.fromkeys(
            [*([found[0]] if start == 0 else []), chosen, *([found[-1]] if stretch[-1] is found[-1] else [])]
        ):
            yield msgspec.structs.replace(
                item,
                evicted=item.evicted[:_EVICTED],
                missed=tuple(fact[:60] for fact in item.missed[:_MISSED]),
                invalid=item.invalid[:_TEXT_CHARS],
            )


# ---------------------------------------------------------------- routes


def routes_shown(decisions: Sequence[Decision]) -> RoutesShown:
    """Where a run was routed. No decisions: nothing in it."""
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
    )


def turned(decision: Decision) -> Turned:
    """A decision as reports show it."""
    return Turned(router=decision.router, at=decision.at, expected=decision.expected, taken=decision.route,
                  expected_from=decision.expected_from)  # fmt: skip


def path(decisions: Sequence[Decision]) -> Iterator[Turn]:
    """The decisions of a run in order: every wrong turn, and the right ones around it; of a long path, right ones in a row become one.

    >>> right = Decision(step=1, router="r", at="end", route="next", untruncated="next")
    >>> wrong = Decision(step=9, router="r", at="end", route="stop", untruncated="next")
    >>> [(turn.step, turn.count, turn.expected) for turn in path([right] * 12 + [wrong])]
    [(1, 11, None), (1, 1, None), (9, 1, 'next')]
    """
    wrong = [decision.route != decision.expected for decision in decisions]
    waiting: Turn | None = None
    for at, decision in enumerate(decisions):
        if any(wrong[max(0, at - 1) : at + 2]) or len(decisions) <= WHOLE_PATH:
            if waiting is not None:
                yield waiting
                waiting = None
            yield Turn(decision.step, decision.router, decision.route, decision.expected if wrong[at] else None)
        elif waiting is not None:
            waiting = Turn(waiting.step, "", "as expected", None, waiting.count + 1)
        else:
            waiting = Turn(decision.step, "", "as expected")
    if waiting is not None:
        yield waiting


# ---------------------------------------------------------------- what it said


def notes_shown(run: Run) -> tuple[NoteShown, ...]:
    """What a strategy reported, counted, most often first."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], int] = {}
    for note in run.notes:
        counts[note.slot, note.text] += 1
        first.setdefault((note.slot, note.text), note.step)
    some = sorted(counts, key=lambda key: (-counts[key], key))[:NOTES]
    return tuple(NoteShown(slot=key[0], text=key[1][:_TEXT_CHARS], count=counts[key], step=first[key]) for key in some)


def judgements_shown(run: Run) -> tuple[tuple[Judgement, ...], int]:
    """What the evaluator concluded about the first steps, and how many it judged."""
    judged = [outcome for outcome in run.results if outcome.evaluation is not None]
    return tuple(map(_judgement, judged[:JUDGEMENTS])), len(judged)


def _judgement(outcome: ResultOutcome) -> Judgement:
    found = outcome.evaluation or {}
    state = (
        "critical failure" if found.get("critical_failure") else "succeeded" if found.get("success", True) else "failed"
    )
    concluded = "; ".join(f"{key}: {as_text(value)}" for key, value in found.items() if key not in _JUDGED_APART)
    return Judgement(
        step=outcome.step,
        function=outcome.record.function,
        outcome=state,
        result_type=str(found.get("result_type", outcome.record.result_type)),
        conclusions=concluded if len(concluded) <= _TEXT_CHARS else concluded[: _TEXT_CHARS - 3] + "...",
    )


def compactions_shown(evidence: RunEvidence) -> tuple[tuple[CompactionShown, ...], ...]:
    """What survives each compaction, a curve a thread that has any."""
    return tuple(
        tuple(CompactionShown(item.step, round(item.recall, 4)) for item in found[:COMPACTIONS])
        for found in evidence.prompts.scan.compactions.values()
    )
