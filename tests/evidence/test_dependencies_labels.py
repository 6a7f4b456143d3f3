"""The hand-labelled dependencies are what their README says, and each record points at a real turn that says the fact."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from dependencies_labels import FORMS, ORIGINS, WHYS, Corpus, Label, read_labels, says, step_of, texts_of

from bench.model import ModelTurn

LABELS = read_labels()
KINDS = sorted({label.kind for label in LABELS})


def _of(kind: str) -> list[Label]:
    return [label for label in LABELS if label.kind == kind]


def test_every_sort_of_label_has_enough_examples() -> None:
    assert sum(label.dependency for label in LABELS) >= 200
    assert sum(not label.dependency for label in LABELS) >= 200
    assert len({label.turn for label in LABELS if label.whole_turn}) >= 40
    assert {label.form for label in LABELS if label.dependency} == set(FORMS)
    assert {label.why for label in LABELS if not label.dependency} == set(WHYS)
    assert {label.origin for label in LABELS if label.dependency} == set(ORIGINS)


def test_no_string_of_a_turn_is_labelled_twice() -> None:
    counted = Counter((label.turn, label.fact) for label in LABELS)
    assert [key for key, count in counted.items() if count > 1] == []


def test_all_strings_of_a_labelled_turn_are_labelled() -> None:
    marks: dict[tuple[str, str, int], set[bool]] = {}
    for label in LABELS:
        marks.setdefault(label.turn, set()).add(label.whole_turn)
    assert [turn for turn, seen in marks.items() if len(seen) > 1] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_labelled_string_is_in_its_turn(kind: str, shared_traces: Path) -> None:
    corpus = Corpus(shared_traces)
    wrong = [problem for label in _of(kind) for problem in _problems(label, corpus)]
    assert wrong == []


def test_labels_of_shipped_traces_need_no_other_traces() -> None:
    corpus = Corpus(None)
    own = [label for label in LABELS if label.trace.startswith("traces/")]
    assert len(own) >= 200
    assert [problem for label in own for problem in _problems(label, corpus)] == []


def _problems(label: Label, corpus: Corpus) -> list[str]:
    trace = corpus.trace(label)
    place = f"{label.trace} {label.case} step {label.step}"
    turn = step_of(trace, label.step)
    if not isinstance(turn, ModelTurn):
        return [f"{place} is no model turn"]
    found = [] if says(texts_of(turn), label.fact) else [f"{place} does not say {label.fact!r}"]
    if label.dependency and label.origin is not None and label.origin_step is not None:
        source = step_of(trace, label.origin_step)
        if not isinstance(source, ORIGINS[label.origin]):
            found.append(f"{place}: step {label.origin_step} is no {label.origin} message")
        elif not says(texts_of(source), label.source):
            found.append(f"{place}: step {label.origin_step} does not hold {label.source!r}")
    return found


@pytest.mark.slow
def test_many_strings_without_an_origin_are_in_an_earlier_message(shared_traces: Path) -> None:
    """Else telling them apart would need no more than looking whether an earlier message holds the string."""
    corpus = Corpus(shared_traces)
    others = [label for label in LABELS if not label.dependency]
    stated = [label for label in others if _is_stated_before(label, corpus)]
    assert len(stated) >= 200


def _is_stated_before(label: Label, corpus: Corpus) -> bool:
    earlier = (step for step in corpus.trace(label).steps if step.index < label.step)
    return any(says(texts_of(step), label.fact) for step in earlier)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": None}, "a dependency has form"),
        ({"fact": "x" * 61}, "61 characters"),
        ({"told": "d"}, "told stands with every form but verbatim"),
        ({"form": "rounded"}, "told stands with every form but verbatim"),
        ({"origin_step": 9}, "not before step 9"),
        ({"dependency": False}, "what is no dependency has why"),
        ({"colour": "red"}, "unknown fields colour"),
    ],
)
def test_an_invalid_label_is_refused(change: dict[str, object], message: str, tmp_path: Path) -> None:
    good = {"trace": "a.json", "case": "a", "format": "openai", "step": 9, "fact": "d", "dependency": True}
    good |= {"form": "verbatim", "origin": "user", "origin_step": 1}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(good))
    assert len(read_labels(tmp_path)) == 1
    path.write_text(json.dumps({key: value for key, value in (good | change).items() if value is not None}))
    with pytest.raises(ValueError, match=rf"^one\.jsonl:1: .*{message}"):
        read_labels(tmp_path)
