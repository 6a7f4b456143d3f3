"""The leaderboard: its smallest corpus measured again gives its figures, and `bench list strategies --field` shows the verdicts."""

from __future__ import annotations

import csv
import importlib.util
import tomllib
from pathlib import Path

import pytest

from bench.cli import main
from bench.strategies.policies import MEASURED, field_policies

ROOT = Path(__file__).parents[2]
with MEASURED.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))
DEFAULTS = [row for row in ROWS if row["setting"] == "defaults"]


@pytest.mark.slow
def test_the_smallest_corpus_measured_again_slow_because_every_policy_is_replayed():
    spec = importlib.util.spec_from_file_location("leaderboard", ROOT / "benchmarks" / "leaderboard.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for setting in ("defaults", "8k"):
        again = list(script.measured("shipped", setting, script.compared("shipped", ROOT / "traces", setting)))
        stored = [row for row in ROWS if row["corpus"] == "shipped" and row["setting"] == setting]
        assert again == stored, "python benchmarks/leaderboard.py && make docs"


def test_every_corpus_has_a_row_for_each_policy():
    corpora = tomllib.loads((ROOT / "benchmarks" / "corpora.toml").read_text(encoding="utf-8"))
    policies = sorted(entry.name for entry in field_policies())
    for name in corpora:
        rows = [row for row in ROWS if row["corpus"] == name]
        assert sorted(row["policy"] for row in rows if row["setting"] == "defaults") == policies, name
        assert {row["setting"] for row in rows} == {"defaults", "8k", "32k", "100k", "advise"}, name


def test_list_names_them_with_their_verdicts(capsys):
    main(["list", "strategies", "--field"])
    shown = capsys.readouterr().out.splitlines()
    for entry in field_policies():
        (line,) = (line for line in shown if line.startswith(f"  {entry.kind}={entry.name}: "))
        assert all(row["verdict"] in line for row in DEFAULTS if row["policy"] == entry.name)


def test_field_is_about_strategies(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["list", "gates", "--field"])
    assert ended.value.code == 2
    assert "--field is about strategies, not gates" in capsys.readouterr().err
