"""Copied spans: runs of words in a turn that are also in a paragraph of an earlier message of its
thread, long enough to be no accident. In data each value is a paragraph."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ..model import ModelTurn, ToolResult, Trace, nested
from ..text.common_words import COMMON_WORDS
from ..text.search import Strings
from ..text.texts import Texts
from .step_texts import step_texts

_SPAN_WORDS = 3
"""The fewest words of a span."""

_SPAN_CONTENT = 2
"""The fewest of its words that are not common."""

_PAIR_WORDS = 2
"""The words of a pair, which is a span if it is a whole value."""

_FAR = 1000
"""The most words of a span among which these must be."""

_SPARE = 200_000_000
"""The most characters of messages to read without success for runs that continue at another place
than their first.

After that, runs are only compared at their first place, to limit the time for many runs in long
messages.
"""

_BLANK = re.compile(r"\s")
_SENTENCES = re.compile(r"(?<![.!?:;])[.!?:;\n]+(?:\s|$)|\n")


def copied_spans(
    trace: Trace, texts: Texts, parts: Mapping[int, tuple[list[str], list[str]]]
) -> dict[int, tuple[str, ...]]:
    """The copied spans of the prose of each turn, by its step, in small letters with single blanks.

    `parts` are the prose and the code of each turn. A span ends with its sentence. Two words are one
    if they are a whole value of a result's data.
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
    threads: dict[str, _Thread] = defaultdict(_Thread)
    for step in trace.steps:
        thread = threads[step.thread]
        if isinstance(step, ModelTurn):
            copied = (search.copied(words, thread) for words in wanted.get(step.index, ()))
            spans[step.index] = tuple(dict.fromkeys(chain.from_iterable(copied)))
        if isinstance(step, ToolResult) and isinstance(step.data, dict | list):
            paragraphs = [*map(texts.flat, _values_of_words(step.data))]
            thread.pairs.update(value for value in paragraphs if len(value.split()) == _PAIR_WORDS)
        else:
            paragraphs = [*map(texts.flat, step_texts(step))]
        for flat in paragraphs:
            for start, place in starts.places(flat):
                thread.places.setdefault(start, (flat, place))
    return spans


def _values_of_words(data: Any) -> dict[str, None]:
    """The distinct values of some data that are several words."""
    return {node: None for node in nested(data) if isinstance(node, str) and _BLANK.search(node)}


class _Thread:
    """The earlier messages of a thread: for the first words of a run the flat text that has them
    first, with their place in it; and the values of two words, as flat texts."""

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, int]] = {}
        self.pairs: set[str] = set()


class _Search:
    """The search for copied runs, which ends after many characters were read without success."""

    def __init__(self) -> None:
        self._spare = _SPARE

    def copied(self, words: list[str], thread: _Thread) -> Iterator[str]:
        """Yield the longest runs of words that an earlier message has too, in order."""
        enough = ends_of_enough(words)
        at = 0
        while at + 1 < len(words):
            flat, place = thread.places.get(_run(words, at, at + _SPAN_WORDS), ("", 0))
            end = enough[at]
            if not flat or not end or not self._has(flat, _run(words, at, end), place):
                pair = words[at : at + _PAIR_WORDS]
                if _run(pair, 0, _PAIR_WORDS) in thread.pairs and COMMON_WORDS.isdisjoint(pair):
                    yield " ".join(pair)
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
