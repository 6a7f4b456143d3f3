"""Files of a scenario and beside it that are odd: each is an error of its own kind that names the file, or is right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench
from bench.model import ModelTurn, Source, ToolResult, Trace, Usage, UserTurn
from bench.model.errors import BenchError, ResultsError, ScenarioError, SpecError
from bench.reports import rendered

CHAT = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "run_7"}]


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(CHAT))

    def written(strategies: str = '[strategies.mine]\nsummarizer = "truncate"\n', traces: str = "a.json") -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(f'traces = ["{traces}"]\n{strategies}')
        return path

    return written


ODD_SLOTS = ["5", "true", "1.5", "{ a = 1 }", "2026-01-01", "[5]", "[[]]", "[]", '["a", "b"]', '"no_such"', '""', '"truncate:limt=3"',
             '"truncate:limit=x"', '"gone.py:f"', '"truncate:limit=3:limit=4"']  # fmt: skip


@pytest.mark.parametrize("value", ODD_SLOTS)
def test_a_slot_of_another_type_is_an_error_that_names_the_scenario(scenario, value):
    path = scenario(f"[strategies.mine]\nsummarizer = {value}\n")
    with pytest.raises(SpecError, match=f"^{path}: "):
        bench.run_scenario(path)


@pytest.mark.parametrize("traces", ["gone.json", "gone/*.json", "nothing:a.json", "a.json/b", "\\u0000"])
def test_traces_that_cannot_be_read_name_the_scenario(scenario, traces):
    path = scenario(traces=traces)
    with pytest.raises(BenchError, match=f"^{path}: "):
        bench.run_scenario(path)


@pytest.mark.parametrize(
    "deep",
    [
        "a = " + "[" * 600 + "]" * 600,
        "a = " + "[" * 250 + "]" * 250,
        ".".join("a" * 600) + " = 1",
        "[" + ".".join("a" * 2000) + "]",
    ],
)
def test_deep_toml_is_an_error_of_the_scenario(tmp_path, deep):
    (tmp_path / "deep.toml").write_text(deep)
    with pytest.raises(ScenarioError, match=r"deep\.toml: (is nested more than 200 levels deep|unknown key)"):
        bench.run_scenario(tmp_path / "deep.toml")


def test_a_scenario_that_is_no_file_or_not_utf_8_is_an_error(tmp_path):
    (tmp_path / "latin.toml").write_bytes('title = "Wände"'.encode("latin-1"))
    for path in (tmp_path, tmp_path / "latin.toml", tmp_path / "gone.toml"):
        with pytest.raises(ScenarioError, match=path.name):
            bench.run_scenario(path)


@pytest.mark.parametrize(
    "data",
    [
        '{"signature": {"title": "Wände"}}'.encode("latin-1"),
        b"\xff",
        b"",
        b"[" * 5000,
        b"[]",
        b"null",
        b'{"schema": 1e308}',
    ],
)
def test_a_baseline_that_cannot_be_read_names_it(scenario, tmp_path, data):
    path = scenario('[strategies.mine]\nsummarizer = "truncate"\n[[gates]]\nmetric = "needed.recall"\nmax_drop = 0\n')
    (tmp_path / "mine.baseline.json").write_bytes(data)
    with pytest.raises(ResultsError, match=r"mine\.baseline\.json:.* — accept a new one with --update-baseline"):
        bench.run_scenario(path)


@pytest.mark.parametrize("huge", [1e308, -1e308, 5e-324, 10**30])
def test_huge_values_of_a_baseline_are_judged(scenario, tmp_path, huge):
    path = scenario(
        '[strategies.mine]\nsummarizer = "truncate"\n[[gates]]\nmetric = "cost.prompt_tokens"\nmax_increase = "10%"\n'
    )
    first = bench.run_scenario(path, accepting=True)
    from bench.comparison.accepting import accept

    file = tmp_path / "mine.baseline.json"
    accept(first, file)
    written = json.loads(file.read_text())
    for strategies in written["values"].values():
        for cases in strategies.values():
            for case in cases:
                cases[case] = huge
    file.write_text(json.dumps(written))
    comparison = bench.run_scenario(path)
    for name in ("text", "markdown", "json", "csv", "junit", "html"):
        assert rendered([comparison], name)


def test_huge_values_of_a_trace_are_measured():
    steps = (
        UserTurn(index=0, content="1e308 and -1e308, 5e-324, 1e999", t=1e308),
        ModelTurn(index=1, content="look at 1e308", usage=Usage(prompt_tokens=2**62, completion_tokens=2**62)),
        ToolResult(
            index=2,
            call_id="c",
            function="f",
            seen='{"a": 1e308, "b": [1e308, -1e308]}',
            data={"a": 1e308},
            duration_s=1e308,
        ),
        ModelTurn(index=3, content="1e308 it is", usage=Usage(prompt_tokens=1)),
    )
    trace = Trace(id="huge", source=Source(format="x"), steps=steps)
    comparison = bench.compare([trace], ["truncate=summarizer=truncate"], model="gpt-4o")
    for name in ("text", "markdown", "json", "csv", "junit", "html"):
        assert rendered([comparison], name)


def test_a_run_of_another_trace_is_not_scored():
    trace = Trace(
        id="a", source=Source(format="x"), steps=(UserTurn(index=0, content="go"), ModelTurn(index=1, content="run_7"))
    )
    run = bench.replay(trace, "keep_all")
    assert bench.score(trace, run)
    with pytest.raises(ResultsError, match="its steps are not those of trace 'b'"):
        bench.score(Trace(id="b", source=Source(format="x"), steps=(UserTurn(index=1, content="go"),)), run)
