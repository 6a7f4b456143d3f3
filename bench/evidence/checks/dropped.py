"""Rows and values that a text leaves out although it looks complete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

from ...model import grouped
from ...model.scores import Finding
from ...text.decode import NothingParsed, parse_json
from ...text.fields import FieldTable
from ...text.text_records import TextReading, plain_key
from ..own_text import RewrittenResult
from .changed_fields import Changes
from .form import is_about_form

_DENYING = frozenset({"false", "0", "0.0"})
_DATA = re.compile(r"[\[{](?=\s*[\[{\"'])")
_NOTE = re.compile(r"[<\[(⟨]([^<>\[\]()⟨⟩{}\n]{3,120})[>\])⟩]")
"""Words in brackets, which may say what was done with a value."""

_FEWEST_PAIRS, _FEWEST_WORDS = 2, 2


def dropped(own: RewrittenResult) -> Changes:
    """The rows, and false or zero values, that a text with the result as data leaves out without a
    notice. Not checked beside words of its own about rows or values, which may be a notice.

    Missing rows make a false statement: a reader of three flights believes that there are three.
    Missing columns do not, unless only false or zero values are missing.
    """
    is_complete = not (own.shows_all or own.says_omission) and _is_whole(own.text)
    findings = [*_dropped(own)] if is_complete else []
    notes = chain(_NOTE.findall(own.text), _rest_of(own)) if findings else ()
    is_noted = any(is_about_form(own, note) for note in notes)
    return Changes([] if is_noted else findings, is_read=not is_noted)


def _rest_of(own: RewrittenResult) -> list[str]:
    """The lines of a text outside its data and tables."""
    return own.session.messages.reading(own.text).rest.split("\n")


def _dropped(own: RewrittenResult) -> Iterator[Finding]:
    """Yield one missing row of each list of which a text shows another row."""
    table, reading = own.table, own.session.messages.reading(own.text)
    lists, rows = table.lists, _rows_shown(reading, table)
    is_data = _DATA.search(own.text) is not None
    for number, shown in grouped((lists.number[row], (pairs, row)) for pairs, row in rows).items():
        records = lists.lists[number]
        if len({frozenset(pairs.items()) for pairs, _ in shown}) < len(records):
            for row in records:
                words = lists.distinctive[row]
                if len(words) >= (1 if is_data else _FEWEST_WORDS) and words.isdisjoint(
                    reading.words
                ):
                    was = ", ".join(f"{key}: {text}" for key, text in table.pairs(row)[:3])
                    yield Finding(
                        own.step,
                        f"{len(shown)} rows",
                        f"{len(records)} rows, also {was}"[:200],
                    )
                    break
        yield from _denials(own, shown) if is_data else ()


def _is_whole(text: str) -> bool:
    """True if a text is not visibly truncated data: it is one value, or has one in each line.

    >>> [_is_whole(text) for text in ('[{"a": 1}]', '[{"a": 1}', '{"a": 1}\\n{"a": 2}', "a: 1")]
    [True, False, True, True]
    """
    begins = _DATA.search(text)
    if begins is None:
        return True
    text = text[begins.start() :]
    for parts in ([text], text.strip().split("\n")):
        with suppress(NothingParsed):
            return all(map(parse_json, parts))
    return False


def _rows_shown(reading: TextReading, table: FieldTable) -> list[tuple[dict[str, str], int]]:
    """The records of a text that are rows of the result, each with the row's number."""
    shown: list[tuple[dict[str, str], int]] = []
    for record in reading.records:
        pairs = {plain_key(key): text for key, text in record.pairs if table.has_key(key)}
        best = [
            row
            for row in table.best_records(pairs.items(), record.around)
            if row in table.lists.number
        ]
        if best and len(pairs) >= _FEWEST_PAIRS:
            shown.append((pairs, best[0]))
    return shown


def _denials(own: RewrittenResult, shown: list[tuple[dict[str, str], int]]) -> Iterator[Finding]:
    """Yield the false or zero values that are left out of rows, while other rows keep that column."""
    columns = {key for pairs, _ in shown for key in pairs}
    for pairs, row in shown:
        for key, text in own.table.pairs(row):
            if text.casefold() in _DENYING and plain_key(key) in columns.difference(pairs):
                yield Finding(own.step, f"no {key}", f"{key}: {text}")
