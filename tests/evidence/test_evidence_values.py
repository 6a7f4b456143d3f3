"""What is found of traces and runs is shared by everybody who asks: nobody can change it."""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.own_words import OwnText, OwnWords
from handmade import opened, result, run_of

import bench
from bench.model import ContextReset, Message

MUTABLE = {"_Told", "_Parts", "_CauseFound", "_Sides", "ScenarioTraces"}
"""What grows while one function works, and is seen by nobody else."""

FOUND = [
    value
    for module in pkgutil.walk_packages(bench.__path__, "bench.")
    if module.name.split(".")[1] in ("metrics", "comparison", "evidence", "text", "run")
    for value in vars(importlib.import_module(module.name)).values()
    if isinstance(value, type) and (dataclasses.is_dataclass(value) or issubclass(value, msgspec.Struct))
    if value.__module__ == module.name
]


@pytest.mark.parametrize(
    "kind", [kind for kind in FOUND if kind.__name__ not in MUTABLE], ids=lambda kind: kind.__name__
)
def test_values_are_frozen(kind: type) -> None:
    assert (kind.__dataclass_params__ if dataclasses.is_dataclass(kind) else kind.__struct_config__).frozen  # type: ignore[attr-defined]


def test_figures_that_can_be_worked_out_of_a_result_and_beginnings_of_what_it_says() -> None:
    rows = [{"n": 2, "on": True}, {"n": 7, "on": True}, {"n": 3}]
    trace = opened(
        [
            result(data={"rows": rows[:2], "last": rows[2]}, index=2),
            result("of walls: Rows", index=3),
            ContextReset(index=4, summary="so"),
        ]
    )
    said = TraceEvidence(trace).said_before
    # counts of equal values, then sum, mean, median, both deviations, count and spread of the only column of numbers
    assert sorted(said.figures[2]) == pytest.approx([1, 2, (14 / 3) ** 0.5, 7**0.5, 3, 3, 4, 5, 12])
    begun = ("ro", "rows n ro", "zz", "zz ro", "rows zz ro")
    assert [said.begins(text) for text in begun] == [True, True, False, False, False]
    made = [Message(role="user", kind="made", text=text) for text in ("so", "so far")]
    assert list(map(said.as_recorded, made)) == [True, False]
    assert [said.since(word, "name") for word in ("Rows", "rows", "walls", "beam")] == [-math.inf] * 3 + [math.inf]
    assert [said._said(word) for word in ("Rows", "rows", "walls")] == [2, 2, 3]
    own = OwnWords(run_of(trace, "keep_all"), said)
    assert [own._figured(value, trace.results[0]) for value in (5.0, 2.645751, 5.5)] == [True, True, False]


def test_a_number_that_only_counts_the_lines_of_a_result_is_none_of_its_own() -> None:
    trace = opened([result("alpha beta\ngamma", index=2)])
    own = OwnText(Message(role="user", kind="made", text=""), "", 0, "", trace.results[0])
    words = OwnWords(run_of(trace, "keep_all"), TraceEvidence(trace).said_before)
    assert [words._spots(f"{number}: alpha beta", own, {f"{number}"})[f"{number}"] for number in (0, 1, 2)] == [
        [(0, 1), None],
        [(0, 1), None],
        [(0, 1)],
    ]


@pytest.mark.parametrize(
    ("text", "number", "harmless"),
    [("it has 64 bytes", "64", True), ("it has 65 bytes", "65", False), ("length: 64", "64", True), ("gate 64 in Rome", "64", False)],
)  # fmt: skip
def test_a_number_that_counts_what_is_there_or_left_out_is_harmless(text: str, number: str, harmless: bool) -> None:
    """Of a result of 16 characters, which have 64 bytes at most."""
    trace = opened([result("alpha beta gamma", index=2)])
    own = OwnText(Message(role="user", kind="made", text=text), text, 3, "", trace.results[0])
    words = OwnWords(run_of(trace, "keep_all"), TraceEvidence(trace).said_before)
    assert words._harmless(number, "number", text, own, words._spots(text, own, {number})) is harmless
