"""What each family of metrics counts, which way is better, and how cases add up: written out by hand, from what the number means.

A flag that is turned round turns every verdict on the metric round. What the code declares is not looked up here, it is held against what follows
from the meaning.
"""

from __future__ import annotations

import msgspec
import pytest
from bench.comparison.rows import combine
from bench.evidence.of_run import RunEvidence

from bench.metrics import example, metric_of, metrics
from bench.model import WriterCall
from bench.plugins.registry import entries

# A price is paid for every prompt, a harm is counted each time it is done: both add up, and less is better. A share of what there was to keep, or to
# get right, is over everything there was: a case with much of it weighs much.
OF_EACH = {
    ("tokens", "lower", "sum"): """
        cost.prompt_tokens cost.writer_tokens cost.conversation_tokens cost.command_history_tokens cost.with_refetches_tokens
        needed.tokens_over_clairvoyant needed.tokens_over_oracle routing.selection_tokens
    """,
    ("tokens", "lower", "max"): "cost.peak_prompt_tokens",  # the window must hold the largest prompt, not the sum
    ("tokens", "higher", "sum"): "cost.cached_prompt_tokens",  # what the cache serves is the cheap part of the prompts
    ("seconds", "lower", "sum"): "cost.writer_seconds",  # a run waits for each summary
    ("prompts", "lower", "sum"): """
        cost.window_overflows prompt.invalid prompt.task_missing prompt.system_missing prompt.rules_missing
    """,
    ("usd", "lower", "sum"): "cost.cost_usd cost.with_refetches_usd cost.uncached_usd cost.uncached_with_refetches_usd",
    ("values", "lower", "sum"): "changed.values",  # one is too many
    ("fraction", "lower", "pooled"): "changed.invented loss.lost needed.fault_rate",
    ("results", "lower", "sum"): "changed.errors_hidden loss.silent_truncation loss.false_notices",
    ("fraction", "higher", "pooled"): """
        findings.agreement findings.evaluation_agreement findings.extraction_agreement loss.fact_recall loss.leaf_recall
        loss.rows_kept loss.columns_kept loss.schema_kept loss.compactions loss.retrievable needed.recall needed.survival
        needed.summary_adds probes.recall routing.accuracy routing.first_divergence routing.selection_top1
        routing.selection_recall_at_3 routing.selection_mrr
    """,
    ("commands", "lower", "sum"): "loss.commands_lost",
    ("compactions", "higher", "pooled"): "loss.collapse_compaction",  # the later it collapses the better; a mean
    ("turns", "lower", "sum"): "needed.faults",
    ("calls", "lower", "sum"): "needed.refetches",
    ("answers", "lower", "sum"): "probes.unwanted",
    (
        "decisions",
        "lower",
        "sum",
    ): "routing.missed_aborts routing.false_aborts routing.missed_loops routing.false_loops",
    ("loops", "lower", "sum"): "routing.loops",
    ("replies", "lower", "sum"): "routing.reply_errors routing.unreset_states",
    ("executions", "lower", "sum"): "routing.unapproved_executions",
}
"""Unit, better, and how cases add up, of the families of metrics."""

MEANING = {family: declared for declared, families in OF_EACH.items() for family in families.split()}

RECALLS = {
    "loss.fact_recall",
    "loss.leaf_recall",
    "loss.rows_kept",
    "loss.columns_kept",
    "loss.schema_kept",
    "needed.recall",
}
"""Shares of what the untruncated history holds: `keep_all` has all of it."""


def test_no_family_is_left_out() -> None:
    assert MEANING.keys() == entries("metric").keys(), "say here what a new family means"


@pytest.mark.parametrize("family", MEANING)
def test_unit_direction_and_sum(family: str) -> None:
    unit, better, aggregate = MEANING[family]
    declared = entries("metric")[family].meta
    assert (declared["unit"], declared["better"], declared["aggregate"]) == (unit, better, aggregate)
    assert declared["recall"] is (family in RECALLS)
    infos = [metric.info for metric in metrics().values() if metric.entry.name == family]
    assert {(info.unit, info.better, info.aggregate, info.family) for info in infos} == {
        (unit, better, aggregate, family)
    }


