"""Mutants of a Python file: copies of it with one place changed, each named by its function and what was changed there."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_FLAGS = {"lower": "higher", "higher": "lower", "sum": "max", "max": "sum", "pooled": "sum"}
"""What a metric or gate is declared with, and what it is not."""

_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_MODULE = "module"


class Mutant(NamedTuple):
    """A file with one place changed: its name, `PATH FUNCTION: old → new`, the function's own name, the line, and the whole changed source."""

    name: str
    path: str
    function: str
    line: int
    source: str


class _Place(NamedTuple):
    """A node that can be changed: how it is reached from the tree, the function it is in, and what it may become."""

    way: tuple[tuple[str, int | None], ...]
    function: str
    node: ast.AST
    changed: list[ast.AST]


def mutants_of(path: str, source: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its places. Annotations, docstrings, imports and words in messages stay as they are.

    >>> [mutant.name for mutant in mutants_of("a.py", "def f(x: int | None) -> bool:\\n    return x < 1")]
    ['a.py f: return x < 1 → return None', 'a.py f: x < 1 → x <= 1', 'a.py f: x < 1 → x >= 1', 'a.py f: 1 → 2', 'a.py f: 1 → 0']
    """
    tree = ast.parse(source)
    found: list[Mutant] = []
    numbers: Counter[str] = Counter()
    for place in _places(tree, (), ""):
        for new in place.changed:
            name = f"{path} {place.function or _MODULE}: {_short(place.node)} → {_short(new)}"
            numbers[name] += 1
            if numbers[name] > 1:
                name = f"{name} #{numbers[name]}"
            line = getattr(place.node, "lineno", 0) or place.node.target.lineno  # type: ignore[attr-defined]
            found.append(Mutant(name, path, place.function, line, ast.unparse(_with(tree, place.way, new)) + "\n"))
    return found


class Block(NamedTuple):
    """Statements of a function that run one after the other, or one outside functions: its lines, the names in it, and those it makes."""

    path: str
    lines: range
    words: frozenset[str]
    makes: frozenset[str]


def blocks_of(path: str, source: str) -> tuple[list[Block], list[Block]]:
    """The blocks in a file's functions, and the statements outside of them that make a name."""
    tree = ast.parse(source)
    made = [
        [node]
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.ClassDef)
    ]
    found = []
    for body in [*_bodies(tree), *made]:
        words = frozenset(
            str(getattr(node, "id", getattr(node, "attr", getattr(node, "arg", ""))))
            for one in body
            for node in ast.walk(one)
        )
        targets = getattr(body[0], "targets", [getattr(body[0], "target", ast.Name(getattr(body[0], "name", "")))])
        names = frozenset(getattr(node, "id", "") for node in targets)
        first = min(node.lineno for one in body for node in ast.walk(one) if isinstance(node, ast.stmt | ast.expr))
        found.append(Block(path, range(first, (body[-1].end_lineno or 0) + 1), words, names))
    return found[: -len(made) or None], found[len(found) - len(made) :]


def telling(source: str, first: int) -> str:
    """The file with every block in its functions telling `bench_called`, a built-in name, that it runs: by numbers from the first on."""
    tree = ast.parse(source)
    for number, body in enumerate(_bodies(tree), first):
        body[_docstring(body) : _docstring(body)] = ast.parse(f"bench_called({number})").body
    at = 1 + max(
        (at for at, node in enumerate(tree.body) if ast.unparse(node).startswith("from __future__")),
        default=_docstring(tree.body) - 1,
    )
    tree.body[at:at] = ast.parse("import builtins\nbench_called = getattr(builtins, 'bench_called', abs)").body
    return ast.unparse(tree) + "\n"


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    found = {}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in (node for function in functions for node in ast.walk(function) if not isinstance(node, ast.ClassDef)):
        bodies = [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]
        found |= {id(body): body for body in bodies if isinstance(body, list) and body}
    return list(found.values())


def _named(node: ast.AST, inside: str) -> str:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return f"{inside}.{node.name}" if inside else node.name
    return inside


def _docstring(body: list[ast.stmt]) -> int:
    """How many statements of a body are its docstring: 1 or 0."""
    return int(bool(body) and _is_text(body[0]))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _places(node: ast.AST, way: tuple[tuple[str, int | None], ...], function: str) -> Iterator[_Place]:
    """The places of a tree that can be changed, from outside to inside."""
    if _is_text(node) or isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    changed = list(_changed(node))
    if changed:
        yield _Place(way, function, node, changed)
    inside = _named(node, function)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_params", "exc", "msg"):
            continue
        # what stands outside a function's body (decorators, defaults) is run with the module
        where = inside if field == "body" or not isinstance(node, ast.FunctionDef | ast.ClassDef) else function
        if isinstance(value, ast.AST):
            yield from _places(value, (*way, (field, None)), where)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _places(item, (*way, (field, at)), where)


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may become instead."""
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                yield _but(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])
    elif isinstance(node, ast.BoolOp):
        yield _but(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield _but(node, op=_ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield ast.Constant(node.value + 1)
            yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant) and node.value.value in _FLAGS:
        yield _but(node, value=ast.Constant(_FLAGS[node.value.value]))
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield _but(node, value=ast.Constant(None))
    elif isinstance(node, ast.If | ast.IfExp) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
        yield _but(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        for at in range(len(node.ifs)):
            yield _but(node, ifs=[*node.ifs[:at], *node.ifs[at + 1 :]])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield _but(node, func=ast.Name(_CALLS[node.func.id]))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.Break | ast.Continue):
        yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _but(node: Any, **fields: Any) -> Any:
    """A node with some of its fields changed; the rest is shared."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _short(node: ast.AST) -> str:
    """A node on one line, its inside left out where it has any."""
    text = " ".join(ast.unparse(node.test if isinstance(node, ast.If) else node).split())
    return text if len(text) <= 90 else f"{text[:60]}…{text[-29:]}"


def _with(tree: ast.AST, way: tuple[tuple[str, int | None], ...], new: ast.AST) -> Any:
    """The tree with another node at the end of a way: what is on the way is copied, all else shared."""
    if not way:
        return ast.fix_missing_locations(copy.copy(new))
    (field, at), rest = way[0], way[1:]
    value = getattr(tree, field)
    changed = _with(value if at is None else value[at], rest, new)
    made = copy.copy(tree)
    setattr(made, field, changed if at is None else [*value[:at], changed, *value[at + 1 :]])
    return made
