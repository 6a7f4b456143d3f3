"""The first line of every output: a sentence about an advice.

It says what to run, at which price, what would be missed, and what of that is certain. Names of
strategies stand between backticks, here and in all texts of reports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from ..model.advice import MAY_LOSE, REFUSED, TODAY, Advice, Ranked, RuleResult
from ..model.compared import Answers, Compared
from ..model.scores import Rule
from ..text.wording import count, listed, percent
from .certainty import FEWEST
from .gains import UNKNOWN
from .gates import to_pass
from .prices import Economy
from .reasons import (
    as_shown,
    basis_in_words,
    figure_in_words,
    interval_in_words,
    is_best,
    losses_in_words,
    reason_of,
    refused_by,
    rest_in_words,
)
from .rules import asked_by, is_sure, merit, slots_in_spec
from .wording import costs, pricing_of, sample

_KEEP, _KEEP_FOR_NOW = "Keep what runs today", "Keep what runs today for now"
_UNRECORDED = {
    "routing.selection_top1": "how today's router ranks the scripts; add that router as a strategy",
    "routing.accuracy": "which route today's router took where one is labelled; record that",
    "routing.unreset_states": "which state today's replies leave; record that",
}
"""What recordings do not say where today's figure is not known, and what to do to compare."""
_ADD = "how well what runs today does this; add it as a strategy"
AS_TODAY, UNKNOWN_TODAY = "as today", "today's is not recorded"
NO_BETTER = "which is no better than today"
NOT_CACHED = "where prompts are not cached"
_ECONOMY = {"cached": " with the provider's cache", "uncached": " without a cache"}
_ASSUMED = " with a cache as the provider documents it"
LOSES = {it: f"is {it}" if it in ("invalid", "unfaithful") else it for it in REFUSED}
"""What a strategy does, or may do, that a rule refuses."""


def with_sentence(advice: Advice, answers: Answers, assumed: bool, compared: Compared) -> Advice:
    """The advice with its sentence and the strategy that it is about, and the reason of each
    verdict.

    `assumed` is True if the shares of the provider's cache are not recorded. If the question is
    about a strategy (`asks`) that the sentence does not begin with, its answer comes first; before
    all, where a gate failed, what to do then.
    """
    asks, failed = compared.asks, any(gate.outcome == "fail" for gate in compared.gates)
    ranked = tuple(replace(it, reason=reason_of(it, advice)) for it in advice.ranked)
    ranked = tuple(replace(it, condition=_condition(it, advice)) for it in ranked)
    advice = replace(advice, ranked=ranked)
    subject, sentence = (
        _savings(advice, assumed, asks) if answers == "savings" else _of_quality(advice, answers)
    )
    about = next((item for item in ranked if item.strategy == asks), None)
    if about is not None:
        answer = _answer(about, answers, advice)
        if subject == asks or (not subject and f"`{asks}`" in sentence):
            answer = answer.partition(":")[0].rstrip(".") + "."  # the sentence has the rest
        sentence = f"{answer} {sentence}"
    if failed and (back := to_pass(compared)):
        sentence = f"Do not merge: {back}. {_second(sentence)}"
    return replace(advice, sentence=sentence, subject=subject)


def _second(sentence: str) -> str:
    """A sentence to follow another one that says what to do: a strategy to ship is a second way,
    and what runs today is not named as one.

    >>> _second("No. Keep what runs today: none saves."), _second("Keep what runs today: none saves.")
    ('No: none saves.', 'None saves.')
    """
    ship = re.sub(r"(^|(?<=\. ))Ship `", "Or ship `", sentence)
    ship = re.sub(rf"^(\w[\w ]*)\. {_KEEP}(?: for now)?: ", r"\1: ", ship)
    return re.sub(rf"{_KEEP}(?: for now)?: (.)", lambda why: why[1].upper(), ship)


def is_undecided(item: Ranked, advice: Advice) -> bool:
    """True if more runs could make a strategy that is not advised the one to ship."""
    price = item.price(advice.basis)
    is_open = item.verdict == MAY_LOSE and price is not None and price.saves
    return is_open or item.verdict == "not certain"


def is_unknown_today(item: Ranked) -> bool:
    """True if a strategy can only be compared with others, since today's figure is not known."""
    return any(rule.rule == "better" and rule.findings for rule in item.rules)


def _condition(item: Ranked, advice: Advice) -> str:
    """Where alone a strategy is known to save that changes earlier messages, which caches make
    dearer, if nothing is priced; "" for others."""
    is_fine = advice.basis == "tokens" and item.verdict not in LOSES
    return NOT_CACHED if is_fine and "compactor" in slots_in_spec(item.spec) else ""


