"""Notices that say how many lines a text leaves out, or of what kind they are, held against the lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from ...text.excerpts import NOTICE_CHARS
from ...text.instructions import is_unit
from ...text.omissions import omission_in
from ...text.small_words import WORD, is_small
from ..own_text import RewrittenResult
from ..row_counts import NEAR

_KIND = re.compile(
    r"((?:[\w-]+ ){1,6}?)(?:(?:are|were|is|was) )?(?:left out|omitted|not shown|hidden)"
)
"""Matches a notice of what kind of parts is left out."""

_LINES = re.compile(r"(\d+) (?:more |other )?lines?\b")
_RELATED = re.compile(
    r"\b(?:above|after|before|below|besides|between|except|from|no|not|only|other|to|without)\b"
)
"""Matches a notice of parts that stand near others, or are not of a kind."""

_COMPARED = re.compile(
    r"\b(?:having|whose|with)\b.*\b(?:above|below|between|least|most|over|than|under) \w"
)
"""Matches a notice of parts with a property that is compared with a limit."""

_COMMENT = r"^\s*(?://|#|--|;|/?\*|\(.*\)$)"
"""The pattern of a comment, which has a sign where other lines of a kind have its word."""


def wrong_notice(own: RewrittenResult) -> str:
    """What a text of lines and notices leaves out otherwise than it says: the first line that is not
    of the named kind, or a notice that counts too many lines or names what is shown; "" if nothing.

    The kind is a word before words such as "left out" that some lines have: "[3 warnings left
    out]".
    """
    lines = own.result.text.split("\n")
    shown = [*filter(None, map(str.strip, own.text.split("\n")))]
    plain, kept = {*map(str.strip, lines)}, {*shown}
    others = [line for line in shown if line not in plain]
    short = [line for line in others if len(line) <= NOTICE_CHARS]
    notices = [line for line in short if omission_in(line, own.result.text)]
    if compared := next(filter(_COMPARED.search, notices), ""):
        return compared
    if len(others) > len(notices) or len(shown) == len(others):
        return ""
    counts = [int(count[:9]) for notice in notices for count in _LINES.findall(notice)]
    if counts and sum(counts) > len(lines) - len(shown) + len(notices) + NEAR:
        return notices[0]
    missing = {at: line for at, line in enumerate(lines) if line.strip() not in kept}
    kept &= plain
    return next(filter(None, (_of_other_kind(notice, missing, kept) for notice in notices)), "")


def _of_other_kind(notice: str, missing: Mapping[int, str], kept: Iterable[str]) -> str:
    """The first missing line (by number) that is of no kind that a notice names, nor indented below
    one that is; the notice itself if only lines that are kept are of such a kind.

    >>> missing = {1: "warning: low", 2: "  in room 3", 4: "error: full"}
    >>> notices = "[3 warnings left out]", "[2 warnings and errors left out]", "[2 notes left out]", "[doors left out]"
    >>> [_of_other_kind(notice, missing, ["note: it is late"]) for notice in notices]
    ['error: full', '', '[2 notes left out]', '']
    """
    kinds = [re.compile(kind, re.IGNORECASE) for kind in _kinds(notice.casefold())]
    if not any(kind.search(line) for kind in kinds for line in missing.values()):
        is_shown = any(kind.search(line) for kind in kinds for line in kept)
        is_shown = is_shown or any(kind.pattern == _COMMENT for kind in kinds)
        return notice if is_shown and not _RELATED.search(notice.casefold()) else ""
    last, depth = -1, math.inf  # of the last line of such a kind, or below one
    for number, line in missing.items():
        indent = len(line) - len(line.lstrip())
        if any(kind.search(line) for kind in kinds):
            last, depth = number, indent
        elif number == last + 1 and indent > depth:
            last = number
        elif any(not (is_small(word) or is_unit(word)) for word in WORD.findall(line.casefold())):
            return line.strip()
    return ""


def _kinds(notice: str) -> Iterator[str]:
    """Yield the patterns of the lines of each kind that a notice in small letters names."""
    for match in _KIND.finditer(notice):
        for word in WORD.findall(match[1]):
            if word in ("comment", "comments"):
                yield _COMMENT
            elif not (is_small(word) or is_unit(word)):
                yield rf"(?<!\w){re.escape(word.removesuffix('s'))}"
