"""The questions of a scenario: which strategies still hold the answer where it must survive."""

from __future__ import annotations

from ...model import Asked, Comparison, Sample
from ...text.wording import counted, quantity
from .. import panel
from ..blocks import Block, Cell, Column, Prose, Table, Tone, measured

METRIC = "probes.recall"
MAX_LOST = 30

_Question = tuple[str, str]


@panel("probes", order=45, title="Are the answers still there?")
def probes(comparison: Comparison) -> list[Block]:
    """Each question with the share of its answers that every strategy still holds, then the answers that are lost."""
    found = _samples(comparison)
    if not found:
        return [
            Prose("The scenario asks nothing: a probe is a question, a tool result and a path to its answer.", "muted")
        ]
    limits = (
        "By path: the probe's path, asked of what the strategy holds of that result, gives the same typed value. As a word (≤): the value "
        "occurs as a whole token, perhaps of something else: an upper bound of what a model can answer."
    )
    return [Prose(limits), _table(comparison, found), *_lost(found)]


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


def _table(comparison: Comparison, found: list[tuple[str, str, Sample]]) -> Table:
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
    rows.append((Cell("all"), Cell(""), *(measured(comparison.row(name, METRIC)) for name in strategies)))
    return Table(columns, tuple(rows), f"{counted(len(questions), 'question')}; answers held, of those asked.")


def _held(samples: list[Sample]) -> Cell:
    asked = [sample for sample in samples if sample.numerator is not None]
    if not asked:
        return Cell("not measured", "muted", samples[0].reason or "" if samples else "not asked of this strategy")
    held = sum(bool(sample.numerator) for sample in asked)
    words = sum(_asked(sample).found == "token" for sample in asked)
    note = f"{counted(words, 'answer')} only as a word" if words else ""
    tone: Tone = "good" if held == len(asked) and not words else "plain" if held == len(asked) else "bad"
    return Cell(("≤ " if words else "") + f"{held} of {len(asked)}", tone, note)


def _lost(found: list[tuple[str, str, Sample]]) -> list[Block]:
    lost = [item for item in found if item[2].numerator == 0]
    if not lost:
        return [Prose("No answer is lost.", "good")]
    rows = tuple(
        (
            Cell(strategy, strategy=strategy),
            Cell(case),
            Cell("" if sample.step is None else str(sample.step)),
            Cell(_asked(sample).question),
            Cell(_asked(sample).where),
            Cell(_asked(sample).expected),
            Cell(_asked(sample).got or "nothing", "bad"),
        )
        for strategy, case, sample in lost[:MAX_LOST]
    )
    titles = ("strategy", "case", "at step", "question", "where", "expected", "found at its path")
    more = f" Shown: {MAX_LOST} of {quantity(len(lost), 'count')}." if len(lost) > MAX_LOST else ""
    return [Table(tuple(map(Column, titles)), rows, f"{counted(len(lost), 'answer')} lost.{more}")]
