"""The facts of a text (pattern version 2), found by trying every kind at every character."""

from __future__ import annotations

import functools
import re

from .names import named
from .numbers import number_at, number_value
from .reading import decoded, is_word

ERROR_WORDS = ("Error", "Exception", "Warning", "error", "fatal")
TRAILING = ".,;:!?"


@functools.lru_cache(maxsize=5000)
def facts_of(text: str, lower: frozenset[str] = frozenset()) -> dict[str, str]:
    """The distinct facts of a text, decoded first, with their kinds, in order of first appearance; `lower`: words that stand in small letters."""
    found: dict[str, str] = {}
    for line in decoded(text).split("\n"):
        for kind, fact in _of_line(line, lower):
            found.setdefault(fact, kind)
    return found


def _of_line(line: str, lower: frozenset[str]) -> list[tuple[str, str]]:
    head, colon, rest = line.partition(":")
    if colon and head.endswith(ERROR_WORDS) and all(is_word(char) or char == "." for char in head):
        message = rest.lstrip(" \t")
        if message and message != rest and not message[0].isspace():
            told = message.partition("\r")[0]
            after = message[len(told) :]
            said = told.strip().rstrip(TRAILING)
            error = [("error", said)] if any(map(is_word, said)) else []
            return _of_pieces(line[: len(line) - len(message)], lower) + error + _of_pieces(after, lower)
    return _of_pieces(line, lower)


def _of_pieces(line: str, lower: frozenset[str]) -> list[tuple[str, str]]:
    """Only what is quoted reaches over blanks, and names in prose do."""
    pieces = [line] if '"' in line or "'" in line else line.split()
    found = [item for piece in pieces for item in _scanned(piece)]
    return [*found, *named(line, lower)]


def _scanned(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        kind, start, end = ("", 0, 0) if at and is_word(text[at - 1]) else _first(text, at)
        if not kind:
            at += 1
            continue
        fact = text[start:end].strip().rstrip(TRAILING)
        if kind == "quoted":
            finer = _scanned(fact)
            found += finer or ([(kind, fact)] if sum(map(str.isalpha, fact)) > 2 else [])
        elif kind == "number":
            if any(char in ".eE" for char in fact) or sum(map(str.isdecimal, fact)) >= 3:
                found.append((kind, number_value(fact)))
        elif kind == "name":
            found += (
                [(kind, fact)]
                if len(fact) >= 4 and MARK.search(fact) and not all("A" <= char <= "Z" for char in fact)
                else []
            )
        elif any(map(is_word, fact)):
            found.append(
                ({"doi": "url", "dotted": "name"}.get(kind, kind), _unbracketed(fact) if kind == "url" else fact)
            )
        at = end + (kind == "quoted")
    return found


PART = r"[\w.@%+~-]"
KINDS = {
    "url": r"""[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>`|\\^{}]+""",
    "quoted": r"""(["'])(?:(?!\1)[^\r\n]){2,80}\1(?!\w)""",
    "path": rf"""(?:~|\.\.?)?(?:/{PART}+)+/?|{PART}+(?:/{PART}+){{2,}}/?|{PART}+/{PART}*\.[A-Za-z]\w{{0,7}}(?!\w)(?!\.\d)"""
    r"""|(?<![)\]}"'])\.[A-Za-z]\w+""",
    "doi": r"""10\.\d{4,9}/[^\s"'<>)\]]+""",
    "dotted": r"\d+(?:\.\d+){2,}(?:/\d+(?!\.*\w))?(?!\.*\w)",
    "date": r"\d{4}-\d\d-\d\d(?![\w-])",
    "name": r"(?!\d[\d.,-]*(?![\w.,-]))\w[\w@]*(?:[.@-]\w[\w@]*)*",
}
"""The pattern of each kind of fact; the first one that matches at a place wins, so a number comes before a name."""

MARK = re.compile(r"\d|_|@|(?<=\w)[A-Z]|(?<=[^\W\d_])\.[^\W\d_]")
"""A digit, an underscore, an at sign, a capital that is not the first letter, or a dot between letters."""


def _first(text: str, at: int) -> tuple[str, int, int]:
    """The first kind that stands at a place: kind, start and end of the fact."""
    before = text[at - 1] if at else " "
    for kind, pattern in KINDS.items():
        if kind == "name" and not (before.isdecimal() or before in ".,") and (end := number_at(text, at)):
            return "number", at, end
        found = None if kind == "path" and before in "/<" else re.compile(pattern).match(text, at)
        if found and kind == "quoted":
            return kind, at + 1, found.end() - 1
        if found and (kind != "name" or MARK.search(found.group())):
            return kind, at, found.end()
    return "", 0, 0


def _unbracketed(url: str) -> str:
    for closing, opening in ((")", "("), ("]", "[")):
        if url.endswith(closing) and url.count(closing) > url.count(opening):
            return _unbracketed(url[:-1].rstrip(TRAILING))
    return url
