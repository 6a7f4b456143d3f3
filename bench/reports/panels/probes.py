"""The questions of a scenario: which strategies still hold the answer where it must survive, and what must not be there."""

from __future__ import annotations

from ...model import Asked, Comparison, Sample
from ...text.wording import counted, quantity
from .. import panel
from ..blocks import Block, Cell, Column, Prose, Table, Tone, measured

METRIC, UNWANTED = "probes.recall", "probes.unwanted"
MAX_LOST = 30

_Question = tuple[str, str]


@panel("probes", order=45, title="Are the answers still there?")
def probes(comparison: Comparison) -> list[Block]:
    """Each question with the share of its answers that every strategy still holds, then the answers that are lost, and those that must not be
    there.
    """
    found = _samples(comparison)
    if not found:
        return [
            Prose("The scenario asks nothing: a probe is a question, a tool result and a path to its answer.", "muted")
        ]
    limits = (
        "By path: the probe's path, asked of what the strategy holds of that result, gives the same typed value. As a word (≤): the value "
        "occurs as a whole token, perhaps of something else: an upper bound of what a model can answer."
    )
    asked, absent = ([item for item in found if _asked(item[2]).absent == absent] for absent in (False, True))
    blocks: list[Block] = [Prose(limits), _table(comparison, asked, METRIC), *_lost(asked)] if asked else []
    return blocks + ([_table(comparison, absent, UNWANTED), *_there(absent)] if absent else [])


def _samples(comparison: Comparison) -> list[tuple[str, str, Sample]]:
    """Every sample of a declared or reference strategy, with strategy and case."""
    return [
        (strategy, case.id, sample)
        for strategy in comparison.everyone
        for case in comparison.cases
        for sample in case.runs[strategy].probes
        if isinstance(sample.detail, Asked)
    ]


def _asked(sample: Sample) -> Asked:
    return sample.detail if isinstance(sample.detail, Asked) else Asked(question="", expected="", where="")


def _table(comparison: Comparison, found: list[tuple[str, str, Sample]], metric: str) -> Table:
    questions: dict[_Question, dict[str, list[Sample]]] = {}
    for strategy, _, sample in found:
        key = _asked(sample).question, _asked(sample).where
        questions.setdefault(key, {}).setdefault(strategy, []).append(sample)
    strategies = [name for name in comparison.everyone if any(name == s for s, _, _ in found)]
    columns = (Column("question"), Column("where"), *(Column(name, align="right") for name in strategies))
    rows = [
        (Cell(question), Cell(where), *(_held(by_strategy.get(name, [])) for name in strategies))
        for (question, where), by_strategy in questions.items()
    ]
    rows.append((Cell("all"), Cell(""), *(measured(comparison.row(name, metric)) for name in strategies)))
    what = (
        "answers held, of those asked" if metric == METRIC else "answers that must not be there and are, of those asked"
    )
    return Table(columns, tuple(rows), f"{counted(len(questions), 'question')}; {what}.")


def _held(samples: list[Sample]) -> Cell:
    asked = [sample for sample in samples if sample.numerator is not None]
    if not asked:
        return Cell("not measured", "muted", samples[0].reason or "" if samples else "not asked of this strategy")
    held = sum(bool(sample.numerator) for sample in asked)
    if _asked(asked[0]).absent:
        return Cell(f"{held} of {len(asked)}", "bad" if held else "good")
    words = sum(_asked(sample).found == "token" for sample in asked)
    note = f"{counted(words, 'answer')} only as a word" if words else ""
    tone: Tone = "good" if held == len(asked) and not words else "plain" if held == len(asked) else "bad"
    return Cell(("≤ " if words else "") + f"{held} of {len(asked)}", tone, note)


def _lost(found: list[tuple[str, str, Sample]]) -> list[Block]:
    lost = [item for item in found if item[2].numerator == 0]
    if not lost:
        return [Prose("No answer is lost.", "good")]
    titles = ("strategy", "case", "at step", "question", "where", "expected", "found at its path")
    rows = tuple((*_where(item), Cell(_asked(item[2]).got or "nothing", "bad")) for item in lost[:MAX_LOST])
    return [_listed(lost, titles, rows, "lost")]


def _there(found: list[tuple[str, str, Sample]]) -> list[Block]:
    there = [item for item in found if item[2].numerator]
    if not there:
        return [Prose("Nothing is there that must not be.", "good")]
    titles = ("strategy", "case", "at step", "question", "where", "must not be there")
    return [_listed(there, titles, tuple(_where(item) for item in there[:MAX_LOST]), "there that must not be")]


def _where(item: tuple[str, str, Sample]) -> tuple[Cell, ...]:
    strategy, case, sample = item
    asked, step = _asked(sample), "" if sample.step is None else str(sample.step)
    return (
        Cell(strategy, strategy=strategy),
        Cell(case),
        Cell(step),
        Cell(asked.question),
        Cell(asked.where),
        Cell(asked.expected),
    )


def _listed(
    items: list[tuple[str, str, Sample]], titles: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...], what: str
) -> Table:
    more = f" Shown: {MAX_LOST} of {quantity(len(items), 'count')}." if len(items) > MAX_LOST else ""
    return Table(tuple(map(Column, titles)), rows, f"{counted(len(items), 'answer')} {what}.{more}")
