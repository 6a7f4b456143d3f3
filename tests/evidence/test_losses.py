"""What a verdict says was dropped: the result that hurt most, by name, with the steps that needed it, and nothing from outside unescaped."""

from __future__ import annotations

import msgspec
import pytest
from bench.evidence.losses import FACTS, MOST, losses_of
from bench.reports.words import LISTED, NAMED, loss_lines, told
from compared import HOSTILE
from handmade import opened, result

from bench.metrics import metric_of
from bench.model import Asked, Lost, Missed, ModelTurn, Sample, Told, Turned, Verdict

KEPT = "loss.fact_recall.end"
TRACE = opened(
    [result("a", index=2), ModelTurn(index=3, content="x"), result("b", index=4, function="read_file")], id="one"
)


def lost(step, facts, total=10, count=None):
    gone = len(facts) if count is None else count
    return Sample(numerator=float(total - gone), denominator=float(total), step=step, detail=Lost(facts=tuple(facts)))


def missed(turn, fact, source):
    detail = Missed(fact=fact, kind="name", source=source, origin="result", distance=1)
    return Sample(numerator=0.0, denominator=1.0, step=turn, detail=detail)


def verdict(metric, trace=TRACE, **samples):
    """The verdict of a gate on a metric that failed, with what the samples (by metric, dots as __) say was lost."""
    by_metric = {name.replace("__", "."): tuple(found) for name, found in samples.items()}
    found = losses_of({item.index: item for item in trace.results}, "mine", metric_of(metric).info, by_metric)
    said = Verdict(gate="g", metric=metric, strategy="mine", outcome="fail", sentence="mine: too low")
    return said if found is None else msgspec.structs.replace(said, losses=found.worst, losses_total=found.places)


def clause(found):
    return told(found).removeprefix("mine: too low: ")


def test_the_result_that_was_needed_comes_before_one_that_lost_more_and_its_needed_facts_first():
    found = verdict(
        KEPT,
        loss__fact_recall__end=[lost(2, ["a1", "a2", "a3", "a4"]), lost(4, ["b1", "b2"])],
        needed__recall=[missed(7, "b2", 4)],
    )
    assert clause(found) == 'step 4 (read_file) dropped 2 of 10: "b2", "b1"; step 7 needed "b2"'
    assert loss_lines(found) == [clause(found), 'step 2 (run_script) dropped 4 of 10: "a1", "a2", "a3", "a4"']


def test_a_clause_names_a_few_and_counts_the_rest():
    found = verdict(KEPT, loss__fact_recall__end=[lost(2, [f"fact_{n}" for n in range(30)], total=90, count=50)])
    assert clause(found).endswith(f'"fact_{NAMED - 1}", {50 - NAMED} more')
    assert loss_lines(found)[0].endswith(f'"fact_{LISTED - 1}", {50 - LISTED} more')
    assert len(found.losses[0].facts) == FACTS


def test_many_places_are_counted():
    found = verdict(KEPT, loss__fact_recall__end=[lost(step, ["x"]) for step in range(30)])
    assert len(found.losses) == MOST
    assert len(loss_lines(found)) == MOST + 1
    assert loss_lines(found)[-1] == f"and {30 - MOST} more places"


def test_dependencies_that_found_their_fact_gone_name_it():
    found = verdict("needed.recall", needed__recall=[missed(7, "b2", 4), missed(9, "b2", 4), missed(9, "b3", 4)])
    assert clause(found) == 'step 4 (read_file) dropped "b2", "b3"; step 7 needed "b2"; step 9 needed "b2", "b3"'


def test_a_metric_that_counts_turns_tells_what_they_missed():
    counted = Sample(numerator=1.0, step=7)
    found = verdict("needed.faults", needed__faults=[counted], needed__recall=[missed(7, "b2", 4)])
    assert clause(found) == 'step 4 (read_file) dropped "b2"; step 7 needed "b2"'


def test_many_steps_that_needed_it_are_counted():
    found = verdict("needed.recall", needed__recall=[missed(step, "b2", 4) for step in range(5, 15)])
    assert clause(found).endswith(f"; {10 - NAMED} more steps needed what is gone")


