"""The pages say what the code does: generated ones are not older than it, and every example in them runs."""

from __future__ import annotations

import ast
import doctest
import json
import re
import sys
import types
from pathlib import Path

import pytest
from handmade import opened, result, run_of

from bench.model import GateRule
from bench.plugins import registry
from bench.plugins.registry import KINDS, entries
from bench.scenario import read_scenario
from bench.traces import load
from bench.traces.native import encode_trace

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import generate  # noqa: E402

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "traces").glob("*.md")]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of one language in a page."""
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("name", generate.PAGES)
def test_a_generated_page_is_not_older_than_the_code(name):
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == generate.PAGES[name](), f"docs/{name} is old: run `make docs`"


def test_every_plugin_is_on_the_page_with_its_first_sentence():
    page = generate.plugins_page()
    for kind in KINDS:
        for entry in entries(kind).values():
            assert f"| `{entry.name}` |" in page
            assert generate.cell(generate.first_sentence(entry.doc)) in page
            for parameter in entry.parameters:
                assert f"`{parameter.name}" in page


def test_the_helpers_of_the_generator():
    assert doctest.testmod(generate).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_named_make_targets_exist(page):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named - targets == set()


# ---------------------------------------------------------------- CONTRIBUTING.md


def test_the_example_of_contributing_is_a_whole_plugin(monkeypatch):
    entries("summarizer")
    monkeypatch.setattr(registry, "_entries", {kind: dict(known) for kind, known in registry._entries.items()})
    (source,) = blocks("CONTRIBUTING.md", "python")
    module = types.ModuleType("first_lines_of_contributing")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, "CONTRIBUTING.md", "exec"), module.__dict__)
    tried = doctest.testmod(module)
    assert (tried.attempted, tried.failed) == (1, 0)
    assert entries("summarizer")["first_lines"].source == "CONTRIBUTING.md"
    recorded = opened([result("one\ntwo\nthree", index=2), result("one", index=3)])
    shown = [message.text for message in run_of(recorded, "mine=summarizer=first_lines:lines=2").messages.values()]
    assert "one\ntwo\n(2 of 3 lines)" in shown
    assert "one" in shown


def test_the_table_of_contributing_names_real_folders_and_kinds():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = re.findall(r"`(bench/[\w/]+/)`", page)
    assert folders
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert set(re.findall(r'@register\("(\w+)"', page)) <= set(KINDS)


# ---------------------------------------------------------------- docs/formats.md


def test_the_native_trace_of_the_page_is_read_and_written_again(tmp_path):
    (text,) = blocks("docs/formats.md", "jsonl")
    (tmp_path / "walls.jsonl").write_text(text, encoding="utf-8")
    (trace,) = load(["walls.jsonl"], tmp_path).traces
    assert trace.id == "walls"
    assert encode_trace(trace).decode() == text
    assert {step["kind"] for step in map(json.loads, text.splitlines()[1:])} <= set(documented_kinds())


def documented_kinds() -> dict[str, str]:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", (ROOT / "docs" / "formats.md").read_text(), re.MULTILINE)
    return {kind: fields for kinds, fields in rows for kind in re.findall(r"`(\w+)`", kinds)}


def test_every_kind_of_step_and_every_field_of_it_is_on_the_page():
    from typing import get_args

    from bench.model import AnyStep, Step

    documented, common = documented_kinds(), set(Step.__struct_fields__)
    for kind in get_args(AnyStep):
        said = documented[kind.__struct_config__.tag]
        assert [name for name in set(kind.__struct_fields__) - common if f"`{name}`" not in said] == []


def test_the_scenario_of_the_page_is_sound(tmp_path):
    (text,) = blocks("docs/formats.md", "toml")
    (tmp_path / "one.toml").write_text(text, encoding="utf-8")
    scenario = read_scenario(tmp_path / "one.toml")
    assert set(scenario.strategies) == {"keep_all", "server"}
    assert scenario.gates[0] == GateRule(
        metric="loss.fact_recall.stored", strategy="server", min=0.2, over="worst_case"
    )
    assert scenario.labels == {"construction": {"routes": {"4": "complete"}}}


def test_the_row_of_the_page_has_the_keys_of_a_row():
    (text,) = blocks("docs/formats.md", "json")
    assert list(json.loads(text)) == ["strategy", "metric", "case", "value", "unit", "n", "reason"]


@pytest.mark.parametrize("source", blocks("README.md", "python"))
def test_the_python_of_the_readme_compiles(source):
    assert ast.parse(source).body
