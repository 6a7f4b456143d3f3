"""Known keys with the values after them, anywhere in a text: a reading of unknown layouts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

_KEY = re.compile(
    r"(?<![\w.-])(?:[\w-]{1,40}+(?:\[\d{1,6}\])*+[./]|(?:\[\d{1,6}\])+\.?)*([A-Za-z_][\w-]*)(?![\w-])"
)
_BEFORE = re.compile(r"(?:^|[,;(){}\[\]<>|/*.#-]|<\w+\s)[\s\"'`]*\Z", re.MULTILINE)
_BEFORE_CHARS = 40
_BETWEEN = re.compile(
    r"[\"'`>]?(?:\s*[:=][ \t]*+(?:\n[ \t]+)?|\s*(?:</?[A-Za-z][^<>]{0,80}>\s*){1,6}|[ \t]+|[ \t]*\n\s*)(?:[\[(](?:list )?)?"
)
_VALUE = re.compile(
    r"\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'"
    r"|([^\s<>,;(){}\[\]\"'][^\n<>,;(){}\[\]\"']*?)(?=[ \t]{1,8}[\w.-]{1,80}=|[\n<>,;(){}\[\]\"']|\Z)"
)
_NEXT = re.compile(r"\s*+(?:,\s*+|(</\w+>)\s*+(<\w+>)\s*+)?(?=[\"'<>\w])")

_LIST = re.compile(r"[^\n<>,;:=(){}\[\]\"']+(?:, [^\n<>,;:=(){}\[\]\"']+)+(?=\n|\Z)")
"""Matches values up to the end of the line."""

_END = re.compile(r"(?<=\w)\.$")
"""Matches the end of a sentence, but not the dots of an omission."""

_GOES_ON = re.compile(r"\s*[:=]")
"""Matches what may follow a key."""


class KeyedRecord(NamedTuple):
    """Consecutive pairs, and the numbers of the earlier records that they may belong to."""

    pairs: list[tuple[str, str]]
    around: tuple[int, ...]


def keyed_records(text: str, names: Collection[str]) -> list[KeyedRecord]:
    """The pairs of a text whose key is one of some names, in records; a record ends where a key is
    repeated.

    A key is at the start of a line, after a bracket, comma or tag, or after the previous pair;
    after another word it does not count. A record that begins with a key that has not begun one so
    far belongs to the one before it. Linear in the text.

    >>> names = "id", "status", "tags"
    >>> texts = "{id: 1, status: 'a b'} {id: 2}", "(id 1) (tags (list \\"a\\" \\"b\\"))", "<dt>id</dt><dd>1</dd>", "old id: 1"
    >>> [[record.pairs for record in keyed_records(text, names)] for text in texts]  # doctest: +NORMALIZE_WHITESPACE
    [[[('id', '1'), ('status', 'a b')], [('id', '2')]], [[('id', '1'), ('tags', 'a'), ('tags', 'b')]],
     [[('id', '1')]], []]
    >>> keyed_records("tags: a, b", names)[0].pairs
    [('tags', 'a'), ('tags', 'b')]
    >>> [record.around for record in keyed_records("id=1 status=a\\nstatus=b\\nid=2", names)]
    [(), (0,), ()]
    """
    records: list[KeyedRecord] = []
    open_records: list[tuple[str, int]] = []
    keys: set[str] = set()
    for key, values in _pairs(text, names):
        first_keys = [first for first, _ in open_records]
        if key in keys or key in first_keys or not records:
            del open_records[first_keys.index(key) if key in first_keys else len(open_records) :]
            around = tuple(number for _, number in open_records)
            open_records.append((key, len(records)))
            records.append(KeyedRecord([], around))
            keys = set()
        records[-1].pairs.extend((key, value) for value in values)
        keys.add(key)
    return records


def are_rows(records: Sequence[KeyedRecord]) -> bool:
    """True if several records begin with the same key, and have the keys of the longest one in its
    order, some perhaps not, so that their ends are certain.

    >>> texts = "id: 1\\nstatus: a\\nid: 2", "status: a\\nid: 1\\nid: 2", "id: 1\\nw: 2\\nid: 2\\nh: 3"
    >>> [are_rows(keyed_records(text, {"id", "status", "w", "h"})) for text in texts]
    [True, False, False]
    """
    of_each = [[*dict.fromkeys(key for key, _ in pairs)] for pairs, _ in records]
    longest = max(of_each, key=len, default=[])
    return len(of_each) > 1 and all(
        keys == [key for key in longest if key in keys] and keys[0] == longest[0]
        for keys in of_each
    )


def _begins_pair(words: str, names: Collection[str]) -> bool:
    """True if words begin with the next key, or that of the next column."""
    return _KEY.match(words) is not None and words.split(maxsplit=1)[0] in names


def _pairs(text: str, names: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each known key with the values after it, in order."""
    end = 0
    for match in _KEY.finditer(text):
        key, start = match[1].rpartition("__")[2], match.start()
        if key not in names or start < end:
            continue
        follows = end > 0 and start - end <= _BEFORE_CHARS and not text[end:start].strip("\"' \t")
        if not follows and not _BEFORE.search(text[max(0, start - _BEFORE_CHARS) : start]):
            continue
        between = _BETWEEN.match(text, match.end())
        values: list[str] = []
        items = _LIST.match(text, between.end()) if between else None
        parts = items[0].split(", ") if items else []
        if items and not any(_begins_pair(part, names) for part in parts):
            values, end = parts, items.end()
        value = between and not values and _VALUE.match(text, between.end())
        while value:
            bare = value[3] or ""
            if _begins_pair(bare, names):
                break
            values.append(_END.sub("", (value[1] or value[2] or bare).strip()))
            end = value.end()
            quoted = value[3] is None or text[end : end + 1] == "<"
            following = _NEXT.match(text, end) if quoted else None
            value = _VALUE.match(text, following.end()) if following else None
            if value and (
                _GOES_ON.match(text, value.end())
                or (value[3] is not None and text[value.end() : value.end() + 1] != "<")
            ):
                value = None
        if values:
            yield key, values
