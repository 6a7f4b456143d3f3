"""The needs that the bench finds, held against the strings of real turns that a reader labelled.

    PYTHONPATH=tests python benchmarks/labelled_needs.py [FOLDER]

The labels stand in `tests/data/dependencies`; FOLDER holds the recordings that they point at.
Without it only labels of the shipped recordings are judged. *Found* is a labelled dependency that
is, holds, or is part of a fact that its turn needs. *Right* is such a fact that matches a label, of
the turns in which every string was labelled.
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
from bench.text.facts import number_value

LITERAL = ("verbatim", "composed", "reformatted")
"""The forms that a search for strings can find."""
NUMBER = re.compile(r"[-+$€]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?%?")

Needs = dict[tuple[str, str, int], list[str]]
"""The facts that a turn needs, by trace, case and step."""


def needs_of(labels: Iterable[Label], corpus: Corpus) -> Needs:
    """The facts that the bench says each labelled turn needs; ledgers of an orchestrator count as no message."""
    found: Needs = {}
    indexed = set()
    for label in labels:
        if (label.trace, label.case) in indexed:
            continue
        indexed.add((label.trace, label.case))
        trace = corpus.trace(label)
        steps = tuple(step for step in trace.steps if not isinstance(step, RouteDecision))
        index = index_trace(msgspec.structs.replace(trace, steps=steps))
        for step, needs in index.needs.items():
            found[label.trace, label.case, step] = [index.facts[need.fact] for need in needs]
    return found


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
    return bool(first and second) and (f" {first} " in f" {second} " or f" {second} " in f" {first} ")


def main() -> None:
    """Print found of labelled by form, the literal recall, and the precision."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    labels = [label for label in read_labels() if folder or label.trace.startswith("traces/")]
    needs = needs_of(labels, Corpus(folder))
    labelled, found = Counter[str](), Counter[str]()
    whole_turns: dict[tuple[str, str, int], list[str]] = {}
    for label in labels:
        if label.whole_turn:
            facts = whole_turns.setdefault(label.turn, [])
            facts.extend([label.fact] if label.dependency else [])
        if label.form:
            labelled[label.form] += 1
            found[label.form] += any(same(label.fact, fact) for fact in needs.get(label.turn, ()))
    for form in FORMS:
        print(f"{form:12} {found[form]:4} of {labelled[form]:4} found")
    literal, of = (sum(counts[form] for form in LITERAL) for counts in (found, labelled))
    print(f"literal      {literal:4} of {of:4} found: recall {literal / of:.3f}")
    pairs = [(turn, fact) for turn in whole_turns for fact in needs.get(turn, ())]
    right = sum(any(same(fact, other) for other in whole_turns[turn]) for turn, fact in pairs)
    print(f"whole turns  {right:4} of {len(pairs):4} right: precision {right / len(pairs):.3f}")


if __name__ == "__main__":
    main()
