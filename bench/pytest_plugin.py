"""Scenarios as pytest tests, one item a gate, and a `bench` fixture for tests of one's own. Loading it costs nothing: it imports on use.

`pytest scenarios/` collects every scenario TOML below the folder; `pytest some/where/x.toml` that one. One that is broken is an error.
Items of one scenario carry an `xdist_group` mark: under pytest-xdist, `--dist loadfile` (or `loadgroup`) replays each scenario once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .model.errors import BenchError, ScenarioError, SpecError, sayable

if TYPE_CHECKING:
    from .model import Comparison, Trace, Verdict
    from .run.scenario import Scenario
    from .strategies import Strategy

    Traces = Trace | str | Path | Sequence[Trace]

FOLDER = "scenarios"
"""The name of a folder below which, at any depth, scenarios are collected without being named."""

ACCEPTED, ADVISED = "bench_accepted", "bench_advice"
SECTIONS = {ADVISED: "bench advice", ACCEPTED: "bench baselines"}
"""Properties of tests that are told at the end, each with its heading."""

_COMPARED = pytest.StashKey[dict[Path, "Comparison | BenchError"]]()


class GateFailed(Exception):
    """A gate that failed, or could not be judged: its text is the verdict and what was dropped."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bench", "gates on recorded agent runs")
    group.addoption(
        "--bench-update-baseline", action="store_true", help="accept this run's values as the scenarios' baselines"
    )
    group.addoption(
        "--bench-allow-inconclusive", action="store_true", help="skip gates that cannot decide instead of failing them"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COMPARED] = {}
    config.addinivalue_line("markers", "xdist_group(name): items that pytest-xdist runs in one process")


# ---------------------------------------------------------------- scenarios as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    if file_path.suffix != ".toml" or file_path.name == "pyproject.toml":
        return None
    if _is_named(file_path, parent.config):
        from .run.scenario import meant_as_scenario as is_wanted
    elif FOLDER in _below(file_path.parent, parent.config.rootpath).parts:
        from .run.scenario import is_collected as is_wanted
    else:
        return None
    return ScenarioFile.from_parent(parent, path=file_path) if is_wanted(file_path) else None


def _below(folder: Path, root: Path) -> Path:
    """A folder as seen from the project's: what stands above that says nothing."""
    return folder.relative_to(root) if folder.is_relative_to(root) else folder


def _is_named(path: Path, config: pytest.Config) -> bool:
    return any(
        (config.invocation_params.dir / argument.partition("::")[0]).resolve() == path for argument in config.args
    )


class ScenarioFile(pytest.File):
    """One scenario: replayed once, when the first of its items runs."""

    scenario: Scenario
    made: Mapping[str, Sequence[str]]

    def collect(self) -> Iterator[pytest.Item]:
        from .plugins.apart import Limits
        from .run.scenario import read_scenario
        from .run.verbs import declared_by

        self.scenario = read_scenario(self.path)
        try:
            self.made = declared_by(self.scenario, Limits()).names
        except BenchError:  # every item says it, where it is run
            self.made = {name: (name,) for name in self.scenario.strategies}
        taken: dict[str, int] = {}
        for name, place in [("measured something", None), *_items(self.scenario, self.made, str(self.path))]:
            taken[name] = taken.get(name, 0) + 1
            numbered = name if taken[name] == 1 else f"{name} ({taken[name]})"
            item = GateItem.from_parent(self, name=numbered, place=place)
            item.add_marker(pytest.mark.xdist_group(self.nodeid))
            yield item

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BenchError):
            return sayable(f"error: {excinfo.value}")
        return super().repr_failure(excinfo)

    def compared(self) -> tuple[Comparison, tuple[str, ...]]:
        """The scenario replayed and judged, and what was accepted where a baseline was asked for. Raises BenchError, each time the same."""
        from . import run_scenario
        from .comparison.accepting import accept
        from .model import Against
        from .run.verbs import judged_against

        known = self.config.stash[_COMPARED]
        accepting = bool(self.config.getoption("bench_update_baseline"))
        lines: tuple[str, ...] = ()
        if self.path not in known:
            try:
                comparison = run_scenario(self.scenario, accepting=accepting)
                if accepting and self.scenario.baseline_path is not None:
                    baseline, lines = accept(comparison, self.scenario.baseline_path)
                    if baseline is not None:
                        comparison = judged_against(comparison, Against(baseline=baseline))
                known[self.path] = comparison
            except BenchError as error:
                known[self.path] = error
        found = known[self.path]
        if isinstance(found, BenchError):
            raise found
        return found, lines