def cache_in_words(item: Ranked) -> str:
    """What a cache makes of a saving in tokens; "" where prices say it."""
    if item.condition:
        return "price with a cache unknown, may be higher"
    is_counted = item.cached is not None and item.cached.unit == "tokens" and item.cached.saves
    return "cheaper with a cache too" if is_counted else ""


def todays_in_words(item: Ranked, result: RuleResult) -> str:
    """Today's figure, beside that of a store, evaluator or router."""
    if is_unknown_today(item):
        return UNKNOWN_TODAY
    shown = as_shown(result)
    if result.metric == "findings.agreement" and not shown.limit:
        return "none may change"
    return AS_TODAY if shown.value == shown.limit else f"today {percent(shown.limit)}"


def _answer(item: Ranked, answers: Answers, advice: Advice) -> str:
    """The answer to a question about one strategy."""
    failed, name = item.failed, f"`{item.strategy}`"
    figure = next((it for it in item.rules if it.rule == answers), None)
    if item.verdict in LOSES and failed:
        if figure and not figure.passed and asked_by(figure).verdict == asked_by(failed).verdict:
            failed = figure  # the measure that the question is about
        no = "Not certain" if item.verdict == MAY_LOSE else "No"
        return f"{no}: {name} {LOSES[item.verdict]} ({refused_by(item, advice, failed)})."
    if item.verdict == "no gain":
        return f"No: {name} {item.reason}."
    if figure and is_unknown_today(item):
        words = f"{figure_in_words(figure)}; {UNKNOWN_TODAY}"
        return f"{'Yes' if is_best(figure) else 'Partly'}: {name} {words}."
    if item.verdict == "not certain":
        gain = "be better" if failed and failed.rule == "better" else "save something"
        return f"Not certain: {name} may {gain}."
    rest = f", but {item.reason}" if item.reason else ""
    return f"Yes: {name} is within all limits{rest}."


# ---------------------------------------------------------------- savings


def _savings(advice: Advice, assumed: bool, asks: str) -> tuple[str, str]:
    """The strategy to ship and the sentence on it; else the one that comes closest, and why none is
    advised."""
    best = next((item for item in advice.ranked if item.strategy == advice.advised), None)
    if best is None:
        subject, reason = _keep(advice, assumed, asks)
        is_open = any(is_undecided(it, advice) for it in advice.ranked if it.strategy == subject)
        return subject, f"{_KEEP_FOR_NOW if is_open else _KEEP}: {reason}"
    price = best.price(advice.basis)
    if price is None or price.ratio is None:
        return best.strategy, f"Ship `{best.strategy}`: what runs today is not valid."
    where = best.condition and f" {best.condition}"
    cost = f"a run {_cost(advice, best, assumed)}"
    rest = f"{_certainly(advice, best, assumed)}{_other_economy(advice, [best])}"
    return best.strategy, f"Ship `{best.strategy}`{where}: {cost}.{rest}"


def _certainly(advice: Advice, best: Ranked, assumed: bool) -> str:
    """A sentence on what is certain of the gain of the advised strategy, if a gain was asked."""
    many = len(advice.ranked) - 1
    among = f"still certain after allowing for {count(many)} tries" if many > 1 else ""
    if best.rules[-1].rule == "better":
        rest = among and f"; {among}"
        return f" It is certainly better than what runs today on {sample(advice)}{rest}."
    if best.rules[-1].rule != "cheaper":
        return " What runs today is not valid."
    price = best.price(advice.basis)
    ends = [percent(1 - end) for end in reversed((price and price.interval) or ())]
    what = "tokens" if price and price.unit == "tokens" else "something"
    is_both = assumed and advice.basis == "cached"
    both = ", with the cache and without it," if is_both else ""
    which = "95% interval with the cache" if is_both else "95% interval"
    size = f"{which} {' to '.join(dict.fromkeys(ends))}" if ends else ""
    rest = "; ".join(filter(None, [size, among]))
    return f" It certainly saves {what}{both} on {sample(advice)}{': ' if rest else ''}{rest}."


def _cost(advice: Advice, item: Ranked, assumed: bool) -> str:
    """The price of a strategy against today's, and what it would miss unless a rule refuses it:
    "costs 36% less ($0.64 instead of $1.00 a run)"."""
    price, pricing = item.price(advice.basis), pricing_of(advice)
    economy = _ASSUMED if assumed and advice.basis == "cached" else _ECONOMY.get(advice.basis, "")
    losses = "" if item.verdict in LOSES else losses_in_words(item, advice)
    losses = losses and f"; {losses}"
    if price is None or price.ratio is None:
        return f"costs less{economy}{losses}"
    today = next((one for one in advice.ranked if one.strategy == TODAY), None)
    before = pricing.in_words(today.price(advice.basis) if today else None)
    return f"{costs(price)} ({pricing.money(price)} instead of {before}{economy}){losses}"


