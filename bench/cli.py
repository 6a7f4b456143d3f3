"""The command line: a thin layer over the verbs. Every error is one line on standard error and exit 2; no traceback reaches a user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from . import __version__
from .errors import BenchError, ScenarioError, SpecError, nearest, one_line

LISTED = {
    "traces": ("reader",),
    "strategies": ("reference", "summarizer", "compactor", "writer", "store", "evaluator", "extractor", "router"),
    "metrics": ("metric",),
    "gates": ("gate",),
    "panels": ("panel", "renderer"),
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bench")
def cli() -> None:
    """Replay recorded agent runs through alternative memory strategies; measure cost, loss and routing; gate changes."""


@cli.command()
@click.argument("scenarios", nargs=-1, type=click.Path(path_type=Path))
@click.option("-o", "--output", "outputs", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Write the report; the ending decides the format. May be given several times.")  # fmt: skip
@click.option("--traces", "traces", multiple=True, metavar="[FORMAT:]PATH", help="Traces to replay without a scenario.")
@click.option("--strategy", "strategies", multiple=True, metavar="SPEC",
              help="NAME=SLOT=SPEC(+SLOT=SPEC)*, or the bare name of a reference strategy.")  # fmt: skip
@click.option("--update-baseline", is_flag=True, help="Accept this run's values as the scenario's baseline.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit 0 where a gate could not decide.")
def run(
    scenarios: tuple[Path, ...],
    outputs: tuple[Path, ...],
    traces: tuple[str, ...],
    strategies: tuple[str, ...],
    update_baseline: bool,
    allow_inconclusive: bool,
) -> None:
    """Replay SCENARIOs (TOML files), or --traces under every --strategy; print the comparison, judge the gates."""
    from . import gates, render, run_scenario
    from .reports import require_renderer, terminal_text

    for output in outputs:
        require_renderer(output)
    plans = _plans(scenarios, traces, strategies)
    if update_baseline and not scenarios:
        raise ScenarioError("--update-baseline needs a scenario file: the baseline is kept beside it")
    with _progress() as progress:
        comparisons = [run_scenario(plan, progress) for plan in plans]
    if update_baseline:
        comparisons = [_accept(plan, comparison) for plan, comparison in zip(plans, comparisons, strict=True)]
    for comparison in comparisons:
        click.echo(terminal_text(comparison))
    for output in outputs:
        click.echo(f"wrote {render(comparisons, output)}")
    click.echo(gates.closing_sentence(comparisons, allow_inconclusive))
    raise SystemExit(gates.exit_code(comparisons, allow_inconclusive))


def _plans(scenarios: Sequence[Path], traces: Sequence[str], strategies: Sequence[str]) -> list[Any]:
    from .scenario import Scenario, read_scenario

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


def _accept(plan: Any, comparison: Any) -> Any:
    import msgspec

    from . import check, gates
    from .results import baseline_of, write_baseline

    for strategy in comparison.strategies:
        failed = gates.failed_case(comparison, strategy)
        if failed:
            raise ScenarioError(f"{plan.path}: baseline not accepted: {strategy} raised on {failed[0]}: {failed[1]}")
    accepted = baseline_of(comparison, plan.gates)
    if not accepted.values:
        click.echo(f"{plan.path}: no gate compares with a baseline, nothing to accept")
        return comparison
    write_baseline(accepted, plan.baseline_path)
    click.echo(f"accepted {plan.baseline_path}:")
    for strategy, metrics in sorted(accepted.values.items()):
        for metric, cases in sorted(metrics.items()):
            click.echo(f"  {strategy} {metric}: {cases.get('')} over {len(cases) - 1} cases")
    renewed = msgspec.structs.replace(comparison, baseline=accepted, baseline_problem=None)
    return msgspec.structs.replace(renewed, verdicts=check(renewed))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on a terminal, nothing in CI or a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replaying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@cli.command(name="list")
@click.argument("what", metavar="|".join(LISTED))
def list_(what: str) -> None:
    """Print what is registered, with parameters, defaults and sources."""
    from .metrics import measured
    from .registry import entries

    if what not in LISTED:
        raise SpecError(f"nothing is listed under {what!r}{nearest(what, LISTED)}")
    for kind in LISTED[what]:
        found = measured() if kind == "metric" else entries(kind)
        if not found:
            continue
        click.echo(f"{kind}s")
        for name, entry in found.items():
            click.echo(f"  {name}{_parameters(entry)}{_declared(entry)}")
            first = entry.doc.splitlines()[0] if entry.doc else ""
            click.echo(f"      {first}")
            if entry.source:
                click.echo(f"      Source: {entry.source}")


def _parameters(entry: Any) -> str:
    shown = [
        f"{item.name}={'required' if item.required else _default(item.default)} ({_type_name(item.type)})"
        for item in entry.parameters
    ]
    return f"  [{', '.join(shown)}]" if shown else ""


def _default(value: Any) -> str:
    from .spec import format_value

    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    if isinstance(value, tuple | list):
        return format_value(tuple(str(item) for item in value))
    return format_value(str(value))


def _type_name(kind: Any) -> str:
    return (
        kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind).replace("typing.", "")
    )


def _declared(entry: Any) -> str:
    if entry.kind == "metric":
        return f"  {entry.meta['unit']}, {entry.meta['better']} is better, {entry.meta['aggregate']}"
    at = entry.meta.get("at", getattr(entry.target, "at", None))
    return f"  at {at}" if at else ""


@cli.command()
@click.argument("trace", metavar="[FORMAT:]PATH")
def show(trace: str) -> None:
    """Print the steps of a trace (or of every trace of a folder) with their tokens."""
    from . import load
    from .reports.steps import step_lines

    for item in load([trace]).traces:
        for line in step_lines(item):
            click.echo(line)


def main(arguments: Sequence[str] | None = None) -> None:
    """The console entry point: runs the command line and turns every error into one line and an exit code."""
    try:
        cli.main(args=None if arguments is None else list(arguments), standalone_mode=False)
    except BenchError as error:
        _fail(one_line(error), error.exit_code)
    except click.exceptions.Exit as done:
        raise SystemExit(done.exit_code) from None
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        where = f"{context.command_path}: " if context else ""
        _fail(where + one_line(error.format_message()), 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except (MemoryError, OSError) as error:
        _fail(f"{type(error).__name__}: {one_line(error)}", 2)
    except Exception as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last is not None else "?"
        _fail(f"defect in bench at {place}: {type(error).__name__}: {one_line(error)} — please report it", 2)


def _fail(message: str, code: int) -> None:
    click.echo(f"error: {message}", err=True)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
