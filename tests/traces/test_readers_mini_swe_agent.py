"""mini-swe-agent's three dialects: commands in text, chat and Responses, with the whole output beside what the model saw."""

from __future__ import annotations

import json
from pathlib import Path

from bench.traces import load
from bench.traces.formats.mini_swe_agent import _envelope

# ---------------------------------------------------------------- real runs


def test_every_uncut_result_is_rendered_as_the_harness_did(shared_traces: Path) -> None:
    """Rendering the raw output gives what was seen, byte for byte, wherever nothing was cut: so it is right where something was."""
    same = cut = 0
    loaded = {trace.source.path: trace for trace in load(["mini_swe_agent:scbench"], shared_traces).traces}
    assert len(loaded) == 27
    for path, trace in loaded.items():
        messages = json.loads((shared_traces / "scbench" / path).read_bytes())["messages"]
        outputs = [item for item in messages if "raw_output" in item.get("extra", {})]
        assert len(outputs) == len(trace.results)
        for output, result in zip(outputs, trace.results, strict=True):
            raw, seen = output["extra"]["raw_output"], result.seen or ""
            whole = _envelope(seen, output["extra"]["returncode"], raw, output["extra"]["exception_info"])
            assert json.loads(result.text)["output"] == raw
            same += result.full is None and whole == seen
            cut += result.full == whole
            assert (result.full is None) == ("elided_chars" not in json.loads(seen))
    assert (same, cut) == (521, 20)


def test_real_runs_have_their_turns_usage_and_calls(shared_traces: Path) -> None:
    loaded = load(["mini_swe_agent:scbench"], shared_traces).traces
    turns = [turn for trace in loaded for turn in trace.model_turns]
    assert len(turns) == 568
    assert all(turn.usage is not None and turn.model and turn.finish_reason and turn.t for turn in turns)
    assert sum(len(turn.tool_calls) for turn in turns) == 569
    assert sum(turn.reasoning is not None for turn in turns) == 98
    assert all(trace.meta["exit_status"] == "Submitted" for trace in loaded)
    largest = max((result for trace in loaded for result in trace.results), key=lambda result: len(result.text))
    assert len(json.loads(largest.text)["output"]) == 1_941_421
    assert len(largest.seen or "") == 13_798


# ---------------------------------------------------------------- results under a label
