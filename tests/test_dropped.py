"""What a verdict says was dropped: the result that hurt most, by name, with the steps that needed it, and nothing from outside unescaped."""

from __future__ import annotations

import msgspec
from bench.reports.loss.dropped import LISTED, NAMED, dropped
from compared import HOSTILE
from handmade import opened, result

from bench.model import Comparison, ModelTurn, Sample, Signature

FACTS = "loss.fact_recall.end"
TRACE = opened(
    [result("a", index=2), ModelTurn(index=3, content="x"), result("b", index=4, function="read_file")], id="one"
)


def lost(step, facts, total=10, count=None):
    gone = len(facts) if count is None else count
    return Sample(numerator=float(total - gone), denominator=float(total), step=step, detail={"lost": list(facts)})


def missed(turn, fact, source):
    return Sample(
        numerator=0.0, denominator=1.0, step=turn, detail={"fact": fact, "kind": "name", "source": source, "age": 1}
    )


def compared(samples, before=None):
    signature = Signature(
        bench_version="0", traces={}, strategies={}, encodings=(), facts_version="", prices_date="", seed=0
    )
    return Comparison(title="", signature=signature, strategies=("mine",), references=(), cases=("one",), rows=(), summary=(),
                      deltas=(), rules=(), traces={"one": TRACE}, runs={}, samples=samples, metrics={}, before=before or {})  # fmt: skip


def test_the_result_that_was_needed_comes_before_one_that_lost_more_and_its_needed_facts_first():
    found = dropped(
        compared({
            ("mine", FACTS, "one"): (lost(2, ["a1", "a2", "a3", "a4"]), lost(4, ["b1", "b2"])),
            ("mine", "needed.recall", "one"): (missed(7, "b2", 4),),
        }),
        "mine", FACTS, "one",
    )  # fmt: skip
    assert found.clause == 'step 4 (read_file) dropped 2 of 10: "b2", "b1"; step 7 needed "b2"'
    assert found.lines == (found.clause, 'step 2 (run_script) dropped 4 of 10: "a1", "a2", "a3", "a4"')


def test_a_clause_names_a_few_and_counts_the_rest():
    facts = [f"fact_{number}" for number in range(20)]
    found = dropped(compared({("mine", FACTS, "one"): (lost(2, facts, total=90, count=50),)}), "mine", FACTS, "one")
    assert found.clause.endswith(f'"fact_{NAMED - 1}", {50 - NAMED} more')
    assert found.lines[0].endswith(f'"fact_{LISTED - 1}", {50 - LISTED} more')


def test_many_places_are_counted():
    samples = tuple(lost(step, ["x"]) for step in range(30))
    found = dropped(compared({("mine", FACTS, "one"): samples}), "mine", FACTS, "one")
    assert len(found.lines) == LISTED + 1
    assert found.lines[-1] == f"and {30 - LISTED} more places"


def test_uses_that_found_their_fact_gone_name_it():
    samples = {("mine", "needed.recall", "one"): (missed(7, "b2", 4), missed(9, "b2", 4), missed(9, "b3", 4))}
    found = dropped(compared(samples), "mine", "needed.recall", "one")
    assert found.clause == 'step 4 (read_file) dropped "b2", "b3"; step 7 needed "b2"; step 9 needed "b2", "b3"'


def test_what_an_earlier_self_lost_as_well_is_left_out():
    samples = {
        ("mine", FACTS, "one"): (lost(2, ["old"]), lost(4, ["new"])),
        ("mine@1", FACTS, "one"): (lost(2, ["old"]),),
    }
    found = dropped(compared(samples, before={"mine": "mine@1"}), "mine", FACTS, "one")
    assert found.lines == ('step 4 (read_file) dropped 1 of 10: "new"',)


def test_other_metrics_say_what_their_samples_say_and_nothing_lost_says_nothing():
    wrong = Sample(numerator=0.0, denominator=1.0, step=4, detail={"router": "approval", "taken": "run"})
    found = dropped(compared({("mine", "routing.accuracy", "one"): (wrong,)}), "mine", "routing.accuracy", "one")
    assert found.clause == "step 4 (read_file) came out otherwise: router approval, taken run"
    changed = Sample(
        numerator=0.0, denominator=1.0, step=2, detail={"changes": [{"path": "a.b", "kind": "x"}, {"path": "c"}]}
    )
    found = dropped(compared({("mine", "findings.agreement", "one"): (changed,)}), "mine", "findings.agreement", "one")
    assert found.clause == "step 2 (run_script) came out otherwise: a.b, c"
    whole = compared({("mine", FACTS, "one"): (Sample(numerator=3.0, denominator=3.0, step=2),)})
    assert dropped(whole, "mine", FACTS, "one") == dropped(compared({}), "mine", FACTS, "one")
    assert dropped(whole, "mine", FACTS, "one").clause == ""


def test_text_from_outside_is_one_short_visible_line():
    named = msgspec.structs.replace(TRACE, steps=(result("a", index=2, function=HOSTILE),))
    built = msgspec.structs.replace(
        compared({("mine", FACTS, "one"): (lost(2, [HOSTILE + "x" * 500]),)}), traces={"one": named}
    )
    found = dropped(built, "mine", FACTS, "one")
    assert "\n" not in found.clause
    assert "\x1b" not in found.clause
    assert "\u202e" not in found.clause
    assert len(found.clause) < 250
