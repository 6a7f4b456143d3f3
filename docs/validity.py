"""Measures docs/validity.md again: `python docs/validity.py` on the shipped scenarios, with FOLDER… on recorded runs too.

A measured part stands between `<!-- measured: NAME -->` and `<!-- end of NAME -->`. The parts for which the folders hold no runs stay as they are,
and are named. Nothing is downloaded; the page says which public runs its figures are of.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from math import comb
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bench
from bench.comparison.decision import decide
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.model import Case, Comparison, Trace
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "validity.md"
CODING = ("swe", "claude_code", "codex")
RULES = {
    "events_10": "compactor=openhands.mask:window=10",
    "events_58": "compactor=openhands.mask:window=58",
    "last_10": "compactor=mask_observations:keep_last=10",
}
"""Rules that were published with what happened, as specs."""

TURNS = {(15, 30): "0.91", (30, 60): "0.58", (60, 120): "0.43", (120, 10_000): "0.25"}
"""Prompt tokens with all but the last ten observations masked, over those without: the published median by number of turns (arXiv 2508.21433)."""


def table(head: str, rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """A Markdown table; its first column is words, the others are numbers. Nothing for no rows."""
    if rows:
        yield head
        yield "|---|" + "---:|" * (head.count("|") - 2)
        yield from (f"| {' | '.join(map(str, row))} |" for row in rows)


# ---------------------------------------------------------------- cuts, faults and failures


def outcomes(traces: Sequence[Trace], _: Sequence[Comparison]) -> Iterator[str]:
    """By format the failures among runs that their harness cut, or whose turns missed something, with Fisher's exact test."""
    runs: dict[str, list[tuple[bool, bool, bool]]] = {}
    for trace in traces:
        if trace.outcome is not None and trace.outcome.success is not None:
            of_trace = TraceEvidence(trace)
            run = RunEvidence(of_trace, Replayer(of_trace).run(parse_strategy("recorded")))
            cut = bool(of_trace.cuts) or any(result.truncated_at_source for result in trace.results)
            runs.setdefault(trace.source.format, []).append((not trace.outcome.success, cut, bool(run.missed)))
    rows = []
    for name, own in sorted(runs.items()):
        failed = sum(item[0] for item in own)
        cells: list[object] = [name, len(own), failed]
        for marked in ([item for item in own if item[1]], [item for item in own if item[2]]):
            both = sum(item[0] for item in marked)
            known = bool(marked) and 0 < failed < len(own)
            chance = f"{fisher(both, len(marked), failed, len(own)):.2f}" if known else "–"
            cells += [len(marked), both, chance]
        rows.append(cells)
    yield from table(
        "| recordings | runs | failed | cut | of these failed | p | with faults | of these failed | p |", rows
    )


def fisher(both: int, marked: int, failed: int, total: int) -> float:
    """How often chance alone puts at least so many failures among the marked runs (Fisher's exact test, one-sided).

    >>> round(fisher(3, 3, 3, 6), 3)
    0.05
    """
    most = min(marked, failed)
    ways = sum(comb(failed, k) * comb(total - failed, marked - k) for k in range(both, most + 1))
    return ways / comb(total, marked)


# ---------------------------------------------------------------- tokens and money


def sent(traces: Sequence[Trace], _: Sequence[Comparison]) -> Iterator[str]:
    """Prompt tokens of the recorded strategy against the tokens that the recorder says it sent."""
    rows = []
    for trace in traces:
        stats: Any = trace.meta.get("model_stats")
        stated = stats.get("tokens_sent") if isinstance(stats, dict) else None
        if isinstance(stated, int) and stated:
            run = Replayer(TraceEvidence(trace)).run(parse_strategy("recorded"))
            ours = sum(prompt.tokens for prompt in run.prompts)
            known = "no" if trace.labels.get("prompts") == "unknown" else "yes"
            calls = f"{len(run.prompts)} of {stats.get('api_calls', '?')}"
            rows.append((trace.id, calls, f"{stated:,}", f"{ours:,}", f"{ours / stated - 1:+.2%}", known))
    yield from table("| run | recorded calls | sent | replayed | difference | prompts known |", rows)


def billed(_: Sequence[Trace], found: Sequence[Comparison]) -> Iterator[str]:
    """The price of a recording over the cost that it states, and over its usage at listed prices, by model."""
    ratios: dict[str, list[tuple[float, float]]] = {}
    for told in (case.recording for comparison in found for case in comparison.cases):
        if told.our_usd and told.stated_usd and told.usage_usd:
            pair = told.our_usd / told.stated_usd, told.our_usd / told.usage_usd
            ratios.setdefault(told.model or "?", []).append(pair)
    rows = [
        (name, len(own), *(f"{median(pair[side] for pair in own):.3f}" for side in (0, 1)))
        for name, own in sorted(ratios.items())
    ]
    yield from table("| model | runs | over the stated cost | over the recorded usage at listed prices |", rows)


def longest(_: Sequence[Trace], found: Sequence[Comparison]) -> Iterator[str]:
    """The longest run that states its cost, in both economies."""
    stated = [(one, case) for one in found for case in one.cases if case.recording.stated_usd]
    comparison, case = max(stated, key=lambda item: item[1].recording.calls, default=(None, None))
    if comparison is not None and case is not None:
        yield f"`{case.recording.model}`, {case.recording.calls} calls, billed ${case.recording.stated_usd:.3f}:"
        yield ""
        rows = [(name, *_prices(comparison, name, case)) for name in ("recorded", *RULES, "floor")]
        yield from table("| strategy | with the provider's cache | without any cache | served from the cache |", rows)


