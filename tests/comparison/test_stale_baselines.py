"""Stale baselines: which accepted values no longer compare, each told with what changed, and no other metric held up by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from decided import comparison, only
from repository import BASELINE, SCENARIO, SUMMARIZERS, TRACES, WORSE, another, bench, relative, verdicts

from bench.comparison.accepting import baseline_of
from bench.comparison.baselines import baseline_bytes, read_baseline, stale_metrics
from bench.metrics import metrics


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_one_family_counted_otherwise_leaves_the_other_metrics_judged(capsys):
    kept = json.loads(BASELINE.read_text())
    assert kept["signature"]["metrics"]["needed.recall"] > 1, "the starter gates a family whose counting changed"
    kept["signature"]["metrics"]["needed.recall"] = 1
    BASELINE.write_text(json.dumps(kept))
    SUMMARIZERS.write_text(WORSE)
    assert bench("run", SCENARIO, "-o", "x.md") == 1
    found = {item["metric"]: item["outcome"] for item in relative(verdicts()) if item["strategy"] == "mine"}
    assert found["needed.recall"] == "inconclusive"
    assert found["loss.fact_recall.shown"] == "fail"
    text = Path("x.md").read_text()
    changed = text.partition("What changed?")[2]
    assert "needed.recall" in changed.partition("is counted changed (version 1 then")[0]
    assert "loss.fact_recall.shown" in changed, "what still compares is compared"
    capsys.readouterr()
    another()
    assert "the baseline is stale for needed.recall: how needed.recall is counted changed" in capsys.readouterr().err


def changed_families():
    return sorted({item.entry.name: item for item in metrics().values() if item.info.version > 1}.values(), key=str)


@pytest.mark.parametrize("item", changed_families(), ids=lambda item: item.name)
def test_no_family_counted_otherwise_is_compared_in_silence(item, tmp_path):
    info = item.info
    limit = {"max_increase" if info.better == "lower" else "max_drop": 0}
    values = only(info.name, s={"a": 0.5})
    then = comparison(values, {"metric": info.name, **limit}, infos={info.name: info})
    (tmp_path / "x.json").write_bytes(baseline_bytes(baseline_of(then)))
    kept = read_baseline(tmp_path / "x.json")
    now = msgspec.structs.replace(then.signature, metrics={info.family: info.version})
    assert info.name in stale_metrics(now, kept, {info.name: info}), "what a bench without versions accepted"
    for version, stale in ((1, True), (info.version, False)):
        old = msgspec.structs.replace(kept, signature=msgspec.structs.replace(now, metrics={info.family: version}))
        assert (info.name in stale_metrics(now, old, {info.name: info})) == stale


def test_every_family_counted_otherwise_is_listed_with_what_changed():
    page = (Path(__file__).parents[2] / "docs" / "contributing" / "decisions.md").read_text()
    table = page.partition("## Counted otherwise")[2].partition("\n## ")[0]
    listed = {name: int(version) for name, version in re.findall(r"^\| `([\w.]+)` \| (\d+) \| \S", table, re.MULTILINE)}
    assert listed == {item.entry.name: item.info.version for item in changed_families()}


@pytest.mark.slow
@pytest.mark.usefixtures("repository")
def test_a_new_case_of_another_model_leaves_the_baseline_fresh():
    another()
    trace = TRACES / "more.jsonl"
    trace.write_text(trace.read_text().replace("gpt-4o", "gpt-3.5-turbo"))
    assert bench("run", SCENARIO) == 0
    assert {item["outcome"] for item in relative(verdicts())} == {"pass"}
