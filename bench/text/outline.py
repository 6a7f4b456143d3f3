"""Outlines: data as lines of keys and values below headings and bullets, with tables, or as tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple
from xml.etree import ElementTree

from .decode import SCALARS, NothingParsed, parse_prefix
from .escapes import unescape
from .keys import words_of_key
from .layout_words import is_filler_word, is_layout_word
from .tables import Grid, parts_of
from .vocabulary import in_vocabulary

_BULLET = re.compile(r"[-*•+](?: +|$)")
_SECTION = re.compile(r"\[([^\[\]=]+(?:\[\d+\][^\[\]=]*)*)\]|(#+) +([^#]+?)[ #:]*")
_IN_SECTION = re.compile(r"\[([^\[\]=]+)\]\s+(?=[^\s:=])")
_KEY = re.compile(
    r"(?:(?<=[\s,;|/({])|^)[\"'`*]*([\[$A-Za-z_][\w .\[\]$-]{0,80}?)[\"'`*:]{0,4}?\s{0,9}(?:=>|->|→|[:=])(?:\s+|$|(?=[^\s:/=]))"
)
"""Matches a key, perhaps behind other words, and the sign behind it."""

_DATA = re.compile(r"[{\[]\s*[\"'{\[]")
"""Matches the beginning of JSON."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s|[,;|/)}]|$)')
_IN_BRACKETS = re.compile(r"(?<=\w)\[[\"']([^\"'\[\]]+)[\"']\]")
_TAGS = re.compile(r"([^<>]*)(<[A-Za-z_].*>)([^<>]*)", re.DOTALL)
_DEEPEST, _BULLET_DEPTH, _MOST_DEPTH, _NEAR = 1000.0, 0.5, 60, 160
_ENDS, _MARKS = " \t,;|/({", "\"'`*"
_APART = frozenset(["", *",;|/({"])
"""The signs before a key that need not be known."""


_TO_DATA = frozenset(",:=>→")
"""The signs before JSON that is a value of its line, and not quoted in one."""


class Outline(NamedTuple):
    """The value that a text outlines, and its lines that do not belong to it."""

    value: Any
    rest: list[str]


def read_outline(text: str, names: Iterable[str]) -> Outline:
    """The data that a text outlines, with some `names` of scalars; scalars as texts. Linear in the
    text.

    A name that comes again begins the next record, or a list if it is next to itself. Any heading,
    and words before the first name of a line, name what follows; they are in the rest too.

    >>> names = "id", "status", "size", "all ok"
    >>> read_outline("Found:\\n- id: W1\\n  items:\\n    - size: 5\\n- id: W2, all ok: yes", names)
    Outline(value={'Found': [{'id': 'W1', 'items': [{'size': '5'}]}, {'id': 'W2', 'all ok': 'yes'}]}, rest=['Found:', '  items:'])
    >>> read_outline("[items[0]]\\nid=1 status=a b\\nitems:\\nid|size\\n7|8", names).value
    {'items[0]': {'id': '1', 'status': 'a b', 'items': [{'id': '7', 'size': '8'}]}}
    >>> read_outline('[W1] id=1, items=[{"size": 5}], status=a', names).value
    {'W1': {'id': '1', 'items': [{'size': 5}], 'status': 'a'}}
    >>> read_outline("tags:\\n  item: a\\n  item: b\\nResult: c", {"tags"})
    Outline(value={'tags': ['a', 'b']}, rest=['tags', 'Result: c'])
    >>> read_outline("<item><id>1</id></item><item><id>2</id></item>", names).value
    [{'id': '1'}, {'id': '2'}]
    >>> read_outline("W1: size: 5, status: a\\nW2 (size: 6)\\nto do: W3", names)
    Outline(value={'W1': {'size': '5', 'status': 'a'}, 'W2': {'size': '6'}}, rest=['W1', 'W2', 'to do: W3'])
    """
    reader = _Reader(frozenset(names))
    if tags := _TAGS.fullmatch(text):
        with suppress(NothingParsed):
            return reader.read_tags(*tags.groups())
    return reader.read(text)


class _Branch:
    """A part of an outline: the values under keys below a line, or in it.

    With `depth` -1 it takes every line; lines that belong to it are indented by `inner` or more, or
    like the first one, which is below `depth`.
    """

    def __init__(self, depth: float, inner: float | None = None) -> None:
        self._depth, self._inner = depth, inner
        self.items: list[tuple[str, Any]] = []

    def takes(self, depth: float) -> bool:
        """True if a line that is indented so deep belongs to it."""
        if self._inner is None and depth > self._depth:
            self._inner = depth
        return self._inner is not None and depth >= self._inner

    def value(self) -> Any:
        """Its content as a mapping, or as a list if it has bullets, or one key for all."""
        items = [(k, it.value() if isinstance(it, _Branch) else it) for k, it in self.items]
        keys = [key for key, _ in items]
        if not items:
            return ""
        if keys == [""]:
            return items[0][1]
        if len({*keys}) == 1 and (len(keys) > 1 or keys == ["-"]) and _is_sign(keys[0]):
            return [item for _, item in items]
        records: list[dict[str, Any]] = [{}]
        repeated: set[str] = set()  # in the last record
        for key, item in items:
            record = records[-1]
            is_known, is_next = key in record, key == next(reversed(record), None)
            if is_known and not is_next and not isinstance(item, dict | list):
                records.append({key: item})
                repeated.clear()
            elif key in repeated:
                record[key].append(item)
            elif is_known:
                record[key] = [record[key], item]
                repeated.add(key)
            else:
                record[key] = item
        return records[0] if len(records) == 1 else records


