"""What happened in a recording: money shared out to the cent, results read again and why, histories that were shortened."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import msgspec
import pytest
from bench.evidence.audit import audit_of
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.spending import OUTSIDE, Charges, carried, turns_spent
from bench.run.auditing import audit, audited

from bench.evidence.recorded_cut import rereads
from bench.model import (
    AnyStep,
    ContextReset,
    ModelTurn,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    Usage,
    UserTurn,
)
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.prices import unit_prices

CLAUDE = Path(__file__).parents[2] / "tests/data/formats/claude_code/0a1b2c3d-0000-4000-8000-00000000cafe.jsonl"
MODEL = "claude-sonnet-4-5"
LOG = "\n".join(f"line {number} of the log says {number * 37}" for number in range(12))


def recorded(trace: Trace, strategy: str = "recorded") -> RunEvidence:
    of_trace = TraceEvidence(trace)
    replayer = Replayer(of_trace)
    return RunEvidence(of_trace, replayer.run(parse_strategy(strategy)), count=replayer.counter)


def called(index: int, command: str, usage: Usage | None = None, text: str = "") -> ModelTurn:
    call = ToolCall(id=f"c{index}", name="bash", arguments={"command": command})
    return ModelTurn(index=index, content=text, tool_calls=(call,), model=MODEL, usage=usage)


def got(index: int, seen: str, full: str | None = None) -> ToolResult:
    return ToolResult(index=index, call_id=f"c{index - 1}", function="bash", seen=seen, full=full)


def used(prompt: int, cached: int, written: int, output: int = 9) -> Usage:
    return Usage(
        prompt_tokens=prompt, cached_prompt_tokens=cached, cache_write_tokens=written, completion_tokens=output
    )


def trace_of(*steps: AnyStep) -> Trace:
    return Trace(id="t", source=Source(format="native"), steps=steps)


WITH_USAGE = trace_of(
    SystemTurn(index=0, content="You read logs and say what they say, in one sentence."),
    UserTurn(index=1, content="What does the log say?"),
    called(2, "cat app.log", used(1_000, 0, 990)),
    got(3, LOG),
    called(4, "cat app.log", used(1_400, 990, 405)),
    got(5, LOG),
    called(6, "tail -3 other.log", used(1_800, 1_200, 590)),  # less was served than had been written
    got(7, "nothing new"),
    ModelTurn(index=8, content="All is well: 407.", model=MODEL, usage=used(1_850, 1_790, 50, output=12)),
)


def test_money_is_what_the_usage_costs_at_listed_prices() -> None:
    prices = unit_prices(MODEL)
    assert prices is not None
    spent = audited(WITH_USAGE).spent
    usages = [turn.usage for turn in WITH_USAGE.model_turns if turn.usage is not None]
    assert spent.usd == pytest.approx(sum(
        prices.cost_usd(one.prompt_tokens, one.cached_prompt_tokens or 0, one.cache_write_tokens or 0, one.completion_tokens)
        for one in usages
    ))  # fmt: skip
    assert spent.prompt_tokens == 6_050
    assert spent.new_tokens + spent.written_tokens + spent.cached_tokens == spent.prompt_tokens
    assert spent.output_usd + spent.new_usd + spent.written_usd + spent.cached_usd == pytest.approx(spent.usd)


def test_each_part_of_a_call_is_charged_at_its_own_price() -> None:
    prices = unit_prices(MODEL)
    assert prices is not None
    first, _, third, _ = (turn.spent for turn in turns_spent(recorded(WITH_USAGE)))
    assert (first.cached_usd, first.written_usd) == pytest.approx((0, prices.cost_usd(990, 0, 990, 0)))
    assert (third.cached_usd, third.written_usd) == pytest.approx(
        (prices.cost_usd(1_200, 1_200, 0, 0), prices.cost_usd(590, 0, 590, 0))
    )
    assert (third.output_tokens, third.output_usd) == (9, pytest.approx(prices.cost_usd(0, 0, 0, 9)))
    (unknown,) = turns_spent(recorded(trace_of(ModelTurn(index=0, content="", model="mine", usage=used(100, 40, 10)))))
    assert unknown.spent == Charges(prompt_tokens=100, cached_tokens=40, written_tokens=10, output_tokens=9)
    assert (unknown.spent.new_usd, unknown.reported, OUTSIDE) == (0, True, -1)
    plain = Usage(prompt_tokens=2_400, completion_tokens=5)
    asked = SystemTurn(index=0, content=LOG * 20)
    calls = (
        msgspec.structs.replace(called(at, "ls", of), model="gpt-4o")
        for at, of in [(1, plain), (3, plain), (5, used(9, 0, 0))]
    )
    evidence = recorded(trace_of(asked, *calls))
    told, guessed = turns_spent(evidence), turns_spent(evidence, as_reported=False)
    assert [turn.spent.cached_tokens for turn in told] == [0, 0, 0], "one call says what it was served: nobody guesses"
    assert [turn.spent.cached_tokens for turn in guessed] == [call.read or 0 for call in evidence.calls]
    assert {turn.reported for turn in guessed} == {False}


def by_walking(evidence: RunEvidence) -> dict[int, list[float]]:
    """What `carried` gives, token by token: every prompt is read from its start, and each token is charged on its own."""
    prices = unit_prices(MODEL)
    assert prices is not None
    found: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    whole: Counter[tuple[int | None, int]] = Counter()
    for (prompt, keys), turn in zip(evidence.run.walk(), turns_spent(evidence), strict=True):
        usage = turn.spent
        scale = usage.prompt_tokens / prompt.tokens
        messages = [(evidence.run.messages[key].step, evidence.run.message_tokens[key]) for key in keys]
        outside = prompt.tokens - sum(tokens for _, tokens in messages)
        one = prices.cost_usd(usage.prompt_tokens, usage.prompt_tokens, 0, 0) / usage.prompt_tokens
        rest = (
            prices.cost_usd(usage.prompt_tokens, usage.cached_tokens, usage.written_tokens, 0)
            - one * usage.cached_tokens
        )
        other = rest / (usage.prompt_tokens - usage.cached_tokens)
        position = 0.0
        for step, tokens in [(OUTSIDE, outside), *messages]:
            size = tokens * scale
            served = min(max(usage.cached_tokens - position, 0), size)
            position += size
            charged = found[OUTSIDE if step is None else step]
            whole[step, tokens] += 1
            charged[1] += size
            charged[2] += served * one + (size - served) * other
    for (step, _), prompts in sorted(whole.items(), key=lambda of: of[0][1]):
        found[OUTSIDE if step is None else step][0] = prompts  # of the longest: a shorter one is a notice
    return found


STRATEGIES = (
    "recorded",
    "mask=compactor=mask_observations:keep_last=1",
    "window=compactor=sliding_window:keep_last=2",
)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_messages_carry_is_what_a_walk_through_every_prompt_finds(strategy: str) -> None:
    evidence = recorded(WITH_USAGE, strategy)
    turns = turns_spent(evidence)
    found = carried(evidence.run, evidence.calls, turns)
    expected = by_walking(evidence)
    assert found.keys() == expected.keys()
    for step, cost in found.items():
        assert (cost.prompts, cost.carried_tokens, cost.usd) == pytest.approx(tuple(expected[step])), step
    usd = sum((turn.spent.usd or 0) - turn.spent.output_usd for turn in turns)
    assert sum(cost.usd for cost in found.values()) == pytest.approx(usd)


def test_a_call_without_a_count_of_cached_tokens_was_served_none_where_others_were() -> None:
    steps = [
        called(0, "ls", used(2_000, 0, 1_000)),
        called(2, "ls -l", Usage(prompt_tokens=2_400, completion_tokens=5)),
    ]
    spent = [turn.spent.cached_tokens for turn in turns_spent(recorded(trace_of(*steps)))]
    assert spent == [0, 0]


def test_output_counted_before_the_answer_ended_is_counted_from_its_text() -> None:
    early = ModelTurn(index=0, content=LOG, model=MODEL, usage=used(100, 0, 0, output=1))
    found = audited(trace_of(early))
    assert found.early_counts == 1
    assert found.spent.output_tokens > 100


def test_a_result_is_read_again_because_it_was_cut_dropped_or_overlooked() -> None:
    longer = LOG + "\n" + "\n".join(f"row {number}: delivered on day {number}" for number in range(9))
    kept = trace_of(
        called(0, "cat app.log"),
        got(1, LOG[:80] + "\n[cut]", longer),
        called(2, "tail -9 app.log"),
        got(3, longer[len(LOG) + 1 :]),
        called(4, "cat b.log"),
        got(5, LOG.replace("line", "entry")),
        called(6, "head -12 b.log"),
        got(7, "\n".join(f"{number:5}→{line}" for number, line in enumerate(LOG.replace("line", "entry").split("\n")))),
        ContextReset(index=8, summary="Logs were read."),
        called(9, "cat b.log"),
        ToolResult(index=10, call_id="c9", function="bash", seen=LOG.replace("line", "entry")),
        called(11, "date"),
        ToolResult(index=12, call_id="c11", function="bash", seen="}\n}\n}\n}\n}\n}"),
    )
    found = [(item.step, item.earlier, item.why) for item in rereads(kept, recorded(kept).run)]
    assert found == [(3, 1, "cut"), (7, 5, "in prompt"), (10, 7, "dropped")]
    (event,) = audited(kept).shortened
    assert (event.kind, event.turn, event.results) == ("compaction", 5, (1, 3, 5, 7))
    assert [item.step for item in event.asked_again] == [10]
    assert event.tokens_before is not None
    assert event.tokens_after is not None
    assert event.tokens_before > event.tokens_after


def test_the_floor_says_what_could_be_saved_at_most() -> None:
    found = audited(WITH_USAGE)
    assert found.headroom is not None
    assert 0 < found.headroom < 1
    assert audit_of(recorded(WITH_USAGE)).headroom is None


def test_a_session_of_claude_code_adds_up_to_the_usage_in_its_file() -> None:
    usages = {}
    for text in CLAUDE.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        message = line.get("message")
        if isinstance(message, dict) and message.get("usage") and message["model"] != "<synthetic>":
            usages[message["id"]] = message["usage"]
    (found,) = audit(CLAUDE).sessions
    of_session = [turn.spent for turn in found.turns if turn.reported and turn.thread == "main"]
    assert usages
    assert sum(turn.cached_tokens for turn in of_session) == sum(
        usage.get("cache_read_input_tokens", 0) for usage in usages.values()
    )
    assert len(of_session) == len(usages)


def test_an_id_that_is_used_again_belongs_to_the_latest_call_before_the_result() -> None:
    calls = [msgspec.structs.replace(called(at, f"cat {at}").tool_calls[0], id="c") for at in (0, 2)]
    turns = [ModelTurn(index=at, content="", tool_calls=(call,)) for at, call in zip((0, 2), calls, strict=True)]
    results = [ToolResult(index=at, call_id="c", function="bash", seen=LOG) for at in (1, 3)]
    trace = trace_of(turns[0], results[0], turns[1], results[1], ModelTurn(index=4, content="Both were read."))
    assert {item.step: item.asked for item in audited(trace).dearest} == {1: "cat 0", 3: "cat 2"}
    assert [item.turn for item in rereads(trace, recorded(trace).run)] == [2]


LINES = [f"{number} is what line {number} says" for number in range(20)]


@pytest.mark.parametrize(
    ("before", "again", "known"),
    [
        (LINES, [*LINES[:19], "another line"], 19),  # 95 of 100
        (LINES, [*LINES[:18], "another line", "and one more"], None),
        (LINES, [f"{number:3}: {line}" for number, line in enumerate(LINES)], 20),
        (LINES[:5], LINES[:5], 5),
        (LINES[:4], LINES[:4], 4),  # of few lines the same answer to the same call
        (LINES[:4], LINES[:3], None),
        (["x" * 20], ["x" * 20], 1),
        (["x" * 19], ["x" * 19], None),
        ([f"line {n:03}" for n in range(9)], [f"line {n:03}" for n in range(9)] + ["}"] * 9, 9),
    ],
)
def test_which_result_was_read_again(before: list[str], again: list[str], known: int | None) -> None:
    trace = trace_of(called(0, "cat a"), got(1, "\n".join(before)), called(2, "cat a"), got(3, "\n".join(again)))
    found = [(item.turn, item.earlier, item.known, item.asked) for item in rereads(trace, recorded(trace).run)]
    assert found == ([] if known is None else [(2, 1, known, "cat a")])


def test_of_several_that_hold_it_the_latest_is_named() -> None:
    texts = ["\n".join(LINES), "\n".join(LINES[:10]), "\n".join(LINES[:10])]
    steps = [step for at, text in enumerate(texts) for step in (called(2 * at, f"cat {at}"), got(2 * at + 1, text))]
    trace = trace_of(*steps)
    assert [(item.step, item.earlier) for item in rereads(trace, recorded(trace).run)] == [(3, 1), (5, 3)]


@pytest.mark.parametrize(("kept", "why"), [((), "dropped"), ((1,), "dropped"), ((1, 3), "in prompt")])
def test_a_file_that_was_read_in_parts_is_asked_again_as_a_whole(kept: tuple[int, ...], why: str) -> None:
    parts = [called(0, "head a"), got(1, "\n".join(LINES[:12])), called(2, "tail a"), got(3, "\n".join(LINES[12:]))]
    whole = [called(5, "cat a"), got(6, "\n".join(LINES))]
    trace = trace_of(*parts, ContextReset(index=4, summary="It was read.", kept=kept), *whole)
    assert [(item.step, item.known, item.why) for item in rereads(trace, recorded(trace).run)] == [(6, 20, why)]
    assert [len(event.asked_again) for event in audited(trace).shortened] == [why == "dropped"]


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        (Usage(prompt_tokens=100, cached_prompt_tokens=150, completion_tokens=1), (100, 100, 0)),
        (Usage(prompt_tokens=100, cached_prompt_tokens=40, cache_write_tokens=90, completion_tokens=1), (100, 40, 60)),
        (Usage(prompt_tokens=100, cached_prompt_tokens=40, cache_write_tokens=10, completion_tokens=1), (100, 40, 10)),
    ],
)
def test_no_more_is_read_or_written_than_was_sent(usage: Usage, spent: tuple[int, int, int]) -> None:
    (turn,) = turns_spent(recorded(trace_of(called(0, "ls", usage))))
    assert (turn.spent.prompt_tokens, turn.spent.cached_tokens, turn.spent.written_tokens) == spent
    assert turn.spent.new_tokens == spent[0] - spent[1] - spent[2]


def test_the_dearest_come_first() -> None:
    sizes = (3, 9, 5)
    steps = [
        step for at, size in enumerate(sizes) for step in (called(2 * at, "ls"), got(2 * at + 1, LOG[:100] * size))
    ]
    found = audited(trace_of(UserTurn(index=9, content="go"), *steps, called(6, "end"), got(7, "x"), called(8, "end")))
    usd = [item.usd for item in found.dearest]
    assert [item.step for item in found.dearest] == [3, 1, 5, 7]
    assert usd == sorted(usd, reverse=True)
    assert len(set(usd)) == len(usd)
    assert [part.usd for part in found.parts] == sorted((part.usd for part in found.parts), reverse=True)
    assert found.parts[0].name == "bash"
