"""How fast the bench is, as multiples of a floor measured in the same run: tiktoken counting every distinct text of the traces once.

`python benchmarks/floor.py [--only PREFIX,…] [[FORMAT:]PATH …]` — without paths, the traces that ship with the project; `--only` scores the metrics
whose names start so. One process, nothing cached before, in seconds of processor time, so that what else runs on the machine does not count.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

import bench
from bench.comparison.rows import case_row, summarized
from bench.evidence.of_run import PromptEvidence, RunEvidence, same_prompts
from bench.evidence.of_trace import TraceEvidence
from bench.metrics import Metric, metrics
from bench.model import Columns, ModelTurn, Row, SystemTurn, ToolResult, Trace, UserTurn, compact_json, text_of
from bench.replayer.loop import Replayer
from bench.run.case import OracleCosts, few_collections
from bench.strategies import Strategy, parse_strategy
from bench.text.texts import Texts
from bench.tokens.counting import TokenCounter
from bench.tokens.prices import unit_prices

SHIPPED = ("traces/terminal", "traces/analysis", "traces/building_model")
STRATEGIES = (
    "keep_all",
    "recorded",
    "drop_all",
    "clairvoyant",
    "floor",
    "untruncated=summarizer=untruncated",
    "output_summary=summarizer=output_summary",
    "table_console=summarizer=table_console",
    "truncate_shown=summarizer=truncate",
    "none=compactor=none",
    "summarize_old=compactor=summarize_old:max_tokens=16000",
    "separate_commands=compactor=separate_commands:max_tokens=16000",
    "mask_observations=compactor=mask_observations",
    "store_full=store=full+evaluator=step_v1+routers=[executor,step_evaluator]",
    "store_truncate=store=truncate+evaluator=step_v1+routers=[executor,step_evaluator]",
    "store_by_function=store=by_function+evaluator=step_v1+routers=[executor,step_evaluator]",
)
ONE_MORE = "one_more=compactor=mask_observations:keep_last=5"
ROUNDS = 5


def distinct_texts(traces: Sequence[Trace]) -> list[str]:
    """Every distinct text that any prompt of the recording could hold: turns, untruncated and seen results, calls' arguments."""
    texts: dict[str, None] = {}
    for step in (step for trace in traces for step in trace.steps):
        if isinstance(step, SystemTurn | UserTurn | ModelTurn):
            texts[text_of(step.content)] = None
        if isinstance(step, ModelTurn):
            texts.update((compact_json(call.arguments), None) for call in step.tool_calls if not call.in_text)
        if isinstance(step, ToolResult):
            texts[step.text] = None
            texts[step.shown_by_recorder] = None
    return list(texts)


def cold(traces: Sequence[Trace]) -> list[Trace]:
    """The traces as if they had just been read: what was found about them belongs to them, and goes with them."""
    gc.collect()
    return [msgspec.structs.replace(trace) for trace in traces]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor time that some work takes, and what it gives."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def replay_and_score(
    traces: Sequence[Trace], strategies: Sequence[Strategy], only: tuple[str, ...]
) -> dict[str, float]:
    """Seconds of each stage for all strategies on all traces: replay, each room of metrics, adding up into rows.

    What a metric is the first to ask for is found then: the first of a room pays for what the others share.
    """
    spent = {"replay": 0.0}
    chosen = {name: metric for name, metric in metrics().items() if name.startswith(only)}
    rooms: dict[str, list[Metric]] = {}
    for name, metric in chosen.items():
        rooms.setdefault(name.partition(".")[0], []).append(metric)
    rows: list[Row] = []
    with few_collections():
        for trace in traces:
            of_trace = TraceEvidence(trace)
            replayer = Replayer(of_trace)
            oracle = OracleCosts(replayer)
            shared: dict[Any, PromptEvidence] = {}
            for strategy in strategies:
                elapsed_s, run = timed(lambda r=replayer, s=strategy: r.run(s))
                spent["replay"] += elapsed_s
                prompts = shared.setdefault(same_prompts(run), PromptEvidence(of_trace, run))
                evidence = RunEvidence(of_trace, run, prompts, oracle, replayer.counter)
                for room, of_room in rooms.items():
                    elapsed_s, samples = timed(
                        lambda m=of_room, e=evidence: [(metric.info, metric.samples(e)) for metric in m]
                    )
                    spent[room] = spent.get(room, 0.0) + elapsed_s
                    elapsed_s, found = timed(
                        lambda r=run, f=samples: [case_row(info, r, of_metric) for info, of_metric in f]
                    )
                    spent["rows"] = spent.get("rows", 0.0) + elapsed_s
                    rows += found
    elapsed_s, _ = timed(lambda: summarized(Columns(rows), {name: metric.info for name, metric in chosen.items()}))
    spent["rows"] = spent.get("rows", 0.0) + elapsed_s
    return spent


def main(paths: Sequence[str], only: tuple[str, ...]) -> None:
    """Measure and print: the floor, every stage as a multiple of it, and what one more strategy adds. The median of some rounds."""
    base = Path(__file__).parents[1]
    loaded = bench.load(paths, Path()) if paths else bench.load(SHIPPED, base)
    traces = list(loaded.traces)
    strategies = [parse_strategy(text) for text in STRATEGIES]
    texts = distinct_texts(traces)
    print(
        f"{len(traces)} traces, {len(texts)} distinct texts, {sum(map(len, texts)):,} characters; {len(strategies)} strategies"
    )
    unit_prices("gpt-4o")  # the price tables and the vocabulary load once a process: not part of any multiple
    encode = TokenCounter()._encode
    rounds: list[dict[str, float]] = []
    for _ in range(ROUNDS):
        floor_s, counted = timed(lambda: sum(len(encode(text)) for text in texts))
        scan_s, _ = timed(lambda: [Texts().facts(text) for text in texts])
        spent = replay_and_score(cold(traces), strategies, only)
        with_more = replay_and_score(cold(traces), [*strategies, parse_strategy(ONE_MORE)], only)
        rounds.append(
            {"floor_s": floor_s, "tokens": counted, "a plain scan for facts": scan_s / floor_s}
            | {f"{stage}": elapsed_s / floor_s for stage, elapsed_s in spent.items()}
            | {
                "all of it": sum(spent.values()) / floor_s,
                "one more strategy": (sum(with_more.values()) - sum(spent.values())) / floor_s,
            }
        )
    middle = {key: statistics.median(item[key] for item in rounds) for key in rounds[0]}
    print(
        f"floor: {middle['floor_s']:.3f} s for {int(middle['tokens']):,} tokens (o200k_base), median of {ROUNDS} rounds"
    )
    for stage, multiple in middle.items():
        if stage not in ("floor_s", "tokens"):
            print(f"  {stage:<24} {multiple:6.2f} x floor")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", metavar="[FORMAT:]PATH")
    parser.add_argument("--only", default="", metavar="PREFIX,…", help="score only metrics whose names start so")
    chosen = parser.parse_args()
    main(chosen.paths, tuple(chosen.only.split(",")))
