"""What reports show of one run: notes counted, judgements, and the path of its routes; each cut to what a page can hold."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from handmade import opened, result

from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.shown import compactions_shown, judgements_shown, notes_shown, path, routes_shown
from bench.metrics import example
from bench.model import Decision, ModelTurn, Note, Run, ToolCall
from bench.replayer.loop import Replayer
from bench.strategies import parse_strategy

RUN = example().run


def noted(*notes: tuple[int, str, str]) -> Run:
    return msgspec.structs.replace(
        RUN, notes=tuple(Note(step=step, slot=slot, text=text) for step, slot, text in notes)
    )


def test_notes_are_counted_the_most_frequent_first_each_with_its_first_step() -> None:
    run = noted((3, "writer", "b"), (5, "store", "a"), (7, "store", "a"), (8, "store", "b"), (9, "compactor", "z"))
    assert [(note.slot, note.text, note.count, note.step) for note in notes_shown(run)] == [
        ("store", "a", 2, 5),
        ("compactor", "z", 1, 9),
        ("store", "b", 1, 8),
        ("writer", "b", 1, 3),
    ]


def test_twelve_notes_of_400_characters_are_shown() -> None:
    run = noted(*((step, "store", f"{step:02}" + "x" * 500) for step in range(13)))
    shown = notes_shown(run)
    assert [note.step for note in shown] == list(range(12))
    assert {len(note.text) for note in shown} == {400}


def judged(*evaluations: dict[str, Any] | None) -> Run:
    (outcome,) = RUN.results
    results = [msgspec.structs.replace(outcome, step=step, evaluation=of) for step, of in enumerate(evaluations)]
    return msgspec.structs.replace(RUN, results=tuple(results))


@pytest.mark.parametrize(
    ("evaluation", "outcome"),
    [
        ({}, "succeeded"),
        ({"success": True}, "succeeded"),
        ({"success": False}, "failed"),
        ({"success": False, "critical_failure": True}, "critical failure"),
        ({"success": True, "critical_failure": False}, "succeeded"),
    ],
)
def test_what_an_evaluator_came_to(evaluation: dict[str, Any], outcome: str) -> None:
    (shown,), total = judgements_shown(judged(None, {**evaluation, "rows": 471, "why": "so", "timestamp": 7}))
    assert (shown.step, shown.function, shown.outcome, total) == (1, "count", outcome, 1)
    assert (shown.conclusions, shown.result_type) == ("rows: 471; why: so", "text")


def test_twelve_judgements_are_shown_and_all_are_counted() -> None:
    shown, total = judgements_shown(judged(*({"why": "x" * size} for size in range(390, 404))))
    assert (len(shown), total) == (12, 14)
    assert [len(item.conclusions) for item in shown[:6]] == [395, 396, 397, 398, 399, 400]
    assert {len(item.conclusions) for item in shown[6:]} == {400}
    assert [item.conclusions.endswith("...") for item in shown] == [False] * 6 + [True] * 6


def decisions(*routes: str) -> list[Decision]:
    return [
        Decision(step=step, router="r", at="end", route=route, untruncated="next") for step, route in enumerate(routes)
    ]


def test_a_short_path_is_shown_whole_and_of_a_long_one_what_is_around_a_wrong_turn() -> None:
    assert [turn.count for turn in path(decisions(*["next"] * 12))] == [1] * 12
    assert [(turn.step, turn.count) for turn in path(decisions(*["next"] * 13))] == [(0, 13)]
    routes = [*["next"] * 5, "stop", *["next"] * 7]
    shown = [(turn.step, turn.count, turn.taken, turn.expected) for turn in path(decisions(*routes))]
    assert shown == [
        (0, 4, "as expected", None),
        (4, 1, "next", None),
        (5, 1, "stop", "next"),
        (6, 1, "next", None),
        (7, 6, "as expected", None),
    ]


def test_routes_are_counted_and_the_first_wrong_one_is_told() -> None:
    shown = routes_shown(decisions("next", "stop", "next", "abort"))
    assert [(item.taken, item.expected, item.count) for item in shown.counts] == [
        ("abort", "next", 1),
        ("next", "next", 2),
        ("stop", "next", 1),
    ]
    assert (shown.first_wrong_step, shown.left_out) == (1, 0)
    assert shown.first_wrong is not None
    assert (shown.first_wrong.taken, shown.first_wrong.expected) == ("stop", "next")
    fine = routes_shown(decisions("next"))
    assert (fine.first_wrong, fine.first_wrong_step) == (None, None)
    many = routes_shown(decisions(*["stop"] * 50))
    assert (len(many.path), many.left_out) == (48, 2)


def test_the_first_twenty_compactions_of_a_thread_are_shown() -> None:
    steps: list[Any] = []
    for number in range(30):
        index, call = 2 * number + 2, f"c{number}"
        steps += [
            ModelTurn(index=index, content=f"run_{number}", tool_calls=(ToolCall(id=call, name="f", arguments={}),)),
            result(f"run_{number} gave {number + 4711}", index=index + 1, call_id=call),
        ]
    recording = opened([*steps, ModelTurn(index=62, content="done")])
    evidence = TraceEvidence(recording)
    masked = Replayer(evidence).run(parse_strategy("m=compactor=mask_observations:keep_last=1"))
    (curve,) = compactions_shown(RunEvidence(evidence, masked))
    assert [item.step for item in curve] == [*range(6, 46, 2)]
