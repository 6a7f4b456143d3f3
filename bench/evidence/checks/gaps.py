"""Gaps: the places where a text says that it leaves something of a result out, and the parts between them."""

from __future__ import annotations

import re
from collections.abc import Container

from ...text.cut import between_ends
from ...text.fields import FieldTable
from ...text.omissions import says_omission

_NOTICE_CHARS = 200
_TAG = re.compile(r"\s*</?[A-Za-z_][\w-]*>\s*")
_MARK = re.compile(r"(?:…\[|\.\.\.\[|\[)[^\[\]\n]{0,80}\](?:…|\.{3})?")  # begins with a set of characters
_QUOTED_KEY = re.compile(r"\"([^\"\n]{1,60})\"\s*:")

OPENING = re.compile(r"[\s{\[,*-]*[\"']?([A-Za-z_][\w .-]*?)[\"']?\s*[:=]")
"""The key with which a line opens."""


def pieces_of(text: str, full: str, known: Container[str], table: FieldTable) -> list[str]:
    """The parts of a text between the gaps that it admits; the text itself where it has none.

    A gap is a run of the strategy's own lines of which one says that something is left out, in words
    that the untruncated result, `full`, does not have there. A line with a field of it says no such thing.
    """
    marked = _MARK.sub(lambda mark: f"\n{mark[0]}\n" if says_omission(mark[0], full) else mark[0], text)
    lines = marked.split("\n")
    omits = [
        line not in known
        and len(line) <= _NOTICE_CHARS
        and not ((key := OPENING.match(line)) and table.has_key(key[1]))
        and not any(map(table.has_key, _QUOTED_KEY.findall(line)))
        and (words := says_omission(line, full)) != ""
        and not (words[-1].isdigit() and words in full)  # its own total
        for line in lines
    ]
    if not any(omits):
        return [text]
    pieces: list[list[str]] = [[]]
    number = 0
    while number < len(lines):
        stop = number
        while stop < len(lines) and (omits[stop] or _TAG.fullmatch(lines[stop])):
            stop += 1
        if any(omits[number:stop]):
            pieces.append([])
            number = stop
        else:
            pieces[-1].append(lines[number])
            number += 1
    return ["\n".join(piece) for piece in pieces]


def notice_between_ends(text: str, full: str, known: Container[str], table: FieldTable) -> str | None:
    """The words of its own in a text that shows no more of another one than its beginning and its end.

    "" where it is one of these and nothing else. None for any other text: one that shows something
    between them, or both without a word.
    """
    start, end = between_ends(text, full)
    notice = text[start:end]
    if not notice:
        return None if 0 < start < len(text) else ""
    joins = _joins_words(text, start) or _joins_words(text, end)
    if len(notice) > _NOTICE_CHARS or joins or "".join(pieces_of(notice, full, known, table)).strip():
        return None
    return notice


def _joins_words(text: str, place: int) -> bool:
    """True if a place is within a word of a text."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()
