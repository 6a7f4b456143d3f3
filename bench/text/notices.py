"""Notices that something was left out: the rules by which a shown text counts as a notice, and the counts that it states, in one place.

A notice is one of these, in the messages that show a result; where none shows it, in the strategy's own messages of that prompt:

1. A marker: a word for leaving out (truncated, omitted, elided, left out, cut off, not shown, 5 more, first 5 of 36, showing, removed, masked,
   stored as, …), or an ellipsis at the end of a line, a cell or a bracket. It must be the strategy's own: one that the untruncated text has
   in the same place says nothing, and neither does one that denies it (`"truncated": false`, `0 omitted`, `not truncated`).
2. A stated total larger than what is shown: `row_count`, `total`, `276 rows`, `5 of 276` and the like, where fewer rows or lines are shown. A bare
   `size`, `length` or `count` says nothing of rows.
3. A placeholder: a short text in place of a result, that is no part of it and holds none of its facts, whatever its words.

So 276 records cut to 164 and called "164 records" give no notice: 164 is no more than what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from ..model import lines_of, nested
from .decode import NothingParsed, parse_some
from .leaves import flatten
from .texts import Texts

_MARKER = re.compile(
    r"""(?<![^\W_])(?:
      truncat\w* | elided\w* | omitted | omission | omitting | abridged | abbreviated | shortened | clipped | snipped | redacted
    | left\ out | cut\ (?:off|short|at|here) | not\ (?:shown|displayed|included|listed) | only\ the\ (?:first|last)
    | (?:first|last|top)\ \d+\b[^\n]{0,30}\bshown | show(?:n|ing)\s(?:only\s|the\s)*(?:first|last|top|\d+)
    | (?:first|last|top)\ \d+\ of\ \d+ | and\ \d+\ (?:more|others) | \d+\ more\b | \d+\ (?:remaining|further|additional|hidden)\b
    | (?:result|output|content|observation|response)s?\ (?:was\ |were\ |is\ |has\ been\ )?(?:removed|cleared|dropped|masked|hidden|pruned|compacted)
    | (?:removed|cleared|dropped|masked|pruned)\ (?:to\ save|for\ brevity|from\ (?:the\ )?(?:context|history)) | for\ brevity
    | stored\ (?:as|at|in|under) | saved\ (?:as|at|to|under) | full\ (?:output|result|text|content)\ (?:at|in|under|is|available)
    | (?:same|identical|unchanged|repeated)\ (?:\w+\ )?(?:as|to|since|from)\ (?:above|before|in\b|message|step|call|result|the)
    | summary\ of\ | summari[sz]ed | condensed | compacted )
    | [\[(<]\s*+(?:masked|removed|cleared|dropped|pruned|hidden)\s*+[\])>]
    | (?:(?<!\.)\.{3,}+|…)(?=\s*+(?:$|["'\])}>,|])) | (?:^|[\[(<])\s*+(?:\.{3}|…)""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_DENIED_AFTER = re.compile(r"[\"']?\s*[:=]\s*[\"']?(?:false|no|none|null|0)\b|\s*:\s*(?:0|none)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|nothing|no|never|none|isn't|wasn't|without)(?:\s\w+)?|(?<![\d.,])0(?:\s\w+)?)\s+$", re.IGNORECASE
)
_COUNT = r"(\d{1,3}(?:,\d{3}){1,99}+|(?<!\d)\d++)"
_NOUN = r"(?:rows?|lines?|records?|items?|entries|entry|results?|matches|hits|elements?|observations|cells|genes|terms|walls|files?)"
_TOTAL_KEY = re.compile(
    rf"(?:row_?count|line_?count|record_?count|item_?count|total(?:_?(?:rows|lines|count|records|items|results|significant))?"
    rf"|n_?(?:rows|lines|records|items)|num_?(?:rows|lines|records|items))[\"']?\s*[:=]\s*{_COUNT}(?![\w.])",
    re.IGNORECASE,
)
_N_OF_TOTAL = re.compile(rf"{_COUNT}\s+(?:out\s+)?of\s+(?:the\s+|a\s+total\s+of\s+)?{_COUNT}(?![\w.])", re.IGNORECASE)
_N_NOUN = re.compile(rf"(?<![\w.,]){_COUNT}\s+(?:\w+\s+)?{_NOUN}\b", re.IGNORECASE)
_LEFT_OUT = re.compile(
    rf"{_COUNT}\s+(?:more\s+)?(?:{_NOUN}\s+)?(?:more|left\s+out|omitted|elided|not\s+shown|truncated|remaining|hidden|skipped)\b"
    rf"|(?:omitted|elided|skipped|left\s+out|truncated)[\"']?\s*+(?:[:=]\s*+)?{_COUNT}(?![\w.])",
    re.IGNORECASE,
)
_HINTS = (
    "truncat", "elided", "omi", "abridged", "abbreviated", "shortened", "clipped", "snipped", "redacted", "left out", "cut off", "cut short",
    "cut at", "cut here", "not shown", "not displayed", "not included", "not listed", "first ", "last ", "top ", "shown", "showing", " more",
    " others", "remaining", "further", "additional", "hidden", "removed", "cleared", "dropped", "masked", "pruned", "compacted", "for brevity",
    "stored ", "saved ", "full output", "full result", "full text", "full content", "same ", "identical ", "unchanged ", "repeated ",
    "summary of", "summari", "condensed", "...", "…",
)  # fmt: skip
"""Every marker holds one of these."""

_KEY_HINTS = ("count", "total", "n_", "num", "nrows", "nlines", "nrecords", "nitems")
_NOUN_HINTS = ("row", "line", "record", "item", "entr", "result", "matches", "hits", "element", "observation", "cells", "genes", "terms",
               "walls", "file")  # fmt: skip
_LEFT_OUT_HINTS = (" more", "left out", "omitted", "elided", "not shown", "truncated", "remaining", "hidden", "skipped")
_ENDS_CHARS = 4_000
_PLACEHOLDER_CHARS = 200
_AROUND = 12  # characters on either side by which a marker is found again in the untruncated text

_SHOWING = """
handle reference stored saved store save full rest omitted truncated elided summary summarized summarised result results output outputs content
conversation context window history tool tools above below earlier previous later retrieve read reading showing shown show following line lines
row rows table tables column columns item items character characters chars char byte bytes token tokens file files path page pages section head
tail total count size length limit limits long large short left more less too see use call run again rerun command view details data text
messages note notice removed cleared hidden dropped pruned compacted compressed condensed shortened skipped repeated identical duplicate same
original untruncated complete entire whole part parts preview available needed need offset range start end legend keys key format search grep
observation observations response responses old new step steps middle beginning memory space json csv markdown yaml returned type kind image
"""
OF_SHOWING = frozenset(_SHOWING.split())
"""Words that say how a result is shown, and nothing of what it says."""


def marker(shown: str, untruncated: str, *, pointers: bool = True, texts: Texts | None = None) -> str | None:
    """The first marker in a shown text that the untruncated text does not have there; None where it has none.

    `pointers`: words that only say where the result is kept (stored as, full output at) count.

    >>> marker("abc [2 lines left out]", "abc\\nd\\ne"), marker("says: truncated", "it says: truncated data")
    ('left out', None)
    >>> marker('{"truncated": false}', "abc"), marker("abc...", "abcdef")
    (None, '...')
    """
    plain = (texts or Texts()).plain
    whole_lines: set[str] = set()  # of the untruncated text: what stands in one of these is not the strategy's own
    for text in dict.fromkeys((shown, plain(shown))):
        for line in _hinted_lines(text, _HINTS):
            whole_lines = whole_lines or {*untruncated.split("\n"), *plain(untruncated).split("\n")}
            for found in () if line in whole_lines else _MARKER.finditer(line):
                before, after = line[max(0, found.start() - 24) : found.start()], line[found.end() : found.end() + 16]
                if _DENIED_AFTER.match(after) or _DENIED_BEFORE.search(before):
                    continue
                if not pointers and found.group().lower().startswith(("stored ", "saved ", "full ")):
                    continue
                own = line[max(0, found.start() - _AROUND) : found.end() + _AROUND]
                if own not in untruncated and own not in plain(untruncated):
                    return found.group().strip()
    return None


def _hinted_lines(text: str, hints: Sequence[str]) -> Iterator[str]:
    """The lines of a text with one of these in them, whatever their case: most texts have none, and finding that out must cost little."""
    lower = text.lower()
    hints = [hint for hint in hints if hint in lower]
    if hints:
        for line in text.split("\n"):
            lower = line.lower()
            if any(hint in lower for hint in hints):
                yield line


def stated_totals(text: str) -> tuple[int, ...]:
    """The totals that a text states at either end, distinct: counts under a key that names one, `5 of 276`, `276 rows`, in this order.

    Looked at are its first and last 4,000 characters.

    >>> stated_totals('{"row_count": 36, "message": "Showing 5 of 36 rows"}'), stated_totals("1,234 lines; 7.5 m")
    ((36,), (1234,))
    """
    looked_at = text if len(text) <= 2 * _ENDS_CHARS else text[:_ENDS_CHARS] + "\n" + text[-_ENDS_CHARS:]
    found = [match.group(1) for line in _hinted_lines(looked_at, _KEY_HINTS) for match in _TOTAL_KEY.finditer(line)]
    found += [match.group(2) for line in _hinted_lines(looked_at, (" of ",)) for match in _N_OF_TOTAL.finditer(line)]
    found += [match.group(1) for line in _hinted_lines(looked_at, _NOUN_HINTS) for match in _N_NOUN.finditer(line)]
    return tuple(dict.fromkeys(_number(item) for item in found))


def stated_left_out(text: str) -> tuple[int, ...]:
    """Return the counts of rows, lines or characters that a text says were left out, distinct and in order.

    >>> stated_left_out("[112 lines left out]"), stated_left_out("… 7 more rows"), stated_left_out("7 rows")
    ((112,), (7,), ())
    """
    found = [match for line in _hinted_lines(text, _LEFT_OUT_HINTS) for match in _LEFT_OUT.finditer(line)]
    return tuple(dict.fromkeys(_number(match.group(1) or match.group(2)) for match in found))


def shown_count(text: str) -> int:
    """Count the rows or items of a shown text, else its lines; a stated total is compared with this."""
    try:
        value = parse_some(text)
    except NothingParsed:
        return len(lines_of(text))
    return max(1, len(flatten(value).rows), *(len(node) for node in nested(value) if isinstance(node, list)))


def says_more(texts: Iterable[str]) -> int | None:
    """The largest total stated in texts where it is larger than what they show; None where none is."""
    texts = list(texts)
    total = max((total for text in texts for total in stated_totals(text)), default=0)
    return total if total > sum(map(shown_count, texts)) else None


def notice(shown: Iterable[str], untruncated: str, texts: Texts, *, in_its_place: bool = True) -> str | None:
    """Return the words in the shown texts that say something was left out; None where nothing does.

    `in_its_place` is whether they stand where the untruncated text stood: a short text without any of its facts is a notice there, and nowhere else.

    >>> whole = '[{"id": 1}, {"id": 2}]'
    >>> [notice([f'{{"total": {total}, "records": [{{"id": 1}}]}}'], whole, Texts()) for total in (1, 2)]
    [None, 'states a total of 2']
    """
    shown = list(shown)
    for text in shown:
        found = marker(text, untruncated, texts=texts)
        if found:
            return f"says {found!r}"
        if in_its_place and is_placeholder(text, untruncated, texts):
            return f"shows {text.strip()!r} in its place"
    total = says_more(shown)
    return None if total is None else f"states a total of {total}"


def is_placeholder(shown: str, untruncated: str, texts: Texts) -> bool:
    """True if a text only replaces a result: short, no part of it, and without any of its facts.

    Data is none: a list with fewer rows does not say that it is shorter.
    """
    text = shown.strip()
    if not text or len(text) > _PLACEHOLDER_CHARS or text in untruncated:
        return False
    with suppress(NothingParsed):
        parse_some(text)
        return False
    return len(texts.missing(text, texts.facts(untruncated))) == len(texts.facts(untruncated))


def _number(text: str) -> int:
    return int(text.replace(",", "")[:18])
