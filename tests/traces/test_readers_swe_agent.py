"""SWE-agent: the history a model was sent, with the untruncated output and the time of each action from the trajectory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bench
from bench.tokens.counting import TokenCounter


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
