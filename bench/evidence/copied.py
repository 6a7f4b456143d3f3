"""Copied spans: runs of words in a turn that are also in a paragraph of an earlier message of its
thread, long enough to be no accident."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ..model import ModelTurn, Trace
from ..text.common_words import COMMON_WORDS
from ..text.search import Strings
from ..text.texts import Texts
from .step_texts import step_texts

_SPAN_WORDS = 3
"""The fewest words of a span."""

_SPAN_CONTENT = 2
"""The fewest of its words that are not common."""

_FAR = 1000
"""The most words of a span among which these must be."""

_SPARE = 200_000_000
"""The most characters of messages to read without success for runs that continue at another place
than their first.

After that, runs are only compared at their first place, to limit the time for many runs in long
messages.
"""

_SENTENCES = re.compile(r"(?<![.!?:;])[.!?:;\n]+(?:\s|$)|\n")


def copied_spans(
    trace: Trace, texts: Texts, parts: Mapping[int, tuple[list[str], list[str]]]
) -> dict[int, tuple[str, ...]]:
    """The copied spans of the prose of each turn, by its step, in small letters with single blanks.

    `parts` are the prose and the code of each turn. A span ends with its sentence.
    """
    wanted: dict[int, list[list[str]]] = {}
    for turn, (prose, _) in parts.items():
        sentences = (sentence for part in prose for sentence in _SENTENCES.split(part))
        wanted[turn] = [texts.flat(sentence).split() for sentence in sentences]
    starts = Strings(
        start for turn in wanted.values() for words in turn for start in _starts(words)
    )
    search = _Search()
    spans: dict[int, tuple[str, ...]] = {}
    places: dict[str, _Places] = {}  # by thread
    for step in trace.steps:
        places_in_thread = places.setdefault(step.thread, {})
        if isinstance(step, ModelTurn):
            copied = (
                search.copied(words, places_in_thread) for words in wanted.get(step.index, ())
            )
            spans[step.index] = tuple(dict.fromkeys(chain.from_iterable(copied)))
        for text in step_texts(step):
            flat = texts.flat(text)
            for start, place in starts.places(flat):
                places_in_thread.setdefault(start, (flat, place))
    return spans


_Places = dict[str, tuple[str, int]]
"""For the first words of a run the flat text that has them first, and their place in it."""


class _Search:
    """The search for copied runs, which ends after many characters were read without success."""

    def __init__(self) -> None:
        self._spare = _SPARE

    def copied(self, words: list[str], places: _Places) -> Iterator[str]:
        """Yield the longest runs of words that an earlier message has too, in order."""
        enough, starts = ends_of_enough(words), _starts(words)
        at = 0
        while at < len(starts):
            flat, place = places.get(starts[at], ("", 0))
            end = enough[at]
            if not flat or not end or not self._has(flat, _run(words, at, end), place):
                at += 1  # another message may have a run that begins within this one
                continue
            end = self._longest(words, at, end, flat, place)
            yield " ".join(words[at:end])
            at = end

    def _longest(self, words: list[str], at: int, end: int, flat: str, place: int) -> int:
        """The end of the longest run of words from `at` on in a flat text, which has the run up to
        `end`, first at `place`.

        The search doubles the run at each step, to avoid quadratic time.
        """
        longest, step = end, 1
        while longest < len(words) and step:
            end = min(longest + step, len(words))
            if self._has(flat, _run(words, at, end), place):
                longest, step = end, 2 * step
            else:
                step //= 2
        return longest

    def _has(self, flat: str, run: str, place: int) -> bool:
        """True if a flat text has a run whose first words it has first at `place`."""
        if flat.startswith(run, place):
            return True
        if self._spare <= 0:
            return False
        start = flat.find(run, place)
        self._spare -= (len(flat) if start == -1 else start) - place
        return start != -1


def _run(words: Sequence[str], start: int, end: int) -> str:
    """Some words in a row, as in a flat text."""
    return f" {' '.join(words[start:end])} "


def _starts(words: Sequence[str]) -> list[str]:
    """The shortest runs that begin at each word, as in a flat text."""
    runs = zip(*(words[at:] for at in range(_SPAN_WORDS)), strict=False)
    return [f" {' '.join(run)} " for run in runs]


def ends_of_enough(words: Sequence[str]) -> list[int]:
    """For each word the end of the shortest run from it that is long enough and significant; 0
    without one.

    >>> ends_of_enough("the wall is of the wall and concrete".split())
    [8, 8, 8, 8, 8, 8, 0, 0]
    """
    ends = [0] * len(words)
    last: dict[str, int] = {}  # the nearest words that are not common, and their places
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if word not in COMMON_WORDS and len(word) > 2:
            last.pop(word, None)
            last = dict([(word, at), *last.items()][:_SPAN_CONTENT])
        if len(last) == _SPAN_CONTENT:
            end = max(max(last.values()) + 1, at + _SPAN_WORDS)
            ends[at] = end if end <= min(len(words), at + _FAR) else 0
    return ends
