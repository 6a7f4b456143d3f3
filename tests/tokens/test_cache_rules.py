"""What providers' prompt caches read, write and keep: by the pages that each rule names, and by the usage of recorded runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.pricing import CachePrefix, kept_prefixes
from bench.tokens.calibration import calibrated
from handmade import trace
from recorded_usage import session

from bench import compare, load
from bench.metrics import metric_of
from bench.model import Counting, Message, ModelTurn, Prompt, Run, Splice, Trace, UserTurn
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy
from bench.tokens.caching import CacheRule, cache_rule
from bench.tokens.counting import TokenCounter, encoding_for
from bench.tokens.prices import provider_of

MINUTE_S = 60.0


@pytest.mark.parametrize(
    ("model", "prefix", "read"),
    [
        ("gpt-4o", 1023, 0), ("gpt-4o", 1024, 1024), ("gpt-4o", 1151, 1024), ("gpt-4o", 1152, 1152),
        ("gpt-5.2", 2000, 1920), ("gpt-5.5", 2000, 1536), ("gpt-5.6", 2001, 2001), ("o3", 1300, 1280),
        ("gpt-4-0613", 90_000, 0), ("gpt-3.5-turbo", 90_000, 0), ("gpt-4.1", 1152, 1152),
        ("claude-opus-4-5", 4095, 0), ("claude-opus-4-5", 4096, 4096), ("claude-opus-4-6", 4095, 0),
        ("claude-opus-4-7", 2047, 0), ("claude-opus-4-7", 2049, 2049), ("claude-sonnet-4-6", 2047, 0),
        ("claude-sonnet-4-5", 1023, 0), ("claude-sonnet-4-5", 1025, 1025), ("claude-haiku-4-5", 4095, 0),
        ("claude-3-5-haiku-latest", 2047, 0), ("claude-opus-4-1", 1024, 1024),
        ("gemini-2.5-pro", 2047, 0), ("gemini-2.5-pro", 2049, 2049), ("gemini-3.1-pro-preview", 4095, 0),
        ("grok-4", 129, 128), ("deepseek-chat", 63, 0), ("deepseek-chat", 130, 128),
    ],
)  # fmt: skip
def test_what_is_read_of_a_prefix(model: str, prefix: int, read: int) -> None:
    rule = cache_rule(provider_of(model), model)
    assert rule is not None
    assert rule.read(prefix) == read
    assert rule.source.startswith("https://")


def test_who_charges_writes_who_must_be_asked_and_who_reads_answers() -> None:
    def rule(provider: str, model: str) -> CacheRule:
        found = cache_rule(provider, model)
        assert found is not None
        return found

    assert rule("anthropic", "claude-sonnet-4-5").writes
    assert rule("aws", "anthropic.claude-sonnet-4-5").writes
    assert rule("aws", "anthropic.claude-opus-4-7").minimum == 4096
    assert rule("google", "claude-sonnet-4-5@20250929").writes
    assert not rule("openai", "gpt-5.5").writes
    assert rule("openai", "gpt-5.6").writes
    assert [rule("openai", name).answers for name in ("gpt-4o", "gpt-5", "gpt-5.4", "gpt-5.5")] == [
        False,
        True,
        True,
        False,
    ]
    assert rule("azure", "gpt-35-turbo-16k").read(90_000) == 0


@pytest.mark.parametrize("provider", [None, "cohere", "openrouter", "aws"])
def test_a_rule_that_is_not_known_is_not_guessed(provider: str | None) -> None:
    assert cache_rule(provider, "command-r") is None


@pytest.mark.parametrize(
    ("model", "minutes", "kept"),
    [
        ("claude-sonnet-4-5", 5, True), ("claude-sonnet-4-5", 5.1, False), ("gpt-4o", 10, True), ("gpt-4o", 11, False),
        ("gpt-5.5", 600, True), ("gpt-5.6", 29, True), ("gpt-5.6", 31, False), ("gemini-2.5-pro", 9999, True),
    ],
)  # fmt: skip
def test_a_cache_lives_for_a_while(model: str, minutes: float, kept: bool) -> None:
    rule = cache_rule(provider_of(model), model)
    assert rule is not None
    assert (rule.read(5000, minutes * MINUTE_S) > 0) is kept
    assert rule.read(5000, None) > 0  # a trace without times


# ---------------------------------------------------------------- what prompts share


def run_of_messages(
    *prompts: tuple[int, tuple[Splice, ...], int], counting: Counting | None = None, **messages: int
) -> Run:
    """A run of gpt-4o with these messages (name and tokens) and prompts (step, edits, tokens)."""
    return Run(
        trace_id="t", trace_sha256="", strategy="s", spec="", encoding="o200k_base", model="gpt-4o", counting=counting or Counting(),
        messages={key: Message(role="user", text=key, kind="made") for key in messages}, message_tokens=messages,
        prompts=tuple(Prompt(step=step, thread="main", splices=splices, tokens=tokens) for step, splices, tokens in prompts),
    )  # fmt: skip


def recording_of(*turns: ModelTurn, before: Any = ()) -> TraceEvidence:
    return TraceEvidence(trace(UserTurn(index=0, content="hi"), *before, *turns))


def add(at: int, *keys: str, removed: int = 0) -> tuple[Splice, ...]:
    return (Splice(at=at, removed=removed, added=keys),)


def test_framing_at_the_start_is_shared_and_the_start_of_the_answer_is_not() -> None:
    of_trace = recording_of(ModelTurn(index=1), ModelTurn(index=2))
    for framing, at_end in ((3, 3), (500, 3), (1, 1), (-20, 0)):
        run = run_of_messages(
            (1, add(0, "a"), framing + 40),
            (2, add(1, "b"), framing + 50),
            a=40,
            b=10,
            counting=Counting(prompt_tokens=framing),
        )
        assert kept_prefixes(of_trace, run) == [CachePrefix(0), CachePrefix(max(0, framing + 40 - at_end))]


def test_what_stands_behind_a_change_is_not_shared() -> None:
    of_trace = recording_of(ModelTurn(index=1), ModelTurn(index=2), ModelTurn(index=3))
    run = run_of_messages(
        (1, add(0, "a", "b", "c"), 3 + 111), (2, add(1, "B", removed=1), 3 + 106), (3, add(3, "d"), 3 + 107),
        a=100, b=10, c=1, B=5, d=1,
    )  # fmt: skip
    assert [kept.tokens for kept in kept_prefixes(of_trace, run)] == [0, 100, 106]


def test_nothing_is_shared_with_other_tools_or_another_model() -> None:
    run = run_of_messages((1, add(0, "a"), 43), (2, (), 43), a=40)
    other = recording_of(ModelTurn(index=1, model="gpt-4o"), ModelTurn(index=2, model="gpt-4o-mini"))
    assert [kept.tokens for kept in kept_prefixes(other, run)] == [0, 0]
    changed = Run(**{name: getattr(run, name) for name in run.__struct_fields__ if name != "prompts"}, prompts=(
        run.prompts[0], Prompt(step=2, thread="main", splices=(), tokens=43, tools_changed=True)))  # fmt: skip
    same = recording_of(ModelTurn(index=1), ModelTurn(index=2))
    assert [kept.tokens for kept in kept_prefixes(same, changed)] == [0, 0]
    assert [kept.tokens for kept in kept_prefixes(same, run)] == [0, 40]


def keep_all(recording: Trace) -> RunEvidence:
    evidence = TraceEvidence(recording)
    replayer = Replayer(evidence)
    return RunEvidence(evidence, replayer.run(parse_strategy("keep_all")), count=replayer.counter)


def test_the_answer_that_follows_at_once_is_shared_with_whoever_keeps_answers() -> None:
    recording = session(4, Counting(), model="gpt-5.2")
    found = keep_all(recording)
    kept = found.prompts.kept
    turns = recording.model_turns
    for number in range(1, 4):
        message = next(item for item in found.run.messages.values() if item.step == turns[number - 1].index)
        key = next(key for key, item in found.run.messages.items() if item is message)
        assert kept[number].answered == found.run.message_tokens[key]
        assert kept[number].tokens == found.run.prompts[number - 1].tokens - 3
    masked = Replayer(TraceEvidence(recording)).run(parse_strategy("mask=compactor=mask_observations:keep_last=0"))
    assert all(item.answered == 0 or item.tokens for item in kept_prefixes(TraceEvidence(recording), masked))


def test_a_prompt_after_the_cache_is_gone_reads_nothing() -> None:
    def read(every_s: float) -> list[int | None]:
        recording = session(8, Counting(message_tokens=40), model="gpt-4o", every_s=every_s)
        return [call.read for call in keep_all(recording).calls]

    assert any(read(30))
    assert read(30)[0] == 0
    assert not any(read(11 * MINUTE_S))


def test_a_call_costs_reads_writes_and_the_answer() -> None:
    recording = session(8, Counting(message_tokens=40), model="claude-sonnet-4-5", cached=1.0)
    call = keep_all(recording).calls[-1]
    assert call.read is not None
    assert call.read > 1024
    assert call.written == call.prompt_tokens - call.read - 3
    # claude-sonnet-4-5: $3 in, $0.30 read, $3.75 written, $15 out a million
    expected = (3 * 3 + call.read * 0.3 + call.written * 3.75 + call.answer_tokens * 15) / 1e6
    assert call.usd() == pytest.approx(expected)


@pytest.mark.parametrize(("tokens", "written"), [(1023, 0), (1024, 1024 - 3), (1025, 1025 - 3)])
def test_a_prompt_too_short_for_the_cache_is_not_charged_as_written(tokens: int, written: int) -> None:
    """Claude Sonnet 4.5 keeps no prompt of fewer than 1,024 tokens; the last 3 of a prompt open the answer."""
    turn = ModelTurn(index=1, model="claude-sonnet-4-5")
    run = msgspec.structs.replace(run_of_messages((1, add(0, "a"), tokens), a=tokens - 3), model=turn.model)
    (call,) = RunEvidence(recording_of(turn), run).calls
    assert (call.read, call.written, call.writes) == (0, written, bool(written))
    # $3 in and $3.75 written a million
    assert call.usd() == pytest.approx(((tokens - written) * 3 + written * 3.75 + call.answer_tokens * 15) / 1e6)


# ---------------------------------------------------------------- what recorded usage says of the cache


def counting_of(recording: Trace) -> Counting:
    encoding, assumed = encoding_for(recording.model)
    return calibrated(recording, TokenCounter(encoding), None, assumed=assumed).counting


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_share_that_was_read_holds_for_every_strategy(share: float) -> None:
    recording = session(20, Counting(), model="gemini-2.5-pro", cached=share)
    assert counting_of(recording).cache_share == pytest.approx(share, abs=0.01)
    full, half = (
        compare(recording, "keep_all", calibrate=fit).value("keep_all", "cost.cached_prompt_tokens")
        for fit in (False, True)
    )
    assert full is not None
    assert half == pytest.approx(share * full, rel=0.02)


def test_a_cache_that_nobody_asked_for_is_neither_read_nor_written() -> None:
    asked = session(12, Counting(message_tokens=30), model="claude-sonnet-4-5", cached=1.0)
    not_asked = session(12, Counting(message_tokens=30), model="claude-sonnet-4-5", cached=0.0)
    unknown = session(12, Counting(message_tokens=30), model="claude-sonnet-4-5")
    assert [counting_of(item).cache_used for item in (asked, not_asked, unknown)] == [True, False, True]
    assert {(call.read, call.written) for call in keep_all(not_asked).calls} == {(0, 0)}
    assert any(call.written for call in keep_all(unknown).calls)
    switched_off = compare(not_asked, "keep_all", calibrate=False)
    assert switched_off.value("keep_all", "cost.cached_prompt_tokens") == 0


# ---------------------------------------------------------------- recorded runs


def test_recorded_runs_were_cached_as_the_rules_say(shared_traces: Path) -> None:
    """What every provider read of the prompts of coding runs, by the rule on its own counts: exactly so for most prompts of GPT and Claude."""
    exact: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for recording in load([f"swe:{shared_traces / 'scbench'}"]).traces:
        family = str(recording.model).split("-")[0]
        rule = cache_rule(provider_of(recording.model), recording.model)
        assert rule is not None
        last: ModelTurn | None = None
        for turn in recording.model_turns:
            if last is not None and last.usage is not None and turn.usage is not None:
                prefix = last.usage.prompt_tokens + (last.usage.completion_tokens if rule.answers else 0)
                read = rule.read(min(prefix, turn.usage.prompt_tokens))
                exact[family] += (
                    abs(read - (turn.usage.cached_prompt_tokens or 0)) <= 8
                )  # Claude leaves out its last few tokens
                total[family] += 1
            last = turn
    assert exact["gpt"] / total["gpt"] > 0.6
    assert exact["claude"] / total["claude"] > 0.95
    assert set(total) == {"gpt", "claude", "gemini", "grok"}


@pytest.mark.slow
def test_on_27_coding_runs_most_of_what_keep_all_sends_is_served_from_cache(shared_traces: Path) -> None:
    read = sent = 0.0
    for recording in load([f"swe:{shared_traces / 'scbench'}"]).traces:
        found = keep_all(recording)
        read += sum(sample.numerator or 0 for sample in metric_of("cost.cached_prompt_tokens").samples(found))
        sent += sum(prompt.tokens for prompt in found.run.prompts)
    assert 0.90 < read / sent < 0.97
