"""Proofs that a text writes a structured value in another layout, with nothing changed, left out or
added.

A text with a proof can be read as the value itself; a text without one may still be lossless.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import chain
from typing import Any

from ..model import as_text, nested
from .data import comments_of, parse_data
from .decode import LONG_CHARS, NothingParsed, decode_strings, parse_json
from .escapes import unescape
from .keys import words_of_key
from .lossless import write_tables
from .outline import is_sign, read_outline
from .records import container_keys, records_of
from .value_forms import by_rows

_ADDED = re.compile(r"^[^\w\n]*\w[\w .-]{0,39}[\"'`*]*\s*[:=]\s*\S", re.MULTILINE)
"""Matches the beginning of a line with a key and its value."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NOTHING = re.compile(
    r"[-–—(]*(?:null|none|nil|nan|n/?a|undefined|absent|missing|~)?\)?", re.IGNORECASE
)
"""Matches a text that says that there is no value."""

_EMPTY = frozenset({"", '""', "''", "[]", "{}", "-", "–", "—"})
_TRUTH = {True: ("true", "yes"), False: ("false", "no")}
_BETWEEN = re.compile(r"\s*[,;|/]\s*|\s+")

_SURE_WORD = re.compile(r"[A-Za-z]{3,}+(?![^\x00-\x7f])")
_MOST_OF_LINES, _SAMPLES = 200, 8
Path = tuple[str, ...]


