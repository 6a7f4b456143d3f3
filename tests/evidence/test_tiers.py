"""Tiers: rules by hand, strategies that try to fool them, and agreement with the slow reference."""

from __future__ import annotations

import json

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.tiers import TIERS, Behind, Handles, ResultHeld, Tiered
from generated import SHORTENING, traces
from handmade import opened, result, run_of, trace
from hypothesis import given, strategies as st
from measured import dependencies_of, measured, value
from reference import lost

from bench.model import Message, ModelTurn, Prompt, Resolved, Run, Splice, Trace


def shares(recording: Trace, run: Run, place: str) -> dict[str, float | None]:
    return {tier: value(f"loss.{tier}.{place}", recording, run)[0] for tier in TIERS}


# ---------------------------------------------------------------- by hand


def test_by_hand() -> None:
    # facts: a_column, 7000, 140, 7140, other_name, 555. Cut to the rows, the last three are gone
    rows = {"rows": [{"a_column": 7000}, {"a_column": 140}]}
    full = result(data={**rows, "sum": 7140, "other_name": 555}, index=2)
    recording = opened([full])
    run = run_of(recording, "keep_all")
    assert shares(recording, run, "end") == {"retrievable": 0.0, "lost": 0.0}
    cut = showing(run, json.dumps(rows))
    for place in ("end", "shown"):
        assert shares(recording, cut, place) == {"retrievable": 0.0, "lost": 3 / 6}
        assert value(f"loss.lost.{place}", recording, cut)[1] == 6


def showing(run: Run, text: str) -> Run:
    """The run with another text in the place of its results."""
    messages = {
        key: msgspec.structs.replace(message, text=text) if message.kind == "result" else message
        for key, message in run.messages.items()
    }
    return msgspec.structs.replace(run, messages=messages)


def test_one_cut_without_a_handle_beside_one_stored_with_one() -> None:
    # what the handle gives back of the second does not save the first
    numbers = " ".join(str(number) for number in range(100, 251))  # 151 numbers
    recording = opened(
        [
            result(numbers, index=2, call_id="a"),
            result(" ".join(str(number) for number in range(1300, 1451)), index=3, call_id="b"),
        ]
    )
    stored = run_of(recording, "s=store=external:preview_chars=0")
    first, second = stored.results
    cut = {first.shown: numbers[:84], second.shown: stored.messages[second.shown].text}  # 21 of 151 numbers
    plain = msgspec.structs.replace(first.record, handle=None, value=numbers[:84])
    run = msgspec.structs.replace(
        stored,
        messages={
            key: msgspec.structs.replace(message, text=cut.get(key, message.text))
            for key, message in stored.messages.items()
        },
        results=(msgspec.structs.replace(first, record=plain, stored=numbers[:84]), second),
    )
    samples = {sample.step: sample for sample in measured("loss.lost.end", recording, run)}
    assert (samples[2].numerator, samples[2].denominator) == (130.0, 151.0)
    assert 3 not in samples
    assert value("loss.retrievable.end", recording, run)[0] > 0.4


# ---------------------------------------------------------------- handles


def test_a_handle_retrieves_only_where_it_is_shown_and_resolves() -> None:
    recording = opened(
        [result("471 in /data/run.csv", index=2), ModelTurn(index=3, content="ok"), result("x", index=4)]
    )
    stored = "s=store=external:preview_chars=0"
    behind = run_of(recording, stored)
    assert shares(recording, behind, "shown") == {"retrievable": 1.0, "lost": 0.0}
    masked = run_of(recording, f"{stored}+compactor=mask_observations:keep_last=1")  # the handle is masked away
    assert shares(recording, masked, "shown")["retrievable"] == 1.0
    assert shares(recording, masked, "end") == {"retrievable": 0.0, "lost": 1.0}
    outcomes = tuple(msgspec.structs.replace(outcome, stored=None) for outcome in behind.results)
    nothing_behind = msgspec.structs.replace(behind, results=outcomes)
    assert shares(recording, nothing_behind, "shown")["lost"] == 1.0
    half = tuple(msgspec.structs.replace(outcome, stored="471") for outcome in behind.results)
    half_behind = msgspec.structs.replace(behind, results=half)
    assert shares(recording, half_behind, "shown") == {
        "retrievable": 0.5,
        "lost": 0.5,
    }


