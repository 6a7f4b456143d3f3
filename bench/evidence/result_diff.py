"""The differences between a text and the result that it shows, and the words that it adds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from ..model import memo
from ..model.scores import Finding
from ..text.data_formats import parse_data
from ..text.decode import NothingParsed, decode_strings
from ..text.exit_codes import exit_codes
from ..text.field_list import identifies
from ..text.keys import plain_key
from ..text.quantities import kind_of, same_value, unit_of
from ..text.records import Pair
from ..text.text_records import TextRecord
from ..text.value_diff import differences, is_same_field, keep_order
from ..text.wording import quoted
from .generated_text import GeneratedText, RewrittenResult

_TITLE_ENDS = re.compile(r"[:;(]")
_DATA = re.compile(r"\s*(?:\{|\[(?![^\n\"'{}]*\]\n)|<[A-Za-z_].*>\s*\Z)", re.DOTALL)
"""Matches data, which does not begin with a line in brackets."""

_NO_VALUE = frozenset({"", "-", "–", "—", "null", "None"})
_SIGNS = " \t-#*•:>|[](),;."
_SHORT_KEY = 3
"""So many letters may be short for a key."""

_FEWEST_VALUES = 3
"""So many values are those of one record by no accident."""

_LONG, _MOST_RECORDS, _MOST_ALTERED = 100, 200, 200
"""The characters of a long text, the most records among which one with all of some pairs is sought,
and the most lines of its own that a text has altered: each is compared with all of its result."""


class ResultDiff(NamedTuple):
    """The differences between a text and the result that it shows: the values and lines that it
    `changed`, the lines and fields that it `added`, and the words of the first part that cannot be
    compared with the result; "" without one."""

    changed: list[Finding]
    added: list[str]
    unclear: str = ""


@memo
def diff_of(rewritten: RewrittenResult) -> ResultDiff:
    """The differences between a text and its result; each text is compared once.

    Data and tables are compared record by record, other text line by line. A line or value of
    another place, and one that the result does not have in this form, is added.
    """
    if rewritten.is_encoded:
        words = f"{quoted(rewritten.message.text)} cannot be read as the result"
        return ResultDiff([], [], words)
    scalar = [*_changed_scalar(rewritten)]
    if rewritten.shows_all or rewritten.gaps is not None:
        gaps = [] if rewritten.shows_nothing else rewritten.gaps or []
        full = rewritten.result.text
        denied = next((gap.missing for gap in gaps if gap.hides_denial(full)), "")
        words = f"{quoted(denied)} left out within a sentence" if denied else ""
        added = rewritten.added.split("\n")
        return ResultDiff([*scalar, *_changed_exit_codes(rewritten, added)], added, words)
    comparison = _Comparison(rewritten)
    comparison.compare()
    changed = [*scalar, *comparison.changed, *_changed_exit_codes(rewritten, comparison.added)]
    return ResultDiff(changed, comparison.added, comparison.unclear)


def _changed_exit_codes(rewritten: RewrittenResult, added: Sequence[str]) -> Iterator[Finding]:
    """Yield an exit code that a line of a text states for a result that states only others."""
    stated, codes = chain.from_iterable(map(exit_codes, added)), exit_codes(rewritten.result.text)
    other = next((code for code in stated if code not in codes), None) if codes else None
    if other is not None:
        yield Finding(rewritten.step, f"exit code {other}", f"exit code {codes[0]}")


_SCALAR = re.compile(r"[-+]?[$€£]?\d[\d.,]*\s?[%\w]{0,3}|true|false|yes|no", re.IGNORECASE)


def _changed_scalar(rewritten: RewrittenResult) -> Iterator[Finding]:
    """Yield the value of a result that consists of one value, if a text shows another one."""
    value, was = rewritten.text.strip(), rewritten.result.text.strip()
    are_scalars = _SCALAR.fullmatch(value) and _SCALAR.fullmatch(was)
    if are_scalars and not same_value(value, was):
        yield Finding(rewritten.step, value, was)


class _Comparison:
    """The comparison of one text with its result."""

    def __init__(self, rewritten: RewrittenResult) -> None:
        self._rewritten, self._table = rewritten, rewritten.columns
        self._messages = rewritten.session.messages
        self._beside: list[str] = []
        self.changed: list[Finding] = []
        self.added: list[str] = []
        self.unclear = ""

    def compare(self) -> None:
        """Compare all of the text."""
        rewritten = self._rewritten
        if (
            _DATA.match(rewritten.text)
            and rewritten.table.fields
            and not rewritten.leaves_out_lines
        ):
            rest = [rewritten.brief]
        else:
            lines = rewritten.lines_shown
            if lines.moved:
                self._note_unclear(f"{quoted(lines.moved)} stands in another place")
            if lines.misplaced:
                self._note_unclear(f"{quoted(lines.misplaced)} stands below another heading")
            rest = lines.own
        self.compare_lines(rest)

    def compare_lines(self, rest: Sequence[str]) -> None:
        """Compare some lines of the text, the others being those of the result."""
        lines = self._rewritten.contents.lines
        if self._table.fields and any(map(str.strip, rest)):
            rest = [*self._outside_records(rest)]
        for at, line in enumerate(rest):
            was = lines.altered(line) if at < _MOST_ALTERED else ""
            if was and self._is_explained(line, was):
                self._note_unclear(f"{quoted(line)} may stand for {quoted(was)}")
            elif was:
                self.changed.append(Finding(self._rewritten.step, line.strip(), was))
            else:
                self.added.append(line)

    def _note_unclear(self, words: str) -> None:
        """Keep the words of the first part that cannot be compared."""
        self.unclear = self.unclear or words

    def _is_explained(self, line: str, was: str) -> bool:
        """True if another line of the text has the words that differ between a line and that of the
        result, as a legend has."""
        new, replaced = _words(line) - _words(was), _words(was) - _words(line)
        others = (it for it in self._rewritten.text.split("\n") if it.strip() != line.strip())
        return bool(new and replaced) and any(_words(it) >= new | replaced for it in others)

    def _outside_records(self, lines: Sequence[str]) -> Iterator[str]:
        """Compare the records in some lines; yield the words outside of them."""
        rewritten, text = self._rewritten, "\n".join(lines)
        with suppress(NothingParsed):
            data, value = parse_data(text), rewritten.contents.value
            changes = differences(decode_strings(data), decode_strings(value))
            if value is not None and changes is not None:
                self.changed += [Finding(rewritten.step, now, was) for now, was in changes]
                return
            if value is not None and not keep_order(data, value, self._table.is_value):
                self._note_unclear(f"{quoted(rewritten.text)} has values in other places")
        reading = self._messages.reading(text)
        self._beside = reading.outside_data.split("\n")
        for record in reading.records:
            self._compare_record(record)
        for line in self._beside:
            if line.strip(_SIGNS).casefold() not in self._table.records_of_identity:
                yield line

    def _compare_record(self, record: TextRecord) -> None:
        """Compare the fields of a record with those of the record that agrees with it most."""
        table = self._table
        is_data = self._rewritten.text.lstrip()[:1] in ("{", "[")
        pairs = [it for it in record.pairs if it[0] and (is_data or not _is_cut(it[1]))]
        known = [pair for pair in pairs if table.has_key(pair[0])]
        best = table.best_records(known, record.ancestor_values) if known else []
        fitting = [n for n in best[:_MOST_RECORDS] if not self._differing(n, known)]
        fitting.sort(key=lambda number: not table.is_below(number, record.name))
        unknown = [pair for pair in pairs if not table.has_key(pair[0])]
        place = tuple(text for _, text in unknown if text.isdecimal())
        number = next(iter(fitting or best), -1)
        in_place = [it for it in fitting if place and table.place(it) == place]
        if in_place:  # two keys number it in a list of lists
            number, unknown = in_place[0], [it for it in unknown if not it[1].isdecimal()]
        differing = self._differing(number, known) if number >= 0 else known
        last = dict(known)
        several = next((key for key, text in known if last[key] != text), "")
        if differing and several and not table.has_container(several):
            self._note_unclear(f"{quoted(several)} has several values")
            return
        is_known = len(known) == len(pairs) and len({text for _, text in known}) >= _FEWEST_VALUES
        if len(differing) > 1 and is_known and (found := [*self._under_other_keys(known)]):
            self.changed += found
            return
        if 2 * len(differing) > len(known):
            self._note_unclear(f"{quoted(': '.join(differing[0]))} is in no record of the result")
            return
        if number >= 0 and not table.is_below(number, record.name):
            self._note_unclear(f"{quoted(': '.join(pairs[0]))} stands below {quoted(record.name)}")
        for key, text in differing:
            values = table.values(number, key)
            was = next(iter(values), "")
            is_spelled = any(same_value(text, value) for value in values)
            if values and text not in _NO_VALUE and not is_spelled and _is_of_kind(text, values):
                self.changed.append(
                    Finding(self._rewritten.step, f"{key}: {text}", f"{key}: {was}")
                )
            else:
                self._note_unclear(f"{quoted(f'{key}: {text}')} is not in its record")
        known_keys = {plain_key(key) for key, _ in known}
        for key, text in unknown:
            self._compare_unknown(key, text, number, known_keys)

    def _under_other_keys(self, pairs: Sequence[Pair]) -> Iterator[Finding]:
        """Yield the pairs that a record with all of their values does not have: it has these under
        other keys."""
        number = self._table.record_with([text for _, text in pairs])
        for key, text in self._differing(number, pairs) if number >= 0 else ():
            if values := self._table.values(number, key):
                yield Finding(
                    self._rewritten.step, f"{key}: {text}", f"{key}: {next(iter(values))}"
                )

    def _differing(self, number: int, pairs: Sequence[Pair]) -> list[Pair]:
        """The pairs that a record, or one around it, does not have. Nothing, or a dash, may
        stand for no value."""
        values = ((key, text, self._table.values(number, key)) for key, text in pairs)
        return [
            (key, text)
            for key, text, known in values
            if not any(self._is_same(key, text, value) for value in known)
            and not _is_list(text, known)
            and not (text in _NO_VALUE and all(kind_of(value) == "nothing" for value in known))
        ]

    def _is_same(self, key: str, text: str, value: str) -> bool:
        """True if a text shows a value, perhaps with a unit that the key has."""
        if is_same_field(text, value):
            return True
        unit = unit_of(text).casefold()
        return bool(unit) and unit in plain_key(key).split() and same_value(text, value)

    def _compare_unknown(
        self, key: str, text: str, number: int, known_keys: Collection[str]
    ) -> None:
        """Compare a value under a key that the result does not have: the value of a field that the
        record would lack was renamed, any other is added. A part of a long text may extend its key
        (`output_head`); words beside the data may explain a key, or stand before it as a title."""
        is_part = text.lstrip()[:1] in ("", "[", "{")  # which is read on its rewritten
        others = self._table.pairs(number) if number >= 0 and not is_part else ()
        other, was = next(
            (
                (other, value)
                for other, value in others
                if plain_key(other) not in known_keys and same_value(text, value) and value.strip()
                if len(value) < _LONG or len(text) == len(value) or not _extends(key, other)
            ),
            ("", ""),
        )
        is_name = number >= 0 and text == self._table.row_key(number)
        if (is_name and identifies((key, text), alone=False)) or (
            was and self._has_its_unit(key, other, number)
        ):
            return
        if not was:
            self.added.append(f"{key}: {text}" if text else key)
        elif self._explains(key, other) or self._table.names_above(number, key):
            self._note_unclear(f"{quoted(f'{key}: {text}')} may stand for {quoted(other)}")
        else:
            self.changed.append(Finding(self._rewritten.step, f"{key}: {text}", f"{other}: {was}"))

    def _has_its_unit(self, key: str, other: str, number: int) -> bool:
        """True if a key is another one of a record with values of the record: `price_eur` beside the
        currency."""
        added = {*plain_key(key).split()} - {*plain_key(other).split()}
        return _extends(key, other) and added <= {
            text.casefold() for _, text in self._table.pairs(number)
        }

    def _explains(self, key: str, other: str) -> bool:
        """True if words beside the data have a key and another one, or the key begins the other or
        ends with it behind a title."""
        is_titled = plain_key(other) in map(plain_key, _TITLE_ENDS.split(key))
        is_short = len(key) >= _SHORT_KEY and plain_key(other).startswith(plain_key(key))
        is_explained = any(key in line and other in line for line in self._beside)
        return is_titled or is_short or is_explained


def _words(line: str) -> set[str]:
    return {word.strip(_SIGNS) for word in line.split()}


def _extends(key: str, other: str) -> bool:
    """True if a key is another one with more words.

    >>> _extends("output_head", "output"), _extends("outputs", "output")
    (True, False)
    """
    return {*plain_key(other).split()} < {*plain_key(key).split()}


def _is_cut(text: str) -> bool:
    """True for a mark of omission in place of a value."""
    return text != "" and not text.strip(" .…")


def _is_list(text: str, values: Collection[str]) -> bool:
    """True if a text lists all of several values, in order, with one sign or blank between them.

    >>> [_is_list(text, ("milk", "egg")) for text in ("milk, egg", "[milk; egg]", "milk egg", "egg, milk")]
    [True, True, True, False]
    """
    ways = ([*map(str.strip, text.strip("[]").split(sign))] for sign in ",;|/ ")
    return len(values) > 1 and any(
        len(parts) == len(values) and all(map(is_same_field, parts, values)) for parts in ways
    )


def _is_of_kind(text: str, values: Collection[str]) -> bool:
    """True if a value is of the kind of one of others, or says that there is none."""
    return kind_of(text) in {"nothing", *map(kind_of, values)}


def added_lines(text: GeneratedText) -> list[str]:
    """The words of a text that no message has; of one that shows a result those that it adds."""
    if not isinstance(text, RewrittenResult):
        return text.new_lines
    new_parts = text.session.mentions.new_parts
    return [part for line in diff_of(text).added for part in new_parts(line)]
