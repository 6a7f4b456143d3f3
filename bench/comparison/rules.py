"""The rules of the decision in one table, in the order in which they are applied.

A strategy that fails one is not advised. What runs today only has to pass *ran* and *valid*. Its
own faults are not held against another strategy: only hits beyond today's count, and a limit is
never stricter than today's value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from ..model.advice import TODAY, RuleResult, Verdict
from ..model.errors import SpecError
from ..model.scores import Check, FalseAlarms, Finding, MeasuredRun, Number, Rule
from ..model.signature import MAX_FAULT_RATE, MIN_FAR_RECALL
from ..plugins.spec import split_top
from .certainty import FEWEST, interval_of_share, lowest_rate
from .totals import Runs, value_of


@dataclass(frozen=True)
class DecisionRule:
    """One rule: its verdict, and what it measures.

    A rule with a `refusal` searches texts. In words, the refusal follows a count of `noun` or, if
    the rule reads prose, the share of texts; `example` quotes the first text found, and the
    original text in its place; the `counted` metrics count the texts. Any other rule limits a share
    of some `things`: the first of its metrics that was measured, stated by the words in `figures`.
    A rule with a `slot` is applied only to strategies that fill it, and its limit is today's value.
    """

    rule: Rule
    verdict: Verdict
    measure: str
    refusal: str = ""
    noun: str = ""
    example: str = "such as {}"
    counted: tuple[str, ...] = ()
    figures: Mapping[str, str] = field(default_factory=dict)
    things: str = ""
    limit: float = 1.0
    slot: str = ""
    better: Literal["lower", "higher"] = "higher"


_LOSS: Verdict = "loses too much"
TABLE: tuple[DecisionRule, ...] = (
    DecisionRule("ran", "invalid", "failed runs and gates", "failed", "run"),
    DecisionRule(
        "valid", "invalid", "prompts a provider would refuse", "a provider would refuse", "prompt",
        counted=("prompt.invalid",),
    ),
    DecisionRule(
        "instructed", "unfaithful", "prompts without a request or instruction",
        "of prompts lack a request or instruction", example="such as {1}",
        counted=("prompt.system_missing", "prompt.task_missing", "prompt.rules_missing"),
    ),
    DecisionRule(
        "changed", "unfaithful", "values that differ from the output of the tool",
        "of {} rewritten texts changed", "value", example="such as {1} → {0}",
        counted=("faithful.changed",),
    ),
    DecisionRule(
        "misattributed", "unfaithful", "sentences that give a value to another record",
        "of sentences misattribute a value",
    ),
    DecisionRule(
        "invented", "unfaithful", "generated texts that state something new",
        "of generated texts state something new", counted=("faithful.invented",),
    ),
    DecisionRule(
        "hidden", "unfaithful", "failed results shown without their failure", "hidden", "error",
        example="shown as {}", counted=("faithful.hidden_errors",),
    ),
    DecisionRule(
        "needed", _LOSS, "missed turns", things="turns", limit=MAX_FAULT_RATE, better="lower",
        figures={"needed.missed_turn_rate": "{} of turns miss something"},
    ),
    DecisionRule(
        "far", _LOSS, "old facts kept", things="facts", limit=MIN_FAR_RECALL,
        figures={"needed.recall.far": "{} of old facts are kept"},
    ),
    DecisionRule(
        "stored", _LOSS, "fields or facts kept in the store", things="results", slot="store",
        figures={
            "loss.leaf_recall.stored": "keeps {} of the fields in the store",
            "loss.fact_recall.stored": "keeps {} of the facts in the store",
        },
    ),
    DecisionRule(
        "stored", _LOSS, "questions answered", things="questions", slot="store",
        figures={"probes.recall": "answers {} of the questions"},
    ),
    DecisionRule(
        "judged", _LOSS, "judgements as with whole results", things="judgements", slot="evaluator",
        figures={"findings.agreement": "judges {} of the results as it does with whole results"},
    ),
    DecisionRule(
        "routed", _LOSS, "right scripts found first", things="requests", slot="routers",
        figures={"routing.selection_top1": "finds the right script first for {} of the requests"},
    ),
    DecisionRule(
        "routed", _LOSS, "routes as expected", things="decisions", slot="routers",
        figures={"routing.accuracy": "takes the expected route in {} of the decisions"},
    ),
    DecisionRule(
        "routed", _LOSS, "routes as with whole results", things="decisions", slot="routers",
        figures={"routing.agreement": "takes the same route as with whole results in {} of the decisions"},
    ),
    DecisionRule(
        "routed", _LOSS, "replies that leave the task's state uncleared", things="replies",
        slot="consumer", better="lower",
        figures={"routing.unreset_states": "leaves the state uncleared after {} of the replies"},
    ),
    DecisionRule("better", "not certain", "lower end of the 95% interval of the gain on today, corrected for all tries"),
    DecisionRule("cheaper", "not certain", "upper end of the 95% interval of the price against today's, corrected for all tries"),
)  # fmt: skip
"""The table. `instructed`, `misattributed` and `invented` read prose: their limits are their own
false-alarm rates."""


def entry_of(result: RuleResult) -> DecisionRule:
    """The entry of the table to which a result belongs."""
    entries = [entry for entry in TABLE if entry.rule == result.rule]
    return next((entry for entry in entries if result.metric in entry.figures), entries[0])


def place_of(metric: str) -> int:
    """The place in the table of the rule that a metric is about; that after it for no rule."""
    about = (metric in (*entry.counted, *entry.figures) for entry in TABLE)
    return next((at for at, is_it in enumerate(about) if is_it), len(TABLE))


GAINS: tuple[Rule, ...] = ("better", "cheaper")
"""The rules about the gain, of which one is applied last."""
FINDINGS = 5
"""The most findings that a rule's result lists."""
ROUNDING = 1e-9
"""Shares count as equal if they differ by no more."""


