"""The gain in the figure that a scenario about stores, evaluators or routers is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..model.advice import TODAY, RuleResult
from ..model.scores import Finding, Rule
from .certainty import FEWEST, certain, corrected_for_tries, mean_gain
from .rules import ROUNDING, TABLE, asked_by, merit, slots_in_spec
from .totals import Runs


def gains_of(
    runs: Runs, about: Rule, results: Mapping[str, Sequence[RuleResult]], specs: Mapping[str, str]
) -> dict[str, RuleResult]:
    """The result of the rule *better* for each strategy with the figure of a rule: the lower end of
    the interval of its gain on today's.

    Strategies with today's figure on every task are left out: they can only be cheaper. If today's
    is not measured, nothing can be better than it; the finding then compares with the worst
    strategy, and the worst with the best. One that fills a slot in which nothing could be measured
    is not better.
    """
    figures = {
        name: figure
        for name, of_rules in results.items()
        for figure in [one for one in of_rules if one.rule == about][:1]
        if name != TODAY
    }
    is_known = any(runs.means(TODAY, figure.metric) for figure in figures.values())
    ordered = sorted(figures, key=lambda name: (merit([figures[name]], about), name))
    worst, best = (ordered[0], ordered[-1]) if ordered else ("", "")
    gains: dict[str, tuple[float, ...]] = {}
    for name, figure in figures.items():
        sign = -1 if asked_by(figure).better == "lower" else 1
        base = runs.means(TODAY if is_known else worst, figure.metric)
        own = runs.means(name, figure.metric)
        gains[name] = tuple(sign * (own[task] - base[task]) for task in own if task in base)
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
    for name in differing if is_known else figures:
        is_certain = certain(corrected.get(name, 1.0), len(gains[name]))
        better[name] = RuleResult(
            rule="better",
            metric=figures[name].metric,
            passed=is_certain and is_known,
            value=found[name].low if name in found and len(gains[name]) >= FEWEST else None,
            limit=0.0,
        )
    if is_known:
        return better
    certainly = {name for name in differing if certain(corrected[name], len(gains[name]))}
    for name in figures:
        text = "today is not recorded to compare with"
        if name in certainly:
            text += f"; `{name}` is certainly better than `{worst}`"
        elif name == worst and best in certainly:
            text += f"; `{name}` is certainly worse than `{best}`"
        elif name in differing:
            text += f"; `{name}` is not certainly better than `{worst}`"
        better[name] = replace(better[name], findings=(Finding(None, text),))
    return better


_UNMEASURED = RuleResult(
    rule="better",
    passed=False,
    findings=(Finding(None, "nothing that it fills could be measured"),),
)
