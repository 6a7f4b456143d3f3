"""Equal budgets: who runs at which window, who is ranked, who is marked, and which gates apply."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from handmade import opened, shell
from hypothesis import given, strategies as st

import bench
from bench.comparison.judging import parse_rule
from bench.comparison.sweeps import budget_ranks
from bench.model import GateRule
from bench.model.errors import ScenarioError, SpecError
from bench.reports import rendered
from bench.run.scenario import Scenario, read_scenario
from bench.strategies import parse_strategy
from bench.strategies.sweeps import at_budgets, has_window, parse_budgets
from bench.traces.formats.native import encode_trace

OLD = "old=compactor=summarize_old:keep_last=2,max_tokens=32000+store=truncate"
MASK = "mask=compactor=mask_observations:keep_last=1"
EVERYONE = (OLD, MASK, "separate=compactor=separate_commands", "cut=summarizer=truncate", "keep_all")


def scenario(folder: Path, budgets: tuple[int, ...], gates: tuple[dict[str, Any], ...] = ()) -> Scenario:
    path = folder / "long.jsonl"
    path.write_bytes(encode_trace(opened(shell(30, start=2), id="long")))
    names = {text.partition("=")[0]: text for text in EVERYONE}
    return Scenario(title="t", traces=(str(path),), strategies=names, budgets=budgets, gates=gates)


def rule(**table: Any) -> GateRule:
    return parse_rule(table, "x.toml: gates[1]")


def test_only_windows_are_set_and_everything_else_stays() -> None:
    made = at_budgets([parse_strategy(text) for text in EVERYONE], [1000, 4000])
    assert [str(item) for item in made] == [
        "old@1000=compactor=summarize_old:keep_last=2,max_tokens=1000+store=truncate",
        "old@4000=compactor=summarize_old:keep_last=2,max_tokens=4000+store=truncate",
        MASK,
        "separate@1000=compactor=separate_commands:max_tokens=1000",
        "separate@4000=compactor=separate_commands:max_tokens=4000",
        "cut=summarizer=truncate",
        "keep_all",
    ]
    assert [parse_strategy(str(item)) for item in made[:2]] == list(made[:2])  # they print back as they parse
    assert [has_window(parse_strategy(text)) for text in EVERYONE] == [True, False, True, False, False]


def test_a_users_own_compactor_has_a_window_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def f(window, *, max_tokens: int = 9):\n    return None\n")
    made = at_budgets([parse_strategy("mine=compactor=mine.py:f", tmp_path)], [50])
    assert str(made[0]) == "mine@50=compactor=mine.py:f:max_tokens=50"
    assert made[0].plugins["compactor"][0].arguments == {"max_tokens": 50}


def test_a_name_that_a_budget_would_make_is_refused() -> None:
    with pytest.raises(SpecError, match="old@1000"):
        at_budgets([parse_strategy(OLD), parse_strategy("old@1000=summarizer=truncate")], [1000])


@pytest.mark.parametrize("text", ["", "x", "-5", "0", "8000,,", "1.5", "8k", "٣"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(SpecError, match="--budget 8000"):
        parse_budgets(text)


@given(st.lists(st.integers(1, 10**6), min_size=1))
def test_budgets_read_back(numbers: list[int]) -> None:
    assert parse_budgets(", ".join(map(str, numbers))) == tuple(dict.fromkeys(numbers))


def test_ranked_within_a_budget_and_marked_above_it(tmp_path: Path) -> None:
    compared = bench.run_scenario(scenario(tmp_path, (1000, 100_000)))
    assert compared.budgets == (1000, 100_000)
    found = budget_ranks(compared)
    tight = {item.strategy: item for item in found[1000]}
    assert set(tight) == {"old@1000", "separate@1000", "mask", "cut", "keep_all"}
    for name, item in tight.items():
        sizes = [call.tokens for call in compared.cases[0].runs[name].window.curve]
        assert (item.over, item.prompts, item.largest_tokens) == (sum(n > 1000 for n in sizes), len(sizes), max(sizes))
        assert (item.rank is None) == (item.over > 0)
    assert tight["keep_all"].rank is None
    assert "prompts above the budget" in tight["keep_all"].reason
    assert {item.strategy for item in found[100_000]} == {"old@100000", "separate@100000", "mask", "cut", "keep_all"}
    ranked = [item for item in found[100_000] if item.rank is not None]
    assert len(ranked) == 5
    by_hand = sorted(ranked, key=lambda item: (-item.recall, item.prompt_tokens))
    assert [item.rank for item in by_hand] == [
        1 + sum((-o.recall, o.prompt_tokens) < (-i.recall, i.prompt_tokens) for o in ranked) for i in by_hand
    ]
    text = rendered([compared], "markdown", ["settings"])
    assert "not ranked" in text
    assert text.count("Budget: ") == 2


def test_a_strategy_that_raised_is_not_ranked(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(window, *, max_tokens: int = 9):\n    raise ValueError('no')\n")
    plan = scenario(tmp_path, (5000,))
    plan = Scenario(
        title="t", traces=plan.traces, strategies={"b": "b=compactor=broken.py:f"}, budgets=(5000,), base=tmp_path
    )
    (only,) = budget_ranks(bench.run_scenario(plan))[5000]
    assert (only.strategy, only.rank, only.reason) == ("b@5000", None, "raised on long")


def test_a_gate_on_a_strategy_is_judged_at_every_budget(tmp_path: Path) -> None:
    gate = {"metric": "cost.peak_prompt_tokens", "strategy": "old", "max": 4000}
    verdicts = bench.run_scenario(scenario(tmp_path, (2000, 100_000), (gate,))).verdicts
    assert [(verdict.strategy, verdict.outcome) for verdict in verdicts] == [
        ("old@2000", "pass"),
        ("old@100000", "fail"),
    ]


def test_budgets_in_a_scenario_file(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    head = 'traces = ["a.jsonl"]\nstrategies = { keep_all = {} }\n'
    path.write_text(f"{head}budgets = [8000, 16000, 8000]\n")
    assert read_scenario(path).budgets == (8000, 16000)
    for wrong in ("[0]", "[-1]", '["8k"]', "8000"):
        path.write_text(f"{head}budgets = {wrong}\n")
        with pytest.raises(ScenarioError, match="`budgets`"):
            read_scenario(path)
