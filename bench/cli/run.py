"""`bench run`: replay scenarios, decide, judge their gates, write reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files.writing import require_place
from ..model.errors import ScenarioError
from .github import summary_files
from .options import Replaying, allow_inconclusive, inputs_of, replaying, require_apart
from .outcome import finish

if TYPE_CHECKING:
    from ..model.compared import Compared
    from ..run.scenario import Scenario


@click.command()
@replaying
@click.option("--update-baseline", "accept", is_flag=True,
              help="Accept this run's values as the scenario's baseline.")  # fmt: skip
@click.option("--require-baseline", is_flag=True,
              help="Fail without a baseline, and where a gate was loosened or is gone.")  # fmt: skip
@click.option("--against", metavar="REV|FILE",
              help="Compare with the scenario as it was at a git revision, or with a file that `-o x.json` wrote.")  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print all tables.")
@allow_inconclusive
def run(
    asked: Replaying,
    accept: bool,
    require_baseline: bool,
    against: str | None,
    verbose: bool,
    allow_inconclusive: bool,
) -> None:
    """Replay scenarios (TOML files), or recordings under every --strategy; print what to run, and judge the gates.

    TRACES is a file, a folder, a pattern or `-`, with or without its format before a colon:

    bench run runs/ --strategy mask=compactor=mask_observations

    Without --strategy about twenty strategies are tried.

    Reports and baselines are written at the end, all or none of them.
    """
    plans = asked.plans()
    _require_sense(asked, accept=accept, required=require_baseline, against=against)
    growing = summary_files()
    require_apart(asked.outputs, inputs_of(plans, (*asked.outputs, *growing)), growing)
    if accept:
        require_place(filter(None, (plan.baseline_path for plan in plans)))
    comparisons = asked.compared(
        plans, against=against, accepting=accept, require_baseline=require_baseline and not accept
    )
    beside: dict[Path, bytes] = {}
    lines: list[str] = []
    if accept:
        comparisons = _accepted(plans, comparisons, beside, lines)
    finish(
        comparisons,
        asked.outputs,
        files=[plan.path for plan in plans],
        beside=beside,
        lines=lines,
        form=asked.form,
        verbose=verbose,
        allow_undecided=allow_inconclusive,
    )


def _require_sense(asked: Replaying, *, accept: bool, required: bool, against: str | None) -> None:
    """Raise ScenarioError for options about a baseline where there can be none, or where the scenario alone would not give its values again."""
    if accept and asked.model:
        raise ScenarioError("--update-baseline with --model: write it into the scenario, then accept")
    for option, given in (("--update-baseline", accept), ("--require-baseline", required)):
        if given and not asked.scenarios:
            raise ScenarioError(f"{option} needs a scenario file: the baseline is kept beside it")
    if accept and against is not None:
        raise ScenarioError("--update-baseline accepts a run as the baseline, --against needs none: give one of them")


def _accepted(
    plans: Sequence[Scenario], comparisons: Sequence[Compared], beside: dict[Path, bytes], lines: list[str]
) -> list[Compared]:
    """The comparisons held against themselves as their baselines, which go into `beside`; what moved is said."""
    from ..comparison.gates import accepted

    renewed = []
    for plan, compared in zip(plans, comparisons, strict=True):
        path = plan.baseline_path
        if path is None:
            raise ScenarioError(f"{plan.title}: no scenario file, so there is no place for a baseline")
        judged, beside[path] = accepted(compared)
        for move in compared.moves:
            if any(move.metric == rule.metric for rule in compared.rules):
                lines.append(f"accepted {move.strategy} {move.metric}: {move.before:g} → {move.after:g}")
        lines.append(f"accepted {path.name}")
        renewed.append(judged)
    return renewed