@pytest.mark.parametrize(
    ("metric", "sample", "said"),
    [
        (
            "routing.accuracy",
            Sample(numerator=0.0, denominator=1.0, step=4,
                   detail=Turned(router="approval", at="end", expected="ask", taken="run", expected_from="recorded")),
            "step 4 (read_file) came out otherwise: approval went to run, expected ask",
        ),
        (
            "probes.recall",
            Sample(numerator=0.0, denominator=1.0, step=2,
                   detail=Asked(question="How many?", expected="47", where="store", got="12")),
            "step 2 (run_script) came out otherwise: How many? expected 47, got 12",
        ),
        (
            "probes.recall",
            Sample(numerator=0.0, denominator=1.0, step=2,
                   detail=Asked(question="How many?", expected="47", where="store", got="")),
            "step 2 (run_script) came out otherwise: How many? expected 47",
        ),
        (
            "probes.recall",
            Sample(numerator=0.0, denominator=1.0, step=2,
                   detail=Asked(question="How many?", expected="46", where="store", got="46", absent=True)),
            "step 2 (run_script) came out otherwise: How many? 46 must not be in the store",
        ),
        (
            "routing.reply_errors",
            Sample(numerator=1.0, step=2, detail=Told(text="an empty reply")),
            "step 2 (run_script) came out otherwise: an empty reply",
        ),
        (
            "findings.agreement",
            Sample(numerator=0.0, denominator=1.0, step=2),
            "step 2 (run_script) came out otherwise: 1 of 1",
        ),
        (
            "loss.commands_lost",
            Sample(numerator=2.0, detail=Lost(facts=("ls", "cat x"))),
            'the run dropped "ls", "cat x"',
        ),
    ],
)  # fmt: skip
def test_other_metrics_say_what_their_samples_say(metric, sample, said):
    assert clause(verdict(metric, **{metric.replace(".", "__"): [sample]})) == said


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [Sample(numerator=3.0, denominator=3.0, step=2)],
        [Sample(numerator=None, reason="no price", step=2)],
    ],
)
def test_nothing_lost_says_nothing(samples):
    found = verdict(KEPT, loss__fact_recall__end=samples)
    assert (found.losses, loss_lines(found), told(found)) == ((), [], "mine: too low")


def test_a_bad_thing_is_told_only_where_it_can_be_named():
    counted = Sample(numerator=1.0, step=2)
    assert verdict("routing.reply_errors", routing__reply_errors=[counted]).losses == ()
    cost = Sample(numerator=900.0, step=2, detail=Told(text="a long prompt"))
    assert verdict("cost.prompt_tokens", cost__prompt_tokens=[cost]).losses == ()


def test_of_what_nobody_needed_the_largest_loss_comes_first():
    found = verdict(KEPT, loss__fact_recall__end=[lost(2, ["a"]), lost(4, ["b", "c", "d"])])
    assert [item.step for item in found.losses] == [4, 2]


def test_equal_losses_stand_in_the_order_of_their_steps():
    whole = Sample(numerator=1.0, denominator=2.0)
    found = verdict(KEPT, loss__fact_recall__end=[lost(4, ["a"]), lost(0, ["b"]), whole, lost(2, ["c"])])
    assert [item.step for item in found.losses] == [0, None, 2, 4]  # what has no step stands with the first one
    other = verdict(KEPT, loss__fact_recall__end=[whole, lost(1, ["a"]), lost(0, ["b"])])
    assert [item.step for item in other.losses] == [None, 0, 1]


def test_what_something_costs_is_no_loss():
    assert verdict("cost.prompt_tokens", cost__prompt_tokens=[Sample(numerator=900.0, step=2)]).losses == ()


def test_text_from_outside_is_one_short_visible_line():
    named = msgspec.structs.replace(TRACE, steps=(result("a", index=2, function=HOSTILE),))
    found = clause(verdict(KEPT, named, loss__fact_recall__end=[lost(2, [HOSTILE + "x" * 500])]))
    assert "\n" not in found
    assert "\x1b" not in found
    assert "\u202e" not in found
    assert len(found) < 250
