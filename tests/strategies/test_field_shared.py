"""Properties of all published policies, and the code that they share."""

from __future__ import annotations

import pytest
from handmade import SMALL
from hypothesis import given, strategies as st
from measured import replayed

from bench.model.errors import SpecError
from bench.plugins.registry import build, entries
from bench.strategies.policies.codex import middle_cut as _cut

SUMMARISING = [name for name, entry in entries("compactor").items() if "writer" in entry.parameters]
ACTING = {
    "langchain.summarize": "langchain.summarize:trigger_messages=9,keep_messages=2,trim_tokens=null",
    "openhands.summarize": "openhands.summarize:max_size=12,keep_first=1",
}
"""Settings with which a policy acts on the long shell session; the others only need `max_tokens`."""


@pytest.mark.parametrize("name", SUMMARISING)
def test_the_empty_writer_works_for_every_strategy_that_summarises(name: str) -> None:
    base = ACTING.get(name, f"{name}:max_tokens=900")
    joined = f'{base}{"," if ":" in base else ":"}writer="extractive:max_chars=0"'
    for recording in SMALL.values():
        replayed(recording, f"s=compactor={joined}")
    run = replayed(SMALL["long"], f"s=compactor={joined}")
    assert bool(run.own_calls) == (name != "gemini.compress")  # the long session has a single request
    assert all(call.produced_tokens == 0 for call in run.own_calls)


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


OUTSIDE = {
    "compactor": ["gemini.compress:preserve=2", "gemini.compress:preserve=-0.1", "codex:threshold=0", "clear_tool_uses:keep=-1",
                  "swe_agent.last_n:polling=0", "mask_observations:every=0", "codex:user_tokens=1e400"],
    "summarizer": [f"codex.output:factor={factor}" for factor in ("-1", "0", "nan", "inf", "1e9")],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "spec"), [(kind, spec) for kind, specs in OUTSIDE.items() for spec in specs])
def test_a_setting_outside_its_bounds_is_refused(kind: str, spec: str) -> None:
    with pytest.raises(SpecError):
        build(kind, spec)
