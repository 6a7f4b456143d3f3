"""Choosing a script for a request: three rules over one manifest, what each finds, and what it puts into the prompt."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from generated import json_values
from hypothesis import given, strategies as st
from measured import COUNT, measured
from readers import BFCL, BUILDING_AGENT

from bench.model import ModelTurn, Run, Source, SystemTurn, Told, Trace, UserTurn, compact_json
from bench.plugins.registry import build
from bench.replayer.loop import replay
from bench.strategies import compose
from bench.strategies.documents import document_003 as semantic
from bench.text.scripts import scripts_of
from bench.traces import load

ROUTERS = ("select_script.keyword", "select_script.action", "select_script.semantic")
every_router = pytest.mark.parametrize("router", ROUTERS)


def select(router: str, request: str, manifest: Any) -> list[str]:
    """The names a router returns, best first."""
    state = {"step": UserTurn(index=0, content=request), "manifest": manifest}
    route, detail = build("router", router).start()[1](state)
    assert route == (detail["ranked"][0] if detail["ranked"] else "none")
    return list(detail["ranked"])


def manifest_of(**descriptions: str) -> list[dict[str, Any]]:
    return [
        {"id": f"agent-scripts/{name}", "name": name, "metadata": {"description": text}}
        for name, text in descriptions.items()
    ]


@pytest.fixture(scope="module")
def rap(shared_traces: Path) -> list[Any]:
    """The manifest of the recorded session."""
    (trace,) = load([f"{BUILDING_AGENT}:{shared_traces / 'rap' / 'session-2025-11-17.json'}"]).traces
    return list(trace.meta["manifest"])


# ---------------------------------------------------------------- the three rules


def test_the_known_defect_of_keywords(rap: list[Any]) -> None:
    """Asked to create a wall, plain overlap also returns the script that lists a wall's parameters; the other rules do not put it first."""
    assert "WallParameters.cs" in select("select_script.keyword", "create a wall", rap)
    assert select("select_script.action", "create a wall", rap) == ["Create_Wall.cs", "Create_Spiral_Wall"]
    assert select("select_script.semantic:top=1", "create a wall", rap) == ["Create_Wall.cs"]
    without = [entry for entry in rap if not entry["name"].startswith("Create")]
    assert select("select_script.keyword", "create wall", without) == ["TestScript.cs", "WallParameters.cs"]
    assert select("select_script.action", "create a wall", without) == []


@pytest.mark.parametrize("router", ROUTERS[1:])
def test_the_recorded_requests(rap: list[Any], router: str) -> None:
    assert select(router, "create walls", rap)[0] in ("Create_Wall.cs", "Create_Spiral_Wall")
    assert select(router, "list wall parameters", rap)[0] == "WallParameters.cs"
    assert select(router, "generate a helical wall", rap)[0] == "Create_Spiral_Wall"


def test_keyword_ranks_by_overlap_and_then_by_the_manifest() -> None:
    manifest = manifest_of(B="one two", A="two three", C="three two one", D="four")
    assert select("select_script.keyword", "One, TWO three!", manifest) == ["C", "B", "A"]


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        ("Adds a door please", "Make_Door"),
        ("removing the door", "Drop_Door"),
        ("which doors are there", "Show_Doors"),
        ("rename the door", None),
    ],
)
def test_action_must_match(request_: str, first: str | None) -> None:
    manifest = manifest_of(Show_Doors="Of one level.", Make_Door="In a wall.", Drop_Door="From a wall.", Doors="")
    found = select("select_script.action", request_, manifest)
    assert found[:1] == ([first] if first else [])
    assert len(found) <= 1


def test_a_request_without_an_action_is_matched_by_its_objects() -> None:
    manifest = manifest_of(Show_Doors="", Make_Wall="")
    assert select("select_script.action", "the wall", manifest) == ["Make_Wall"]


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        ("turn it into currancy units", "ConvertCurrency"),
        ("convrt the lengths", "convert_length"),
        ("длины стен", "length_ru"),
    ],
)
def test_semantic_takes_names_apart_and_forgives_spelling(request_: str, first: str) -> None:
    manifest = manifest_of(ConvertCurrency="Money.", convert_length="Metres.", length_ru="Длина стены.")
    assert select("select_script.semantic", request_, manifest)[0] == first


def test_semantic_reads_parameters_and_examples() -> None:
    schema = {"type": "object", "properties": {"where": {"description": "destination airport", "enum": ["OSL"]}}}
    manifest = [
        {"name": "a", "description": "Do it.", "parameters": schema},
        {"name": "b", "description": "Do it.", "metadata": {"usage_examples": ["how large are the rooms"]}},
    ]
    assert select("select_script.semantic", "airport", manifest) == ["a"]
    assert select("select_script.semantic", "osl", manifest) == ["a"]
    assert select("select_script.semantic", "large room", manifest) == ["b"]


