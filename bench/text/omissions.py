"""Omissions: the words and dots by which a line says that something was left out. `notices` reads
lines that say nothing else."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache

_WORDS = (
    r"\b(?:truncat|omit|omission|elided|abridged|shortened|clipped|snipped|condensed|compacted|summar|redacted"
    r"|skipped|trimmed|cropped|excluded|discarded|collapsed|left out|cut (?:off|short|at|here)|(?<=\[)cut\b"
    r"|not (?:shown|displayed|included|listed)|show(?:n|ing)\b|(?P<part>\d+)(?:st|nd|rd|th)? of (?:the )?(?!(?P=part)\b)\d"
    r"|(?:first|last|top) \d+|\d+ (?:more|others|remaining|further|additional|hidden)\b"
    r"|removed|cleared|dropped|masked|pruned|hidden|stored|saved"
    r"|full (?:output|result|text|content)(?::| (?:at|in|is|see)\b)"
    r"|(?:same|identical|unchanged|repeated) |(?<=[\[(<{⟨⟦+])\d[\d,.]*\s?(?:more |other |further )?(?:char|byte|word|token))"
)
_OMISSION = re.compile(_WORDS)
_WITH_DOTS = re.compile(_WORDS + r"|(?<!\.)\.{3,}(?=\s*(?:$|[\"'\])}>,|]))|…")
_FOLDED = {ord("_"): " ", **{ord(letter): letter.lower() for letter in string.ascii_uppercase}}
"""A pattern that ignores case takes four times as long."""

_DENIED = re.compile(r"\w*[\"']?\s*[:=]\s*[\"']?(?:false|no|none|null|0)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"\b(?:nothing|not|never|none|without(?: any)?|no(?! longer)(?: \w+)?)"
    r"(?: (?:was|were|is|are|has been|have been))? $",
    re.IGNORECASE,
)
"""Matches the words before an omission that deny it."""

_ALL_SHOWN = re.compile(r"(?<!not )(?<!of )\ball\b(?! but)[^.;]{0,40}$", re.IGNORECASE)
"""Matches the words before "shown" in a statement that nothing is left out."""


def says_omission(kept: str, untruncated: str) -> str:
    """The words with which a text says that it leaves out parts of the untruncated text; `""` without
    any. Words that the untruncated text itself has in the same line do not count.

    >>> says_omission("abc [2 lines left out]", "abc\\nd\\ne"), says_omission("a...", "abcdef")
    ('left out', '...')
    >>> says_omission('{"truncated": false}', "abc"), says_omission("it was truncated", "so\\nit was truncated")
    ('', '')
    >>> [says_omission(f"a {text}", "abc") for text in ("[nothing left out]", "[no rows were cut off]", "[not shown: b]")]
    ['', '', 'not shown']
    >>> says_omission("9 rows, all shown", "abc"), says_omission("not all rows are shown", "abc")
    ('', 'shown')
    """
    if kept in untruncated:
        return ""
    lines = kept.split("\n")
    may_say = len(lines) == 1 or any(_omissions(kept)) or _has_dots(kept)
    for line in lines if may_say else ():
        if words := omission_in(line, untruncated):
            known_lines = untruncated.split("\n") if len(lines) > 1 else [untruncated]
            if line not in known_lines:
                return words
    return ""


def omission_in(line: str, untruncated: str) -> str:
    """The words with which one line says that something is left out; `""` without any."""
    for start, end in _omissions(line):
        name = _name_at(line, start, end)
        if name and name in untruncated:
            continue
        if line.startswith("show", start) and _ALL_SHOWN.search(line[:start]):
            continue
        if _DENIED_BEFORE.search(line[max(0, start - _DENIAL_CHARS) : start]):
            continue
        context = line[max(0, start - _CONTEXT_CHARS) : end + _CONTEXT_CHARS]
        is_known = context in untruncated or context.replace("'", '"') in untruncated
        if not (is_known or _DENIED.match(line, end)):
            return line[start:end]
    return ""


def _name_at(line: str, start: int, end: int) -> str:
    """The name with underscores that a part of a line belongs to; "" without one.

    >>> _name_at('{"saved_passengers":[]}', 2, 7), _name_at("saved at 5", 0, 5)
    ('saved_passengers', '')
    """
    while start and (line[start - 1].isalnum() or line[start - 1] == "_"):
        start -= 1
    while end < len(line) and (line[end].isalnum() or line[end] == "_"):
        end += 1
    name = line[start:end]
    return name if "_" in name else ""


def notice_at(line: str) -> int:
    """The start of the last omission in a line, with the sign in front of it; the end of the line
    without any.

    >>> notice_at('W1 is "thi" and 750 more characters'), notice_at("W1 [+2 lines omitted]"), notice_at("W1")
    (10, 3, 2)
    """
    starts = [start for start, _ in _omissions(line)]
    if not starts:
        return len(line)
    start = max(starts)
    before = line[max(0, start - _CONTEXT_CHARS) : start]
    sign = max(map(before.rfind, _OPENING))
    return start if sign < 0 else start - len(before) + sign


_OPENING = '…[("'


def _omissions(line: str) -> Iterable[tuple[int, int]]:
    """The (start, end) of each omission in a line. Cached for short lines: notices come again."""
    return _in_short_line(line) if len(line) <= _SHORT_CHARS else _in_any_line(line)


def _in_any_line(line: str) -> Iterator[tuple[int, int]]:
    folded = line.translate(_FOLDED)
    pattern = _WITH_DOTS if _has_dots(line) else _OMISSION
    return (match.span() for match in pattern.finditer(folded))


@lru_cache(maxsize=1 << 12)
def _in_short_line(line: str) -> tuple[tuple[int, int], ...]:
    return tuple(_in_any_line(line))


_SHORT_CHARS = 200


def _has_dots(text: str) -> bool:
    return "..." in text or "…" in text


_DENIAL_CHARS = 60
_CONTEXT_CHARS = 12
"""The characters on either side with which an omission is searched in the untruncated text."""
