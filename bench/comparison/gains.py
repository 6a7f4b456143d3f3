"""The gain in the figure that a scenario about stores, evaluators or routers is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from ..model.advice import TODAY, RuleResult
from ..model.scores import Finding, Rule
from ..text.wording import listed
from .certainty import FEWEST, certain, corrected_for_tries, mean_gain
from .rules import ROUNDING, TABLE, asked_by, merit, slots_in_spec
from .totals import Runs


def gains_of(
    runs: Runs, about: Rule, results: Mapping[str, Sequence[RuleResult]], specs: Mapping[str, str]
) -> dict[str, RuleResult]:
    """The result of the rule *better* for each strategy with the figure of a rule: the lower end of
    the interval of its gain on today's.

    Strategies with today's figure on every task are left out: they can only be cheaper. If today's
    is not measured, nothing can be better than it; the finding then compares with the best strategy
    (`_against_best`). One that fills a slot in which nothing could be measured is not better.
    """
    figures = {
        name: figure
        for name, of_rules in results.items()
        for figure in [one for one in of_rules if one.rule == about][:1]
        if name != TODAY
    }
    is_known = any(runs.means(TODAY, figure.metric) for figure in figures.values())
    gains = {name: _gains(runs, figure, name, TODAY) for name, figure in figures.items()}
    differing = {
        name: values
        for name, values in gains.items()
        if max(map(abs, values), default=0) > ROUNDING
    }
    found = {name: mean_gain(values) for name, values in differing.items()}
    corrected = corrected_for_tries({name: (gains[name], found[name].p) for name in found})
    slots = {asked.slot for asked in TABLE if asked.rule == about}
    better = {
        name: _UNMEASURED
        for name in results.keys() - figures.keys() - {TODAY}
        if slots & slots_in_spec(specs.get(name, "")).keys()
    }
    for name in differing:
        is_certain = certain(corrected.get(name, 1.0), len(gains[name]))
        better[name] = RuleResult(
            rule="better",
            metric=figures[name].metric,
            passed=is_certain,
            value=found[name].low if len(gains[name]) >= FEWEST else None,
            limit=0.0,
        )
    return better if is_known else better | _against_best(runs, about, figures)


def _against_best(
    runs: Runs, about: Rule, figures: Mapping[str, RuleResult]
) -> dict[str, RuleResult]:
    """The result of the rule *better* for each strategy if today's figure is not known: none passes,
    and the finding says which ones the best is certainly better than. All pairs are tries, since
    the best was chosen among them."""
    ordered = sorted(figures, key=lambda name: (-merit([figures[name]], about), name))
    found: dict[tuple[str, str], tuple[tuple[float, ...], float]] = {}
    for one, other in combinations(ordered, 2):
        gains = _gains(runs, figures[one], one, other)
        if max(map(abs, gains), default=0) > ROUNDING:
            found[one, other] = gains, mean_gain(gains).p
    corrected = corrected_for_tries(found)
    worse = [
        f"`{other}`"
        for (one, other), (gains, _) in found.items()
        if one == ordered[0] and certain(corrected[one, other], len(gains))
    ]
    than = f"; it is certainly better than {listed(worse, 3)}" if worse else ""
    texts = {name: _UNKNOWN + (than if name == ordered[0] else "") for name in ordered}
    return {
        name: RuleResult(
            rule="better",
            metric=figures[name].metric,
            passed=False,
            limit=0.0,
            findings=(Finding(None, text),),
        )
        for name, text in texts.items()
    }


def _gains(runs: Runs, figure: RuleResult, name: str, other: str) -> tuple[float, ...]:
    """How much better a strategy is than another one, task by task."""
    sign = -1 if asked_by(figure).better == "lower" else 1
    own, base = (runs.means(one, figure.metric) for one in (name, other))
    return tuple(sign * (own[task] - base[task]) for task in own if task in base)


_UNKNOWN = "today's is not recorded (add it as a strategy)"
_UNMEASURED = RuleResult(
    rule="better",
    passed=False,
    findings=(Finding(None, "nothing that it fills could be measured"),),
)
