"""Copied spans: runs of words in the prose of a turn that an earlier message of its thread holds and that say enough to be no accident."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import ModelTurn, Trace
from ..text.common_words import COMMON_WORDS
from ..text.texts import Texts
from .spoken import spoken
from .turn_parts import parts_of

SPAN_WORDS = 3
"""The shortest run of words that counts as copied."""

SPAN_CONTENT = 2
"""How many of its words must say something: be none of the common ones."""


class CopiedSpans:
    """The runs of words of each turn's prose that an earlier message of its thread holds and that say enough to be no accident."""

    def __init__(self, trace: Trace, texts: Texts) -> None:
        self._texts = texts
        wanted: dict[int, list[list[str]]] = {}
        grams: set[tuple[str, ...]] = set()
        for turn in trace.model_turns:
            for part in parts_of(turn)[0]:
                for sentence in re.split(r"(?<![.!?:;])[.!?:;\n]+(?:\s|$)|\n", part):
                    words = texts.flat(sentence).split()
                    if len(words) >= SPAN_WORDS:
                        wanted.setdefault(turn.index, []).append(words)
                        grams.update(zip(*(words[at:] for at in range(SPAN_WORDS)), strict=False))
        self._found: dict[int, tuple[str, ...]] = {}
        said: dict[str, _Told] = {}
        for step in trace.steps:
            told = said.setdefault(step.thread, _Told(grams))
            if isinstance(step, ModelTurn):
                self._found[step.index] = tuple(dict.fromkeys(
                    span for words in wanted.get(step.index, ()) for span in _copied(words, told)
                ))  # fmt: skip
            for text in spoken(step):
                told.add(texts.flat(text).split("\n"))

    def of(self, turn: int) -> tuple[str, ...]:
        """The copied spans of a turn, in small letters, one blank between words."""
        return self._found.get(turn, ())


class _Told:
    """Where in a thread the runs of words were first said that turns may have copied: in which text, at which places of its paragraphs."""

    def __init__(self, grams: set[tuple[str, ...]]) -> None:
        self._grams = grams
        self._places: dict[tuple[str, ...], dict[str, int]] = {}

    def add(self, paragraphs: list[str]) -> None:
        """One text more, flat."""
        found: dict[tuple[str, ...], dict[str, int]] = {}
        for paragraph in paragraphs:
            words, place = paragraph.split(), 0
            for gram in zip(*(words[at:] for at in range(SPAN_WORDS)), strict=False):
                if gram in self._grams and gram not in self._places:
                    found.setdefault(gram, {}).setdefault(paragraph, place)
                place += len(gram[0]) + 1
        self._places |= found

    def longest(self, words: list[str], at: int) -> int:
        """Where the longest run from `at` on ends that a paragraph of the first text with its first words holds; `at` where there is none."""
        start = at + SPAN_WORDS
        places = self._places.get(tuple(words[at:start]), {})
        return max((_longest(words, at, paragraph, place) for paragraph, place in places.items()), default=at)


def _copied(words: list[str], told: _Told) -> Iterator[str]:
    """The copied spans of one sentence, from left to right."""
    at = 0
    while at + SPAN_WORDS <= len(words):
        run = words[at : told.longest(words, at)]
        content = {word for word in run if word not in COMMON_WORDS and len(word) > 2}
        if len(content) >= SPAN_CONTENT:
            yield " ".join(run)
            at += len(run)
        else:  # another message may hold a run that begins within this one
            at += 1


def _longest(words: list[str], at: int, flat: str, place: int) -> int:
    """Where the longest run of words from `at` on ends that a flat text holds; the first three stand at `place` for the first time.

    Each try doubles what is looked for, so that a long run does not cost its square.
    """
    low, step = at + SPAN_WORDS, 1  # so far is known to be held
    while low < len(words) and step:
        end = min(low + step, len(words))
        if flat.find(f" {' '.join(words[at:end])} ", place) >= 0:
            low, step = end, 2 * step
        else:
            step //= 2
    return low
