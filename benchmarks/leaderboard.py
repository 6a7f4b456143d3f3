"""Every policy of the field on the same recordings: `python benchmarks/leaderboard.py [FOLDER]`, then `make docs` writes docs/leaderboard.md.

`benchmarks/corpora.toml` says which recordings, by repository, commit and hash. FOLDER holds a folder for each; without it the shipped traces alone
are measured, and the other figures stay as they are. Each policy runs with its own defaults.
"""

from __future__ import annotations

import csv
import hashlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bench
from bench.comparison.advice import KEEPS_ALL, RUN_TODAY
from bench.comparison.decision import DOLLARS, decide
from bench.model import Comparison
from bench.run.scenario import Scenario
from bench.strategies.policies import MEASURED, field_policies

ROOT = Path(__file__).parents[1]
CORPORA: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "benchmarks" / "corpora.toml").read_text(encoding="utf-8"))


def checked(name: str, folder: Path) -> list[str]:
    """The patterns of a corpus in a folder. SystemExit where its files are not those that corpora.toml names."""
    patterns = CORPORA[name]["files"]
    found = sorted(path for pattern in patterns for path in folder.glob(pattern))
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}\n" for file in found
    ]
    made = hashlib.sha256("".join(lines).encode()).hexdigest()
    if made != CORPORA[name]["sha256"]:
        raise SystemExit(f"{folder}: {len(found)} files with the hash {made}, not those of benchmarks/corpora.toml")
    return [f"{folder}/{pattern}" for pattern in patterns]


def compared(name: str, folder: Path) -> Comparison:
    """Every policy with its defaults on a corpus."""
    chosen = {entry.name: {entry.kind: entry.name} for entry in field_policies()}
    traces = tuple(checked(name, folder))
    return bench.run_scenario(
        Scenario(title="", traces=traces, strategies=chosen, model=CORPORA[name].get("model"), base=ROOT)
    )


def measured(corpus: str, comparison: Comparison) -> Iterator[dict[str, str]]:
    """A row a policy, in the order of the decision: its verdict, its price against what ran in both economies, and what it loses."""
    choice = decide(comparison)
    for item in choice.candidates:
        if item.strategy not in (RUN_TODAY, KEEPS_ALL):
            row: dict[str, Any] = {"corpus": corpus, "runs": len(comparison.cases), "tasks": choice.tasks}
            row |= {"policy": item.strategy, "verdict": choice.word(item)}
            for economy, metric in DOLLARS.items():
                delta = comparison.delta(item.strategy, metric, RUN_TODAY)
                for end, field in (("", "relative"), (" low", "relative_low"), (" high", "relative_high")):
                    row[f"{economy}{end}"] = getattr(delta, field, None)
            row |= {"fault rate": item.fault_rate, "far recall": item.far_recall}
            if item.never_acted:
                row["verdict"] = "never acted here"
            yield {key: f"{value:.3f}" if isinstance(value, float) else str(value or "") for key, value in row.items()}


def main(folder: Path | None) -> None:
    """Measure what is there, and keep the rest."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    rows = []
    for name in CORPORA:
        place = ROOT / "traces" if name == "shipped" else folder / name if folder else None
        rows += measured(name, compared(name, place)) if place else [row for row in kept if row["corpus"] == name]
    with MEASURED.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