def _keep(advice: Advice, assumed: bool, asks: str) -> tuple[str, str]:
    """The strategy asked about or else closest, and the reason to advise none."""
    others = [item for item in advice.ranked if item.strategy != TODAY]
    if any(item.verdict == "invalid" for item in advice.ranked if item.strategy == TODAY):
        return "", "today is not valid, but no other strategy can be used."
    acting = [item for item in others if "inactive" not in item.marks]
    prices = {item.strategy: price for item in acting if (price := item.price(advice.basis))}
    cheaper = sorted(
        (it for it in acting if it.strategy in prices and prices[it.strategy].saves),
        key=lambda it: (
            it.verdict in LOSES,
            it.strategy != asks,
            it.verdict != MAY_LOSE,
            prices[it.strategy].per_run,
        ),
    )
    if cheaper:
        return cheaper[0].strategy, _why_not(advice, cheaper, acting, assumed)
    if not acting:
        names = listed([f"`{item.strategy}`" for item in others])
        return "", f"{names} changed nothing." if others else "nothing was tried."
    first, *more = acting
    if not more and first.verdict in LOSES:
        return first.strategy, f"`{first.strategy}` {_loses(first, advice, quoting=True)}."
    if all(item.verdict == "invalid" for item in acting):
        return first.strategy, "no strategy that changed anything is valid."
    dearer = f"no strategy {'uses fewer tokens' if advice.basis == 'tokens' else 'costs less'}"
    if not more and (price := prices.get(first.strategy)) and price.ratio is not None:
        dearer = f"`{first.strategy}` {costs(price)}"
    economy = _ECONOMY.get(advice.basis, "")
    rest = f"on {sample(advice)}.{_other_economy(advice, acting)}"
    return first.strategy, f"{dearer}{economy}, {rest}"


def _why_not(
    advice: Advice, cheaper: Sequence[Ranked], acting: Sequence[Ranked], assumed: bool
) -> str:
    """The clauses on the first strategy that costs less, and why it is not advised.

    One that is not certain to save comes before those that a rule refuses.
    """
    item, *more = cheaper
    name = f"`{item.strategy}`"
    price, cost = item.price(advice.basis), _cost(advice, item, assumed)
    if item.verdict in LOSES:
        most = item.strategy == advice.cheapest_rejected
        which = f"the one that saves most, {name}," if most else name
        start = f"no strategy that saves is acceptable; {which}" if more else name
        why = _loses(item, advice, quoting=True, counting=True)
        return f"{start} {cost}, but {why}.{_other_economy(advice, acting)}"
    if item.failed is None:
        why = f"the saving is certain, but {item.reason}"
    elif advice.tasks < FEWEST:
        why = item.reason
    elif assumed and price is not None and price.certain:
        why = f"the cache is not recorded, and without it this is not certain on {sample(advice)}"
    else:
        why = f"the saving is not certain on {sample(advice)}: {name} {item.reason}"
    return f"{why}. So far {name} {cost}.{_other_economy(advice, [item])}"


def _loses(item: Ranked, advice: Advice, *, quoting: bool = False, counting: bool = False) -> str:
    """The clause on the first rule that refuses a strategy."""
    failed = [item.failed] if item.failed else []
    why = refused_by(item, advice, *failed, quoting=quoting, counting=counting)
    return f"{LOSES[item.verdict]}: {why}"


def _other_economy(advice: Advice, items: Sequence[Ranked]) -> str:
    """A second sentence on what to do without the cache (or with one) if the price there of the
    cheapest of some strategies says the opposite; else ""."""
    other: Economy = "uncached" if advice.basis == "cached" else "cached"
    best, item = best_in(advice, other), _cheapest(items, other)
    here, price = (item.price(it) if item else None for it in (advice.basis, other))
    if item is None or price is None or here is None:
        return ""
    is_open = here.saves and bool(item.condition)
    if price.saves == here.saves and not is_open:
        return ""
    too = "" if best or advice.advised else " too"
    start = f" With{'' if other == 'cached' else 'out'} a cache: {to_do(best)}{too}"
    if best and not here.saves:
        return f"{start}, which {costs(best.price(other) or price)} there."
    why = f"`{item.strategy}` {costs(price)} there"
    if is_open:
        why = f"`{item.strategy}` may cost more; to price that, add `--model`"
    elif item.verdict in LOSES:
        why += f", but {LOSES[item.verdict]}"
    elif price.saves:
        why = f"it is not certain that {why}"
    return f"{start}, since {why}."


