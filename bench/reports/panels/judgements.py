"""Answers that are still there, conclusions that changed, and routes that went wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...model import Asked, Comparison, FindingChange, RouteCount, RunShown, Sample, grouped
from ...text.wording import counted, listed, quantity
from .. import panel
from ..answered import Answered
from ..blocks import MOST_ROWS, Block, Cell, Column, Fold, Prose, Table, measured, number, strategy, table_of

MAX_LOST, MAX_RESULTS, MAX_ROUTES = 30, 8, 4
LIMITS = (
    "By path: the probe's path, asked of what the strategy holds of that result, gives the same typed value. As a word (≤): the value "
    "occurs as a whole token, perhaps of something else: an upper bound of what a model can answer."
)
ORIGIN = {
    "labelled": "labelled in the scenario or trace",
    "recorded": "recorded in the trace",
    "untruncated": "what the router decides on untruncated records",
}


@panel("judgements", order=45, title="Do answers, conclusions and routes still hold?")
def judgements(comparison: Answered) -> list[Block]:
    """The answers to probes that every strategy still holds, evaluations and findings that came out otherwise, and wrong routes."""
    return [*_probes(comparison), *_findings(comparison), *_routes(comparison)]


@dataclass(frozen=True)
class _Answered:
    """One question to one strategy on one case."""

    strategy: str
    case: str
    sample: Sample
    asked: Asked


def _probes(comparison: Answered) -> Iterator[Block]:
    """Each question with the share of its answers that every strategy still holds, then the lost answers, and those that must not be there."""
    found = [
        _Answered(name, case.id, sample, sample.detail)
        for name, case, run in comparison.runs(comparison.everyone)
        for sample in run.probes
        if isinstance(sample.detail, Asked)
    ]
    wanted, unwanted = ([item for item in found if item.asked.absent == absent] for absent in (False, True))
    if wanted:
        lost = [item for item in wanted if item.sample.numerator == 0]
        yield Prose(LIMITS)
        yield _questions(comparison, wanted, "probes.recall", "answers held, of those asked")
        yield _places(lost, "lost") if lost else Prose("No answer is lost.", "good")
    if unwanted:
        there = [item for item in unwanted if item.sample.numerator]
        what = "answers that must not be there and are, of those asked"
        yield _questions(comparison, unwanted, "probes.unwanted", what)
        yield _places(there, "there that must not be") if there else Prose("Nothing is there that must not be.", "good")


def _questions(comparison: Comparison, found: Sequence[_Answered], metric: str, what: str) -> Table:
    """A row a question, a column a strategy; the metric over all questions below."""
    questions: dict[tuple[str, str], dict[str, list[_Answered]]] = {}
    for item in found:
        questions.setdefault((item.asked.question, item.asked.where), {}).setdefault(item.strategy, []).append(item)
    names = [name for name in comparison.everyone if any(name == item.strategy for item in found)]
    rows = [
        (Cell(question), Cell(where), *(_held(of.get(name, [])) for name in names))
        for (question, where), of in questions.items()
    ]
    rows.append((Cell("all"), Cell(""), *(measured(comparison.row(name, metric)) for name in names)))
    columns = (Column("question"), Column("where"), *map(number, names))
    return Table(columns, tuple(rows), f"{counted(len(questions), 'question')}; {what}.")


def _held(items: Sequence[_Answered]) -> Cell:
    asked = [item for item in items if item.sample.numerator is not None]
    if not asked:
        return Cell("not measured", "muted", items[0].sample.reason or "" if items else "not asked of this strategy")
    held = sum(bool(item.sample.numerator) for item in asked)
    if asked[0].asked.absent:
        return Cell(f"{held} of {len(asked)}", "bad" if held else "good")
    words = sum(item.asked.found == "token" for item in asked)
    note = f"{counted(words, 'answer')} only as a word" if words else ""
    text = ("≤ " if words else "") + f"{held} of {len(asked)}"
    return Cell(text, "bad" if held < len(asked) else "plain" if words else "good", note)


def _places(items: Sequence[_Answered], what: str) -> Table:
    """The answers that are lost, or there and must not be, with their places."""
    columns: dict[str | Column, Callable[[_Answered], Cell | str]] = {
        "strategy": lambda item: strategy(item.strategy),
        "case": lambda item: item.case,
        "at step": lambda item: "" if item.sample.step is None else str(item.sample.step),
        "question": lambda item: item.asked.question,
        "where": lambda item: item.asked.where,
    }
    if what == "lost":
        columns["expected"] = lambda item: item.asked.expected
        columns["found at its path"] = lambda item: Cell(item.asked.got or "nothing", "bad")
    else:
        columns["must not be there"] = lambda item: item.asked.expected
    more = f" Shown: {MAX_LOST} of {quantity(len(items), 'count')}." if len(items) > MAX_LOST else ""
    return table_of(items[:MAX_LOST], columns, f"{counted(len(items), 'answer')} {what}.{more}")


def _findings(comparison: Answered) -> Iterator[Block]:
    """Results whose evaluation or extraction differs between the stored record and the untruncated one, then the evaluator's log."""
    runs = [(name, case.id, run) for name, case, run in comparison.runs(comparison.contenders)]
    judged = sum(run.findings_judged for _, _, run in runs)
    differing = sum(run.findings_differing for _, _, run in runs)
    changes = ((f"{name}, {case}, step ", change) for name, case, run in runs for change in run.finding_changes)
    by_result = grouped((f"{place}{change.step}", change) for place, change in changes)
    if differing:
        left = differing - min(len(by_result), MAX_RESULTS)
        said = f"{counted(differing, 'judgement')} of {judged} came out otherwise from what was stored than from untruncated records."
        yield Prose(said + (f" {left} of them are left out here." if left else ""), "bad")
    elif judged:
        yield Prose(f"None: {counted(judged, 'judgement')} came out as from untruncated records.", "good")
    evaluated = [item for item in runs if item[2].judged]
    if evaluated and judged:
        yield _evaluated(evaluated)
    worst = sorted(by_result.items(), key=lambda item: -len(item[1]))[:MAX_RESULTS]
    yield from (_changes(title, changes) for title, changes in worst if differing)
    if evaluated and judged:
        logs = tuple(_log(f"{name}, {case}", run) for name, case, run in evaluated)
        yield Fold("The evaluator's log, step by step", logs)