class DataProofs:
    """A structured value, for proofs that texts write it.

    >>> value = {"id": 7, "tags": ["a", "b"], "seat": {"row": 3, "price": -4.5}}
    >>> text = "id=7 tags=a, b seat.price=-4.50 seat.row=3"
    >>> DataProofs(value).proof(text), DataProofs(value).proof(text.replace("7", "8"))
    ([], None)
    >>> rows = [{"id": 1, "ok": True, "at": "X"}, {"id": 2, "ok": False, "at": "X"}]
    >>> texts = "Found:\\nid|ok|at\\n1|true|X\\n2|false|X", "same in all rows: at=X\\nid|ok\\n1|yes\\n2|no"
    >>> [DataProofs(rows).proof(text) for text in texts]
    [['Found:'], []]
    >>> DataProofs({"id": 7}).proof('{"id": 8, "id": 7}')
    >>> altered = "ok|id|at\\n1|true|X\\n2|false|X", "id|ok|at\\n1|true|X", "id|ok|at\\n2|true|X\\n1|false|X"
    >>> [DataProofs(rows).proof(text) for text in altered]
    [None, None, None]
    """

    def __init__(self, value: Any) -> None:
        self._value = decode_strings(value) if isinstance(value, dict | list) else None

    @cached_property
    def _names(self) -> tuple[frozenset[str], frozenset[str]]:
        """The keys of its scalars, and of its parts."""
        forms = self._value, by_rows(self._value)
        keys = (record.keys for form in forms for record in records_of(form))
        parts = (key for form in forms for key in container_keys(form))
        return frozenset(chain.from_iterable(keys)) - {""}, frozenset(parts) - {""}

    @cached_property
    def _least(self) -> int:
        """The fewest characters that have all of its texts."""
        texts = {item for item in nested(self._value) if isinstance(item, str)}
        return sum(len(_folded(text)) for text in texts)

    @cached_property
    def _sample(self) -> list[str]:
        """Some words that every text with the value has."""
        texts = (item for item in nested(self._value) if isinstance(item, str))
        words = [word[0] for text in texts if (word := _SURE_WORD.search(text))]
        return words[:: len(words) // _SAMPLES + 1]

    @cached_property
    def _writings(self) -> tuple[str, str]:
        """The value as Python writes it, and with its tables as CSV."""
        return str(self._value), write_tables(self._value)

    @cached_property
    def _forms(self) -> list[dict[Path, Any]]:
        """The scalars of the value by their paths, in the forms in which a text may have them."""
        forms: list[dict[Path, Any]] = []
        for form in (self._value, by_rows(self._value), _with_labels(self._value)):
            for found in (flat(form), flat(form, is_exact=True)):
                forms += [found] if found not in forms else []
        return forms

    def proof(self, text: str) -> list[str] | None:
        """The lines of a text besides the value that it writes; None if it does not write that.

        Keys may have any order; an empty value has no proof. Linear in the text.
        """
        if not self._value or not self._least <= len(text) <= LONG_CHARS:
            return None
        if not all(word in text for word in self._sample):
            return None
        if text in self._writings:
            return []
        shown, rest = self._read(text)
        if any(map(_ADDED.match, rest)):
            return None
        shown = decode_strings(shown)
        ways = flat(shown), flat(_spread(shown)), flat(by_rows(shown)), flat(shown, is_exact=True)
        is_same = any(_are_same(way, form) for way in ways for form in self._forms)
        return rest if is_same else None

    def _read(self, text: str) -> tuple[Any, list[str]]:
        """The value in a text, and its other lines."""
        with suppress(NothingParsed):
            shown = parse_json(text)
            has_each_key_once = json.dumps(shown).count('"') == text.count('"')
            return (shown if has_each_key_once else None), []
        with suppress(NothingParsed):
            return parse_data(text), [words for words, _ in comments_of(text)]
        return read_outline(self._with_lines_quoted(text), *self._names)

    def _with_lines_quoted(self, text: str) -> str:
        """A text with the values of several lines, as far as they come in order, in quotation
        marks."""
        parts, at = [], 0
        for value in self._of_lines[:_MOST_OF_LINES]:
            start = text.find(value, at)
            if start >= 0:
                parts += [text[at:start], json.dumps(value, ensure_ascii=False)]
                at = start + len(value)
        return "".join([*parts, text[at:]])

    @cached_property
    def _of_lines(self) -> list[str]:
        items = (item for item in nested(self._value) if isinstance(item, str))
        return [item for item in items if "\n" in item.strip()]


def flat(value: Any, *, is_exact: bool = False) -> dict[Path, Any]:
    """The scalars and lists of scalars in a value by the words of their paths.

    The order of keys makes no difference, nor, unless `is_exact`, the number of the only item of a
    list, and parts that only say that a part follows.

    >>> flat({"order": {"items": [{"id": 1}, {"id": 2}], "tags": ["a"]}})
    {('order', '0', 'id'): 1, ('order', '1', 'id'): 2, ('order', 'tag'): ['a']}
    """
    found: dict[Path, Any] = {}
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, list) and _are_pairs(node):
            node = {key: item for pair in node for key, item in pair.items()}
        while not is_exact and isinstance(node, dict) and len(node) == 1 and _is_wrapper(node):
            node = next(iter(node.values()))
        if isinstance(node, dict) and node:
            unnamed = None if is_exact else _only_list(node)
            named = ((() if key == unnamed else _singular(key), node[key]) for key in node)
            waiting += reversed([((*path, *words), item) for words, item in named])
        elif isinstance(node, list) and _has_parts(node):
            has_numbers = is_exact or len(node) > 1
            waiting += reversed(
                [((*path, *[str(at)] * has_numbers), item) for at, item in enumerate(node)]
            )
        else:
            while path in found:  # two parts that only differ by a name that says nothing
                path = (*path, "#")
            found[path] = node
    return found


def _singular(key: str) -> Path:
    return tuple(word.removesuffix("s") for word in words_of_key(str(key)))


def _is_wrapper(node: dict[Any, Any]) -> bool:
    """True for a mapping that only says that its part follows."""
    return is_sign(next(iter(node)))


def _only_list(node: dict[Any, Any]) -> Any:
    """The key of the only list of parts in a mapping, if it says no more than that; else None."""
    lists = ((key, item) for key, item in node.items() if isinstance(item, list))
    keys = [key for key, item in lists if len(item) > 1 and _has_parts(item)]
    return keys[0] if len(keys) == 1 and is_sign(keys[0]) else None


