"""The mutants that `benchmarks/mutants.py` tries: each is another program in one place, and what is explained of them is still there."""

from __future__ import annotations

import ast
import builtins
import importlib
import os
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIVING = """
from functools import cache
LIMIT = 3
def plain(given):
    return [item for item in given if item < 3]
class Kept:
    @property
    def size(self):
        return 1
    @size.setter
    def size(self, new):
        self.new = new + 1
@cache
def cached(given):
    return given + 1
def maker(more):
    def made(given):
        return given + more + 1
    return made
made = maker(1)
"""
FILES = ("metrics/needed.py", "comparison/sure.py", "comparison/gates/limits.py", "evidence/pricing.py")


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


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_mutant_of_the_judging_code_is_another_program_with_a_name_of_its_own(mutations, name):
    path = f"bench/{name}"
    source = (ROOT / path).read_text()
    plain = ast.unparse(ast.parse(source)) + "\n"
    found = mutations.mutants_of(path, source)
    assert len({mutant.name for mutant in found}) == len(found)
    assert plain not in {mutant.source for mutant in found}
    blocks, _ = mutations.blocks_of(path, source)
    told = mutations.telling(source, 7)
    compile(told, path, "exec")
    assert [told.count(f"bench_called({number})") for number in range(7, 8 + len(blocks))] == [1] * len(blocks) + [0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "asked", "before", "after"),
    [
        ("item < 3", "item <= 3", "plain([2, 3])", [2], [2, 3]),
        (" if item < 3", "", "plain([2, 3])", [2], [2, 3]),
        ("return 1", "return 2", "Kept().size", 1, 2),
        ("given + 1", "given + 5", "cached(1)", 2, 6),
        ("given + more", "given - more", "maker(1)(3)", 5, None),
        ("LIMIT = 3", "LIMIT = 4", "LIMIT", 3, None),
        ("maker(1)", "maker(2)", "made(1)", 3, None),
        ("    return [", "    more = 1\n    return [", "plain([2])", [2], [2]),
    ],
)
def test_a_living_function_takes_changed_code_and_what_stands_outside_of_one_does_not(
    monkeypatch, tmp_path, old, new, asked, before, after
):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    swapped, path = importlib.import_module("swapped"), tmp_path / "living.py"
    names = {}
    exec(compile(LIVING, str(path), "exec"), names)
    assert eval(asked, names) == before
    if "cached" in asked:
        names["cached"].cache_clear()
    done = swapped.swap(swapped.living(str(tmp_path)), str(path), LIVING, LIVING.replace(old, new))
    assert done is (after is not None)
    assert eval(asked, names) == (after if done else before)


def test_a_function_that_was_made_before_is_not_half_changed(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    swapped, names = importlib.import_module("swapped"), {}
    path = str(tmp_path / "living.py")
    exec(compile(LIVING, path, "exec"), names)
    assert not swapped.swap(swapped.living(str(tmp_path)), path, LIVING, LIVING.replace("more + 1", "more + 2"))
    assert names["made"](1) == 3


@pytest.mark.slow
def test_what_is_explained_is_still_a_mutant_and_has_a_reason(mutations):
    tables = tomllib.loads((ROOT / "benchmarks" / "equivalents.toml").read_text())
    names: dict[str, set[str]] = {}
    for path in {place.partition(" ")[0] for place in tables}:
        names[path] = {mutant.name for mutant in mutations.mutants_of(path, (ROOT / path).read_text())}
    for place, changes in tables.items():
        path = place.partition(" ")[0]
        for change, why in changes.items():
            assert f"{place}: {change}" in names[path]
            assert len(why) > 20


def test_the_blocks_that_a_test_ran_are_noted_anew_for_each_and_from_other_processes_too(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    called = importlib.import_module("called").Called(str(tmp_path / "called.txt"))
    told = "from __future__ import annotations\ndef f(x):\n    'about'\n    if x:\n        return 1\n    else:\n        return 2\n"
    names = {}
    monkeypatch.setattr(builtins, "bench_called", called.add, raising=False)
    exec(importlib.import_module("mutations").telling(told, 3), names)
    assert names["f"](0) == 2
    assert called.mask() == 0b101000
    called.clear()
    assert called.mask() == 0
    child = os.fork()
    if child == 0:
        names["f"](1)
        os._exit(0)
    os.waitpid(child, 0)
    called.add(0)
    assert called.mask() == 0b11001
    os.close(called._file)
