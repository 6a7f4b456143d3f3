"""How far counted prompts are from those that providers reported, by model.

    python benchmarks/counting_error.py RECORDINGS...

Counted are the prompts of the `recorded` strategy, as every figure of the bench counts them. What a
recording reports also fits its counting, so the error is that of the fit.
"""

from __future__ import annotations

import sys
from statistics import mean, median

import bench
from bench.evidence.index import index_trace
from bench.evidence.of_replay import ReplayEvidence
from bench.evidence.session import TraceSession
from bench.model import Trace
from bench.replayer.replaying import Replayer
from bench.strategies import parse_strategy


def errors(trace: Trace) -> list[tuple[str, float]]:
    """The model of each turn that has usage, and the share by which its prompt was counted wrongly."""
    index = index_trace(trace)
    session = TraceSession(trace, index)
    replay = Replayer(trace, index, session.messages.count).replay(parse_strategy("recorded"))
    calls = ReplayEvidence(session, replay).walked.priced
    reported = {
        turn.index: turn
        for turn in trace.model_turns
        if turn.usage and turn.usage.prompt_tokens > 0
    }
    found = []
    for call in calls:
        turn = reported.get(call.step)
        if turn is not None and turn.usage is not None:
            found.append(
                (turn.model or "?", abs(call.prompt_tokens / turn.usage.prompt_tokens - 1))
            )
    return found


def main() -> None:
    """Print the median and the mean over turns: all, and those of each model."""
    found: list[tuple[str, float]] = []
    recordings = 0
    for path in sys.argv[1:]:
        for trace in bench.load([path]).traces:
            of_trace = errors(trace)
            recordings += bool(of_trace)
            found += of_trace
    every = [error for _, error in found]
    if not every:
        sys.exit("no recording has its provider's counts")
    print(
        f"{recordings} recordings, {len(every)} turns: median {median(every):.2%}, mean {mean(every):.2%}"
    )
    for model in sorted({model for model, _ in found}):
        own = [error for name, error in found if name == model]
        print(f"  {model}: {len(own)} turns, median {median(own):.2%}, mean {mean(own):.2%}")


if __name__ == "__main__":
    main()