def _evaluated(runs: Sequence[tuple[str, str, RunShown]]) -> Table:
    """A row for each strategy that evaluates: its steps, and the judgements that differ from those of untruncated records."""
    of_name = grouped((name, run) for name, _, run in runs)
    totals = {
        name: [sum(getattr(run, field) for run in of_name[name]) for field in ("judged", "findings_differing", "findings_judged")]
        for name in of_name
    }  # fmt: skip
    return table_of(
        totals.items(),
        {
            "strategy": lambda item: strategy(item[0]),
            number("steps evaluated"): lambda item: str(item[1][0]),
            number("came out otherwise"): lambda item: Cell(f"{item[1][1]} of {item[1][2]}", "bad" if item[1][1] else "good"),
        },
    )  # fmt: skip


def _changes(title: str, changes: list[FindingChange]) -> Block:
    table = table_of(
        changes,
        {
            "finding": lambda change: change.path,
            "change": lambda change: change.kind.replace("_", " "),
            "from the untruncated record": lambda change: change.before,
            "from the stored one": lambda change: Cell(change.after, "bad"),
        },
    )
    return Fold(f"{title}: {counted(len(changes), 'change')}", (table,))


def _log(title: str, run: RunShown) -> Block:
    table = table_of(
        run.judgements,
        {
            "step": lambda item: str(item.step),
            "function": lambda item: item.function,
            "outcome": lambda item: Cell(item.outcome, "plain" if item.outcome == "succeeded" else "bad"),
            "type": lambda item: item.result_type,
            "conclusions": lambda item: item.conclusions,
        },
    )
    left = run.judged - len(run.judgements)
    said = (Prose(f"{counted(left, 'more step')} are left out here.", "muted"),) if left else ()
    return Fold(f"{title}: {counted(run.judged, 'step')} evaluated", (table, *said))


def _routes(comparison: Answered) -> Iterator[Block]:
    """A row for each router with the routes it took, and the first wrong turn of each run."""
    found = [(name, item) for name, _, run in comparison.runs(comparison.everyone) for item in run.routes.counts]
    total = sum(item.count for _, item in found)
    if not total:
        return
    wrong = sum(item.count for _, item in found if item.taken != item.expected)
    origins: Counter[str] = Counter()
    routers: dict[tuple[str, str], list[RouteCount]] = {}
    for name, item in sorted(found, key=lambda pair: (comparison.everyone.index(pair[0]), pair[1].router)):
        origins[item.expected_from] += item.count
        routers.setdefault((name, item.router), []).append(item)
    meant = listed([f"{ORIGIN[name]} ({origins[name]})" for name in ORIGIN if origins[name]])
    said = f"{counted(wrong, 'decision')} of {total} went another way than expected. Expected means: {meant}."
    yield Prose(said, "bad" if wrong else "good")
    yield table_of(
        routers,
        {
            "strategy": lambda key: strategy(key[0]),
            "router": lambda key: key[1],
            number("as expected"): lambda key: _as_expected(routers[key]),
            "routes taken": lambda key: _taken(routers[key]),
        },
    )
    firsts = [(name, case.id, run.routes) for name, case, run in comparison.runs(comparison.everyone) if run.routes.first_wrong]  # fmt: skip
    if firsts:
        yield table_of(
            [(*item, item[2].first_wrong) for item in firsts if item[2].first_wrong is not None],
            {
                "strategy": lambda item: strategy(item[0]),
                "case": lambda item: Cell(item[1], case=item[1], step=item[2].first_wrong_step),
                number("step"): lambda item: str(item[2].first_wrong_step),
                "router": lambda item: item[3].router,
                "expected": lambda item: f"{item[3].expected} ({item[3].expected_from})",
                "taken": lambda item: Cell(item[3].taken, "bad"),
            },
            "First divergence of each case.",
            most=MOST_ROWS,
            more="{} more.",
        )


def _as_expected(items: Sequence[RouteCount]) -> Cell:
    right, total = sum(item.count for item in items if item.taken == item.expected), sum(item.count for item in items)
    return Cell(f"{right} of {total}", "good" if right == total else "bad")


def _taken(items: Sequence[RouteCount]) -> str:
    """The routes that a router took, the most frequent first."""
    counts = grouped((item.taken, item.count) for item in items)
    ordered = sorted(((name, sum(of)) for name, of in counts.items()), key=lambda item: (-item[1], item[0]))
    left = f" and {len(ordered) - MAX_ROUTES} more" if len(ordered) > MAX_ROUTES else ""
    return ", ".join(f"{name} {count}" for name, count in ordered[:MAX_ROUTES]) + left
