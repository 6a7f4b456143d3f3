"""`bench run`: replay scenarios, judge their gates, write reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import ScenarioError, SpecError
from .outcome import finish, progress_bar

if TYPE_CHECKING:
    from ..model import Comparison
    from ..scenario import Scenario


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", "outputs", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Write the report; the ending decides the format. May be given several times.")  # fmt: skip
@click.option("--traces", "traces", multiple=True, metavar="[FORMAT:]PATH", help="Traces to replay without a scenario.")
@click.option("--strategy", "strategies", multiple=True, metavar="SPEC",
              help="NAME=SLOT=SPEC(+SLOT=SPEC)*, or the bare name of a reference strategy.")  # fmt: skip
@click.option(
    "--update-baseline", is_flag=True, help="Accept this run's values as the scenario's baseline; prints old and new."
)
@click.option("--against", metavar="REV",
              help="Compare with the strategies' files as they were at a git revision, in place of a baseline.")  # fmt: skip
@click.option("--history", "kept", type=click.Path(path_type=Path), metavar="FILE",
              help="Keep this run in an SQLite file, and show the runs before it in the report.")  # fmt: skip
@click.option("--budget", "budget", metavar="TOKENS[,TOKENS…]",
              help="Run every strategy that has a window at each of these, and rank at equal cost.")  # fmt: skip
@click.option("--allow-inconclusive", is_flag=True, help="Exit 0 where a gate could not decide.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes measure cases (default: the cores)."
)
def run(
    scenarios: tuple[Path, ...],
    outputs: tuple[Path, ...],
    traces: tuple[str, ...],
    strategies: tuple[str, ...],
    update_baseline: bool,
    against: str | None,
    kept: Path | None,
    budget: str | None,
    allow_inconclusive: bool,
    jobs: int | None,
) -> None:
    """Replay SCENARIOs (TOML files), or --traces under every --strategy; print the comparison, judge the gates."""
    from .. import run_scenario
    from ..reports import TERMINAL_PANELS, require_renderer
    from ..strategies.budgets import parse_budgets

    for output in outputs:
        require_renderer(output)
    plans = _plans(scenarios, traces, strategies)
    if budget is not None:
        if update_baseline:
            raise ScenarioError("--update-baseline with --budget: write `budgets = […]` into the scenario, then accept")
        plans = [replace(plan, budgets=parse_budgets(budget)) for plan in plans]
    if update_baseline and not scenarios:
        raise ScenarioError("--update-baseline needs a scenario file: the baseline is kept beside it")
    if update_baseline and against is not None:
        raise ScenarioError("--update-baseline accepts a run as the baseline, --against needs none: give one of them")
    with progress_bar() as progress:
        comparisons = [
            run_scenario(plan, progress, against=against, accepting=update_baseline, allow_inconclusive=allow_inconclusive,
                         jobs=jobs or os.cpu_count() or 1)
            for plan in plans
        ]  # fmt: skip
    if update_baseline:
        comparisons = _accept(plans, comparisons)
    if kept is not None:
        comparisons = _keep(comparisons, kept)
    shown = (*TERMINAL_PANELS, "budgets") if any(plan.budgets for plan in plans) else None
    files = [plan.path for plan in plans]
    finish(comparisons, outputs, files=files, shown=shown)


def _plans(scenarios: Sequence[Path], traces: Sequence[str], strategies: Sequence[str]) -> list[Scenario]:
    from ..scenario import Scenario, read_scenario

    if scenarios and (traces or strategies):
        raise ScenarioError("give scenario files, or --traces with --strategy, not both")
    if scenarios:
        return [read_scenario(path) for path in scenarios]
    if not traces or not strategies:
        raise ScenarioError("nothing to replay — give a scenario file, or --traces PATH and --strategy SPEC")
    slots: dict[str, Any] = {}
    for text in strategies:
        name = text.partition("=")[0].strip()
        if name in slots:
            raise SpecError(f"two strategies are called {name!r} — give each its own name")
        slots[name] = text
    return [Scenario(title="From the command line", traces=tuple(traces), strategies=slots)]


def _accept(plans: Sequence[Scenario], comparisons: Sequence[Comparison]) -> list[Comparison]:
    """All of the runs as baselines, or none: one that cannot be accepted leaves the files of the others alone."""
    from ..gates.baselines import accept, require_acceptable
    from ..model import Against
    from ..pipeline import judged_against

    paths = [plan.baseline_path for plan in plans if plan.baseline_path is not None]
    for comparison, path in zip(comparisons, paths, strict=True):
        require_acceptable(comparison, path)
    renewed = []
    for comparison, path in zip(comparisons, paths, strict=True):
        accepted, lines = accept(comparison, path)
        renewed.append(comparison if accepted is None else judged_against(comparison, Against(baseline=accepted)))
        for line in lines:
            click.echo(line)
    return renewed


def _keep(comparisons: Sequence[Comparison], path: Path) -> list[Comparison]:
    """The comparisons with the runs before them, each kept in the history."""
    import datetime

    import msgspec

    from ..files.git import commit_of
    from ..files.history import keep, moments

    titles = [comparison.title for comparison in comparisons]
    for title in titles:
        if titles.count(title) > 1:
            raise ScenarioError(
                f"--history: two scenarios are titled {title!r}, which is how a history tells them apart"
            )
    commit, now = commit_of(Path()), datetime.datetime.now(datetime.UTC)
    for comparison in comparisons:
        keep(comparison, path, commit, now)
    return [msgspec.structs.replace(item, history=moments(path, item.title)) for item in comparisons]
