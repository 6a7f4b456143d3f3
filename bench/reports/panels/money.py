"""The lines that put the advised policy to use, and the money of each strategy by its use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ...comparison.advice import Candidate
from ...comparison.rows import tasks
from ...comparison.tuning import FEWEST
from ...model import Spent
from ...plugins.how_to import how_to, place_of
from ...text.wording import counted, percent, quantity, rough
from ...tokens.prices import provider_of
from .. import panel
from ..answered import Answered
from ..blocks import Block, Cell, Column, Excerpt, Prose, number, strategy, table_of
from ..decision_sentence import money_text
from ..words import terms_in

PARTS = {
    "answers": "answers",
    "new_prompt": "new prompt tokens",
    "cached_prompt": "cached prompt tokens",
    "cache_writes": "cache writes",
    "own_calls": "its own model calls",
    "repairs": "refetches",
}
"""The parts of a price, each with its column."""

LITTLE = 0.1  # the share saved by perfect foresight below which there is nothing to win

NOTHING_TO_WIN = (
    "There is little to win here, and that is worth knowing: shorter answers, fewer calls or another model "
    "save more than any policy for the history."
)


@panel("money", order=6, title="How is it put to use, and where does the money go?")
def money(comparison: Answered) -> list[Block]:
    """The lines that put the advised policy, or the best other one, to use; the dollars of a run of each strategy by what they pay."""
    choice = comparison.choice
    said = list(money_text(choice))
    return [
        *_how(comparison),
        *_spent([item for item in choice.candidates if item not in choice.idle and item.spent is not None]),
        *([Prose(" ".join(said), "muted", terms_in(" ".join(said)))] if said else []),
    ]


def _how(comparison: Answered) -> Iterator[Block]:
    advice, number_of = comparison.advice, len(tasks(comparison.cases))
    if comparison.tuning is None and 0 < number_of < 2 * FEWEST:
        yield Prose(f"Chosen and judged on the same {counted(number_of, 'task')}: with {2 * FEWEST} they would be parted.", "muted")  # fmt: skip
    if advice.headroom is not None and advice.headroom.relative < LITTLE:
        yield Prose(NOTHING_TO_WIN)
    named = advice.subject if advice.outcome == "ship" else advice.alternative
    if named is None or named.never_acted or named.strategy not in comparison.strategies:
        return
    places = Counter(place_of(case.recording.format, provider_of(case.recording.model)) for case in comparison.cases)
    place = places.most_common(1)[0][0] if places else place_of("", None)
    slots = comparison.signature.strategies[named.strategy].removeprefix(f"{named.strategy}=")
    title = f"To use {named.strategy}" if advice.outcome == "ship" else f"To try {named.strategy} all the same"
    yield from (Excerpt(title, text, whole=True) for text in how_to(slots, place))


def _spent(items: list[Candidate]) -> Iterator[Block]:
    if not items:
        return
    columns: dict[str | Column, Callable[[Candidate], Cell | str]] = {
        "strategy": lambda item: strategy(item.strategy),
        number("price of a run"): lambda item: rough(item.price_a_run, "usd"),
    }
    for name, title in PARTS.items():
        if any(_share(item.spent, name) for item in items):
            columns[number(title)] = lambda item, name=name: _part(item.spent, name)  # type: ignore[misc]
    if len({item.cases for item in items}) > 1:
        columns[number("runs that fit")] = lambda item: quantity(item.cases, "cases")
    columns[number("served from the cache")] = lambda item: quantity(item.cached_share, "fraction")
    yield table_of(items, columns, "Dollars of one run, with their share of its price.")


def _share(spent: Spent | None, name: str) -> float:
    return 0.0 if spent is None or not spent.usd else getattr(spent, name) / spent.usd


def _part(spent: Spent | None, name: str) -> Cell:
    share = _share(spent, name)
    return Cell(quantity(getattr(spent, name), "usd"), detail=percent(share)) if share else Cell("–", "muted")
