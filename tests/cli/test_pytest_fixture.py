"""The fixture `bench` in somebody's own tests: values, failed assertions, and what cannot be judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugged import run

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
    assert bench.loss(FOLDER, MINE) < bench.loss(FOLDER, hundred)
    assert bench.loss(SURVEY, hundred, metric="needed.recall") == 1.0 - bench.value(SURVEY, hundred, "needed.recall")

def test_errors(bench):
    with pytest.raises(SpecError, match="needed.recall"):
        bench.value(SURVEY, MINE, "needed.recal")
    with pytest.raises(SpecError):
        bench.loss(SURVEY, MINE, metric="cost.prompt_tokens")
    with pytest.raises(TraceError):
        bench.value("none.jsonl", MINE, "needed.recall")
    with open(f"{FOLDER}/cut.jsonl", "w") as file:
        file.write("<<<<<<< HEAD")
    with pytest.raises(TraceError, match="cut.jsonl"):
        bench.value(FOLDER, MINE, "needed.recall")
"""
FAILING = """
import random

FOLDER = "scenarios/traces"

def hundred(result):
    return result.text[:100]

def unsure(result):
    return result.text[:random.choice(range(200, 5000))]

def broken(result):
    return 1 / 0

def test_value(bench):
    assert bench.value(FOLDER, hundred, "needed.recall") == 1.0

def test_loss(bench):
    assert bench.loss(FOLDER, hundred, "needed.recall") <= 0.01

def test_tokens(bench):
    assert 10 > bench.value(FOLDER, hundred, "cost.prompt_tokens")

def test_unstable(bench):
    assert bench.value(FOLDER, unsure, "needed.recall") >= 0

def test_raised(bench):
    assert bench.value(FOLDER, broken, "needed.recall") >= 0

def test_nothing_to_measure(bench):
    assert bench.value(FOLDER, hundred, "findings.agreement") >= 0
"""


@pytest.mark.slow  # twelve comparisons
def test_values_and_losses_are_those_of_a_comparison():
    Path("test_own.py").write_text(FIXTURE)
    code, printed = run("test_own.py")
    assert code == 0, printed


@pytest.mark.slow  # six comparisons
def test_an_assertion_names_value_and_worst_run_and_nothing_unmeasured_passes():
    Path("test_own.py").write_text(FAILING)
    code, printed = run("test_own.py")
    assert (code, printed.count("FAILED test_own.py::")) == (1, 6), printed
    assert len(re.findall(r"^E .*needed\.recall of hundred is 0\.\d+, worst run \w+: 0", printed, re.MULTILINE)) == 2
    assert re.search(r"^E .*cost\.prompt_tokens of hundred is \d{3,}", printed, re.MULTILINE)
    assert "ZeroDivisionError" in printed
