"""The shape of the code: rooms import one way, plug-in files do not know each other, nothing is kept where nobody looks, files stay small."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

from bench.plugins.registry import KINDS, entries

ROOT = Path(__file__).parents[2]
LINES = 400
GRAB_BAGS = {"utils", "util", "helpers", "helper", "common", "misc", "stuff"}
HEAVY = {"pandas", "numpy", "deepdiff", "genai_prices", "jinja2", "tiktoken", "rich.progress",
         "rich", "sqlite3", "pyarrow", "pytest"}  # fmt: skip

PROCESS_WIDE = {
    "bench.model.base._defaults",  # the fields of a type
    "bench.plugins.how_to._lines",  # a file of the package
    "bench.plugins.own_code.load_file",
    "bench.plugins.registry._scan",
    "bench.plugins.registry.installed",
    "bench.reports.html._environment",
    "bench.run.cache.code_sha256",  # the bench's own files
    "bench.run.cache.outside",  # the plug-ins that are installed
    "bench.run.cluster._plan",  # what a worker of a cluster was sent
    "bench.text.facts._scan",  # the facts of a short word, the same in every trace
    "bench.text.facts.number_value",
    "bench.tokens.counting._encoding",
    "bench.tokens.prices._find",
    "bench.tokens.prices.unit_prices",
}
"""What a process computes once, because it belongs to no trace: vocabularies, price tables, what is registered."""


def _drawing() -> ModuleType:
    """The script that draws the imports knows them: there is one reading of them."""
    spec = importlib.util.spec_from_file_location("draw_imports", ROOT / "docs" / "draw_imports.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


draw = _drawing()
SOURCES: dict[str, Path] = draw.SOURCES
ROOMS = [room for level in draw.LEVELS for room in level]
LEVEL = {room: number for number, level in enumerate(draw.LEVELS) for room in level}


@cache
def imports() -> dict[str, frozenset[str]]:
    """Every module with the modules that it imports, for the type checker alone included."""
    return {module: draw.imports_of(module, checker=True) for module in SOURCES}


PLUGINS = {entry.target.__module__ for kind in KINDS for entry in entries(kind).values()} & SOURCES.keys()
"""Every file that registers something."""


def below(module: str, *packages: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in packages)


# ---------------------------------------------------------------- imports


def test_the_imports_are_found() -> None:
    assert {"bench.model.errors", "bench.plugins.spec"} <= imports()["bench.plugins.registry"]
    assert "bench.strategies" in imports()["bench.replayer.loop"]
    assert "bench.run.verbs" in imports()["bench"], "imports inside functions count"
    assert len(PLUGINS) > 60


def test_every_room_has_its_level() -> None:
    assert {draw.room_of(module) for module in SOURCES} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room: str) -> None:
    wrong = {
        f"{module} imports {other}"
        for module in SOURCES
        if draw.room_of(module) == room
        for other in imports()[module]
        if draw.room_of(other) != room and LEVEL[draw.room_of(other)] >= LEVEL[room]
    }
    assert wrong == set()


def test_an_import_that_points_up_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(imports(), "bench.text.facts", {"bench.evidence.of_trace"})
    with pytest.raises(AssertionError):
        test_imports_point_one_way("text")
    monkeypatch.setitem(imports(), "bench.text.facts", {"bench.tokens.counting"})
    with pytest.raises(AssertionError):
        test_imports_point_one_way("text")


def test_no_imports_go_in_a_circle() -> None:
    TopologicalSorter(imports()).prepare()


def test_plugin_files_do_not_know_each_other() -> None:
    known = {module: sorted(imports()[module] & PLUGINS) for module in PLUGINS}
    assert {module: others for module, others in known.items() if others} == {}, (
        "what two plug-in files share belongs into the __init__ of their package"
    )


def seen_by(modules: list[str], *within: str) -> dict[str, set[str]]:
    """What modules import, directly or through other modules of these rooms, by the module that imports it."""
    found: dict[str, set[str]] = {}
    waiting, done = list(modules), set(modules)
    while waiting:
        module = waiting.pop()
        found[module] = imports()[module]
        more = {other for other in imports()[module] if draw.room_of(other) in within} - done
        waiting += more
        done |= more
    return found


def rooms_seen(modules: list[str], *within: str) -> set[str]:
    return {draw.room_of(other) for others in seen_by(modules, *within).values() for other in others}


def test_metrics_cannot_see_strategies() -> None:
    metrics = [module for module in SOURCES if below(module, "bench.metrics")]
    assert rooms_seen(metrics) & {"strategies", "replayer", "traces", "files", "scenario"} == set()


def test_gates_and_panels_see_only_a_comparison() -> None:
    hidden = {"evidence", "traces", "strategies", "replayer", "scenario", "case"}
    gates = [module for module in SOURCES if below(module, "bench.comparison.judging")]
    panels = [module for module in SOURCES if below(module, "bench.reports.panels")]
    renderers = sorted({entry.target.__module__ for entry in entries("renderer").values()} & SOURCES.keys())
    for modules in (gates, panels, renderers):
        assert rooms_seen(modules, "gates", "reports") & hidden == set()


def outside(module: str) -> list[str]:
    """The top-level packages that a module imports from elsewhere."""
    names: list[str] = []
    for node in draw.nodes_of(module):
        if isinstance(node, ast.Import):
            names += [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
    return [name.partition(".")[0] for name in names if name != "urllib.parse"]  # which reads text, and opens nothing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "owner"), [("tiktoken", "bench.tokens.counting"), ("genai_prices", "bench.tokens.prices")]
)
def test_one_module_counts_tokens_and_one_knows_prices(package: str, owner: str) -> None:
    assert [module for module in SOURCES if package in outside(module)] == [owner]


@pytest.mark.slow
def test_nothing_opens_connections() -> None:
    online = {"socket", "urllib", "http", "requests", "httpx", "aiohttp"}
    found = [module for module in SOURCES if online & set(outside(module))]
    listening = (
        "bench.plugins.apart",
        "bench.plugins.worker",
        "bench.plugins.child",
    )  # both to a child: neither opens a connection
    assert [module for module in found if not below(module, *listening)] == []


@pytest.mark.parametrize("module", ["bench", "bench.cli"])
def test_importing_costs_nothing(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert module in loaded
    assert loaded & HEAVY == set()


@pytest.mark.slow
def test_the_drawing_is_that_of_today() -> None:
    page = (ROOT / "docs" / "contributing" / "architecture.md").read_text(encoding="utf-8")
    assert draw.drawn(page) == page, "python docs/draw_imports.py"
    graph = draw.rooms()
    arrows = {tuple(line.split(" --> ")) for line in draw.drawing().splitlines() if "-->" in line}
    reached: dict[str, set[str]] = {}
    for room in ROOMS:  # those that import nothing first
        name = room.strip("_")
        near = {other.strip() for one, other in arrows if one.strip() == name}
        reached[room] = near.union(*(reached[other] for other in near))
        assert reached[room] >= graph[room], "every import has an arrow, or a way of arrows"


# ---------------------------------------------------------------- nothing is kept where nobody looks


def caches() -> Iterator[str]:
    """Every use of functools.cache and functools.lru_cache, by the module-level function that it is on; elsewhere, by module and line."""
    for module in SOURCES:
        tree = draw.tree_of(module)
        inside = {
            id(part): f"{module}.{node.name}"
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            for mark in node.decorator_list
            for part in ast.walk(mark)
        }
        named = {
            item.asname or item.name
            for node in draw.nodes_of(module)
            if isinstance(node, ast.ImportFrom) and node.module == "functools"
            for item in node.names
        }
        for node in draw.nodes_of(module):
            of_functools = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "functools"
            name = node.attr if of_functools else node.id if isinstance(node, ast.Name) and node.id in named else ""
            if name in ("cache", "lru_cache"):
                yield inside.get(id(node), f"{module}:{getattr(node, 'lineno', 0)}")


@pytest.mark.slow
def test_only_what_belongs_to_the_process_is_cached_for_it() -> None:
    assert set(caches()) == PROCESS_WIDE


def test_no_value_keeps_anything_behind_its_fields() -> None:
    marks = ("__dict__", "object.__setattr__", "force_setattr", "setattr(")
    found = [
        f"{module}: {mark}"
        for module, path in SOURCES.items()
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
        if module != "bench.model.comparison"  # it turns the cases and rows that it is given into its own kind
    ]
    assert found == []


def test_references_share_no_code_with_what_they_check() -> None:
    """They import values of the model, and each other; nothing else of the bench, and nothing of the tests that use them."""
    folder = ROOT / "tests" / "reference"
    own = {path.stem for path in (ROOT / "tests").glob("*.py")}
    checked = 0
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [item.name for item in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                names = ["dynamic"]
            for name in names:
                assert name != "dynamic", f"{path.name}: imports by name"
                assert name.partition(".")[0] not in own, f"{path.name} imports {name}"
                assert not name.startswith("bench") or name == "bench.model", f"{path.name} imports {name}"
                checked += name == "bench.model"
    assert checked > 5


# ---------------------------------------------------------------- files

PYTHON_FILES = sorted(
    path
    for folder in ("bench", "tests", "traces", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)


def test_no_file_is_long() -> None:
    counted = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PYTHON_FILES}
    assert {str(path.relative_to(ROOT)): lines for path, lines in counted.items() if lines > LINES} == {}


def test_no_file_or_folder_is_a_grab_bag() -> None:
    names = {part for path in PYTHON_FILES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names & GRAB_BAGS == set()


def test_nothing_is_left_for_later() -> None:
    marks = ["TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error", "mark." + "skip", "mark." + "xfail"]
    found = [
        f"{path.relative_to(ROOT)}: {mark}"
        for path in PYTHON_FILES
        for mark in marks
        if mark in path.read_text(encoding="utf-8")
    ]
    assert found == []


def test_the_package_and_its_metadata_have_one_version() -> None:
    import bench

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == bench.__version__


def test_one_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for module in SOURCES:
        for node in draw.nodes_of(module):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_a_docstring_says_what_a_thing_does_or_is() -> None:
    questions = re.compile(r"(What|Whether|How|Which|Where|Who|Whose|When)\b(?!&)")
    asking = [
        f"{module}:{node.lineno}"
        for module in SOURCES
        for node in draw.nodes_of(module)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if questions.match(node.value.value.lstrip())
    ]
    assert asking == [], "begin with a noun or an imperative: 'Return …', 'True if …', 'The share of …'"
