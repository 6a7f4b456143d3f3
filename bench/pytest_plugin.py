"""Scenarios as pytest tests, one item a gate.

`pytest scenarios/` collects every scenario TOML below the folder; `pytest some/where/x.toml` that
one. One that is broken is an error. Under pytest-xdist, `--dist loadfile` replays each scenario
once. Modules of the bench are imported on use, so that loading the plugin costs nothing.

Baselines are written, and undecided gates skipped, only where the command line says so: `addopts`
cannot. Under `--bench-require-baseline` every gate of every scenario below the paths of the command
line must have been judged: one that was deselected, ignored, marked or removed fails the session.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .model.errors import BenchError, ScenarioError, sayable

if TYPE_CHECKING:
    from .model.compared import Compared, GateResult
    from .run.scenario import Scenario

FOLDER = "scenarios"
"""The name of a folder below which, at any depth, scenarios are collected without being named."""

_BASELINE = ".baseline.json"
_WORST_FIRST = ("fail", "undecided", "skipped", "pass")
_Code = int | pytest.ExitCode | None
_PACKAGES = ("node_modules", "site-packages")

UPDATE = "--bench-update-baseline"
REQUIRE = "--bench-require-baseline"
UNDECIDED = "--bench-allow-inconclusive"
ACCEPTED, ADVISED, STANDS = "bench_accepted", "bench_advice", "bench_stands"
MEASURED = "measured something"
"""The name of the first item of each scenario."""

SECTIONS = {ADVISED: "bench advice", ACCEPTED: "bench baselines"}
"""Properties of tests that are printed at the end, each with its heading."""

_COMPARED = pytest.StashKey[dict[Path, "Compared | BenchError"]]()
_REQUIRED = pytest.StashKey["RequiredGates"]()


class GateFailed(Exception):
    """A gate that failed, or could not be decided."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bench", "gates on recorded agent runs")
    group.addoption(
        UPDATE, action="store_true", help="accept this run's values as the scenarios' baselines"
    )
    group.addoption(
        REQUIRE,
        action="store_true",
        help="fail without a baseline, and where a gate was loosened or left out",
    )
    group.addoption(
        UNDECIDED, action="store_true", help="skip gates that cannot decide instead of failing them"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COMPARED] = {}
    for option, name in (
        (UPDATE, "bench_update_baseline"),
        (UNDECIDED, "bench_allow_inconclusive"),
    ):
        if config.getoption(name) and not _is_asked(config, option):
            raise pytest.UsageError(
                f"{option} is taken from the command line alone, not from addopts"
            )
    if _is_required(config) and not hasattr(config, "workerinput"):
        config.stash[_REQUIRED] = RequiredGates(config)
        # Without a name that `-p no:NAME` could block.
        config.pluginmanager.register(config.stash[_REQUIRED])


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, _Code, _Code]:
    """A session that required gates and did not judge them all does not succeed, whatever ended it."""
    code = yield
    if (
        code != pytest.ExitCode.OK
        or not _is_asked(config, REQUIRE)
        or hasattr(config, "workerinput")
    ):
        return code
    missing = config.stash[_REQUIRED].missing if _REQUIRED in config.stash else None
    if missing is None:
        raise pytest.UsageError(f"{REQUIRE}: this session ran no tests, so it judged no gate")
    return pytest.ExitCode.TESTS_FAILED if missing else code


def _is_asked(config: pytest.Config, option: str) -> bool:
    """True if the command line has a flag, whatever configuration files and other plugins say."""
    return option in config.invocation_params.args


def _is_required(config: pytest.Config) -> bool:
    return _is_asked(config, REQUIRE) or bool(config.getoption("bench_require_baseline"))


# ---------------------------------------------------------------- scenarios as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    if file_path.suffix != ".toml" or file_path.name == "pyproject.toml":
        return None
    if not _is_scenario(file_path, parent.config, named=_is_named(file_path, parent.config)):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


def _is_scenario(path: Path, config: pytest.Config, *, named: bool) -> bool:
    """True if a TOML file is to be collected: a scenario that is named, or lies in a folder
    `scenarios`.
    """
    from .run.scenario import is_scenario

    return (named or _is_below(path, config)) and is_scenario(path)


