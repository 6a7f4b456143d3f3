"""Probes: questions asked of every strategy, by hand, against the slow reference, and every way in which one cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from handmade import opened, result, run_of, trace

import bench
from bench.evidence.probes import Questions, probes_of, search, turn_after
from bench.metrics import metric_of
from bench.metrics.probes import SHOWN_CHARS
from bench.model import Asked, AskedProbe, ModelTurn, Probe, Run, Sample, Trace, UserTurn
from bench.model.errors import ScenarioError
from bench.reports import rendered
from bench.run.scenario import read_scenario
from bench.traces.formats.native import encode_trace

ENRICHMENT = {
    "go": {"total_significant": 12, "terms": [f"term_{n}" for n in range(40)]},
    "kegg": json.dumps({"total_significant": 47, "p": 0.5, "done": True}),
}
HAND = trace(
    UserTurn(index=0, content="Enrich."),
    result(None, index=1, call_id="c1", function="enrich", data=ENRICHMENT),
    ModelTurn(index=2, content="KEGG has 47 terms."),
    result(None, index=3, call_id="c2", function="count", data={"rows": 276}),
    ModelTurn(index=4, content="Done."),
)
KEGG = Probe(question="How many KEGG terms?", result="enrich", path="kegg.total_significant")


def asked(probes: Sequence[Probe], recordings: Sequence[Trace], source: str) -> dict[str, list[dict[str, Any]]]:
    """The probes of some traces, by case, as a scenario asks them."""
    questions = Questions(probes, source)
    found = {recording.id: questions.of(recording) for recording in recordings}
    questions.require_asked()
    return found


def detail(sample: Sample) -> Asked:
    assert isinstance(sample.detail, Asked)
    return sample.detail


def samples(recording: Trace, strategy: str, *probes: Probe) -> list[Sample]:
    return measured(*labelled(recording, strategy, *probes))


def labelled(recording: Trace, strategy: str, *probes: Probe) -> tuple[Trace, Run]:
    asked_of = msgspec.structs.replace(recording, labels={"probes": asked(probes, [recording], "s.toml")[recording.id]})
    return asked_of, run_of(asked_of, strategy)


def measured(recording: Trace, run: Run, metric: str = "probes.recall") -> list[Sample]:
    return list(metric_of(metric).samples(RunEvidence(TraceEvidence(recording), run)))


def found(recording: Trace, strategy: str, **fields: Any) -> str:
    probe = msgspec.structs.replace(KEGG, **fields)
    (sample,) = samples(recording, strategy, probe)
    assert sample.numerator == float(bool(detail(sample).found))
    return detail(sample).found


@pytest.mark.parametrize(
    ("strategy", "where", "held"),
    [
        ("keep_all", "prompt", "path"),
        ("keep_all", "store", "path"),
        ("s=summarizer=truncate:limit=40", "prompt", "token"),  # cut, but a model turn had said 47
        ("drop_all", "prompt", ""),
        ("s=store=truncate:limit=40", "store", ""),
        ("s=store=truncate", "store", ""),  # 500 characters end within the terms
        ("s=store=external", "store", "path"),
        ("keep_all", "reply", "token"),
    ],
)
def test_by_hand(strategy: str, where: str, held: str) -> None:
    assert found(HAND, strategy, where=where) == held


@pytest.mark.slow
def test_what_a_cut_result_says_instead_is_shown(tmp_path: Path) -> None:
    (tmp_path / "cut.py").write_text(
        "def rows(result):\n    return {**result.data, 'rows': result.data['rows'][:164]} if 'rows' in result.data else None\n"
    )
    recording = trace(
        result(None, index=0, function="f", data={"rows": list(range(276))}), ModelTurn(index=1, content="So.")
    )
    probe = Probe(question="How many rows?", result="f", path="length(rows)")
    asked_of = msgspec.structs.replace(recording, labels={"probes": asked([probe], [recording], "s")["t"]})
    compared = bench.compare([asked_of], ["cut=summarizer=cut.py:rows"], base=tmp_path)
    (sample,) = compared.by_case["t"].runs["cut"].probes
    # 276 is nowhere: the records kept are 164, and who counts them reports a wrong total
    assert (sample.numerator, detail(sample).expected, detail(sample).got) == (0.0, "276", "164")
    text = rendered([compared], "markdown", ["judgements"])
    assert "| 276 | 164 |" in text


@pytest.mark.parametrize("length", [SHOWN_CHARS - 2, SHOWN_CHARS, 3 * SHOWN_CHARS])
def test_a_long_answer_is_told_by_its_first_200_characters_and_judged_whole(length: int) -> None:
    answer = "x" * (length - 1) + "y"
    recording = trace(result(None, index=0, function="f", data={"a": answer}), ModelTurn(index=1, content="So."))
    probe = Probe(question="Which?", result="f", path="a")
    (whole,) = samples(recording, "keep_all", probe)
    assert detail(whole).expected == f'"{answer}"'[:200]
    assert detail(whole).found == "path"
    other = msgspec.structs.replace(probe, path=None, expected="x" * length)  # the same beginning
    (missed,) = samples(recording, "keep_all", msgspec.structs.replace(other, path=None))
    assert detail(missed).found == ""
    step = recording.results[0].index
    asked_of = msgspec.structs.replace(
        recording, labels={"probes": [{"question": "?", "expected": "x" * length, "step": step, "path": "a"}]}
    )
    (instead,) = measured(asked_of, run_of(asked_of, "keep_all"))
    assert detail(instead).got == f'"{answer}"'[:200]


def test_a_number_without_its_label_is_only_a_word() -> None:
    recording = trace(
        result("numbers: 12 47 0.5", index=0, function="f", full=json.dumps(ENRICHMENT)),
        ModelTurn(index=1, content="."),
    )
    (bare,) = samples(recording, "recorded", msgspec.structs.replace(KEGG, result="f"))
    assert (bare.numerator, detail(bare).found, bare.upper_bound) == (1.0, "token", True)
    (kept,) = samples(recording, "keep_all", msgspec.structs.replace(KEGG, result="f"))
    assert (detail(kept).found, kept.upper_bound) == ("path", False)


@pytest.mark.parametrize(
    ("expected", "text", "held"),
    [
        (47, "total 47", "token"),
        (47, "total 471", ""),
        (47, "0.47", ""),
        (True, "{'ok': True}", "token"),
        (True, "it was true", "token"),
        (None, "None", "token"),
        (0.5, "0.5", "token"),
        (["a_1", {"n": 12}], "a_1 and 12", "token"),
        (["a_1", {"n": 12}], "a_1 and 13", ""),
        ("two words", "two words.", "token"),
        ("two words", "two  words", ""),
    ],
)
def test_an_answer_as_written(expected: Any, text: str, held: str) -> None:
    recording = trace(result(text, index=0), ModelTurn(index=1, content="."))
    asked_of = msgspec.structs.replace(recording, labels={"probes": [{"question": "q", "expected": expected}]})
    (sample,) = measured(asked_of, run_of(asked_of, "keep_all"))
    assert detail(sample).found == held


def test_at_a_step_and_at_the_end() -> None:
    strategy = "s=compactor=mask_observations:keep_last=1"
    recording = msgspec.structs.replace(
        HAND, steps=(*HAND.steps[:2], ModelTurn(index=2, content="I see."), *HAND.steps[3:])
    )
    assert found(recording, strategy, at=2) == "path"
    assert found(recording, strategy) == ""


@pytest.mark.parametrize(
    ("where", "step", "at", "turn"),
    [
        ("prompt", 1, None, 8),
        ("prompt", 1, 2, 2),
        ("prompt", 1, 3, 4),
        ("prompt", 1, 4, 4),
        ("prompt", 1, 5, 8),
        ("prompt", 1, 9, None),
        ("prompt", None, 1, 2),
        ("prompt", None, None, 8),
        ("reply", 1, None, 2),
        ("reply", None, None, 8),
        ("reply", 1, 5, 8),
        ("prompt", 5, None, 6),  # in the other thread
    ],
)
def test_the_turn_that_a_probe_looks_at(where: Any, step: int | None, at: int | None, turn: int | None) -> None:
    turns = [ModelTurn(index=index, content=".") for index in (2, 4, 8)]
    recording = trace(
        UserTurn(index=0, content="So?"),
        result("x", index=1),
        *turns[:2],
        result("y", index=5, thread="critic"),
        ModelTurn(index=6, thread="critic", content="."),
        turns[2],
    )
    looked_at = turn_after(recording, AskedProbe(question="?", expected=1, where=where, step=step, at=at))
    assert (looked_at.index if looked_at else None) == turn


def test_a_function_asks_each_of_its_results() -> None:
    recording = opened(
        [result(None, index=n, function="f", call_id=str(n), data={"n": n} if n != 3 else {}) for n in (2, 3, 4)]
    )
    probes = asked([Probe(question="n?", result="f", path="n")], [recording], "s")["t"]
    assert [(probe["step"], probe["expected"]) for probe in probes] == [(2, 2), (4, 4)]  # the second has no n
    by_call = asked([Probe(question="n?", result="4", path="n")], [recording], "s")["t"]
    by_step = asked([Probe(question="n?", result=4, path="n", case="t*")], [recording], "s")["t"]
    assert by_call == by_step == [probes[1]]


def test_nothing_after_the_result_is_not_measured() -> None:
    recording = trace(ModelTurn(index=0, content="a"), result(None, index=1, function="enrich", data=ENRICHMENT))
    (sample,) = samples(recording, "keep_all", KEGG)
    assert (sample.numerator, sample.reason) == (None, "no model turn follows the result")


def test_a_consumers_reply_is_asked_before_the_recorded_turn(tmp_path: Path) -> None:
    (tmp_path / "say.py").write_text(
        "from bench.strategies import Reply\ndef say(execution):\n    return Reply(text='It has 46 terms.', path='x')\n"
    )
    probe = msgspec.structs.replace(KEGG, where="reply")
    asked_of = msgspec.structs.replace(HAND, labels={"probes": asked([probe], [HAND], "s")["t"]})
    compared = bench.compare([asked_of], ["say=consumer=say.py:say"], base=tmp_path)
    assert compared.row("say", "probes.recall").value == 0
    assert compared.row("keep_all", "probes.recall").value == 1
    (recorded,) = compared.by_case["t"].runs["keep_all"].probes
    assert detail(recorded).recorded_reply


def test_the_reply_to_its_own_result_is_asked_and_none_to_another(tmp_path: Path) -> None:
    (tmp_path / "say.py").write_text(
        "from bench.strategies import Reply\ndef say(execution):\n    return Reply(text=f'{execution.result.index} said', path='x')\n"
    )
    first, second = (Probe(question="Which?", result=step, expected=f"{step} said", where="reply") for step in (1, 3))
    asked_of = msgspec.structs.replace(HAND, labels={"probes": asked([first, second], [HAND], "s")["t"]})
    compared = bench.compare([asked_of], ["say=consumer=say.py:say"], base=tmp_path)
    assert compared.row("say", "probes.recall").value == 1


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"path": "kegg.total"}, r"path 'kegg.total' finds nothing in the untruncated result of t, step 1 \(enrich\)"),
        ({"path": "go.terms[?@ == 'x']"}, "finds nothing"),
        ({"result": "enrichh"}, r"'enrichh' — did you mean enrich\?"),
        ({"result": 9}, "no tool result is step, call or function 9"),
        ({"case": "u*"}, r"no case is called 'u\*'"),
        ({"at": 1}, "`at` = 1 is not after the result"),
        ({"at": 99}, "no model turn from step 99 on"),
        ({"at": 2, "where": "store"}, "a store is asked at the end"),
    ],
)
def test_a_question_that_cannot_be_asked(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ScenarioError, match=says) as error:
        asked([msgspec.structs.replace(KEGG, **fields)], [HAND], "s.toml")
    assert str(error.value).startswith("s.toml: probes[1] (How many KEGG terms?): ")
    assert "\n" not in str(error.value)


HEAD = 'traces = ["native:long.jsonl"]\nstrategies = { cut = { summarizer = "truncate:limit=40" } }\n[[probes]]\n'


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('question = "q"\nresult = 1\npaht = "x"', r"probes\[1\]: unknown key 'paht' — did you mean path"),
        ('question = "q"\nresult = 1\npath = "a["', r"path 'a\[' is not JMESPath"),
        ('question = "q"\nresult = 1\npath = "a"\nwhere = "memory"', "where"),
        ('question = "q"\nresult = 1', "no answer"),
        ('question = "q"\nresult = 1\npath = "a"\nexpected = 1', "two answers"),
        ('question = "q"\npath = "a"', "`path` without `result`"),
        ('question = "q"\nexpected = 1\nwhere = "store"', "without `result`"),
        ('result = 1\npath = "a"', "question"),
        ('question = 3\nresult = 1\npath = "a"', "question"),
        ('question = "q"\nexpected = "many"\ntype = "number"', r'`type = "number"`: \'many\' is no number'),
        ('question = "q"\nexpected = true\ntype = "number"', "True is no number"),
        ('question = "q"\nabsent = ["a_b", 7]\ntype = "text"', "7 is no text"),
        ('question = "q"\nabsent = "?!"\ntype = "text"', "holds no word"),
        ('question = "q"\nabsent = ""', "`absent` is empty"),
        ('question = "q"\nabsent = 1\nexpected = 2', "two answers, `expected` and `absent`"),
        ('question = "q"\nabsent = 1\nresult = "f"\npath = "a"', "two answers, `path` and `absent`"),
        ('question = "q"\nabsent = 1\nwhere = "store"', "without `result`"),
        ('question = "q"\nexpected = 1\ntype = "numbr"', r"numbr"),
        ('question = "q"\nabscent = 1', "unknown key 'abscent' — did you mean absent"),
        ('question = "q"\ntype = "number"', "no answer"),
    ],
)
def test_a_scenario_that_asks_wrongly(tmp_path: Path, table: str, says: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(HEAD + table)
    with pytest.raises(ScenarioError, match=says) as error:
        read_scenario(path)
    assert "\n" not in str(error.value)


def test_the_whole_way(tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_bytes(encode_trace(HAND))
    path = tmp_path / "s.toml"
    gate = '\n[[gates]]\nmetric = "probes.recall"\nmin = 1.0\n'
    path.write_text(HEAD + 'question = "KEGG?"\nresult = "enrich"\npath = "go.total_significant"\nat = 2\n' + gate)
    compared = bench.run_scenario(path)
    assert (
        compared.row("cut", "probes.recall").value == 1
    )  # `{'go': {'total_significant': 12` is in the first 40 characters
    assert [verdict.outcome for verdict in compared.verdicts] == ["pass"]
    path.write_text(HEAD + 'question = "KEGG?"\nresult = "enrich"\npath = "kegg.p"\n' + gate)
    compared = bench.run_scenario(path)
    assert compared.row("cut", "probes.recall").value == 0
    assert compared.row("keep_all", "probes.recall").value == 1
    assert [verdict.outcome for verdict in compared.verdicts] == ["fail"]
    assert "1 answer lost" not in rendered([compared], "markdown", ["window"])
    assert "0.5" in rendered([compared], "markdown", ["judgements"])


def test_a_question_to_no_case_of_a_scenario_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_bytes(encode_trace(HAND))
    (tmp_path / "s.toml").write_text(HEAD + 'question = "q"\nexpected = 1\ncase = "u*"\n')
    with pytest.raises(ScenarioError, match=r"no case is called 'u\*'"):
        bench.run_scenario(tmp_path / "s.toml")


def test_labels_that_are_no_probes_are_told() -> None:
    recording = msgspec.structs.replace(HAND, labels={"probes": [{"quest": 1}]})
    (sample,) = measured(recording, run_of(recording, "keep_all"))
    assert sample.numerator is None
    assert "labels.probes" in sample.reason
    assert measured(HAND, run_of(HAND, "keep_all")) == []
    assert probes_of(HAND) == ()


def test_searching_what_is_no_data() -> None:
    assert search("a", "plain text") is None
    assert search("length(@)", 5) is None
    assert search("a.b", {"a": '{"b": [1'}) is None  # a string that is no whole value stays a string
