"""The shape of the code: imports point one way, siblings do not know each other, files stay small, importing costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = 400
GRAB_BAGS = {"utils", "util", "helpers", "helper", "common", "misc", "stuff"}
HEAVY = {"pandas", "numpy", "deepdiff", "altair", "vl_convert", "genai_prices", "jinja2", "tiktoken", "rich.progress",
         "rich", "sqlite3", "pyarrow", "pytest"}  # fmt: skip

CORE = ("bench.facts", "bench.reading", "bench.drawing")  # shared by plug-in files, which do not know each other
JUDGING = {"bench.scenario", "bench.results", "bench.scores", "bench.comparison"}
RUNNING = {"bench.budgets", "bench.prompts", "bench.replayer", "bench.baselines", "bench.earlier"}
COMMAND_LINE = {"bench.cli", "bench.pytest_plugin", "bench.__main__", "bench.starter"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {name_of(path): path for path in sorted((ROOT / "bench").rglob("*.py")) if "templates" not in path.parts}
PACKAGES = {name for name, path in SOURCES.items() if path.name == "__init__.py"}


def parent(module: str) -> str:
    return module.rpartition(".")[0]


def imports_of(module: str) -> set[str]:
    """Every module of the bench that a module imports, at its top or inside its functions; not those for the type checker alone."""
    found: set[str] = set()
    package = module if module in PACKAGES else parent(module)
    tree = ast.parse(SOURCES[module].read_text(encoding="utf-8"))
    checker_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in checker_only:
            continue
        if isinstance(node, ast.ImportFrom):
            start = package.split(".")
            base = ".".join(start[: len(start) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            found |= {f"{source}.{item.name}" if f"{source}.{item.name}" in SOURCES else source for item in node.names}
        elif isinstance(node, ast.Import):
            found |= {item.name for item in node.names}
    return {item for item in found if item in SOURCES} - {module}


IMPORTS = {module: imports_of(module) for module in SOURCES}


def below(module: str, *packages: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in packages)


def layer(module: str) -> int:
    """How far down the flow a module stands; imports go from a higher layer to a lower one, or stay in theirs."""
    if module == "bench.errors":
        return 0
    if below(module, "bench.model"):
        return 1
    if below(module, *CORE):
        return 2
    if module == "bench":
        return 7
    if any(module == name or module.startswith(f"{name}.") for name in COMMAND_LINE):
        return 8
    if module in RUNNING:
        return 5
    if module in PACKAGES:
        return 4
    if parent(module) != "bench":
        return 6  # a plug-in file
    return 3 if module in JUDGING else 2


PLUGINS = sorted(module for module in SOURCES if layer(module) == 6)


def test_the_imports_are_found():
    assert {"bench.errors", "bench.spec"} <= IMPORTS["bench.plugins.registry"]
    assert "bench.strategies" in IMPORTS["bench.replayer"]
    assert "bench.replayer" in IMPORTS["bench"], "imports inside functions count"
    assert len(PLUGINS) > 30


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports_point_one_way(module):
    wrong = sorted(other for other in IMPORTS[module] if layer(other) > layer(module))
    assert wrong == [], f"{module} is below what it imports"


def test_no_imports_go_in_a_circle():
    TopologicalSorter(IMPORTS).prepare()


@pytest.mark.parametrize("module", PLUGINS)
def test_siblings_do_not_know_each_other(module):
    siblings = {other for other in IMPORTS[module] if parent(other) == parent(module) and other not in PACKAGES}
    assert siblings == set(), f"what two files of {parent(module)} share belongs into its __init__"


@pytest.mark.parametrize("module", PLUGINS)
def test_plugins_of_one_kind_do_not_know_plugins_of_another(module):
    assert [other for other in IMPORTS[module] if other in PLUGINS] == []


@pytest.mark.parametrize("module", [name for name in SOURCES if below(name, "bench.metrics")])
def test_metrics_cannot_see_strategies(module):
    assert [
        other for other in IMPORTS[module] if below(other, "bench.strategies", "bench.replayer", "bench.traces")
    ] == []


@pytest.mark.parametrize("module", [name for name in SOURCES if below(name, "bench.gates", "bench.reports")])
def test_gates_and_reports_see_only_a_comparison(module):
    hidden = ("bench.strategies", "bench.traces", "bench.replayer", "bench.prompts")
    plugins = [other for other in IMPORTS[module] if below(other, "bench.metrics") and other not in PACKAGES]
    assert [other for other in IMPORTS[module] if below(other, *hidden)] + plugins == []


def outside(module: str) -> list[str]:
    """The top-level packages that a module imports from elsewhere."""
    names: list[str] = []
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return [name.partition(".")[0] for name in names]


@pytest.mark.parametrize(("package", "owner"), [("tiktoken", "bench.tokens"), ("genai_prices", "bench.prices")])
def test_one_module_counts_tokens_and_one_knows_prices(package, owner):
    assert [module for module in SOURCES if package in outside(module)] == [owner]


PYTHON_FILES = sorted(
    path
    for folder in ("bench", "tests", "traces", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)


def test_no_file_is_long():
    counted = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PYTHON_FILES}
    assert {str(path.relative_to(ROOT)): lines for path, lines in counted.items() if lines > LINES} == {}


def test_no_file_or_folder_is_a_grab_bag():
    names = {part for path in PYTHON_FILES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names & GRAB_BAGS == set()


def test_nothing_is_left_for_later():
    marks = ["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error", "mark." + "skip", "mark." + "xfail"]
    found = [
        f"{path.relative_to(ROOT)}: {mark}"
        for path in PYTHON_FILES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert found == []


@pytest.mark.parametrize("module", ["bench", "bench.cli"])
def test_importing_costs_nothing(module):
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert module in loaded
    assert loaded & HEAVY == set()


def test_only_recording_opens_connections():
    online = {"socket", "urllib", "http", "requests", "httpx", "aiohttp"}
    found = [module for module in SOURCES if online & set(outside(module))]
    assert [module for module in found if not below(module, "bench.recording")] == []
