"""A folder with two small recordings, a scenario and a private strategy, put together by hand: what tests of the command line work in."""

from __future__ import annotations

from pathlib import Path

from handmade import conversation_of, result, shell

from bench.model import ModelTurn
from bench.traces.formats.native import encode_trace

SCENARIO = """
title = "By hand"
traces = ["runs"]

[strategies]
mine = { summarizer = "summarizers.py:cut:limit=900" }

[[gates]]
metric = "needed.recall"
strategy = "mine"
min = 0.5

[[gates]]
metric = "cost.prompt_tokens"
max_increase = "2%"

[[gates]]
metric = "loss.fact_recall.end"
max_drop = 0.01
"""
SUMMARIZERS = """
def cut(result, *, limit: int = 900):
    return result.text[:limit]
"""


def fill(folder: Path) -> None:
    """Write the recordings, the scenario `one.toml` and its strategy into a folder."""
    (folder / "runs").mkdir()
    said = f"{'found 4711 rows ' * 3}in /data/x.csv {'and more ' * 30}"
    facts = conversation_of([result(said, index=2), ModelTurn(index=3, content="4711")], id="facts")
    for item in (facts, conversation_of(shell(5, start=2), id="shell")):
        (folder / "runs" / f"{item.id}.jsonl").write_bytes(encode_trace(item))
    (folder / "one.toml").write_text(SCENARIO)
    (folder / "summarizers.py").write_text(SUMMARIZERS)


def files() -> dict[str, bytes]:
    """The content of every file below the present folder, by its path."""
    return {
        path.relative_to(Path.cwd()).as_posix(): path.read_bytes()
        for path in Path.cwd().rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