def bm25(request: str, manifest: list[Any]) -> dict[str, float]:
    """BM25 from its formula, one document and one word at a time."""
    documents = {script.name: Counter(semantic._document(script)) for script in scripts_of(manifest)}
    mean = sum(sum(count.values()) for count in documents.values()) / len(documents)
    scores = dict.fromkeys(documents, 0.0)
    for piece in set(semantic._pieces(request)):
        holders = [name for name, count in documents.items() if count[piece]]
        idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for name in holders:
            seen, length = documents[name][piece], sum(documents[name].values())
            saturated = seen / (seen + semantic.K1 * (1 - semantic.B + semantic.B * length / mean))
            scores[name] += idf * saturated
    return scores


_text = st.lists(
    st.sampled_from(["wall", "walls", "create", "listRooms", "door_type", "the", "é", "7"]), max_size=6
).map(" ".join)


@given(texts=st.lists(_text, min_size=1, max_size=5), request_=_text)
def test_semantic_is_bm25(texts: list[str], request_: str) -> None:
    manifest = [{"name": f"n{place}", "description": text} for place, text in enumerate(texts)]
    scores = bm25(request_, manifest)
    found = select("select_script.semantic:top=9", request_, manifest)
    assert set(found) == {name for name, score in scores.items() if score > 0}
    assert all(scores[a] >= scores[b] - 1e-5 for a, b in itertools.pairwise(found))


_keys = st.sampled_from(["name", "id", "description", "metadata", "parameters", "usage_examples"])


@pytest.mark.slow
@every_router
@given(manifest=json_values | st.lists(st.dictionaries(_keys, json_values)), request_=st.text(max_size=20))
def test_any_manifest_is_taken(router: str, manifest: Any, request_: str) -> None:
    known = [script.name for script in scripts_of(manifest)]
    found = select(router, request_, manifest)
    assert set(found) <= set(known)
    assert len(found) == len(set(found))
    assert found == select(router, request_, manifest)


@every_router
def test_nothing_to_choose_from_gives_none(router: str) -> None:
    assert select(router, "create a wall", None) == select(router, "", manifest_of(A="wall")) == []
    route, _ = build("router", router).start()[1]({})
    assert route == "none"


def test_of_two_scripts_with_one_name_the_later_goes_by_its_id() -> None:
    manifest = [{"id": "a/x", "name": "x"}, {"id": "b/x", "name": "x"}, {"name": "x"}, {"id": 3}]
    assert [script.name for script in scripts_of(manifest)] == ["x", "b/x"]


# ---------------------------------------------------------------- metrics


def trace_of(labels: Any) -> Trace:
    manifest = manifest_of(Make_Wall="Makes a wall.", List_Walls="Lists walls.", List_Doors="Lists doors.")
    steps = [SystemTurn(index=0, content="s"), UserTurn(index=1, content="make a wall"), ModelTurn(index=2, content="done"),
             UserTurn(index=3, content="list the doors"), UserTurn(index=4, content="thanks")]  # fmt: skip
    return Trace(
        id="t",
        source=Source(format="native"),
        steps=tuple(steps),
        labels={"scripts": labels},
        meta={"manifest": manifest},
    )


def run_of(trace: Trace, router: str = "select_script.keyword") -> Run:
    return replay(trace, compose("s", {"routers": [router]}))


def test_by_hand() -> None:
    trace = trace_of({"1": "Make_Wall", "3": "List_Walls"})
    run = run_of(trace)
    assert [decision.detail["ranked"] for decision in run.decisions] == [
        ["Make_Wall"],
        ["List_Doors", "List_Walls"],
        [],
    ]
    assert [sample.numerator for sample in measured("routing.selection_top1", trace, run)] == [1.0, 0.0]
    assert [sample.numerator for sample in measured("routing.selection_recall_at_3", trace, run)] == [1.0, 1.0]
    assert [sample.numerator for sample in measured("routing.selection_mrr", trace, run)] == [1.0, 0.5]
    found = [(item.expected, item.expected_from) for item in run.decisions]
    assert found == [("Make_Wall", "labelled"), ("List_Walls", "labelled"), ("none", "untruncated")]
    assert [sample.numerator for sample in measured("routing.accuracy", trace, run)] == [1.0, 0.0, 1.0]
    told = measured("routing.selection_top1", trace, run)[1].detail
    assert told == Told(text="expected List_Walls, got List_Doors, List_Walls")
    entries = {entry["name"]: COUNT.text(compact_json(entry)) for entry in trace.meta["manifest"]}
    shown = [entries["Make_Wall"], entries["List_Doors"] + entries["List_Walls"], 0]
    assert [sample.numerator for sample in measured("routing.selection_tokens", trace, run)] == shown


def selected(ranked: list[str], expected: str) -> tuple[Trace, Run]:
    """A run in which a selection router returned these names for a request that is meant for one of them."""
    trace = trace_of({"1": expected})
    run = run_of(trace)
    decisions = (msgspec.structs.replace(run.decisions[0], detail={"ranked": ranked}),)
    return trace, msgspec.structs.replace(run, decisions=decisions)


