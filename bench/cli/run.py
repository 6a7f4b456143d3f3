"""`bench run`: replay scenarios, decide, judge their gates, write reports."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files.writing import require_place
from ..model.errors import ScenarioError, SpecError
from .github import inside_actions
from .options import FILE, of_model, require_reports, warn_unlisted
from .outcome import finish
from .saying import progress_line, warn

if TYPE_CHECKING:
    from ..model.compared import Compared
    from ..run.executors import Workers
    from ..run.scenario import Scenario


@click.command()
@click.argument("paths", nargs=-1, metavar="[SCENARIO.toml|TRACES]...")
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Write the report: .html, .md, .json or .csv. May be given several times.",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="SPEC",
    help="NAME=SLOT=SPEC(+SLOT=SPEC)*; a setting may be several: keep_last=5|10|20. Without one, about 20 are tried.",
)
@of_model
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes that measure runs (default: one a core).",
)
@click.option(
    "--engine",
    default="processes",
    show_default=True,
    metavar="NAME",
    help="Measure runs in `processes` here, or on the Dask scheduler at tcp://host:8786.",
)
@click.option("--outside", is_flag=True, help="Let scenarios name traces outside their repository.")
@click.option(
    "--update-baseline",
    "accept",
    is_flag=True,
    help="Accept this run's values as the scenario's baseline.",
)
@click.option(
    "--require-baseline",
    "required",
    is_flag=True,
    help="Fail without a baseline, and where what it judged is gone or replaced.",
)
@click.option(
    "--against",
    metavar="REV|FILE",
    help="Compare with the scenario as it was at a git revision, or with a file that `-o x.json` wrote.",
)
@click.option("-v", "--verbose", is_flag=True, help="Print all tables.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit 0 where a gate could not decide.")
def run(
    paths: tuple[str, ...],
    outputs: tuple[Path, ...],
    strategies: tuple[str, ...],
    model: str | None,
    jobs: int | None,
    engine: str,
    outside: bool,
    accept: bool,
    required: bool,
    against: str | None,
    verbose: bool,
    allow_inconclusive: bool,
) -> None:  # fmt: skip
    """Try strategies on recordings: what to run, and which gates hold.

    SCENARIO.toml names recordings, strategies and gates. TRACES are recordings: files, folders or
    patterns, with the format before a colon where it is not recognised. They are replayed under
    each --strategy; without one, under about twenty.

    Reports and baselines are written at the end, all or none of them.
    """
    from ..reports import format_of

    for path in outputs:
        format_of(path)
    scenarios, traces = sorted_paths(paths)
    changed: dict[str, Any] = {"outside": outside, **({"model": model} if model else {})}
    plans = _plans(scenarios, traces, strategies, changed)
    for name in dict.fromkeys(plan.model for plan in plans):
        warn_unlisted(name)
    _require_sense(model, bool(scenarios), accept=accept, required=required, against=against)
    require_reports(outputs)
    if accept:
        require_place(filter(None, (plan.baseline_path for plan in plans)))
    settings = {
        "against": against,
        "accepting": accept,
        "require_baseline": required and not accept,
        "details": bool(outputs) or verbose or inside_actions(),
    }
    with _workers(engine, jobs or os.cpu_count() or 1) as workers:
        comparisons = _compared(plans, workers, settings)
    beside, lines = _accept(plans, comparisons) if accept else ({}, [])
    finish(
        comparisons,
        outputs,
        files=[plan.path for plan in plans],
        beside=beside,
        lines=lines,
        verbose=verbose,
        allow_undecided=allow_inconclusive,
    )


def _compared(
    plans: Sequence[Scenario], workers: Workers, settings: dict[str, Any]
) -> list[Compared]:
    """The scenarios replayed and judged, one after the other, by the same workers."""
    from .. import run_scenario
    from ..run.kept import kept_here

    settings |= {"jobs": workers, "kept": kept_here(warn)}
    with progress_line() as progress:
        return [run_scenario(plan, progress, **settings) for plan in plans]


# ---------------------------------------------------------------- the question


def _plans(
    scenarios: Sequence[Path],
    traces: tuple[str, ...],
    strategies: Sequence[str],
    changed: Mapping[str, Any],
) -> list[Scenario]:
    """The scenarios of the files, or one scenario of the traces and strategies.

    `changed` are settings that the command line gives.

    Raises ScenarioError for neither or both.
    """
    from msgspec.structs import replace

    from ..run.scenario import Scenario, read_scenario
    from ..strategies.portfolio import PORTFOLIO

    if scenarios and (traces or strategies):
        raise ScenarioError("give scenario files, or traces with --strategy, not both")
    if scenarios:
        return [replace(read_scenario(path), **changed) for path in scenarios]
    if not traces:
        raise ScenarioError("nothing to replay — give a scenario file, or recordings")
    slots: dict[str, Any] = {}
    for text in strategies:
        name = text.partition("=")[0].strip()
        if name in slots:
            raise SpecError(f"two strategies are called {name!r} — give each its own name")
        slots[name] = text
    if slots:
        return [Scenario(title="", traces=traces, strategies=slots, **changed)]
    portfolio: dict[str, Any] = {name: f"{name}={spec}" for name, spec in PORTFOLIO.items()}
    title = f"Which strategy is cheapest for {_names(traces)}?"
    return [Scenario(title=title, traces=traces, strategies=portfolio, portfolio=True, **changed)]


def _names(traces: Sequence[str]) -> str:
    """The names of some recordings in a title, without folders and endings.

    >>> _names(["codex:runs/a.jsonl", "claude/*.jsonl"])
    'a and claude'
    """
    from ..text.wording import listed
    from ..traces import case_id

    names = []
    for text in traces:
        path = Path(text.rpartition(":")[2]).absolute()
        names.append(case_id((path.parent if "*" in path.name else path).name))
    return listed([*dict.fromkeys(names)], 3)


def sorted_paths(texts: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The scenarios and the traces among the paths of a command line.

    >>> sorted_paths(["a.toml", "runs/*.jsonl", "native:b.json"])
    ((PosixPath('a.toml'),), ('runs/*.jsonl', 'native:b.json'))
    """
    scenarios: list[Path] = []
    traces: list[str] = []
    for text in texts:
        inside = sorted(Path(text).glob("*.toml")) if text and Path(text).is_dir() else []
        if inside:
            scenarios += inside
        elif text.lower().endswith(".toml"):
            scenarios += _matching(text)
        else:
            traces.append(text)
    for path in scenarios:
        if scenarios.count(path) > 1:
            raise ScenarioError(f"{path}: is given twice — leave one out")
    return tuple(scenarios), tuple(traces)


