"""Own words in a text that shows a result: notices and labels state nothing about the world, anything
else needs support.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from functools import cached_property

from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.instructions import is_command, is_consent, is_rank, is_unit, quantifiers
from ...text.omissions import omission_in
from ...text.quantities import kind_of
from ...text.separators import is_part
from ...text.small_words import WORD, is_small
from ..failures import FAILURE, SUCCESS
from ..own_text import RewrittenResult
from ..row_counts import NEAR, counts_of, line_counts, row_counts
from ..shown import shown_of
from .support import FEWEST_WORDS, IDENTIFIER, UNSPACED, is_quoted, without, without_tags

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")
_LEFT_OUT = re.compile(
    r"\b(?:left out|not shown|more|other|further|additional|remaining|hidden"
    r"|omitted|elided|removed|truncated|dropped|skipped)\b",
    re.IGNORECASE,
)
_OF_MISSING = re.compile(rf"\s*(?:\w+ ){{0,3}}?{_LEFT_OUT.pattern}", re.IGNORECASE)
"""Matches the words after a number of what is left out."""

_OF_SHOWN = re.compile(r"\s*(?:out )?of\b|\s*(?:\w+ ){0,3}?(?:are |is )?shown\b", re.IGNORECASE)
_SHOWS = re.compile(r"\bshow(?:n|s|ing)?\W*(?:(?:are|is|the|first|last) ?)*$", re.IGNORECASE)
"""Matches the words after and before a number of what is shown."""

_OF = re.compile(r"\bof (?:the |all )?$", re.IGNORECASE)
_SIZE = re.compile(r"\s*(?:more )?(?:tokens?|bytes?|char(?:acter)?s?\b)", re.IGNORECASE)
"""Matches the words after a size, which states nothing."""

_ORDINAL = re.compile(
    r"(?:\b(?:step|turn|call|message|result|part|page|no\.?|lines?|rows?)\s*#?"
    r"|#|\d\s?(?:-|–|to|through)\s?)$",
    re.IGNORECASE,
)
"""Matches the words before the number of a part."""

_CLAIMS = frozenset(
    ["all", "always", "any", "every", "never", "no", "nobody", "none", "not", "nothing", "only"]
)
"""The quantifiers that claim something of all or the others, which is not looked up."""

_OF_NOTHING = frozenset({"blank", "empty", "none", "null", "nulls"})
_OF_REPEATED = frozenset(
    [
        "default",
        "defaults",
        "duplicate",
        "duplicates",
        "equal",
        "identical",
        "repeated",
        "same",
        "unchanged",
    ]
)
"""The words of a notice that what is left out tells nothing new."""

_LAYOUT = frozenset(string.whitespace + string.punctuation + "…•·–—→").difference("~!?✓")
"""Signs that state nothing where they stand alone."""

_STATES = re.compile(
    r"\b(?:should|must|may|might|would)\b|\b(?:it|they|this|that|these|those)\s+(?:is|are|was|were|has|have|did)\b"
    r"(?! (?:no longer |not )?(?:shown|left|omitted|removed|stored|here))",
    re.IGNORECASE,
)
"""Matches a statement that consists of function words."""

_OLD = re.compile(
    r"\b(?:old|older|earlier|previous|above)\b(?! (?:tool )?(?:answer|call|message|output|result|turn)s?\b)",
    re.IGNORECASE,
)
"""Matches a word that says that what is left out, or shown, stands or came before."""

_OF_STATE = re.compile(r"\b(?:cleared|dropped|hidden|masked|removed|saved|stored)\b", re.IGNORECASE)
"""Matches words of omission that may also say what became of a thing."""

_CLAIMS_TO_SHOW = re.compile(
    r"(?<!not )(?<!no longer )(?<!previously )\bshow(?:n|s|ing)\b|\b(?:saved|stored)\b(?! \w+ (?:space|tokens))",
    re.IGNORECASE,
)
"""Matches what a placeholder, which shows and stores nothing, may not say."""

_OF_COLUMNS = frozenset(["column", "columns", "field", "fields", "key", "keys"])
_FREE_QUANTIFIERS = frozenset({"both", "each", "identical", "same"})
_LEGEND = re.compile(r",\s*(?=\S{1,4}\s?=)")
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


class Statement:
    """A line of its own in a text that shows a result."""

    def __init__(self, own: RewrittenResult, line: str) -> None:
        self._own, self._line, self._result = own, line, own.result

    @property
    def is_free(self) -> bool:
        """True if it states nothing but how much of the result is there, or repeats an earlier
        message."""
        own, line = self._own, self._line
        if not any(map(str.isalnum, line)):
            return _LAYOUT.issuperset(line)
        if self._is_legend or self._states_nothing:
            return True
        return line.count(" ") >= FEWEST_WORDS and is_quoted(own, line, self._result.index)

    @property
    def _states_nothing(self) -> bool:
        line = self._line
        if SUCCESS.search(line) or is_consent(line) or is_command(line) or _STATES.search(line):
            return False
        codes = exit_codes(line)
        if codes and {*codes} <= {*exit_codes(self._result.text)}:
            line = EXIT_CODE.sub(" ", line)
        elif FAILURE.search(line):
            return False
        return self._has_free_words(line) and all(map(self._is_right, _NUMBER.finditer(line)))

    @property
    def _is_legend(self) -> bool:
        """True for what short names stand for, in a text that was read with it."""
        pairs = [part.partition("=") for part in _LEGEND.split(self._line)]
        text = self._result.text
        return self._own.shows_all and all(sign and it.strip() in text for _, sign, it in pairs)

    def _has_free_words(self, line: str) -> bool:
        """True if all words of a line speak of texts, of the call, or of what is left out."""
        called = self._own.session.call_words(self._result.index)
        quantified = {*quantifiers(line)}
        if (quantified - called) & _CLAIMS or any(map(is_rank, quantified)):
            return False
        is_omission = omission_in(line, self._result.text) != ""
        if is_omission:
            line = IDENTIFIER.sub(self._if_unknown, UNSPACED.sub(" ", line))
            if IDENTIFIER.search(line):
                return False
        words = WORD.findall(_LEFT_OUT.sub(" ", line).casefold())
        if is_omission and not self._tell_nothing_new(words):
            return False
        if _OLD.search(line) and not (is_omission and self._is_end(["last"])):
            return False
        is_state = _OF_STATE.search(line) and not any(map(is_unit, words))
        if is_state and not (self._own.shows_nothing or self._own.handles):
            return False
        if self._own.shows_nothing and _CLAIMS_TO_SHOW.search(line) and not self._own.handles:
            return False
        if not self._is_end(words):
            return False
        known = called | _OF_REPEATED | (quantified & _FREE_QUANTIFIERS)
        content = {*words} - known
        content = {it for it in content if not (is_small(it) or is_unit(it) or is_part(it))}
        if not content or (is_omission and self._are_kinds(content)):
            return True
        return not _NUMBER.search(line) and self._are_keys(content, words)

    def _if_unknown(self, name: re.Match[str]) -> str:
        return " " if self._own.session.mentions.name(name[0]) else name[0]

    def _are_keys(self, content: set[str], words: Sequence[str]) -> bool:
        """True if some words name columns and a line says so, or name what stands below it."""
        columns = self._own.columns
        names = columns.containers if _OF_COLUMNS.isdisjoint(words) else columns.names
        return content <= {*WORD.findall(" ".join(names).casefold())}

    def _tell_nothing_new(self, words: Sequence[str]) -> bool:
        """False for a notice that only empty or repeated parts are left out, if others are."""
        own = self._own
        if own.shows_nothing:  # *changed* holds a repetition against the other results
            return _OF_REPEATED.isdisjoint(words) or len(own.session.equal_results(own.result)) > 1
        if not _OF_NOTHING.isdisjoint(words):
            kept = own.session.messages.fields_of(own.number, self._result.index)
            fields = own.columns.fields.pairs()
            return all(kind_of(text) == "nothing" for _, text, at in fields if at not in kept)
        if _OF_REPEATED.isdisjoint(words):
            return True
        shown = frozenset(line.strip().casefold() for line in own.text.split("\n"))
        return not own.table.fields and shown.issuperset(self._missing_lines)

    def _is_end(self, words: Sequence[str]) -> bool:
        """False for a statement about the first or last rows, if others are shown."""
        own = self._own
        if {"first", "last"}.isdisjoint(words) or own.shows_nothing:
            return True
        if own.columns.fields:
            kept = own.session.messages.fields_of(own.number, self._result.index)
            shown, missing = own.columns.rows(kept)
        else:
            lines = own.session.result_lines(self._result.index)
            shown = own.lines_shown.numbers
            missing = sorted({*range(len(lines.texts))}.difference(shown))
        is_first = max(shown, default=-1) < min(missing, default=0)
        is_last = min(shown, default=0) > max(missing, default=-1)
        return is_last if "last" in words else is_first or is_last

    def _are_kinds(self, words: set[str]) -> bool:
        """True if every missing line has one of some words, which name what is left out."""
        kinds = [re.compile(rf"\b{re.escape(word.removesuffix('s'))}") for word in words]
        missing = self._missing_lines
        is_each = all(any(kind.search(line) for kind in kinds) for line in missing)
        return is_each and all(any(map(kind.search, missing)) for kind in kinds)

    @cached_property
    def _missing_lines(self) -> list[str]:
        own = self._own
        if own.gaps is not None:
            lines = [line for gap in own.gaps for line in gap.missing.split("\n")]
        elif own.table.fields:
            lines = []
        else:
            lines = own.session.result_lines(self._result.index).missing(own.lines_shown)
        return [line.strip().casefold() for line in lines if line.strip()]

    def _is_right(self, number: re.Match[str]) -> bool:
        """True if a number counts what is there or missing, or is that of a part."""
        text = number[0].replace(",", "").rstrip(".")
        start, end = number.span()
        before, after = (
            number.string[max(0, start - _NEAR) : start],
            number.string[end : end + _NEAR],
        )
        if self._own.shows_nothing:  # it may count another text that it replaces
            is_zero = not number[0].strip("0.,") and self._result.text.strip() != ""
            return not (is_zero and any(map(is_unit, WORD.findall(after.casefold())[:1])))
        is_size = _SIZE.match(after) is not None
        if _ORDINAL.search(before) or not text.isdigit():
            return is_size or text.isdigit()
        value = int(text[:18])
        counts = self._own.once("counts", lambda: _Counts(self._own))
        missing = counts.chars_missing if is_size else counts.missing
        is_missing = any(abs(value - it) <= max(min(NEAR, it // 4), it // _ABOUT) for it in missing)
        if _OF_MISSING.match(after):
            return is_missing or value > max(missing, default=value)
        if _OF_SHOWN.match(after) or _SHOWS.search(before):
            return value in counts.shown
        if _OF.search(before):
            return value in counts.total
        return is_size or is_missing or value in counts.total or value in counts.shown


_NEAR = 60
"""The characters beside a number that say what it counts."""

_FEW_LINES = 4
_ABOUT = 50
"""The most lines beside those of the result that a text may count, and the part of a large number by
which a count of what is left out may be wrong."""


class _Counts:
    """The numbers of rows, lines, words and characters of a result and of a text that shows it."""

    def __init__(self, own: RewrittenResult) -> None:
        self._own, self._full, self._text = own, own.result.text, own.message.text

    @cached_property
    def _rows(self) -> frozenset[int]:
        result, contents = self._own.result, self._own.session.contents
        return row_counts(self._full, result.data, contents.tables(result.index).tables)

    @cached_property
    def _records(self) -> int:
        return len(self._own.session.messages.reading(self._own.text).records)

    @cached_property
    def total(self) -> frozenset[int]:
        """Those of the result."""
        total = self._rows | counts_of(self._full) | {len(self._own.columns.names)}
        return total.union(count - 1 for count in total)

    @cached_property
    def shown(self) -> set[int]:
        """Those of the text."""
        counts = line_counts(self._text)
        lines = {count - notices for count in counts for notices in range(_FEW_LINES)}
        rows = row_counts(self._text) if self._text[:1] in ("{", "[") else ()
        return lines.union(counts_of(self._text), rows, {self._records})

    @cached_property
    def missing(self) -> set[int]:
        """The numbers of lines and rows that the text leaves out."""
        own = self._own
        missing = {count for gap in own.gaps or () for count in line_counts(gap.missing)}
        for full in {self._full, own.session.messages.texts.plain(self._full)}:
            counts = zip(line_counts(full), line_counts(self._text), strict=True)
            missing.update(of - shown for of, shown in counts)
        if own.columns.fields:
            kept = own.session.messages.fields_of(own.number, own.result.index)
            rows_missing = len(own.columns.rows(kept)[1])
            missing.update((rows_missing, *(of - self._records for of in self._rows)))
        return missing

    @cached_property
    def chars_missing(self) -> set[int]:
        """The characters that it leaves out."""
        gaps = (gap.missing for gap in self._own.gaps or ())
        return {*map(len, gaps), len(self._full) - len(self._text)}