def test_a_handle_stands_for_what_it_was_last_given_when_the_prompt_was_made() -> None:
    recording = trace(
        ModelTurn(index=0),
        result("471, 472 and 473", index=1),
        ModelTurn(index=2),
        ModelTurn(index=4),
        ModelTurn(index=6),
    )
    note, other, plain = (
        Message(role="user", kind="made", text=text) for text in ("see file_1.", "see file_12", "see no file")
    )
    prompts = [
        Prompt(step=step, thread="main", tokens=9, splices=(Splice(at=0, removed=removed, added=(key,)),))
        for step, removed, key in ((0, 0, "note"), (2, 1, "note"), (4, 1, "note"), (6, 1, "other"))
    ]
    given = (Resolved(handle="file_1", step=4, text="a 472"), Resolved(handle="file_1", step=1, text="b 471"))
    run = msgspec.structs.replace(
        run_of(recording, "keep_all"), messages={"note": note, "other": other, "plain": plain}, prompts=tuple(prompts),
        handles=given, results=(),
    )  # fmt: skip
    found = Handles(TraceEvidence(recording), run)
    assert found.behind == [Behind("file_1", "b 471"), Behind("file_1", "a 472")]
    first, second, nothing = frozenset({0}), frozenset({1}), frozenset[int]()
    assert found.of_prompts == {0: nothing, 2: first, 4: second, 6: nothing}
    assert found.of_results == {"shown": {1: first}, "end": {1: nothing}}
    assert [found.holding(fact, first | second) for fact in ("471", "472", "473")] == [first, second, nothing]
    assert [found.holding("471", shown) for shown in (first, second, nothing)] == [first, nothing, nothing]
    standing = ResultHeld(recording.results[0], False, ("472", "471"))
    assert found.tiered(standing, "shown") == Tiered(standing, {"retrievable": ("471",), "lost": ("472",)})
    assert found.tiered(standing, "end") == Tiered(standing, {"retrievable": (), "lost": ("472", "471")})


def test_a_part_of_a_longer_handle_is_no_handle() -> None:
    recording = opened([result("471 rows", index=2)])
    run = run_of(recording, "s=store=external:preview_chars=0")
    (outcome,) = run.results
    shorter = msgspec.structs.replace(outcome.record, handle=(outcome.record.handle or "")[:-1])
    cut = msgspec.structs.replace(run, results=(msgspec.structs.replace(outcome, record=shorter),))
    assert shares(recording, cut, "end")["lost"] == 1.0


# ---------------------------------------------------------------- limits and the slow reference

STRATEGIES = (
    *SHORTENING,
    "external=store=external:preview_chars=20",
    "external_mask=store=external:preview_chars=0+compactor=mask_observations:keep_last=1",
    "paged=compactor=pichay:age=1,min_bytes=1",
    "paged_store=store=external:preview_chars=0+compactor=pichay:age=1,min_bytes=1",
    "external_old=store=external+compactor=summarize_old:keep_last=2,max_tokens=150",
)


@pytest.mark.slow
@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_as_the_slow_reference(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    for place in ("shown", "end", "needed"):
        counted, total = lost.tiers(trace, run, place, dependencies_of(trace))
        for tier in TIERS:
            expected = (counted[tier] / total, total) if total else (None, 0)
            assert value(f"loss.{tier}.{place}", trace, run) == expected, (tier, place)


@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_the_tiers_sum_to_one_and_agree_with_recall(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    for place in ("shown", "end"):
        found = shares(trace, run, place)
        recall = value(f"loss.fact_recall.{place}", trace, run)[0]
        assert recall is None or recall + sum(share or 0.0 for share in found.values()) == pytest.approx(1.0)
    if strategy == "keep_all" and value("loss.lost.end", trace, run)[1]:
        assert value("loss.lost.end", trace, run)[0] == 0.0
