"""Do recorded cuts, faults and failures go together? And do our figures agree with published ones? Prints the tables of docs/validity.md.

    python benchmarks/validity.py FOLDER…

Every trace that says how it ended counts; `recorded` is what its system did. The published figures are compared on coding runs of mini-swe-agent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb
from statistics import median

import bench
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.model import Trace
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy


@dataclass(frozen=True)
class Ended:
    """One run that says how it ended: whether it succeeded, and what its recorded system cut and missed."""

    format: str
    success: bool
    turns: int
    cut: bool
    faults: int


def ended(traces: Iterable[Trace]) -> Iterator[Ended]:
    """Every trace with an outcome, replayed as recorded."""
    for trace in traces:
        if trace.outcome is None or trace.outcome.success is None:
            continue
        of_trace = TraceEvidence(trace)
        run = RunEvidence(of_trace, Replayer(of_trace).run(parse_strategy("recorded")))
        cut = bool(of_trace.cuts) or any(result.truncated_at_source for result in trace.results)
        faults = len({wanted.turn for wanted, _ in run.missed})
        yield Ended(trace.source.format, trace.outcome.success, len(run.run.prompts), cut, faults)


def fisher(both: int, marked: int, failed: int, total: int) -> float:
    """How often chance alone puts at least so many failures among the marked runs (Fisher's exact test, one-sided).

    >>> round(fisher(3, 3, 3, 6), 3)
    0.05
    """
    most = min(marked, failed)
    ways = sum(comb(failed, k) * comb(total - failed, marked - k) for k in range(both, most + 1))
    return ways / comb(total, marked)


def table(runs: list[Ended]) -> Iterator[str]:
    """Markdown: per format the failures among runs that were cut or faulted, and among the others."""
    yield "| format | runs | failed | cut | of these failed | p | with faults | of these failed | p |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name in [*sorted({run.format for run in runs}), "all"]:
        own = [run for run in runs if name in (run.format, "all")]
        failed = sum(not run.success for run in own)
        cells = [name, str(len(own)), str(failed)]
        for marked in ([run for run in own if run.cut], [run for run in own if run.faults]):
            both = sum(not run.success for run in marked)
            chance = fisher(both, len(marked), failed, len(own)) if marked and 0 < failed < len(own) else None
            cells += [str(len(marked)), str(both), "–" if chance is None else f"{chance:.2f}"]
        yield f"| {' | '.join(cells)} |"


def published(folders: list[str]) -> Iterator[str]:
    """Markdown: what masking every result saves, and what the cache serves of keep_all, on runs of mini-swe-agent."""
    coding = [trace for trace in bench.load(folders).traces if trace.source.format == "mini_swe_agent"]
    if not coding:
        return
    found = bench.compare(coding, {"mask_all": "compactor=mask_observations:keep_last=0"})
    fits = [case for case in found.case_ids if not found.value("keep_all", "cost.window_overflows", case)]
    tokens = {
        name: [found.value(name, "cost.prompt_tokens", case) or 0.0 for case in fits]
        for name in ("keep_all", "mask_all")
    }
    saved = 1 - sum(tokens["mask_all"]) / sum(tokens["keep_all"])
    shares = sorted(1 - masked / kept for kept, masked in zip(tokens["keep_all"], tokens["mask_all"], strict=True))
    cached = [found.value("keep_all", "cost.cached_prompt_tokens", case) for case in fits]
    served = [(part, whole) for part, whole in zip(cached, tokens["keep_all"], strict=True) if part is not None]
    yield f"masking every result saves {saved:.1%} of all prompt tokens (n = {len(fits)} of {len(coding)} runs: those whose full history fits)"
    yield f"of a single run it saves {shares[0]:.0%} to {shares[-1]:.0%}, half of them at most {median(shares):.0%}"
    yield f"the cache serves {sum(part for part, _ in served) / sum(whole for _, whole in served):.1%} of keep_all (n = {len(served)})"


if __name__ == "__main__":
    for line in table(list(ended(bench.load(sys.argv[1:]).traces))):
        print(line)
    for line in published(sys.argv[1:]):
        print(line)
