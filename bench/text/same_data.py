"""Equality of data in different layouts: a table may have the same data as a result in JSON. A text
that is equal needs no comparison record by record. `value_diff` finds single differences."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

from ..model import as_text
from .columnar import columns_as_records, is_container
from .data_formats import comments_of, parse_data
from .decode import NothingParsed, decode_strings
from .keys import plain_key
from .tables import tables_in

_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?(?:e[-+]?\d{1,3})?")
_NOTHING = frozenset({"-", "–", "—", "null", "none", "nil", "nan", "n/a", "~"})
_TRUTH = {True: ("true", "yes"), False: ("false", "no")}


class TextData(NamedTuple):
    """The data of a text, True if they are tables, and the lines and comments beside them."""

    value: Any
    are_tables: bool
    rest: list[str]


def data_of(text: str, names: Collection[str] = ()) -> TextData | None:
    """The data of a text that is JSON, XML, YAML, settings, or tables among lines; None for any other text,
    and for JSON with a key that comes twice.

    >>> texts = '[{"id": "W1", "n": 1.0}, {"id": "W2", "n": null}]', "All:\\nid | n\\nW1 | 1\\nW2 | -"
    >>> read = [data_of(text) for text in texts]
    >>> read[1].rest, is_same_data(by_records(read[1].value), by_records(read[0].value), in_cells=True)
    (['All:'], True)
    """
    with suppress(NothingParsed):
        value = parse_data(text)
        if text.lstrip()[:1] not in ("{", "["):
            return TextData(value, False, [words for words, _ in comments_of(text)])
        has_each_key_once = json.dumps(value).count('"') == text.count('"')
        return TextData(value, False, []) if has_each_key_once else None
    tables, rest = tables_in(text)
    if names and not tables:
        tables, rest = tables_in(text, names)
    return TextData(tables[0] if len(tables) == 1 else tables, True, rest) if tables else None


def by_records(value: Any) -> Any:
    """A value with JSON in its strings decoded, and with columnar data as records."""
    return columns_as_records(decode_strings(value))


def is_same_data(shown: Any, full: Any, *, in_cells: bool = False) -> bool:
    """True if shown data are the full data.

    Keys without a value may be missing; numbers and booleans may be spelled in another way; in the
    cells of a table a dash may stand for no value. Strings are equal only as written: 3.1 is not the
    version "3.10", and false is not the country "NO".

    >>> full = {"at": "3.10", "paid": True, "price": 1.5, "by": None}
    >>> texts = "3.10", "3.1"
    >>> [is_same_data({"at": at, "paid": "yes", "price": "1.50"}, full) for at in texts]
    [True, False]
    """
    if isinstance(full, dict) and isinstance(shown, dict):
        shown, full = _with_values(shown, in_cells), _with_values(full, in_cells)
        return shown.keys() == full.keys() and all(
            is_same_data(shown[key], full[key], in_cells=in_cells) for key in shown
        )
    if is_container(full) or is_container(shown):
        if not (isinstance(full, list) and isinstance(shown, list) and len(full) == len(shown)):
            return False
        pairs = zip(shown, full, strict=True)
        return all(is_same_data(*pair, in_cells=in_cells) for pair in pairs)
    text = "" if shown is None else " ".join(as_text(shown).split())
    if isinstance(full, bool):
        return text.casefold() in _TRUTH[full]
    if isinstance(full, int | float) and _NUMBER.fullmatch(text):
        return _NUMBER.fullmatch(str(full)) is not None and Decimal(text) == Decimal(str(full))
    return text == ("" if full is None else " ".join(as_text(full).split()))


def _with_values(record: dict[Any, Any], in_cells: bool) -> dict[str, Any]:
    """The items of a record that have a value, under keys as `plain_key` spells them; under their own
    keys if two of them are spelled the same."""
    kept = {str(key): item for key, item in record.items() if not _is_nothing(item, in_cells)}
    plain = {plain_key(key): item for key, item in kept.items()}
    return plain if len(plain) == len(kept) else kept


def _is_nothing(value: Any, in_cells: bool) -> bool:
    if value is None or value == "":
        return True
    return in_cells and isinstance(value, str) and value.strip().casefold() in _NOTHING
