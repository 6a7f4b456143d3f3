"""Short names of metrics and rules for people.

A metric that is not listed is called by its title or its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..comparison.rules import TABLE
from ..model.advice import RuleResult
from ..model.metric import MetricInfo
from ..model.scores import Rule
from .numbers import change, count, of, percent

LABELS = {
    "cost.usd": "price with cache",
    "cost.usd_uncached": "price without cache",
    "cost.prompt_tokens": "prompt tokens",
    "cost.cached_prompt_tokens": "prompt tokens from the cache",
    "cost.peak_prompt_tokens": "largest prompt",
    "cost.strategy_call_tokens": "tokens of the strategy's own calls",
    "cost.conversation_tokens": "tokens of the conversation",
    "cost.command_history_tokens": "tokens of the command history",
    "cost.window_overflows": "prompts above the window",
    "cost.refetch_usd": "price of fetching again what was missed",
    "loss.fact_recall.shown": "facts kept when first shown",
    "loss.fact_recall.stored": "facts kept in the store",
    "loss.fact_recall.end": "facts kept to the end",
    "loss.leaf_recall.shown": "fields kept when first shown",
    "loss.leaf_recall.stored": "fields kept in the store",
    "loss.leaf_recall.end": "fields kept to the end",
    "loss.retrievable": "facts behind a handle",
    "loss.silent_truncation": "results cut without a notice",
    "loss.commands_lost": "commands lost",
    "needed.recall": "needed facts kept",
    "needed.recall.far": "old facts kept, from six or more turns back",
    "needed.missed_turns": "missed turns, in all runs",
    "needed.missed_turn_rate": "turns that would have missed something",
    "needed.refetches": "calls repeated for a dropped answer",
    "faithful.changed": "values changed",
    "faithful.invented": "texts with invented facts",
    "faithful.hidden_errors": "errors hidden",
    "prompt.invalid": "prompts a provider would refuse",
    "prompt.system_missing": "prompts without the system prompt",
    "prompt.task_missing": "prompts without the task",
    "prompt.rules_missing": "prompts without a standing instruction",
    "findings.agreement": "findings unchanged",
    "findings.evaluation_agreement": "evaluations unchanged",
    "findings.extraction_agreement": "extractions unchanged",
    "probes.recall": "questions still answered",
    "routing.accuracy": "routes as expected",
    "routing.first_divergence": "routes before the first wrong one",
    "routing.false_aborts": "runs aborted wrongly",
    "routing.missed_aborts": "aborts missed",
    "routing.loops": "loops",
    "routing.missed_loops": "loops missed",
    "routing.false_loops": "loops seen wrongly",
    "routing.unreset_states": "replies that left the task state",
    "routing.reply_errors": "replies that failed",
    "routing.unapproved_executions": "scripts run without approval",
    "routing.selection_top1": "expected script first",
    "routing.selection_recall_at_3": "expected script in the first three",
}

FAMILIES = {
    "cost": "Cost",
    "needed": "Needed",
    "loss": "Loss",
    "faithful": "Faithful",
    "prompt": "Valid prompts",
    "findings": "Findings",
    "probes": "Questions",
    "routing": "Routing and selection",
}
"""The groups of metrics in the order of the report."""


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
        "prompts without the system prompt, the task or a standing instruction", "of prompts lack an instruction"
    ),
    "changed": RuleWords("values shown otherwise than the tool returned them", "changed", "value"),
    "misattributed": RuleWords("sentences that give a value to another record", "of sentences misattribute a value"),
    "invented": RuleWords("generated texts that state something new", "of generated texts state something new"),
    "hidden": RuleWords("failed results shown without their failure", "hidden", "error"),
    "needed": RuleWords("turns that would have missed something they used, mean over tasks", "missed turns"),
    "far": RuleWords("needed facts from six or more turns back that are kept, mean over tasks", "old facts kept"),
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


def label(metric: str, info: MetricInfo | None = None) -> str:
    """The short name of a metric.

    >>> label("needed.recall.far"), label("own.metric")
    ('old facts kept, from six or more turns back', 'own.metric')
    """
    return LABELS.get(metric) or (info.title.rstrip(".") if info and info.title else metric)


def sentence_case(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def rule_value(rule: Rule, value: float | None) -> str:
    """The value or the limit of a rule; "" where there is none.

    >>> rule_value("needed", 0.05), rule_value("changed", 3.0), rule_value("cheaper", 0.935)
    ('5%', '3', '−6.5%')
    """
    if value is None:
        return ""
    return change(value) if rule == "cheaper" else count(value) if is_count(rule) else percent(value)


def rule_failed(result: RuleResult) -> str:
    """The reason of a refusal in a few words.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.148, limit=0.05))
    'missed turns 14.8%, above 5%'
    >>> rule_failed(RuleResult(rule="stored", passed=False, metric="probes.recall", value=0.249, limit=1))
    'questions still answered 24.9%, below 100%'
    >>> rule_failed(RuleResult(rule="changed", passed=False, value=3))
    '3 values changed'
    >>> rule_failed(RuleResult(rule="ran", passed=False, value=1))
    '1 gate failed'
    """
    words, asked, value = RULES[result.rule], _ASKED[result.rule], rule_value(result.rule, result.value)
    if is_count(result.rule):
        noun = "gate" if result.rule == "ran" and not result.findings else words.noun  # a failed run has a finding
        return f"{of(result.value or 0, noun)} {words.refusal}"
    if asked.kind == "prose":
        return f"{value} {words.refusal}"
    name = words.refusal or label(result.metric)
    if not value:
        return f"{name}: {'; '.join(item.text for item in result.findings) or 'not measured'}"
    side = "below" if asked.better == "higher" else "above"
    return f"{name} {value}, {side} {rule_value(result.rule, result.limit)}"
