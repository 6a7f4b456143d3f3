"""Claims that a result is the same as another one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.scores import Finding
from .own_text import RewrittenResult

SAME = re.compile(
    r"\b(?<!not )(?<!not the )(?<!of the )(?:same(?! call\b)|identical|unchanged|no changes?|repeated"
    r"|already (?:shown|returned|retrieved)"
    r"|as (?:in |for )?(?:the |those )?(?:first|earlier|previous|last|before|above))\b",
    re.IGNORECASE,
)
"""The words that claim that a result repeats another one; the same *call* may have another one."""

_BUT = re.compile(r"\b(?:except|but|changed|changes|different|differs?)\b", re.IGNORECASE)
_NOTICE_CHARS = 300


def repeated(own: RewrittenResult) -> Iterator[Finding]:
    """Yield a false claim of a repetition."""
    if claims_repetition(own) and not own.shows_line and not _has_an_equal(own):
        yield Finding(own.step, own.text.strip(), own.result.text)


def claims_repetition(own: RewrittenResult) -> bool:
    """True if a text says, in place of all lines of a result, that it is the same as another, and
    names no difference.
    """
    known = own.session.lines_of(own.result.index)
    if any(line in known for line in own.text.split("\n") if line.strip()):
        return False
    is_short = len(own.text) <= _NOTICE_CHARS
    claims = is_short and bool(SAME.search(own.text)) and not _BUT.search(own.text)
    return claims and not SAME.search(own.result.text)


def _has_an_equal(own: RewrittenResult) -> bool:
    """True if another result is the same: an earlier one, or a later one that replaces both."""
    return len(own.session.equal_results(own.result)) > 1
