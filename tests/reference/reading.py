"""A slow reader of texts, one character at a time: JSON and Python literals as far as they go, and values as plain lines."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "NaN": float("nan"),
         "nan": float("nan"), "Infinity": float("inf"), "inf": float("inf"), "-Infinity": float("-inf"), "-inf": float("-inf")}  # fmt: skip
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
DEPTH = 100


class Nothing(Exception):
    """No value stands there."""


# ---------------------------------------------------------------- values in text


def full_text(text: str) -> Any:
    """The JSON container that a text is; Nothing for any other text."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped.startswith(("{", "[")):
        raise Nothing
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        raise Nothing from None


def beginning(text: str) -> tuple[Any, int]:
    """The container that a text begins with, as far as it is complete, and where reading stopped."""
    start = 0
    while start < len(text) and text[start].isspace():
        start += 1
    if text[start : start + 1] not in ("{", "["):
        raise Nothing
    value, end, _ = container(text, start, 0)
    if not value:
        raise Nothing
    return value, end


def some(text: str) -> Any:
    """The value that a text is, or begins with."""
    try:
        return full_text(text)
    except Nothing:
        return beginning(text)[0]


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def container(text: str, start: int, depth: int) -> tuple[Any, int, bool]:
    """The read value, the end of reading, and True if that is before the end of the container."""
    mapping, items = {}, []  # type: ignore[var-annotated]
    is_mapping = text[start] == "{"
    close = "}" if is_mapping else "]"
    found: Any = mapping if is_mapping else items
    at = _blank(text, start + 1)
    if depth > DEPTH:
        return found, at, True
    while text[at : at + 1] != close:
        key: Any = None
        if is_mapping:
            key, at, ok, cut = _scalar(text, at)
            if not ok or cut:
                return found, at, True
            at = _blank(text, at)
            if text[at : at + 1] != ":":
                return found, at, True
            at = _blank(text, at + 1)
        if text[at : at + 1] in ("{", "["):
            value, at, cut = container(text, at, depth + 1)
            ok = bool(value) or not cut
        else:
            value, at, ok, cut = _scalar(text, at)
        if ok and is_mapping:
            mapping[key if isinstance(key, str) else str(key)] = value
        elif ok:
            items.append(value)
        if not ok or cut:
            return found, at, True
        at = _blank(text, at)
        if text[at : at + 1] == ",":
            at = _blank(text, at + 1)
        elif text[at : at + 1] != close:
            return found, at, True
    return found, at + 1, False


def _scalar(text: str, at: int) -> tuple[Any, int, bool, bool]:
    """A scalar: its value, where it ends, whether there is one, and whether the text ended within it."""
    quote = text[at : at + 1]
    if quote in ('"', "'") and quote:
        end = at + 1
        while end < len(text) and text[end] != quote:
            end += 2 if text[end] == "\\" else 1
        if end < len(text):
            return unescaped(text[at + 1 : end]), end + 1, True, False
        rest = text[at + 1 :]
        return unescaped(rest), len(text), bool(rest), True
    found = re.compile(r"[-+]?[A-Za-z0-9_.]+((?<=[eE])[-+]\d+)?").match(text, at)
    end = found.end() if found else len(text)
    if end == len(text):
        return None, at, False, True
    word = text[at:end]
    if word in WORDS:
        return WORDS[word], end, True, False
    for kind in (int, float):
        try:
            return kind(word), end, True, False
        except ValueError:
            continue
    return None, at, False, True


def unescaped(text: str) -> str:
    """A text with its backslash escapes resolved."""
    if "\\" not in text:
        return text
    found, at = "", 0
    while at < len(text):
        size = {"u": 4, "x": 2, "U": 8}.get(text[at + 1 : at + 2], 0) if text[at] == "\\" else 0
        digits = text[at + 2 : at + 2 + size]
        full_text = bool(size) and len(digits) == size and all(char in "0123456789abcdefABCDEF" for char in digits)
        if full_text and int(digits, 16) <= 0x10FFFF:
            found, at = found + chr(int(digits, 16)), at + 2 + size
            continue
        if text[at] == "\\" and at + 1 < len(text):
            found, at = found + ESCAPES.get(text[at + 1], text[at + 1]), at + 2
        else:
            found, at = found + text[at], at + 1
    return _paired(found)


def _paired(text: str) -> str:
    """Two halves of a character that were written as two escapes are one; where there is a first half, a lone half is a mark."""
    if not any("\ud800" <= char <= "\udbff" for char in text):
        return text
    found = ""
    for at, char in enumerate(text):
        if "\ud800" <= char <= "\udbff":
            after = text[at + 1 : at + 2]
            pair = "\udc00" <= after <= "\udfff" and after != ""
            found += chr(0x10000 + (ord(char) - 0xD800) * 0x400 + ord(after) - 0xDC00) if pair else "\ufffd"
        elif "\udc00" <= char <= "\udfff":
            found += "" if at and "\ud800" <= text[at - 1] <= "\udbff" else "\ufffd"
        else:
            found += char
    return found


def inside(value: Any) -> Any:
    """A value with every string that is a JSON container replaced by what it holds, at any depth."""
    if isinstance(value, str):
        try:
            return inside(full_text(value))
        except Nothing:
            return value
    if isinstance(value, dict):
        return {key: inside(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [inside(item) for item in value]
    return value


# ---------------------------------------------------------------- plain text


@functools.lru_cache(maxsize=5000)
def decoded(text: str) -> str:
    """The text as facts are looked for in it."""
    if text[:64].lstrip("\ufeff \t\r\n")[:1] not in ("{", "["):
        return _mappings_unescaped(text)
    try:
        return plain(full_text(text))
    except Nothing:
        pass
    try:
        value, end = beginning(text)
    except Nothing:
        return _mappings_unescaped(text)
    return plain(value) if len(text[end:].strip()) <= 3 else unescaped(text)


def _mappings_unescaped(text: str) -> str:
    """The text, each mapping in it unescaped up to where reading it stopped."""
    found, at = "", 0
    while at < len(text):
        literal = _literal(text, at)
        if literal is not None:
            found, at = (
                found + (text[at:literal] if OWN.search(text[at:literal]) else unescaped(text[at:literal])),
                literal,
            )
            continue
        colon = colon_of(text, at) if text[at] == "{" else None
        if colon is None:
            found, at = found + text[at], at + 1
            continue
        end = max(container(text, at, 0)[1], colon + 1)
        found, at = found + unescaped(text[at:end]), end
    return found


def _literal(text: str, at: int) -> int | None:
    """The end of a quoted field that begins here, after `=` or `(`; the end of the text if nothing closes it on its line."""
    quote = text[at]
    if quote not in ("'", '"') or not at or text[at - 1] not in "=(":
        return None
    end = at + 1
    while end < len(text) and text[end] != quote:
        if text[end] == "\n" or text[end : end + 2] == "\\\n":
            return None
        end += 2 if text[end] == "\\" else 1
    return min(end + 1, len(text))


OWN = re.compile(r"(?<!\w)[A-Za-z]:\\(?!\\)|\\[^nrtu\"'\\]")
"""A drive's letter, or a backslash before a sign that is not escaped so."""

FIRST_KEY = re.compile(r"""\{\s*("[^"\\\n]{1,100}"|'[^'\\\n]{1,100}')\s*:""")


def colon_of(text: str, at: int) -> int | None:
    """The place of the colon after the first key of a mapping with plain quoted keys that begins here; None for anything else."""
    found = FIRST_KEY.match(text, at)
    return found.end() - 1 if found else None


def plain(value: Any) -> str:
    """A value as lines: `key: leaf`, a row of a table, a list of scalars; a text of many lines stands below its key."""
    return "\n".join(_lines(inside(value), ""))


def _lines(value: Any, key: str) -> list[str]:
    before = key + ": " if key else ""
    heading = [key + ":"] if key else []
    if isinstance(value, dict):
        return heading + [line for name, item in value.items() for line in _lines(item, str(name))]
    if isinstance(value, list):
        if not any(isinstance(item, dict | list) for item in value):
            return [before + ", ".join(_leaf(item) for item in value)]
        found = heading
        for item in value:
            if isinstance(item, dict) and not any(isinstance(leaf, dict | list) for leaf in item.values()):
                found = [*found, ", ".join(f"{name}: {_leaf(leaf)}" for name, leaf in item.items())]
            else:
                found = found + _lines(item, "")
        return found
    if isinstance(value, str) and "\n" in value:
        return [*heading, value]
    return [before + _leaf(value)]


def _leaf(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    quoted = 2 <= len(value) <= 80 and '"' not in value and "\n" not in value and not MARKED.search(value)
    return '"' + value + '"' if quoted else value


MARKED = re.compile(r"[/\\@_]|\d\w|\w\d|\w\.\w|\w[A-Z]")
"""Matches a short text that is a fact, or has one, without being quoted."""


def is_word(char: str) -> bool:
    """True if a character belongs to words; False for none."""
    return char != "" and (char.isalnum() or char == "_")


def stands_free(text: str, start: int, end: int) -> bool:
    """True if the text there is not part of a longer word or number."""
    return _ends(text[:start][::-1], text[start]) and _ends(text[end:], text[end - 1])


def _ends(beyond: str, edge: str) -> bool:
    if not is_word(edge) or not beyond:
        return True
    return not is_word(beyond[0]) and not (edge.isdigit() and beyond[0] == "." and beyond[1:2].isdigit())
