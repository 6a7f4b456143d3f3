"""Records: the mappings in a value, and known keys with the values after them in any text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..model import as_text, nested

Pair = tuple[str, str]
"""A key and the text of its value."""

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

_LIST = re.compile(r"[^\n<>,;:=(){}\[\]\"']+(?:, [^\n<>,;:=(){}\[\]\"']+)+(?=\n|\Z)")
"""Matches values up to the end of the line."""

_END = re.compile(r"(?<=\w)\.$")
"""Matches the end of a sentence, but not the dots of an omission."""


class Record(NamedTuple):
    """The scalars of one mapping as texts, with their keys; `around` are the numbers of the
    mappings around it, `name` is the key that leads to it.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    around: tuple[int, ...]
    name: str = ""

    @property
    def pairs(self) -> Iterator[Pair]:
        """Its keys, each with its text."""
        return zip(self.keys, self.texts, strict=True)


def records_of(node: Any) -> Iterator[Record]:
    """Yield every mapping in a value as a record. Records with the same keys share the tuple of
    keys."""
    waiting: list[tuple[Any, str, tuple[int, ...]]] = [(node, "", ())]
    known_keys: dict[tuple[str, ...], tuple[str, ...]] = {}
    number = 0
    while waiting:
        value, name, around = waiting.pop()
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, list | tuple):
            items = ((name, item) for item in value)
        keys: list[str] = []
        texts: list[str] = []
        inner: list[tuple[Any, str, tuple[int, ...]]] = []
        within = (*around, number) if isinstance(value, dict) else around
        for key, item in items:
            if isinstance(item, dict | list | tuple):
                inner.append((item, str(key), within))
            else:
                keys.append(str(key))
                texts.append(as_text(item))
        if texts or isinstance(value, dict):
            own_keys = tuple(keys)
            yield Record(known_keys.setdefault(own_keys, own_keys), tuple(texts), around, name)
            number += 1
        else:
            inner = [(item, key, around) for item, key, _ in inner]
        waiting.extend(reversed(inner))


def container_keys(node: Any) -> Iterator[str]:
    """Yield the keys of a value that lead to mappings or lists."""
    for value in nested(node):
        for key, item in value.items() if isinstance(value, dict) else ():
            if isinstance(item, dict | list | tuple):
                yield str(key).removesuffix("[]")


def keyed_records(text: str, names: Collection[str]) -> list[Record]:
    """The keys of a text that are some names, with their values, in records; a record ends where a
    key is repeated.

    A key is at the start of a line, after a bracket, comma or tag, or after the previous pair;
    after another word it does not count. A record that begins with a key that has not begun one so
    far belongs to the one before it. Linear in the text.

    >>> names = "id", "status", "tags"
    >>> texts = "{id: 1, status: 'a b'} {id: 2}", "(id 1) (tags a)", "<dt>id</dt><dd>1</dd>", "old id: 1"
    >>> [[[*record.pairs] for record in keyed_records(text, names)] for text in texts]  # doctest: +NORMALIZE_WHITESPACE
    [[[('id', '1'), ('status', 'a b')], [('id', '2')]], [[('id', '1'), ('tags', 'a')]],
     [[('id', '1')]], []]
    >>> [*keyed_records("tags: a, b", names)[0].pairs]
    [('tags', 'a'), ('tags', 'b')]
    >>> [record.around for record in keyed_records("id=1 status=a\\nstatus=b\\nid=2", names)]
    [(), (0,), ()]
    """
    found: list[tuple[list[Pair], tuple[int, ...]]] = []
    begun: dict[str, int] = {}  # the numbers of those that may go on, by their first key
    for key, texts in _pairs(text, names):
        if not found or key in begun or any(key == other for other, _ in found[-1][0]):
            last = begun.get(key, len(found))
            begun = {first: number for first, number in begun.items() if number < last}
            found.append(([], tuple(begun.values())))
            begun[key] = len(found) - 1
        found[-1][0].extend((key, text) for text in texts)
    return [
        Record(tuple(key for key, _ in pairs), tuple(text for _, text in pairs), around)
        for pairs, around in found
    ]


def are_rows(records: Sequence[Record]) -> bool:
    """True if several records begin with the same key, and have the keys of the longest one in its
    order, some perhaps not, so that their ends are certain.

    >>> texts = "id: 1\\nstatus: a\\nid: 2", "status: a\\nid: 1\\nid: 2", "id: 1\\nw: 2\\nid: 2\\nh: 3"
    >>> [are_rows(keyed_records(text, {"id", "status", "w", "h"})) for text in texts]
    [True, False, False]
    """
    of_each = [[*dict.fromkeys(record.keys)] for record in records]
    longest = max(of_each, key=len, default=[])
    return len(of_each) > 1 and all(
        keys == [key for key in longest if key in keys] and keys[0] == longest[0]
        for keys in of_each
    )


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
        items = _LIST.match(text, between.end()) if between else None
        parts = items[0].split(", ") if items else []
        value = _VALUE.match(text, between.end()) if between else None
        if items and not any(_begins_pair(part, names) for part in parts):
            end = items.end()
            yield key, parts
        elif value and not _begins_pair(value[3] or "", names):
            end = value.end()
            yield key, [_END.sub("", (value[1] or value[2] or value[3] or "").strip())]


def _begins_pair(words: str, names: Collection[str]) -> bool:
    """True if words begin with the next key, or that of the next column."""
    return _KEY.match(words) is not None and words.split(maxsplit=1)[0] in names