def _matching(text: str) -> list[Path]:
    """The files that a pattern matches; a path without a star is itself."""
    if "*" not in text or Path(text).is_absolute():
        return [Path(text)]
    matches = sorted(Path().glob(text))
    if not matches:
        raise ScenarioError(f"{text}: no file matches — check the folder or the pattern")
    return matches


def _workers(engine: str, jobs: int) -> Workers:
    """The workers that measure runs: processes of this machine, or those of Dask."""
    from ..run.executors import Workers, dask

    if engine == "processes":
        return Workers(jobs)
    if "://" not in engine:
        raise ScenarioError(
            f"--engine {engine}: write processes, or the address that `dask scheduler` prints"
        )
    return Workers(jobs, functools.partial(dask, engine))


# ---------------------------------------------------------------- baselines


def _require_sense(
    model: str | None, named: bool, *, accept: bool, required: bool, against: str | None
) -> None:
    """Raise ScenarioError for options about a baseline that contradict each other.

    `named`: a scenario file is given, beside which a baseline is kept.
    """
    if accept and model:
        raise ScenarioError(
            "--update-baseline with --model: write it into the scenario, then accept"
        )
    for option, given in (("--update-baseline", accept), ("--require-baseline", required)):
        if given and not named:
            raise ScenarioError(f"{option} needs a scenario file: the baseline is kept beside it")
    if accept and against is not None:
        raise ScenarioError(
            "--update-baseline accepts a run as the baseline, --against needs none: give one of them"
        )


def _accept(
    plans: Sequence[Scenario], comparisons: Sequence[Compared]
) -> tuple[dict[Path, bytes], list[str]]:
    """The new baselines by their files, and a line on each gated number that moved."""
    from ..comparison.baseline import score_bytes, score_file_of
    from ..reports.numbers import quantity

    baselines: dict[Path, bytes] = {}
    lines: list[str] = []
    for plan, compared in zip(plans, comparisons, strict=True):
        path = plan.baseline_path
        if path is None:
            raise ScenarioError(f"{plan.title}: no scenario file, so no place for a baseline")
        baselines[path] = score_bytes(score_file_of(compared))
        for move in compared.moves:
            if any(move.metric == rule.metric for rule in compared.rules):
                unit = compared.metrics[move.metric].unit
                before, after = (quantity(value, unit) for value in (move.before, move.after))
                lines.append(f"accepted {move.strategy} {move.metric}: {before} → {after}")
        lines.append(f"accepted {path.name}")
    return baselines, lines
