"""What one call reads, writes and costs: by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.pricing import CachePrefix, PricedCall, Refetch, kept_prefixes, own_usd, spent
from handmade import trace

from bench.model import Counting, Message, ModelTurn, Prompt, Run, Spent, Splice, Usage, UserTurn, WriterCall
from bench.tokens.prices import UnitPrices

SIZES = {"user": 1000, "answer": 300, "more": 50}
MESSAGES = {
    "user": Message(role="user", text="hi", kind="user", step=0),
    "answer": Message(role="assistant", text="Yes.", kind="model", step=1),
    "more": Message(role="user", text="and", kind="user", step=2),
}


def run_of(*prompts: tuple[int, int, tuple[str, ...], int], counting: Counting | None = None) -> Run:
    """A run of these prompts: step, where the edit is, what comes there, tokens in all."""
    made = tuple(
        Prompt(step=step, thread="main", splices=(Splice(at=at, removed=0, added=added),), tokens=tokens)
        for step, at, added, tokens in prompts
    )
    return Run(trace_id="t", trace_sha256="", strategy="s", spec="", encoding="o200k_base", messages=MESSAGES,
               message_tokens=SIZES, prompts=made, counting=counting or Counting())  # fmt: skip


def evidence(model: str | None, run: Run, *, turns: tuple[ModelTurn, ...] = ()) -> RunEvidence:
    said = ModelTurn(index=1, content="Yes."), ModelTurn(index=3, content="No.")
    recording = trace(UserTurn(index=0, content="hi"), *(turns or said))
    return RunEvidence(TraceEvidence(recording, model), run)


TWO = run_of((1, 0, ("user",), 1003), (3, 1, ("answer", "more"), 1353))


@pytest.mark.parametrize(("model", "read"), [("gpt-5.2", [0, 1280]), ("gpt-4o", [0, 0]), ("command-r", [None, None])])
def test_a_cache_that_keeps_answers_reads_the_one_that_follows_at_once(model: str, read: list[int | None]) -> None:
    """1,000 tokens of the first prompt and 300 of its answer, in steps of 128; without the answer it is too short."""
    found = evidence(model, TWO)
    assert found.prompts.kept[1] == CachePrefix(1000, answered=300)
    assert [call.read for call in found.calls] == read


def test_what_is_behind_another_message_is_no_answer_that_follows_at_once() -> None:
    other = run_of((1, 0, ("user",), 1003), (3, 1, ("more", "answer"), 1353))
    assert evidence("gpt-5.2", other).prompts.kept[1] == CachePrefix(1000)
    before = run_of((1, 0, ("user",), 1003), (3, 0, ("answer", "more"), 1353))
    assert evidence("gpt-5.2", before).prompts.kept[1] == CachePrefix(0)


def test_where_no_rule_is_known_nothing_is_read_again_nor_written() -> None:
    calls = evidence("command-r", TWO).calls
    assert [(call.reread, call.written, call.writes) for call in calls] == [(0, 0, False)] * 2


@pytest.mark.parametrize(("kind", "step"), [("model", 1), ("made", 3), ("result", 3)])
def test_only_the_answer_to_the_prompt_before_follows_it_at_once(kind: Any, step: int) -> None:
    other = Message(role="assistant", text="Yes.", kind=kind, step=step)
    run = run_of((3, 0, ("user",), 1003), (5, 1, ("answer", "more"), 1353))
    run = msgspec.structs.replace(run, messages={**MESSAGES, "answer": other})
    turns = ModelTurn(index=3), ModelTurn(index=5)
    assert evidence("gpt-5.2", run, turns=turns).prompts.kept[1] == CachePrefix(1000)


@pytest.mark.parametrize(("tokens", "reread"), [(1026, 0), (1027, 1024), (1154, 1024), (1155, 1152)])
def test_a_call_right_after_reads_the_prompt_but_for_the_start_of_the_answer(tokens: int, reread: int) -> None:
    (call,) = evidence("gpt-4o", run_of((1, 0, ("user",), tokens))).calls
    assert (call.reread, call.read, call.written, call.writes) == (reread, 0, 0, False)


def test_of_what_the_rule_would_read_the_share_counts_that_was_read() -> None:
    half = run_of((1, 0, ("user",), 1003), (3, 1, ("answer", "more"), 1353), counting=Counting(cache_share=0.5))
    assert [call.read for call in evidence("gpt-5.2", half).calls] == [0, 640]
    never = run_of((1, 0, ("user",), 1003), (3, 1, ("answer", "more"), 1353), counting=Counting(cache_used=False))
    assert [(call.read, call.reread) for call in evidence("gpt-5.2", never).calls] == [(0, 0), (0, 0)]


def test_what_the_cache_held_before_is_read_whole_at_the_first_prompt_only() -> None:
    served = Usage(prompt_tokens=1003, cached_prompt_tokens=700, completion_tokens=4)
    turns = (ModelTurn(index=1, content="Yes.", usage=served), ModelTurn(index=3, content="No.", usage=served))
    found = evidence("gpt-4o", TWO, turns=turns)
    assert found.prompts.kept == [CachePrefix(0, warm=700), CachePrefix(1000, answered=300)]
    assert [call.read for call in found.calls] == [700, 0]  # 700 is no step of the rule: it was served


def test_a_message_that_is_replaced_by_its_equal_is_no_change() -> None:
    prompts = (
        Prompt(
            step=1, thread="main", tokens=1353, splices=(Splice(at=0, removed=0, added=("user", "answer", "more")),)
        ),
        Prompt(
            step=3, thread="main", tokens=1353, splices=(Splice(at=0, removed=3, added=("user", "answer", "more")),)
        ),
        Prompt(step=5, thread="main", tokens=1053, splices=(Splice(at=0, removed=3, added=("user", "more")),)),
        Prompt(step=7, thread="main", tokens=1053, splices=()),
    )
    run = msgspec.structs.replace(TWO, prompts=prompts)
    turns = tuple(ModelTurn(index=index) for index in (1, 3, 5, 7))
    assert [kept.tokens for kept in evidence("gpt-4o", run, turns=turns).prompts.kept] == [0, 1350, 1000, 1050]


PRICES = UnitPrices("p", "m", 3, 15, 0.3, 3.75)


def call_of(**fields: Any) -> PricedCall:
    return PricedCall(
        **{
            "step": 1,
            "prompt_tokens": 1000,
            "read": 200,
            "written": 300,
            "answer_tokens": 100,
            "prices": PRICES,
            **fields,
        }
    )


def test_a_call_costs_what_is_read_written_plain_and_answered() -> None:
    assert call_of().usd() == pytest.approx((200 * 0.3 + 300 * 3.75 + 500 * 3 + 100 * 15) / 1e6, rel=1e-12)
    assert call_of(read=None).usd() == pytest.approx((300 * 3.75 + 700 * 3 + 100 * 15) / 1e6, rel=1e-12)
    assert call_of(prices=None).usd() is None
    assert call_of().uncached.usd() == pytest.approx((1000 * 3 + 100 * 15) / 1e6, rel=1e-12)


def test_dollars_by_their_use_are_those_of_every_call() -> None:
    found = spent(evidence("gpt-4o", TWO).of_trace, TWO, [call_of(), call_of(step=3, prompt_tokens=1100)], {})
    dollars = Spent(answers=3000, new_prompt=3300, cached_prompt=120, cache_writes=2250, own_calls=0, repairs=0)
    assert msgspec.structs.astuple(found) == pytest.approx([part / 1e6 for part in msgspec.structs.astuple(dollars)])


def test_a_call_that_sends_it_again_reads_it_and_writes_what_is_new_where_that_is_charged() -> None:
    """1,000 tokens, of which 900 are read again, 50 more, and an answer of 10."""
    repair = Refetch(turn=1, answer_tokens=10, fetched={0: 40}, beyond=())
    plain, writing = call_of(reread=900), call_of(reread=900, writes=True)
    assert plain.usd(repair) - plain.usd() == pytest.approx((900 * 0.3 + 150 * 3 + 10 * 15) / 1e6, rel=1e-12)
    assert writing.usd(repair) - writing.usd() == pytest.approx((900 * 0.3 + 150 * 3.75 + 10 * 15) / 1e6, rel=1e-12)
    assert plain.uncached.usd(repair) == pytest.approx((2050 * 3 + 110 * 15) / 1e6, rel=1e-12)


def test_a_summary_is_paid_for_by_the_model_that_was_asked_and_never_cached() -> None:
    """claude-sonnet-4-5: $3 in and $15 out a million; gpt-4o: $2.50 and $10."""
    found = evidence("gpt-4o", TWO)
    asked = WriterCall(step=1, consumed_tokens=100_000, produced_tokens=10_000, model="claude-sonnet-4-5")
    assert own_usd(found.of_trace, asked) == pytest.approx(0.3 + 0.15, rel=1e-12)
    assert own_usd(found.of_trace, msgspec.structs.replace(asked, model=None)) == pytest.approx(0.25 + 0.1, rel=1e-12)
    assert own_usd(found.of_trace, msgspec.structs.replace(asked, model="no-such-model")) is None


def test_of_a_first_prompt_as_much_is_warm_as_it_has_of_the_recorded_start() -> None:
    served = Usage(prompt_tokens=2000, cached_prompt_tokens=1900, completion_tokens=4)
    recording = trace(
        UserTurn(index=0, content="hi"),
        UserTurn(index=2, content="and"),
        ModelTurn(index=3, content="No.", usage=served),
    )
    for prompted, warm in (
        (("user", "more"), 1050),
        (("user", "answer", "more"), 1000),  # up to the first message that is another one
        (("more", "user"), 0),
        (("answer", "more"), 0),
    ):
        tokens = 3 + sum(SIZES[key] for key in prompted)
        assert kept_prefixes(TraceEvidence(recording), run_of((3, 0, prompted, tokens))) == [CachePrefix(0, warm=warm)]
