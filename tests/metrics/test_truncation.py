"""What is left out in silence, and what says so where nothing was: the rules of notices, cases by hand, strategies that say too much."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from bench.text.notices import marker, notice, says_more, shown_count, stated_left_out, stated_totals
from generated import SHORTENING, traces
from handmade import opened, result, run_of
from hypothesis import given, strategies as st
from measured import measured, value
from reference import lost

from bench.model import Run, Told, Trace
from bench.text.texts import Texts

RECORDS = [{"id": number, "name": f"gene_{number}"} for number in range(276)]


def shown_as(recording: Trace, *texts: str) -> Run:
    """The run of keep_all with other texts in the place of its results, in their order."""
    run = run_of(recording, "keep_all")
    instead = {outcome.shown: text for outcome, text in zip(run.results, texts, strict=True)}
    messages = {
        key: msgspec.structs.replace(message, text=instead.get(key, message.text))
        for key, message in run.messages.items()
    }
    return msgspec.structs.replace(run, messages=messages)


# ---------------------------------------------------------------- the bench's own example


@pytest.mark.parametrize(
    ("said", "silent"),
    [
        ({"total": 164, "message": "Found 164 records"}, 1.0),  # the cut is reported as the whole
        ({}, 1.0),
        ({"total": 276}, 0.0),
        ({"message": "Showing 164 of 276 records"}, 0.0),
        ({"truncated": True}, 0.0),
        ({"truncated": False}, 1.0),  # it denies it
        ({"omitted": 0, "total": 164}, 1.0),
        ({"omitted": 112, "note": "112 records left out"}, 0.0),
    ],
)
def test_276_records_cut_to_164(said: dict[str, Any], silent: float) -> None:
    recording = opened([result(data={"total": 276, "records": RECORDS}, index=2)])
    run = shown_as(recording, json.dumps({**said, "records": RECORDS[:164]}))
    assert value("loss.silent_truncation", recording, run) == (silent, 1)


# ---------------------------------------------------------------- the rules


@pytest.mark.parametrize(
    "text",
    ["a [truncated]", "a\n... 5 more rows", "first 5 of 36 shown", "5 of 36; first 5 shown", "abc…", "abc...", "[2 lines left out]",
     "<elided_chars>9</elided_chars>", '{"truncated_rows": [1]}', "[stored as mem://1: 99 characters]", "(output removed to save context)",
     "Summary of 3 earlier messages:", "Only the first 10 lines", "… and 7 others", "Full output at /tmp/out.txt"],
)  # fmt: skip
def test_markers(text: str) -> None:
    assert marker(text, "abcdef ghi") is not None


@pytest.mark.parametrize(
    "text",
    ["", "36 rows", '{"truncated": false}', '{"truncated":null}', "nothing was omitted", "0 rows omitted", "not truncated", "1...5",
     "more rows than before", "the first rows", "items: [1, 2]"],
)  # fmt: skip
def test_no_markers(text: str) -> None:
    assert marker(text, "abcdef ghi") is None


def test_a_marker_of_the_result_itself_says_nothing() -> None:
    assert marker("log: output truncated by gcc", "log: output truncated by gcc\nand 9 more") is None
    assert marker("log: output truncated by gcc [truncated]", "log: output truncated by gcc\nand 9 more") == "truncated"


def test_where_a_result_is_stored_is_no_claim_that_something_is_missing() -> None:
    text = "[stored as mem://1: 8 characters] 471 rows"
    assert marker(text, "471 rows") == "stored as"
    assert marker(text, "471 rows", pointers=False) is None
    recording = opened([result("471 rows", index=2)])
    assert value("loss.false_notices", recording, run_of(recording, "s=store=external")) == (0.0, 1)


def test_counts() -> None:
    assert stated_totals("Table with 36 rows; 5 of 40 shown. n_rows: 7") == (7, 40, 36)
    assert stated_totals("level 3, 1.5 rows") == ()
    assert stated_left_out("... 1,200 more lines; omitted: 3") == (1200, 3)
    assert shown_count("a\nb\n\n") == 2
    assert says_more(["5 rows\na\nb"]) == 5
    assert says_more(["2 rows\na\nb"]) is None
    assert notice([], "abc", Texts()) is None


# ---------------------------------------------------------------- by hand


def test_silent_by_hand() -> None:
    recording = opened([result("471 then 36.5", index=2), result("512 rows\n/a/b", index=3)])
    # the first loses 36.5 in silence, the second /a/b and says so
    run = shown_as(recording, "471 then", "512 rows [cut off]")
    samples = measured("loss.silent_truncation", recording, run)
    assert [(sample.step, sample.numerator) for sample in samples] == [(2, 1.0), (3, 0.0)]
    assert samples[0].detail == Told(text="silent: shown, end")
    assert samples[1].detail == Told(text="says 'cut off'")


def test_a_result_gone_without_a_trace_is_silent() -> None:
    recording = opened([result("471", index=2)])
    assert value("loss.silent_truncation", recording, run_of(recording, "drop_all")) == (1.0, 1)
    masked = run_of(recording, "m=compactor=mask_observations:keep_last=0")
    assert value("loss.silent_truncation", recording, masked) == (0.0, 1)


def test_rows_lost_in_silence_count_though_no_fact_is() -> None:
    recording = opened([result(data=[{"n": 1}, {"n": 2}], index=2)])
    assert value("loss.silent_truncation", recording, shown_as(recording, '[{"n": 1}]')) == (1.0, 1)


@pytest.mark.parametrize("text", ["471 rows in /a/b.csv", json.dumps({"rows": RECORDS[:3]}), "plain words\nalone"])
def test_saying_truncated_of_everything_is_seen_through(text: str) -> None:
    data = json.loads(text) if text.startswith("{") else None
    recording = opened([result(text, data=data, index=2)])
    for shown in (f"{text}\n[truncated]", f"Output truncated:\n{text}"):
        run = shown_as(recording, shown)
        assert value("loss.false_notices", recording, run) == (1.0, 1), shown
        assert value("loss.silent_truncation", recording, run) == (0.0, 1)
    honest = shown_as(recording, text[: len(text) // 2] + " [truncated]")
    assert value("loss.false_notices", recording, honest) == (0.0, 1)
    assert value("loss.false_notices", recording, run_of(recording, "keep_all")) == (0.0, 1)


def test_a_notice_is_not_false_where_lines_without_facts_are_left_out() -> None:
    recording = opened([result("one\ntwo\nthree", index=2)])
    assert value("loss.false_notices", recording, shown_as(recording, "one\n[2 lines left out]")) == (0.0, 1)


# ---------------------------------------------------------------- limits and the slow reference

STRATEGIES = (
    *SHORTENING,
    "external=store=external:preview_chars=20",
    "gone=compactor=clear_tool_uses:trigger=1,keep=1,placeholder=gone",
)


@pytest.mark.slow
@given(trace=traces(extras=True), strategy=st.sampled_from(STRATEGIES))
def test_as_the_reference_slow_because_it_looks_for_notices_in_every_prompt(trace: Trace, strategy: str) -> None:
    run = run_of(trace, strategy)
    silent = {sample.step: sample.numerator for sample in measured("loss.silent_truncation", trace, run)}
    assert silent == lost.silent(trace, run)
    false = {sample.step: sample.numerator for sample in measured("loss.false_notices", trace, run)}
    assert false == lost.false_notices(trace, run)
    if strategy == "keep_all":
        assert not any(silent.values())
        assert not any(false.values())
