"""Data in one form, so that texts with the same data in different layouts are equal."""

from __future__ import annotations

import json
import re
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
    """The data in a text, whether they are tables, and its lines besides them."""

    value: Any
    are_tables: bool
    rest: list[str]


def data_of(text: str) -> TextData | None:
    """The data that a text consists of, perhaps with lines around its tables; None without any.

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
    return TextData(tables[0] if len(tables) == 1 else tables, True, rest) if tables else None


def by_records(value: Any) -> Any:
    """A value with data in its texts decoded, and its tables as lists of records."""
    return columns_as_records(decode_strings(value))


def is_same_data(shown: Any, full: Any, *, in_cells: bool = False) -> bool:
    """True if shown data are the full ones, perhaps without keys that have no value, with numbers and
    truth values in another spelling, and with a dash for no value `in_cells`. A text stays as it is:
    3.1 is not the version "3.10", and false is not the country "NO".

    >>> full = {"at": "3.10", "paid": True, "price": 1.5, "by": None}
    >>> texts = "3.10", "3.1"
    >>> [is_same_data({"at": at, "paid": "yes", "price": "1.50"}, full) for at in texts]
    [True, False]
    """
    if isinstance(full, dict) and isinstance(shown, dict):
        one, other = _with_values(shown, in_cells), _with_values(full, in_cells)
        are_same = (is_same_data(one[key], other[key], in_cells=in_cells) for key in one)
        return one.keys() == other.keys() and all(are_same)
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
    """The keys of a record that have a value, in the form for comparison; as they are if two are
    alike."""
    kept = {str(key): it for key, it in record.items() if not _is_nothing(it, in_cells)}
    plain = {plain_key(key): item for key, item in kept.items()}
    return plain if len(plain) == len(kept) else kept


def _is_nothing(value: Any, in_cells: bool) -> bool:
    if value is None or value == "":
        return True
    return in_cells and isinstance(value, str) and value.strip().casefold() in _NOTHING
