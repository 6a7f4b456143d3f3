"""The shape of the code: imports point one way, siblings do not know each other, files stay small, importing costs nothing."""

from __future__ import annotations

import ast
import re
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

ROOMS = (
    {"errors", "version"},
    {"model"},
    {"text", "tokens", "plugins", "files"},
    {"traces", "evidence"},
    {"strategies", "scenario"},
    {"replayer", "comparison"},
    {"metrics"},
    {"gates"},
    {"reports"},
    {"case"},
    {"workers"},
    {"pipeline"},
    {""},  # the verbs: bench/__init__.py
    {"cli", "pytest_plugin", "starter", "__main__"},
)
"""The rooms in the order of the flow: a room imports from those before it, and from itself."""

KINDS = {
    "bench.traces",
    "bench.metrics",
    "bench.gates",
    "bench.reports",
    "bench.reports.panels",
    "bench.strategies.summarization",
    "bench.strategies.storage",
    "bench.strategies.evaluation",
    "bench.strategies.routing",
    "bench.strategies.field",
}
"""The packages whose files are found by their folder: one new file there adds one thing."""


DECORATED = re.compile(r"^@(?:register|metric|gate|panel|renderer)\(", re.MULTILINE)
"""What a file that is a plug-in holds."""


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


def room(module: str) -> int:
    """Which room a module stands in, counted along the flow. ValueError for one that is in none."""
    name = f"{module}.".split(".")[1]
    found = [place for place, names in enumerate(ROOMS) if name in names]
    if not found:
        raise ValueError(f"{module} is in no room")
    return found[0]


PLUGINS = sorted(
    module
    for module, path in SOURCES.items()
    if parent(module) in KINDS and module not in PACKAGES and DECORATED.search(path.read_text(encoding="utf-8"))
)


def test_the_imports_are_found():
    assert {"bench.errors", "bench.plugins.spec"} <= IMPORTS["bench.plugins.registry"]
    assert "bench.strategies" in IMPORTS["bench.replayer.loop"]
    assert "bench.pipeline" in IMPORTS["bench"], "imports inside functions count"
    assert len(PLUGINS) > 100
    assert {parent(module) for module in PLUGINS} == KINDS


def test_every_room_has_something_in_it():
    assert {room(module) for module in SOURCES} == set(range(len(ROOMS)))


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports_point_one_way(module):
    wrong = sorted(other for other in IMPORTS[module] if room(other) > room(module))
    assert wrong == [], f"{module} is below what it imports"


def test_no_imports_go_in_a_circle():
    TopologicalSorter(IMPORTS).prepare()


@pytest.mark.parametrize("module", PLUGINS)
def test_plugins_do_not_know_each_other(module):
    found = [other for other in IMPORTS[module] if other in PLUGINS]
    assert found == [], "what two plug-in files share belongs into the __init__ of their package"


@pytest.mark.parametrize("module", [name for name in SOURCES if below(name, "bench.metrics", "bench.evidence")])
def test_metrics_and_evidence_cannot_see_strategies(module):
    hidden = ("bench.strategies", "bench.replayer", "bench.traces")
    assert [other for other in IMPORTS[module] if below(other, *hidden)] == []


@pytest.mark.parametrize("module", [name for name in SOURCES if below(name, "bench.gates", "bench.reports")])
def test_gates_and_reports_do_not_see_runs_being_made(module):
    hidden = ("bench.strategies", "bench.traces", "bench.replayer")
    plugins = [other for other in IMPORTS[module] if below(other, "bench.metrics") and other not in PACKAGES]
    assert [other for other in IMPORTS[module] if below(other, *hidden)] + plugins == []


@pytest.mark.parametrize("module", [name for name in PLUGINS if below(name, "bench.gates", "bench.reports")])
def test_gates_panels_and_renderers_see_only_a_comparison(module):
    """Nor does anything of their room that they lean on; what looks at runs there is asked while the case is measured."""
    seen, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [other for other in IMPORTS[name] if below(other, "bench.gates", "bench.reports")]
    assert sorted(name for name in seen if any(below(other, "bench.evidence") for other in IMPORTS[name])) == []


def outside(module: str) -> list[str]:
    """The top-level packages that a module imports from elsewhere."""
    names: list[str] = []
    for node in ast.walk(ast.parse(SOURCES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return [name.partition(".")[0] for name in names]


@pytest.mark.parametrize(
    ("package", "owner"), [("tiktoken", "bench.tokens.counting"), ("genai_prices", "bench.tokens.prices")]
)
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


def test_nothing_opens_connections():
    online = {"socket", "urllib", "http", "requests", "httpx", "aiohttp"}
    assert [module for module in SOURCES if online & set(outside(module))] == []