def _is_sign(key: str) -> bool:
    """True for a key that only says that a part follows."""
    return all(map(is_layout_word, words_of_key(key)))


class _Reader:
    """A reader of one outline."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names, self._keys = names, frozenset(map(words_of_key, names))
        self._words = frozenset(word for key in self._keys for word in key)
        self._root = _Branch(-1, -1)
        self._branches = [self._root]
        self._paths: dict[str, _Branch] = {}
        self._rest: list[str] = []

    def read(self, text: str) -> Outline:
        """The outline of a text."""
        parts = [part for part in parts_of(text, self._names) if part]
        depths = (_depth(part) if isinstance(part, str) else _DEEPEST for part in parts[1:])
        for part, after in zip(parts, [*depths, -1.0], strict=False):
            if isinstance(part, Grid):
                self._add("", part.records(SCALARS))
            elif not self._read(part, after):
                self._rest.append(part)
        return Outline(self._root.value(), self._rest)

    def read_tags(self, before: str, text: str, after: str) -> Outline:
        """The texts and parts of tags, each under its name, with the words around them; unknown
        names are in the rest. Raises NothingParsed if the tags are not in pairs."""
        if "<!" in text:
            raise NothingParsed
        try:
            root = ElementTree.fromstring(f"<item>{text}</item>")
            value = self._in_tag(root)
        except (ElementTree.ParseError, ValueError, RecursionError):
            raise NothingParsed from None
        names = (name for tag in root.iter() for name in (tag.tag, *tag.attrib))
        own = [name for name in names if not all(map(self._is_known, words_of_key(name)))]
        own += (tag.tag for tag in root.iter() if len(tag) and self._knows(tag.tag))
        rest = [*before.split("\n"), *dict.fromkeys(own), *after.split("\n")]
        return Outline(value, [*filter(str.strip, rest)])

    def _in_tag(self, tag: ElementTree.Element) -> Any:
        """The text or the parts of a tag; parts such as `<item>` are those of a list."""
        branch = _Branch(0)
        branch.items += ((key, SCALARS.get(text, text)) for key, text in tag.attrib.items())
        for part in tag:
            is_item = in_vocabulary(part.tag.casefold(), "units") and not (
                len(part) or self._knows(part.tag)
            )
            branch.items.append(("-" if is_item else part.tag, self._in_tag(part)))
        around = "".join(filter(None, (tag.text, *(part.tail for part in tag)))).strip()
        if not branch.items:
            return SCALARS.get(around, around)
        if around:
            raise NothingParsed
        return branch.value()

    def _add(self, key: str, item: Any) -> None:
        """Add an item under a key; those under one path with a number are one record."""
        path, _, last = key.rpartition(".")
        items = self._branches[-1].items
        if not any(map(str.isdigit, path)):
            items.append((key, item))
            return
        if not items or items[-1][0] != path or not isinstance(items[-1][1], _Branch):
            items.append((path, _Branch(0)))
        items[-1][1].items.append((last, item))

    def _open(self, key: str, depth: float, inner: float | None = None) -> None:
        if len(self._branches) < _MOST_DEPTH:
            branch = _Branch(depth, inner)
            self._branches[-1].items.append((key, branch))
            self._branches.append(branch)

    def _open_heading(self, key: str, depth: float, inner: float | None = None) -> None:
        """Open the part below a key, which may be words of the text's own."""
        self._open(key, depth, inner)
        self._rest.append(key)

    def _open_section(self, key: str, depth: float) -> None:
        """Open the part of a heading; a path leads to the same part again."""
        if key in self._paths:
            self._branches.append(self._paths[key])
            return
        self._open(key, depth, depth + 1)
        if "." in key:
            self._paths[key] = self._branches[-1]

    def _move_to(self, depth: float) -> None:
        while len(self._branches) > 1 and not self._branches[-1].takes(depth):
            self._branches.pop()

    def _read(self, line: str, after: float) -> bool:
        """Read a line, with the depth of the next one; False for one without a known key."""
        body = line.lstrip()
        if len(body) <= _NEAR and (section := _SECTION.fullmatch(body)):
            key, level = section[1] or section[3], len(section[2] or "") - _DEEPEST
            self._move_to(level)
            self._open_section(key, level)
            return self._knows(key)
        bullets: list[int] = []
        at = len(line) - len(body)
        while bullet := _BULLET.match(line, at):
            bullets.append(at)
            at = bullet.end()
        body = line[at:]
        section = _IN_SECTION.match(body)
        label, pairs = self._pairs(
            _IN_BRACKETS.sub(r".\1", body[section.end() if section else 0 :])
        )
        if section and pairs:
            label = section[1]
        is_heading = body.endswith(":") and not pairs
        if not (pairs or is_heading) and (body or not bullets):
            sign, _, item = body.partition(": ")
            if item and in_vocabulary(sign.casefold(), "units"):
                return self._add_item(at, item)
            return bool(bullets) and self._add_item(bullets[0], body)
        self._move_to(bullets[0] + _BULLET_DEPTH if bullets else at)
        for bullet_at in bullets:
            self._open("-", bullet_at + _BULLET_DEPTH, bullet_at + 1)
        for number, (key, value) in enumerate([(label, None)] * bool(label) + pairs):
            is_last = number == len(pairs) - (not label)
            if value is None:
                self._open_heading(key, at, at + 1)
            elif value or not is_last or after <= at:
                self._add(key, SCALARS.get(value, value) if isinstance(value, str) else value)
            else:
                self._open_heading(key, at if after > at else at - _BULLET_DEPTH)
        if is_heading:
            self._open(body[:-1], at if after > at else at - _BULLET_DEPTH)
        return not is_heading

    def _add_item(self, at: int, body: str) -> bool:
        """Add an item of a list of texts; False for one below no key."""
        self._move_to(at + _BULLET_DEPTH)
        if self._branches[-1] is self._root:
            return False
        self._add("-", body)
        return True

    def _pairs(self, line: str) -> tuple[str, list[tuple[str, Any]]]:
        """The words before the first pair in a line, and its keys with the JSON or the words after
        each: None if a key follows, "" at the end. Without a known key there are none."""
        found: list[tuple[str, int, int]] = []
        data: dict[int, Any] = {}  # by its place in the line
        at, limit = 0, _start_of_data(line)
        while match := _KEY.search(line, at, limit):
            key, start, at = match[1], match.start(1), match.end()
            if string := _STRING.match(line, at):
                at = string.end()
            elif read := _data_at(line, at):
                data[at], at = read
                limit = _start_of_data(line, at)
            is_apart = line[max(0, start - _NEAR) : start].rstrip(" " + _MARKS)[-1:] in _APART
            if not (start == 0 or self._knows(key) or is_apart):
                short = self._known_end(key)
                start, key = start + len(key) - len(short), short
            if key:
                found.append((key, start, match.end()))
        is_cut = line[:limit].rstrip()[-1:] in _TO_DATA and limit < len(line)
        if is_cut or not any(self._knows(key) for key, _, _ in found):
            return "", []
        label = line[: found[0][1]].strip(_ENDS + _MARKS)
        ends = [*(start for _, start, _ in found[1:]), len(line)]
        pairs: list[tuple[str, Any]] = []
        for (key, _, begin), end in zip(found, ends, strict=True):
            value = line[begin:end].strip(" \t" if end == len(line) else _ENDS)
            if begin in data:
                pairs.append((key, data[begin]))
            elif end < len(line) and not value.strip(_MARKS):
                pairs.append((key, None))
            else:
                pairs.append((key, _bare(value)))
        if not label and pairs[0][1] is None and not self._knows(pairs[0][0]):
            label = pairs.pop(0)[0]
        return ("", pairs) if means_every_record(label) else (label, pairs)

    def _known_end(self, key: str) -> str:
        """The longest end of some words that is a known key; "" without one."""
        words = key.split(" ")
        ends = (" ".join(words[at:]) for at in range(1, len(words)))
        return next(filter(self._knows, ends), "")

    def _knows(self, key: str) -> bool:
        """True for a key, perhaps at the end of a path."""
        return any(words_of_key(it) in self._keys for it in (key, key.rpartition(".")[2]))

    def _is_known(self, word: str) -> bool:
        return word in self._words or f"{word}s" in self._words or is_layout_word(word)


