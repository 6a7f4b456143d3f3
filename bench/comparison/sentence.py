"""The first line of every output: what to run, at which price, what would be missed, and how
certain that is.

Names of strategies are between backticks, here and in all texts of reports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from ..model.advice import REFUSED, TODAY, Advice, Ranked
from ..text.wording import count, listed, percent, sentence_case
from .reasons import (
    figure_and_basis,
    is_best,
    is_unknown_today,
    losses_in_words,
    reason_of,
    refusal_in_words,
)
from .rules import entry_of, finite, place_of, slots_in_spec
from .wording import costs, expected_in_words, pricing_of, sample, tries_of

_NOT_CACHED = "where prompts are not cached"
_KEEP = "Keep what runs today"
_INVALID_TODAY = "what runs today is not valid"


def with_sentence(advice: Advice, asks: str) -> Advice:
    """The advice with its sentence, the strategy that it is about, and the reason of each verdict.

    If the question is about one strategy, `asks`, the answer to that comes first.
    """
    ranked = tuple(
        replace(item, reason=reason_of(item, advice), condition=_condition(item, advice))
        for item in advice.ranked
    )
    advice = replace(advice, ranked=ranked)
    subject = _subject(advice, asks)
    asked = advice.item(asks)
    answer = _answer(asked, advice, is_subject=asked is subject) if asked else ""
    is_shipped = subject and subject.strategy == advice.advised
    first = _advised(subject, advice) if subject and is_shipped else _kept(subject, advice)
    losses = _losses(subject, advice) if subject else ""
    short = " ".join(filter(None, [answer, first, losses]))
    rest = [_certainty(subject, advice), _elsewhere(subject, advice)] if subject else []
    rest += [f"Tokens are compared, as {advice.unpriced}."] if advice.unpriced else []
    return replace(
        advice,
        sentence=" ".join(filter(None, [short, *rest])),
        short=short,
        subject=subject.strategy if subject else "",
    )


# ---------------------------------------------------------------- the subject


def _subject(advice: Advice, asks: str) -> Ranked | None:
    """The strategy to ship, else the one that comes closest to it.

    If the question is savings, that is one that saves, that no rule refuses, and whose texts could
    all be checked; of several the one asked about, else the cheapest. For stores, evaluators and
    routers it is the best of those that answer the question; figures of a first rule, such as
    expected routes, come before others.
    """
    if advice.answers != "savings":
        measured = [(item, figure.metric) for item in advice.tried if (figure := item.figure)]

        def order(it: tuple[Ranked, str]) -> tuple[bool | int, ...]:
            is_other = it[0].answers != advice.answers
            return is_other, it[0].verdict in REFUSED, place_of(it[1])

        best, _ = min(measured, key=order, default=(None, ""))
        return advice.item(advice.advised) or best
    acting = [item for item in advice.tried if "inactive" not in item.marks]

    def place(item: Ranked) -> tuple[bool | float, ...]:
        price = item.price.per_run if item.price and item.saves else math.inf
        is_other, is_unasked = (item.strategy != name for name in (advice.advised, asks))
        is_refused = item.verdict in REFUSED
        return is_other, not item.saves, is_refused, bool(item.marks), is_unasked, price

    return min(acting, key=place, default=None)


def _condition(item: Ranked, advice: Advice) -> str:
    """Where a strategy is known to save: without prices, one that changes earlier messages saves
    only where prompts are not cached. "" for other strategies, and if none has to save."""
    today = advice.item(TODAY)
    must_save = today is not None and today.verdict != "invalid"
    is_fine = must_save and advice.unit == "tokens" and item.verdict not in REFUSED
    return _NOT_CACHED if is_fine and "compactor" in slots_in_spec(item.spec) else ""


# ---------------------------------------------------------------- the clauses


def _answer(item: Ranked, advice: Advice, *, is_subject: bool) -> str:
    """The answer to a question about one strategy; a word if the rest is about it anyway."""
    figure = item.figure
    word = {"not certain": "Not certain", "ship": "Yes"}.get(item.verdict, "No")
    if figure and is_unknown_today(item) and item.verdict not in REFUSED:
        word = "Yes" if is_best(figure) else "Partly"
    if is_subject:
        return f"{word}."
    start = f"{word}: `{item.strategy}`"
    if refusal := _refusal(item):
        return f"{start} {refusal}."
    if item.verdict == "ship":
        return f"{start} is within all limits{item.reason and f', but {item.reason}'}."
    return f"{start} ({item.reason})." if word == "Not certain" else f"{start} {item.reason}."


def _refusal(item: Ranked) -> str:
    """Why a rule refuses a strategy, by the figure that answers the question if that is a reason;
    "" if none does."""
    figure, failed = item.figure, item.failed
    if item.verdict not in REFUSED or failed is None:
        return ""
    if figure and not figure.passed and entry_of(figure).verdict == entry_of(failed).verdict:
        failed = figure
    return refusal_in_words(item, failed)


def _advised(item: Ranked, advice: Advice) -> str:
    """The sentence about the strategy to ship, with its figure and its price."""
    price, result = item.price, item.figure
    figure = figure_and_basis(item, result, advice) if result else ""
    is_same = price is None or price.ratio is None or (price.ratio == 1 and figure)
    cost = "" if is_same else _cost(item, advice)
    words = "; it ".join(filter(None, [figure, cost]))
    where = item.condition and f" {item.condition}"
    return f"Ship `{item.strategy}`{where}: {f'it {words}' if words else _INVALID_TODAY}."


def _kept(item: Ranked | None, advice: Advice) -> str:
    """The sentence that says to keep what runs today, and why no other strategy is shipped."""
    today = advice.item(TODAY)
    acting = [tried for tried in advice.tried if "inactive" not in tried.marks]
    keep = f"{_KEEP}{' for now' if item and item.verdict == 'not certain' else ''}:"
    if today and today.verdict == "invalid":
        return f"{keep} it is not valid, but no other strategy can be used."
    if item is None and advice.answers != "savings":
        return "Nothing that these strategies fill could be measured."
    if item is None:
        names = listed([f"`{tried.strategy}`" for tried in advice.tried])
        does = "do" if len(advice.tried) > 1 else "does"
        return f"{keep} {f'{names} {does} the same' if names else 'nothing was tried'}."
    start, price = f"{keep} `{item.strategy}`", item.price
    saves = item.answers == "savings" and item.saves
    cost = f"{_cost(item, advice)} on {sample(advice)}, but " if saves else ""
    figure, why = item.figure, _refusal(item)
    if why and (saves or len(acting) == 1 or (figure and not figure.passed)):
        such = "strategy that saves" if saves else "strategy"
        others = [tried for tried in acting if tried is not item and (tried.saves or not saves)]
        is_only = len(acting) == 1 or any(it.verdict not in REFUSED for it in others)
        all_refused = "" if is_only else f"no {such} is acceptable; "
        return f"{keep} {all_refused}`{item.strategy}` {cost}{why}."
    if figure:
        return f"{start} {figure_and_basis(item, figure, advice)}, but {item.reason}."
    if saves:
        return f"{start} {cost}{item.reason}."
    less = "uses fewer tokens" if advice.unit == "tokens" else "costs less"
    none = f"no strategy {less}"
    if len(acting) == 1 and price is not None and price.ratio is not None:
        none = f"`{item.strategy}` {costs(price)}"
    where = f"{_cache_in_words(advice)} on {sample(advice)}".strip()
    return f"{keep} {none} {where}."


def _cost(item: Ranked, advice: Advice) -> str:
    """The price of a strategy against today's: "costs 36% less ($0.64 instead of $1.00 a run)"."""
    price, pricing = item.price, pricing_of(advice)
    before = pricing.money(advice.todays_price)
    unit = f"{pricing.unit.removeprefix('tokens ')} {_cache_in_words(advice)}".rstrip()
    cost = costs(price) if price else "is not priced"
    return f"{cost} ({pricing.money(price)} instead of {before} {unit})"


