"""The needs that the bench finds, held against the strings of real turns that a reader labelled.

    PYTHONPATH=tests python benchmarks/labelled_needs.py [FOLDER]

The labels stand in `tests/data/dependencies`; FOLDER holds the recordings that they point at.
Without it only labels of the shipped recordings are judged. A labelled dependency is found if it
is, holds, or is part of a fact that its turn needs. A fact is right if it matches a label; that is
asked of turns in which every string was labelled.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec
from dependencies_labels import FORMS, Corpus, Label, read_labels

from bench.evidence.index import index_trace
from bench.model import RouteDecision
from bench.text.numbers import number_value

LITERAL = ("verbatim", "composed", "reformatted")
"""The forms that a search for strings can find."""
NUMBER = re.compile(r"[-+$€]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?")

Needs = dict[tuple[str, str, int], list[str]]
"""The facts that a turn needs, by trace, case and step."""


def needs_of(labels: Iterable[Label], corpus: Corpus) -> Needs:
    """The facts that the bench says each labelled turn needs; ledgers of an orchestrator count as
    no message.
    """
    needs: Needs = {}
    indexed = set()
    for label in labels:
        if (label.trace, label.case) in indexed:
            continue
        indexed.add((label.trace, label.case))
        trace = corpus.trace(label)
        steps = tuple(step for step in trace.steps if not isinstance(step, RouteDecision))
        index = index_trace(msgspec.structs.replace(trace, steps=steps))
        for step, of_step in index.needs.items():
            needs[label.trace, label.case, step] = [index.facts[need.fact] for need in of_step]
    return needs


def words(text: str) -> str:
    """A text as its words in small letters, a number as its value.

    >>> words("'Genes.csv'"), words("1,250.50") == words("1250.5")
    ('genes csv', True)
    """
    bare = text.strip().strip("'\"`*,.:;()").replace("\\n", " ")
    plain = number_value(bare.rstrip("%")) if NUMBER.fullmatch(bare) else bare
    return " ".join(re.findall(r"\w+", plain.casefold()))


def same(one: str, other: str) -> bool:
    """True for two strings of which one holds the other as whole words.

    >>> same("Marianas Trench", "bottom of the marianas trench"), same("run_7", "run_71")
    (True, False)
    """
    first, second = words(one), words(other)
    return bool(first and second) and (
        f" {first} " in f" {second} " or f" {second} " in f" {first} "
    )


def judged(labels: Iterable[Label], corpus: Corpus) -> list[tuple[str, int, int]]:
    """By form the labelled needs and those found; all literal ones; facts of turns labelled as a
    whole, and those right.
    """
    labels = list(labels)
    needs = needs_of(labels, corpus)
    labelled, found = Counter[str](), Counter[str]()
    in_turn: dict[tuple[str, str, int], list[str]] = {}
    for label in labels:
        if label.whole_turn:
            facts = in_turn.setdefault(label.turn, [])
            facts.extend([label.fact] if label.dependency else [])
        if label.form:
            labelled[label.form] += 1
            found[label.form] += any(same(label.fact, fact) for fact in needs.get(label.turn, ()))
    literal = [sum(counts[form] for form in LITERAL) for counts in (labelled, found)]
    pairs = [(turn, fact) for turn in in_turn for fact in needs.get(turn, ())]
    right = sum(any(same(fact, other) for other in in_turn[turn]) for turn, fact in pairs)
    by_form = [(form, labelled[form], found[form]) for form in FORMS if labelled[form]]
    return [
        *by_form,
        ("all literal", literal[0], literal[1]),
        ("right of what is found", len(pairs), right),
    ]


def main() -> None:
    """Print the labelled needs by form, those found, and the precision."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    labels = [label for label in read_labels() if folder or label.trace.startswith("traces/")]
    for name, of, right in judged(labels, Corpus(folder)):
        print(f"{name:24} {right:5} of {of:5}  {right / of:.3f}")


if __name__ == "__main__":
    main()
