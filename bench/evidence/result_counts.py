"""Sizes of texts and of the result that they show: what a text may state of it as a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..model import ToolResult, as_text
from ..text.decode import decode_strings


class ResultCounts(NamedTuple):
    """The exact counts of one result and its containers, and its texts with their numbers of lines."""

    exact: frozenset[int]
    texts: dict[str, int]


def result_counts(result: ToolResult, shown: Iterable[str]) -> ResultCounts:
    """The counts of a result; `shown` are the texts of the messages that have it."""
    value = result.data if result.data is not None else result.text
    strings, containers = texts_in(decode_strings(value))
    texts = dict.fromkeys((*shown, *strings))
    exact = containers.union(*map(counts_of, (*texts, as_text(result.value))))
    return ResultCounts(exact, {text: text.count("\n") + 1 for text in texts})


def counts_of(text: str) -> frozenset[int]:
    """The characters, bytes and words of a text, and its lines with and without blank ones.

    >>> sorted(counts_of("one two\\n\\né"))
    [2, 3, 10, 11]
    """
    lines = text.split("\n")
    filled = sum(map(bool, map(str.strip, lines)))
    return frozenset((len(text), len(text.encode("utf-8", "replace")), len(text.split()), len(lines), filled))


def texts_in(value: object) -> tuple[list[str], frozenset[int]]:
    """The texts of several lines in a value, and the lengths of its containers."""
    texts: list[str] = []
    lengths: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\n" in item:
                texts.append(item)
        elif isinstance(item, dict | list):
            lengths.add(len(item))
            waiting.extend(item.values() if isinstance(item, dict) else item)
    return texts, frozenset(lengths)
