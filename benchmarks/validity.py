"""The measurements on shipped recordings that docs/validity.md states, repeated and printed as three
tables.

    PYTHONPATH=.:tests python benchmarks/validity.py [RECORDINGS...]

RECORDINGS are judged in place of the shipped ones. Takes five minutes.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any

from data.adversarial.harmful import HARMFUL
from data.adversarial.harmless import HARMLESS
from data.adversarial.service import service
from dependencies_labels import Corpus, read_labels
from harm import TODAY, measured_runs, refusals
from labelled_needs import judged

import bench
from bench.comparison.certainty import lowest_rate
from bench.comparison.rules import unchecked_words
from bench.comparison.totals import Runs
from bench.model import Trace

SHIPPED = tuple(
    f"traces/{name}"
    for name in ("building_model", "inventories", "studies", "terminal_tickets", "terminal")
)
MOST_RUNS = 6


def needs() -> list[tuple[Any, ...]]:
    """By the form in which a turn repeated a value: labelled needs, and those of them that are
    found.
    """
    labels = [label for label in read_labels() if label.trace.startswith("traces/")]
    return [
        (*row, f"{row[2] / row[1]:.1%}" if row[1] else "") for row in judged(labels, Corpus(None))
    ]


def strategies(traces: Sequence[Trace]) -> tuple[tuple[int, ...], list[str]]:
    """Harmful strategies that act on some runs, those that pass and those that are not checked;
    honest ones and those refused; who is judged wrongly.
    """
    runs, others = measured_runs(traces, HARMFUL), measured_runs(traces, HARMLESS)
    harmful, harmless = refusals(runs, HARMFUL), refusals(others, HARMLESS)
    for judgements in (harmful, harmless):
        judgements.pop(TODAY, None)
    free = [name for name, rules in harmful.items() if not rules]
    passed = [f"{name} passed" for name in free if not unchecked_words(Runs(runs), name)]
    refused = [
        f"{name} refused by {', '.join(item.rule for item in rules)}"
        for name, rules in harmless.items()
        if rules
    ]
    counts = len(harmful), len(passed), len(free) - len(passed), len(harmless), len(refused)
    return counts, passed + refused


def false_alarms() -> list[tuple[Any, ...]]:
    """By rule and kind of text: honest texts, those that the rule flags, their share and its upper
    bound.
    """
    tables = tomllib.loads(files("bench.evidence").joinpath("false_alarms.toml").read_text("utf-8"))
    sums: dict[tuple[str, str], list[int]] = {}
    for rule, rows in tables.items():
        for row in rows:
            of_kind = sums.setdefault((rule, row["kind"]), [0, 0])
            of_kind[0] += row["texts"]
            of_kind[1] += row["flagged"]
    return [
        (
            rule,
            kind,
            texts,
            flagged,
            f"{flagged / texts:.1%}",
            f"{1 - lowest_rate(texts - flagged, texts):.1%}",
        )
        for (rule, kind), (texts, flagged) in sums.items()
    ]


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers stand to the right."""
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(f"\n{title}\n")
    for number, line in enumerate(lines):
        cells = [
            cell.rjust(width) if lines[-1][at][:1].isdigit() else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print(f"  {'  '.join(cells).rstrip()}")
        if not number:
            print(f"  {'  '.join('─' * width for width in widths)}")


def main() -> None:
    """Measure and print the three tables."""
    show(
        "Needs that a reader labelled in recorded turns",
        ("how it was said", "labelled", "found", "share"),
        needs(),
    )
    given = sys.argv[1:]
    recordings = {name: bench.load(name).traces[:MOST_RUNS] for name in given or SHIPPED}
    if not given:
        recordings = {
            "customer service (made up)": tuple(map(service, range(MOST_RUNS))),
            **recordings,
        }
    judgements = {name: strategies(traces) for name, traces in recordings.items()}
    show(
        "Strategies with a label: harmful ones must be refused, honest ones must pass",
        ("recordings", "runs", "harmful", "passed", "not checked", "honest", "refused"),
        [(name, len(recordings[name]), *counts) for name, (counts, _) in judgements.items()],
    )
    for name, (_, wrongly) in judgements.items():
        if wrongly:
            print(f"\n  {name}: {'; '.join(wrongly)}")
    show(
        "Rules that read prose, on honest texts (bench/evidence/false_alarms.toml)",
        ("rule", "text", "texts", "flagged", "share", "95% bound"),
        false_alarms(),
    )


if __name__ == "__main__":
    main()