def _is_below(path: Path, config: pytest.Config) -> bool:
    """True if a file lies in a folder `scenarios`: the project's own, or one below that or below
    where pytest was run.
    """
    tops = config.rootpath.parent, config.invocation_params.dir
    return any(
        FOLDER in path.parent.relative_to(top).parts for top in tops if path.is_relative_to(top)
    )


def _is_named(path: Path, config: pytest.Config) -> bool:
    """True if an argument of the command line is this file, or an item in it."""
    return any(
        (config.invocation_params.dir / argument.partition("::")[0]).resolve() == path
        for argument in config.args
    )


class ScenarioFile(pytest.File):
    """One scenario: replayed once, when the first of its items runs."""

    scenario: Scenario

    def collect(self) -> Iterator[pytest.Item]:
        from .run.scenario import read_scenario

        self.scenario = read_scenario(self.path)
        yield MeasuredItem.from_parent(self, name=MEASURED)
        for name, (number, strategy) in _gates(self.scenario, str(self.path)):
            yield GateItem.from_parent(self, name=name, number=number, strategy=strategy)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BenchError):
            return sayable(f"error: {excinfo.value}")
        return super().repr_failure(excinfo)

    def compared(self) -> tuple[Compared, str]:
        """The scenario replayed and judged, and the baseline that was accepted now.

        Raises BenchError, each time the same.
        """
        from . import run_scenario
        from .comparison.baseline import score_bytes, score_file_of
        from .files.writing import write_together
        from .run.kept import kept_here

        known, accepted = self.config.stash[_COMPARED], ""
        if self.path not in known:
            accepting = _is_asked(self.config, UPDATE)
            required = _is_required(self.config) and not accepting
            try:
                result = run_scenario(
                    self.scenario, accepting=accepting, require_baseline=required, kept=kept_here()
                )
                if accepting and self.scenario.baseline_path is not None:
                    write_together(
                        {self.scenario.baseline_path: score_bytes(score_file_of(result))}
                    )
                    accepted = f"accepted {self.scenario.baseline_path.name}"
                known[self.path] = result
            except BenchError as error:
                known[self.path] = error
        compared = known[self.path]
        if isinstance(compared, BenchError):
            raise compared
        return compared, accepted


