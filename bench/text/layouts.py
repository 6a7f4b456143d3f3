"""Reading of structured values from a text in any layout.

Read are JSON, Python literals, YAML, settings, tables (also with the header as strings and lists),
tags and outlines. Only records matter, not the shape of the value: every record comes once, with
its keys. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from itertools import groupby, product
from typing import Any

from ..model import nested
from .columnar import columns_as_records, is_container
from .data_formats import parse_data
from .decode import QUOTED_KEY, NothingParsed, PrefixReader, parse_prefix
from .line_prefixes import without_marks
from .notices import is_notice
from .outline import read_outline

_OPENING = re.compile(rf"(?m)^[ \t]*[\[{{]|\{{(?={QUOTED_KEY})")
_HALF_WORD = re.compile(r"[-+\w.]*")
_PAIR = re.compile(r"([\w.-]+)\s?=\s?\S")
_SIGNS_OF_NOTICES = frozenset("[(<….")


def values_of(text: str, names: Iterable[str]) -> tuple[list[Any], str]:
    """The values in a text, and its lines that are neither table nor data.

    `names` are the keys by which the header of a table is recognised.

    >>> names = "id", "status"
    >>> values_of('{"id": [1, 2], "status": ["a", "b"]}', names)
    ([[{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]], '')
    >>> values_of("all:\\nid|status\\n1|a", names)
    ([{'all': [{'id': '1', 'status': 'a'}]}], 'all:')
    """
    text = without_marks(text)
    columns, is_lines = set(names), text.lstrip()[:1] not in ("{", "[")
    with suppress(NothingParsed):
        value = parse_data(text)
        keys = [
            key for item in nested(value) if isinstance(item, dict) for key in _scalar_keys(item)
        ]
        is_known = 2 * sum(map(columns.__contains__, keys)) >= max(1, len(keys))
        if is_known and not (is_lines and _has_pairs(value, columns)):
            return [columns_as_records(value)], ""
    values: list[Any] = []
    rest = text
    if not is_lines:
        # The latter for lines that were wrapped.
        ways = dict.fromkeys((text, text.replace("\n", " ")))
        for way, bare in product(ways, (False, True)):
            with suppress(NothingParsed):
                value, end = parse_prefix(way, bare=bare)
                is_data = not bare or isinstance(value, dict) or any(map(is_container, value))
                if is_data and len(text) - end < len(rest):
                    values, rest = [value], text[end:]
            if not rest.strip():
                break
    lines: list[str] = []
    for is_apart, part in groupby(rest.split("\n"), key=_is_apart):
        if is_apart:
            lines += part
            continue
        outlined, others = read_outline("\n".join(part), columns)
        values.append(outlined)
        lines += others
    rest = "\n".join(lines)
    data, _ = without_containers(rest)
    return [columns_as_records(value) for value in [*values, *data] if is_container(value)], rest


def _has_pairs(value: Any, names: Collection[str]) -> bool:
    """True if a text in a value begins with a name and a value, which YAML does not read.

    >>> [_has_pairs({"W1": [text]}, {"id"}) for text in ("id=5, of=a", "x=5")]
    [True, False]
    """
    texts = (item for item in nested(value) if isinstance(item, str))
    return any((pair := _PAIR.match(text)) and pair[1] in names for text in texts)


def _is_apart(line: str) -> bool:
    """True for a notice: what is behind it does not belong to the record before it."""
    return line[:1] in _SIGNS_OF_NOTICES and is_notice(line)


def without_containers(text: str) -> tuple[list[Any], str]:
    """The mappings, and the lists that begin a line, among other text, and the text without them.

    A list that cannot be read to its end does not count, unless the text ends there; nor does a
    value that is nested too deep.

    >>> without_containers('see {"a": 1} and {"b": 2}.')
    ([{'a': 1}, {'b': 2}], 'see  and .')
    >>> without_containers('see [[2]]\\n{"a": 1} and {"b": [2, 3')[0]
    [{'a': 1}, {'b': [2]}]
    >>> without_containers('{"a": 1 of 40}')[0], without_containers("[3 of 40]")[0]
    ([{'a': 1}], [])
    """
    values: list[Any] = []
    parts: list[str] = []
    done = at = 0
    while match := _OPENING.search(text, at):
        begin, reader = match.end() - 1, PrefixReader(text)
        value = reader.container(begin)
        at = max(reader.position, begin + 1)
        is_ended = not reader.cut or _HALF_WORD.fullmatch(text, reader.position)
        if value and (is_ended or isinstance(value, dict)):
            values.append(value)
            parts.append(text[done:begin])
            done = at
    return values, "".join([*parts, text[done:]])


def _scalar_keys(value: Mapping[Any, Any]) -> list[Any]:
    """The keys of a mapping that lead to scalars."""
    return [key for key, item in value.items() if not isinstance(item, dict | list)]
