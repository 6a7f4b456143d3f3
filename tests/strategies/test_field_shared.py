"""What all policies of the field promise, and what they share."""

from __future__ import annotations

import pytest
from field import contents, histories, prompts
from handmade import SMALL, run_of
from hypothesis import given, strategies as st

from bench.model import Message
from bench.model.errors import SpecError
from bench.plugins.registry import build, entries
from bench.strategies.policies.codex import middle_cut as _cut

VIEWS = [
    "clear_tool_uses", "langchain.clear_tool_uses", "langchain.trim",
    "openhands.mask", "swe_agent.last_n",
]  # fmt: skip

SUMMARISING = [
    name for name, entry in entries("compactor").items() if any(item.name == "writer" for item in entry.parameters)
]
ACTING = {
    "agent_framework.summarization": "agent_framework.summarization",
    "langchain.summarize": "langchain.summarize:trigger_messages=9,keep_messages=2,trim_tokens=null",
    "openhands.summarize": "openhands.summarize:max_size=12,keep_first=1",
    "pydantic_ai.summarize": "pydantic_ai.summarize:max_messages=9,keep_messages=2",
}
"""How a policy acts on the long shell session; the others need `max_tokens` alone. One request is too few for gemini."""


@pytest.mark.parametrize("name", SUMMARISING)
def test_the_empty_writer_works_for_every_strategy_that_summarises(name: str) -> None:
    base = ACTING.get(name, f"{name}:max_tokens=900")
    joined = f"{base},writer=empty" if ":" in base else f"{base}:writer=empty"
    for recording in SMALL.values():
        run_of(recording, f"s=compactor={joined}")
    run = run_of(SMALL["long"], f"s=compactor={joined}")
    if name != "gemini.compress":  # the long session has one request
        assert run.own_calls
        assert all(call.produced_tokens == 0 for call in run.own_calls)


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "swe_agent.last_n"])
@given(told=histories(max_turns=6))
def test_every_one_is_todays_rule_and_more_moves_less_often(name: str, told: list[Message]) -> None:
    tight = {"openhands.mask": "window=2", "langchain.trim": "max_tokens=60"}.get(name, "trigger=1,keep=1")  # fmt: skip
    plain, batched = prompts(f"{name}:{tight}", told), prompts(f"{name}:{tight},every=3", told)
    assert [contents(prompt) for prompt in prompts(f"{name}:{tight},every=1", told)] == [
        contents(prompt) for prompt in plain
    ]
    for number in range(len(plain)):
        if (number + 1) % 3 and number:
            before = batched[number - 1]
            assert contents(batched[number])[: len(before)] == contents(before)  # the prefix holds
        elif (number + 1) % 3 == 0:
            assert contents(batched[number]) == contents(plain[number])


@given(st.text(max_size=60), st.integers(0, 80))
def test_a_middle_cut_leaves_whole_characters_and_no_more_bytes(text: str, limit: int) -> None:
    cut, data = _cut(text, limit, "chars"), text.encode()
    if len(data) <= limit or "…" in text:
        assert (cut == text) == (len(data) <= limit)
        return
    head, left_out, tail = cut.split("…")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len((head + tail).encode()) <= limit
    assert left_out == f"{len(text) - len(head) - len(tail)} chars truncated"


@pytest.mark.parametrize(
    "spec",
    ["gemini.compress:preserve=2", "gemini.compress:preserve=-0.1", "codex:threshold=0", "openhands.mask:window=-1",
     "swe_agent.last_n:polling=0", "clear_tool_uses:every=0", "codex:user_tokens=1e400"],
)  # fmt: skip
def test_a_setting_outside_its_bounds_is_refused(spec: str) -> None:
    with pytest.raises(SpecError):
        build("compactor", spec)


@pytest.mark.parametrize("factor", ["-1", "0", "nan", "inf", "1e9"])
def test_a_factor_outside_its_bounds_is_refused(factor: str) -> None:
    with pytest.raises(SpecError):
        build("summarizer", f"codex.output:factor={factor}")
