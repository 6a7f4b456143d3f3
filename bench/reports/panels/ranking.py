"""The answer: three large figures, the advice in one sentence, one table, and one chart of price against what turns would have missed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...comparison.advice import KEEPS_ALL, NOISE_FLOOR, RUN_TODAY, Candidate, Choice
from ...comparison.decision import FAULTS
from ...comparison.published import NOISE_OF_FAULTS
from ...text.wording import counted, percent, signed
from .. import panel
from ..answered import Answered
from ..blocks import (
    Beside,
    Block,
    Cell,
    Chart,
    Column,
    Fold,
    Point,
    Prose,
    Table,
    Tone,
    measured,
    number,
    table_of,
)
from ..decision_sentence import asked_text, idle_text, odds, price_text, turns_missing, why
from ..figures import answer_prose, figures, short_names
from ..words import FAULTS as MISSED, ODDS, REFETCHES, TODAY, against, terms_in

CALLED = {RUN_TODAY: "what you run today", KEEPS_ALL: "nothing removed"}
VERDICTS: dict[str, Tone] = {"ship it": "good", "keep it": "good", "cheaper, not sure": "warn"}
SHOWN = 10
"""The rows of the table that stand open: what is advised, what runs today and the best alternative are among them."""

FORGETS = "forgets what is far back"  # the mark of a strategy in the chart that is refused for that
NOISE = "The measurement itself blames {} to {} of turns wrongly; a share this small may mean nothing."


@panel("ranking", order=5, title="What should I run?")
def ranking(comparison: Answered) -> list[Block]:
    """The advice; every strategy that competes with its price, what turns would have missed under it, and the verdict; a chart of both."""
    advice = comparison.advice
    first = [item.strategy for item in (advice.subject, comparison.today, advice.alternative) if item is not None]
    idle = comparison.choice.idle
    items = sorted(
        (item for item in comparison.choice.candidates if item not in idle),
        key=lambda item: first.index(item.strategy) if item.strategy in first else len(first),
    )
    shown, chart, more = _table(comparison, items[:SHOWN]), _chart(comparison), items[SHOWN:]
    asked = asked_text(comparison)
    others = Fold(counted(len(more), "more strategy", "more strategies"), (_table(comparison, more),))
    return [
        figures(comparison),
        *([Prose(asked)] if asked else []),
        answer_prose(comparison),
        Beside((shown, chart)) if chart is not None else shown,
        *([Prose(idle_text(idle), "muted")] if idle else []),
        *([others] if more else []),
        Fold("Why, and how this was decided", tuple(Prose(text, "muted", terms_in(text)) for text in why(comparison))),
    ]


def _roles(comparison: Answered) -> dict[str, str]:
    """The strategies that matter, each with its words in the chart: what is advised, what runs today, the best alternative."""
    advice = comparison.advice
    found = {RUN_TODAY: "today"}
    if advice.alternative is not None:
        found.setdefault(advice.alternative.strategy, advice.alternative.strategy)
    if advice.named is not None:
        found[advice.named] = "today: keep it" if advice.named == RUN_TODAY else f"{advice.named}: {advice.word}"
    return found


def _chart(comparison: Answered) -> Chart | None:
    """The price of a run against the share of turns that would have missed something; None where no strategy has both."""
    choice = comparison.choice
    points = tuple(
        Point(
            item.strategy,
            item.price_a_run,
            item.fault_rate,
            FORGETS * any(found.kind == "far" for found in item.obstacles),
        )
        for item in choice.candidates
        if item.price_a_run is not None and item.fault_rate is not None and not _fewer(choice, item)
    )
    if not points:
        return None
    roles, limit = _roles(comparison), choice.max_fault_rate
    mattering = [point for point in points if point.series in roles]
    edges = (
        _edge([point.x for point in points], [point.x for point in mattering]),
        _edge([point.y for point in points], [2 * limit, *(point.y for point in mattering)]),
    )
    price, missed = _price_title(choice.unit), "turns that miss something"
    text = "Left: cheaper. Down: less is missed. Above the line a strategy loses too much to be advised."
    if any(point.mark for point in points):
        text += f" Hollow: so does one that keeps less than {percent(choice.min_far_recall)} of what was needed from far back."
    if RUN_TODAY in {point.series for point in points}:
        text += " Square: what you run today."
    if any(point.x > edges[0] or point.y > edges[1] for point in points):
        text += " Triangle: beyond the edge."
    if len(mattering) < len(points):
        text += " Grey without a name: the other strategies of the table."
    title = f"{price.capitalize()}, and {missed}"
    axes = (price, missed, choice.unit, "fraction")
    return Chart("scatter", title, *axes, points, text, named=tuple(roles.items()), limit=limit, edges=edges)


def _fewer(choice: Choice, item: Candidate) -> str:
    """The runs that a price is of, where they are not all: it has no place in a chart beside prices of all."""
    return f"on {item.cases} of {choice.compared} runs" if 0 < item.cases < choice.compared else ""


def _edge(values: list[float], mattering: list[float]) -> float:
    """The end of an axis that a few outliers would stretch, beyond all that matters; infinite where none does.

    >>> _edge([1.0, 1.1, 1.2, 9.0], [1.0]), _edge([1.0, 2.0], [1.0])
    (1.5, inf)
    """
    middle = sorted(values)[3 * (len(values) - 1) // 4]
    most = max([middle, *mattering])
    return 1.25 * most if max(values) > 2 * most else math.inf


def _price_title(unit: str) -> str:
    return "price of a run" if unit == "usd" else "tokens a run"


def _table(comparison: Answered, items: Sequence[Candidate]) -> Table:
    """A row a strategy: price of a run, against what is run today, the turns that would have missed something, and the verdict."""
    short, choice = short_names(comparison.case_ids), comparison.choice

    def price(item: Candidate) -> Cell:
        said = price_text(choice.unit, item)
        said = said if choice.unit == "usd" else said.removesuffix(" tokens").replace("at least ", "≥ ")
        return Cell(said, detail="" if item.price_a_run is None else _fewer(choice, item))

    def saving(item: Candidate) -> Cell:
        found = item.saving
        if found is None or found.relative is None:
            return Cell("")
        if abs(found.relative) < NOISE_FLOOR:
            return Cell("as much", "muted")
        tone: Tone = "bad" if found.a_run > 0 else "good" if found.sure else "muted"
        sure = f"sure, {odds(found.corrected)}" if found.sure else ""
        return Cell(signed(found.relative, percent(abs(found.relative))), tone, detail=sure)

    def missed(item: Candidate) -> Cell:
        if item.fault_rate is None:
            return measured(comparison.row(item.strategy, FAULTS))
        where = _fewer(choice, item)
        if item.worst_fault_rate and len(short) > 1:
            where = f"at worst {turns_missing(item)} (run {short.get(item.worst_case or '', '')})"
        return Cell(percent(item.fault_rate) if item.fault_rate else "none", detail=where)

    def verdict(item: Candidate) -> Cell:
        word = choice.word(item)
        if not item.qualifies:
            return Cell(f"{word}:", "bad", detail=against(item))
        never = "same prompts as recorded" if word == "never acted here" else ""
        return Cell(word, VERDICTS.get(word, "plain"), detail=never)

    columns: dict[str | Column, Callable[[Candidate], Cell | str]] = {
        "strategy": lambda item: Cell(item.strategy, strategy=item.strategy, detail=CALLED.get(item.strategy, "")),
        number(_price_title(choice.unit), REFETCHES): price,
    }
    if any(item.saving is not None for item in choice.candidates):
        columns[number("against today", f"{TODAY} {ODDS}")] = saving
    columns[number("turns that miss something", MISSED)] = missed
    columns[Column("verdict", explained="By the rule under “Why”.")] = verdict
    of = "" if choice.tasks == choice.compared else f" ({counted(choice.tasks, 'task')})"
    caption = f"Over {counted(choice.compared, 'run')}{of}."
    if choice.compared != choice.cases:
        caption = f"{caption[:-1]}, those that fit the window; {choice.cases} were recorded."
    if any(item.fault_rate for item in items):
        caption = f"{caption} {NOISE.format(*map(percent, NOISE_OF_FAULTS))}"
    return table_of(items, columns, caption)
