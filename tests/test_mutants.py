"""The mutants that `benchmarks/mutants.py` tries: each is another program in one place, and what is explained of them is still there."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = ("metrics/needed.py", "comparison/pairs.py", "gates/limits.py", "evidence/pricing.py")


@pytest.fixture
def mutations(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield __import__("mutations")
    sys.modules.pop("mutations", None)


@pytest.mark.parametrize(
    ("line", "mutants"),
    [
        ("x = a < b", ["a <= b", "a >= b"]),
        ("x = a is not b", ["a is b"]),
        ("x = a and b", ["a or b"]),
        ("x = a - b", ["a + b"]),
        ("x = 3", ["4", "2"]),
        ("x = True", ["False"]),
        ("x = not a", ["a"]),
        ("x = [a for a in b if a]", ["for a in b"]),
        ("x = 1 if a else 0", ["1 if not a else 0", "2", "0", "1", "-1"]),
        ("x = min(a)", ["max(a)"]),
        ("a.append(b)", ["pass"]),
        ("m(better='lower', unit='usd')", ["pass", "better='higher'"]),
        ("m(aggregate='pooled')", ["pass", "aggregate='sum'"]),
        ("x: int | None = a", []),
        ("from a import b", []),
        ("'a text'", []),
        ("raise E('a text', 1)", []),
        ("x = f'{a + 1}'", []),
    ],
)
def test_what_a_line_may_become(mutations, line, mutants):
    found = mutations.mutants_of("a.py", line + "\n")
    assert [mutant.name.partition(" → ")[2].partition(" #")[0].strip() for mutant in found] == mutants
    assert all(ast.unparse(ast.parse(mutant.source)) != ast.unparse(ast.parse(line)) for mutant in found)


@pytest.mark.parametrize("name", FILES)
def test_every_mutant_of_the_judging_code_is_another_program_with_a_name_of_its_own(mutations, name):
    path = f"bench/{name}"
    source = (ROOT / path).read_text()
    plain = ast.unparse(ast.parse(source)) + "\n"
    found = mutations.mutants_of(path, source)
    assert len({mutant.name for mutant in found}) == len(found)
    assert plain not in {mutant.source for mutant in found}
    compile(mutations.telling_calls(path, source), path, "exec")


def test_what_is_explained_is_still_a_mutant_and_has_a_reason(mutations):
    tables = tomllib.loads((ROOT / "benchmarks" / "equivalents.toml").read_text())
    for place, changes in tables.items():
        path = place.partition(" ")[0]
        names = {mutant.name for mutant in mutations.mutants_of(path, (ROOT / path).read_text())}
        for change, why in changes.items():
            assert f"{place}: {change}" in names
            assert len(why) > 20
