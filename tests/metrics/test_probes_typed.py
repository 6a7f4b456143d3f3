"""Probes with a type, probes of what must not be there, and all kinds against the slow reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from generated import traces
from handmade import result, run_of, trace
from hypothesis import given, strategies as st
from reference import probing
from test_probes import detail, measured

import bench
from bench.evidence.probes import Questions, probes_of, search, turn_after
from bench.model import ModelTurn, Probe, ToolCall, Trace, UserTurn
from bench.model.errors import ScenarioError
from bench.reports import rendered
from bench.run.scenario import read_scenario
from bench.text.answers import is_answer, said
from bench.traces.formats.native import encode_trace

CALL = ToolCall(id="c1", name="plan", arguments={"budget": "1,250.50", "owner": "Pietro Murano"})
TYPED = trace(
    UserTurn(index=0, content="There are 14,122,787 rows. Ask Pietro  Murano."),
    ModelTurn(index=1, content="I plan with -3 degrees.", tool_calls=(CALL,)),
    result(None, index=2, call_id="c1", function="plan", data={"total": "$47.00", "rows": 470, "by": "Ada Lovelace"}),
    ModelTurn(index=3, content="The total is 46 dollars."),
    UserTurn(index=4, content="No, it is 47 dollars!"),
    ModelTurn(index=5, content="Done."),
)


def of(probe: Probe, recording: Trace = TYPED) -> Trace:
    return msgspec.structs.replace(recording, labels={"probes": Questions([probe], "s.toml").of(recording)})


def found_typed(strategy: str, **fields: Any) -> str:
    recording = of(Probe(question="q", **fields))
    (sample,) = measured(recording, run_of(recording, strategy))
    assert sample.upper_bound == (detail(sample).found == "token")
    return detail(sample).found


@pytest.mark.parametrize(
    ("fields", "held"),
    [
        ({"expected": 14122787, "type": "number"}, "token"),  # in the user's words
        ({"expected": 14122787}, ""),
        ({"expected": "14,122,787.0", "type": "number"}, "token"),
        ({"expected": -3, "type": "number"}, "token"),  # in the model's words
        ({"expected": -47, "type": "number"}, ""),
        ({"expected": 1250.5, "type": "number"}, "token"),  # in the arguments of a call
        ({"expected": "pietro murano", "type": "text"}, "token"),
        ({"expected": "pietro murano"}, ""),
        ({"expected": "Murano Pietro", "type": "text"}, ""),
        ({"expected": "ietro Murano", "type": "text"}, ""),
        ({"expected": [47, {"rows": 470}], "type": "number"}, "token"),
        ({"expected": [47, {"rows": 471}], "type": "number"}, ""),
        ({"result": "plan", "path": "total", "type": "number"}, "path"),
        ({"result": "plan", "path": "[rows, total]", "type": "number"}, "path"),
        ({"result": "plan", "path": "by", "type": "text"}, "path"),
    ],
)
def test_answers_with_a_type(fields: dict[str, Any], held: str) -> None:
    assert found_typed("keep_all", **fields) == held


@pytest.mark.slow
def test_a_number_at_its_path_is_compared_by_value_and_at_a_text_by_its_words(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def other(result):\n    return {'total': 47.0, 'rows': '0470', 'by': 'ADA  LOVELACE'}\n"
    )
    strategy = bench.compare([TYPED], ["mine=summarizer=mine.py:other"], base=tmp_path)
    assert strategy.strategies == ("mine",)
    for path, kind, held in (
        ("total", "number", "path"),
        ("rows", "number", "path"),
        ("by", "text", "path"),
        ("total", "exact", ""),
        ("rows", "exact", ""),
        ("by", "exact", ""),
    ):
        recording = of(Probe(question="q", result="plan", path=path, type=kind))
        compared = bench.compare([recording], ["mine=summarizer=mine.py:other"], base=tmp_path)
        (sample,) = compared.by_case["t"].runs["mine"].probes
        assert detail(sample).found == held, (path, kind)


@pytest.mark.parametrize(
    ("strategy", "fields", "there"),
    [
        ("keep_all", {"absent": 46, "type": "number"}, 1),  # the model's own mistake, stale since the user's answer
        ("keep_all", {"absent": 46, "type": "number", "at": 1}, 0),
        ("s=compactor=sliding_window:keep_last=1", {"absent": 46, "type": "number"}, 0),
        ("keep_all", {"absent": 4, "type": "number"}, 0),
        ("keep_all", {"absent": "ada lovelace", "type": "text"}, 1),
        ("keep_all", {"absent": "ada lovelace"}, 0),
        ("keep_all", {"absent": "Ada", "where": "store", "result": "plan"}, 1),
        ("keep_all", {"absent": "Charles", "where": "store", "result": "plan"}, 0),
        ("keep_all", {"absent": "46", "where": "reply", "result": "plan"}, 1),
        ("keep_all", {"absent": "47", "where": "reply", "result": "plan"}, 0),
    ],
)
def test_what_must_not_be_there(strategy: str, fields: dict[str, Any], there: int) -> None:
    recording = of(Probe(question="q", **fields))
    run = run_of(recording, strategy)
    (sample,) = measured(recording, run, "probes.unwanted")
    assert (sample.numerator, sample.denominator, sample.upper_bound) == (there, None, False)
    assert measured(recording, run) == [], "what must not be there is no answer that is held"


@pytest.mark.slow
def test_one_that_a_summary_invents_turns_the_gate_red_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def invents(result):\n    return 'total: 48, by Charles Babbage'\n")
    (tmp_path / "t.jsonl").write_bytes(encode_trace(TYPED))
    path = tmp_path / "s.toml"
    path.write_text(
        """
        traces = ["native:t.jsonl"]
        strategies = { keep = {}, invents = { summarizer = "mine.py:invents" } }
        probes = [
            { question = "Who?", absent = "charles babbage", type = "text" },
            { question = "How much?", absent = 48, type = "number" },
            { question = "How many?", expected = 14122787, type = "number" },
        ]
        gates = [{ metric = "probes.unwanted", max = 0 }, { metric = "probes.recall", min = 0.01 }]
        """
    )
    compared = bench.run_scenario(path)
    verdicts = {(item.strategy, item.metric): item.outcome for item in compared.verdicts}
    assert verdicts["invents", "probes.unwanted"] == "fail"
    assert verdicts["keep", "probes.unwanted"] == "pass"
    assert compared.row("invents", "probes.unwanted").value == 2
    assert compared.row("keep_all", "probes.unwanted").value == 0
    text = rendered([compared], "markdown", ["judgements"])
    assert "2 answers there that must not be." in text
    assert "1 question; answers held, of those asked." in text
    assert "2 questions; answers that must not be there and are, of those asked." in text
    line = next(line for line in text.splitlines() if "Who?" in line and "invents" in line and "charles" in line)
    assert line
    only = read_scenario(path)
    assert [probe.absent for probe in only.probes] == ["charles babbage", 48, None]


def test_an_answer_at_a_path_that_is_not_of_the_type_is_told_with_its_place() -> None:
    with pytest.raises(
        ScenarioError,
        match=r"s\.toml: probes\[1\] \(q\): `type = \"number\"`: 'Ada Lovelace' is no number, at 'by' in t, step 2",
    ):
        of(Probe(question="q", result="plan", path="by", type="number"))
    labels = {"probes": [{"question": "q", "expected": "x", "type": "number"}]}
    broken = msgspec.structs.replace(TYPED, labels=labels)
    (sample,) = measured(broken, run_of(broken, "keep_all"))
    assert sample.numerator is None
    assert "labels.probes" in (sample.reason or "")


def test_a_probe_without_the_new_settings_is_asked_as_ever() -> None:
    """Its labels, hence the hash of the questions in a signature, are what they were before there were types."""
    assert Questions([Probe(question="q", expected=1)], "s").of(TYPED) == [
        {"question": "q", "expected": 1, "where": "prompt", "step": None, "path": None, "at": None}
    ]


NUMBERS = st.integers(-(10**9), 10**9) | st.decimals(min_value=-9999, max_value=9999, places=2).map(float)


@given(NUMBERS, st.sampled_from(("{:,}", "{}", "${:,}", "{:,}.", "<b>{}</b>", "x: {},y", "[{}]")))
def test_a_number_is_found_however_it_is_written(number: float, way: str) -> None:
    assert said([way.format(number)], number, "number")
    assert is_answer(f"{number:,}", number, "number")
    assert not said([way.format(number + 1)], number, "number")


PATHS = ("rows[0].Name", "length(rows)", "go.terms[*].Value", "go.terms[0]", "is_success",
         "structured_output[0].data[0].Name", "extra", "output")  # fmt: skip
REPLAYED = ("keep_all", "recorded", "cut=summarizer=truncate:limit=90+store=truncate:limit=90",
            "mask=compactor=mask_observations:keep_last=1", "floor")  # fmt: skip


@pytest.mark.slow
@given(
    traces(max_turns=7), st.sampled_from(PATHS), st.sampled_from(("prompt", "store", "reply")), st.sampled_from(REPLAYED),
    st.none() | st.integers(0, 20), st.sampled_from(("exact", "number", "text")), st.booleans(),
)  # fmt: skip
def test_against_the_slow_reference(
    recording: Trace, path: str, where: str, strategy: str, at: int | None, kind: str, absent: bool
) -> None:
    fits = {"exact": lambda answer: answer is not None, "number": lambda answer: isinstance(answer, int),
            "text": lambda answer: isinstance(answer, str) and any(map(str.isalnum, answer))}[kind]  # fmt: skip
    held = [
        {"question": "q", "expected": answer, "where": where, "step": item.index, "path": None if absent else path,
         "at": at, "type": kind, "absent": absent}
        for item in recording.results
        if fits(answer := search(path, item.value))
    ]  # fmt: skip
    asked_of = msgspec.structs.replace(recording, labels={"probes": held})
    run = run_of(asked_of, strategy)
    got = measured(asked_of, run, "probes.unwanted" if absent else "probes.recall")
    slow = [probing.found(asked_of, run, probe) for probe in held]
    assert [None if item.numerator is None else detail(item).found for item in got] == slow
    if strategy == "keep_all" and where != "reply" and not absent:
        assert all(found in (None, "path") for found in slow)
    for probe in probes_of(asked_of):
        turn = turn_after(asked_of, probe)
        assert turn is None or turn.index > (probe.step or -1)
