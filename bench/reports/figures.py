"""The head of every report: the advice as three large figures and a sentence, short names of runs, and several scenarios at one glance."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..comparison.sure import counted_tasks
from ..model import Comparison
from ..text.wording import NOT_MEASURED, listed, percent
from .answered import Answered
from .blocks import OUTCOMES, Block, Cell, Figure, Figures, Prose, Table, Tone, number, table_of
from .decision_sentence import (
    advice_text,
    asked_text,
    certainty,
    change_text,
    could_miss_text,
    headroom_text,
    named,
    price_text,
    turns_missing,
)
from .words import against, terms_in

TONES: dict[str, Tone] = {"ship": "good", "keep": "plain", "nobody": "bad"}

CHEAPER = "What is cheaper, and why not?"

LONGEST = 28  # the most characters of a short name, where fewer still tell all names apart
_SIGNS = "/\\:#. _-"
_ENDS = re.compile(rf"(?<=[{re.escape(_SIGNS)}])")


def answer_prose(comparison: Comparison) -> Prose:
    """The advice of a comparison as a block of a report."""
    answered = Answered.of(comparison)
    said = advice_text(answered)
    return Prose(said, TONES[answered.advice.outcome], terms_in(said))


def figures(comparison: Comparison) -> Figures:
    """The advice as three large figures: what to run, what a run costs and could cost, and the worst that it loses."""
    return Figures(tuple(_figures(Answered.of(comparison))))


def _figures(answered: Answered) -> Iterator[Figure]:
    advice, subject, today = answered.advice, answered.advice.subject, answered.today
    most = headroom_text(advice)
    if subject is None:
        nobody = tuple(filter(None, ("Nobody qualifies.", most)))
        yield Figure("What should I run?", "nothing that was compared", nobody, "bad")
        return
    keep, saving = advice.outcome == "keep", subject.saving
    if keep:
        over = counted_tasks(answered.choice.tasks, answered.choice.compared)
        sure = f"Nothing that was compared is surely cheaper, over {over}."
    else:
        sure = _sentence("nothing is known of what runs today" if saving is None else certainty(saving))
    what = "what you run today" if keep else named(subject)
    yield Figure("What should I run?", what, (sure,), "plain" if keep else "good")
    beside = "As today." if keep else ""
    if saving is not None and today is not None:
        beside = _sentence(f"{change_text(saving)} today's {price_text(advice.unit, today)}")
    yield Figure("What does a run cost?", price_text(advice.unit, subject), tuple(filter(None, (beside, most))))
    if keep:
        yield _tempting(answered)
        return
    title = "What is the worst it loses?"
    rare = (could_miss_text(saving, advice.could_miss),) if saving is not None else ()
    if subject.worst_fault_rate is None:
        yield Figure(title, NOT_MEASURED, rare, "warn")
    elif subject.worst_fault_rate <= 0:
        yield Figure(title, "nothing", ("No turn would have missed anything it used.", *rare))
    else:
        where = short_names(answered.case_ids).get(subject.worst_case or "", "")
        share = percent(subject.fault_rate or 0.0)
        said = f"would have missed something, in run {where}; over all runs {share} of turns."
        yield Figure(title, turns_missing(subject), (said, *rare))


def _tempting(answered: Answered) -> Figure:
    """The cheapest strategy that was refused, else the one that is cheaper and not sure: what it would save, and why not."""
    advice = answered.advice
    unsure = advice.alternative if advice.alternative_word == "cheaper, not sure" else None
    found = next(iter(answered.choice.tempting), unsure)
    if found is None or found.saving is None:
        return Figure(CHEAPER, "nothing", ("Nothing that was compared costs less than what you run.",))
    why = f"refused: {against(found)}" if not found.qualifies else f"not sure: {certainty(found.saving)}"
    return Figure(CHEAPER, f"{named(found)}: {change_text(found.saving).removesuffix(' than')}", (_sentence(why),))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def short_names(ids: Sequence[str]) -> Mapping[str, str]:
    """Each name without the folders and the parts at its ends that tell none apart; a single one keeps its last part. Two names never become one.

    Parts end at slashes, dots, hashes, spaces and the like, so that no word is cut.

    >>> short_names(["runs/airline#1", "runs/airline#12"])
    {'runs/airline#1': '1', 'runs/airline#12': '12'}
    >>> short_names(["data/session.json"])
    {'data/session.json': 'session.json'}
    """
    if len(ids) < 2:
        return {name: _tail(re.split(r"[/\\]", name)[-1]) for name in ids}
    parts = [_ENDS.split(name) for name in ids]
    fewest = min(map(len, parts)) - 1
    start = next((at for at in range(fewest) if len({one[at] for one in parts}) > 1), fewest)
    rest = fewest - start
    end = next((at for at in range(rest) if len({one[len(one) - 1 - at] for one in parts}) > 1), rest)
    short = ["".join(one[start : len(one) - end]).rstrip(_SIGNS) or name for one, name in zip(parts, ids, strict=True)]
    if max(map(len, short)) > LONGEST:
        for shorter in (_distinct(short), [*map(_tail, _distinct(short))]):
            short = shorter if len({*shorter}) == len({*ids}) else short
    return dict(zip(ids, short, strict=True))


def _distinct(names: Sequence[str]) -> list[str]:
    """Names without the folders that the others tell apart anyway, of each folder the shortest beginning that no other has.

    >>> _distinct(["de_01_cells/gpt/a-1/run", "de_01_cells/gpt/b-1/run", "de_02_cells/opus/a-1/log"])
    ['de_01/a', 'de_01/b', 'de_02/a']
    """
    same = len({name.count("/") for name in names}) == 1
    columns = [*zip(*(name.split("/") if same else [name] for name in names), strict=True)]
    last_first = columns[::-1]
    for column in sorted(last_first, key=lambda values: len({*values})):
        rest = [other for other in columns if other is not column]
        if len({*zip(*rest, strict=True)}) == len({*names}):
            columns = rest
    return ["/".join(one) for one in zip(*map(_heads, columns), strict=True)]


def _heads(values: Sequence[str]) -> list[str]:
    heads = {value: [*itertools.accumulate(_ENDS.split(value))] for value in values}
    counts = Counter(head for known in heads.values() for head in known)
    return [next((head for head in heads[value] if counts[head] == 1), value).rstrip(_SIGNS) for value in values]


def _tail(name: str) -> str:
    """The last parts of a name that fit; of one part its end."""
    if len(name) <= LONGEST:
        return name
    starts = (found.start() for found in _ENDS.finditer(name) if len(name) - found.start() < LONGEST)
    return "…" + name[next(starts, 1 - LONGEST) :].lstrip(_SIGNS)


SAID = {"ship": "something better to ship", "keep": "keep what you run", "nobody": "nobody qualifies"}


def scenarios_table(named: Sequence[tuple[str, Comparison]]) -> Table:
    """A row a scenario: what it asks answered, the advice, the best price as a share of today's, the worst loss, and what the gates say.

    `named` are the comparisons with their names in the report, in order; none: a table without rows.
    """
    return table_of(
        [(name, Answered.of(comparison)) for name, comparison in named],
        {
            "scenario": lambda item: item[0],
            "answer": lambda item: _answer(item[1]),
            number("best of today's price"): lambda item: _best(item[1]),
            number("worst loss"): lambda item: _loss(item[1]),
            "gates": lambda item: _gates(item[1]),
        },
        "Best: the cheapest that qualifies, sure or not. Worst loss: turns of one run that would have missed something, under what is advised.",
    )


def scenarios_blocks(named: Sequence[tuple[str, Comparison]]) -> tuple[Block, ...]:
    """The table of several scenarios and the sentence over all of them; none for fewer than two."""
    if len(named) < 2:
        return ()
    return scenarios_table(named), Prose(scenarios_sentence([comparison for _, comparison in named]))


def scenarios_sentence(comparisons: Sequence[Comparison]) -> str:
    """The number of scenarios with each advice, in one sentence; `""` for fewer than two."""
    if len(comparisons) < 2:
        return ""
    counts = Counter[str](Answered.of(item).advice.outcome for item in comparisons)
    failed = sum(any(verdict.outcome == "fail" for verdict in item.verdicts) for item in comparisons)
    gates = f"Gates fail in {failed}." if failed else "No gate fails."
    if len(counts) == 1:
        every = "Both" if len(comparisons) == 2 else f"All {len(comparisons)}"
        return f"{every} scenarios: {SAID[next(iter(counts))]}. {gates}"
    said = [f"{text} in {counts[action]}" for action, text in SAID.items() if counts[action]]
    return f"Of {len(comparisons)} scenarios: {listed(said)}. {gates}"


def _answer(item: Answered) -> Cell:
    """The answer to what the scenario asks, then the advice."""
    return Cell(f"{asked_text(item)} {advice_text(item)}".strip(), TONES[item.advice.outcome])


def _best(item: Answered) -> Cell:
    """The price of a run with the cheapest strategy that qualifies, as a share of today's; both prices beside it."""
    unit, today, best = item.choice.unit, item.today, item.choice.cheapest
    if best is None or today is None or not today.price_a_run or best.price_a_run is None:
        return Cell("" if item.advice.subject is None else price_text(item.advice.unit, item.advice.subject))
    share = best.price_a_run / today.price_a_run
    least, most = price_text(unit, best), price_text(unit, today)
    beside = least if best == today else f"{least.removesuffix(' tokens')} of {most}"
    return Cell(percent(share), detail=beside, bar=min(share, 1.0))


def _loss(item: Answered) -> str:
    worst = None if item.advice.subject is None else item.advice.subject.worst_fault_rate
    return "" if worst is None else percent(worst) if worst > 0 else "nothing"


def _gates(item: Answered) -> Cell:
    counts = Counter[str](verdict.outcome for verdict in item.verdicts)
    worst = next((outcome for outcome in OUTCOMES if counts[outcome] and outcome != "skipped"), None)
    if worst is None:
        return Cell(f"{counts['skipped']} skipped" if counts else "none", "muted")
    return Cell(f"{counts[worst]} {worst}", OUTCOMES[worst])
