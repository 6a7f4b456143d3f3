"""The own lines of a text that shows a result. Notices and labels state nothing, others need
support. `Statement` decides for a line, `counts` checks the numbers in notices. Texts that show no
result are checked by `summaries`."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import filterfalse

from ...model import memo
from ...text.decode import letters_of
from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.instructions import is_command, is_consent
from ...text.keys import plain_key
from ...text.notices import WORD, Notice, Number, is_insignificant, is_reason
from ...text.omissions import omission_in
from ...text.quantities import kind_of
from ...text.vocabulary import in_vocabulary
from ..failures import FAILURE, SUCCESS
from ..generated_text import RewrittenResult
from ..result_diff import diff_of
from ..row_counts import sizes_of
from .counts import is_counted
from .support import FEWEST_WORDS, IDENTIFIER, UNSPACED, is_quoted, without, without_tags

_LAYOUT = frozenset(string.whitespace + string.punctuation + "…•·–—→").difference("~!?✓")
"""Signs that state nothing where they stand alone."""

_MODAL = re.compile(r"\b(?:should|must|may|might|would)\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:it|they|this|that|these|those)\s+(?:is|are|was|were|has|have|did)\b"
    r"(?! (?:no longer |not )?(?:shown|left|omitted|removed|stored|here))([^,.;:()\[\]]*)",
    re.IGNORECASE,
)
"""Matches a claim such as "they are", and what it says."""

_OFFER = re.compile(
    r"\b(?:call|fetch|read|repeat|request|re-?run|run|see|use)\b[^.,;:()\[\]]{0,80}\b(?:again|call|function|tool)\b[^.,;:()\[\]]*"
    r"|\bif (?:it|they|these|those|you) [^.,;:()\[\]]*",
    re.IGNORECASE,
)
"""Matches an offer to read more, such as "call read_file again", and its condition."""

_SIZE = re.compile(r"\s?[\[(](\d+)[\])]:?$")
"""Matches the size of a list behind its key."""

_FENCE = re.compile(r"^`{3,}\w*$", re.MULTILINE)


@memo
def first_unproven(rewritten: RewrittenResult, purpose: tuple[str, ...]) -> str:
    """The first line that a text adds and that states something, except sentences on `purpose`; ""
    without one."""
    for line in diff_of(rewritten).added:
        undeclared = without(line, purpose)
        words = _FENCE.sub(" ", without_tags(undeclared, rewritten.result.text))
        if not any(states_nothing(rewritten, line) for line in (words, undeclared)):
            return undeclared.strip()
    return ""


@memo
def states_nothing(rewritten: RewrittenResult, line: str) -> bool:
    """True if an own line only says how much of the result is there, or repeats an earlier message.
    Each line of a text is read once."""
    return Statement(rewritten, line).states_nothing


def _is_about_texts(word: str) -> bool:
    return is_insignificant(word) or is_reason(word)


def _is_reason_or_place(word: str) -> bool:
    return is_reason(word) or in_vocabulary(word, "first", "last")


@lru_cache(maxsize=1 << 10)
def _claims_more(line: str) -> bool:
    """True if a line has a success, a consent or a command, besides an offer to read more."""
    line = _OFFER.sub(" ", line)
    if SUCCESS.search(line) or _MODAL.search(line) or is_consent(line) or is_command(line):
        return True
    said = (Notice(match[1]).words for match in _IS.finditer(line))
    return not all(words and all(map(_is_reason_or_place, words)) for words in said)


@lru_cache(maxsize=1 << 10)
def _says_failure(line: str) -> bool:
    """True if a line states a failure. Something that is "not available" here is left out."""
    return FAILURE.search(Notice(line).text) is not None


class _NoticeLine:
    """A line read as a notice, whatever result it is about: its identifiers, words, numbers and
    places, and the lists of the vocabulary that must be right."""

    def __init__(self, line: str) -> None:
        matches = [*IDENTIFIER.finditer(UNSPACED.sub(lambda match: " " * len(match[0]), line))]
        self.names = [match[0] for match in matches]
        ends = [0, *(end for match in matches for end in match.span()), len(line)]
        between_names = (line[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
        notice = Notice(EXIT_CODE.sub(" ", " ".join(between_names)))
        self.words, self.numbers = {*notice.words}, [*notice.numbers()]
        self.places = [*notice.places()]
        self.claims = {word for word in self.words if in_vocabulary(word, "claims", "ranks")}
        self.content = self.claims.union(filterfalse(_is_about_texts, self.words))
        """The words that may state something about the world."""

        self.reasons = {word for word in self.words if is_reason(word)}
        self.lists = [
            name for name in _CHECKED_LISTS if any(in_vocabulary(it, name) for it in self.words)
        ]


_read_notice = lru_cache(maxsize=1 << 10)(_NoticeLine)
"""Cached, because a strategy writes the same lines into many texts."""


_MOST_CHARS = 10_000
"""The most characters of a notice."""

_CHECKED_LISTS = "states", "showing", "repeated", "empty"


class Statement:
    """An own line of a text that shows a result.

    It states nothing if it is a notice or a label. Then its words are those of the call or about
    texts, its names are known, and what it says about the result is right: its places, its counts,
    and its words from `_CHECKED_LISTS` of the vocabulary.
    """

    def __init__(self, rewritten: RewrittenResult, line: str) -> None:
        self._rewritten, self._line, self._result = rewritten, line, rewritten.result

    @property
    def states_nothing(self) -> bool:
        """True if it only says how much of the result is there, or repeats an earlier message."""
        rewritten, line = self._rewritten, self._line
        if not any(map(str.isalnum, line)):
            return _LAYOUT.issuperset(line)
        is_short = len(line) <= _MOST_CHARS
        if is_short and not self._claims_something and (self._is_notice or self._is_heading):
            return True
        return line.count(" ") >= FEWEST_WORDS and is_quoted(rewritten, line, self._result.index)

    @property
    def _claims_something(self) -> bool:
        """True if it claims a success, a consent, a command, an exit code other than that of the
        result, or a failure without one."""
        codes = {*exit_codes(self._line)}
        if not codes <= {*exit_codes(self._result.text)}:
            return True
        return (not codes and _says_failure(self._line)) or _claims_more(self._line)

    @property
    def _is_heading(self) -> bool:
        """True for a key of the result, perhaps with the size of its list; the lines below are compared
        with the result."""
        size = _SIZE.search(self._line)
        key = plain_key(self._line[: size.start()] if size else self._line)
        sizes = map(str, sizes_of(self._rewritten.contents.value, key.split()))
        return key in self._rewritten.columns.containers and (size is None or size[1] in sizes)

    @property
    def _is_notice(self) -> bool:
        """True for a notice or label that is right."""
        rewritten, line = self._rewritten, _read_notice(self._line)
        if line.names and not omission_in(self._line, self._result.text):
            return False
        if not all(map(rewritten.session.mentions.has_name, line.names)):
            return False
        called = rewritten.contents.call_words if line.content else frozenset()
        content = line.content - called
        if not line.claims.isdisjoint(content) or (line.content and line.reasons - called):
            return False
        return (
            all(self._is_right(name, line.words) for name in line.lists)
            and (not content or self._are_keys(content, line.words, line.numbers))
            and self._are_places_right(line.places)
            and all(is_counted(rewritten, number) for number in line.numbers)
        )

    def _is_right(self, list_name: str, words: Collection[str]) -> bool:
        """True if it is right to say a word from a list of the vocabulary about the result."""
        rewritten = self._rewritten
        may_be_elsewhere = rewritten.shows_nothing or bool(rewritten.handles)
        if list_name == "states":  # "removed" must be about a text, not about a thing in it
            return may_be_elsewhere or any(in_vocabulary(word, "units", "turns") for word in words)
        if list_name == "showing":
            return not rewritten.shows_nothing or bool(rewritten.handles)
        return self._is_repetition if list_name == "repeated" else self._is_empty

    def _are_keys(
        self, content: Collection[str], words: Collection[str], numbers: Sequence[Number]
    ) -> bool:
        """True if the words are keys of the result: those of columns if the line says "columns", else
        the one above a list, perhaps with the size of the list."""
        columns = self._rewritten.columns
        are_columns = any(in_vocabulary(word, "columns") for word in words) and not numbers
        keys = columns.containers | (columns.names if are_columns else frozenset())
        if not {*content} <= {*WORD.findall(" ".join(keys).casefold())}:
            return False
        sizes = sizes_of(self._rewritten.contents.value, content)
        return all(number.text in map(str, sizes) for number in numbers)

    @property
    def _is_repetition(self) -> bool:
        """True if what is left out is in the rest of the text, or in another result."""
        rewritten = self._rewritten
        if rewritten.shows_nothing:  # `changed` compares the repetition with the other results
            return len(rewritten.session.equal_results(rewritten.result)) > 1
        if rewritten.table.fields:
            return False
        shown = {line.strip().casefold() for line in rewritten.text.split("\n")}
        lines = (line.strip().casefold() for part in rewritten.missing for line in part.split("\n"))
        return shown.issuperset(filter(None, lines))

    @property
    def _is_empty(self) -> bool:
        """True if the fields that are left out have no value."""
        rewritten = self._rewritten
        kept = rewritten.kept_fields
        fields = rewritten.columns.fields.pairs()
        return all(kind_of(text) == "nothing" for _, text, number in fields if number not in kept)

    def _are_places_right(self, places: Collection[tuple[str, bool]]) -> bool:
        """True if the rows that are shown, or missing, are at the ends of the result that a notice
        names."""
        if not places or self._rewritten.shows_nothing:
            return True
        shown, missing = self._rows
        ends_shown = {end for end, is_missing in places if not is_missing}
        ends_missing = {end for end, is_missing in places if is_missing}
        return _are_at(ends_shown, shown, missing) and _are_at(ends_missing, missing, shown)

    @property
    def _rows(self) -> tuple[list[int], list[int]]:
        """The numbers of the rows, lines or parts that the text shows, and of those missing."""
        rewritten = self._rewritten
        if not rewritten.gaps and rewritten.columns.rows(())[1]:
            kept = rewritten.kept_fields
            shown, missing = rewritten.columns.rows(kept)
            if shown:
                return shown, missing
        return _parts(rewritten.contents.letters, [*map(letters_of, rewritten.missing)])


def _parts(full: str, missing: Sequence[str]) -> tuple[list[int], list[int]]:
    """The numbers of the parts of a text that are shown, and of those that are missing.

    >>> _parts("abcd", ["b", "d"]), _parts("abcd", ["a"])
    (([0, 2], [1, 3]), ([1], [0]))
    """
    gaps = list(filter(None, missing))
    if not gaps:
        return [0], []
    first = int(not full.startswith(gaps[0]))
    numbers = [first + 2 * number for number in range(len(gaps))]
    last = numbers[-1] + (not full.endswith(gaps[-1]))
    return sorted({*range(last + 1)}.difference(numbers)), numbers


def _are_at(ends: Collection[str], rows: Sequence[int], others: Sequence[int]) -> bool:
    """True if some rows are before all others ("first"), behind them ("last"), or both, as `ends` say.

    >>> _are_at({"first"}, [0, 1], [2, 3]), _are_at({"last"}, [0, 1], [2, 3]), _are_at({"first", "last"}, [0, 9], [1, 2])
    (True, False, True)
    """
    if not (ends and rows and others):
        return not ends
    before = sum(row < others[0] for row in rows)
    behind = sum(row > others[-1] for row in rows)
    actual = {end for end, count in (("first", before), ("last", behind)) if count}
    return before + behind == len(rows) and actual == {*ends}
