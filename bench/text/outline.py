"""Outlines: data that a text writes as lines of keys and values, below headings and bullets.
`read_outline` makes mappings and lists of such lines and of the tables among them (`tables`).
`layouts` uses it for what is neither JSON nor YAML nor XML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple

from .columnar import columns_as_records, is_container
from .decode import SCALARS, container_at
from .escapes import unescape
from .keys import plain_key, words_of_key
from .layout_words import is_filler_word, is_layout_word
from .tables import Grid, parts_of
from .vocabulary import in_vocabulary

_BULLET = re.compile(r"[-*•+](?: +|$)|-(?=[a-z_]\w*: )", re.IGNORECASE)
_SECTION = re.compile(r"\[([^\[\]=]+(?:\[\d+\][^\[\]=]*)*)\]|(#+) +([^#]+?)[ #:]*")
_IN_SECTION = re.compile(r"\[([^\[\]=]+)\]\s+(?=[^\s:=])")
_KEY = re.compile(
    r"(?:(?<=[\s,;|/({])|^)[\"'`*]*([\[$A-Za-z_][\w .\[\]$-]{0,80}?)[\"'`*:]{0,4}?\s{0,9}(?:=>|->|→|[:=])(?:\s+|$|(?=[^\s:/=]))"
)
"""Matches a key, perhaps with words in front, and the sign behind it."""

_DATA = re.compile(r"[{\[]\s*[\"'{\[]")
"""Matches the beginning of JSON."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s|[,;|/)}]|$)')
_LOGFMT = re.compile(r"(?:[^\W\d][\w./-]*+=(?:\"(?:[^\"\\]|\\.)*+\"|[^\s\"]*+)(?:\s+|$))++")
"""Matches a line of keys and values without a blank in them."""

_PART_BEFORE = re.compile(r"[\w.-]+/$")
_IN_BRACKETS = re.compile(r"(?<=\w)\[[\"']([^\"'\[\]]+)[\"']\]")
_DEEPEST, _BULLET_DEPTH, _MOST_DEPTH, _NEAR = 1000.0, 0.5, 60, 160
_ENDS, _MARKS = " \t,;|/({", "\"'`*"
_SEPARATORS = frozenset(["", *",;|/({"])
"""The signs behind which a word may be a key although the data have no such key."""

_BEFORE_VALUE = frozenset(",:=>→")
"""The signs behind which JSON is a value of the line."""


_SIZE = re.compile(r"\s?(?:\[\d+\]|\([^()]*\))$")
"""Matches the size of a list, or other words in brackets, behind its key."""

KeysWithin = Mapping[str, Set[str]] | None
"""The keys in the mappings under each key, "" for the outermost, if known (`records.keys_within`)."""


class Outline(NamedTuple):
    """The value of an outline, and the lines of the text that do not belong to it."""

    value: Any
    rest: list[str]


def read_outline(text: str, names: Iterable[str], keys_within: KeysWithin = None) -> Outline:
    """The data that a text writes as an outline. `names` are the known keys of scalars, `keys_within`
    those in the mappings of the data.

    A key that comes again begins the next record; directly behind itself it is a list. A heading, and
    words before the first key of a line, are the key of what follows, and are in the rest too.
    A line that is indented like the heading above it ends what is below the heading if its key is not
    among those within the heading. Scalars are texts. Linear in the text.

    >>> names = "id", "status", "size", "all ok"
    >>> read_outline("Found:\\n- id: W1\\n  items:\\n    - size: 5\\n- id: W2, all ok: yes", names)
    Outline(value={'Found': [{'id': 'W1', 'items': [{'size': '5'}]}, {'id': 'W2', 'all ok': 'yes'}]}, rest=['Found:', '  items:'])
    >>> read_outline("[items[0]]\\nid=1 status=a b\\nitems:\\nid|size\\n7|8", names).value
    {'items[0]': {'id': '1', 'status': 'a b', 'items': [{'id': '7', 'size': '8'}]}}
    >>> read_outline('[W1] id=1, items=[{"size": 5}], status=a', names).value
    {'W1': {'id': '1', 'items': [{'size': 5}], 'status': 'a'}}
    >>> read_outline('"id":"W1","status":"a","items":[{"size":5}],"size":7}]', names).value
    {'id': 'W1', 'status': 'a', 'items': [{'size': 5}], 'size': '7'}
    >>> read_outline("tags:\\n  item: a\\n  item: b\\nResult: c", {"tags"})
    Outline(value={'tags': ['a', 'b']}, rest=['tags', 'Result: c'])
    >>> read_outline("W1: size: 5, status: a\\nW2 (size: 6)\\nto do: W3", names)
    Outline(value={'W1': {'size': '5', 'status': 'a'}, 'W2': {'size': '6'}}, rest=['W1', 'W2', 'to do: W3'])
    >>> read_outline("legs[1]:\\nsize: 5\\nstatus: a", names, {"": {"status", "legs"}, "legs": {"size"}})
    Outline(value={'legs': {'size': '5'}, 'status': 'a'}, rest=['legs[1]:'])
    """
    reader = _Reader(frozenset(names), keys_within)
    return reader.read(text)


