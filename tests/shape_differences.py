"""How much a trace's shape measures differently from the trace: `python tests/shape_differences.py PATH…` prints what differs by more than 2 %."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from test_shape import STRATEGIES

import bench
from bench.model import Trace
from bench.recording.shape import shape_only
from bench.traces import TraceSource

METRICS = ("cost.prompt_tokens", "needed.recall", "needed.recall.far")
EVERYONE = (*STRATEGIES, "keep_all", "recorded", "drop_all")


def differences(trace: Trace) -> Iterator[tuple[str, str, float]]:
    """Each strategy and metric with how much the shape differs: costs as a share of the cost, recalls as they are."""
    before, after = bench.compare([trace], STRATEGIES), bench.compare([shape_only(trace)], STRATEGIES)
    for name in EVERYONE:
        for metric in METRICS:
            was, now = before.value(name, metric), after.value(name, metric)
            if was is not None and now is not None:
                yield name, metric, abs(now - was) / (was if metric.startswith("cost") and was else 1)


def main() -> None:
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for path in sys.argv[1:]:
        for trace in TraceSource([path]):
            for name, metric, difference in differences(trace) if trace.model_turns else ():
                found[metric].append(difference)
                if difference > 0.02:
                    print(f"{path} {trace.id}: {metric} of {name} differs by {difference:.1%}", flush=True)
    for metric, every in found.items():
        above = sum(difference > 0.02 for difference in every)
        print(f"{metric}: at most {max(every, default=0):.1%}, {above} of {len(every)} above 2 %")


if __name__ == "__main__":
    main()
