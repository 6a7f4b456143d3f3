"""`bench compare`: two score files from anywhere, paired, refused where they do not compare, judged by the limits given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from repository import SCENARIO, SUMMARIZERS, TRACES, WORSE, bench, init

from bench import __version__
from bench.comparison.score_files import read_scores
from bench.model import Failure


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Score files of the starter as it is, with a worse summarizer, and of one case alone."""
    folder = tmp_path_factory.mktemp("scores")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GITHUB_ACTIONS", raising=False)
        patch.chdir(folder)
        init()
        bench("run", SCENARIO, "-o", "a.json")
        SUMMARIZERS.write_text(WORSE)
        bench("run", SCENARIO, "-o", "worse.json")
        SUMMARIZERS.write_text("def summarize(result):\n    raise ValueError('no')\n")
        bench("run", SCENARIO, "-o", "raised.json")
        SUMMARIZERS.write_text("import random\n\n\ndef summarize(result):\n    return str(random.random())\n")
        bench("run", SCENARIO, "-o", "unstable.json")
        SUMMARIZERS.write_text(WORSE)
        (TRACES / "construction.jsonl").unlink()
        bench("run", SCENARIO, "-o", "one_case.json")
        text = SCENARIO.read_text()
        SCENARIO.with_name("second.toml").write_text(text.replace('title = "What', 'title = "Second: what'))
        bench("run", SCENARIO, "scenarios/second.toml", "-o", "two.json")
        SCENARIO.write_text(text.replace("cut_500", "cut_501"))
        bench("run", SCENARIO, "-o", "other_strategy.json")
    return folder


@pytest.fixture(autouse=True)
def there(files, monkeypatch):
    monkeypatch.chdir(files)


@pytest.mark.slow
def test_a_file_against_itself_is_the_same_and_passes_any_gate(capsys):
    limits = ["--max-drop", "needed.recall=0", "--max-increase", "cost.prompt_tokens=0%"]
    assert bench("compare", "a.json", "a.json", *limits) == 0
    said = capsys.readouterr().out
    assert re.search(r"Different from a.json: none of \d+ values", said)
    assert "gates: 4 pass: nothing failed (exit 0)" in said


@pytest.mark.slow
def test_differences_are_paired_shown_with_n_and_judged_on_request(capsys):
    assert bench("compare", "a.json", "worse.json") == 0
    said = capsys.readouterr().out
    assert "Different from a.json: " in said
    assert re.search(r"(?m)^mine +(needed|loss|cost)\.\w", said)
    assert bench("compare", "a.json", "worse.json", "--max-drop", "needed.recall=0.01", "-o", "x.json") == 1
    (failed,) = [item for item in json.loads(Path("x.json").read_text())["verdicts"] if item["outcome"] == "fail"]
    assert failed["strategy"] == "mine"
    assert re.search(r"needed\.recall went from 1 to 0\.\d+ \(-[\d.]+%, 2 cases", failed["sentence"])
    assert "most on survey (1 → 0" in failed["sentence"]


@pytest.mark.parametrize("columns", [80, 140])
def test_on_a_terminal_every_change_says_what_it_is(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    bench("compare", "a.json", "worse.json")
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("strategy"))
    assert all(f" {word}" in head for word in ("metric", "before", "now", "change", "cases", "says"))
    assert max(map(len, lines)) <= columns


def test_a_case_or_a_strategy_of_one_file_alone_is_told(capsys):
    assert bench("compare", "a.json", "one_case.json", "--max-drop", "needed.recall=0.99") == 3
    said = capsys.readouterr().out
    assert "deleted trace" in said
    assert "Only in a.json: case construction" in " ".join(said.split())
    assert bench("compare", "one_case.json", "a.json", "--max-drop", "needed.recall=0.99") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "new case, not judged: one_case.json has no case construction" in said
    assert "Only here: case construction" in said
    assert bench("compare", "one_case.json", "other_strategy.json", "--max-drop", "needed.recall=0.99") == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "strategy cut_501 is new" in said
    assert "no longer declared" in said
    assert "--update-baseline" not in said, "nothing is accepted into a file of scores"


def test_scenarios_are_paired_by_title(capsys):
    assert bench("compare", "two.json", "two.json", "--max-drop", "needed.recall=0") == 0
    renamed = edited("renamed.json", lambda document: document.update(title="another"), "a.json")
    assert bench("compare", "a.json", renamed) == 0, "one against one, whatever they are called"
    assert len(read_scores(Path("two.json"))) == 2
    capsys.readouterr()
    assert bench("compare", "two.json", "one_case.json") == 3
    assert "is in only one of two.json and one_case.json" in " ".join(capsys.readouterr().out.split())


def old(document):
    """A score file as it was written before what was raised, and what was unstable, was said apart."""
    del document["failures"], document["unstable"]


