"""Proofs that a text writes a structured value in another layout, with nothing changed, left out or
added.

A text with a proof can be read as the value itself; a text without one may still be lossless.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from html import unescape
from itertools import chain
from typing import Any, NamedTuple

from ..model.base import CONTAINERS, nested
from .decode import NothingParsed, parse_prefix
from .layout_walk import Walk
from .layouts import Layouts
from .lossless import write_tables
from .table_pairs import with_rows_as_pairs
from .value_forms import EVERY, by_columns, by_rows, with_constants_once
from .value_tree import words_of_key
from .written_values import folded_lines, stands_in

_ADDED = re.compile(r"^[^\w\n]*\w[\w .-]{0,39}[\"'`*]*\s*[:=]\s*\S", re.MULTILINE)
"""Matches the beginning of a line with a key and its value."""

_FEW_LEAVES = 24


class Proof(NamedTuple):
    """The lines of a text before and within the value that it writes, and the words after it."""

    before: str
    after: str


class Scalars:
    """The scalars of a value; a text that lacks one cannot write the value. In its headings there
    may be some other `words`.
    """

    def __init__(self, value: Any, words: frozenset[str] = frozenset()) -> None:
        self._words = frozenset(chain.from_iterable(map(words_of_key, words)))
        self._value = value if isinstance(value, dict | list) else None
        self._leaves = [
            item for item in nested(self._value) if not (item and isinstance(item, CONTAINERS))
        ]
        middle = len(self._leaves) // 2  # a cut leaves out the middle
        from_middle = self._leaves[middle:] + self._leaves[:middle]
        self._texts = [*dict.fromkeys(item for item in from_middle if isinstance(item, str))]

    @cached_property
    def least(self) -> int:
        """The fewest characters that can write them, except dates."""
        return sum(
            len(item.strip()) if isinstance(item, str) else isinstance(item, int | float)
            for item in self._leaves
        )

    @cached_property
    def _writings(self) -> tuple[str, str]:
        """The value as Python writes it, and with its tables as CSV: forms that are compared
        directly, since a walk cannot follow the cells of the latter.
        """
        return str(self._value), write_tables(self._value)

    def _is_json(self, text: str) -> bool:
        """True for the value as JSON, each key once."""
        try:
            shown, end = parse_prefix(text)
        except NothingParsed:
            return False
        is_same = _sorted_json(shown) == _sorted_json(self._value)
        written = json.dumps(shown, ensure_ascii=False)
        return is_same and not text[end:].strip() and written.count('"') == text.count('"', 0, end)

    @cached_property
    def _layouts(self) -> Layouts:
        return Layouts(self._value, self._words)

    def proof(self, text: str) -> Proof | None:
        """The proof that a text writes a value in some layout; None without one.

        Records may be reversed and keys in any order; an empty value has no proof. Linear in the
        text, except for values with many equal records.

        >>> value = {"id": 7, "tags": ["a", "b"], "seat": {"row": 3, "price": -4.5}}
        >>> Scalars(value).proof("id=7 tags[0]=a tags[1]=b seat.price=-4.50 seat.row=3")
        Proof(before='', after='')
        >>> Scalars(value).proof('Order:\\n<id>7</id><seat row="3" price="-4.5"/><tags><t>a</t></tags>')
        >>> rows = [{"id": 1, "ok": True}, {"id": 2, "ok": False}]
        >>> [Scalars(rows).proof(text) for text in ("All rows:\\nid|ok\\n1|true\\n2|false", "(id 2) (ok no); (id 1) (ok yes) of 3")]
        [Proof(before='All rows:', after=''), Proof(before='', after='of 3')]
        >>> Scalars({"id": 7}).proof('{"id": 8, "id": 7}')
        >>> altered = "ok|id\\n1|true\\n2|false", "id 1 ok true; id 2", "id 1 not ok true id 2 ok false", "id 1 ok no id 2 ok yes"
        >>> [Scalars(rows).proof(text) for text in altered]
        [None, None, None, None]
        """
        if "&quot;" in text or "&#" in text:
            text = unescape(text)
        if not self._value:
            return None
        flat, starts = folded_lines(text)
        if not all(stands_in(item, flat) for item in self._texts):
            return None
        forms = self, *self._other_forms
        rows = map(folded_lines, with_rows_as_pairs(text, self._layouts.names))
        ways = [*rows] or [(flat, starts)]
        written = (form._written(text) for form in forms)
        walked = (form._walked(*way) for way in ways for form in forms)
        return next(filter(None, chain(written, walked)), None)

    @cached_property
    def _other_forms(self) -> list[Scalars]:
        """The scalars of other forms of the value."""
        forms = (
            (with_constants_once(self._value), EVERY),
            (by_columns(self._value), frozenset[str]()),
            (by_rows(self._value), frozenset[str]()),
        )
        return [Scalars(form, self._words | words) for form, words in forms if form != self._value]

    def _written(self, text: str) -> Proof | None:
        """The proof that a text writes the value in this form as JSON, Python or CSV."""
        if self.least > len(text):
            return None
        if text in self._writings:
            return Proof("", "")
        return Proof("", "") if self._is_json(text) else None

    def _walked(self, flat: str, starts: list[int]) -> Proof | None:
        """The proof that a text in one line, with lines from `starts` on, writes the value in this
        form."""
        for backwards in (False, True) if len(self._leaves) > _FEW_LEAVES else (False,):
            walk = Walk(flat, self._layouts, starts=starts, backwards=backwards)
            end = walk.end()
            if end is not None:
                proof = Proof("\n".join(walk.own_lines), flat[end:].strip())
                return None if _adds_data(proof) else proof
        return None


def _sorted_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _adds_data(proof: Proof) -> bool:
    """True if the words around a value are more data: a key with its value, or the end of a
    container.
    """
    after = proof.after
    closes = any(after.count(end) > after.count(start) for start, end in ("{}", "[]", "()"))
    return closes or bool(_ADDED.search(proof.before) or _ADDED.match(after))
