"""Scenarios as pytest tests, one item per scenario.

Every TOML file with traces and strategies is one; a broken one is an error. Under pytest-xdist each
item replays its scenario once. Modules of the bench are imported on use, so that loading the plugin
costs nothing.

Baselines are written, and undecided gates allowed, only where the command line says so: `addopts`
changes nothing. Under `--bench-require-baseline` every scenario below the paths of the command line is
judged after the session, whatever that had collected, deselected or marked.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .model.errors import BenchError, sayable

if TYPE_CHECKING:
    from .model.compared import Compared

_BASELINE = ".baseline.json"
_Code = int | pytest.ExitCode | None
_PACKAGES = ("node_modules", "site-packages")

UPDATE = "--bench-update-baseline"
REQUIRE = "--bench-require-baseline"
UNDECIDED = "--bench-allow-inconclusive"
ITEM = "gates"
"""The name of the item of a scenario."""
ADVICE = "bench_advice"
"""The property of a test whose lines are printed at the end."""

_COMPARED = pytest.StashKey[dict[Path, "Compared | BenchError"]]()


class GateFailed(BenchError):
    """Gates that failed, or could not be decided."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("bench", "gates on recorded agent runs")
    group.addoption(
        UPDATE, action="store_true", help="accept this run's values as the scenarios' baselines"
    )
    group.addoption(
        REQUIRE,
        action="store_true",
        help="judge every scenario; fail without a baseline, or if a part of it is missing",
    )
    group.addoption(
        UNDECIDED, action="store_true", help="pass where a gate could not decide instead of failing"
    )


def _is_asked(config: pytest.Config, option: str) -> bool:
    """True if the command line has a flag, whatever configuration files and other plugins say."""
    return option in config.invocation_params.args


def _is_required(config: pytest.Config) -> bool:
    return _is_asked(config, REQUIRE) or bool(config.getoption("bench_require_baseline"))


# ---------------------------------------------------------------- scenarios as tests


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    if not _is_scenario(file_path):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


def _is_scenario(path: Path) -> bool:
    """True for a TOML file with traces and strategies, and for a missing one that has a
    baseline."""
    from .run.scenario import is_scenario

    return path.suffix == ".toml" and path.name != "pyproject.toml" and is_scenario(path)


class ScenarioFile(pytest.File):
    """One scenario."""

    def collect(self) -> Iterator[pytest.Item]:
        from .run.scenario import read_scenario

        read_scenario(self.path)
        yield ScenarioItem.from_parent(self, name=ITEM)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BenchError):
            return sayable(f"error: {excinfo.value}")
        return super().repr_failure(excinfo)


class ScenarioItem(pytest.Item):
    """A test that a scenario measured something and that all of its gates hold."""

    def runtest(self) -> None:
        compared = judged(self.path, self.config)
        lines = [f"accepted {self.path.stem}{_BASELINE}"] if _is_asked(self.config, UPDATE) else []
        for line in (*_advice(compared), *lines):
            self.user_properties.append((ADVICE, f"{self.path.name}: {line}"))
        if broken := failures(compared, self.config):
            raise GateFailed("\n".join(broken))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BenchError):
            return sayable(str(excinfo.value))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name


def judged(path: Path, config: pytest.Config) -> Compared:
    """The comparison of a scenario, run once per process; with the update flag its baseline is
    written.

    Raises BenchError, each time the same.
    """
    from . import run_scenario
    from .comparison.baseline import score_bytes, score_file_of
    from .files.writing import write_together
    from .run.cache import user_cache
    from .run.scenario import read_scenario

    known = config.stash.setdefault(_COMPARED, {})
    if path not in known:
        accepting = _is_asked(config, UPDATE)
        required = _is_required(config) and not accepting
        try:
            plan = read_scenario(path)
            known[path] = result = run_scenario(
                plan, accepting=accepting, require_baseline=required, cache=user_cache()
            )
            if accepting and plan.baseline_path is not None:
                write_together({plan.baseline_path: score_bytes(score_file_of(result))})
        except BenchError as error:
            known[path] = error
    compared = known[path]
    if isinstance(compared, BenchError):
        raise compared
    return compared


def failures(compared: Compared, config: pytest.Config) -> list[str]:
    """A line on each gate that does not hold, and one if nothing was measured; empty if all
    hold."""
    from .comparison.gates import is_measured
    from .reports.gates import damaged_in_words, gates_in_words

    nothing = [] if is_measured(compared) else ["nothing was measured"]
    if _is_asked(config, UNDECIDED):
        return [*nothing, *gates_in_words(compared, "fail")]
    failed = [*nothing, *gates_in_words(compared, "fail")]
    damaged = damaged_in_words(compared, "" if failed else UNDECIDED)
    return [*failed, *gates_in_words(compared, "undecided"), *filter(None, [damaged])]


def _advice(compared: Compared) -> list[str]:
    """The first line of every output, the notes, and the gates that were not judged."""
    from .reports import first_line
    from .reports.gates import gates_in_words

    return [first_line(compared), *compared.notes, *gates_in_words(compared, "skipped")]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for group in terminalreporter.stats.values() for report in group]
    properties = [item for report in reports for item in getattr(report, "user_properties", ())]
    if lines := {value for name, value in properties if name == ADVICE}:
        terminalreporter.section("bench advice")
        for text in sorted(lines):
            terminalreporter.write_line(sayable(text))


# ---------------------------------------------------------------- every scenario, when required


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, _Code, _Code]:
    """With `--bench-require-baseline` judge every scenario at or below the paths of the command
    line, else of the project, even those that the session did not run.
    """
    code = yield
    succeeded = code in (None, pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if not succeeded or not _is_required(config) or hasattr(config, "workerinput"):
        return code
    asked = config.invocation_params
    arguments = [text for text in config.args if text in asked.args] or [str(config.rootpath)]
    places = [Path(asked.dir, text.partition("::")[0]).resolve() for text in arguments]
    broken: list[str] = []
    required = dict.fromkeys(path for place in places for path in _scenarios(place))
    for path in required:
        try:
            broken += [f"{path}: {line}" for line in failures(judged(path, config), config)]
        except BenchError as error:
            broken.append(f"{path}: {error}")
    if not required:
        broken.append("there is no scenario below the paths of the command line")
    for line in broken:
        config.get_terminal_writer().line(sayable(f"bench: required: {line}"))
    return pytest.ExitCode.TESTS_FAILED if broken else code


def _scenarios(place: Path) -> Iterator[Path]:
    """The scenarios at or below a path.

    Hidden folders and those of packages are left out. A baseline without its scenario counts as
    one.
    """
    if _is_scenario(place):
        yield place
    seen: set[Path] = set()  # by their real names: a link may lead back
    for folder, inside, files in os.walk(place, followlinks=True):
        inside[:] = [
            name for name in inside if not name.startswith((".", "__")) and name not in _PACKAGES
        ]
        inside[:] = [name for name in inside if Path(folder, name).resolve() not in seen]
        seen.update(Path(folder, name).resolve() for name in inside)
        names = {name.replace(_BASELINE, ".toml") for name in files}
        yield from filter(_is_scenario, (Path(folder, name) for name in sorted(names)))
