"""Framing and a factor, fitted on what a trace's provider counted: found again where there is such a rule, left alone where there is none."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest
from generated import traces
from handmade import trace
from hypothesis import given, settings, strategies as st
from recorded_usage import session, with_usage, without_usage

from bench import compare, load, run_scenario
from bench.cli import main
from bench.comparison.pairs import require_comparable
from bench.errors import ResultsError, ScenarioError
from bench.evidence.calibration import (
    CALIBRATION_VERSION,
    Calibration,
    _AsAnswered,
    _AsReported,
    _Sent,
    _Way,
    _ways,
    calibrated,
    count_error,
)
from bench.evidence.of_trace import TraceEvidence
from bench.model import Counting, ModelTurn, Trace, Usage
from bench.replayer.loop import Replayer
from bench.scenario import Scenario, read_scenario
from bench.strategies import parse_strategy
from bench.tokens.counting import MESSAGE_TOKENS, PROMPT_TOKENS, TokenCounter, encoding_for
from bench.tokens.fitting import Constant, fitted, outside_error

PLAIN = Counting()
OPENAI = Counting(prompt_tokens=9, message_tokens=12)
CLAUDE = Counting(prompt_tokens=560, message_tokens=8.25, factor=1.19)


def calibration_of(recording: Trace, *, fit: bool = True) -> Calibration:
    encoding, assumed = encoding_for(recording.model)
    return calibrated(recording, TokenCounter(encoding), None, assumed=assumed, fit=fit)


def error(recording: Trace, found: Calibration) -> float:
    """The share of the reported prompt tokens that our counts miss."""
    count = TokenCounter(encoding_for(recording.model)[0], found.counting)
    counted = count_error(recording, count, found.sizes)
    return sum(abs(ours - theirs) for _, ours, theirs in counted) / sum(theirs for *_, theirs in counted)


# ---------------------------------------------------------------- found again


@pytest.mark.parametrize("tools", [False, True])
def test_the_framing_of_a_known_vocabulary_is_found_again(tools: bool) -> None:
    recording = session(12, OPENAI, tools=tools)
    found = calibration_of(recording)
    assert found.counting == msgspec.structs.replace(OPENAI, calibrated=True)
    assert found.problem == ""
    assert error(recording, found) < 0.001
    assert error(recording, Calibration()) > 0.02


def test_a_prompt_may_cost_less_than_its_tool_definitions_as_json() -> None:
    cheaper = Counting(prompt_tokens=-15, message_tokens=3)  # providers write definitions shorter than JSON
    found = calibration_of(session(12, cheaper, tools=True))
    assert found.counting.prompt_tokens == -15
    no_definitions = calibration_of(session(12, cheaper, tools=False))
    assert no_definitions.counting.prompt_tokens >= 0  # a prompt never costs less than nothing


def test_framing_and_factor_of_a_vocabulary_that_is_not_ours_are_found_again() -> None:
    recording = session(20, CLAUDE, model="claude-sonnet-4-5")
    found = calibration_of(recording)
    assert found.counting.calibrated
    assert found.counting.factor == pytest.approx(CLAUDE.factor, abs=0.01)
    assert found.counting.prompt_tokens == pytest.approx(CLAUDE.prompt_tokens, abs=15)
    assert found.counting.message_tokens == pytest.approx(CLAUDE.message_tokens, abs=2)
    assert error(recording, found) < 0.002 < 0.2 < error(recording, Calibration())


def test_a_known_vocabulary_has_no_factor() -> None:
    recording = session(12, Counting(factor=1.3), model="gpt-4o")
    assert calibration_of(recording).counting.factor == 1.0


def test_one_turn_that_counts_otherwise_does_not_move_the_constants() -> None:
    recording = session(14, OPENAI)
    odd = with_usage(recording, 6, prompt_tokens=90_000)  # an image, say
    assert calibration_of(odd).counting == calibration_of(recording).counting


def test_each_trace_is_fitted_alone() -> None:
    other = Counting(prompt_tokens=30, message_tokens=5)
    found = compare([session(12, OPENAI), msgspec.structs.replace(session(12, other), id="u")], "keep_all")
    assert [case.recording.counting.prompt_tokens for case in found.cases] == [9, 30]


# ---------------------------------------------------------------- left alone


def test_without_usage_the_plain_rule_stays() -> None:
    found = calibration_of(without_usage(session(12, OPENAI)))
    assert (found.counting, found.problem) == (PLAIN, "no turn reports usage")
    alone = calibration_of(without_usage(session(12, OPENAI), *range(1, 12)))
    assert (alone.counting, alone.problem) == (PLAIN, "only one turn reports usage")
    assert (PROMPT_TOKENS, MESSAGE_TOKENS) == (PLAIN.prompt_tokens, PLAIN.message_tokens) == (3, 3)


def test_on_few_turns_only_the_framing_of_a_prompt_is_fitted() -> None:
    hidden = Counting(prompt_tokens=3_500, message_tokens=4)  # instructions that were not recorded
    found = calibration_of(session(3, hidden, model="claude-sonnet-4-5"))
    assert (found.counting.message_tokens, found.counting.factor) == (3.0, 1.0)
    assert found.counting.prompt_tokens == pytest.approx(3_500, abs=20)
    assert found.counting.calibrated


@pytest.mark.parametrize("framing", [9, 50, 700])
def test_on_few_turns_messages_are_counted_as_plainly_as_ever(framing: int) -> None:
    found = calibration_of(session(3, Counting(prompt_tokens=framing, message_tokens=PLAIN.message_tokens)))
    assert found.counting.prompt_tokens == framing


@pytest.mark.parametrize(("plain", "outside"), [(0.3, 0.1), (0.1, 0.3)])
def test_a_way_of_counting_is_as_far_off_as_the_better_of_fitted_and_plain(plain: float, outside: float) -> None:
    way = _Way([_Sent(reported=100, tools=0, messages=2, said=90)], 0, assumed=False)
    way.plain, way.outside = plain, outside
    assert way.error == 0.1


def sent_of(turns: int, **more: int) -> list[_Sent]:
    """Prompts of 500 tokens and 8.25 a message, in a vocabulary with 1.1875 tokens for one of ours."""
    sizes = [(4 * place, 16 * place * place) for place in range(1, turns + 1)]
    return [
        _Sent(round(500 + 8.25 * messages + 1.1875 * said), 0, messages, said)._replace(**more)
        for messages, said in sizes
    ]


def test_constants_have_the_digits_that_they_need() -> None:
    assert _Way(sent_of(12), 0, assumed=True).constants == (500, 8.25, 1.1875)


@pytest.mark.parametrize(
    ("turns", "flagged", "assumed", "more", "names"),
    [
        (5, False, True, {}, [_Way]),
        (5, False, True, {"answered": 9}, [_Way, _AsAnswered]),
        (4, False, False, {"answered": 9}, [_Way]),
        (5, False, False, {"answered": 9, "reasoning": 5}, [_Way, _AsReported, _AsAnswered]),
        (5, True, False, {"answered": 9, "reasoning": 5}, [_AsReported, _Way, _AsAnswered]),
        (4, True, False, {"reasoning": 5}, [_AsReported, _Way]),
        (4, True, True, {"reasoning": 5}, [_AsReported]),
        (4, False, True, {"reasoning": 5}, [_Way]),
    ],
)
def test_the_ways_to_count_that_are_tried(
    turns: int, flagged: bool, assumed: bool, more: dict[str, int], names: list[type[_Way]]
) -> None:
    assert [type(way) for way in _ways(sent_of(turns, **more), 0, flagged, assumed)] == names


@pytest.mark.parametrize(("answered", "size"), [(0, 0), (1, 0), (2, 0), (9, 7)])
def test_what_an_answer_counts_beyond_its_text_is_reasoning_and_never_less_than_none(answered: int, size: int) -> None:
    turn = ModelTurn(index=1, content="Yes.", usage=Usage(prompt_tokens=5, completion_tokens=answered))
    count = TokenCounter()
    assert count.said("Yes.", ()) == 2
    way = _AsAnswered(sent_of(6), 0, assumed=False)
    assert way.size(turn, count, 1.0) == size
    assert way.size(ModelTurn(index=1, content="Yes."), count, 1.0) == 0


@pytest.mark.parametrize("turns", [3, 12])
def test_where_the_plain_rule_is_right_it_stays(turns: int) -> None:
    found = calibration_of(session(turns, PLAIN))
    assert (found.counting.calibrated, found.counting.prompt_tokens) == (False, PROMPT_TOKENS)


def test_usage_that_follows_no_rule_is_not_fitted() -> None:
    draw, recording = random.Random(1), session(10, PLAIN)
    for number in range(10):
        plain = recording.model_turns[number].usage
        assert plain is not None
        recording = with_usage(
            recording, number, prompt_tokens=plain.prompt_tokens + (0 if number % 2 else draw.randrange(2))
        )
    found = calibration_of(recording)
    assert found.counting == PLAIN
    assert found.problem == "fitted constants miss turns that they were not fitted on by more than the plain rule does"


def test_calibration_can_be_switched_off() -> None:
    found = calibration_of(session(12, OPENAI), fit=False)
    assert (found.counting, found.problem) == (PLAIN, "calibration is switched off")


# ---------------------------------------------------------------- what uses it


@settings(max_examples=40)
@given(
    traces(max_turns=10, extras=True),
    st.sampled_from(("keep_all", "recorded", "mask=compactor=mask_observations:keep_last=1")),
)
def test_a_prompt_costs_its_framing_its_tools_and_its_messages(recording: Trace, spec: str) -> None:
    replayer = Replayer(TraceEvidence(recording))
    run = replayer.run(parse_strategy(spec))
    assert run.counting == replayer.calibration.counting
    for prompt, keys in run.walk():
        messages = sum(run.message_tokens[key] for key in keys)
        assert prompt.tokens == run.counting.prompt_tokens + prompt.tools_tokens + messages >= 0


def test_the_recorded_strategy_costs_what_the_provider_counted() -> None:
    recording = session(12, OPENAI, tools=True)
    run = Replayer(TraceEvidence(recording)).run(parse_strategy("recorded"))
    for prompt, step in zip(run.prompts, recording.model_turns, strict=True):
        assert step.usage is not None
        assert prompt.tokens == pytest.approx(step.usage.prompt_tokens, abs=len(recording.steps) / 2)


def test_the_report_tells_the_error_before_and_after() -> None:
    shown = compare(session(12, OPENAI), "keep_all").cases[0].recording
    assert shown.error_tokens < 0.001 * shown.reported_tokens < 0.02 * shown.reported_tokens < shown.error_tokens_plain
    assert shown.error_tokens_uncalibrated == shown.error_tokens_plain  # no reasoning
    assert (shown.counting.calibrated, shown.not_calibrated) == (True, "")
    plain = compare(session(12, OPENAI), "keep_all", calibrate=False).cases[0].recording
    assert plain.error_tokens == plain.error_tokens_plain == shown.error_tokens_plain
    assert plain.not_calibrated == "calibration is switched off"


def test_calibration_is_part_of_the_signature() -> None:
    on, off = (compare(session(6, OPENAI), "keep_all", calibrate=value).signature for value in (True, False))
    assert (on.calibration, off.calibration) == (CALIBRATION_VERSION, "off")
    with pytest.raises(ResultsError, match="calibration of token counts"):
        require_comparable(on, off)
    named = compare(session(6, OPENAI, model=None), "keep_all", model="gpt-4o")
    assert named.signature.model == "gpt-4o"


def test_a_scenario_and_the_command_line_can_switch_it_off(tmp_path: Path) -> None:
    recording = tmp_path / "t.jsonl"
    from bench.traces.native import write_trace

    write_trace(session(8, OPENAI), recording)
    scenario = tmp_path / "s.toml"
    table = 'traces = ["t.jsonl"]\n[strategies.cut]\nsummarizer = "truncate:limit=40"\n'
    for line, expected in (("", True), ("calibrate = true\n", True), ("calibrate = false\n", False)):
        scenario.write_text(line + table)
        assert run_scenario(scenario).cases[0].recording.counting.calibrated is expected
    scenario.write_text('calibrate = "no"\n' + table)
    with pytest.raises(ScenarioError, match="`calibrate`: Expected `bool`, got `str`"):
        read_scenario(scenario)
    report = tmp_path / "r.json"
    common = ["run", "--traces", str(recording), "--strategy", "cut=summarizer=truncate:limit=40", "-o", str(report)]
    for options, expected in (([], CALIBRATION_VERSION), (["--no-calibrate"], "off")):
        with pytest.raises(SystemExit) as exit_code:
            main([*common, *options])
        assert exit_code.value.code == 0
        assert f'"calibration": "{expected}"' in report.read_text().replace('":"', '": "')


def test_a_model_can_be_named_for_traces_that_name_none() -> None:
    recording = without_usage(session(3, PLAIN, model=None))
    nameless, named = compare(recording, "keep_all"), compare(recording, "keep_all", model="gpt-4-0613")
    reason = nameless.row("keep_all", "cost.cost_usd").reason
    assert reason is not None
    assert "name one with --model" in reason
    assert named.value("keep_all", "cost.cost_usd") > 0
    assert named.value("keep_all", "cost.window_overflows") == 0
    assert named.signature.encodings == ("cl100k_base",)
    assert named.cases[0].recording.model == "gpt-4-0613"
    named_already = compare(without_usage(session(3, PLAIN, model="gpt-4o")), "keep_all", model="gpt-4-0613")
    assert named_already.cases[0].recording.model == "gpt-4o"
    assert Scenario(title="t", traces=(), model="gpt-4o").model == "gpt-4o"


# ---------------------------------------------------------------- the fit itself

UNBOUND = Constant(0, -1e6, 1e6)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 5000)), min_size=4, max_size=20, unique=True),
    st.integers(-50, 50),
    st.integers(0, 30),
)
def test_a_rule_without_noise_is_found_exactly(rows: list[tuple[int, int]], framing: int, each: int) -> None:
    matrix = [(1.0, float(messages), float(said)) for messages, said in rows]
    if np.linalg.cond(np.array(matrix)) > 1e6:
        return
    wanted = [framing + each * messages + 1.25 * said for _, messages, said in matrix]
    found = fitted(matrix, wanted, (UNBOUND, UNBOUND, UNBOUND))
    assert found == pytest.approx((framing, each, 1.25), abs=0.05)


@settings(max_examples=60)
@given(st.integers(0, 1000))
def test_the_fit_is_the_best_within_its_bounds(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = np.column_stack([np.ones(12), draw.integers(1, 60, 12), draw.integers(0, 4000, 12)])
    wanted = rows @ np.array([draw.uniform(-300, 600), draw.uniform(-20, 90), draw.uniform(0.3, 3.0)]) + draw.normal(
        0, 40, 12
    )
    bounds = (Constant(3, -100, 500), Constant(3, 0, 40), Constant(1, 0.5, 2.5))
    found = np.array(fitted(rows.tolist(), wanted.tolist(), bounds))
    assert all(item.lowest - 1e-6 <= value <= item.highest + 1e-6 for item, value in zip(bounds, found, strict=True))
    least = np.abs(rows @ found - wanted).sum()
    for _ in range(200):  # nothing near it is better by more than the weighting can tell
        near = np.array([np.clip(value + draw.normal(0, step), item.lowest, item.highest)
                         for value, item, step in zip(found, bounds, (20, 2, 0.02), strict=True)])  # fmt: skip
        assert np.abs(rows @ near - wanted).sum() > 0.93 * least


def test_rows_that_leave_a_constant_open_keep_its_plain_value() -> None:
    assert fitted([(1.0, 2.0)] * 6, [103.0] * 6, (Constant(100, 0, 200), Constant(1.5, 0, 9))) == pytest.approx(
        (100, 1.5), abs=1e-3
    )
    assert fitted([], [], (Constant(7, 0, 9),)) == (7,)


def test_the_error_outside_is_of_rows_that_were_left_out() -> None:
    rows, wanted = [(1.0,)] * 10, [10.0] * 9 + [110.0]
    assert outside_error(rows, wanted, (Constant(0, 0, 1000),)) == pytest.approx(100, abs=1)


# ---------------------------------------------------------------- recorded runs


def test_recorded_usage_of_coding_runs(shared_traces: Path) -> None:
    """Within 1 % for OpenAI's models, within 5 % for the others; before, up to 44 %."""
    before = []
    for recording in load([f"mini_swe_agent:{shared_traces / 'scbench'}"]).traces:
        found = calibration_of(recording)
        assert found.counting.calibrated, recording.id
        assert error(recording, found) < (0.01 if "gpt" in str(recording.model) else 0.05), recording.id
        before.append(error(recording, Calibration()))
    assert len(before) == 27
    assert max(before) > 0.4


def test_an_empty_trace_has_nothing_to_fit() -> None:
    assert calibration_of(trace()).problem == "no turn reports usage"
