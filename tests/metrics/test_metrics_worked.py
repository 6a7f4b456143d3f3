"""Each metric on a case small enough to be worked by hand; the arithmetic is in the comments."""

from __future__ import annotations

import doctest
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.evidence.losses import finding_changes
from bench.evidence.recording import recording_shown
from bench.tokens.calibration import Calibration, count_error
from handmade import opened, result, run_of, trace
from measured import COUNT, measured, replayer_of, value

from bench.metrics import metrics
from bench.model import (
    Counting,
    FindingChange,
    Lost,
    Message,
    Missed,
    ModelTurn,
    Prompt,
    Record,
    ResultOutcome,
    Run,
    Splice,
    Told,
    ToolResult,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
    WriterCall,
)
from bench.plugins.registry import entries


def test_the_examples_of_the_page(monkeypatch):
    here = Path(__file__).parent
    monkeypatch.chdir(here.parents[1])
    page = (here / "worked" / "README.md").read_text(encoding="utf-8")
    worked = dict(re.findall(r"^## (\w+\.\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    assert worked.keys() <= entries("metric").keys()
    assert all(">>>" in examples for examples in worked.values())
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    session = re.sub("^```.*", "", page, flags=re.MULTILINE)
    tried = runner.run(doctest.DocTestParser().get_doctest(session, {}, "worked", None, 0))
    assert tried.failed == 0
    assert tried.attempted > len(worked) > 45


# ---------------------------------------------------------------- cost


def two_calls(
    model: str | None, *, tools_changed: bool = False, window: int | None = None, **turn: Any
) -> tuple[Trace, Run]:
    """Two model calls. The first prompt: one message of 2,000 tokens and 50 of tools. The second: the same, then 300 tokens more."""
    recording = trace(
        UserTurn(index=0, content="long", t=1_760_000_000.0),
        ModelTurn(index=1, content="hello world", model=model, **turn),
        ModelTurn(index=2, content="hello world", model=model, **turn),
    )
    keys = {"long": 2000, "more": 300}
    run = Run(
        trace_id="t",
        trace_sha256="",
        strategy="s",
        spec="",
        encoding="o200k_base",
        model=model,
        messages={key: Message(role="user", text=key, kind="made") for key in keys},
        message_tokens=keys,
        prompts=(
            Prompt(
                step=1, thread="main", splices=(Splice(at=0, removed=0, added=("long",)),), tokens=2053, tools_tokens=50
            ),
            Prompt(
                step=2,
                thread="main",
                splices=(Splice(at=1, removed=0, added=("more",)),),
                tokens=2353,
                tools_tokens=50,
                tools_changed=tools_changed,
                window_tokens=window,
            ),
        ),
    )
    return recording, run


def test_cached_prompt_tokens_by_provider() -> None:
    # the second prompt shares 50 of tools and the message of 2,000: 2,050
    assert value("cost.cached_prompt_tokens", *two_calls("gpt-4o")) == (16 * 128, 2)  # 2,048 of 2,050
    assert value("cost.cached_prompt_tokens", *two_calls("claude-sonnet-4-5")) == (2050, 2)
    assert value("cost.cached_prompt_tokens", *two_calls("claude-opus-4-5")) == (0, 2)  # from 4,096
    assert value("cost.cached_prompt_tokens", *two_calls("deepseek-chat")) == (32 * 64, 2)
    samples = measured("cost.cached_prompt_tokens", *two_calls("command-r"))
    assert samples[0].reason == "the cache rule of cohere is not known here"
    assert "an unnamed model" in (measured("cost.cached_prompt_tokens", *two_calls(None))[0].reason or "")


def test_nothing_is_cached_after_the_tools_changed_or_by_another_model() -> None:
    assert value("cost.cached_prompt_tokens", *two_calls("gpt-4o", tools_changed=True)) == (0, 2)
    recording, run = two_calls("gpt-4o")
    first, last = recording.steps[1], recording.steps[2]
    assert isinstance(first, ModelTurn)
    other = trace(recording.steps[0], ModelTurn(index=1, model="gpt-4o-mini"), last)
    assert value("cost.cached_prompt_tokens", other, run) == (0, 2)


def test_a_message_replaced_by_its_equal_stays_cached() -> None:
    recording, run = two_calls("claude-sonnet-4-5")
    again = Splice(at=0, removed=1, added=("long", "more"))
    prompts = (
        run.prompts[0],
        Prompt(step=2, thread="main", splices=(again,), tokens=2353, tools_tokens=50, compacted=True),
    )
    same = Run(**{field: getattr(run, field) for field in run.__struct_fields__ if field != "prompts"}, prompts=prompts)
    assert value("cost.cached_prompt_tokens", recording, same) == (2050, 2)


def test_cost_usd_of_openai() -> None:
    # gpt-4o: $2.50 a million in, $1.25 cached, $10 out; "hello world" is 2 tokens
    # first call 2,053 × 2.5 + 2 × 10 = 5,152.5; second (2,353 − 2,048) × 2.5 + 2,048 × 1.25 + 20 = 3,342.5
    dollars, n = value("cost.cost_usd", *two_calls("gpt-4o"))
    assert (dollars, n) == (pytest.approx((5152.5 + 3342.5) / 1e6), 2)


def test_cost_usd_of_anthropic_writes_the_cache() -> None:
    # claude-sonnet-4-5: $3 in, $0.30 cached read, $3.75 cache write, $15 out; the recorded 7 output tokens
    # first: all but the 3 framing tokens are written: 2,050 × 3.75 + 3 × 3 + 7 × 15 = 7,801.5
    # second: 2,050 read, 2,350 − 2,050 = 300 written, 3 plain: 615 + 1,125 + 9 + 105 = 1,854
    usage = Usage(prompt_tokens=1, completion_tokens=7)
    dollars, _ = value("cost.cost_usd", *two_calls("claude-sonnet-4-5", usage=usage))
    assert dollars == pytest.approx((7801.5 + 1854) / 1e6)


def test_cost_usd_counts_reasoning_and_summaries_and_says_where_no_cache_is_assumed() -> None:
    # command-a: $2.50 in, $10 out; answers of 2 + 1 ("hello") tokens; a summary reads 100 and writes 10 at the second call
    recording, run = two_calls("command-a", reasoning="hello")
    kept = {field: getattr(run, field) for field in run.__struct_fields__ if field != "writer_calls"}
    run = Run(**kept, writer_calls=(WriterCall(step=2, consumed_tokens=100, produced_tokens=10),))
    first, second = measured("cost.cost_usd", recording, run)
    assert first.numerator == pytest.approx((2053 * 2.5 + 3 * 10) / 1e6)
    assert second.numerator == pytest.approx((2353 * 2.5 + 3 * 10 + 100 * 2.5 + 10 * 10) / 1e6)
    assert first.detail == Told(text="no cache assumed: no known rule for cohere")
    assert value("cost.writer_tokens", recording, run) == (110, 1)


def test_usage_that_does_not_say_what_the_cache_served_bounds_the_price() -> None:
    """Gemini without `cachedContentTokenCount`. gemini-2.5-flash: $0.30 in, $0.03 cached, $2.50 out; of 2,053 tokens 2,050 may be read again.

    Google promises nothing, so nothing counts as read; OpenAI does, so what it promises counts, and the price can only be higher.
    """
    usage = Usage(prompt_tokens=2053, completion_tokens=7)
    for model, plain, cached, out, read, promised in (
        ("gemini-2.5-flash", 0.3, 0.03, 2.5, 2050, False),
        ("gpt-4o", 2.5, 1.25, 10, 2048, True),
    ):
        recording, run = two_calls(model, usage=usage)
        counting = Counting(cache_used=promised, cache_known=False)
        run = msgspec.structs.replace(run, counting=counting)
        first, second = measured("cost.cost_usd", recording, run)
        without, served = ((2353 - n) * plain + n * cached + 7 * out for n in (0, read))
        assert first.numerator == pytest.approx((2053 * plain + 7 * out) / 1e6)
        assert (second.low, second.high) == (pytest.approx(served / 1e6), pytest.approx(without / 1e6))
        assert second.numerator == (second.low if promised else second.high)
        assert second.detail == Told(text="the recording does not say what the cache served")
        _, tokens = measured("cost.cached_prompt_tokens", recording, run)
        assert (tokens.low, tokens.high) == (0, read)
        assert value("cost.uncached_usd", recording, run)[0] == pytest.approx(first.numerator + without / 1e6)


def test_cost_usd_of_an_unpriced_model_is_not_measured() -> None:
    assert value("cost.cost_usd", *two_calls("no-such-model")) == (None, 0)
    assert measured("cost.cost_usd", *two_calls("no-such-model"))[0].reason == "no prices are listed for no-such-model"


def test_window_overflows() -> None:
    recording, run = two_calls("gpt-4o", window=2352)
    first, second = measured("cost.window_overflows", recording, run)
    assert (first.numerator, second.numerator) == (None, 1.0)  # 2,353 tokens in a window of 2,352
    assert value("cost.window_overflows", recording, run)[0] is None  # one unknown makes the sum unknown
    prices = ["cost_usd", "uncached_usd", "with_refetches_usd", "uncached_with_refetches_usd", "with_refetches_tokens"]
    for name in prices:  # and a run that cannot happen has no price
        (sample,) = measured(f"cost.{name}", recording, run)
        assert (sample.numerator, sample.reason) == (
            None,
            "does not fit the model's window: 1 prompt above 2,352 tokens",
        )


def test_token_count_error_on_what_the_recorded_model_saw() -> None:
    # tools [{"name":"bash"}] are 7 tokens, the user turn 3 + 1, the result as seen 3 + 1, the prompt 3
    recording = trace(
        ToolsChanged(index=0, tools=({"name": "bash"},)),
        UserTurn(index=1, content="hello"),
        ModelTurn(index=2, content="", usage=Usage(prompt_tokens=10)),
        result("hello", full="hello hello hello hello", index=3),
        ModelTurn(index=4, content="done", usage=Usage(prompt_tokens=20)),
    )
    tools = 7
    counted = [(2, 3 + tools + 4, 10), (4, 3 + tools + 4 + 3 + 4, 20)]
    assert count_error(recording, COUNT, {}) == counted
    assert count_error(recording, COUNT, {2: 5}) == [
        counted[0],
        (4, 26, 20),
    ]  # the first turn's reasoning is in the second prompt
    # |14 − 10| + |21 − 20| over 30
    shown = recording_shown(replayer_of(recording).evidence, COUNT, Calibration())
    assert (shown.counted_tokens, shown.reported_tokens, shown.error_tokens) == (14 + 21, 30, 5)


def test_no_model_calls_means_nothing_to_measure() -> None:
    recording = trace(UserTurn(index=0, content="hi"), result("total 471", index=1))
    run = run_of(recording, "keep_all")
    for name in metrics():
        if not name.endswith(".stored") and name != "findings.agreement":
            assert value(name, recording, run) == (None, 0), name
            assert measured(name, recording, run) == []
    assert value("loss.fact_recall.stored", recording, run) == (1.0, 1)


# ---------------------------------------------------------------- loss

LINES = "wrote run_7.csv\n4711 rows\n0.125 is the rate\n"  # facts: run_7.csv, 4711, 0.125
LOST_TABLE = {"table": [{"id": 1, "level": "a"}, {"id": 2, "level": "b"}], "note": "two"}


def session(*results: ToolResult, last: str = "Done.") -> Trace:
    """System, user, the results, and a model turn at the end."""
    return opened([*results, ModelTurn(index=2 + len(results), content=last)])


def test_fact_recall() -> None:
    recording = session(result(LINES, index=2))
    # the first 29 characters end in the middle of 0.125: run_7.csv and 4711 are left of three
    run = run_of(recording, "cut=summarizer=truncate:limit=29+store=truncate:limit=20")
    (shown,) = measured("loss.fact_recall.shown", recording, run)
    assert (shown.numerator, shown.denominator, shown.detail) == (2, 3, Lost(facts=("0.125",)))
    # stored: "wrote run_7.csv\n4711": both are there
    assert value("loss.fact_recall.stored", recording, run) == (pytest.approx(2 / 3), 3)
    assert value("loss.fact_recall.end", recording, run_of(recording, "drop_all")) == (0, 3)


@pytest.mark.parametrize("store", ["full", "external"])
def test_a_store_that_keeps_the_value_has_lost_nothing_of_its_envelope(store: str) -> None:
    recording = session(result("exit code 137, see data", index=2, data={"rows": 471}))
    assert value("loss.fact_recall.stored", recording, run_of(recording, f"s=store={store}")) == (1.0, 1)


def test_a_fact_repeated_elsewhere_in_the_prompt_is_still_there() -> None:
    recording = opened(
        [result(LINES, index=2), ModelTurn(index=3, content="4711 rows."), UserTurn(index=4, content="and?")]
    )
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=0")
    assert value("loss.fact_recall.shown", recording, run)[0] == 0
    assert value("loss.fact_recall.end", recording, run)[0] == pytest.approx(1 / 3)  # the model had said 4711


def test_a_result_cut_at_the_source_says_so() -> None:
    recording = session(result(LINES, index=2, truncated_at_source=True))
    (sample,) = measured("loss.fact_recall.shown", recording, run_of(recording, "keep_all"))
    assert sample.detail == Lost(cut_at_source=True)


def test_leaf_recall() -> None:
    recording = session(result(None, index=2, data=LOST_TABLE))
    run = run_of(recording, "cut=summarizer=truncate:limit=42+store=truncate:limit=42")
    text = str(LOST_TABLE)[:42]
    assert text == "{'table': [{'id': 1, 'level': 'a'}, {'id':"
    for place in ("shown", "end", "stored"):
        (sample,) = measured(f"loss.leaf_recall.{place}", recording, run)
        assert (sample.numerator, sample.denominator) == (2, 5), place  # the first row
        assert sample.detail == Lost(facts=("id: 2", "level: b", "note: two"))
        assert not sample.upper_bound


def test_leaf_recall_without_structure_is_an_upper_bound() -> None:
    recording = opened([result(None, index=2, data=LOST_TABLE), ModelTurn(index=3, content="Level a, two of id 1.")])
    run = run_of(recording, "mask=compactor=mask_observations:keep_last=0")
    (sample,) = measured("loss.leaf_recall.end", recording, run)
    # `id` and `1` stand on one line of the model's; `a` and `two` without their keys, 2 and b nowhere
    assert (sample.numerator, sample.denominator, sample.upper_bound) == (1, 5, True)


def test_text_results_have_no_leaves() -> None:
    recording = session(result(json.dumps(LOST_TABLE), index=2))
    assert measured("loss.leaf_recall.shown", recording, run_of(recording, "keep_all")) == []


# ---------------------------------------------------------------- needed


def test_needed() -> None:
    # turn 3 depends on run_7.csv, said since the turn before. Turn 5 depends on it again, said by turn 3, and on 4711, a turn ago.
    # Level_12 was the harness's own: it is not in the untruncated result, so no strategy is to blame
    recording = opened(
        [
            result("found run_7.csv and 4711\n", index=2),
            ModelTurn(index=3, content="Reading run_7.csv"),
            result("level Level_12", index=4, full="nothing"),
            ModelTurn(index=5, content="Level_12: run_7.csv has 4711"),
        ]
    )
    kept = run_of(recording, "keep_all")
    assert value("needed.recall", recording, kept) == (1.0, 3)
    assert value("needed.faults", recording, kept) == (0, 2)
    masked = run_of(recording, "mask=compactor=mask_observations:keep_last=1")
    # at turn 5 the first result is masked: 4711 is gone; run_7.csv stands in the model's own turn
    assert value("needed.recall", recording, masked) == (pytest.approx(2 / 3), 3)
    assert value("needed.recall.near", recording, masked) == (pytest.approx(2 / 3), 3)
    assert value("needed.recall.far", recording, masked) == (None, 0)
    assert value("needed.faults", recording, masked) == (1, 2)
    assert value("needed.fault_rate", recording, masked) == (
        pytest.approx(1 / 3),
        3,
    )  # of three turns, the closing one too
    missed = [s.detail for s in measured("needed.recall", recording, masked) if not s.numerator]
    assert missed == [Missed(fact="4711", kind="number", source=2, origin="result", distance=1)]


# ---------------------------------------------------------------- findings and routes


def judged(**sides: Any) -> ResultOutcome:
    record = Record(step=1, call_id="c", function="f", success=True)
    return ResultOutcome(step=1, call_id="c", shown="", record=record, **sides)


def run_with(**fields: Any) -> Run:
    return Run(
        trace_id="t",
        trace_sha256="",
        strategy="s",
        spec="",
        encoding="o200k_base",
        messages={},
        message_tokens={},
        **fields,
    )


def test_findings_agreement() -> None:
    same = {"count": 1, "timestamp": 1.0}
    outcomes = (
        judged(
            evaluation={"timestamp": 2.0, "count": 1}, evaluation_untruncated=same
        ),  # time and key order do not count
        judged(evaluation={"count": 1.0}, evaluation_untruncated={"count": 1}),  # the type does
        judged(extraction=None, extraction_untruncated={"go": {"top": ["a", "b"]}}),
        judged(extraction={"only": "stored"}),  # nothing on the untruncated side: not measured
    )
    recording = trace(UserTurn(index=0, content="hi"))
    samples = measured("findings.agreement", recording, run_with(results=outcomes))
    assert [sample.numerator for sample in samples] == [1, 0, 0]
    before, after = '{"go":{"top":["a","b"]}}', "null"
    assert finding_changes([outcomes[2]]) == (
        FindingChange(step=1, path="extraction", kind="type_changes", before=before, after=after),
    )
    assert finding_changes([outcomes[0]]) == ()
    assert [change.kind for change in finding_changes([outcomes[1]])] == ["type_changes"]
    long = judged(extraction={"text": "x" * 30_000}, extraction_untruncated={})
    assert finding_changes([long]) == (), "too long to compare"
    assert value("findings.agreement", recording, run_with(results=outcomes)) == (pytest.approx(1 / 3), 3)