def slots_in_spec(spec: str) -> dict[str, str]:
    """The slots that a spec fills, each with its text, without the strategy's name; none for a text
    that is no spec, which a file may have.

    >>> slots_in_spec("mine=store=truncate:limit=5+routers=[a,b]"), slots_in_spec("recorded")
    ({'store': 'truncate:limit=5', 'routers': '[a,b]'}, {})
    """
    slots: dict[str, str] = {}
    with suppress(SpecError):
        for part in split_top(spec, "+"):
            slot, _, value = part.partition("=")
            if slot.strip() not in _SLOTS:  # the name of the strategy
                slot, _, value = value.partition("=")
            if slot.strip() in _SLOTS:
                slots[slot.strip()] = value
    return slots


_SLOTS = ("summarizer", "store", "compactor", "evaluator", "routers", "consumer", "says")


Rates = Mapping[Rule, FalseAlarms]
"""The measured false-alarm rates of the rules that read prose (0 for a missing one)."""


def results_of(
    runs: Runs,
    strategy: str,
    *,
    spec: str = "",
    rates: Rates | None = None,
    failed_gates: Sequence[str] = (),
) -> tuple[RuleResult, ...]:
    """The results of all rules for one strategy, in order, except those about the gain.

    What runs today has only *ran* and *valid*. `failed_gates` are the metrics of its failed gates.
    """
    slots = slots_in_spec(spec)
    results: list[RuleResult | None] = []
    for entry in TABLE:
        if entry.rule in GAINS or (strategy == TODAY and entry.rule not in ("ran", "valid")):
            continue
        if entry.rule == "ran":
            results.append(_ran(runs, strategy, failed_gates))
        elif entry.refusal:
            results.append(_in_texts(runs, entry, strategy, (rates or {}).get(entry.rule)))
        elif not entry.slot or entry.slot in slots:
            results.append(_share(runs, entry, strategy))
    return tuple(result for result in results if result is not None)


def unchecked_words(runs: Runs, strategy: str) -> str | None:
    """The first text of a strategy that could not be checked; "" if only some rules were not
    applied, and None if everything was checked."""
    searching = [entry.rule for entry in TABLE if entry.refusal and entry.rule != "ran"]
    words = None
    for run in runs.all:
        score = runs.score(run, strategy)
        for rule in searching:
            check = score.checks.get(rule) if score else None
            if check is None or check.unchecked:
                words = words or (check.unchecked_text if check else "")
    return words


def verdict_of(results: tuple[RuleResult, ...]) -> Verdict | None:
    """The verdict of the first rule that refuses; "not certain" if rules are only broken because
    there was nothing to measure, and None if all pass."""
    broken = [result for result in results if not result.passed]
    measured = (entry_of(result).verdict for result in broken if result.value is not None)
    return next(measured, "not certain" if broken else None)


def is_certain(result: RuleResult) -> bool:
    """True if a rule's decision is certain; False if more runs could decide otherwise.

    A share needs enough tasks and an interval beyond the limit. Today's share is a limit only where
    it is 0 or 1, so the same in every task.

    >>> lost = RuleResult(rule="stored", passed=False, value=0.9, limit=1.0, metric="probes.recall", tasks=6)
    >>> ends = None, (0.8, 0.95), (0.8, 1.0)
    >>> [is_certain(replace(lost, interval=one)) for one in ends], is_certain(replace(lost, tasks=5))
    ([True, True, False], False)
    """
    entry, limit = entry_of(result), result.limit or 0.0
    if not entry.figures:
        return True  # a text that was found stays found
    if result.tasks < FEWEST or (entry.slot and limit not in (0, 1)):
        return False
    # No interval: all tasks have the same share.
    return result.interval is None or not result.interval[0] <= limit <= result.interval[1]