def _gates(scenario: Scenario, where: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Each gate on each strategy of a scenario: a name of its own, the number of the gate, the
    strategy.

    A gate that names nobody keeps its name.
    """
    taken: dict[str, int] = {}
    from .comparison.gate_rules import parse_rule
    from .metrics import metric_infos
    from .strategies.portfolio import REFERENCES

    for number, table in enumerate(scenario.gates, 1):
        rule = parse_rule(table, f"{where}: gates[{number}]", metric_infos(), number)
        limits = " ".join(f"{name}={value}" for name, value in rule.settings.items())
        limit = f"{rule.metric} {limits}" + (" worst_run" if rule.over == "worst_run" else "")
        names = [name for name in scenario.strategies if fnmatchcase(name, rule.strategy)]
        around = [name for name in REFERENCES if fnmatchcase(name, rule.strategy)]
        for strategy in names or around or [rule.strategy]:
            name = f"{strategy}[{limit}]"
            taken[name] = taken.get(name, 0) + 1
            yield name if taken[name] == 1 else f"{name} ({taken[name]})", (number, strategy)


class ScenarioItem(pytest.Item):
    """One question to a scenario that was replayed."""

    def compared(self) -> Compared:
        """The scenario replayed and judged."""
        parent = self.parent
        if not isinstance(parent, ScenarioFile):
            raise ScenarioError(f"{self.name}: not collected from a scenario file")
        compared, accepted = parent.compared()
        if accepted:
            self.user_properties.append((ACCEPTED, accepted))
        return compared

    def judge(self, compared: Compared, gates: Sequence[GateResult]) -> str:
        """Fail for the worst of some gates; a line on one that was not judged, `""` where all were."""
        from .reports.gates import gate_in_words
        from .reports.reading import Reading

        failing = ("fail",) if _is_asked(self.config, UNDECIDED) else ("fail", "undecided")
        if not any(gate.outcome in failing for gate in gates):
            self.user_properties.append((STANDS, _key(self.path, self.name)))
        for gate in sorted(gates, key=lambda gate: _WORST_FIRST.index(gate.outcome)):
            text = f"{gate.outcome}: {gate_in_words(Reading(compared), gate)}"
            if gate.outcome in failing:
                raise GateFailed(text)
            if gate.outcome != "pass":
                return text
        return ""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, GateFailed | BenchError):
            return sayable(str(excinfo.value))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class MeasuredItem(ScenarioItem):
    """A test that the scenario measured anything, and that no gate of its baseline was loosened."""

    def runtest(self) -> None:
        from .comparison.gates import is_measured
        from .reports import first_line

        compared = self.compared()
        for line in (first_line(compared), *compared.notes):
            self.user_properties.append((ADVISED, f"{self.path.name}: {line}"))
        if not is_measured(compared):
            raise GateFailed("nothing was measured")
        self.judge(compared, [gate for gate in compared.gates if gate.rule.number == 0])


class GateItem(ScenarioItem):
    """One gate on one strategy; one that is swept has a result for each setting."""

    def __init__(self, *, number: int, strategy: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.number, self.strategy = number, strategy

    def runtest(self) -> None:
        compared = self.compared()
        gates = [gate for gate in compared.gates if gate.rule.number == self.number]
        gates = [gate for gate in gates if _is_of(gate.strategy, self.strategy)]
        if not gates:
            raise GateFailed(f"no gate was judged on {self.strategy}")
        if unjudged := self.judge(compared, gates):
            pytest.skip(unjudged)


def _is_of(name: str, declared: str) -> bool:
    """True if a strategy is the declared one, one of its settings, or matches its pattern."""
    return fnmatchcase(name, declared) or name.startswith(f"{declared}-")


# ---------------------------------------------------------------- the end of a session


class RequiredGates:
    """Fails a session that left out a gate, under `--bench-require-baseline`."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        asked = config.invocation_params
        arguments = [text for text in config.args if text in asked.args] or [str(config.rootpath)]
        self.places = [Path(asked.dir, text.partition("::")[0]).resolve() for text in arguments]
        self.stands: set[str] = set()
        self.missing: list[str] | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the gates that stand, whichever process judged them."""
        self.stands.update(str(value) for name, value in report.user_properties if name == STANDS)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Compare them with the gates of the scenarios that are there."""
        if self.config.option.collectonly:
            return
        self.missing = sorted(self._wanted() - self.stands)
        if self.missing:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Name the gates that were not judged or do not hold."""
        if self.missing:
            terminalreporter.section("bench: required gates that failed or were left out")
            for text in self.missing:
                terminalreporter.write_line(sayable(text))

    def _wanted(self) -> set[str]:
        """The items of every scenario below the paths that pytest was given."""
        from .run.scenario import read_scenario

        wanted: set[str] = set()
        for path in [path for place in self.places for path in _scenarios(place, self.config)]:
            try:
                gates = dict(_gates(read_scenario(path), str(path)))
                wanted |= {_key(path, name) for name in (MEASURED, *gates)}
            except BenchError as error:
                wanted.add(f"{path}: {error}")
        return wanted


def _scenarios(place: Path, config: pytest.Config) -> Iterator[Path]:
    """The scenarios at or below a path.

    Hidden folders and those of packages are left out. A baseline without its scenario counts as
    one.
    """
    if place.suffix == ".toml" and _is_scenario(place, config, named=True):
        yield place
    seen: set[Path] = set()  # by their real names: a link may lead back
    for folder, inside, files in os.walk(place, followlinks=True):
        inside[:] = [
            name for name in inside if not name.startswith((".", "__")) and name not in _PACKAGES
        ]
        inside[:] = [name for name in inside if Path(folder, name).resolve() not in seen]
        seen.update(Path(folder, name).resolve() for name in inside)
        names = {name for name in files if name.endswith(".toml")} - {"pyproject.toml"}
        names |= {
            f"{name.removesuffix(_BASELINE)}.toml" for name in files if name.endswith(_BASELINE)
        }
        for path in (Path(folder, name) for name in sorted(names)):
            if _is_scenario(path, config, named=False):
                yield path


def _key(path: Path, name: str) -> str:
    return f"{path}::{name}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for group in terminalreporter.stats.values() for report in group]
    properties = [item for report in reports for item in getattr(report, "user_properties", ())]
    for name, heading in SECTIONS.items():
        if lines := {value for given, value in properties if given == name}:
            terminalreporter.section(heading)
            for text in sorted(lines):
                terminalreporter.write_line(sayable(text))
