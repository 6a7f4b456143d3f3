"""Mappings and lists among other text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .decode import QUOTED_KEY, PrefixReader

_BRACKET = re.compile(rf"[\[{{](?:(?<=\{{){QUOTED_KEY})?")
_HALF_WORD = re.compile(r"[-+\w.]*")


def is_container(value: Any) -> bool:
    """True for a mapping or a list."""
    return isinstance(value, dict | list)


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
    found = list(_containers_at(text))
    starts = [0, *(end for _, (_, end) in found)]
    ends = [*(start for _, (start, _) in found), len(text)]
    parts = (text[start:end] for start, end in zip(starts, ends, strict=True))
    return [value for value, _ in found], "".join(parts)


def _containers_at(text: str) -> Iterator[tuple[Any, tuple[int, int]]]:
    """Yield the mappings and lists among other text, each with its start and end."""
    done = 0
    while match := _BRACKET.search(text, done):
        begins = match.start()
        if len(match[0]) == 1 and not _begins_line(text, done, begins):
            done = begins + 1
            continue
        reader = PrefixReader(text)
        value = reader.container(begins)
        ended = not reader.cut or _HALF_WORD.fullmatch(text, reader.position)
        done = max(reader.position, begins + 1)
        if value and (ended or isinstance(value, dict)):
            yield value, (begins, done)


def _begins_line(text: str, low: int, place: int) -> bool:
    """True if there are only blanks between the start of a line, or the place `low`, and a place."""
    before = text[low:place]
    breaks = "\n" in before or low == 0 or text[low - 1] == "\n"
    return breaks and not before.rpartition("\n")[2].strip(" \t")