@pytest.mark.parametrize(("aggregate", "together"), [("sum", 12.0), ("max", 8.0), ("pooled", 5.0)])
def test_two_cases_together(aggregate: str, together: float) -> None:
    """4 over three parts and 8 over one: the sum is 12, the most 8, and the share over all four parts (12 + 8) / 4 = 5."""
    family = next(name for name, (_, _, how) in MEANING.items() if how == aggregate)
    info = next(metric.info for metric in metrics().values() if metric.entry.name == family)
    assert combine(info, [(4.0, 3.0), (8.0, 1.0)]) == together


VERSIONS = {
    2: """
        cost.conversation_tokens cost.peak_prompt_tokens cost.prompt_tokens cost.window_overflows loss.false_notices
        loss.leaf_recall loss.silent_truncation needed.summary_adds prompt.task_missing routing.accuracy
        routing.first_divergence
    """,
    3: """
        cost.cached_prompt_tokens cost.cost_usd needed.fault_rate needed.faults needed.survival
    """,
    4: """
        cost.with_refetches_tokens cost.with_refetches_usd loss.lost loss.retrievable needed.recall
        needed.tokens_over_clairvoyant needed.tokens_over_oracle
    """,
}
"""Families that count otherwise than they once did."""


def test_values_accepted_before_stay_comparable() -> None:
    """A family's version goes up with what it counts, and every accepted baseline of it is stale then: never by accident."""
    versions = {name: entry.meta["version"] for name, entry in entries("metric").items()}
    later = {family: version for version, families in VERSIONS.items() for family in families.split()}
    assert versions == {**dict.fromkeys(MEANING, 1), **later}


def test_only_models_that_were_asked_take_time() -> None:
    """A rule that stands in for a model takes none; a model of which nobody recorded the time took some, and nobody knows how much."""
    rule = WriterCall(step=1, consumed_tokens=10, produced_tokens=1)
    asked = WriterCall(step=3, consumed_tokens=10, produced_tokens=1, model="m", seconds=2.5)
    untold = WriterCall(step=3, consumed_tokens=10, produced_tokens=1, model="m")
    evidence = example()
    run = msgspec.structs.replace(evidence.run, writer_calls=(rule, asked, untold))
    found = metric_of("cost.writer_seconds").samples(RunEvidence(evidence.of_trace, run))
    assert [(sample.numerator, sample.step, sample.reason) for sample in found] == [
        (2.5, 3, None),
        (None, 3, "the cassette names no time"),
    ]


def test_the_messages_of_the_example_are_those_of_its_steps():
    evidence = example()
    user, call, result = (evidence.run.messages[key] for key in ("user", "call", "result"))
    asked, called, answered, said = evidence.trace.steps
    assert (user.step, user.text) == (asked.index, asked.content)
    assert (call.step, call.tool_calls) == (called.index, called.tool_calls)
    assert (result.step, result.call_id) == (answered.index, answered.call_id)
    assert answered.text.startswith(result.text)
    prompts = {prompt.step: [evidence.run.messages[key] for key in keys] for prompt, keys in evidence.run.walk()}
    assert prompts == {called.index: [user], said.index: [user, call, result]}
    for prompt, keys in evidence.run.walk():
        assert prompt.tokens == 3 + sum(evidence.run.message_tokens[key] for key in keys)


def test_what_summaries_add_is_told_where_something_was_summarised():
    evidence = example()
    adds = metric_of("needed.summary_adds")
    beside = RunEvidence(evidence.of_trace, evidence.run, silent=example)
    assert not adds.samples(beside)
    call = WriterCall(step=3, consumed_tokens=8, produced_tokens=2)
    wrote = msgspec.structs.replace(evidence.run, writer_calls=(call,))
    (sample,) = adds.samples(RunEvidence(evidence.of_trace, wrote, silent=example))
    assert (sample.numerator, sample.step) == (0.0, 3), "with words as without them"
    assert sample.denominator == 2.0, "471 and a/b.csv"


def test_a_step_at_which_the_strategy_alone_asked_a_model_costs_its_own_call():
    """gpt-4o: 2.50 dollars for a million tokens of a prompt, 10 for a million of an answer."""
    evidence = example()
    call = WriterCall(step=2, consumed_tokens=1000, produced_tokens=100, model="gpt-4o")
    alone = msgspec.structs.replace(evidence.run, writer_calls=(call,))
    samples = metric_of("cost.cost_usd").samples(RunEvidence(evidence.of_trace, alone))
    assert {sample.step: sample.numerator for sample in samples}[2] == pytest.approx(0.0025 + 0.001)
