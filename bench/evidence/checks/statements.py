"""Own words in a text that shows a result: notices and labels state nothing about the world, anything
else needs support."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache

from ...text.decode import letters_of
from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.instructions import is_command, is_consent
from ...text.keys import plain_key
from ...text.notices import WORD, Notice, Number, states_nothing
from ...text.omissions import omission_in
from ...text.quantities import kind_of
from ...text.vocabulary import in_vocabulary
from ..failures import FAILURE, SUCCESS
from ..own_text import RewrittenResult
from ..row_counts import sizes_of
from ..shown import shown_of
from .counts import is_counted
from .support import FEWEST_WORDS, IDENTIFIER, UNSPACED, is_quoted, without, without_tags

_LAYOUT = frozenset(string.whitespace + string.punctuation + "…•·–—→").difference("~!?✓")
"""Signs that state nothing where they stand alone."""

_STATES = re.compile(
    r"\b(?:should|must|may|might|would)\b|\b(?:it|they|this|that|these|those)\s+(?:is|are|was|were|has|have|did)\b"
    r"(?! (?:no longer |not )?(?:shown|left|omitted|removed|stored|here))",
    re.IGNORECASE,
)
"""Matches a statement that consists of function words."""

_OFFER = re.compile(
    r"\b(?:call|fetch|read|repeat|request|re-?run|run|see|use)\b[^.,;:()\[\]]{0,80}\b(?:again|call|function|tool)\b[^.,;:()\[\]]*"
    r"|\bif (?:it|they|these|those|you) [^.,;:()\[\]]*",
    re.IGNORECASE,
)
"""Matches an offer to read more, and its condition."""

_FENCE = re.compile(r"^`{3,}\w*$", re.MULTILINE)


def unproven(own: RewrittenResult, purpose: Sequence[str]) -> Iterator[str]:
    """Yield the own lines of a text that state something, except sentences on `purpose`."""
    for line in shown_of(own).own:
        words = _FENCE.sub(" ", without_tags(without(line, purpose), own.result.text))
        if not is_free(own, words):
            yield line.strip()


def is_free(own: RewrittenResult, line: str) -> bool:
    """True if a line of its own in a text that shows a result states nothing but how much of the
    result is there, or repeats an earlier message. Each line of a text is read once."""
    return own.once(("is free", line), lambda: Statement(own, line).is_free)


@lru_cache(maxsize=1 << 10)
def _says_more(line: str) -> bool:
    """True for a line with a success, a consent, or what must be done, besides an offer to read more;
    constant lines come often."""
    line = _OFFER.sub(" ", line)
    is_claim = SUCCESS.search(line) or _STATES.search(line)
    return bool(is_claim or is_consent(line) or is_command(line))


class _Line:
    """A line, read as a notice, whatever result it is about."""

    def __init__(self, line: str) -> None:
        found = [*IDENTIFIER.finditer(UNSPACED.sub(lambda it: " " * len(it[0]), line))]
        self.names = [name[0] for name in found]
        ends = [0, *(end for name in found for end in name.span()), len(line)]
        unnamed = (line[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
        notice = Notice(EXIT_CODE.sub(" ", " ".join(unnamed)))
        self.words, self.numbers = {*notice.words}, [*notice.numbers()]
        self.places = [*notice.places()]
        self.content = {
            it for it in self.words if in_vocabulary(it, "claims", "ranks") or not states_nothing(it)
        }
        """Its words that may say something about the world."""

        self.said = [
            name for name in _CHECKED if any(in_vocabulary(word, name) for word in self.words)
        ]


_read = lru_cache(maxsize=1 << 10)(_Line)
"""Cached, because a strategy writes the same lines into many texts."""


_MOST_CHARS = 10_000
"""The most characters of a notice."""

_CHECKED = "states", "showing", "repeated", "empty"


class Statement:
    """A line of its own in a text that shows a result.

    It states nothing if it is a notice or a label: its words are those of the call or speak of texts,
    its names are known, and what it says of the result is right: its places, its counts, and the
    words of each list in `_CHECKED`.
    """

    def __init__(self, own: RewrittenResult, line: str) -> None:
        self._own, self._line, self._result = own, line, own.result

    @property
    def is_free(self) -> bool:
        """True if it states nothing but how much of the result is there, or repeats an earlier
        message."""
        own, line = self._own, self._line
        if not any(map(str.isalnum, line)):
            return _LAYOUT.issuperset(line)
        is_short = len(line) <= _MOST_CHARS
        if is_short and not self._claims_something and (self._is_notice or self._is_container):
            return True
        return line.count(" ") >= FEWEST_WORDS and is_quoted(own, line, self._result.index)

    @property
    def _claims_something(self) -> bool:
        """True if it claims a success, a failure that the result does not state, a consent, or what
        must be done."""
        if FAILURE.search(self._line):
            codes = {*exit_codes(self._line)}
            if not codes or not codes <= {*exit_codes(self._result.text)}:
                return True
        return _says_more(self._line)

    @property
    def _is_omission(self) -> bool:
        return omission_in(self._line, self._result.text) != ""

    @property
    def _is_container(self) -> bool:
        """True for a key of the result; what stands below it is held against the result."""
        return plain_key(self._line) in self._own.columns.containers

    @property
    def _is_notice(self) -> bool:
        line, known = _read(self._line), self._own.session.mentions.name
        if line.names and not (self._is_omission and all(map(known, line.names))):
            return False
        call_words = self._own.session.call_words
        content = line.content and line.content - call_words(self._result.index)
        if any(in_vocabulary(word, "claims", "ranks") for word in content):
            return False
        return (
            all(self._is_right(name, line.words) for name in line.said)
            and (not content or self._are_keys(content, line.words, line.numbers))
            and self._are_there(line.places)
            and all(is_counted(self._own, number) for number in line.numbers)
        )

    def _is_right(self, name: str, words: Collection[str]) -> bool:
        """True if what words of a list say of the result is right."""
        if name == "states":
            return self._are_of_text(words)
        if name == "showing":
            return not self._own.shows_nothing or bool(self._own.handles)
        return self._is_repetition if name == "repeated" else self._is_empty

    def _are_of_text(self, words: Collection[str]) -> bool:
        """True if words such as removed say what became of a text, not of a thing in it."""
        is_of_text = any(in_vocabulary(word, "units", "turns") for word in words)
        return is_of_text or self._own.shows_nothing or bool(self._own.handles)

    def _are_keys(
        self, content: Collection[str], words: Collection[str], numbers: Sequence[Number]
    ) -> bool:
        """True if some words name columns and a line says so, or name what stands below it, perhaps
        with its size."""
        columns = self._own.columns
        says_so = any(in_vocabulary(word, "columns") for word in words) and not numbers
        names = columns.containers | (columns.names if says_so else frozenset())
        if not {*content} <= {*WORD.findall(" ".join(names).casefold())}:
            return False
        sizes = sizes_of(self._own.session.contents.value(self._result.index), content)
        return all(number.text in map(str, sizes) for number in numbers)

    @property
    def _is_repetition(self) -> bool:
        """True if what is left out stands in the text, or in another result."""
        own = self._own
        if own.shows_nothing:  # *changed* holds a repetition against the other results
            return len(own.session.equal_results(own.result)) > 1
        shown = frozenset(line.strip().casefold() for line in own.text.split("\n"))
        return not own.table.fields and shown.issuperset(self._missing_lines)

    @property
    def _is_empty(self) -> bool:
        """True if what is left out has no value."""
        own = self._own
        kept = own.session.messages.fields_of(own.number, self._result.index)
        fields = own.columns.fields.pairs()
        return all(kind_of(text) == "nothing" for _, text, at in fields if at not in kept)

    def _are_there(self, places: Collection[tuple[str, bool]]) -> bool:
        """True if the rows that are shown, or missing, stand at the ends of the result that a notice
        names."""
        if not places or self._own.shows_nothing:
            return True
        shown, missing = self._rows
        of_shown, of_missing = ({end for end, it in places if it is of} for of in (False, True))
        return _are_at(of_shown, shown, missing) and _are_at(of_missing, missing, shown)

    @cached_property
    def _rows(self) -> tuple[list[int], list[int]]:
        """The numbers of the rows, lines or parts that the text shows, and of those missing."""
        own = self._own
        if not own.gaps and own.columns.rows(())[1]:
            kept = own.session.messages.fields_of(own.number, self._result.index)
            if (rows := own.columns.rows(kept))[0]:
                return rows
        letters = own.session.letters(self._result.index)
        return _parts(letters, [*map(letters_of, own.missing)])

    @cached_property
    def _missing_lines(self) -> list[str]:
        own = self._own
        is_read = own.gaps is not None or not own.table.fields
        missing = own.missing if is_read else []
        lines = (line.strip().casefold() for part in missing for line in part.split("\n"))
        return [*filter(None, lines)]


def _parts(full: str, missing: Sequence[str]) -> tuple[list[int], list[int]]:
    """The numbers of the parts of a text that are shown, and of those that are missing.

    >>> _parts("abcd", ["b", "d"]), _parts("abcd", ["a"])
    (([0, 2], [1, 3]), ([1], [0]))
    """
    gaps = list(filter(None, missing))
    begin = int(bool(gaps) and not full.startswith(gaps[0]))
    numbers = [begin + 2 * number for number in range(len(gaps))]
    end = numbers[-1] + (not full.endswith(gaps[-1])) if gaps else 0
    return sorted({*range(end + 1)}.difference(numbers)), numbers


def _are_at(ends: Collection[str], rows: Sequence[int], others: Sequence[int]) -> bool:
    """True if some rows stand before others, behind them, or on both sides, as `ends` say.

    >>> _are_at({"first"}, [0, 1], [2, 3]), _are_at({"last"}, [0, 1], [2, 3]), _are_at({"first", "last"}, [0, 9], [1, 2])
    (True, False, True)
    """
    if not (ends and rows and others):
        return not ends
    before = sum(row < others[0] for row in rows)
    behind = sum(row > others[-1] for row in rows)
    sides = {"first"} if before else set[str](), {"last"} if behind else set[str]()
    return before + behind == len(rows) and sides[0] | sides[1] == {*ends}
