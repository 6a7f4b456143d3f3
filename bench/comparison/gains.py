"""The last rule: the figure that answers the question is certainly better than today's, or it is
today's and the price is certainly lower."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec.structs import replace

from ..model.advice import TODAY, Advice, Ranked, RuleResult
from ..model.scores import Finding
from ..text.wording import listed
from .certainty import ALPHA, Estimate, corrected_for_tries, mean_gain
from .rules import ROUNDING, TABLE, asked_by, finite, merit, slots_in_spec
from .totals import Runs


def with_gains(items: Sequence[Ranked], runs: Runs, advice: Advice) -> list[Ranked]:
    """The strategies with the result of the last rule: of their figure if that is better or not
    known, else of the price that decides; of an assumed cache also of the one without it."""
    better = {} if advice.answers == "savings" else _better(items, runs, advice)
    found = []
    for item in items:
        asked = [item.price, item.uncached] if advice.assumed else [item.price]
        worst = max(asked, key=lambda price: finite(price.high if price else None))
        passed = all(price is not None and price.certain for price in asked)
        value = worst.high if worst else None
        last = RuleResult(rule="cheaper", passed=passed, value=value, limit=1.0)
        figure = better.get(item.strategy)
        if figure and (figure.passed or figure.findings or not passed):
            last = figure
        found.append(replace(item, rules=(*item.rules, last)))
    return found


def _better(items: Sequence[Ranked], runs: Runs, advice: Advice) -> dict[str, RuleResult]:
    """The result of the rule *better* of each strategy with the figure of the question: the lower
    end of the interval of its gain on today's.

    Strategies with today's figure on every task are left out: they can only be cheaper. If today's
    is not measured, nothing can be better than it; the finding then says which ones the best is
    certainly better than. One that fills a slot in which nothing could be measured is not better.
    """
    figures = {it.strategy: one for it in items if (one := it.result(advice.answers))}
    slots = {asked.slot for asked in TABLE if asked.rule == advice.answers}
    filling = (it.strategy for it in items if slots & slots_in_spec(it.spec).keys())
    better = {name: _unknown("", _UNMEASURED) for name in filling if name not in figures}
    if any(runs.means(TODAY, figure.metric) for figure in figures.values()):
        for (name, _), gain in _gains(runs, figures, ((name, TODAY) for name in figures)).items():
            better[name] = RuleResult(
                rule="better",
                metric=figures[name].metric,
                passed=gain.p <= ALPHA,
                value=gain.end,
                limit=0.0,
            )
        return better
    ordered = sorted(figures, key=lambda name: (-merit(figures[name]), name))
    pairs = _gains(runs, figures, combinations(ordered, 2))  # all, since the best was chosen
    worse = [
        f"`{it}`" for (best, it), gain in pairs.items() if best == ordered[0] and gain.p <= ALPHA
    ]
    than = f"; it is certainly better than {listed(worse, 3)}" if worse else ""
    for name in ordered:
        better[name] = _unknown(figures[name].metric, _NOT_TODAYS + than * (name == ordered[0]))
    return better


def _gains(
    runs: Runs, figures: Mapping[str, RuleResult], pairs: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Estimate]:
    """The gain of the first strategy of each pair whose figures differ, its p-value
    corrected over all of them."""
    differing: dict[tuple[str, str], tuple[float, ...]] = {}
    for pair in pairs:
        figure = figures[pair[0]]
        sign = -1 if asked_by(figure).better == "lower" else 1
        own, base = (runs.means(name, figure.metric) for name in pair)
        gains = tuple(sign * (own[task] - base[task]) for task in own if task in base)
        if max(map(abs, gains), default=0) > ROUNDING:
            differing[pair] = gains
    found = {pair: mean_gain(gains) for pair, gains in differing.items()}
    corrected = corrected_for_tries({it: (differing[it], gain.p) for it, gain in found.items()})
    return {pair: replace(gain, p=corrected[pair]) for pair, gain in found.items()}


def _unknown(metric: str, why: str) -> RuleResult:
    """The result where nothing can be better, for a reason."""
    findings = (Finding(None, why),)
    limit = 0.0 if metric else None
    return RuleResult(rule="better", metric=metric, passed=False, limit=limit, findings=findings)


_NOT_TODAYS = "today's is not recorded (add it as a strategy)"
_UNMEASURED = "nothing that it fills could be measured"
