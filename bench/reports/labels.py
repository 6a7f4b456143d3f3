"""Short names of metrics and rules for people.

A metric that is not listed is called by its title or its name.
"""

from __future__ import annotations

from ..model.advice import Ranked, RuleResult
from ..model.metric import MetricInfo
from ..model.scores import Rule
from .numbers import change, count, percent

LABELS = {
    "cost.usd": "price with cache",
    "cost.usd_uncached": "price without cache",
    "cost.prompt_tokens": "prompt tokens",
    "cost.cached_prompt_tokens": "of them from the cache",
    "cost.peak_prompt_tokens": "largest prompt",
    "cost.strategy_call_tokens": "tokens of the strategy's own calls",
    "cost.conversation_tokens": "tokens of the conversation",
    "cost.command_history_tokens": "tokens of the command history",
    "cost.window_overflows": "prompts above the window",
    "cost.refetch_usd": "if what was missed were fetched again",
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
    "needed.recall.far": "needed facts kept, six or more turns back",
    "needed.missed_turns": "turns that would have missed something",
    "needed.missed_turn_rate": "share of turns that would have missed something",
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

MEASURES: dict[Rule, tuple[str, str]] = {
    "ran": ("runs that raised, timed out or replayed differently", "count"),
    "valid": ("prompts a provider would refuse", "count"),
    "instructed": ("prompts without the system prompt, the task or a standing instruction", "rate"),
    "changed": ("values shown otherwise than the tool returned them", "count"),
    "misattributed": ("sentences that give a value to another record", "rate"),
    "invented": ("generated texts with something that nothing before had said", "rate"),
    "hidden": ("failed results shown without their failure", "count"),
    "needed": ("turns that would have missed something they used, mean over tasks", "share"),
    "far": ("needed facts from six or more turns back that are kept, mean over tasks", "floor"),
    "stored": ("fields kept in the store, questions answered", "floor"),
    "judged": ("evaluations and extractions that stay the same", "floor"),
    "routed": ("routes and selections as expected", "floor"),
    "cheaper": ("upper bound of the price against today", "ratio"),
}
"""The measure of each rule, and how its value and limit are given."""

_FAILED: dict[Rule, str] = {
    "ran": "runs failed",
    "valid": "prompts a provider would refuse",
    "instructed": "prompts lack an instruction",
    "changed": "values changed",
    "misattributed": "sentences misattribute",
    "invented": "texts invent",
    "hidden": "errors hidden",
    "needed": "missed",
    "far": "far back",
    "stored": "stored",
    "judged": "judged the same",
    "routed": "routed as expected",
}


def label(metric: str, info: MetricInfo | None = None) -> str:
    """The short name of a metric.

    >>> label("needed.recall.far"), label("own.metric")
    ('needed facts kept, six or more turns back', 'own.metric')
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
    kind = MEASURES[rule][1]
    if kind == "ratio":
        return change(value)
    return count(value) if kind == "count" else percent(value)


def rule_failed(result: RuleResult) -> str:
    """Why a rule refuses, in a few words.

    >>> rule_failed(RuleResult(rule="needed", passed=False, value=0.148, limit=0.05))
    'missed 14.8%, above 5%'
    >>> rule_failed(RuleResult(rule="changed", passed=False, value=3))
    '3 values changed'
    """
    rule, kind = result.rule, MEASURES[result.rule][1]
    if kind == "ratio":
        return "" if result.value is None else f"price up to {change(result.value)}"
    value, words = rule_value(rule, result.value), _FAILED[rule]
    if kind == "count":
        return f"{value} {words}".strip()
    if kind == "rate":
        return f"{value} of {words}" if value else words
    limit = rule_value(rule, result.limit)
    side = "below" if kind == "floor" else "above"
    return f"{words} {value}" + (f", {side} {limit}" if limit else "")


def why(item: Ranked) -> str:
    """Why a strategy has its verdict, with its marks."""
    failed = [rule for rule in item.rules if not rule.passed]
    first = [rule for rule in failed if rule.rule != "cheaper"] or failed
    return "; ".join(filter(None, [*map(rule_failed, first), *item.marks]))