def _items(scenario: Scenario, made: Mapping[str, Sequence[str]], where: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """One test a gate and strategy, in the order declared, with the number of the gate and the strategy. One that names no strategy of the
    scenario means references; one that names nobody keeps its name, to be told. `made`: what each strategy as declared stands for.
    """
    from fnmatch import fnmatchcase

    from .comparison.judging import parse_rule
    from .run.job import REFERENCES

    for number, table in enumerate(scenario.gates, 1):
        rule = parse_rule(table, f"{where}: gates[{number}]")
        limits = " ".join(f"{name}={table[name]}" for name in rule.settings)
        limit = f"{rule.metric} {limits}" + (" worst_case" if rule.over == "worst_case" else "")
        matching: dict[str, set[str]] = {}
        for name in made:
            if fnmatchcase(name, rule.strategy) and not any(told.issuperset(made[name]) for told in matching.values()):
                matching[name] = {*made[name]}
        around = [name for name in REFERENCES if fnmatchcase(name, rule.strategy)]
        for strategy in matching or around or [rule.strategy]:
            yield f"{strategy}[{limit}]", (number, strategy)


class GateItem(pytest.Item):
    """One gate on one strategy (`place`: its number from 1, and the strategy); without one, whether the scenario measured anything."""

    def __init__(self, *, place: tuple[int, str] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.place = place

    def runtest(self) -> None:
        from .comparison.judging import conclude, measured_anything
        from .reports.decision_sentence import advice_text

        parent = self.parent
        if not isinstance(parent, ScenarioFile):
            raise ScenarioError(f"{self.name}: not collected from a scenario file")
        comparison, lines = parent.compared()
        if lines:
            self.user_properties.append((ACCEPTED, "\n".join(lines)))
        if self.place is None:
            self.user_properties.append((ADVISED, f"{parent.path.name}: {advice_text(comparison)}"))
            if not measured_anything(comparison):
                raise GateFailed(conclude([comparison]).sentence)
            self._require_nothing_left()
            return
        number, strategy = self.place
        found = _verdicts(comparison, number, parent.made.get(strategy, (strategy,)))
        if not found:
            raise GateFailed(f"no strategy is called {strategy!r}")
        self._judge(found)

    def _judge(self, found: Sequence[Verdict]) -> None:
        """Fail or skip for the worst of some verdicts: a gate has one a setting and budget."""
        from .reports.words import loss_lines, told

        worst = min(found, key=lambda verdict: ("fail", "inconclusive", "skipped", "pass").index(verdict.outcome))
        if worst.outcome == "skipped":
            pytest.skip(worst.sentence)
        if worst.outcome == "inconclusive" and self.config.getoption("bench_allow_inconclusive"):
            pytest.skip(f"inconclusive: {worst.sentence}")
        if worst.outcome != "pass":
            raise GateFailed(
                "\n".join((f"{worst.outcome}: {told(worst)}", *(f"  {line}" for line in loss_lines(worst))))
            )

    def _require_nothing_left(self) -> None:
        """Fail for verdicts that no item stands for: a strategy that only the baseline knows."""
        parent = self.parent
        if isinstance(parent, ScenarioFile) and not self.config.getoption("bench_allow_inconclusive"):
            comparison, _ = parent.compared()
            for verdict in comparison.verdicts:
                if verdict.outcome == "inconclusive" and verdict.strategy not in comparison.everyone:
                    raise GateFailed(f"inconclusive: {verdict.sentence}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, GateFailed | BenchError):
            return sayable(str(excinfo.value))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


def _verdicts(comparison: Comparison, number: int, names: Sequence[str]) -> list[Verdict]:
    """The verdicts of one gate on some strategies: those that one stands for, at its settings and budgets."""
    from .comparison.judging import judged

    verdicts = iter(comparison.verdicts)
    each = [(rule, name, next(verdicts)) for rule in comparison.rules for name in judged(rule, comparison)]
    return [verdict for rule, name, verdict in each if rule.number == number and name in names]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for found in terminalreporter.stats.values() for report in found]
    told = [item for report in reports for item in getattr(report, "user_properties", ())]
    for name, heading in SECTIONS.items():
        if said := {value for given, value in told if given == name}:
            terminalreporter.section(heading)
            for text in sorted(said):
                terminalreporter.write_line(sayable(text))


# ---------------------------------------------------------------- the fixture


class Measured(float):
    """A value of the fixture. An assertion on it that fails says what was measured and what was dropped, as a gate does."""

    said: tuple[str, ...] = ()

    @classmethod
    def of(cls, value: float, said: Sequence[str]) -> Measured:
        """A value, and the lines that say what it is."""
        found = cls(value)
        found.said = tuple(said)
        return found


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """The lines that pytest prints for `assert bench.loss(…) <= 0.05`; None for other values."""
    if not isinstance(left, Measured) and not isinstance(right, Measured):
        return None
    return [
        f"{left} {op} {right}",
        *(line for side in (left, right) if isinstance(side, Measured) for line in side.said),
    ]


class Bench:
    """The measures of one's own test. Paths of traces and strategies are relative to pytest's root folder.

    A trace is a path (`messages:runs/a.jsonl`; a folder stands for all of its traces) or a Trace; a strategy is a spec string
    (`keep_all`, `mine=summarizer=summarizers.py:summarize`), a Strategy, or a function of one's own, which is a summarizer.
    """

    def __init__(self, base: Path) -> None:
        self._base = base

    def value(self, trace: Traces, strategy: Strategy | str | Callable[..., Any], metric: str) -> Measured:
        """One metric over all of the traces; of one that is only a bound, the end that is worse, which is what a gate judges.

        What was not measured, or only in part, and a strategy that is unstable fail the test with the reason: that is never 0 or 1. A failed
        assertion names what was dropped on the worst case. Raises TraceError for a damaged file: it may have held the case that fails.
        """
        from . import compare
        from .comparison.judging import unstable_on, value_text, why_not
        from .metrics import metric_of
        from .plugins.apart import Limits
        from .reports.words import NAMED, loss_line
        from .strategies.loading import put_together
        from .traces import load

        higher = metric_of(metric).info.better == "higher"
        (built,) = put_together([(None, strategy)], self._base, Limits())
        gate = {
            "metric": metric,
            "strategy": built.name,
            "over": "worst_case",
            **({"min": 1.0} if higher else {"max": 0.0}),
        }
        traces = load([str(trace)], self._base, strict=True).traces if isinstance(trace, str | Path) else trace
        found = compare(traces, [built], base=self._base, gates=[gate])
        row, unstable = found.row(built.name, metric), unstable_on(found, built.name)
        assert row is not None
        value = row.least if higher else row.most
        if value is None or row.partly:
            how = "measured only in part" if row.partly else "not measured"
            pytest.fail(f"{metric} was {how}: {why_not(row)}", pytrace=False)
        if unstable:
            pytest.fail(f"{metric} cannot be judged: {unstable}", pytrace=False)
        verdict = found.verdicts[0]
        said = f"{metric} of {row.strategy} is {value_text(row)}"
        dropped = [loss_line(loss, NAMED) for loss in verdict.losses[:NAMED]]
        if not dropped:
            return Measured.of(value, [said])
        where = f", worst on {verdict.case}" if verdict.case else ""
        return Measured.of(value, [f"{said}{where}:", *(f"  {line}" for line in dropped)])

    def loss(
        self, trace: Traces, strategy: Strategy | str | Callable[..., Any], metric: str = "loss.fact_recall.end"
    ) -> Measured:
        """The share that is lost, 0 to 1: one minus a recall, over all of the traces. Raises SpecError for a metric that is no such share."""
        from .metrics import metric_of

        info = metric_of(metric).info
        if info.unit != "fraction" or info.better != "higher":
            raise SpecError(f"{metric} is no share that is kept — use bench.value(trace, strategy, {metric!r})")
        kept = self.value(trace, strategy, metric)
        return Measured.of(1.0 - kept, kept.said)


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Bench:
    """Measure recorded runs in a test: `assert bench.loss("runs/", my_summarizer) <= 0.05`."""
    return Bench(request.config.rootpath)
