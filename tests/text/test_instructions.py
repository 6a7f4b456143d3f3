"""Instructions in prose, against sentences that people labelled."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hypothesis import given, strategies as st

from bench.text.instructions import is_command, is_order, is_rule, repeats, sentences_of

ROOT = Path(__file__).parents[2]
LABELLED = [
    tuple(line.split("\t")) for line in (ROOT / "tests/data/instructions/sentences.tsv").read_text("utf-8").splitlines()
]


def test_rules_are_found_with_nine_of_ten_precision_and_recall() -> None:
    found = {text for _, text in LABELLED if is_rule(text) or is_order(text)}
    wanted = {text for label, text in LABELLED if label == "yes"}
    assert len(LABELLED) >= 200
    recall, precision = len(found & wanted) / len(wanted), len(found & wanted) / len(found)
    assert (recall, precision) >= (0.9, 0.9), (sorted(wanted - found), sorted(found - wanted))
    assert precision >= 0.9, sorted(found - wanted)


def test_the_vocabulary_of_rules_is_small() -> None:
    for name, text in tomllib.loads((ROOT / "bench/text/vocabulary.toml").read_text("utf-8")).items():
        words = text.split()
        assert len(words) == len(set(words)) <= 60, name


@given(st.text(max_size=500))
def test_any_text_is_searched_for_rules_without_an_error(text: str) -> None:
    assert is_rule(text) or not is_command(text)
    is_order(text)
    assert all(repeats(text, sentence) for sentence in sentences_of(text))


def test_a_denial_is_part_of_a_rule() -> None:
    assert is_rule("Never push to main.")
    assert not repeats("The user said to push to main.", "Never push to main.")
