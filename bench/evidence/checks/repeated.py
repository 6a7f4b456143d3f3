"""Lines and records that a text repeats more often than the result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ...model import grouped
from ...model.scores import Finding
from ...text.line_notes import repeated_line
from ...text.quantities import plain_value
from ...text.text_records import Pair, plain_key
from ..own_text import RewrittenResult

SAME = re.compile(
    r"\b(?<!not )(?<!not the )(?:same|identical|unchanged|no changes?|repeated|already (?:shown|returned|retrieved)"
    r"|as (?:in |for )?(?:the |those )?(?:first|earlier|previous|last|before|above))\b",
    re.IGNORECASE,
)
"""The words that claim that a result repeats another one."""

_BUT = re.compile(r"\b(?:except|but|changed|changes|different|differs?)\b", re.IGNORECASE)
_NOTICE_CHARS = 300
_FEWEST_WORDS, _FEWEST_PAIRS, _FEWEST_CHARS = 4, 2, 24


def repeated(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the lines and records that are repeated more often than in the result, false claims of
    a repetition, and the result of another call.

    A line counts as often as the note after it states (`line [3 times]`). A text with a notice may
    begin with a part of what follows.
    """
    claims = claims_repetition(own) and not own.shows_line and not _has_an_equal(own)
    if claims or _is_of_another(own):
        yield Finding(own.step, own.text.strip()[:200], own.result.text[:200])
    if own.gaps is not None:
        return
    shown = Counter(own.text.split("\n"))
    more = [
        line for line, count in shown.items() if count > 1 and len(line.split()) >= _FEWEST_WORDS
    ]
    known = own.session.lines_of(own.result.index)
    times = {
        line: repetition
        for line in shown
        if line not in known and (repetition := repeated_line(line))
    }
    if own.says_omission:
        more = []  # it may begin with a part of what follows
    if more or times:
        counts = Counter(
            {line: shown[line] for line in (*more, *(text for text, _ in times.values()))}
        )
        for line, (text, number) in times.items():
            counts[text] += shown[line] * number
        for line, count in counts.items():
            times_there = own.result.text.count(line)
            if count > times_there > 0:
                text = line.strip()[:160]
                yield Finding(own.step, f"{count} × {text}", f"{times_there} × {text}")
    if own.table.fields and own.text.lstrip()[:1] in ("{", "["):
        yield from _records(own)


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


def _records(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the records that a text of data repeats more often than the result."""
    table, records = own.table, own.session.messages.reading(own.text).records
    equal = grouped((_values_of(record.pairs), record.pairs) for record in records)
    for values, alike in equal.items():
        if len(alike) > 1 and len(values) >= _FEWEST_PAIRS:
            rows = map(table.pairs, range(table.record_count))
            known = sum(values <= _values_of(pairs) for pairs in rows)
            if len(alike) > known > 0:
                record = ", ".join(f"{plain_key(key)}: {text}" for key, text in sorted(alike[0]))
                record = record[:160]
                yield Finding(own.step, f"{len(alike)} × {record}", f"{known} × {record}")


def _values_of(pairs: Iterable[Pair]) -> frozenset[Pair]:
    """Keys and values as they are compared."""
    return frozenset((plain_key(key), plain_value(text)) for key, text in pairs)
