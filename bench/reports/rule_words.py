"""The rules of the decision in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from ..comparison.rules import TABLE
from ..model.advice import RuleResult
from ..model.scores import Rule
from .numbers import change, count, of, percent, shortened


@dataclass(frozen=True)
class RuleWords:
    """A rule in words: its measure, and the end of a refusal, after a count of `noun` or a share."""

    measure: str
    refusal: str = ""
    noun: str = ""


RULES: dict[Rule, RuleWords] = {
    "ran": RuleWords("runs and gates that failed, replays that differ", "failed", "run"),
    "valid": RuleWords("prompts a provider would refuse", "a provider would refuse", "prompt"),
    "instructed": RuleWords(
        "prompts without the system prompt, the task or a standing instruction",
        "of prompts lack an instruction",
    ),
    "changed": RuleWords("values shown otherwise than the tool returned them", "changed", "value"),
    "misattributed": RuleWords(
        "sentences that give a value to another record", "of sentences misattribute a value"
    ),
    "invented": RuleWords(
        "generated texts that state something new", "of generated texts state something new"
    ),
    "hidden": RuleWords("failed results shown without their failure", "hidden", "error"),
    "needed": RuleWords(
        "turns that would have missed something they used, mean over tasks", "missed turns"
    ),
    "far": RuleWords(
        "needed facts from six or more turns back that are kept, mean over tasks", "old facts kept"
    ),
    "stored": RuleWords("fields kept in the store, questions answered"),
    "judged": RuleWords("evaluations and extractions that stay the same"),
    "routed": RuleWords("routes and selections as expected"),
    "cheaper": RuleWords("upper bound of the price against today"),
}
"""The words of each rule, in the order in which they are asked."""

_ASKED = {asked.rule: asked for asked in TABLE}
_COUNTS = ("ran", "count")


def is_count(rule: Rule) -> bool:
    """True for a rule that counts what it finds; every other one is a share or a ratio."""
    return _ASKED[rule].kind in _COUNTS


def rule_value(rule: Rule, value: float | None) -> str:
    """The value or the limit of a rule; "" where there is none.

    >>> rule_value("needed", 0.05), rule_value("changed", 3.0), rule_value("cheaper", 0.935)
    ('5%', '3', '−6.5%')
    """
    if value is None:
        return ""
    return (
        change(value) if rule == "cheaper" else count(value) if is_count(rule) else percent(value)
    )


def rule_failed(result: RuleResult, label: str = "") -> str:
    """The reason of a refusal in a few words, with the first words or value that failed; `label` is
    the short name of the rule's metric.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.148, limit=0.05))
    'missed turns 14.8%, above 5%'
    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.0503, limit=0.05))
    'missed turns 5.030%, above 5%'
    >>> rule_failed(RuleResult(rule="stored", passed=False, value=0.249, limit=1), "questions still answered")
    'questions still answered 24.9%, below 100%'
    >>> rule_failed(RuleResult(rule="changed", passed=False, value=3))
    '3 values changed'
    >>> rule_failed(RuleResult(rule="ran", passed=False, value=1))
    '1 gate failed'
    """
    words = RULES[result.rule]
    asked = _ASKED[result.rule]
    value = rule_value(result.rule, result.value)
    if is_count(result.rule):
        # A failed run has a finding.
        noun = "gate" if result.rule == "ran" and not result.findings else words.noun
        return f"{of(result.value or 0, noun)} {words.refusal}{_example(result)}"
    if asked.kind == "prose":
        return f"{value} {words.refusal}{_example(result)}"
    name = words.refusal or label
    if not value:
        return f"{name}: {'; '.join(item.text for item in result.findings) or 'not measured'}"
    side = "below" if asked.better == "higher" else "above"
    limit = rule_value(result.rule, result.limit)
    if value == limit:  # as far as it was rounded
        value = f"{result.value:.3%}"
    return f"{name} {value}, {side} {limit}"


def _example(result: RuleResult) -> str:
    """The first finding of a rule, quoted; `""` where it has none."""
    texts = (item.text.partition(" — ")[0] for item in result.findings)
    text = next(filter(str.strip, texts), "")
    return f", such as {quoted(text)}" if text else ""


def quoted(text: str) -> str:
    """A text in quotation marks, the middle of a long one left out.

    >>> quoted("so  far")
    '"so far"'
    """
    return f'"{shortened(text, 60)}"'
