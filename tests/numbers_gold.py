"""The gold files of the numbers: all that is measured of shipped recordings, and what the rules find in texts that deceive."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from comparison.built import sentences
from data.adversarial.harmful import HARMFUL
from data.adversarial.harmless import HARMLESS
from data.adversarial.service import service
from harm import measured_runs

import bench
from bench.model.detail import ReplayDetail
from bench.model.scores import MeasuredRun
from bench.reports import reports
from bench.reports.audit import audit_report
from bench.reports.text import in_full, render

ROOT = Path(__file__).parents[1]
GOLD = Path(__file__).parent / "metrics" / "gold"
TASKS = 6
RECORDINGS = (
    "analysis/aborted.jsonl", "analysis/completed_cut.jsonl", "building_model/faults.jsonl",
    "inventories/inventorie_01.jsonl", "rounds/round_01.jsonl", "studies/study_01.jsonl",
    "terminal_beginnings/040_commands.json", "terminal_tickets/4127_4140.json",
)  # fmt: skip
STRATEGIES = {
    "rows": "summarizer=table_console",
    "csv": "summarizer=csv_table",
    "cut": "summarizer=truncate",
    "ends": "summarizer=head_tail:head=5,tail=5",
    "mask": "compactor=mask_observations:keep_last=2",
    "window": "compactor=sliding_window:keep_last=8",
    "summary": "compactor=summarize_old:max_tokens=2000,keep_last=4",
    "handles": "store=external:preview_chars=100",
    "judged": "store=truncate+evaluator=step_v1+routers=[executor,step_evaluator]",
}
GATES = (
    {"metric": "needed.missed_turn_rate", "strategy": "mask", "max": 0.4},
    {"metric": "cost.prompt_tokens", "strategy": "cut", "max": 400_000},
    {"metric": "loss.fact_recall.shown", "strategy": "csv", "min": 0.9},
)


def of_recordings() -> dict[str, str]:
    """The gold files of the strategies above on the recordings above, by name."""
    paths = [ROOT / "traces" / path for path in RECORDINGS]
    compared = bench.compare(paths, STRATEGIES, title="Which strategy?", gates=GATES, model="gpt-4o")
    audits = bench.audit(paths[-2:])
    return {
        "numbers.csv": _numbers(compared.runs),
        "findings.csv": findings(compared.runs),
        "details.csv": _table(line for item in compared.details for line in _detail(item)),
        "decision.txt": "".join(render(reports([compared]), verbose=True)),
        "sessions.txt": "".join(in_full([audit_report(audits.sessions)])),
    }


def findings(runs: Iterable[MeasuredRun]) -> str:
    """A line for each rule that found something: how often, of how many, and the first that it found."""
    return _table(_findings(runs))


def current() -> dict[str, str]:
    """Every gold file of numbers by name, as the code measures now."""
    harm = findings(measured_runs(map(service, range(TASKS)), HARMFUL | HARMLESS))
    return {**of_recordings(), "harm.csv": harm, "sentences.txt": sentences()}


def _numbers(runs: Sequence[MeasuredRun]) -> str:
    """A line for each run and metric with any value, a column for each strategy."""
    names = [score.strategy for score in runs[0].scores]
    lines = [["run", "metric", *names]]
    for run in runs:
        for metric in run.scores[0].numbers:
            numbers = [score.numbers[metric] for score in run.scores]
            if any(number.weight for number in numbers):
                values = ("-" if number.value is None else f"{number.value:.6g}" for number in numbers)
                lines.append([run.id, metric, *values])
    return _table(lines)


def _findings(runs: Iterable[MeasuredRun]) -> Iterable[list[str]]:
    for run in runs:
        for score in run.scores:
            for rule, check in score.checks.items():
                if check.hits or check.unchecked:
                    first = check.findings[0] if check.findings else None
                    shown = [str(first.step), first.text[:60], first.was[:60]] if first else []
                    counts = f"{check.hits}/{check.of}", f"{check.summaries} summaries", f"{check.unchecked} unchecked"
                    yield [run.id, score.strategy, rule, *counts, *shown]


def _detail(detail: ReplayDetail) -> Iterable[list[str]]:
    """A line for each missed fact of a replay, and for each message that its prompt shows otherwise."""
    about = [detail.run, detail.strategy]
    for item in detail.missed[:5]:
        yield [*about, "missed", *map(str, (item.turn, item.fact, item.origin_step, item.distance)), item.handle]
    yield [*about, "prompt", *map(str, (detail.step, detail.more_changed, detail.unchanged))]
    for message in detail.changed:
        places = [f"{part.start} {len(part.text)} {part.left_out}" for part in (message.before, message.after) if part]
        yield [*about, "changed", message.role, str(message.step), *places, *message.lost]


def _table(lines: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(lines)
    return out.getvalue()