def _prices(comparison: Comparison, name: str, case: Case) -> Iterator[str]:
    for metric in ("cost.cost_usd", "cost.uncached_usd"):
        usd = comparison.value(name, metric, case.id)
        yield "does not fit" if usd is None else f"${usd:.2f}"
    served, sent_tokens = (
        comparison.value(name, f"cost.{what}prompt_tokens", case.id) or 0 for what in ("cached_", "")
    )
    yield f"{served / sent_tokens:.0%}" if sent_tokens else "–"


# ---------------------------------------------------------------- published experiments


def by_turns(_: Sequence[Trace], found: Sequence[Comparison]) -> Iterator[str]:
    """Prompt tokens of masking over the recorded ones, by the number of turns, beside the published median."""
    ratios: dict[tuple[int, int], list[float]] = {}
    for comparison in found:
        for case in comparison.cases:
            masked, whole = (comparison.value(name, "cost.prompt_tokens", case.id) for name in ("last_10", "recorded"))
            place = next((ends for ends in TURNS if ends[0] <= case.recording.calls < ends[1]), None)
            if place is not None and masked and whole:
                ratios.setdefault(place, []).append(masked / whole)
    rows = [
        (f"{low}–{high}" if high < 10_000 else f"{low} and more", len(own), f"{median(own):.2f}", TURNS[low, high])
        for (low, high), own in sorted(ratios.items())
    ]
    yield from table("| turns | runs | here, median | published, median |", rows)


def rules(_: Sequence[Trace], found: Sequence[Comparison]) -> Iterator[str]:
    """What the bench says of rules whose outcome was published, by kind of run."""
    rows = []
    for comparison in found:
        choice = decide(comparison)
        kind = comparison.cases[0].recording.format
        for name in RULES:
            item = choice.candidate(name)
            if item is not None and item.fault_rate is not None:
                far = "–" if item.far_recall is None else f"{item.far_recall:.3f}"
                cells = (f"{item.fault_rate:.3f}", far, "yes" if item.qualifies else "no")
                rows.append((f"{kind}: {name}", len(comparison.cases), choice.tasks, *cells))
    yield from table("| runs and rule | runs | tasks | fault rate | far recall | qualifies |", rows)


# ---------------------------------------------------------------- the five documents

FINDINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "which_summary_of_results_is_best": (
        ("document_000", "document_001", "document_003", "lossless_csv", "lossless_json", "keep_all"),
        ("cost.prompt_tokens", "needed.recall"),
    ),
    "do_five_lines_of_a_result_suffice": (("status_noise", "markers_noise", "recorded"), ("needed.recall",)),
    "is_the_task_state_cleared": (("document_001",), ("routing.unreset_states", "routing.loops")),
    "are_commands_lost_after_100": (
        ("summarize_old", "documented", "deployed", "keep_all"),
        ("cost.peak_prompt_tokens 100_commands", "loss.commands_lost 020_commands", "loss.commands_lost 040_commands",
         "loss.commands_lost 100_commands", "needed.recall 100_commands"),
    ),
    "should_commands_be_stored_apart": (
        ("summarize_old", "separate_commands", "mask_observations", "window", "clairvoyant", "keep_all"),
        ("cost.prompt_tokens", "needed.recall.far"),
    ),
    "does_search_find_the_script": (("keyword", "action", "semantic"), ("routing.selection_top1", "routing.selection_tokens")),
    "is_storing_by_function_better": (
        ("truncate", "by_function", "full"),
        ("loss.leaf_recall.stored", "findings.agreement", "routing.accuracy"),
    ),
    "are_the_answers_still_stored": (("truncate", "by_function", "external"), ("probes.recall",)),
}  # fmt: skip
"""What the shipped scenarios say of the five documents: strategies, and metrics, over all cases or on the one that is named."""


def findings(scenario: str) -> Iterator[str]:
    """The figures of one shipped scenario: a row a strategy, a column a metric."""
    strategies, metrics = FINDINGS[scenario]
    comparison = bench.run_scenario(ROOT / "scenarios" / f"{scenario}.toml")
    rows = [(f"`{name}`", *(figure(comparison, name, metric) for metric in metrics)) for name in strategies]
    heads = [f"`{metric.split()[0]}`{metric.partition(' ')[2] and f' on {metric.split()[1]}'}" for metric in metrics]
    yield from table(f"| `{scenario}` | {' | '.join(heads)} |", rows)


def figure(comparison: Comparison, name: str, metric: str) -> str:
    """One value: a share with three digits, anything else as a whole number."""
    row = comparison.row(name, metric.split()[0], metric.partition(" ")[2] or None)
    if row is None or row.value is None:
        return "–"
    return f"{row.value:.3f}" if row.unit == "fraction" else f"{row.value:,.0f}"


PARTS: dict[str, Callable[[Sequence[Trace], Sequence[Comparison]], Iterator[str]]] = {
    "outcomes": outcomes,
    "sent": sent,
    "billed": billed,
    "longest": longest,
    "by turns": by_turns,
    "rules": rules,
}


def main(folders: Sequence[str]) -> None:
    """Write the findings, and every part that the folders have runs for."""
    texts = {scenario: "\n".join(findings(scenario)) for scenario in FINDINGS}
    if folders:
        traces = bench.load(list(folders)).traces
        coding = [[trace for trace in traces if trace.source.format == kind and trace.model_turns] for kind in CODING]
        found = [bench.compare(own, RULES) for own in coding if own]
        texts |= {name: "\n".join(part(traces, found)) for name, part in PARTS.items()}
    page = PAGE.read_text(encoding="utf-8")
    for name, text in texts.items():
        pattern = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        page = pattern.sub(lambda match, text=text: f"{match[1]}\n{text}\n\n{match[2]}" if text else match[0], page)
        print(f"{name}: {'written' if text else 'no runs, left as it is'}")
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
