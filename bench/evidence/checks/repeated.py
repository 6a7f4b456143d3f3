"""Lines that a text repeats more often than the result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ...model.scores import Finding
from ..own_text import RewrittenResult

SAME = re.compile(
    r"\b(?<!not )(?<!not the )(?:same|identical|unchanged|no changes?|repeated|already (?:shown|returned|retrieved)"
    r"|as (?:in |for )?(?:the |those )?(?:first|earlier|previous|last|before|above))\b",
    re.IGNORECASE,
)
"""The words that claim that a result repeats another one."""

_BUT = re.compile(r"\b(?:except|but|changed|changes|different|differs?)\b", re.IGNORECASE)
_NOTICE_CHARS = 300
_FEWEST_WORDS, _FEWEST_CHARS = 4, 24


def repeated(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the lines that are repeated more often than in the result, false claims of
    a repetition, and the result of another call.

    A text with a notice may begin with a part of what follows.
    """
    claims = claims_repetition(own) and not own.shows_line and not _has_an_equal(own)
    if claims or _is_of_another(own):
        yield Finding(own.step, own.text.strip()[:200], own.result.text[:200])
    if own.gaps is not None:
        return
    shown = Counter(own.text.split("\n"))
    more = (item for item in shown.items() if item[1] > 1 and not own.says_omission)
    for line, count in more:
        times_there = own.result.text.count(line)
        if count > times_there > 0 and len(line.split()) >= _FEWEST_WORDS:
            text = line.strip()[:160]
            yield Finding(own.step, f"{count} × {text}", f"{times_there} × {text}")


def claims_repetition(own: RewrittenResult) -> bool:
    """True if a text says, in place of a result, that it is the same as another, and names no
    difference.
    """
    is_short = len(own.text) <= _NOTICE_CHARS
    claims = is_short and bool(SAME.search(own.text)) and not _BUT.search(own.text)
    return claims and not SAME.search(own.result.text)


def _has_an_equal(own: RewrittenResult) -> bool:
    """True if another result is the same: an earlier one, or a later one that replaces both."""
    return len(own.session.equal_results(own.result)) > 1


def _is_of_another(own: RewrittenResult) -> bool:
    """True if a text is the result of another call, and none of the words of its own one."""
    is_long = len(own.text) >= _FEWEST_CHARS
    return is_long and own.session.is_result(own.text) and own.text.strip() not in own.result.text