class Branch:
    """A mapping or list of an outline while it is read: its keys and items, in order. The lines
    that belong to it are indented by at least `inner`. Without `inner` the first line that is
    indented by more than `depth` decides. `name` is the key that leads to it."""

    def __init__(self, depth: float, inner: float | None = None, name: str = "") -> None:
        self._depth, self._inner, self.name = depth, inner, name
        self.items: list[tuple[str, Any]] = []

    def takes(self, depth: float) -> bool:
        """True if a line with this indentation belongs to it."""
        if self._inner is None and depth > self._depth:
            self._inner = depth
        return self._inner is not None and depth >= self._inner

    def is_level_with(self, depth: float) -> bool:
        """True if a line with this indentation is indented like the heading of the branch."""
        return depth - self._depth == _BULLET_DEPTH

    def value(self) -> Any:
        """Its items as a list if all have the same bullet or layout word as their key, else as a
        mapping, or as a list of mappings if keys come again."""
        items = [
            (key, item.value() if isinstance(item, Branch) else item) for key, item in self.items
        ]
        keys = [key for key, _ in items]
        if not items:
            return ""
        if keys == [""]:
            return items[0][1]
        may_be_list = len({*keys}) == 1 and (len(keys) > 1 or keys == ["-"])
        if may_be_list and all(map(is_layout_word, words_of_key(keys[0]))):
            return [item for _, item in items]
        records: list[dict[str, Any]] = [{}]
        keys_of_lists: set[str] = set()  # in the last record
        for key, item in items:
            record = records[-1]
            is_repeated, is_adjacent = key in record, key == next(reversed(record), None)
            if is_repeated and not is_adjacent and not isinstance(item, dict | list):
                records.append({key: item})
                keys_of_lists.clear()
            elif key in keys_of_lists:
                record[key].append(item)
            elif is_repeated:
                record[key] = [record[key], item]
                keys_of_lists.add(key)
            else:
                record[key] = item
        return records[0] if len(records) == 1 else records


