"""`bench run`: replay scenarios, judge their gates, write reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..files.writing import require_place
from ..model.errors import ScenarioError
from .github import summary_files
from .options import Replaying, allow_inconclusive, grouped, inputs_of, replaying, require_apart
from .outcome import finish

if TYPE_CHECKING:
    from ..model import Comparison
    from ..run.scenario import Scenario


@click.command(cls=grouped("--output", "--format", "--strategy", "--update-baseline", "--against", "--model"))
@replaying
@click.option("--update-baseline", "accept", flag_value="--update-baseline",
              help="Accept this run's values as the scenario's baseline; prints old and new.")  # fmt: skip
@click.option(
    "--require-baseline",
    is_flag=True,
    help="Fail where a gate compares with a baseline and there is none, and where a gate was loosened or is gone.",
)
@click.option("--against", metavar="REV|FILE",
              help="Compare with the strategies as they were at a git revision, or with a file that `-o x.json` wrote.")  # fmt: skip
@allow_inconclusive
def run(
    asked: Replaying,
    accept: str | None,
    require_baseline: bool,
    against: str | None,
    allow_inconclusive: bool,
) -> None:
    """Replay scenarios (TOML files), or traces under every --strategy; print what to run, and judge the gates.

    TRACES is a file, a folder, a pattern or `-`, with or without its format before a colon:

    bench run runs/ --strategy mask=compactor=mask_observations

    Without --strategy about twenty strategies are tried.

    Reports and baselines are written at the end, all or none of them.
    """
    changes = {"--model": asked.model}
    from ..comparison.tuning import judged_apart

    plans = asked.plans()
    _require_sense(asked, accept, require_baseline, against, [name for name, given in changes.items() if given])
    growing = summary_files()
    require_apart(asked.outputs, inputs_of(plans, (*asked.outputs, *growing)), growing)
    if accept is not None:
        require_place(filter(None, (plan.baseline_path for plan in plans)))
    comparisons: Sequence[Comparison] = asked.compared(
        plans,
        against=against,
        accepting=accept == "--update-baseline",
        allow_inconclusive=allow_inconclusive,
        require_baseline=require_baseline and accept is None,
    )
    beside: dict[Path, bytes] = {}
    said: list[str] = []
    if not asked.scenarios and not asked.strategies:
        comparisons = [judged_apart(item, plan.seed) for plan, item in zip(plans, comparisons, strict=True)]
    shown = _shown(asked, plans, comparisons, against)
    if accept is not None:
        comparisons = _accepted(plans, comparisons, beside, said)
    finish(comparisons, asked.outputs, files=[plan.path for plan in plans], shown=shown, beside=beside, said=said,
           form=asked.form)  # fmt: skip


def _require_sense(
    asked: Replaying, accept: str | None, required: bool, against: str | None, changes: Sequence[str]
) -> None:
    """Raise ScenarioError for options about a baseline where there can be none, or where the scenario alone would not give its values again."""
    if accept is not None and changes:
        raise ScenarioError(f"--update-baseline with {changes[0]}: write it into the scenario, then accept")
    for option, why in ((accept, "accepts a run as the baseline"), ("--require-baseline" if required else None, "asks for a baseline")):  # fmt: skip
        if option is not None and not asked.scenarios:
            raise ScenarioError(f"{option} needs a scenario file: the baseline is kept beside it")
        if option is not None and option == accept and against is not None:
            raise ScenarioError(f"{option} {why}, --against needs none: give one of them")


def _shown(
    asked: Replaying, plans: Sequence[Scenario], comparisons: Sequence[Comparison], against: str | None
) -> tuple[str, ...]:
    """The panels on the terminal."""
    from ..comparison.sweeps import sweeps
    from ..reports.text import TERMINAL_PANELS

    def fills(slot: str) -> bool:
        """True if a strategy of the command line fills a slot: the ranking shows nothing of what evaluators and routers say."""
        specs = [item.signature.strategies[name] for item in comparisons for name in item.strategies]
        return bool(asked.strategies) and any(f"{slot}=" in spec for spec in specs)

    more = {
        "judgements": fills("evaluator") or fills("routers"),
        "settings": any(sweeps(item, "cost.prompt_tokens") for item in comparisons),
    }
    return (*TERMINAL_PANELS, *(name for name, wanted in more.items() if wanted))


def _accepted(
    plans: Sequence[Scenario],
    comparisons: Sequence[Comparison],
    beside: dict[Path, bytes],
    said: list[str],
) -> list[Comparison]:
    """The comparisons held against themselves as their baselines; these go into `beside`, and what was accepted is said."""
    from ..comparison.accepting import accepted
    from ..comparison.baselines import baseline_bytes
    from ..model import Against
    from ..run.verbs import judged_against

    renewed = []
    for plan, comparison in zip(plans, comparisons, strict=True):
        path = plan.baseline_path
        if path is None:
            raise ScenarioError(f"{plan.title}: no scenario file, so there is no place for a baseline")
        found, lines = accepted(comparison, path)
        if found is not None:
            beside[path] = baseline_bytes(found)
        renewed.append(comparison if found is None else judged_against(comparison, Against(baseline=found)))
        said.extend(lines)
    return renewed
