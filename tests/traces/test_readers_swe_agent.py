"""SWE-agent: the history a model was sent, with the untruncated output and the time of each action from the trajectory."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

from reread import checked, kinds

import bench
from bench.tokens.counting import TokenCounter
from bench.traces import load


def test_recorded_runs(shared_traces: Path, tmp_path: Path) -> None:
    """Counted again without the reader."""
    paths = sorted((shared_traces / "swe-agent").rglob("*.traj"))
    assert len(paths) == 14
    for path in paths:
        recorded = json.loads(path.read_text())
        (trace,) = load([path.as_posix()]).traces
        checked(trace, tmp_path)
        history, ran = recorded["history"], recorded.get("trajectory", [])
        roles = Counter(entry["role"] for entry in history)
        answers = [entry for entry in history if entry["role"] == "assistant"]
        shown = [
            after["content"] for before, after in itertools.pairwise(history)
            if before["role"] == "assistant" and after["role"] in ("user", "tool")
        ]  # fmt: skip
        found = kinds(trace)
        assert (found["ModelTurn"], found["SystemTurn"]) == (roles["assistant"], roles["system"])
        assert found["UserTurn"] == roles["user"] + roles["tool"] - len(shown)
        assert [result.seen for result in trace.results if result.seen is not None] == shown
        assert [turn.content for turn in trace.model_turns] == [entry["content"] for entry in answers]
        for turn, entry in zip(trace.model_turns, answers, strict=True):
            (call,) = turn.tool_calls
            if entry.get("tool_calls"):
                assert call.id == entry["tool_calls"][0]["id"]
            else:
                assert (call.arguments, call.in_text) == ({"command": entry["action"]}, True)
        if history[-1]["role"] == "assistant":
            assert trace.results[-1].full == ran[-1]["observation"]
        assert trace.left_out == (
            {"trajectory step that is not in the history": len(ran) - len(answers)} if len(ran) > len(answers) else {}
        )
        times = [step["execution_time"] for step in ran if "execution_time" in step]
        assert [result.duration_s for result in trace.results if result.duration_s is not None] == times
        assert trace.meta.get("submission") == recorded.get("info", {}).get("submission")


def masked_run(turns: int, said: str = "Old output omitted ({} lines)", n: int = 5) -> dict[str, Any]:
    """A run of before 1.0 whose old observations were masked: the file keeps them all, and says how many tokens were sent."""
    encode = tiktoken_of("o200k_base")
    history = [
        {"role": role, "content": text, "agent": "primary"}
        for role, text in (("system", "Fix."), ("user", "The issue."))
    ]
    sent = 0
    for turn in range(turns):
        observed = [at for at, entry in enumerate(history) if entry["role"] == "user"]
        old = observed[1 : max(1, len(observed) - n)]
        shown = [
            said.format(len(entry["content"].splitlines())) if at in old else entry["content"]
            for at, entry in enumerate(history)
        ]
        sent += 3 + sum(4 + len(encode(text)) for text in shown)
        action = f"cat file_{turn}.py"
        history.append({"role": "assistant", "content": action, "thought": "", "action": action, "agent": "primary"})
        history.append(
            {"role": "user", "content": f"line one of file {turn}\nline two, {turn * 7919}\n" * 9, "agent": "primary"}
        )
    return {"environment": "main", "trajectory": [], "history": history, "info": {"model_stats": {"tokens_sent": sent}}}


def tiktoken_of(encoding: str) -> Any:
    return TokenCounter(encoding)._encode


def test_the_strategy_recorded_shows_what_was_sent(tmp_path: Path) -> None:
    (tmp_path / "r.traj").write_text(json.dumps(masked_run(12)))
    (case,) = bench.compare([str(tmp_path / "r.traj")], {"masked": "compactor=swe_agent.last_n:n=5"}).cases
    tokens = {row.strategy: row.value for row in case.rows if row.metric == "cost.prompt_tokens"}
    assert abs(tokens["recorded"] / tokens["masked"] - 1) < 0.01
    assert tokens["keep_all"] > 1.1 * tokens["masked"]
