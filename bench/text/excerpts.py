"""Excerpts: texts that show parts of another one in their order, with words of their own in between.

Whoever knows the gaps of a text exactly need not read it: what it shows is right, and each of its
own words stands beside what is missing there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from typing import Any, NamedTuple
from unicodedata import is_normalized, normalize

from .reading import expanded, without_numbers
from .cut import most

_NOTICE_CHARS, _SOUGHT_CHARS, _SURE_CHARS = 200, 24, 8
"""The most that stands in a gap, what is looked for behind it, and the least that is no accident."""

_LONG_CHARS = 1_000_000
"""Of a longer text nothing but the number of its blanks makes no difference."""

_STOP = re.compile(r"\n\s*|(?:[\])}>…]|\.{3})\s*|[\"']")
"""Behind each of these a text may go on with the other one."""

_MARK_BEGINS = re.compile(r"[\n…\[(<]|\.{3}")
_BLANKS = re.compile(r"[^\S\n]*\n\s*|[^\S\n]+")
_LOOSE = re.compile(r"\s?([{}\[\]:,\"])\s?")


class Gap(NamedTuple):
    """A place where a text has words of its own, or leaves something of the other text out."""

    words: str
    missing: str


IsNotice = Callable[[Gap], bool]
"""True for the words of a gap that say that something is left out there."""


IsNotice = Callable[[Gap], bool]
"""True for a gap of which the words say that something is left out there, and nothing else."""


def gaps_of(shown: Any, full: Any, is_notice: IsNotice) -> list[Gap] | None:
    """The gaps of a text in another one, or of the texts in a value in those of another; None if it shows anything else.

    Each gap is a notice, or at an end of the text and silent. Mappings have the same keys in any
    order. Blanks, line numbers in front of all lines, entities and short names with a legend make
    no difference.

    >>> def gaps(shown, full):
    ...     return gaps_of(shown, full, lambda gap: "omitted" in gap.words or "(+" in gap.words)
    >>> gaps("rows 1 to 3 of the walls\\n[2 lines omitted]\\nrow 6", "rows 1 to 3 of the walls\\n4\\n5\\nrow 6")
    [Gap(words='[2 lines omitted]', missing='4\\n5')]
    >>> gaps({"n": 1, "log": "Error: dis… (+6)"}, {"log": "Error: disk full", "n": 1})
    [Gap(words='… (+6)', missing='k full')]
    >>> gaps("P1 = /usr/lib\\n1  P1/a\\n2  P1/b", "/usr/lib/a\\n/usr/lib/b"), gaps("user found", "user not found")
    ([], None)
    """
    if isinstance(full, str):
        ways = _ways(shown, full) if isinstance(shown, str) else ()
        return next((gaps for way in ways if (gaps := _aligned(*way, is_notice)) is not None), None)
    if isinstance(full, dict) and isinstance(shown, dict) and shown.keys() == full.keys():
        return _of_all(((shown[key], item) for key, item in full.items()), is_notice)
    if isinstance(full, list) and isinstance(shown, list) and len(shown) == len(full):
        return _of_all(zip(shown, full, strict=True), is_notice)
    return [] if type(shown) is type(full) and shown == full and not isinstance(full, dict | list) else None


def _of_all(pairs: Iterable[tuple[Any, Any]], is_notice: IsNotice) -> list[Gap] | None:
    """The gaps of some values in others; None if one of them shows anything else."""
    gaps: list[Gap] = []
    for shown, full in pairs:
        of_pair = gaps_of(shown, full, is_notice)
        if of_pair is None:
            return None
        gaps += of_pair
    return gaps


def _ways(shown: str, full: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the ways in which two texts are compared: as they are written, then without what makes no difference.

    The last one of each says that a line break is a blank.
    """
    yield shown, full, False
    if max(len(shown), len(full)) > _LONG_CHARS:
        yield " ".join(shown.split()), " ".join(full.split()), True
        return
    folded = _folded(full)
    yield _folded(shown), folded, True
    plain = without_numbers(expanded(shown, full))
    plain = unescape(plain) if "&" in plain and "&" not in full else plain
    if plain != shown:
        yield plain, full, False
        yield _folded(plain), folded, True


def _folded(text: str) -> str:
    """A text with one blank or line break for any run of them, none beside the signs of JSON, and composed characters."""
    text = text if is_normalized("NFC", text) else normalize("NFC", text)
    text = _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text.strip())
    return _LOOSE.sub(r"\1", text)


def _aligned(shown: str, full: str, flat: bool, is_notice: IsNotice) -> list[Gap] | None:
    """The gaps of a text in another one, as both are written; `flat`: a line break is a blank."""
    one, other = (shown.replace("\n", " "), full.replace("\n", " ")) if flat else (shown, full)
    gaps: list[Gap] = []
    at = place = 0
    while True:
        shared = _shared(one, at, other, place)
        at, place = at + shared, place + shared
        if at == len(one):
            return [*gaps, Gap("", full[place:])] if place < len(full) else gaps
        while 0 < at and 0 < place and one[at - 1 : at + 1].isalnum() and len(one[at - 1 : at + 1]) == 2:
            at, place = at - 1, place - 1  # a notice begins with a word
        if one[at].isalnum() and shown[:at].rpartition("\n")[2].strip():
            return None
        end, start = next(_resumed(one, at, other, place), (len(one), len(other)))
        gap = _gap(shown[at:end], full[place:start])
        if end - at > _NOTICE_CHARS or not (is_notice(gap) if gap.words else at == 0):
            return None
        gaps.append(gap)
        if end == len(one):
            return gaps
        at, place = end, start


def _gap(words: str, missing: str) -> Gap:
    """A gap without the blanks in which both of its texts end."""
    blanks = missing[len(missing.rstrip()) :]
    if blanks and words.endswith(blanks):
        return Gap(words[: -len(blanks)], missing[: -len(blanks)])
    return Gap(words, missing)


def _shared(one: str, at: int, other: str, place: int) -> int:
    """The number of characters that two texts share from a place of each."""
    size, done, step = min(len(one) - at, len(other) - place), 0, 64
    while done < size and one[at + done : at + done + step] == other[place + done : place + done + step]:
        done, step = done + step, 2 * step
    high = min(step, size - done)
    return size if high <= 0 else done + most(high, lambda n: one.startswith(other[place + done : place + done + n], at + done))


def _resumed(one: str, at: int, other: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield the places of both texts, behind a gap that begins at these, from which the one goes on with the other."""
    begins = [0] if at == 0 else []
    for end in (*begins, *(match.end() for match in _STOP.finditer(one, at, at + _NOTICE_CHARS))):
        part = one[end : end + _SOUGHT_CHARS]
        start = other.find(part, place) if part else -1
        if start < 0 and (stop := _MARK_BEGINS.search(part, _SURE_CHARS)):
            start = other.find(part[: stop.start()], place)
        if start >= 0 and (end > 0 or len(one) >= _SURE_CHARS and (other[:start].endswith("\n") or other.endswith(one))):
            yield end, start
