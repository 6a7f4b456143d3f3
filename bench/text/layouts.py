"""The structured values in a text, in whichever layout it writes them.

Layouts are JSON, Python literals, YAML, settings (`data_formats`), columns (`columnar`), tables and
outlines, also among other text. Each record is found once, with its keys; how the records are nested
may differ from the original value. `text_records` makes records of the values. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from itertools import chain, groupby, product
from typing import Any

from ..model import nested
from .columnar import columns_as_records, is_container
from .data_formats import parse_data
from .decode import QUOTED_KEY, NothingParsed, PrefixReader, parse_prefix
from .line_prefixes import without_marks
from .notices import is_notice
from .outline import KeysWithin, read_outline

_OPENING = re.compile(rf"(?m)^[ \t]*[\[{{]|\{{(?={QUOTED_KEY})")
_HALF_WORD = re.compile(r"[-+\w.]*")
_PAIR = re.compile(r"([\w.-]+)\s?=\s?\S")
_SIGNS_OF_NOTICES = frozenset("[(<….")


def values_of(
    text: str, names: Iterable[str], keys_within: KeysWithin = None
) -> tuple[list[Any], str]:
    """The values in a text, and its lines that are no part of them.

    `names` are the keys of the original value, by which headers of tables are recognised, and
    `keys_within` those in its mappings.

    >>> names = "id", "status"
    >>> values_of('{"id": [1, 2], "status": ["a", "b"]}', names)
    ([[{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]], '')
    >>> values_of("all:\\nid|status\\n1|a", names)
    ([{'all': [{'id': '1', 'status': 'a'}]}], 'all:')
    >>> values_of('{"id": 1}\\n[2 rows left out]', names)[1], values_of("[2 rows left out]\\nid: 1", names)[1]
    ('[2 rows left out]', '[2 rows left out]')
    """
    text = without_marks(text)
    known, begins_as_json = set(names), text.lstrip()[:1] in ("{", "[")
    with suppress(NothingParsed):
        value = parse_data(text)
        mappings = (item for item in nested(value) if isinstance(item, dict))
        pairs = chain.from_iterable(mapping.items() for mapping in mappings)
        keys = [key for key, item in pairs if not is_container(item)]
        has_known_keys = 2 * sum(map(known.__contains__, keys)) >= max(1, len(keys))
        if has_known_keys and (begins_as_json or not _has_pairs(value, known)):
            return [columns_as_records(value)], ""
    values, rest = _leading_value(text) if begins_as_json else ([], text)
    other_lines: list[str] = []
    # A key behind a notice does not belong to the record before it.
    for are_notices, lines in groupby(rest.split("\n"), key=is_notice_line):
        if are_notices:
            other_lines += lines
            continue
        outlined, outside = read_outline("\n".join(lines), known, keys_within)
        values.append(outlined)
        other_lines += outside
    rest = "\n".join(other_lines)
    values += without_containers(rest)[0]
    return [columns_as_records(value) for value in values if is_container(value)], rest


def _leading_value(text: str) -> tuple[list[Any], str]:
    """The value that a text begins with, as a list of one, and the text behind it. Of all ways to
    read it, with or without quotes and with lines that were wrapped, the one that leaves the
    shortest rest counts. `[]` and the text if there is none."""
    values: list[Any] = []
    rest = text
    unwrapped = text.replace("\n", " ")
    for way, bare in product(dict.fromkeys((text, unwrapped)), (False, True)):
        with suppress(NothingParsed):
            value, end = parse_prefix(way, bare=bare)
            has_words_behind = way[end:].lstrip()[:1].isalpha()  # as in "[6 rows left out]"
            is_data = not (bare or has_words_behind) or isinstance(value, dict)
            if (is_data or any(map(is_container, value))) and len(text) - end < len(rest):
                values, rest = [value], text[end:]
        if not rest.strip():
            break
    return values, rest


def _has_pairs(value: Any, names: Collection[str]) -> bool:
    """True if a text in a value begins with `name=value`, which YAML takes for a text.

    >>> [_has_pairs({"W1": [text]}, {"id"}) for text in ("id=5, of=a", "x=5")]
    [True, False]
    """
    texts = (item for item in nested(value) if isinstance(item, str))
    return any((pair := _PAIR.match(text)) and pair[1] in names for text in texts)


def is_notice_line(line: str) -> bool:
    """True for a line that only says that something was left out."""
    return line[:1] in _SIGNS_OF_NOTICES and is_notice(line)


def without_containers(text: str) -> tuple[list[Any], str]:
    """The JSON values in a text, and the text without them: mappings anywhere, and lists at the
    beginning of a line.

    A truncated list does not count, unless the text ends there, nor a value that is nested too deep.

    >>> without_containers('see {"a": 1} and {"b": 2}.')
    ([{'a': 1}, {'b': 2}], 'see  and .')
    >>> without_containers('see [[2]]\\n{"a": 1} and {"b": [2, 3')[0]
    [{'a': 1}, {'b': [2]}]
    >>> without_containers('{"a": 1 of 40}')[0], without_containers("[3 of 40]")[0]
    ([{'a': 1}], [])
    """
    values: list[Any] = []
    texts: list[str] = []  # between the values
    last_end = position = 0
    while match := _OPENING.search(text, position):
        begin, reader = match.end() - 1, PrefixReader(text)
        value = reader.container(begin)
        position = max(reader.position, begin + 1)
        is_complete = not reader.cut or _HALF_WORD.fullmatch(text, reader.position)
        if value and (is_complete or isinstance(value, dict)):
            values.append(value)
            texts.append(text[last_end:begin])
            last_end = position
    return values, "".join([*texts, text[last_end:]])
