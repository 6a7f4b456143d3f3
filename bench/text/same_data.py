"""Data in one form, so that texts with the same data in different layouts are equal."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from decimal import Decimal
from typing import Any, NamedTuple

from ..model import as_text
from .data import comments_of, parse_data
from .decode import NothingParsed, decode_strings
from .keys import plain_key
from .tables import tables_in
from .value_forms import by_rows, is_container

_NUMBER = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_IN_CELLS = frozenset({"-", "–", "—", "null", "none", "nil", "nan", "n/a", "~"})
_TRUTH = {"yes": "true", "no": "false", "true": "true", "false": "false"}


class TextData(NamedTuple):
    """The data in a text, whether they are tables, and its lines besides them."""

    value: Any
    are_tables: bool
    rest: list[str]


def data_of(text: str) -> TextData | None:
    """The data that a text consists of, perhaps with lines around its tables; None without any.

    >>> texts = '[{"id": "W1", "n": 1.0}, {"id": "W2", "n": null}]', "All:\\nid | n\\nW1 | 1\\nW2 | -"
    >>> read = [data_of(text) for text in texts]
    >>> read[1].rest, same_form(read[0].value, in_cells=True) == same_form(read[1].value, in_cells=True)
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


def same_form(value: Any, *, in_cells: bool = False) -> Any:
    """A value in the form for comparison: records by rows, without keys that have no value, and keys
    and scalars in one spelling; a dash stands for no value `in_cells`.

    >>> same_form({"a": ["1.50", "Yes"], "b": None, "c": "-"})
    {'a': ['1.5', 'true'], 'c': '-'}
    >>> same_form({"id": [1, 2], "ok": ["x", "-"]}, in_cells=True)
    [{'id': '1', 'ok': 'x'}, {'id': '2'}]
    """
    return _same_form(by_rows(decode_strings(value)), in_cells)


def _same_form(value: Any, in_cells: bool) -> Any:
    if isinstance(value, dict):
        forms = {plain_key(str(key)): _same_form(item, in_cells) for key, item in value.items()}
        return {key: form for key, form in forms.items() if form != ""}
    if is_container(value):
        return [_same_form(item, in_cells) for item in value]
    plain = "" if value is None else " ".join(as_text(value).split())
    if _NUMBER.fullmatch(plain):
        return f"{Decimal(plain).normalize():f}"
    if in_cells and plain.casefold() in _IN_CELLS:
        return ""
    return _TRUTH.get(plain.casefold(), plain)