# ---------------------------------------------------------------- the kinds of rules


def _ran(runs: Runs, strategy: str, failed_gates: Sequence[str]) -> RuleResult:
    """The result of *ran*: a strategy ran on every run, twice with the same answers, and none of
    its gates failed. If a run failed, its gates are not counted too."""
    names = runs.names
    failures = [replace(found, run=names[found.run]) for found, _ in runs.failures(strategy)]
    count = len(failures) or len(failed_gates)
    return RuleResult(
        rule="ran",
        metric="" if failures else next(iter(failed_gates), ""),
        passed=count == 0,
        value=float(count),
        limit=0.0,
        findings=tuple(failures[:FINDINGS]),
    )


def _in_texts(
    runs: Runs, entry: DecisionRule, strategy: str, rates: FalseAlarms | None
) -> RuleResult:
    """The result of a rule that searches texts. Hits that today's texts of the same run have too do
    not count.

    A rule that counts refuses at the first hit, a rule that reads prose if the rate of hits is
    certainly above the rule's false alarms.
    """
    findings: list[Finding] = []
    hits = texts = summaries = 0
    for run in runs.all:
        check = _check(runs, run, strategy, entry.rule)
        todays = Check() if strategy == TODAY else _check(runs, run, TODAY, entry.rule)
        new_hits = max(0, check.hits - todays.hits)
        hits += new_hits
        texts += check.of
        summaries += check.summaries
        new = (item for item in check.findings if new_hits and item not in todays.findings)
        findings += (replace(finding, run=runs.names[run.id]) for finding in new)
    result = RuleResult(
        rule=entry.rule,
        passed=hits == 0,
        value=float(hits),
        limit=0.0,
        findings=tuple(findings[:FINDINGS]),
    )
    if entry.noun:
        return replace(result, of=float(texts) if hits else None)
    low = lowest_rate(hits, texts)
    expected = (rates or FalseAlarms()).expected(texts, summaries)
    value = hits / texts if texts else None
    return replace(result, passed=low <= expected, value=value, limit=expected, low=low)


def _check(runs: Runs, run: MeasuredRun, strategy: str, rule: Rule) -> Check:
    score = runs.score(run, strategy)
    return Check() if score is None else score.checks.get(rule, Check())


def _share(runs: Runs, entry: DecisionRule, strategy: str) -> RuleResult | None:
    """The result of a rule on a share; None if its slot has nothing to measure.

    A share that could not be measured does not pass, except for *far* if no old fact was needed.
    """
    shares = {metric: runs.share(strategy, metric) for metric in entry.figures}
    measured = [metric for metric, share in shares.items() if share.weight]
    metric = (measured or [*shares])[0]
    share, (hits, of) = shares[metric], runs.counts(strategy, metric)
    result = RuleResult(rule=entry.rule, metric=metric, passed=False, hits=hits, of=of)
    if not measured:
        is_empty = share.reason == "nothing to measure"
        if is_empty and entry.slot:
            return None
        passed = is_empty and entry.rule == "far"
        findings = () if passed else (Finding(None, share.reason),)
        return replace(result, passed=passed, limit=entry.limit, findings=findings)
    value, limit = share.value or 0.0, _limit(runs.share(TODAY, metric), entry)
    is_lower = entry.better == "lower"
    lost = 0.0 if limit is None else value - limit if is_lower else limit - value
    means = [*runs.means(strategy, metric).values()]
    result = replace(result, tasks=len(means), interval=interval_of_share(means))
    return replace(result, passed=lost <= ROUNDING, value=value, limit=limit)


def _limit(todays: Number, entry: DecisionRule) -> float | None:
    """The limit of a share: the rule's limit, but never stricter than today's value; for a slot it
    is today's value. Without one the rule's limit applies, or none for *routed*."""
    today = value_of(todays)
    if today is None:
        return None if entry.rule == "routed" else entry.limit
    if entry.slot:
        return today
    return max(entry.limit, today) if entry.better == "lower" else min(entry.limit, today)


def merit(result: RuleResult | None) -> float:
    """The value of a result to sort by, negated if lower is better; −∞ if it was not measured."""
    if result is None or result.value is None:
        return -math.inf
    return -result.value if entry_of(result).better == "lower" else result.value


def finite(value: float | None) -> float:
    """A value to sort by; a missing one is infinite, so that it comes last."""
    return math.inf if value is None or not math.isfinite(value) else value
