"""The detector of dependencies, judged against hand-made labels: what it finds, what it makes up, by kind of run and by form."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from dependencies_labels import FORMS, Corpus, Label, read_labels

from bench.evidence.dependencies import Dependency
from bench.model import RouteDecision
from bench.text.facts import number_value

ROOT = Path(__file__).parents[2]
LITERAL = ("verbatim", "composed", "reformatted")
"""The forms that the detector is made for."""

_NUMBER = re.compile(r"[-+$€]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?")


class Detector:
    """What the detector says of the turns that labels are about; each trace is read once."""

    def __init__(self, folder: Path | None) -> None:
        self._corpus = Corpus(folder)
        self._found: dict[tuple[str, str], dict[int, list[Dependency]]] = {}

    def of(self, label: Label) -> list[Dependency]:
        key = (label.trace, label.case)
        if key not in self._found:
            trace = self._corpus.trace(label)
            turns = tuple(step for step in trace.steps if not isinstance(step, RouteDecision))  # ledgers have no labels
            self._found[key] = TraceEvidence(msgspec.structs.replace(trace, steps=turns)).dependencies_by_turn
        return self._found[key].get(label.step, [])


@dataclass
class Judgement:
    """Counts by kind of run, `""` for all: of labelled dependencies by form, of what whole turns were said to need, of what only looks like it."""

    labelled: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    taken_for_one: Counter[str] = field(default_factory=Counter)

    def recall(self, kind: str, *forms: str) -> float:
        return _share(sum(self.found[kind, form] for form in forms), sum(self.labelled[kind, form] for form in forms))

    def precision(self, kind: str) -> float:
        return _share(self.right[kind], self.said[kind])

    def looks_like(self, kind: str) -> float:
        return _share(self.taken_for_one[kind], self.others[kind])


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def judged(labels: tuple[Label, ...], detector: Detector) -> Judgement:
    found = Judgement()
    turns: dict[tuple[str, str, int], list[Label]] = {}
    for label in labels:
        turns.setdefault(label.turn, []).append(label)
        for kind in ("", label.kind):
            if label.dependency:
                found.labelled[kind, label.form or ""] += 1
                found.found[kind, label.form or ""] += _match(label.fact, detector.of(label)) is not None
            else:
                found.others[kind] += 1
                found.taken_for_one[kind] += any(_equal(label.fact, item.said) for item in detector.of(label))
    for of_turn in turns.values():
        if any(label.whole_turn for label in of_turn):
            for item in detector.of(of_turn[0]):
                for kind in ("", of_turn[0].kind):
                    found.said[kind] += 1
                    found.right[kind] += any(label.dependency and _match(label.fact, [item]) for label in of_turn)
    return found


def _match(fact: str, said: list[Dependency]) -> Dependency | None:
    """The dependency that is a labelled string, holds it as whole words or is held by it."""
    return next((item for item in said if _equal(fact, item.said) or _inside(_plain(fact), _plain(item.said))), None)


def _equal(one: str, other: str) -> bool:
    return _plain(one) == _plain(other) or _words(_plain(one)) == _words(_plain(other)) != ""


def _plain(text: str) -> str:
    bare = text.strip().strip("'\"`*,.:;()").replace("\\n", " ")
    return number_value(bare.rstrip("%")) if _NUMBER.fullmatch(bare) else bare


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _inside(one: str, other: str) -> bool:
    first, second = _words(one), _words(other)
    return bool(first and second) and (f" {first} " in f" {second} " or f" {second} " in f" {first} ")


# ---------------------------------------------------------------- the judge itself


def _dependency(said: str) -> Dependency:
    return Dependency(said, said, "name", "verbatim", 1, "main", 0, "user", 0, 0)


@pytest.mark.parametrize(
    ("fact", "said", "matches", "equal"),
    [
        ("1,250.50", "1250.5", True, True),
        ("'genes.csv'", "genes.csv", True, True),
        ("Marianas Trench", "bottom of the marianas trench", True, False),
        ("run_7", "run_71", False, False),
        ("…", "—", False, False),
        ("12", "112", False, False),
    ],
)
def test_when_a_label_and_a_dependency_are_the_same(fact: str, said: str, matches: bool, equal: bool) -> None:
    assert (_match(fact, [_dependency(said)]) is not None, _equal(fact, said)) == (matches, equal)


def test_a_detector_that_finds_nothing_and_one_that_finds_all_are_seen_through() -> None:
    labels = tuple(label for label in read_labels() if label.whole_turn)

    class All(Detector):
        def of(self, label: Label) -> list[Dependency]:
            return [_dependency(other.fact) for other in labels if other.turn == label.turn]

    class Nothing(Detector):
        def of(self, label: Label) -> list[Dependency]:
            return []

    everything, nothing = judged(labels, All(None)), judged(labels, Nothing(None))
    assert (everything.recall("", *FORMS), nothing.recall("", *FORMS)) == (1.0, 0.0)
    assert (everything.looks_like(""), nothing.looks_like("")) == (1.0, 0.0)
    assert everything.precision("") < 0.9


# ---------------------------------------------------------------- the detector


@pytest.fixture(scope="module")
def judgement(shared_traces: Path) -> Judgement:
    return judged(read_labels(), Detector(shared_traces))


def table(found: Judgement) -> list[str]:
    """The table of docs/validity.md, line by line: found/labelled by form, then right/said, then taken for one/others."""
    lines = [f"| Runs | {' | '.join(FORMS)} | precision | only looks like it |", f"|---|{'---:|' * (len(FORMS) + 2)}"]
    for kind in [*sorted(kind for kind in found.others if kind), ""]:
        counts = [f"{found.found[kind, form]}/{found.labelled[kind, form]}" for form in FORMS]
        counts += [f"{found.right[kind]}/{found.said[kind]}", f"{found.taken_for_one[kind]}/{found.others[kind]}"]
        lines.append(f"| {kind or 'all'} | {' | '.join(counts)} |")
    shares = [f"{found.recall('', form):.2f}" for form in FORMS]
    return [*lines, f"| share | {' | '.join(shares)} | {found.precision(''):.2f} | {found.looks_like(''):.2f} |"]


@pytest.mark.slow
def test_it_finds_what_is_said_again(judgement: Judgement) -> None:
    print(*table(judgement), sep="\n")
    assert judgement.recall("", *LITERAL) >= 0.8


def test_what_it_says_of_whole_turns_is_so(judgement: Judgement) -> None:
    assert judgement.precision("") >= 0.9


def test_it_takes_few_strings_for_dependencies_that_only_look_like_them(judgement: Judgement) -> None:
    assert judgement.looks_like("") <= 0.2


def test_the_page_states_these_numbers(judgement: Judgement) -> None:
    assert "\n".join(table(judgement)) in (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")