class _Reader:
    """A reader of one outline. The last of its open branches takes the next line; branches that do
    not reach so far are closed before."""

    def __init__(self, names: frozenset[str], keys_within: KeysWithin) -> None:
        self._names, self._keys = names, frozenset(map(words_of_key, names))
        self._keys_within = keys_within or {}
        self._root = Branch(-1, -1)
        self._branches = [self._root]
        self._sections_by_path: dict[str, Branch] = {}
        self._rest: list[str] = []

    def read(self, text: str) -> Outline:
        """The outline of a text."""
        parts = [part for part in parts_of(text, self._names) if part]
        depths = (_depth(part) if isinstance(part, str) else _DEEPEST for part in parts[1:])
        for part, next_depth in zip(parts, [*depths, -1.0], strict=False):
            if isinstance(part, Grid):
                self._add("", part.records(SCALARS))
            elif not self._read_line(part, next_depth):
                self._rest.append(part)
        return Outline(self._root.value(), self._rest)

    def _add(self, key: str, item: Any) -> None:
        """Add an item to the last branch. Items under one path with a number, such as `items[0].id`
        and `items[0].size`, make one record."""
        path, _, last = key.rpartition(".")
        items = self._branches[-1].items
        if not any(map(str.isdigit, path)):
            items.append((key, item))
            return
        if not items or items[-1][0] != path or not isinstance(items[-1][1], Branch):
            items.append((path, Branch(0)))
        items[-1][1].items.append((last, item))

    def _open(self, key: str, depth: float, inner: float | None = None) -> None:
        if len(self._branches) < _MOST_DEPTH:
            key = self._list_named(key) or key
            branch = Branch(depth, inner, plain_key(key))
            self._branches[-1].items.append((key, branch))
            self._branches.append(branch)

    def _open_heading(self, key: str, depth: float, inner: float | None = None) -> None:
        """Open a branch under a key that the data may not have, so that it is in the rest too."""
        self._open(key, depth, inner)
        self._rest.append(key)

    def _open_section(self, key: str, depth: float) -> None:
        """Open the branch of a section heading; the same dotted path opens the same branch again."""
        if key in self._sections_by_path:
            self._branches.append(self._sections_by_path[key])
            return
        self._open(key, depth, depth + 1)
        if "." in key:
            self._sections_by_path[key] = self._branches[-1]

    def _close_branches(self, depth: float, keys: Iterable[str] = ()) -> None:
        """Close the branches that a line with this indentation and these keys does not belong to."""
        while len(self._branches) > 1 and not self._branches[-1].takes(depth):
            self._branches.pop()
        known = next((it for it in keys if it and (self._is_key(it) or self._list_named(it))), "")
        while known and self._is_elsewhere(known, depth):
            self._branches.pop()

    def _is_elsewhere(self, key: str, depth: float) -> bool:
        """True if a key at an indentation is not within the last branch, but within one around it, or
        if that branch is a table."""
        branch, within = self._branches[-1], self._keys_within
        if not branch.is_level_with(depth) or branch.name not in within:
            return False
        names = {*map(plain_key, (key, key.partition(".")[0], self._list_named(key)))} - {""}
        is_around = any(
            not names.isdisjoint(within.get(it.name, names)) for it in self._branches[:-1]
        )
        is_table = [key for key, _ in branch.items] == [""]
        return is_table or (is_around and names.isdisjoint(within[branch.name]))

    def _list_named(self, key: str) -> str:
        """The key of a mapping or list that some words are, perhaps with its size; "" without one."""
        without_size = _SIZE.sub("", key)
        return without_size if plain_key(without_size) in self._keys_within else ""

    def _read_line(self, line: str, next_depth: float) -> bool:
        """Read a line, given the depth of the next one. False if it belongs in the rest."""
        body = line.lstrip()
        if len(body) <= _NEAR and (section := _SECTION.fullmatch(body)):
            key, level = section[1] or section[3], len(section[2] or "") - _DEEPEST
            self._close_branches(level)
            self._open_section(key, level)
            return self._is_key(key)
        bullets: list[int] = []
        indent = len(line) - len(body)
        while bullet := _BULLET.match(line, indent):
            bullets.append(indent)
            indent = bullet.end()
        body = line[indent:]
        label, pairs = self._label_and_pairs(body)
        if (data := container_at(body, 0)) and data[1] == len(body):
            label, pairs = "", [("", columns_as_records(data[0]))]
        is_heading = body.endswith(":") and not pairs
        if not (pairs or is_heading) and (body or not bullets):
            word, _, item = body.partition(": ")
            if item and in_vocabulary(word.casefold(), "units"):
                return self._add_item(indent, item)
            return bool(bullets) and self._add_item(bullets[0], body)
        keys = [label] if label else [key for key, _ in pairs] or [body[:-1]]
        self._close_branches(bullets[0] + _BULLET_DEPTH if bullets else indent, keys)
        if keys == [""] and not bullets and len(self._branches) == 1:
            return False
        for bullet_indent in bullets:
            self._open("-", bullet_indent + _BULLET_DEPTH, bullet_indent + 1)
        if label:
            self._open_heading(label, indent, indent + 1)
        for number, (key, value) in enumerate(pairs, 1):
            if value is None:
                self._open_heading(key, indent, indent + 1)
            elif value or number < len(pairs) or next_depth <= indent:
                self._add(key, SCALARS.get(value, value) if isinstance(value, str) else value)
            else:
                self._open_heading(key, indent)
        if is_heading:  # to which lines at the same depth belong, too
            self._open(body[:-1], indent if next_depth > indent else indent - _BULLET_DEPTH)
        return not is_heading

    def _add_item(self, indent: int, text: str) -> bool:
        """Add a text to the list of the open branch; False if no branch is open."""
        self._close_branches(indent + _BULLET_DEPTH)
        if self._branches[-1] is self._root:
            return False
        self._add("-", text)
        return True

    def _label_and_pairs(self, line: str) -> tuple[str, list[tuple[str, Any]]]:
        """The words before the first key of a line ("" for none), and its pairs of key and value. A
        value is a text or JSON. It is None if the next key follows directly, and "" at the end of
        the line. Without a known key there are no pairs."""
        section = _IN_SECTION.match(line)
        line = _IN_BRACKETS.sub(r".\1", line[section.end() if section else 0 :])
        keys, data = self._keys_in(line)
        if not keys:
            return "", []
        label = line[: keys[0][1]].strip(_ENDS + _MARKS)
        ends = [*(start for _, start, _ in keys[1:]), len(line)]
        pairs: list[tuple[str, Any]] = []
        for (key, _, begin), end in zip(keys, ends, strict=True):
            value = line[begin:end]
            value = value.strip() if end == len(line) else value.rstrip(_MARKS).strip(_ENDS)
            if begin in data:
                pairs.append((key, data[begin]))
            elif end < len(line) and not value.strip(_MARKS):
                pairs.append((key, None))
            else:
                pairs.append((key, _unquoted(value)))
        if not label and pairs[0][1] is None and not self._is_key(pairs[0][0]):
            label = pairs.pop(0)[0]
        if section:
            return section[1], pairs
        return ("", pairs) if means_every_record(label) else (label, pairs)

    def _keys_in(self, line: str) -> tuple[list[tuple[str, int, int]], dict[int, Any]]:
        """The keys of a line as (key, start, end with its sign), and the JSON behind them by its
        start. No keys if none is known, or if JSON is truncated."""
        keys: list[tuple[str, int, int]] = []
        data: dict[int, Any] = {}
        position, limit = 0, _start_of_data(line)
        has_signs, may_be_bare = _LOGFMT.fullmatch(line) is not None, True
        while match := _KEY.search(line, position, limit):
            key, start, position = match[1], match.start(1), match.end()
            if string := _STRING.match(line, position):
                position = string.end()
            elif parsed := container_at(line, position, may_be_bare=may_be_bare):
                data[position], position = parsed
                limit = limit if limit > position else _start_of_data(line, position)
            else:  # brackets that are not closed are read once
                may_be_bare = may_be_bare and line[position : position + 1] not in ("[", "{")
            is_part = line[start - 1 : start] == "/"
            part = _PART_BEFORE.search(line[max(0, start - _NEAR) : start]) if is_part else None
            if part and self._is_key(part[0] + key):
                start, key = start - len(part[0]), part[0] + key
            sign_before = line[max(0, start - _NEAR) : start].rstrip(" " + _MARKS)[-1:]
            is_certain = start == 0 or has_signs or sign_before in _SEPARATORS
            if not is_certain and not self._is_key(key):
                known = self._known_end(key)
                start, key = start + len(key) - len(known), known
            if key:
                keys.append((key, start, match.end()))
        is_cut = limit < len(line) and line[:limit].rstrip()[-1:] in _BEFORE_VALUE
        has_known = any(
            self._is_key(key) or self._is_for(key, data.get(end)) for key, _, end in keys
        )
        return (keys, data) if has_known and not is_cut else ([], {})

    def _known_end(self, words: str) -> str:
        """The longest end of some words that is a key of the data: "the unit price" may end with
        `unit price`; "" without one."""
        parts = words.split(" ")
        ends = (" ".join(parts[first:]) for first in range(1, len(parts)))
        return next(filter(self._is_key, ends), "")

    def _is_for(self, key: str, value: Any) -> bool:
        """True for JSON under its key, and for a list of scalars, which may be those of records."""
        is_column = isinstance(value, list) and not any(map(is_container, value))
        return bool(value) and (is_column or self._list_named(key) != "")

    def _is_key(self, key: str) -> bool:
        """True if the data have a key, or the last part of a dotted path."""
        last = key.rpartition(".")[2]
        return words_of_key(key) in self._keys or words_of_key(last) in self._keys


def _start_of_data(line: str, position: int = 0) -> int:
    """The start of the first JSON in a line from a position on; the end of the line without any."""
    data = _DATA.search(line, position)
    return data.start() if data else len(line)


def _unquoted(value: str) -> str:
    """A value without quotation marks around it, and without the brackets that end its record."""
    for opening, closing in ("[]", "()", "{}"):
        if value.rstrip(",;").endswith(closing) and opening not in value:
            value = value.rstrip(",;")[:-1]
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`"
    return unescape(value[1:-1]) if is_quoted else value


def means_every_record(key: str) -> bool:
    """True for a key such as `shared by all`: every record has the values that follow."""
    words = words_of_key(key)
    all_words = [word for word in words if in_vocabulary(word, "every")]
    return bool(all_words) and all(word in all_words or is_filler_word(word) for word in words)


def _depth(line: str) -> float:
    """The indentation of a line; a bullet counts as half a blank."""
    body = line.lstrip()
    return len(line) - len(body) + _BULLET_DEPTH * bool(_BULLET.match(body))
