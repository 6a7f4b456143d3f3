"""What a text leaves out that reads as complete: rows of a list, and values that say no or zero."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ...model import grouped
from ...model.scores import Finding
from ...text.decode import NothingParsed, parse_json
from ...text.fields import FieldTable
from ...text.text_records import TextReading, plain_key
from ..own_text import RewrittenResult

_DENYING = frozenset({"false", "0", "0.0"})
_DATA = re.compile(r"[\[{](?=\s*[\[{\"'])")
_FEWEST_PAIRS, _FEWEST_WORDS = 2, 2


def dropped(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the rows and denials of a result that a text which shows it as data leaves out without
    a word.

    A row less is a false statement: whoever reads three flights takes it that there are three.
    A column less is none, unless it is left out of the rows alone where it is false or zero.
    """
    if own.table.lists.lists and not own.says_omission and _is_whole(own.text):
        yield from _dropped(own, own.session.messages.reading(own.text))


def _dropped(own: RewrittenResult, reading: TextReading) -> Iterator[Finding]:
    """Yield what a text leaves out of the lists of which it shows a row; of each list one row."""
    table = own.table
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
    """True if a text is no data that a cut has visibly ended: one value, or one in each line.

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
    """The records of a text that are a row of the result, each with its number."""
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
    """Yield the values of rows that are false or zero and left out, while other rows keep that
    column.
    """
    columns = {key for pairs, _ in shown for key in pairs}
    for pairs, row in shown:
        for key, text in own.table.pairs(row):
            if text.casefold() in _DENYING and plain_key(key) in columns.difference(pairs):
                yield Finding(own.step, f"no {key}", f"{key}: {text}")
