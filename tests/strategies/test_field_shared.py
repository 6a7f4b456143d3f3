"""Properties of all published policies, and the code that they share."""

from __future__ import annotations

import pytest
from handmade import SMALL
from measured import replayed

from bench.model.errors import SpecError
from bench.plugins.registry import build, entries

SUMMARISING = [name for name, entry in entries("compactor").items() if "writer" in entry.parameters]
ACTING = {
    "langchain.summarize": "langchain.summarize:trigger_messages=9,keep_messages=2",
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


OUTSIDE = {
    "compactor": ["summarize_old:threshold=2", "summarize_old:threshold=0", "clear_tool_uses:keep=-1", "mask_observations:every=0",
                  "clear_tool_uses:trigger=1e400"],
    "summarizer": [f"mini_swe_agent.output:limit={limit}" for limit in ("-1", "nan", "inf", "1e99")],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "spec"), [(kind, spec) for kind, specs in OUTSIDE.items() for spec in specs])
def test_a_setting_outside_its_bounds_is_refused(kind: str, spec: str) -> None:
    with pytest.raises(SpecError):
        build(kind, spec)
