"""What reports show of one run: notes counted, judgements, and the path of its routes; each cut to what a page can hold."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from bench.evidence.of_run import RunEvidence
from bench.evidence.of_trace import TraceEvidence
from bench.evidence.shown import (
    calls_shown,
    notes_shown,
    path,
    routes_shown,
    run_shown,
    window_shown,
)
from bench.evidence.validity import Checked
from handmade import opened, result

from bench.metrics import example
from bench.model import Decision, Judgement, Message, ModelTurn, Note, Prompt, Run, Splice, ToolCall
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


def judgements_of(run: Run) -> tuple[tuple[Judgement, ...], int]:
    shown = run_shown(RunEvidence(TraceEvidence(example().trace), run), [], {})
    return shown.judgements, shown.judged


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
    (shown,), total = judgements_of(judged(None, {**evaluation, "rows": 471, "why": "so", "timestamp": 7}))
    assert (shown.step, shown.function, shown.outcome, total) == (1, "count", outcome, 1)
    assert (shown.conclusions, shown.result_type) == ("rows: 471; why: so", "text")


def test_twelve_judgements_are_shown_and_all_are_counted() -> None:
    shown, total = judgements_of(judged(*({"why": "x" * size} for size in range(390, 404))))
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


@pytest.mark.parametrize(
    ("place", "counts"), [(0, [1, 1, 11]), (1, [1, 1, 1, 10]), (11, [10, 1, 1, 1]), (12, [11, 1, 1])]
)
def test_a_wrong_turn_at_either_end_of_a_long_path_is_shown(place: int, counts: list[int]) -> None:
    routes = ["next"] * 13
    routes[place] = "stop"
    turns = list(path(decisions(*routes)))
    assert [turn.count for turn in turns] == counts
    assert [turn.step for turn in turns if turn.expected == "next"] == [place]


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
    assert len(routes_shown(decisions(*map(str, range(201)))).counts) == 200


# ---------------------------------------------------------------- the window


def drawn(*edits: tuple[int, int, tuple[str, ...]], **fields: Any) -> Prompt:
    """A prompt made of the one before by edits of (place, how many go, what comes)."""
    splices = tuple(Splice(at=at, removed=removed, added=added) for at, removed, added in edits)
    return Prompt(**{"step": 1, "thread": "main", "splices": splices, "tokens": 9, **fields})


def prompted(*prompts: Prompt) -> Run:
    """The example's run with these prompts: of the messages `user`, `call` and `result`, the last of step 2."""
    return msgspec.structs.replace(RUN, prompts=prompts)


OPEN = drawn((0, 0, ("user", "call", "result")))
OUT, BACK = drawn((2, 1, ())), drawn((2, 0, ("result",)))


def test_a_result_leaves_the_window_once_though_it_came_back() -> None:
    left = [call.evicted for call in calls_shown(prompted(OPEN, OUT, BACK, OUT))]
    assert left == [(), (2,), (), ()]


def test_only_results_leave_and_only_where_they_are_gone() -> None:
    moved = drawn((0, 1, ("result", "user")), (2, 1, ()))
    asked = drawn((0, 1, ()))  # the user's words go: no result does
    assert [call.evicted for call in calls_shown(prompted(OPEN, moved))] == [(), ()]
    assert [call.evicted for call in calls_shown(prompted(OPEN, asked))] == [(), ()]
    other = drawn((0, 0, ("user",)), thread="critic")  # never held it
    assert [call.evicted for call in calls_shown(prompted(OPEN, other))] == [(), ()]


def test_a_call_is_numbered_and_has_what_its_turn_missed() -> None:
    found = list(calls_shown(prompted(OPEN, drawn(step=3, compacted=True)), {3: ("471",)}))
    assert [(call.number, call.step, call.compacted, call.missed) for call in found] == [
        (1, 1, False, ()),
        (2, 3, True, ("471",)),
    ]


def test_the_sums_of_a_window() -> None:
    run = prompted(
        msgspec.structs.replace(OPEN, tokens=10, window_tokens=20),
        msgspec.structs.replace(OUT, tokens=30, window_tokens=20, compacted=True),
        drawn(tokens=20, window_tokens=20),  # full, not over
        drawn(tokens=25),  # of a model whose window is not known
    )
    window = window_shown(run, calls_shown(run))
    assert (window.calls, window.largest_tokens, window.total_tokens) == (4, 30, 85)
    assert (window.compacted, window.evicted, window.over) == (1, 1, 1)


def test_a_window_that_is_not_known_is_not_kept_either() -> None:
    assert window_shown(prompted(drawn(tokens=10)), []).over is None
    assert window_shown(prompted(drawn(tokens=10, window_tokens=10)), []).over == 0
    nothing = window_shown(prompted(), calls_shown(prompted()))
    assert (nothing.calls, nothing.largest_tokens, nothing.total_tokens, nothing.over) == (0, 0, 0, None)


def test_of_a_long_window_the_call_is_drawn_at_which_most_happened_else_the_first() -> None:
    compacted = {4, 7, 8, 11, 12}
    edits = {1: OPEN, 12: OUT}  # the twelfth prompt loses a result
    prompts = (
        msgspec.structs.replace(edits.get(number, drawn()), step=number, compacted=number in compacted)
        for number in range(1, 481)
    )
    run = prompted(*prompts)
    window = window_shown(run, calls_shown(run, {8: ("471",)}))  # two calls for each one drawn
    numbers = [call.number for call in window.curve]
    assert numbers[:6] == [1, 4, 5, 8, 9, 12]
    assert numbers[-2:] == [479, 480]
    assert len(numbers) == 241


def test_a_drawn_call_names_a_few_of_what_went() -> None:
    names = [f"r{number}" for number in range(9)]
    results = {name: Message(role="tool", text="x", kind="result", step=at) for at, name in enumerate(names, 10)}
    run = msgspec.structs.replace(
        RUN, messages=results, prompts=(drawn((0, 0, tuple(names))), drawn((0, 9, ()), step=30))
    )
    missed = {30: tuple(f"{number}" + "x" * 60 for number in range(7))}
    window = window_shown(run, calls_shown(run, missed, [Checked(30, invalid="x" * 401)]))
    call = window.curve[1]
    assert (window.evicted, call.evicted) == (9, tuple(range(10, 18)))
    assert call.missed == tuple(f"{number}" + "x" * 59 for number in range(6))
    assert call.invalid == "x" * 400


# ---------------------------------------------------------------- compactions


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
    (curve,) = run_shown(RunEvidence(evidence, masked), [], {}).compactions
    assert [item.step for item in curve] == [*range(6, 46, 2)]
