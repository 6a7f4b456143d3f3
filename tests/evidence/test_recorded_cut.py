"""The recorded cut: what the harness of a trace lost, by hand, recomputed slowly, and on the recorded runs."""

from __future__ import annotations

import pytest
from bench.evidence.of_trace import TraceEvidence
from generated import traces
from handmade import opened, result, shell, trace
from hypothesis import given

import bench
from bench.evidence.recorded_cut import NAMED
from bench.evidence.spoken import turn_text
from bench.model import ContextReset, ModelTurn, Trace, UserTurn, text_of
from bench.reports import rendered
from bench.text.texts import Texts


def cuts(recording):
    return TraceEvidence(recording).cuts


def resets(recording):
    return TraceEvidence(recording).resets


HAND = trace(
    UserTurn(index=0, content="Look at run_7."),
    result("471 rows\n[cut]", index=1, full="471 rows\nrun_7, level_12, level_13, level_14\n"),
    result("level_12 and 36.5", index=2),
    ModelTurn(index=3, content="level_13 of level_12"),
    result("level_13", index=4),
    ModelTurn(index=5, content="Done."),
)


def test_by_hand() -> None:
    (cut,) = cuts(HAND)
    assert (cut.step, cut.untruncated_chars, cut.seen_chars) == (1, 45, 14)
    assert cut.facts == 5  # 471, run_7 and three levels
    assert cut.lost == 3  # three levels: run_7 was the user's
    assert cut.asked_again == ((2, 1),)
    assert cut.said == ((3, ("level_13",)),)
    assert cut.needed == 2
    assert resets(HAND) == ()


@pytest.mark.parametrize(
    ("full", "chars"),
    [
        ('{"output": "471 rows in all", "code": "0", "n": 471471471471471471}', 15),  # the longest string
        ('["ab", "abcd"]', 4),
        ('{"rows": 471}', 13),  # no string: all of it
        ("471 rows", 8),
    ],
)
def test_the_output_itself_is_counted_without_its_envelope(full: str, chars: int) -> None:
    (cut,) = cuts(trace(result("[cut]", index=0, full=full)))
    assert (cut.untruncated_chars, cut.seen_chars) == (chars, 5)


def test_resets_by_hand() -> None:
    steps = [result(f"next is /data/part_{n}.csv", index=n) for n in (2, 3, 4)]
    recording = opened(
        [*steps, ContextReset(index=5, summary="read /data/part_2.csv", kept=(4,)), ContextReset(index=6)]
    )
    first, second = resets(recording)
    assert (first.results, first.kept, first.summary_chars) == (2, 2, 21)  # the system turn and the last result stay
    assert (first.facts, first.lost) == (2, 1)  # the summary lacks part_3
    assert (second.results, second.kept, second.lost) == (1, 1, 1)


def test_a_result_seen_whole_is_no_cut() -> None:
    assert (
        cuts(trace(result("471", index=0, full="471"), result("36.5", index=1), result(None, index=2, full="x_1")))
        == ()
    )


def slow(recording: Trace) -> list[tuple[int, set[str], dict[int, int], dict[int, set[str]]]]:
    """Every fact of every cut result looked for in each text before and after it."""
    said = {
        step.index: step.shown_by_recorder if hasattr(step, "call_id") and hasattr(step, "function")
        else turn_text(step) if isinstance(step, ModelTurn)
        else text_of(step.content) if hasattr(step, "content") else ""
        for step in recording.steps
    }  # fmt: skip
    found = []
    for item in recording.results:
        if item.full is None or item.seen in (None, item.full):
            continue
        steps = [step for step in recording.steps if step.thread == item.thread]
        lost = {
            fact
            for fact in Texts().facts(item.full)
            if not Texts().holds(item.seen, fact)
            and not any(fact in Texts().facts(said[step.index]) for step in steps if step.index < item.index)
        }
        first = {}
        for fact in lost:
            later = [step for step in steps if step.index > item.index and fact in Texts().facts(said[step.index])]
            if later:
                first[fact] = later[0]
        again: dict[int, int] = {}
        named: dict[int, set[str]] = {}
        for fact, step in first.items():
            if isinstance(step, ModelTurn):
                named.setdefault(step.index, set()).add(fact)
            elif hasattr(step, "function"):
                again[step.index] = again.get(step.index, 0) + 1
        found.append((item.index, lost, again, named))
    return found


@pytest.mark.slow
@given(traces(max_turns=8, extras=True))
def test_against_looking_through_everything(recording: Trace) -> None:
    found = cuts(recording)
    expected = slow(recording)
    assert [(cut.step, cut.lost, dict(cut.asked_again), cut.said_total) for cut in found] == [
        (step, len(lost), again, sum(map(len, named.values()))) for step, lost, again, named in expected
    ]
    for cut, (_, _, _, named) in zip(found, expected, strict=True):
        assert [step for step, _ in cut.said] == sorted(named)[:NAMED]
        assert all(set(facts) <= named[step] and len(facts) == min(NAMED, len(named[step])) for step, facts in cut.said)


@pytest.mark.slow
def test_the_cut_of_the_recorded_runs(shared_traces) -> None:  # type: ignore[no-untyped-def]
    loaded = bench.load([f"swe:{shared_traces / 'scbench'}"]).traces
    found = [cut for recording in loaded for cut in cuts(recording)]
    largest = max(found, key=lambda cut: cut.untruncated_chars)
    assert (largest.untruncated_chars, largest.seen_chars) == (1_941_421, 13_798)
    assert largest.lost > 20_000
    assert all(cut.seen_chars < 15_000 < 1.5 * cut.untruncated_chars for cut in found)
    assert sum(bool(cut.needed) for cut in found) > 5


def test_the_panel_says_what_was_cut_and_what_turned_up() -> None:
    text = rendered([bench.compare([HAND], ["mask=compactor=mask_observations"])], "markdown", ["trust"])
    assert "1 of 3 results were cut; of 1 of them something turned up later" in text
    assert "level_13" in text


def test_the_panel_without_a_cut() -> None:
    text = rendered([bench.compare([opened(shell(2, start=2))], ["keep_all"])], "text", ["trust"])
    assert "Nothing: its model saw every recorded result whole" in text


def test_the_panel_tells_what_was_cut_at_the_source() -> None:
    recording = opened([result("level_1", index=2, truncated_at_source=True)])
    text = rendered([bench.compare([recording], ["keep_all"])], "text", ["trust"])
    assert "1 tool result of 1 had been cut before the recording" in " ".join(text.split())
