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
from .rules import ROUNDING, entry_of, finite, merit
from .totals import Runs


def with_gains(items: Sequence[Ranked], runs: Runs, advice: Advice) -> list[Ranked]:
    """The strategies with the result of the last rule.

    That is *better*, about the figure that answers the question, if it passes or is not known; else
    *cheaper*. If the cache is assumed, a strategy must be cheaper with it and without it.
    """
    better = _better(items, runs)
    completed = []
    for item in items:
        prices = [item.price, item.uncached] if advice.assumed else [item.price]
        worst = max(prices, key=lambda price: finite(price.high if price else None))
        passed = all(price is not None and price.certain for price in prices)
        value = worst.high if worst else None
        last = RuleResult(rule="cheaper", passed=passed, value=value, limit=1.0)
        figure = better.get(item.strategy)
        if figure and (figure.passed or figure.findings or not passed):
            last = figure
        completed.append(replace(item, rules=(*item.rules, last)))
    return completed


def _better(items: Sequence[Ranked], runs: Runs) -> dict[str, RuleResult]:
    """The result of the rule *better* of each strategy with a figure that answers its question: the
    lower end of the interval of its gain on today's figure.

    Strategies with today's figure on every task are left out: they can only be cheaper. Without
    today's figure nothing can be better than it, and the finding says which strategies the best is
    certainly better than. A strategy that was not measured there is not better.
    """
    about = [item for item in items if item.answers != "savings"]
    figures = {item.strategy: figure for item in about if (figure := item.result(item.answers))}
    better = {it.strategy: _unknown("", _UNMEASURED) for it in about if it.strategy not in figures}
    known = [name for name, figure in figures.items() if runs.means(TODAY, figure.metric)]
    unknown = sorted({*figures} - {*known}, key=lambda name: (-merit(figures[name]), name))
    best = {figures[name].metric: name for name in reversed(unknown)}
    # All pairs are tested, not only those of the best, since it was chosen by these figures.
    others = (
        pair for pair in combinations(unknown, 2) if len({figures[it].metric for it in pair}) < 2
    )
    gains = _gains(runs, figures, [*((name, TODAY) for name in known), *others])
    for name in known:
        if gain := gains.get((name, TODAY)):
            passed, metric = gain.p <= ALPHA, figures[name].metric
            better[name] = RuleResult(
                rule="better", metric=metric, passed=passed, value=gain.end, limit=0.0
            )
    for name in unknown:
        metric, part = figures[name].metric, entry_of(figures[name]).slot.removesuffix("s")
        worse = [f"`{b}`" for (a, b), gain in gains.items() if a == name and gain.p <= ALPHA]
        is_told = worse and best[metric] == name
        than = f"; `{name}` is certainly better than {listed(worse, 3)}" if is_told else ""
        better[name] = _unknown(metric, _NOT_TODAYS.format(part) + than)
    return better


def _gains(
    runs: Runs, figures: Mapping[str, RuleResult], pairs: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Estimate]:
    """The gain of the first strategy of each pair on the second, if their figures differ; its
    p-value is corrected over all these pairs."""
    differing: dict[tuple[str, str], tuple[float, ...]] = {}
    for pair in pairs:
        figure = figures[pair[0]]
        sign = -1 if entry_of(figure).better == "lower" else 1
        first, second = (runs.means(name, figure.metric) for name in pair)
        gains = tuple(sign * (first[task] - second[task]) for task in first if task in second)
        if max(map(abs, gains), default=0) > ROUNDING:
            differing[pair] = gains
    means = {pair: mean_gain(gains) for pair, gains in differing.items()}
    corrected = corrected_for_tries({pair: (differing[pair], means[pair].p) for pair in means})
    return {pair: replace(gain, p=corrected[pair]) for pair, gain in means.items()}


def _unknown(metric: str, why: str) -> RuleResult:
    """The result of *better* for a strategy that cannot be compared, with the reason."""
    findings = (Finding(None, why),)
    limit = 0.0 if metric else None
    return RuleResult(rule="better", metric=metric, passed=False, limit=limit, findings=findings)


_NOT_TODAYS = "what today's {} would do is not recorded: add it as a strategy"
_UNMEASURED = "nothing that it fills could be measured"