def best_in(advice: Advice, economy: Economy) -> Ranked | None:
    """The cheapest strategy with a cache (or without one) that breaks no rule and certainly saves
    there; None without one."""
    usable = [
        item
        for item in advice.ranked
        if item.verdict == "ship" or (economy == "uncached" and item.verdict not in LOSES)
        if not (item.marks or item.condition) and (price := item.price(economy)) and price.certain
    ]
    return _cheapest(usable, economy)


def _cheapest(items: Sequence[Ranked], economy: Economy) -> Ranked | None:
    """The cheapest strategy with a cache (or without one); one that a rule refuses only where all
    are refused. None without prices."""
    places = [
        (item.verdict in LOSES, price.ratio, at)
        for at, item in enumerate(items)
        if (price := item.price(economy)) and price.ratio
    ]
    return items[min(places)[2]] if places else None


def to_do(best: Ranked | None) -> str:
    """What to do: ship a strategy, or keep what runs today."""
    return f"ship `{best.strategy}`" if best else "keep what runs today"


# ---------------------------------------------------------------- stores, evaluators, routers


def figures_of(advice: Advice, answers: Rule) -> list[tuple[Ranked, RuleResult]]:
    """The strategies whose store, evaluator or router was measured, each with its figure: the
    advised one, then the best first, those that a rule refuses last."""
    figures = [
        (item, result)
        for item in advice.ranked
        for result in [result for result in item.rules if result.rule == answers][:1]
        if result.value is not None and item.strategy != TODAY
    ]

    def place(pair: tuple[Ranked, RuleResult]) -> tuple[bool, bool, float, str]:
        name, merits = pair[0].strategy, merit(pair[0].rules, answers)
        return name != advice.advised, pair[0].verdict in LOSES, -merits, name

    return sorted(figures, key=place)


def _of_quality(advice: Advice, answers: Rule) -> tuple[str, str]:
    """The best store, evaluator or router, and the sentence on it and its gain."""
    figures = figures_of(advice, answers)
    if not figures and advice.advised:
        return advice.advised, f"Ship `{advice.advised}`: what runs today is not valid."
    if not figures:
        return "", "Nothing that these strategies fill could be measured."
    best, result = figures[0]
    runs, ratio, name = sample(advice), best.cached and best.cached.ratio, best.strategy
    last = next((rule for rule in best.rules if not rule.passed), best.rules[-1])
    is_known, shown = not is_unknown_today(best), as_shown(result)
    beside = (f"{percent(as_shown(it).value)} with `{one.strategy}`" for one, it in figures[1:4])
    today = todays_in_words(best, result) if is_known else "; ".join(beside)
    keeps = best.verdict == "no gain" and result.value == result.limit
    said = "" if keeps and today == AS_TODAY else today
    basis = [basis_in_words(shown, advice), interval_in_words(shown), said]
    about = "; ".join(filter(None, basis))
    words = figure_in_words(result) + (f" ({about})" if about else "") + rest_in_words(result)
    on = "" if runs in about + best.reason else f" (on {runs})"
    price = f"a run {_cost(advice, best, assumed=False)}"
    cost = price if ratio not in (None, 1) else ""
    if name == advice.advised and last.rule == "cheaper":
        return name, f"Ship `{name}`: {cost}; it {words}.{_certainly(advice, best, False)}"
    if name == advice.advised:
        gain = _certainly(advice, best, False) if last.rule == "better" else ""
        return name, f"Ship `{name}`: it {'; '.join(filter(None, [words, cost]))}.{gain}"
    if keeps:
        same = [pair for pair in figures[1:] if pair[1].value == result.value]
        others = [f"`{one.strategy}` ({basis_in_words(as_shown(it), advice)})" for one, it in same]
        nor = (
            f" {listed(others)} {'is' if len(others) == 1 else 'are'} no better either."
            if others
            else ""
        )
        return name, f"{_KEEP}: `{name}` {words}, {NO_BETTER}{cost and f'; {cost}'}{on}.{nor}"
    if best.verdict != "not certain":
        worse = f"which is {'certainly ' if is_sure(result) else ''}worse"
        why = worse if last is result else f"but {best.reason}"
        return name, f"{_KEEP}: `{name}` {words}, {why}{on}."
    if is_known:
        return name, f"{_KEEP_FOR_NOW}: `{name}` {words}, but {best.reason}{on}."
    certainty = "" if best.reason == UNKNOWN else f" {best.reason}."
    lacking = f"the recordings do not say {_UNRECORDED.get(result.metric, _ADD)} to compare"
    return name, f"{_KEEP_FOR_NOW}: {lacking}. `{name}` {words}.{certainty}"
