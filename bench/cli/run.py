"""`bench run`: replay scenarios, decide, judge their gates, write reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..files.writing import require_place
from ..model.errors import ScenarioError, SpecError
from .options import FILE, all_tables, of_model, require_reports, warn_unlisted
from .outcome import inside_actions, print_outcome
from .saying import progress_line, say, screen

if TYPE_CHECKING:
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
    help="NAME=SLOT=SPEC(+SLOT=SPEC)*; a setting may have several values: keep_last=5|10|20. "
    "Without one, about 20 are tried.",
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
    help="Fail without a baseline, or if a gate, strategy or run of it is missing or replaced.",
)
@click.option(
    "--against",
    metavar="REV|FILE",
    help="Compare with the scenario at a git revision, or with a file that `-o x.json` wrote.",
)
@all_tables
@click.option(
    "--allow-inconclusive",
    is_flag=True,
    help="Exit 0 if a gate could not decide, or a recording is damaged.",
)
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
) -> int:  # fmt: skip
    """Try strategies on recordings: what to run, and whether gates pass.

    SCENARIO.toml names recordings, strategies and gates. TRACES are recordings: files, folders or
    patterns, with the format before a colon where it is not recognised. They are replayed under
    each --strategy; without one, under about twenty.

    Reports and baselines are written at the end, all or none of them.
    """
    from ..comparison.baseline import score_bytes, score_file_of
    from ..comparison.gates import exit_code
    from ..files.writing import write_together
    from ..reports import format_of, pieces, reports as reports_of
    from ..run.cache import user_cache
    from ..run.comparing import RunOptions
    from ..run.executors import Workers
    from ..run.verbs import run_scenarios

    forms = {path: format_of(path) for path in outputs}
    scenarios, traces = sorted_paths(paths)
    changed: dict[str, Any] = {"outside": outside, **({"model": model} if model else {})}
    plans = _scenarios_of(scenarios, traces, strategies, changed)
    for name in dict.fromkeys(plan.model for plan in plans):
        warn_unlisted(name)
    _require_sense(model, bool(scenarios), accept=accept, required=required, against=against)
    require_reports(outputs)
    if accept:
        require_place(filter(None, (plan.baseline_path for plan in plans)))
    details = bool(outputs) or verbose or inside_actions()
    with Workers(jobs or os.cpu_count() or 1, engine) as workers, progress_line() as progress:
        options = RunOptions(
            workers,
            progress,
            user_cache(),
            details=details,
            required=required and not accept,
            accepting=accept,
        )
        comparisons = run_scenarios(plans, options, against)
    baselines = {
        plan.baseline_path: score_bytes(score_file_of(compared))
        for plan, compared in zip(plans, comparisons, strict=True)
        if accept and plan.baseline_path is not None
    }
    reports = {
        path: (piece.encode("utf-8", "replace") for piece in pieces(comparisons, form))
        for path, form in forms.items()
    }
    text = screen(reports_of(comparisons), verbose=verbose)
    write_together({**baselines, **reports})
    for path in baselines:
        say(f"accepted {path.name}")
    for path in forms:
        say(f"wrote {path}")
    code = exit_code(comparisons, allow_undecided=allow_inconclusive)
    option = "" if allow_inconclusive else "--allow-inconclusive"
    print_outcome(comparisons, [plan.path for plan in plans], text, code, option=option)
    return code


# ---------------------------------------------------------------- the question


def _scenarios_of(
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

    from ..comparison.run_names import short_names
    from ..run.scenario import Scenario, read_scenario
    from ..strategies.portfolio import PORTFOLIO
    from ..text.wording import listed

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
    names = listed([*short_names([Path(text).as_posix() for text in traces]).values()], 3)
    title = f"Which strategy is best for {names}?"
    if slots:
        return [Scenario(title=title, traces=traces, strategies=slots, **changed)]
    portfolio: dict[str, Any] = {name: f"{name}={spec}" for name, spec in PORTFOLIO.items()}
    return [Scenario(title=title, traces=traces, strategies=portfolio, portfolio=True, **changed)]


def sorted_paths(texts: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The scenarios and the traces among the paths of a command line. A folder with scenarios gives
    these; TOML files of other tools do not count. One that is given twice is there once.

    >>> sorted_paths(["a.toml", "runs/*.jsonl", "native:b.json", "./a.toml"])
    ((PosixPath('a.toml'),), ('runs/*.jsonl', 'native:b.json'))
    """
    from ..run.scenario import is_scenario

    scenarios: dict[str, Path] = {}
    traces: list[str] = []
    for text in texts:
        files = sorted(Path(text).glob("*.toml")) if text and Path(text).is_dir() else []
        named = [*filter(is_scenario, files)]
        if not named and text.lower().endswith(".toml"):
            named = [Path(text)]
        for path in named:
            scenarios.setdefault(os.path.abspath(path), path)
        if not named:
            traces.append(text)
    return tuple(scenarios.values()), tuple(traces)


# ---------------------------------------------------------------- baselines


def _require_sense(
    model: str | None, named: bool, *, accept: bool, required: bool, against: str | None
) -> None:
    """Raise ScenarioError for options about a baseline that contradict each other.

    `named` is True if a scenario file is given; its baseline is stored beside it.
    """
    if (accept or required) and not named:
        option = "--update-baseline" if accept else "--require-baseline"
        raise ScenarioError(f"{option} needs a scenario file: the baseline is kept beside it")
    if accept and (model or against is not None):
        other = (
            "--model: write it into the scenario" if model else "--against, which needs no baseline"
        )
        raise ScenarioError(f"--update-baseline with {other}")