@pytest.mark.parametrize(("place", "found"), [(1, 1.0), (2, 1.0), (3, 1.0), (4, 0.0)])
def test_the_first_three_are_three(place: int, found: float) -> None:
    ranked = ["a", "b", "c", "d"]
    ranked[place - 1] = "Make_Wall"
    trace, run = selected(ranked, "Make_Wall")
    (sample,) = measured("routing.selection_recall_at_3", trace, run)
    assert sample.numerator == found
    told = None if place == 1 else Told(text=f"expected Make_Wall, got {', '.join(ranked[:3])}")
    assert sample.detail == told


@pytest.mark.parametrize(("ranked", "found"), [(["a", "b", "c", "Make_Wall"], 0.25), (["a"], 0.0), ([], 0.0)])
def test_a_script_that_was_not_returned_is_found_at_no_place(ranked: list[str], found: float) -> None:
    trace, run = selected(ranked, "Make_Wall")
    assert [sample.numerator for sample in measured("routing.selection_mrr", trace, run)] == [found]
    assert [sample.numerator for sample in measured("routing.selection_top1", trace, run)] == [0.0]


def test_a_script_outside_the_manifest_puts_nothing_into_the_prompt() -> None:
    trace, run = selected(["Make_Wall", "Deleted_Since"], "Make_Wall")
    entry = COUNT.text(compact_json(trace.meta["manifest"][0]))
    assert [sample.numerator for sample in measured("routing.selection_tokens", trace, run)] == [entry]


@pytest.mark.parametrize("label", ["agent-scripts/Make_Wall", ["List_Doors", "Make_Wall"]])
def test_a_label_may_be_an_id_or_several_names(label: Any) -> None:
    trace = trace_of({"1": label})
    assert [sample.numerator for sample in measured("routing.selection_top1", trace, run_of(trace))] == [1.0]


@pytest.mark.parametrize("labels", [{}, {"9": "Make_Wall"}, {"1": 7}, {"1": []}, "Make_Wall", None])
def test_without_labels_there_is_nothing_to_measure(labels: Any) -> None:
    trace = trace_of(labels)
    run = run_of(trace)
    assert (
        measured("routing.selection_top1", trace, run)
        == measured("routing.selection_recall_at_3", trace, run)
        == measured("routing.selection_mrr", trace, run)
        == []
    )
    assert len(measured("routing.selection_tokens", trace, run)) == 3


def test_other_routers_select_nothing() -> None:
    trace = trace_of({"1": "Make_Wall"})
    run = replay(trace, compose("s", {"routers": ["executor", "agent_turn"]}))
    assert run.decisions
    assert measured("routing.selection_top1", trace, run) == measured("routing.selection_tokens", trace, run) == []


# ---------------------------------------------------------------- the leaderboard's requests


def bfcl_line(**changes: Any) -> dict[str, Any]:
    question = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "capital of Brazil?"}]]
    functions = [{"name": "capital", "description": "Capital of a country."}, {"name": "area", "description": "Area."}]
    return {"id": "multiple_2", "question": question, "function": functions, "expected": ["capital"], **changes}


def read(path: Path, *lines: dict[str, Any]) -> tuple[Trace, ...]:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return load([f"{BFCL}:{path}"]).traces


def test_a_request_is_a_trace(tmp_path: Path) -> None:
    one, two = read(tmp_path / "r.jsonl", bfcl_line(), bfcl_line(id="m3", expected=["capital", "area"]))
    assert (one.id, one.source.format) == ("multiple_2", "bfcl")
    assert one.steps == (SystemTurn(index=0, content="Be brief."), UserTurn(index=1, content="capital of Brazil?"))
    assert (one.labels, two.labels) == ({"scripts": {"1": "capital"}}, {"scripts": {"1": ["capital", "area"]}})
    assert one.meta == {"manifest": bfcl_line()["function"]}


def test_a_single_request_without_an_expected_function(tmp_path: Path) -> None:
    line = {key: value for key, value in bfcl_line().items() if key not in ("expected", "id")}
    (trace,) = read(tmp_path / "r.jsonl", line)
    assert (trace.id, trace.labels) == ("r", {})


@pytest.fixture(scope="module")
def bfcl(shared_traces: Path) -> tuple[Trace, ...]:
    """The recorded requests."""
    return load([f"{BFCL}:{shared_traces / 'bfcl'}"]).traces


@pytest.mark.slow
@pytest.mark.parametrize(
    ("router", "low", "high"), [(ROUTERS[0], 0.74, 0.78), (ROUTERS[1], 0.6, 0.8), (ROUTERS[2], 0.93, 0.95)]
)
def test_top1_on_the_recorded_requests(bfcl: tuple[Trace, ...], router: str, low: float, high: float) -> None:
    samples = [sample for trace in bfcl for sample in measured("routing.selection_top1", trace, run_of(trace, router))]
    assert len(samples) == 364
    assert low <= sum(sample.numerator or 0 for sample in samples) / 364 <= high
