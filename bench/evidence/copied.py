"""Copied spans: runs of words in a turn that are also in a paragraph of an earlier message of its
thread, long enough to be no accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..model import ModelTurn, Trace
from ..text.common_words import COMMON_WORDS
from ..text.search import Strings
from ..text.texts import Texts
from .step_texts import step_texts

SPAN_WORDS = 3  # the shortest run of words that counts as copied
SPAN_CONTENT = 2  # the fewest of its words that are none of the common ones
_FAR = 1000  # of how many words at most these must be found

_SPARE = 200_000_000
"""The most characters of messages to read without success for runs that continue at another place
than their first.

After that, runs are only compared at their first place, to limit the time for many runs in long
messages.
"""

_SENTENCES = re.compile(r"(?<![.!?:;])[.!?:;\n]+(?:\s|$)|\n")


class Spans:
    """The copied spans of each turn's prose."""

    def __init__(
        self, trace: Trace, texts: Texts, parts: Mapping[int, tuple[list[str], list[str]]]
    ) -> None:
        self._spare = _SPARE
        wanted: dict[int, list[list[str]]] = {}
        for turn, (prose, _) in parts.items():
            flats_of_turn = (texts.flat(text) for part in prose for text in _SENTENCES.split(part))
            wanted[turn] = list(map(str.split, flats_of_turn))
        starts = Strings(
            start for turn in wanted.values() for words in turn for start in _starts(words)
        )
        self._spans: dict[int, tuple[str, ...]] = {}
        first_places: dict[str, dict[str, tuple[int, int]]] = {}
        flats: list[str] = []
        for step in trace.steps:
            known = first_places.setdefault(step.thread, {})
            if isinstance(step, ModelTurn):
                self._spans[step.index] = tuple(dict.fromkeys(
                    span for words in wanted.get(step.index, ()) for span in self._copied(words, known, flats)
                ))  # fmt: skip
            for text in step_texts(step):
                flats.append(texts.flat(text))
                for start, place in starts.places(flats[-1]):
                    known.setdefault(start, (len(flats) - 1, place))

    def _copied(
        self, words: list[str], known: dict[str, tuple[int, int]], flats: list[str]
    ) -> Iterator[str]:
        """Yield the longest runs of words that an earlier message has too, in order."""
        enough, starts = ends_of_enough(words), _starts(words)
        at = 0
        while at < len(starts):
            first, end = known.get(starts[at]), enough[at]
            if (
                not first
                or not end
                or not self._holds(flats[first[0]], f" {' '.join(words[at:end])} ", first[1])
            ):
                at += 1  # another message may hold a run that begins within this one
                continue
            end = self._longest(words, at, end, flats[first[0]], first[1])
            yield " ".join(words[at:end])
            at = end

    def _longest(self, words: list[str], at: int, end: int, flat: str, place: int) -> int:
        """The end of the longest run of words from `at` on in a flat text, which has the run up to
        `end`, first at `place`.

        The search doubles the run at each step, to avoid quadratic time.
        """
        low, step = end, 1  # so far is known to be held
        while low < len(words) and step:
            end = min(low + step, len(words))
            if self._holds(flat, f" {' '.join(words[at:end])} ", place):
                low, step = end, 2 * step
            else:
                step //= 2
        return low

    def _holds(self, flat: str, run: str, place: int) -> bool:
        """True if a flat text has a run whose first words it has first at `place`."""
        if flat.startswith(run, place):
            return True
        if self._spare <= 0:
            return False
        start = flat.find(run, place)
        self._spare -= (len(flat) if start == -1 else start) - place
        return start != -1

    def of(self, turn: int) -> tuple[str, ...]:
        """The copied spans of a turn, in small letters, with single blanks."""
        return self._spans.get(turn, ())


def _starts(words: Sequence[str]) -> list[str]:
    """The shortest runs that begin at each word, as in a flat text."""
    runs = zip(*(words[at:] for at in range(SPAN_WORDS)), strict=False)
    return [f" {' '.join(run)} " for run in runs]


def ends_of_enough(words: Sequence[str]) -> list[int]:
    """For each word the end of the shortest run from it that is long enough and significant; 0
    without one.

    >>> ends_of_enough("the wall is of the wall and concrete".split())
    [8, 8, 8, 8, 8, 8, 0, 0]
    """
    ends = [0] * len(words)
    last: dict[str, int] = {}  # where the nearest words that say something stand, from the right
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if word not in COMMON_WORDS and len(word) > 2:
            last.pop(word, None)
            last = dict([(word, at), *last.items()][:SPAN_CONTENT])
        if len(last) == SPAN_CONTENT:
            end = max(max(last.values()) + 1, at + SPAN_WORDS)
            ends[at] = end if end <= min(len(words), at + _FAR) else 0
    return ends
