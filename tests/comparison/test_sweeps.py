"""Sweeps: one strategy at several settings, the gates that follow it, and the panel that draws the curve."""

from __future__ import annotations

from pathlib import Path

import pytest
from decided import comparison
from handmade import opened, shell

import bench
from bench.cli import main
from bench.comparison.sweeps import pareto_front, sweeps
from bench.model.errors import ScenarioError, SpecError
from bench.plugins.spec import parse_spec
from bench.reports import build_blocks
from bench.reports.blocks import Prose, Table
from bench.run.scenario import read_scenario
from bench.strategies import parse_strategy
from bench.strategies.sweeps import at_settings, declared
from bench.traces.formats.native import encode_trace

MASK = "mask=compactor=mask_observations:keep_last=1|2|4"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a:n=5|10|20", ["5", "10", "20"]),
        ("a:n=5|10|5", ["5", "10"]),
        ("a:writer=empty|extractive", ["empty", "extractive"]),
        ("a: n = 5|10 , m=1", ["5", "10"]),
        ("r=routers=[ledger:n=1|2,other]", ["1", "2"]),
    ],
)
def test_what_a_sweep_stands_for(text: str, values: list[str]) -> None:
    assert [found for found, _ in at_settings(text)] == [(value,) for value in values]
    assert all(not at_settings(written)[0][0] for _, written in at_settings(text))


@pytest.mark.parametrize("text", ["a", "a:n=5", 'a:n="5|10"', "a:f=../x..y", "a:n=[1|2]", r'a:n="\"|"'])
def test_what_is_no_sweep(text: str) -> None:
    assert at_settings(text) == [((), text)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a:n=5|", "empty value"),
        ("a:n=|", "empty value"),
    ],
)
def test_a_sweep_that_cannot_be_is_named(text: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        at_settings(text)


def test_a_value_with_a_bar_is_quoted_and_a_single_spec_takes_no_sweep() -> None:
    for value in ("a|b",):
        assert str(parse_spec(f'a:n="{value}"')) == f'a:n="{value}"'
    with pytest.raises(SpecError, match=r"'5\|10' is several settings, and one is asked for"):
        parse_strategy("mask=compactor=mask_observations:keep_last=5|10")


def test_each_setting_is_a_strategy_with_a_plain_name_that_parses_back() -> None:
    found = declared([(None, "old=compactor=summarize_old:keep_last=2|5,max_tokens=900|4000"), (None, "keep_all")])
    assert [item.name for item in found.strategies] == [
        "old-2-900",
        "old-2-4000",
        "old-5-900",
        "old-5-4000",
        "keep_all",
    ]
    assert [parse_strategy(str(item)) for item in found.strategies] == list(found.strategies)
    assert found.names["old"] == ("old-2-900", "old-2-4000", "old-5-900", "old-5-4000")


def test_a_sweep_in_python_and_of_ones_own_function(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def cut(text: str, chars=300):\n    return text[:chars]\n")
    compared = bench.compare(
        opened(shell(4, start=2)),
        {"mine": "summarizer=mine.py:cut:chars=20|200", "slots": {"store": "truncate:limit=1|2"}},
        base=tmp_path,
    )
    assert compared.strategies == ("mine-20", "mine-200", "slots-1", "slots-2")
    assert compared.value("mine-20", "cost.prompt_tokens") < compared.value("mine-200", "cost.prompt_tokens")


def scenario(folder: Path, pattern: str) -> Path:
    (folder / "long.jsonl").write_bytes(encode_trace(opened(shell(12, start=2), id="long")))
    path = folder / "one.toml"
    path.write_text(
        'traces = ["long.jsonl"]\n[strategies]\nmask = { compactor = "mask_observations:keep_last=1|4" }\n'
        f'other = {{ compactor = "summarize_old" }}\n[[gates]]\nmetric = "needed.recall"\nstrategy = "{pattern}"\nmin = 0.1\n'
    )
    return path


@pytest.mark.parametrize(
    ("pattern", "judged"),
    [
        ("mask", ["mask-1", "mask-4"]),
        ("mask-4", ["mask-4"]),
        ("*", ["mask-1", "mask-4", "other"]),
        ("other", ["other"]),
    ],
)
def test_a_gate_of_a_scenario_follows_its_strategy_to_every_setting(
    tmp_path: Path, pattern: str, judged: list[str]
) -> None:
    compared = bench.run_scenario(read_scenario(scenario(tmp_path, pattern)))
    assert compared.strategies == ("mask-1", "mask-4", "other")
    assert [verdict.strategy for verdict in compared.verdicts] == judged


def test_a_gate_on_a_setting_that_is_not_swept_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no strategy is called 'mask-2'"):
        bench.run_scenario(read_scenario(scenario(tmp_path, "mask-2")))


# ---------------------------------------------------------------- the curve


def test_the_front_is_who_no_other_one_beats() -> None:
    points = [("dear", 9.0, 0.9), ("cheap", 1.0, 0.2), ("beaten", 9.5, 0.9), ("mid", 4.0, 0.5), ("worse", 5.0, 0.4)]
    assert pareto_front([*points, ("unmeasured", None, 1.0)]) == ("cheap", "mid", "dear")
    assert pareto_front(points[:1]) == ()


def test_strategies_that_differ_in_settings_alone_are_a_sweep() -> None:
    specs = {
        "a": "a=compactor=mask_observations:keep_last=10",
        "b": "b=compactor=mask_observations:keep_last=5",
        "c": "c=compactor=mask_observations:keep_last=9,notice=x",  # sets something else too
        "d": "d=summarizer=truncate:limit=80",
        "e": "e=routers=[ledger:n=1,other]",
        "f": "f=routers=[ledger:n=2,other]",
    }
    values = {
        name: {"cost.prompt_tokens": {"x": number}, "needed.recall": {"x": 0.5}} for number, name in enumerate(specs)
    }
    masks, ledgers = sweeps(comparison(values, specs=specs), "cost.prompt_tokens")
    assert (masks.plugin, masks.names) == ("compactor=mask_observations", ("keep_last",))
    assert [(item.strategy, item.values, item.on_front) for item in masks.settings] == [
        ("b", "keep_last=5", False), ("a", "keep_last=10", True),
    ]  # fmt: skip
    assert [item.values for item in ledgers.settings] == ["n=1", "n=2"]


def test_the_panel_lists_the_settings_in_their_order_with_the_front() -> None:
    compared = bench.compare(opened(shell(30, start=2)), [MASK, "cut=summarizer=truncate"])
    (panel,) = build_blocks(compared, ["settings"])
    said, table, _ = panel.blocks
    assert isinstance(said, Prose)
    assert said.text.startswith("compactor=mask_observations at 3 settings of keep_last: ")
    assert isinstance(table, Table)
    assert [row[0].text for row in table.rows] == ["keep_last=1", "keep_last=2", "keep_last=4"]
    assert "on it" in {row[5].text for row in table.rows}
    assert (
        build_blocks(bench.compare(opened(shell(3, start=2)), ["cut=summarizer=truncate"]), ["settings"])[0].blocks
        == ()
    )


def test_the_terminal_shows_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "long.jsonl").write_bytes(encode_trace(opened(shell(12, start=2), id="long")))
    with pytest.raises(SystemExit) as done:
        main(["run", "--traces", str(tmp_path / "long.jsonl"), "--strategy", MASK, "--jobs", "1"])
    assert done.value.code == 0
    assert "Which setting is best?" in capsys.readouterr().out
