"""Fields of a rewritten result that have another value, or a key that the result does not have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from ..model import as_text, nested
from ..model.scores import Finding
from ..text.data import parse_data
from ..text.dates import moment_of
from ..text.decode import NothingParsed
from ..text.fields import FieldTable
from ..text.instructions import is_denied, is_unit
from ..text.parts import are_parts
from ..text.places import occurs
from ..text.quantities import is_quantity, kind_of, same_value
from ..text.records import Pair
from ..text.separators import TYPES
from ..text.text_records import TextRecord, plain_key
from .changed_lines import altered
from .own_text import RewrittenResult

_EMPTY_SIGNS = frozenset("-–—")
"""Signs for no value; any other alone may mean the value above."""

_MORE = re.compile(r"(?:[,;]\s|\s\().*[A-Za-z].*", re.DOTALL)
_FEWEST_PAIRS = 3
_MOST_LISTS, _MOST_FITTING = 1000, 200
"""The most lists, and the most records, with which one is compared in full."""

_WORDS = re.compile(r"[\w:.@#-]*\w")
_WORD, _LETTERS = re.compile(r"[^\W\d_]{3}"), re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"(?=\w*\d)(?=[\d_]*[^\W\d_])\w{6,}")


class Changes(NamedTuple):
    """The changed fields of a rewritten result; `is_read` is False if its text could not be
    read."""

    findings: list[Finding]
    is_read: bool = True


def changed_fields(own: RewrittenResult) -> Changes:
    """The fields of one rewritten result that differ."""
    if not own.table.fields:
        return _changed_cells(own)
    if not (own.shows_all or own.session.messages.understands(own.number, own.result.index)):
        return Changes([], is_read=False)
    text = own.added if own.shows_all else own.text
    pieces = own.notices.pieces_of(text)
    changes = [_Piece(own, piece).changes() for piece in filter(str.strip, pieces)]
    found = [item for change in changes for item in change.findings]
    is_read = all(change.is_read for change in changes)
    return Changes(found, is_read and bool(found or _are_compared(own, text, pieces)))


def _changed_cells(own: RewrittenResult) -> Changes:
    """The cells of a text that differ from those of the tables in its result. A value that stands
    in the same line of the result may be of another column there, so it cannot be read."""
    if own.shows_all or not own.columns.fields:
        return Changes([])
    rest = own.session.contents.tables(own.result.index).rest
    text = "\n".join(line for line in own.text.split("\n") if line.rstrip() not in rest)
    pieces = own.notices.pieces_of(text)
    changes = [_Piece(own, piece).changes() for piece in filter(str.strip, pieces)]
    found = [item for change in changes for item in change.findings]
    certain = [item for item in found if not _may_be_cut_otherwise(item, own)]
    return Changes(certain, len(certain) == len(found) and all(it.is_read for it in changes))


def _may_be_cut_otherwise(change: Finding, own: RewrittenResult) -> bool:
    """True if a line of the result has the values before and after a change, of which the latter is
    no cell: then the cells may have other ends."""
    new, was = (words.partition(": ")[2] for words in (change.text, change.was))
    lines = own.result.text.split("\n") if not own.columns.says_value(new) else ()
    return any(occurs(line, new) and occurs(line, was) for line in lines)


def _are_compared(own: RewrittenResult, text: str, pieces: list[str]) -> bool:
    """False if most fields of a text cannot be compared with a record, if it has a list in another
    order, or a single value on a line, which may belong to any record.
    """
    table, messages = own.table, own.session.messages
    readings = [messages.reading(piece) for piece in pieces]
    alone = [
        record.pairs[0]
        for reading in readings
        for record in reading.of_lines
        if len(record.pairs) == 1 and not record.around
    ]
    if any(table.has_key(key) and _is_of_any(table, key, text) for key, text in alone):
        return False
    if own.shows_all:
        return True
    value = messages.contents.value(own.result.index)
    with suppress(NothingParsed):
        shown = parse_data(text)
        if not are_parts(shown, value, table.says_value) or not _are_in_order(shown, table):
            return False
    records = (record for reading in readings for record in reading.records)
    compared = sum(table.has_key(key) for record in records for key, _ in record.pairs)
    return 2 * compared >= len(messages.fields_in(own.result.index, text))


def _are_in_order(shown: Any, table: FieldTable) -> bool:
    """False if data have a list with values of a column in another order than the rows, or without
    equal ones, so that nobody can tell which row each belongs to.
    """
    for node in nested(shown):
        for key, values in node.items() if isinstance(node, dict) else ():
            if isinstance(values, list) and not table.has_container(key):
                column = [
                    item.text for item in table.fields if plain_key(item.key) == plain_key(key)
                ]
                texts = [*map(as_text, values)]
                if column and not (
                    len(texts) <= len(column) and all(map(same_value, texts, column))
                ):
                    return False
    return True


class _Piece:
    """A piece of a rewritten result whose fields are compared with the result.

    Outside of data a column most of whose values are words that the result does not have there is
    written in another way, as is one with signs (differences), and a layout of which fewer than half
    of the fields agree was not understood: none is checked. A new key is a renamed one only if most of its values say so.
    """

    def __init__(self, own: RewrittenResult, text: str) -> None:
        self._own, self._text, self._table = own, text, own.columns
        self._found: list[Finding] = []
        self._other_words: dict[str, list[Finding]] = {}
        self._signed: set[str] = set()
        self._unknown = Counter[str]()
        self._renamed: defaultdict[str, list[Finding]] = defaultdict(list)
        self._agreeing = Counter[str]()
        self._is_read = True

    def changes(self) -> Changes:
        """Its changed fields."""
        for record in self._own.session.messages.reading(self._text).records:
            self._compare(record)
        is_data = self._text.lstrip()[:1] in ("{", "[")
        for key, renamed in self._renamed.items():
            if 2 * len(renamed) > self._unknown[key]:
                self._found += renamed
            else:
                self._is_read = False
        for key, new in self._other_words.items():
            if key not in self._signed and (is_data or len(new) <= max(1, self._agreeing[key])):
                self._found += new
            else:
                self._is_read = False
        if not is_data and len(self._found) > max(self._agreeing.total(), _FEWEST_PAIRS):
            return Changes([], is_read=False)
        return Changes(self._found, self._is_read)

    def _compare(self, record: TextRecord) -> None:
        """Compare the fields of a record with those of the records that agree with it most."""
        table, pairs = self._table, record.pairs
        known = [(key, text) for key, text in pairs if table.has_key(key)]
        best = self._fitting(known, table.best_records(known, record.around)) if known else []
        if self._own.columns is not self._own.table and not self._is_row(known, best):
            self._is_read = False  # in lines that are no rows of a table
            return
        for key, text in pairs if known else ():
            sign = text.strip()
            is_sign = len(sign) == 1 and not sign.isalnum() and sign not in _EMPTY_SIGNS
            is_sign = (is_sign or sign in TYPES) and not table.says_value(sign)
            if is_sign:
                self._is_read = False
            if is_sign or not text.strip(" .…") or not key or table.has_container(f"{key}s"):
                continue  # nothing, or the name of one of several
            if not table.has_key(key):
                self._compare_unknown(key, text, known, pairs, best)
            else:
                self._compare_known(key, text, self._expected(key, text, record, best))

    def _is_row(self, pairs: Sequence[Pair], best: Sequence[int]) -> bool:
        """True if half of some pairs, without empty ones, are those of one of the best records."""
        pairs = [pair for pair in pairs if pair[1].strip()]
        values = ([(key, self._table.values([number], key)) for key, _ in pairs] for number in best)
        agreeing = (
            sum(
                any(same_value(text, it) for it in own)
                for (_, text), (_, own) in zip(pairs, of, strict=True)
            )
            for of in values
        )
        return 2 * max(agreeing, default=0) >= len(pairs)

    def _fitting(self, pairs: Sequence[Pair], best: list[int]) -> list[int]:
        """Those of the best records that have all of some pairs, except arguments of the call. If
        each has all of their keys but none all pairs, the first one.
        """
        table, arguments = self._table, self._own.result.arguments
        called = arguments.items() if isinstance(arguments, dict) else ()
        pairs = [pair for pair in pairs if pair not in called]
        keys = {plain_key(key) for key, _ in pairs}
        if not 1 < len(best) <= _MOST_FITTING or not all(
            map(keys.issubset, map(table.keys_of, best))
        ):
            return best
        fitting = [
            number
            for number in best
            if all(
                any(same_value(text, it) for it in table.values([number], key))
                for key, text in pairs
            )
        ]
        return fitting or best[:1]

    def _compare_unknown(
        self, key: str, text: str, known: list[Pair], pairs: Sequence[Pair], best: Sequence[int]
    ) -> None:
        """Compare a value under a key that the result does not have; where it was recorded cut, what
        the model saw may have it."""
        result = self._own.result
        if result.recorded_text != result.text and f'"{key}"' in result.recorded_text:
            return
        number, _, unit = text.rpartition(" ")
        if self._table.says_value(number) and is_quantity(number):
            if unit not in self._table.units:  # an unknown unit
                self._is_read = False
                return
            text = number
        if not _WORD.search(key) or self._table.says_value(key):
            # A sign claims nothing and may number the rows; a value may be taken for a key.
            self._is_read = self._is_read and not any(map(str.isalnum, key)) and text.isdigit()
            return
        self._unknown[key] += 1
        if plain_key(text) not in self._table.containers and _is_renamed(
            self._own, text, known, pairs, best
        ):
            was = _origin(self._table, text)
            self._renamed[key].append(Finding(self._own.step, f"{key}: {text}", was))

    def _expected(
        self, key: str, text: str, record: TextRecord, best: Sequence[int]
    ) -> Collection[str]:
        """The values of which a text may show one under a key; none if they are unknown."""
        table, pairs = self._table, record.pairs
        values = table.values(best, key)
        of_key = sum(plain_key(other) == plain_key(key) for other, _ in pairs)
        if 1 < of_key == len(pairs) and best and not values:
            self._is_read = False  # a list that its record lacks
            return ()
        if of_key > 1:
            column = table.column(key)  # of several mappings in one row, or parts of a cell
            return {*column, *(part for value in column for part in value.split(", "))}
        if values or same_value(text, ""):
            return values
        known = sum(table.has_key(other) for other, _ in pairs)
        if len(best) == 1 and known > 1 and not self._may_have(best[0], key, record.name):
            self._is_read = False  # a value that its record lacks
            return ()
        is_all = len(pairs) == known and table.column(key).total() == 1
        return table.column(key) if best or known > 1 or is_all else ()

    def _compare_known(self, key: str, text: str, values: Collection[str]) -> None:
        """Compare a value with those expected under its key in the records that agree most. One of
        an unknown kind is not checked.
        """
        own = self._own
        if self._table.has_prose(values):
            lines = altered(own, text.split("\n"))
            self._found += [Finding(own.step, new, was) for new, was in lines]
        elif not values or _is_one_of(self._text, text, values):
            self._agreeing[plain_key(key)] += bool(values)
        elif _is_of_kind(text, values, self._table.column(key)):
            self._add(key, text, values)
        else:
            self._is_read = False

    def _may_have(self, record: int, key: str, name: str) -> bool:
        """True if a record, or one near it, has a value under a key; `name` is that of the record in
        the text."""
        keys = (other for pairs in self._table.near(record, name) for other, _ in pairs)
        return plain_key(key) in map(plain_key, keys)

    def _add(self, key: str, text: str, values: Collection[str]) -> None:
        """Add a changed field; one with words that its column lacks, or with a sign, is judged with
        its column."""
        change = Finding(self._own.step, f"{key}: {text}", f"{key}: {next(iter(values))}")
        column = self._table.column(key)
        if text.startswith("+") and not any(value.startswith("+") for value in column):
            self._signed.add(plain_key(key))
        is_signed = text[:1] in ("+", "-") and text not in column
        is_known = text in column or moment_of(text) or (is_quantity(text) and not is_signed)
        new = self._found if is_known else self._other_words.setdefault(plain_key(key), [])
        new.append(change)


def _is_of_kind(text: str, values: Collection[str], column: Collection[str]) -> bool:
    """True if a shown value is of the kind of the recorded ones or of their column, or says that
    there is none. Any other, one with a recorded value in it, or one that speaks of parts of the
    text, is an unknown way of writing.

    >>> [_is_of_kind(text, ["JFK"], ["JFK", "SEA"]) for text in ("BOS", "n/a", "JFK → SEA", "@1", "row 2")]
    [True, True, False, False, False]
    >>> _is_of_kind("<not shown: 2 items>", ["all of 3 cities"], [])
    False
    """
    kind = kind_of(text)
    if text in column or kind == "nothing":
        return True
    if any(map(is_unit, _LETTERS.findall(text.casefold()))):
        return False
    if is_denied(text):
        return True
    kinds = set(map(kind_of, chain(values, column)))
    if kind == "quantity":
        return kind in kinds or kinds <= {"nothing"}
    words = len(_WORDS.findall(text))
    has_one = any(occurs(text, value) for value in values if value)
    most = max((len(_WORDS.findall(value)) for value in values), default=0)
    return kind in kinds and not has_one and words <= 2 * most


def _is_of_any(table: FieldTable, key: str, text: str) -> bool:
    """True if a value of a column is alone, and neither it nor its key shows to which records it
    belongs.
    """
    column = table.column(key)
    text = text.rstrip(" :;,.").casefold()
    is_one = any(same_value(text, value) for value in column)
    return is_one and len(column) > 1 and text not in table.records_of_identity


def _is_renamed(
    own: RewrittenResult,
    text: str,
    known: list[Pair],
    pairs: Sequence[Pair],
    best: Sequence[int],
) -> bool:
    """True if a value under a new key among known ones is the value of a missing key of the best
    records, or a code that occurs nowhere.
    """
    if len(known) * 2 < len(pairs) or any(same_value(text, other) for _, other in known):
        return False
    is_code = _CODE.fullmatch(text) is not None
    is_new = is_code and not own.session.mentions.name(text)
    if is_new or not best:
        return is_new or own.columns.says_value(text)
    shown = {plain_key(key) for key, _ in known}
    missing = (pair for record in best for pair in own.columns.pairs(record))
    return any(plain_key(key) not in shown and same_value(text, value) for key, value in missing)


def _is_one_of(shown: str, text: str, values: Collection[str]) -> bool:
    """True if a value is one of some, perhaps followed by other words, or truncated at the end of
    the text.
    """
    text = text.strip()
    at_end = bool(text) and shown.rstrip("\"'…. ]}\n").endswith(text)
    first = _MORE.sub("", text)
    return text in values or any(
        same_value(text, value) or first == value or (at_end and value.startswith(text))
        for value in values
    )


def _origin(table: FieldTable, text: str) -> str:
    return next(
        (f"{item.key}: {item.text}" for item in table.fields if same_value(text, item.text)), ""
    )
