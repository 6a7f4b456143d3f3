"""Loops missed and feigned: what a memory strategy hides from a router that looks for loops, whoever wrote that router."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from handmade import decided, decision, looking, run_of, trace
from measured import measured
from reference import routes as slow

from bench.model import Sample
from bench.model.errors import SpecError
from bench.replayer.loop import replay
from bench.strategies import compose

EMPTY = trace(id="empty")


missed_loops = partial(measured, "routing.missed_loops")
false_loops = partial(measured, "routing.false_loops")


def total(samples: list[Sample]) -> float:
    return sum(sample.numerator or 0.0 for sample in samples)


OWN = """
def same_twice(messages: list):
    told = [message["content"] for message in messages if message["role"] == "tool"]
    return "stuck" if len(told) != len(set(told)) else "on"


def declared(messages: list):
    return same_twice(messages)


class Declared:
    at = "before_model"
    loop = "stuck"

    def decide(self, state):
        told = [message.text for message in state["prompt"] if message.kind == "result"]
        return ("stuck", {"of": len(told)}) if len(told) != len(set(told)) else "on"


declared.at, declared.loop = Declared.at, Declared.loop
"""


@pytest.mark.parametrize(
    "router", ["mine.py:declared", "mine.py:Declared", "mine.py:same_twice:at=before_model,loop=stuck"]
)
def test_ones_own_router_that_says_it_looks_for_loops_is_measured_like_the_detector(
    router: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    again, other = looking(*["a.csv"] * 4), looking(*"abcd")
    for compactor, recording, missed, false in (
        ("none", again, 0, 0),
        ("sliding_window:keep_last=2", again, 3, 0),
        ("mask_observations:keep_last=0", other, 0, 3),
    ):
        run = replay(recording, compose("s", {"routers": [router], "compactor": compactor}, tmp_path))
        assert run.failure is None
        assert (total(missed_loops(recording, run)), total(false_loops(recording, run))) == (missed, false)
        assert total(missed_loops(recording, run)) == slow.disagreements(run, prompt="none", history="loop")
        assert total(false_loops(recording, run)) == slow.disagreements(run, prompt="loop", history="none")
    silent = replay(again, compose("s", {"routers": ["mine.py:same_twice:at=before_model"]}, tmp_path))
    assert missed_loops(again, silent) == [], "it does not say that it looks for loops"


@pytest.mark.parametrize("loop", ["7", "''", "['stuck']", "print"])
def test_a_loop_that_is_no_routes_name_is_refused(loop: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"def decide(state):\n    return 'on'\n\n\ndecide.loop = {loop}\n")
    with pytest.raises(SpecError, match=r"router mine\.py:decide: its `loop` must be the name of a route, got "):
        compose("s", {"routers": "mine.py:decide"}, tmp_path)


def test_missed_and_false_loops_are_told_apart() -> None:
    go, out = "continue", "break_loop"
    run = decided(
        decision(1, go, go), decision(2, go, out), decision(3, out, go), decision(4, go, out), decision(5, out, out),
        decision(6, go, "stuck", router="mine", loop="stuck"), decision(7, go, out, router="mine", loop="stuck"),
        decision(8, go, out, router="other", loop=None),
    )  # fmt: skip
    assert [sample.numerator for sample in missed_loops(EMPTY, run)] == [0, 1, 0, 1, 0, 1, 0]
    assert [sample.numerator for sample in false_loops(EMPTY, run)] == [0, 0, 1, 0, 0, 0, 0]
    assert [sample.step for sample in missed_loops(EMPTY, run)] == [1, 2, 3, 4, 5, 6, 7]
    none = decided(decision(6, go, out, loop=None))
    assert (missed_loops(EMPTY, none), false_loops(EMPTY, none)) == ([], [])


def test_compaction_blinds_a_loop_detector() -> None:
    recording = looking(*["a.csv"] * 4)
    blind = run_of(recording, "s=routers=loop_detector+compactor=sliding_window:keep_last=4")
    assert total(missed_loops(recording, blind)) == 2
    assert total(missed_loops(recording, run_of(recording, "s=routers=loop_detector"))) == 0


def test_cut_results_feign_a_loop() -> None:
    recording = looking(*(f"a page of results, number {number}" for number in range(4)))
    cut = run_of(recording, "s=routers=loop_detector+summarizer=truncate:limit=9")
    assert total(false_loops(recording, cut)) == 2
    assert total(false_loops(recording, run_of(recording, "s=routers=loop_detector"))) == 0
