"""Rows and values that a text leaves out although it looks complete, and empty ones in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from ...model import grouped
from ...model.scores import Finding
from ...text.decode import NothingParsed, decode_strings, parse_json
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
    In data an empty text, list or mapping says that there is nothing, and a shorter list of values
    that there are no others.
    """
    findings = [] if own.shows_all or own.says_omission else [*_left_out(own)]
    notes = chain(_NOTE.findall(own.text), _rest_of(own)) if findings else ()
    is_noted = any(is_about_form(own, note) for note in notes)
    return Changes([] if is_noted else findings, is_read=not is_noted)


def _rest_of(own: RewrittenResult) -> list[str]:
    """The lines of a text outside its data and tables."""
    return own.session.messages.reading(own.text).rest.split("\n")


def _left_out(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the values and rows that a text with the result as data leaves out."""
    if own.table.fields:
        with suppress(NothingParsed):
            value = own.session.messages.contents.value(own.result.index)
            for claim in islice(_shortened(parse_json(own.text), value), 1):
                yield Finding(own.step, claim, own.result.text[:200])
    if own.table.lists.lists and _is_whole(own.text):
        yield from _dropped(own, own.session.messages.reading(own.text))


def _dropped(own: RewrittenResult, reading: TextReading) -> Iterator[Finding]:
    """Yield one missing row of each list of which a text shows another row."""
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


def _shortened(shown: Any, full: Any) -> Iterator[str]:
    """Yield what a value says that leaves out values of another one: a key with nothing, or a list
    with fewer. The order of rows does not matter.

    >>> full = {"a": "x", "b": [{"d": [1]}, {"d": [2]}], "c": "", "e": [1, 2, 3]}
    >>> list(_shortened({"a": "", "b": [{"d": [2]}, {"d": []}], "c": "", "e": [1, 2]}, full))
    ['a is empty', 'd is empty', 'e has 2 values']
    """
    sizes_of_full = _sizes(decode_strings(full))
    for path, sizes in _sizes(decode_strings(shown)).items():
        due = sizes_of_full.get(path, [])
        if len(due) == len(sizes) and sum(sizes) < sum(due):
            is_empty = sizes.count(0) > due.count(0)
            claim = "is empty" if is_empty else f"has {sum(sizes)} values"
            yield f"{path[-1] if path else 'the result'} {claim}"


def _sizes(value: Any) -> dict[tuple[str, ...], list[int]]:
    """By the keys that lead there, the sizes of the lists of single values, and 1 for each other
    text or mapping that is not empty.
    """
    sizes: dict[tuple[str, ...], list[int]] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict):
            waiting += [((*path, str(key)), inner) for key, inner in item.items()]
        is_rows = isinstance(item, list) and any(isinstance(row, dict | list) for row in item)
        if is_rows:
            waiting += [(path, row) for row in item]
        elif isinstance(item, list):
            sizes.setdefault(path, []).append(len(item))
        elif isinstance(item, str | dict):
            sizes.setdefault(path, []).append(int(bool(item)))
    return dict(sorted(sizes.items()))


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