def _start_of_data(line: str, at: int = 0) -> int:
    """The first place of JSON in a line, from one on; the end of the line without any."""
    data = _DATA.search(line, at)
    return data.start() if data else len(line)


def _data_at(line: str, at: int) -> tuple[Any, int] | None:
    """The JSON at a place in a line, and the place after it; None without any."""
    if line.startswith(("[]", "{}"), at):
        return [], at + 2
    if line[at : at + 1] in ("[", "{"):
        with suppress(NothingParsed):
            value, chars = parse_prefix(line[at:])
            return value, at + chars
    return None


def _bare(value: str) -> str:
    """A value without the bracket that ends its record, and without quotation marks around it."""
    for opening, closing in ("()", "{}"):
        if value.rstrip(",;").endswith(closing) and opening not in value:
            value = value.rstrip(",;")[:-1]
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`"
    return unescape(value[1:-1]) if is_quoted else value


def means_every_record(key: str) -> bool:
    """True for words by which a text says that what follows is true of every record."""
    words = words_of_key(key)
    of_all = [in_vocabulary(word, "every") for word in words]
    return any(of_all) and all(
        it or is_filler_word(word) for it, word in zip(of_all, words, strict=True)
    )


def _depth(line: str) -> float:
    """The depth of a line; a bullet counts as half a blank."""
    body = line.lstrip()
    return len(line) - len(body) + _BULLET_DEPTH * bool(_BULLET.match(body))