def _cache_in_words(advice: Advice) -> str:
    """The cache that the deciding price assumes, in words; "" if nothing is priced."""
    if advice.unit == "tokens":
        return ""
    return "with an assumed cache" if advice.assumed else "with the provider's cache"


def _losses(item: Ranked, advice: Advice) -> str:
    """A sentence about what a strategy misses; "" if it does not save or a rule refuses it."""
    is_close = item.saves and item.verdict not in REFUSED
    losses = losses_in_words(item, advice) if is_close else ""
    return losses and f"{sentence_case(losses)}."


def _certainty(item: Ranked, advice: Advice) -> str:
    """A sentence about how certain the gain of the advised strategy is; "" for any other."""
    if item.strategy != advice.advised:
        return ""
    gain, price = item.rules[-1].rule, item.price
    if gain not in ("better", "cheaper"):
        return "" if price is None or price.ratio is None else f"{sentence_case(_INVALID_TODAY)}."
    many = len(advice.tried) if gain == "better" else tries_of(advice)
    words = "is certainly better than what runs today"
    if gain == "cheaper":
        saved = "tokens" if price and price.unit == "tokens" else "something"
        words = f"certainly saves {saved}"
    is_both = gain == "cheaper" and advice.assumed
    both = ", with the cache and without it" if is_both else ""
    tries = f", also after {count(many)} tries" if many > 1 else ""
    ends = price.interval if price and gain == "cheaper" else None
    size = dict.fromkeys(percent(1 - end) for end in reversed(ends or ()))
    interval = f": 95% interval{' with it' if is_both else ''} {' to '.join(size)}" if size else ""
    expected = expected_in_words(item, advice)
    return f"It {words} on {sample(advice)}{both}{tries}{interval}{expected and f'; {expected}'}."


def _elsewhere(item: Ranked, advice: Advice) -> str:
    """A sentence about what to do without the cache (or, if tokens decide, with one); "" if that is
    the same."""
    if item.condition:
        others = [
            tried for tried in advice.tried if tried.verdict == "ship" and not tried.condition
        ]
        is_advised = item.strategy == advice.advised
        why = f"`{item.strategy}` may cost more; to price that, add a `--model` with known prices"
        return f"With a cache: {_instead(others)}, since {why}." if is_advised else ""
    unmarked = (tried for tried in advice.tried if tried.verdict not in REFUSED and not tried.marks)
    usable = [tried for tried in unmarked if tried.uncached and tried.uncached.certain]
    usable.sort(key=lambda tried: finite(tried.uncached.ratio if tried.uncached else None))
    cached, uncached, best = item.price, item.uncached, usable[0].uncached if usable else None
    if advice.advised is None and best:
        return f"Without a cache: {_instead(usable)}, which {costs(best)} there."
    if advice.advised and cached and uncached and cached.saves and not uncached.saves:
        why = f"`{item.strategy}` {costs(uncached)} there"
        return f"Without a cache: {_instead(usable)}, since {why}."
    return ""


def _instead(usable: Sequence[Ranked]) -> str:
    """What to do instead: ship the first strategy that can be used, if there is one."""
    return f"ship `{usable[0].strategy}`" if usable else "keep what runs today"
