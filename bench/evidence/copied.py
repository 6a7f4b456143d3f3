"""Copied spans: the runs of words of a turn that a paragraph of an earlier message of its thread
holds and that say enough to be no accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model import ModelTurn, Trace
from ..text.common_words import COMMON_WORDS
from ..text.search import Strings
from ..text.texts import Texts
from .step_texts import step_texts

SPAN_WORDS = 3  # the shortest run of words that counts as copied
SPAN_CONTENT = 2  # the fewest of its words that are none of the common ones
_FAR = 1000  # of how many words at most these must be found

_SPARE = 200_000_000
"""The characters of a trace's messages that may be read in vain for runs that go on elsewhere than
where they were said first.

Then runs are compared where they were said first alone, so that many runs in long messages do not
cost their product.
"""

_SENTENCES = re.compile(r"(?<![.!?:;])[.!?:;\n]+(?:\s|$)|\n")


class FlatTexts:
    """Flat texts, asked for runs of words; only those that hold the first words are read."""

    def __init__(self, flats: Iterable[str]) -> None:
        self._by_start: dict[str, dict[str, None]] = {}
        for text in flats:
            self.add(text)

    def add(self, text: str) -> None:
        """Ask about one more."""
        for start in _starts(text.split()):
            self._by_start.setdefault(start, {})[text] = None

    def __contains__(self, run: str) -> bool:
        starts = _starts(run.split()[:SPAN_WORDS])
        return any(f" {run} " in text for start in starts for text in self._by_start.get(start, ()))


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
        """The end of the longest run of words from `at` on that a flat text holds; it holds the one
        to `end`, first said at `place`.

        Each try doubles what is looked for, so that a long run does not cost its square.
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
        """True if a flat text holds a run whose first words it says first at `place`."""
        if flat.startswith(run, place):
            return True
        if self._spare <= 0:
            return False
        start = flat.find(run, place)
        self._spare -= (len(flat) if start == -1 else start) - place
        return start != -1

    def of(self, turn: int) -> tuple[str, ...]:
        """The copied spans of a turn, in small letters, one blank between words."""
        return self._spans.get(turn, ())


def _starts(words: Sequence[str]) -> list[str]:
    """The shortest runs that begin at each word, as they stand in a flat text."""
    runs = zip(*(words[at:] for at in range(SPAN_WORDS)), strict=False)
    return [f" {' '.join(run)} " for run in runs]


def ends_of_enough(words: Sequence[str]) -> list[int]:
    """For each word, where the shortest run from it on ends that is long enough and says enough; 0
    where none does.

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
