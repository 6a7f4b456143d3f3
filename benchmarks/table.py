"""How long the bench takes for what people do with it, as multiples of a floor measured in the same run; and a guard that it gets no slower.

`python benchmarks/table.py [--check] [[FORMAT:]PATH …]` prints a line for each task: its processor time as a multiple of the floor (tiktoken counting
every distinct text of the shipped traces once), and its accepted multiple. With traces of your own (`PATH`) eight strategies and the references are
measured on them too. `--check` leaves out the tasks that take long, and exits with 1 where a multiple is more than 1.3 times the accepted one
(`benchmarks/accepted.toml`). Processor time, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from floor import ONE_MORE, SHIPPED, STRATEGIES, cold, distinct_texts, replay_and_score, timed

import bench
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.metrics import metrics
from bench.model import ModelTurn, Source, ToolCall, ToolResult, Trace, UserTurn
from bench.replayer.loop import Replayer
from bench.run.case import OracleCosts, few_collections
from bench.strategies import parse_strategy
from bench.tokens.counting import TokenCounter
from bench.tokens.prices import unit_prices

ROOT = Path(__file__).parents[1]
ACCEPTED = ROOT / "benchmarks" / "accepted.toml"
ALLOWED = 1.3
"""How many times its accepted multiple a task may take."""

LONG_TURNS, SHORT_TURNS = 2_480, 620
LARGE_BYTES = 10_000_000
SCENARIO = "scenarios/do_five_lines_of_a_result_suffice.toml"
EIGHT = (
    "mask=compactor=mask_observations",
    "window=compactor=sliding_window",
    "old=compactor=summarize_old:max_tokens=16000",
    "separate=compactor=separate_commands:max_tokens=16000",
    "clear=compactor=clear_tool_uses",
    "truncate=summarizer=truncate",
    "summary=summarizer=output_summary",
    "console=summarizer=table_console",
)


@dataclass(frozen=True)
class Task:
    """Something that takes time: seconds of processor time, by a call. `quick` tasks are measured by `--check` too."""

    name: str
    seconds: Callable[[], float]
    quick: bool = True


def floor_seconds(texts: Sequence[str]) -> float:
    """The shortest of some rounds of counting every text once."""
    encode = TokenCounter()._encode
    return min(timed(lambda: sum(len(encode(text)) for text in texts))[0] for _ in range(7))


def command(*arguments: str) -> tuple[float, float]:
    """Seconds of processor time that a command takes that keeps nothing, and its peak memory in MB; children that it waits for count."""
    started = subprocess.Popen(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        env={**os.environ, "BENCH_CACHE": "off"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(started.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def long_run(turns: int) -> Trace:
    """One run of so many model turns, each with a call and a result of 40 rows, of which later turns say some numbers."""
    steps: list[UserTurn | ModelTurn | ToolResult] = [UserTurn(index=0, content="Look through all of the tables.")]
    for turn in range(turns):
        said = f"Table {turn} of run_{turn % 97} is next; the last one had {4000 + 37 * max(0, turn - 1)} rows."
        call = ToolCall(id=f"c{turn}", name="read_table", arguments={"table": turn})
        rows = "\n".join(f"row {4000 + 37 * turn + row}  value_{row % 13}  {turn * 0.5 + row:.2f}" for row in range(40))
        steps.append(ModelTurn(index=len(steps), content=said, tool_calls=(call,)))
        steps.append(ToolResult(index=len(steps), call_id=call.id, function=call.name, seen=rows))
    return Trace(id="long", source=Source(format="native"), steps=tuple(steps))


def large_result(size: int) -> dict[str, object]:
    """A run as chat messages whose one tool result has so many characters."""
    lines: list[str] = []
    chars = 0
    while chars < size:
        lines.append(
            f"{len(lines)} sample_{len(lines) % 977} reads {len(lines) * 7919 % 1_000_003} at {len(lines) % 89}.5 mm"
        )
        chars += len(lines[-1]) + 1
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    told = "sample_12 reads most."
    return {
        "messages": [
            {"role": "user", "content": "Which sample reads most?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "\n".join(lines)},
            {"role": "assistant", "content": told},
        ]
    }


def scenario(path: Path, traces: Sequence[str], strategies: Sequence[str]) -> str:
    """Write a scenario with some traces and strategies; gives its path."""
    written = [f"traces = {json.dumps(list(traces))}", "[strategies]"]
    for name, slot, spec in (text.split("=", 2) for text in strategies):
        written.append(f"{name} = {{ {slot} = {json.dumps(spec)} }}")
    path.write_text("\n".join(written) + "\n")
    return str(path)


def compared(traces: Sequence[Trace], strategies: Sequence[str]) -> float:
    """Seconds of processor time to replay and score some strategies, all metrics."""
    return sum(replay_and_score(cold(traces), [parse_strategy(text) for text in strategies], ("",)).values())


def one_more(traces: Sequence[Trace]) -> float:
    """Seconds of processor time that a strategy adds to a comparison which has read the traces for another one already."""
    found = 0.0
    for trace in cold(traces):
        of_trace = TraceEvidence(trace)
        replayer = Replayer(of_trace)
        oracle, chosen = OracleCosts(replayer), list(metrics().values())
        for number, strategy in enumerate(map(parse_strategy, ("mask=compactor=mask_observations", ONE_MORE))):
            began = time.process_time()
            with few_collections():
                evidence = RunEvidence(of_trace, replayer.run(strategy), None, oracle, replayer.counter)
                for metric in chosen:
                    metric.samples(evidence)
            found += (time.process_time() - began) * number
    return found


def tasks(traces: Sequence[Trace], folder: Path, paths: Sequence[str]) -> Iterator[Task]:
    """Every task, the quick ones first."""
    yield Task("16 strategies, all metrics, shipped traces", lambda: compared(traces, STRATEGIES))
    yield Task("one more strategy", lambda: one_more(traces))
    yield Task("reading the shipped traces", lambda: timed(lambda: bench.load(SHIPPED, ROOT))[0])
    yield Task(f"{SHORT_TURNS} turns in one run", lambda: compared([long_run(SHORT_TURNS)], EIGHT[:2]))
    yield Task("bench --help", lambda: command("--help")[0])
    yield Task("bench list", lambda: command("list")[0])
    yield Task("bench show", lambda: command("show", "traces/terminal/session.json")[0])
    yield Task("one scenario", lambda: command("run", SCENARIO)[0])
    every = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "scenarios").glob("*.toml"))
    yield Task("all shipped scenarios", lambda: command("run", *every)[0], quick=False)
    yield Task(f"{LONG_TURNS:,} turns in one run", lambda: compared([long_run(LONG_TURNS)], EIGHT[:2]), quick=False)
    large = folder / "large.json"
    large.write_text(json.dumps(large_result(LARGE_BYTES)))
    three = scenario(folder / "large.toml", [str(large)], EIGHT[:3])
    yield Task("a tool result of 10 MB, 3 strategies", lambda: command("run", three)[0], quick=False)
    if paths:
        yours = scenario(folder / "yours.toml", [str(Path(path).resolve()) for path in paths], EIGHT)
        yield Task("reading your traces", lambda: timed(lambda: bench.load(list(paths), Path()))[0], quick=False)
        yield Task("8 strategies on your traces", lambda: command("run", yours)[0], quick=False)


def main(paths: Sequence[str], check: bool) -> int:
    """Measure and print every task; 1 where `check` finds one that is too slow."""
    accepted: dict[str, float] = tomllib.loads(ACCEPTED.read_text())["multiples"]
    unit_prices("gpt-4o")  # the price tables and the vocabulary load once a process: not part of any multiple
    traces = list(bench.load(SHIPPED, ROOT).traces)
    compared(traces[:1], STRATEGIES[:1])
    texts = distinct_texts(traces)
    too_slow = []
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks(traces, Path(folder), paths):
            if check and not task.quick:
                continue
            floor_s = floor_seconds(texts)
            multiple, limit = task.seconds() / floor_s, accepted.get(task.name)
            if limit is not None and multiple > ALLOWED * limit:  # once more: what else runs here costs time too
                multiple = min(multiple, task.seconds() / floor_seconds(texts))
            beside = "" if limit is None else f"  accepted {limit:.1f}"
            print(f"  {task.name:<44} {multiple:8.1f} x floor ({floor_s * multiple:.2f} s){beside}", flush=True)
            if limit is not None and multiple > ALLOWED * limit:
                too_slow.append(task.name)
    if check and too_slow:
        print(f"slower than {ALLOWED} times the accepted multiple: {', '.join(too_slow)}")
        print("find out why with a profile; accept a new multiple by hand in benchmarks/accepted.toml, with the reason")
    return int(check and bool(too_slow))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="[FORMAT:]PATH")
    parser.add_argument("--check", action="store_true", help="the quick tasks alone; exit with 1 where one is too slow")
    chosen = parser.parse_args()
    sys.exit(main(chosen.paths, chosen.check))