@pytest.mark.parametrize("change", [lambda document: None, old])
def test_a_strategy_that_raised_fails_its_gates_as_in_a_run(change, capsys):
    after = edited("after.json", change, "raised.json")
    for option in ("--max-drop=needed.recall=0.99", "--max-increase=cost.prompt_tokens=900%"):
        assert bench("compare", "a.json", after, option, "--allow-inconclusive", "-o", "x.json", "-o", "x.html") == 1
        found = json.loads(Path("x.json").read_text())
        said = {item["strategy"]: (item["outcome"], item["sentence"]) for item in found["verdicts"]}
        assert said["mine"][0] == "fail"
        assert (
            "mine: raised on construction: summarizer at step 4: scenarios/summarizers.py:2: ValueError: no"
            in said["mine"][1]
        )
        assert {outcome for name, (outcome, _) in said.items() if name != "mine"} == {"pass"}
        assert {item["strategy"] for item in found["failures"]} == {"mine"}
    assert bench("compare", after, "a.json", "--max-drop", "needed.recall=0.99") == 3
    assert "was not measured on construction in after.json" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("before", "after"), [("a", "unstable"), ("unstable", "a"), ("unstable", "unstable")])
def test_a_strategy_that_was_unstable_on_either_side_is_inconclusive(before, after, capsys):
    limits = ["--max-drop", "needed.recall=0.99", "-o", "x.json"]
    assert bench("compare", f"{before}.json", f"{after}.json", *limits) == 3
    outcomes = {item["strategy"]: item for item in json.loads(Path("x.json").read_text())["verdicts"]}
    who = "mine" if after == "unstable" else "mine of unstable.json"
    assert f"{who} is unstable: replayed again, it gave something else on" in outcomes["mine"]["sentence"]
    assert {item["outcome"] for name, item in outcomes.items() if name != "mine"} == {"pass"}
    assert bench("compare", f"{before}.json", f"{after}.json", *limits, "--allow-inconclusive") == 0


def test_what_was_raised_and_what_was_unstable_is_read_back_for_each_scenario(capsys):
    several = (Path(__file__).parents[1] / "gold" / "several.json").read_text()
    Path("several.json").write_text(several.replace('"traces": {}', '"traces": {"only": "a hash"}'))
    gold = {item.title: item for item in read_scores(Path("several.json"))}
    failure = Failure(step=0, slot="summarizer", error="ValueError: no such key")
    assert {title: item.failures for title, item in gold.items() if item.failures} == {
        "Nothing measured": {"broken": [("only", failure)]}
    }
    (raised,) = read_scores(Path("raised.json"))
    assert read_scores(Path(edited("old.json", old, "raised.json")))[0].failures == raised.failures
    assert raised.failures.keys() == {"mine"}
    (unstable,) = read_scores(Path("unstable.json"))
    assert unstable.unstable.keys() == {"mine"}
    assert not unstable.failures


def edited(name, change, of="a.json"):
    document = json.loads(Path(of).read_text())
    change(document)
    Path(name).write_text(json.dumps(document))
    return name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda document: document["signature"].update(bench_version="9"),
            f"bench version differs ({__version__} against 9)",
        ),
        (lambda document: document["signature"].update(prices_date="x"), "price tables differs"),
        (lambda document: document["signature"]["traces"].update(survey="00"), "case survey is another recording"),
        (lambda document: document["rows"][0].update(value="many"), "Expected `float | null`, got `str`"),
        (lambda document: document.pop("signature"), "missing required field `signature`"),
        (lambda document: document["signature"].update(seed=7), "seed differs (0 against 7)"),
        (lambda document: document["signature"].update(seed="x"), "Expected `int`, got `str`"),
    ],
)
def test_what_does_not_compare_or_is_no_score_file_is_refused_in_one_line(change, said, capsys):
    assert bench("compare", edited("edited.json", change), "a.json") == 2
    err = capsys.readouterr().err
    assert err.startswith("error: edited.json: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.json", "a.json"], "none.json: No such file"),
        (["a.json", "scenarios/summaries.toml"], "JSON is malformed"),
        (["a.json", "a.json", "--max-drop", "needed.recal=0.1"], "did you mean needed.recall"),
        (["a.json", "a.json", "--max-drop", "needed.recall=lots"], "expected METRIC=LIMIT"),
        (["a.json", "a.json", "--max-drop", "needed.recall=-2%"], "not negative"),
        (["a.json", "a.json", "--max-drop", "needed.recall"], "expected METRIC=LIMIT"),
        (["a.json", "a.json", "-o", "x.pdf"], "unknown ending '.pdf'"),
    ],
)
def test_bad_usage_is_one_line(arguments, said, capsys):
    assert bench("compare", *arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_parquet_holds_the_rows_of_the_json_report(monkeypatch, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert bench("compare", "a.json", "a.json", "-o", "x.parquet", "-o", "x.json") == 0
    whole = parquet.read_table("x.parquet").to_pylist()
    table = [row for row in whole if row["status"] != "nothing to measure"]
    rows = json.loads(Path("x.json").read_text())["rows"]
    assert [(row["strategy"], row["metric"], row["case"], row["value"], row["n"]) for row in table] == [
        (row["strategy"], row["metric"], row["case"], row["value"], row["n"]) for row in rows
    ]
    assert all(row["status"] == other["reason"] for row, other in zip(table, rows, strict=True) if row["value"] is None)
    assert all(row["low"] <= row["value"] <= row["high"] for row in table if row["value"] is not None)
    first = Path("x.parquet").read_bytes()
    assert bench("compare", "a.json", "a.json", "-o", "x.parquet") == 0
    assert Path("x.parquet").read_bytes() == first
    capsys.readouterr()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert bench("compare", "a.json", "a.json", "-o", "y.parquet") == 2
    assert "pip install 'agent-memory-bench[parquet]'" in capsys.readouterr().err
