"""Claims that a result is the same as another one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.scores import Finding
from .generated_text import RewrittenResult

SAME = re.compile(
    r"\b(?<!not )(?<!not the )(?<!of the )(?:same(?! call\b)|identical|unchanged|no changes?|repeated"
    r"|already (?:shown|returned|retrieved)"
    r"|as (?:in |for )?(?:the |those )?(?:first|earlier|previous|last|before|above))\b",
    re.IGNORECASE,
)
"""The words that claim that a result repeats another one; the same *call* may have another one."""

_BUT = re.compile(r"\b(?:except|but|changed|changes|different|differs?)\b", re.IGNORECASE)
_NOTICE_CHARS = 300


def repeated(rewritten: RewrittenResult) -> Iterator[Finding]:
    """Yield a false claim of a repetition."""
    if claims_repetition(rewritten) and not rewritten.shows_line and not _has_an_equal(rewritten):
        yield Finding(rewritten.step, rewritten.text.strip(), rewritten.result.text)


def claims_repetition(rewritten: RewrittenResult) -> bool:
    """True if a text says, in place of all lines of a result, that it is the same as another, and
    names no difference."""
    known = rewritten.session.lines_of(rewritten.result.index)
    if any(line in known for line in rewritten.text.split("\n") if line.strip()):
        return False
    is_short = len(rewritten.text) <= _NOTICE_CHARS
    claims = is_short and bool(SAME.search(rewritten.text)) and not _BUT.search(rewritten.text)
    return claims and not SAME.search(rewritten.result.text)


def _has_an_equal(rewritten: RewrittenResult) -> bool:
    """True if another result is the same: an earlier one, or a later one that replaces both."""
    return len(rewritten.session.equal_results(rewritten.result)) > 1
