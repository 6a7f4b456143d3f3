"""Every policy of the field on the same recordings: `python benchmarks/leaderboard.py [FOLDER [CORPUS …]]`, then `make docs` writes
docs/leaderboard.md.

`benchmarks/corpora.toml` says which recordings, by repository, commit and hash. FOLDER holds a folder for each corpus; one that is missing is
fetched with git, its files alone. Without FOLDER the shipped traces alone are measured, with names only those corpora; the other figures stay as
they are. Each policy runs with its own defaults; those that take a budget of tokens at equal budgets too; and so do the settings that
`bench advise` tries.
"""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bench
from bench.comparison.advice import KEEPS_ALL, RUN_TODAY
from bench.comparison.decision import DOLLARS, INVENTED, OVERFLOWS, decide
from bench.comparison.rows import over_tasks, tasks, total
from bench.model import Comparison, grouped
from bench.run.scenario import Scenario
from bench.strategies.policies import MEASURED, field_policies
from bench.strategies.portfolio import PORTFOLIO

ROOT = Path(__file__).parents[1]
COUNTED = {"changed.values": "changed", "changed.errors_hidden": "hidden"}
BUDGETS = {"8k": 8_000, "32k": 32_000, "100k": 100_000}
"""Tokens of prompt at which a policy that takes such a budget acts, its other settings being its defaults."""

_BUDGET = ("max_tokens", "trigger_tokens", "trigger", "max_n")
CORPORA: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "benchmarks" / "corpora.toml").read_text(encoding="utf-8"))


def fetched(name: str, folder: Path) -> Path:
    """The folder of a corpus: the one that is there, else its files at their commit. SystemExit where git cannot fetch them."""
    corpus, place = CORPORA[name], folder / name
    if not place.is_dir():
        place.mkdir(parents=True)
        for step in (
            ["init", "--quiet"],
            ["remote", "add", "origin", corpus["repository"]],
            ["sparse-checkout", "set", "--no-cone", *(f"/{pattern}" for pattern in corpus["files"])],
            ["fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", corpus["commit"]],
            ["checkout", "--quiet", "FETCH_HEAD"],
        ):
            if subprocess.run(["git", *step], cwd=place, check=False).returncode:
                told = f"put a checkout of {corpus['repository']} at {corpus['commit']} there"
                raise SystemExit(f"{place}: git {step[0]} failed — remove the folder and try again, or {told}")
    return place


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


def settings() -> dict[str, dict[str, dict[str, str]]]:
    """The strategies that are compared with each other, by setting: each as its slots by name."""
    field = list(field_policies())
    budget = {e.name: key for e in field for key in reversed(_BUDGET) if key in {item.name for item in e.parameters}}
    found = {"defaults": {entry.name: {entry.kind: entry.name} for entry in field}}
    for name, tokens in BUDGETS.items():
        found[name] = {e.name: {e.kind: f"{e.name}:{budget[e.name]}={tokens}"} for e in field if e.name in budget}
    found["advise"] = {name: dict(part.split("=", 1) for part in slots.split("+")) for name, slots in PORTFOLIO.items()}
    return found


def compared(name: str, folder: Path, setting: str) -> Comparison:
    """The strategies of one setting on a corpus."""
    model, traces = CORPORA[name].get("model"), tuple(checked(name, folder))
    return bench.run_scenario(Scenario(title="", traces=traces, strategies=settings()[setting], model=model, base=ROOT))


def measured(corpus: str, setting: str, comparison: Comparison) -> Iterator[dict[str, str]]:
    """A row a policy, in the order of the decision: its verdict, its price against what ran in both economies, and what it loses and changes."""
    choice = decide(comparison)
    for item in choice.candidates:
        if item.strategy not in (RUN_TODAY, KEEPS_ALL):
            found = {
                metric: total(comparison, item.strategy, metric, comparison.case_ids)
                for metric in (*COUNTED, INVENTED, OVERFLOWS)
            }
            row: dict[str, Any] = {
                "corpus": corpus,
                "setting": setting,
                "runs": len(comparison.cases),
                "tasks": choice.tasks,
            }
            row |= {"policy": item.strategy, "verdict": "never acted here" if item.never_acted else choice.word(item)}
            for economy, metric in DOLLARS.items():
                delta = comparison.delta(item.strategy, metric, RUN_TODAY)
                for end, field in (("", "relative"), (" low", "relative_low"), (" high", "relative_high")):
                    row[f"{economy}{end}"] = getattr(delta, field, None)
            row |= {"fault rate": item.fault_rate, "far recall": item.far_recall}
            row |= {name: round(found[metric].known) for metric, name in COUNTED.items()}
            invented = {row.case or "": row.finite or 0.0 for row in found[INVENTED].rows}
            row["invented"] = over_tasks(invented, tasks(comparison.cases))
            row["fits"] = (
                sum((row.finite or 0) == 0 for row in found[OVERFLOWS].rows) if found[OVERFLOWS].rows else None
            )
            yield {
                key: f"{value:.3f}" if isinstance(value, float) else str("" if value is None else value)
                for key, value in row.items()
            }


def main(folder: Path | None, names: Sequence[str]) -> None:
    """Measure what is named, all without names, and keep the rest."""
    for name in names or CORPORA:
        if name == "shipped" or folder:
            place = ROOT / "traces" if name == "shipped" or folder is None else fetched(name, folder)
            for setting in settings():
                _write(list(measured(name, setting, compared(name, place, setting))))
                print(f"{name}: {setting}", flush=True)


def _write(rows: list[dict[str, str]]) -> None:
    """Put the rows of a corpus at a setting in the place of those that are there."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        kept = list(csv.DictReader(file))
    groups = grouped(((row["corpus"], row["setting"]), row) for row in [*kept, *rows])
    groups[rows[0]["corpus"], rows[0]["setting"]] = rows
    every = [row for name in CORPORA for setting in settings() for row in groups.get((name, setting), ())]
    with MEASURED.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(every)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None, sys.argv[2:])
