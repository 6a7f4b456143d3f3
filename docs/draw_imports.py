"""Draws which room of the bench imports which, into docs/contributing/architecture.md: `python docs/draw_imports.py`, or `make docs`.

A room is a folder of `bench/`, or a file beside them. An import that a way of other imports implies is left out. `lint-imports` holds the rooms to
their order (contracts in pyproject.toml).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "contributing" / "architecture.md"
START, END = "<!-- drawn by docs/draw_imports.py -->", "<!-- end of the drawing -->"

LEVELS = (
    ("version",),
    ("model",),
    ("files", "text"),
    ("plugins", "tokens"),
    ("traces",),
    ("traces/formats", "evidence"),
    ("evidence/checks", "strategies"),
    ("strategies/documents", "strategies/policies"),
    ("replayer",),
    ("metrics",),
    ("comparison",),
    ("reports",),
    ("reports/panels",),
    ("run",),
    ("bench",),
    ("cli", "pytest_plugin"),
    ("__main__",),
)
"""Every room, those that import nothing first. A room imports rooms of earlier levels and itself; `bench` is the package's own file, the verbs."""


def name_of(path: Path) -> str:
    """The module that a file is."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {
    name_of(path): path
    for path in sorted((ROOT / "bench").rglob("*.py"))
    if "starter" not in path.parts
}
"""Every module of the bench, with its file."""


def room_of(module: str) -> str:
    """The room that a module is in: its folder below `bench/`; a file at the top is a room of its own.

    >>> room_of("bench.traces.formats.native"), room_of("bench.traces"), room_of("bench.version")
    ('traces/formats', 'traces', 'version')
    """
    if module == "bench":
        return module
    parts = module.split(".")[1:]
    folder = parts if SOURCES[module].name == "__init__.py" else parts[:-1]
    return "/".join(folder) or parts[0]


@cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(SOURCES[module].read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    """Every node of a module's syntax tree."""
    return tuple(ast.walk(tree_of(module)))


@cache
def imports_of(module: str, *, checker: bool = False) -> frozenset[str]:
    """Every module of the bench that a module imports, at its top or inside its functions; with `checker` also those for the type checker alone."""
    package = module if SOURCES[module].name == "__init__.py" else module.rpartition(".")[0]
    imports = [node for node in nodes_of(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    if not checker:
        tests = [node for node in nodes_of(module) if isinstance(node, ast.If)]
        checked = {
            id(inner)
            for node in tests
            if ast.unparse(node.test).endswith("TYPE_CHECKING")
            for inner in ast.walk(node)
        }
        imports = [node for node in imports if id(node) not in checked]
    return frozenset(
        item for node in imports for item in _named(node, package) if item in SOURCES
    ) - {module}


def _named(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """The modules that one statement imports, a module before a name in it."""
    if isinstance(node, ast.Import):
        yield from (item.name for item in node.names)
    else:
        start = package.split(".")
        base = ".".join(start[: len(start) - node.level + 1]) if node.level else ""
        source = ".".join(filter(None, (base, node.module)))
        for item in node.names:
            yield f"{source}.{item.name}" if f"{source}.{item.name}" in SOURCES else source


def rooms() -> dict[str, set[str]]:
    """Each room with the other rooms that it imports."""
    found: dict[str, set[str]] = {room: set() for level in LEVELS for room in level}
    for module in SOURCES:
        room = room_of(module)
        found.setdefault(room, set()).update(map(room_of, imports_of(module)))
    return {room: others - {room} for room, others in found.items()}


def reached(room: str, graph: dict[str, set[str]]) -> set[str]:
    """Every room that a room imports, directly or through others."""
    found: set[str] = set()
    waiting = [room]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def drawing() -> str:
    """The rooms as a Mermaid graph: an arrow for each import that is not implied by two or more others."""
    graph = rooms()
    lines = [
        "```mermaid",
        "flowchart TD",
        '  bench["bench/__init__.py"]',
        '  main["bench/__main__.py"]',
    ]
    for room in [name for level in reversed(LEVELS) for name in level]:
        implied = {far for near in graph[room] for far in reached(near, graph)}
        lines += [f"  {room.strip('_')} --> {other}" for other in sorted(graph[room] - implied)]
    return "\n".join([*lines, "```"])


def drawn(page: str) -> str:
    """The page with the drawing of today between its marks."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise SystemExit(
            f"{PAGE}: the marks {START!r} and {END!r} are missing — put them where the drawing belongs"
        )
    return f"{before}{START}\n\n{drawing()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(drawing())
    else:
        PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
