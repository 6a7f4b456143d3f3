"""InterCode: episodes of commands, each with a reward and whether it executed; ReAct, plan-and-solve and Python ones too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reread import checked, kinds

from bench.traces import load


@pytest.mark.slow
def test_recorded_episodes(shared_traces: Path, tmp_path: Path) -> None:
    """Counted again without the reader: every action but the harness' own, every observation whole, every reward."""
    longest = 0
    for path in sorted((shared_traces / "intercode").rglob("*.json")):
        episodes = list(json.loads(path.read_text()).values())
        traces = load([path.as_posix()]).traces
        assert len(traces) == len(episodes)
        for trace, episode in zip(traces, episodes, strict=True):
            checked(trace, tmp_path)
            history = episode["turn_history"]
            harness = sum(thought.startswith("EXCEEDED MAX TURNS") for thought in history.get("thoughts", ()))
            turns, plan = len(history["actions"]) - harness, len(history.get("steps", ()))
            assert kinds(trace)["ModelTurn"] == turns + (plan > 0)
            assert [result.text for result in trace.results] == history["observations"][:turns]
            assert list(trace.labels["rewards"].values()) == history["rewards"][:turns]
            recorded = [executed for executed in history["valid_action"][:turns] if executed is not None]
            assert list(trace.labels.get("valid", {}).values()) == recorded
            assert sum(not result.success for result in trace.results) == (
                sum("Error: " in text or text.startswith("Error executing") for text in history["observations"])
                if "python" in path.as_posix()
                else recorded.count(False)
            )
            assert trace.outcome is not None
            assert trace.outcome.score == episode["summary"]["max_reward"]
            assert trace.left_out == {}
            cut = (
                [len(text) == 350 for text in history["observations"][:turns]]
                if "thoughts" in history
                else [False] * turns
            )
            assert [result.truncated_at_source for result in trace.results] == cut
            longest = max(longest, *(len(result.text) for result in trace.results))
    assert longest == 942_040