def _has_parts(items: list[Any]) -> bool:
    return any(isinstance(item, dict | list) for item in items)


def _are_pairs(items: list[Any]) -> bool:
    """True for a mapping that is written as a list of its pairs."""
    are_single = len(items) > 1 and all(isinstance(it, dict) and len(it) == 1 for it in items)
    return are_single and len({next(iter(item)) for item in items}) == len(items)


def _with_labels(value: Any) -> Any:
    """A value in which the rows in a mapping have their keys under "", if no value is the key."""
    if isinstance(value, list):
        return [_with_labels(item) for item in value]
    if not isinstance(value, dict):
        return value
    inner = {key: _with_labels(item) for key, item in value.items()}
    if len(inner) < 2 or not all(isinstance(item, dict) for item in inner.values()):
        return inner
    return [row if key in row.values() else {"": key, **row} for key, row in inner.items()]


def _spread(value: Any) -> Any:
    """A value in which the scalars beside the only list of records are in each of them."""
    if not isinstance(value, dict):
        return value
    lists = [key for key, item in value.items() if isinstance(item, dict | list)]
    rows = value[lists[0]] if len(lists) == 1 else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return value
    rest = {key: item for key, item in value.items() if key not in lists}
    return {lists[0]: [{**rest, **row} for row in rows]}


def _are_same(shown: dict[Path, Any], full: dict[Path, Any]) -> bool:
    """True if some paths have the values of other ones; more only say that a row has no value."""
    if not all(path in shown and writes(shown[path], full[path]) for path in full):
        return False
    columns = {_column(path) for path in full}
    return all(
        isinstance(shown[path], str)
        and _NOTHING.fullmatch(shown[path]) is not None
        and _column(path) in columns
        for path in shown
        if path not in full
    )


def _column(path: Path) -> Path:
    """A path with any numbers."""
    return tuple("0" if word.isdigit() else word for word in path)


def writes(shown: Any, value: Any) -> bool:
    """True if a shown value, perhaps as text, is that of a scalar or of a list of them.

    >>> pairs = ("5.0", 5), ("5%", 5), ("yes", True), ("n/a", None), ("n/a", ""), ("a; b", ["a", "b"])
    >>> [writes(*pair) for pair in pairs]
    [True, False, True, True, False, True]
    """
    if isinstance(value, list) and not isinstance(shown, list):
        text = str(shown).strip(" []")
        parts = _BETWEEN.split(text) if text else []
        if len(parts) == len(value) and all(map(writes, parts, value)):
            return True
        return any(_folded(text) == _folded(sep.join(map(as_text, value))) for sep in (", ", "; "))
    if isinstance(value, list) or isinstance(shown, list):
        are_lists = isinstance(value, list) and isinstance(shown, list)
        return are_lists and len(shown) == len(value) and all(map(writes, shown, value))
    text = as_text(shown).strip()
    if value is None:
        return shown is None or _NOTHING.fullmatch(text) is not None
    if value in ("", {}):
        return text in _EMPTY
    if isinstance(value, bool):
        return text.casefold() in _TRUTH[value]
    if isinstance(value, int | float):
        bare = text.strip("\"'`")
        try:
            return bool(_NUMBER.fullmatch(bare)) and Decimal(bare) == Decimal(str(value))
        except InvalidOperation:
            return False
    alike = _folded if "\n" not in value.strip() else _lines
    return any(alike(form) == alike(value) for form in _readings(text))


def _readings(text: str) -> Iterator[str]:
    """Yield the texts that a text may mean: as it is, without quotation marks, escapes, entities."""
    yield text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        yield text[1:-1]
        yield unescape(text[1:-1])
    yield html.unescape(text)


def _lines(text: str) -> str:
    """A text without blanks at the ends of its lines; indentation may be a part of what it says."""
    return "\n".join(map(str.rstrip, text.strip().split("\n")))


def _folded(text: str) -> str:
    return " ".join(text.split())
