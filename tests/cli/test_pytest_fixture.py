"""The fixture `bench` in somebody's own tests: values, failed assertions, and what cannot be judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugged import ROOT, run

pytestmark = pytest.mark.usefixtures("repository")


FIXTURE = """
import pytest
from bench.model.errors import SpecError, TraceError

FOLDER, SURVEY = "scenarios/traces", "scenarios/traces/survey.jsonl"
MINE = "mine=summarizer=scenarios/summarizers.py:summarize"

def hundred(result):
    return result.text[:100]

def test_losses(bench):
    assert bench.loss(FOLDER, "keep_all") == 0.0
    assert bench.loss(FOLDER, "drop_all") == 1.0
    assert bench.loss(FOLDER, MINE) < 0.05 < bench.loss(FOLDER, hundred)
    assert bench.loss(SURVEY, hundred, metric="needed.recall") == 1.0 - bench.value(SURVEY, hundred, "needed.recall")

def test_errors(bench):
    with pytest.raises(SpecError, match="did you mean needed.recall"):
        bench.value(SURVEY, MINE, "needed.recal")
    with pytest.raises(SpecError, match="use bench.value"):
        bench.loss(SURVEY, MINE, metric="cost.prompt_tokens")
    with pytest.raises(TraceError):
        bench.value("none.jsonl", MINE, "needed.recall")
    with open(f"{FOLDER}/cut.jsonl", "w") as file:
        file.write("<<<<<<< HEAD")
    with pytest.raises(TraceError, match="cut.jsonl:1: not JSON"):
        bench.value(FOLDER, MINE, "needed.recall")
    with pytest.raises(pytest.fail.Exception, match="was not measured"):
        bench.value(SURVEY, MINE, "findings.agreement")
"""
FAILING = """
def hundred(result):
    return result.text[:100]

def test_value(bench):
    assert bench.value("scenarios/traces", hundred, "needed.recall") == 1.0

def test_loss(bench):
    assert bench.loss("scenarios/traces", hundred, "needed.recall") <= 0.01

def test_tokens(bench):
    assert 10 > bench.value("scenarios/traces", hundred, "cost.prompt_tokens")
"""


@pytest.mark.slow
def test_the_fixture_in_tests_of_ones_own():
    Path("test_own.py").write_text(FIXTURE)
    code, said = run("test_own.py")
    assert code == 0, said
    assert "2 passed" in said


@pytest.mark.slow
def test_an_assertion_that_fails_names_the_facts_as_a_gate_does():
    Path("test_own.py").write_text(FAILING)
    code, said = run("test_own.py")
    assert code == 1, said
    assert re.search(r"assert 0\.\d+ == 1\.0", said)
    told = re.findall(r"^E .*needed\.recall of hundred is 0\.\d+, worst on \w+:", said, re.MULTILINE)
    assert len(told) == 2
    assert len(re.findall(r"E +step \d+ \(\w+\) dropped \".+; step \d+ needed \"", said)) >= 2
    assert re.search(r"cost\.prompt_tokens of hundred is \d+\n", said)


BOUNDED = """
import random
from bench.metrics import metric
from bench.model import Sample

WALLS, SURVEY = "walls.jsonl", "scenarios/traces/survey.jsonl"
RECALL = "loss.leaf_recall.shown"

@metric("own.doubtful", unit="fraction", better="lower", aggregate="pooled")
def doubtful(evidence):
    "Source: this test"
    return [Sample(numerator=1, denominator=10, most=8)]

@metric("own.partly", unit="fraction", better="higher", aggregate="pooled")
def partly(evidence):
    "Source: this test"
    return [Sample(numerator=1, denominator=1), Sample(numerator=None, reason="nobody knows")]

@metric("own.endless", unit="tokens", better="lower", aggregate="sum")
def endless(evidence):
    "Source: this test"
    return [Sample(numerator=float("inf"))]

def lines(result):
    return "\\n".join(f"its {k} is {v}" for row in result.data["rows"] for k, v in row.items()) if result.data else None

def unsure(result):
    return result.text[:random.choice(range(200, 5000))]

def test_recall(bench):
    assert bench.value(WALLS, lines, RECALL) >= 0.9

def test_loss(bench):
    assert bench.loss(WALLS, lines, RECALL) <= 0.1

def test_lower(bench):
    assert bench.value(WALLS, lines, "own.doubtful") <= 0.5

def test_partly(bench):
    assert bench.value(WALLS, lines, "own.partly") >= 0

def test_endless(bench):
    assert bench.value(WALLS, lines, "own.endless") >= 0

def test_unstable(bench):
    assert bench.value(SURVEY, unsure, "needed.recall") >= 0

def test_raised(bench):
    assert bench.value(SURVEY, lambda result: 1 / 0, "needed.recall") >= 0
"""


@pytest.mark.slow
def test_the_fixture_judges_as_gates_do_the_worse_bound_and_nothing_that_gates_cannot():
    Path("walls.jsonl").write_bytes((ROOT / "tests" / "metrics" / "worked" / "walls.jsonl").read_bytes())
    Path("test_own.py").write_text(BOUNDED)
    code, said = run("test_own.py")
    assert code == 1, said
    assert "7 failed" in said
    for line in (
        "assert 0.0 >= 0.9",
        "loss.leaf_recall.shown of lines is between 0 and 1",
        "assert 1.0 <= 0.1",
        "assert 0.8 <= 0.5",
        "own.doubtful of lines is between 0.1 and 0.8",
        "own.partly was measured only in part: 1 of the rest; 1 sample could not be measured, and may change it",
        "own.endless was not measured: inf is no finite number",
        "needed.recall cannot be judged: unsure is unstable: replayed again, it gave something else on survey",
        "needed.recall was not measured: 1 of 1 cases not measured: survey: strategy raised",
    ):
        assert line in said, line
