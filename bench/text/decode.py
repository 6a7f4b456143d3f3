"""Decoding of text: JSON and Python literals as values, also truncated, and values as plain lines.

Facts are searched in decoded text, so that `\\n` inside a JSON string is a line break and
`\\u00b3` is the character that it stands for.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import msgspec

from ..model.base import CONTAINERS, LISTS, MAX_DEPTH, too_deep
from .escapes import unescape, unescape_cut
from .plain_lines import plain_lines_of

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|\'[^\'\\]*+(?:\\.[^\'\\]*+)*+\'', re.DOTALL)
_WORD = re.compile(r"[-+]?[A-Za-z0-9_.]+(?:(?<=[eE])[-+]\d+)?")
_BARE = re.compile(r"[^\s,:;{}\[\]\"'](?:[^\n,:;{}\[\]]|:(?=\S))*+")
_BLANK = re.compile(r"\s*")
SCALARS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "NaN": float("nan"),
          "nan": float("nan"), "Infinity": float("inf"), "inf": float("inf"), "-Infinity": float("-inf"), "-inf": float("-inf")}  # fmt: skip
_MAX_DEPTH = 100
LONG_CHARS = 1_000_000
"""Longer texts do not come again, so their lines are not cached."""


class NothingParsed(Exception):
    """No value could be read from a text, not even the beginning of one."""


_JSON_BEGINS = re.compile(
    r"\{\s*[\"}]|\[\s*(?:[]\[{\"\d]|-[\dI]|true\b|false\b|null\b|NaN\b|Infinity\b)"
)


def parse_json(text: str) -> Any:
    """The JSON container that a text consists of.

    Raises NothingParsed for anything else: a bare scalar, and a value that is nested too deep.
    """
    stripped = text.lstrip("\ufeff \t\r\n")
    if _JSON_BEGINS.match(stripped) is None:
        raise NothingParsed
    try:
        value = msgspec.json.decode(stripped)
    except RecursionError:
        raise NothingParsed from None
    except (msgspec.DecodeError, UnicodeEncodeError):
        try:
            value = json.loads(stripped)  # accepts NaN and lone surrogates, which msgspec does not
        except (ValueError, RecursionError):
            raise NothingParsed from None
    if stripped.count("[") + stripped.count("{") > MAX_DEPTH and too_deep(value):
        raise NothingParsed
    return value


def parse_prefix(text: str, *, bare: bool = False) -> tuple[Any, int]:
    """The container that a text begins with, even if it is truncated, and the number of characters
    read.

    A truncated container has its complete members: a number at the very end of the text may be half
    a number and is dropped, a string without its closing quote is kept. With `bare`, keys and texts
    need no quotes, as in JSON5 and in YAML with braces. Raises NothingParsed if the text begins with
    no container, or nothing in it is complete.

    >>> parse_prefix('{"a": [1, 2, 34')
    ({'a': [1, 2]}, 13)
    >>> parse_prefix("{'ok': True, 'n': None} trailing")[0], parse_prefix("{a: New York, b: [x, 1]}", bare=True)[0]
    ({'ok': True, 'n': None}, {'a': 'New York', 'b': ['x', 1]})
    """
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] not in ("{", "["):
        raise NothingParsed
    stripped = text.rstrip()
    position = len(stripped)
    try:
        value = parse_json(stripped)
    except NothingParsed:
        reader = PrefixReader(text, bare)
        value, position = reader.container(start), reader.position
    if not value:
        raise NothingParsed
    return value, position


_NUMBER = r"-?\d{1,15}+(?:\.\d{1,15}+)?+(?:[eE][-+]?\d{1,3}+)?+"
_SIMPLE = rf"""(?:(?P<quote>["'])(?P<string>[^"'\\]*+)(?P=quote)|(?P<word>{_NUMBER}|true|false|null|True|False|None))"""
_ENDED = r"\s*+(?:,\s*+|(?=[]}]))"
_PAIR = re.compile(rf"""(?P<mark>["'])(?P<key>[^"'\\]*+)(?P=mark)\s*+:\s*+{_SIMPLE}{_ENDED}""")
_ITEM = re.compile(_SIMPLE + _ENDED)
"""The members of most containers, matched at once."""


def _simple_value(string: str | None, word: str) -> Any:
    if string is not None:
        return string
    if word in SCALARS:
        return SCALARS[word]
    return int(word) if word.lstrip("-").isdigit() else float(word)


class _Cut(Exception):
    """The text ended, or stopped making sense, at this point."""


class PrefixReader:
    """A tolerant recursive reader of JSON and Python literals. `position` is where it stands in the
    text, `cut` is True once anything was incomplete."""

    def __init__(self, text: str, bare: bool = False) -> None:
        self.text = text
        self.bare = bare
        self.position = 0
        self.cut = False

    def _skip(self, position: int) -> int:
        if not self.text[position : position + 1].isspace():
            return position
        return _BLANK.match(self.text, position).end()  # type: ignore[union-attr]  # it matches nothing at all too

    def container(self, start: int, levels: int = _MAX_DEPTH) -> Any:
        """The mapping or list that opens at `start`; moves `position` to its end."""
        mapping = self.text[start] == "{"
        result: dict[Any, Any] = {}
        items: list[Any] = []
        close = "}" if mapping else "]"
        self.position = self._skip(start + 1)
        try:
            if levels < 0:
                raise _Cut
            while self.text[self.position : self.position + 1] != close:
                if simple := (_PAIR if mapping else _ITEM).match(self.text, self.position):
                    self.position = simple.end()
                    value = _simple_value(simple["string"], simple["word"])
                    if mapping:
                        result[simple["key"]] = value
                    else:
                        items.append(value)
                    continue
                if mapping:
                    key = self._scalar()
                    if self.cut:
                        raise _Cut
                    self._expect(":")
                    result[key if isinstance(key, str) else str(key)] = self._value(levels)
                else:
                    items.append(self._value(levels))
                if self.cut:
                    raise _Cut
                self.position = self._skip(self.position)
                if self.text[self.position : self.position + 1] == ",":
                    self.position = self._skip(self.position + 1)
                elif self.text[self.position : self.position + 1] != close:
                    raise _Cut
            self.position += 1
        except _Cut:
            self.cut = True
        return result if mapping else items

    def _expect(self, char: str) -> None:
        self.position = self._skip(self.position)
        if self.text[self.position : self.position + 1] != char:
            raise _Cut
        self.position = self._skip(self.position + 1)

    def _value(self, levels: int) -> Any:
        """The container or scalar at the position. Raises _Cut at the end of the text."""
        if self.text[self.position : self.position + 1] in ("{", "["):
            value = self.container(self.position, levels - 1)
            if self.cut and not value:
                raise _Cut
            return value
        return self._scalar()

    def _scalar(self) -> Any:
        """The string, number or word at the position; the rest of a truncated string.

        Raises _Cut at the end of the text, or if a word may be half of a longer one.
        """
        char = self.text[self.position : self.position + 1]
        if char in ('"', "'"):
            match = _STRING.match(self.text, self.position)
            if match:
                self.position = match.end()
                return unescape(match.group()[1:-1])
            rest = self.text[self.position + 1 :]
            self.position = len(self.text)
            self.cut = True
            if not rest:
                raise _Cut
            return unescape_cut(rest)
        match = (_BARE if self.bare else _WORD).match(self.text, self.position)
        if match is None or match.end() == len(self.text):
            raise _Cut
        word = match.group().rstrip()
        self.position = match.end()
        if word in SCALARS:
            return SCALARS[word]
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                continue
        if self.bare:
            return word
        self.position = match.start()
        raise _Cut


def container_at(line: str, position: int, *, may_be_bare: bool = True) -> tuple[Any, int] | None:
    """The mapping or list at a position of a line, and its end: JSON, perhaps truncated, or YAML in
    brackets that are closed (`may_be_bare`), except for a list of scalars; None without any.

    >>> container_at("a: {b: [x, 1]}", 3), container_at("a: [x, 1]", 3)
    (({'b': ['x', 1]}, 14), None)
    """
    if line.startswith(("[]", "{}"), position):
        return [], position + 2
    if line[position : position + 1] not in ("[", "{"):
        return None
    cut = None
    with suppress(NothingParsed):
        value, chars = parse_prefix(line[position:])
        cut = value, position + chars
        if line[position + chars - 1] in "]}":
            return cut
    if not may_be_bare:
        return cut
    reader = PrefixReader(line, bare=True)
    value = reader.container(position)
    has_members = isinstance(value, dict) or any(isinstance(it, dict | list) for it in value)
    return cut if reader.cut or not has_members else (value, reader.position)


def parse_some(text: str) -> Any:
    """The value at the beginning of a text, as far as it can be read: JSON or a Python literal.

    Raises NothingParsed where nothing can be read.

    >>> parse_some('[{"id": 1}, {"id": 2}, {"i'), parse_some("{'a': None}")
    ([{'id': 1}, {'id': 2}], {'a': None})
    """
    try:
        return parse_json(text)
    except NothingParsed:
        return parse_prefix(text)[0]


def decode_strings(value: Any, levels: int = MAX_DEPTH) -> Any:
    """A value with strings that are JSON containers decoded, `levels` deep.

    >>> decode_strings({"data": '[{"a": 1}]', "note": "[x"})
    {'data': [{'a': 1}], 'note': '[x'}
    """
    if levels == 0:
        return value
    if isinstance(value, str):
        if not _begins_as_data(value):
            return value
        try:
            return decode_strings(parse_json(value), levels - 1)
        except NothingParsed:
            return value
    if isinstance(value, dict):
        return {
            key: decode_strings(item, levels - 1) if _may_hold_others(item) else item
            for key, item in value.items()
        }
    if isinstance(value, LISTS):
        return [
            decode_strings(item, levels - 1) if _may_hold_others(item) else item for item in value
        ]
    return value


def _may_hold_others(value: Any) -> bool:
    """True for a mapping or a list, and for a string that may begin like one."""
    return value[:1] in _BEFORE_DATA if isinstance(value, str) else isinstance(value, CONTAINERS)


def _begins_as_data(text: str) -> bool:
    return text[:1] in _BEFORE_DATA and text.lstrip(_BLANKS)[:1] in ("{", "[")


_BLANKS = "\ufeff \t\r\n"
_BEFORE_DATA = frozenset({*_BLANKS, "{", "["})


def decoded(text: str) -> str:
    """The text in which facts are searched: a container as one plain line per row or scalar.

    A truncated container is read as far as possible. One that has errors, or other text in front, is
    only unescaped in place.

    >>> decoded('{"output": "line 1\\\\nline 2", "n": 3}')
    'output:\\nline 1\\nline 2\\nn: 3'
    >>> [decoded(text) for text in ("plain", '[cut] {"output": "line 1\\\\nline', '{"a": 1}...', '{"a": 1} then')]
    ['plain', '[cut] {"output": "line 1\\nline', 'a: 1', '{"a": 1} then']
    """
    return without_colours(_in_colours(text))


def letters_of(text: str) -> str:
    """The letters and digits of a text without colours.

    >>> letters_of("\x1b[31m12.5 m²\x1b[0m")
    '125m²'
    """
    text = without_colours(text).translate(_NO_SIGNS)
    return text if text.isascii() else "".join(filter(str.isalnum, text))


_NO_SIGNS = {code: None for code in range(128) if not chr(code).isalnum()}


def without_colours(text: str) -> str:
    """A text without the sequences by which a terminal changes its colours (ECMA-48, 8.3.117).

    >>> without_colours("\x1b[33;21mrow 5\x1b[0m of 7")
    'row 5 of 7'
    """
    return _COLOURS.sub("", text) if "\x1b" in text else text


_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def _in_colours(text: str) -> str:
    """`decoded`, with the colours."""
    head = text[:64].lstrip("\ufeff \t\r\n")[:1]
    if head not in ("{", "["):
        return _unescaped_inside(text)
    with suppress(NothingParsed):
        return plain_lines(parse_json(text))
    try:
        value, end = parse_prefix(text)
    except NothingParsed:
        return _unescaped_inside(text)
    is_truncated = len(text[end:].strip()) <= len("...")
    return plain_lines(value) if is_truncated else unescape(text)


QUOTED_KEY = r"""\s*(?:"[^"\\\n]{1,100}"|'[^'\\\n]{1,100}')\s*:"""
"""The pattern of the first key of a mapping, behind its opening bracket."""

_ESCAPED = re.compile(  # begins with a set of characters, so that all others are passed quickly
    rf"""[{{"'](?:(?P<mapping>(?<=\{{){QUOTED_KEY})"""
    r"""|(?<=[=(]")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+(?:"|\\?\Z)|(?<=[=(]')[^'\\\n]*+(?:\\.[^'\\\n]*+)*+(?:'|\\?\Z))"""
)
_LITERAL_BACKSLASHES = re.compile(r"\b[A-Za-z]:\\(?!\\)|\\[^nrtu\"'\\]")
"""Matches a path of Windows, or an escape that neither JSON nor `repr` writes, so that the backslashes
of the text are no escapes."""


def _unescaped_inside(text: str) -> str:
    """A text with the escapes inside its mappings and quoted fields resolved, such as in
    `Result(output='…')`. Elsewhere a backslash is a backslash."""
    if "\\" not in text:
        return text
    parts, done = [], 0
    while match := _ESCAPED.search(text, done):
        start, end = match.span()
        if match["mapping"]:
            reader = PrefixReader(text)
            reader.container(start)
            end = max(reader.position, end)
        inside = text[start:end]
        is_literal = not match["mapping"] and _LITERAL_BACKSLASHES.search(inside)
        parts += [text[done:start], inside if is_literal else unescape(inside)]
        done = end
    return "".join([*parts, text[done:]])


def plain_lines(value: Any) -> str:
    """A value as the lines of `plain_lines_of`, with JSON in its strings decoded.

    A short string is quoted if it has no number, path or name, so that it is one fact.

    >>> plain_lines([{"Name": "Base Offset", "Value": 0}, {"Name": "Level", "Value": 12}])
    'Name: "Base Offset", Value: 0\\nName: "Level", Value: 12'
    """
    return "\n".join(plain_lines_of(decode_strings(value)))
