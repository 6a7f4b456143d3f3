"""The pages say what the code does: generated parts are not older than it, every example in them runs, every name in them exists."""

from __future__ import annotations

import ast
import doctest
import json
import pkgutil
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import pytest
from bench.comparison.judging import parse_rule

import bench
from bench.cli import cli
from bench.metrics import metrics
from bench.model import AnyStep, Step
from bench.plugins.registry import KINDS, build, entries
from bench.run.scenario import read_scenario
from bench.traces import load
from bench.traces.formats.native import Header, encode_trace

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import generate  # noqa: E402

FOLDERS = ("docs", "docs/contributing", "traces", "tests/metrics/worked")
READ_ME = [*(ROOT / "bench").rglob("README.md"), *(ROOT / "tests/data").rglob("README.md")]
PAGES = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).glob("*.md")), *READ_ME]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
METRIC = r"`((?:cost|loss|needed|prompt|findings|probes|routing)\.[\w.*]+)`"


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of one language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXTS[page], re.DOTALL | re.MULTILINE)


def section(page: str, title: str) -> str:
    """The text below a heading, up to the next one of its level."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)", TEXTS[page], re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no section {title!r}"
    return found[2]


def ran(page: str) -> doctest.TestResults:
    """Run the session that the Python blocks of a page are, one after the other."""
    session = "\n".join(block for block in blocks(page, "python") if block.startswith(">>>"))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(doctest.DocTestParser().get_doctest(session, {}, page, page, 0))
    return runner.summarize(verbose=False)


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings give it on GitHub."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


# ---------------------------------------------------------------- every page


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([\w-]+))?\)", TEXTS[page]):
        if not target.startswith("https://"):
            path = (ROOT / page).parent / target if target else ROOT / page
            assert path.exists(), f"{page} links to {target}"
            assert not anchor or anchor in anchors(path), f"{page} links to {target}#{anchor}"


@pytest.mark.parametrize("page", [page for page in TEXTS if page != "CHANGELOG.md"])
def test_named_files_modules_and_make_targets_exist(page):
    made = set(re.findall(r"`([\w/.]+)`[^\n]*:\n\n```", TEXTS[page])) | {
        "scenarios/summarizers.py"
    }  # of the page, of `bench init`
    named = set(re.findall(r"`((?:bench|tests|benchmarks|scenarios|docs)/[\w/.]*\w)`", TEXTS[page]))
    assert [path for path in sorted(named - made) if not (ROOT / path).exists()] == []
    for dotted in set(re.findall(r"`(bench(?:\.[a-z]\w*){2,})`", TEXTS[page])) - {"bench.readers"}:
        assert page == "UPGRADING.md" or pkgutil.resolve_name(dotted) is not None, dotted
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXTS[page], re.MULTILINE)) - targets == set()


@pytest.mark.parametrize("page", TEXTS)
def test_python_that_a_page_shows_compiles(page):
    for source in blocks(page, "python"):
        assert source.startswith(">>>") or ast.parse(source).body


def shown_commands() -> Iterator[tuple[str, str]]:
    """Each call of `bench` that a page shows in a code block."""
    for page, text in TEXTS.items():
        told = re.findall(r"^```(?:sh)?\n(.*?)^```$", text, re.DOTALL | re.MULTILINE) + re.findall(r"^    \S.*$", text, re.MULTILINE)  # fmt: skip
        for line in "\n".join(told).replace("\\\n", " ").splitlines():
            if line.strip().removeprefix(".venv/bin/").startswith("bench "):
                yield page, line.strip().partition("  #")[0].removeprefix(".venv/bin/")


@pytest.mark.parametrize(("page", "line"), shown_commands())
def test_commands_that_a_page_shows_have_these_options(page, line):
    _, name, *words = shlex.split(line.replace("…", "x"))
    if name == "--version":
        return
    known = {option for item in cli.commands[name].params if isinstance(item, click.Option) for option in item.opts}
    assert [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known] == []


def test_nothing_points_at_what_a_user_does_not_have():
    """Sources are things that a user can look up: no page of ours alone, no issue by number, no folder beside the project."""
    ours = re.compile(r"\bissue \d|design " + r"§|(?<!docs/)(?<!\()strategies" + r"\.md|packages" + r"\.md|\bshared" + r"/")  # fmt: skip
    folders = ("bench", "docs", "scenarios", "tests", "benchmarks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")] + [*ROOT.glob("*")]
    texts = [path for path in files if path.suffix in (".py", ".md", ".toml", ".yml", ".js", ".css", ".j2", ".txt")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in sorted(set(texts) - {ROOT / "docs/generate.py"})
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if ours.search(line)
    ]
    assert found == []


# ---------------------------------------------------------------- generated parts, and metrics


@pytest.mark.parametrize("name", generate.PAGES)
def test_a_generated_part_is_not_older_than_the_code(name):
    assert generate.filled(TEXTS[f"docs/{name}"], newcomers=False) == TEXTS[f"docs/{name}"], f"docs/{name} is old: run `make docs`"  # fmt: skip


def test_every_plugin_is_on_a_page_with_its_first_sentence():
    assert doctest.testmod(generate).failed == 0
    written = "\n".join(generate.filled(TEXTS[f"docs/{name}"]) for name in generate.PAGES)
    for kind in KINDS:
        for entry in entries(kind).values():
            assert f"`{entry.name}`" in written
            if kind != "metric":
                assert generate.cell(generate.first_sentence(entry.doc)) in written
    for family in entries("metric").values():
        assert generate.definition(family.doc) in written
        assert family.source in written


def test_every_metric_that_a_page_names_exists():
    known = [*metrics(), *entries("metric")]
    for page in TEXTS.keys() - {"CHANGELOG.md", "UPGRADING.md", "CONTRIBUTING.md", "docs/contributing/decisions.md"}:
        for name in re.findall(METRIC, TEXTS[page]):
            assert any(item.startswith(name.rstrip("*")) for item in known), f"{page}: {name}"


# ---------------------------------------------------------------- single pages


@pytest.mark.slow
def test_the_session_in_python_slow_because_traces_are_replayed(tmp_path, monkeypatch):
    for folder in ("traces", "scenarios"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    assert ran("docs/python.md").failed == 0
    assert [verb for verb in bench.__all__ if f"bench.{verb}(" not in TEXTS["docs/python.md"]] == ["measure"]
    assert (tmp_path / "judged.md").read_text().count("mask")


def test_every_room_is_on_the_page_of_the_architecture():
    rooms = section("docs/contributing/architecture.md", "Rooms")
    there = {path.name for path in (ROOT / "bench").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}  # fmt: skip
    assert [name for name in there - {"__init__.py", "__main__.py"} if f"`bench/{name}" not in rooms] == []


def test_the_rules_of_the_five_documents_exist():
    part = section("docs/strategies.md", "The five documents")
    specs = re.findall(rf"`({'|'.join(KINDS)})=([^`]+)`", part)
    assert len(specs) > 25
    for kind, spec in specs:
        assert entries(kind)[spec] if ":" not in spec else build(kind, spec)
    shipped = {f"scenarios/{path.name}" for path in (ROOT / "scenarios").glob("*.toml")}
    assert set(re.findall(r"`(scenarios/[\w.]+)`", part)) == shipped


def test_the_names_that_changed_did():
    rows = re.findall(r"^\| (.*) \| (.*) \|$", section("UPGRADING.md", "Names that changed"), re.MULTILINE)
    before, now = ([name for row in rows for name in re.findall(METRIC, row[side])] for side in (0, 1))
    assert before
    families = entries("metric").keys()
    assert [name for name in before if ".".join(name.split(".")[:2]) in families] == []
    assert [name for name in now if ".".join(name.split(".")[:2]) not in families] == []


def test_the_native_trace_of_the_page_is_read_and_written_again(tmp_path):
    text = blocks("docs/traces.md", "jsonl")[0]
    (tmp_path / "walls.jsonl").write_text(text, encoding="utf-8")
    (trace,) = load(["walls.jsonl"], tmp_path).traces
    assert trace.id == "walls"
    assert encode_trace(trace).decode() == text


def test_every_kind_of_step_and_every_field_of_it_is_on_the_page():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", section("docs/traces.md", "Native traces"), re.MULTILINE)
    documented = {kind: fields for kinds, fields in rows for kind in re.findall(r"`(\w+)`", kinds)}
    for kind in get_args(AnyStep):
        fields = set(kind.__struct_fields__) - set(Step.__struct_fields__)
        assert [name for name in fields if f"`{name}`" not in documented[kind.__struct_config__.tag]] == []
    assert [name for name in Header.__struct_fields__[1:] if f"`{name}`" not in TEXTS["docs/traces.md"]] == []


@pytest.mark.slow
def test_the_scenario_of_the_page_runs_and_its_row_has_the_keys_of_a_row(tmp_path):
    (row,) = blocks("docs/ci.md", "json")
    assert list(json.loads(row)) == ["strategy", "metric", "case", "value", "unit", "n", "reason"]
    (text,) = blocks("docs/ci.md", "toml")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    path = tmp_path / "scenarios" / "one.toml"
    path.write_text(text, encoding="utf-8")
    scenario = read_scenario(path)
    rule = parse_rule(scenario.gates[0], "one.toml: gates[1]")
    assert (rule.metric, rule.strategy, rule.over, rule.settings) == ("loss.fact_recall.stored", "server", "worst_case", {"min": 0.2})  # fmt: skip
    assert scenario.labels == {"construction": {"routes": {"4": "complete"}}}
    comparison = bench.run_scenario(scenario)
    assert comparison.value("keep_all", "probes.recall") == 1.0
    assert {verdict.outcome for verdict in comparison.verdicts} == {"pass", "skipped"}


def test_every_page_is_found_from_the_readme_and_on_the_site():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in (ROOT / "docs").rglob("*.md"):
        name = path.relative_to(ROOT).as_posix()
        assert f"({name})" in TEXTS["README.md"], name
        assert f": {name}" in nav, name
