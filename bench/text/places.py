"""The places of facts in a text: as whole words and numbers, not inside longer ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .numbers import is_number, numbers_at

_RUN = re.compile(r"\w+")
_NUMBERED = re.compile(r"([A-Z][a-z]+) #?(\d{1,4})")


def places_of(plain: str, fact: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a fact in a text as (start, end), in order.

    >>> list(places_of("a 1,250.0 b", "1250")), list(places_of("The Marianas\\nTrench", "marianas trench"))
    ([(2, 9)], [(4, 19)])
    """
    if is_number(fact):
        yield from dict.fromkeys(span for value, span in numbers_at(plain) if value == fact)
    elif " " in fact:
        between = r"(?:(?!\n\n)\W)+"
        words = between.join(map(re.escape, _RUN.findall(fact))) + r"(?!\w)"
        if numbered := _NUMBERED.fullmatch(fact):
            name, number = numbered.groups()
            next_to_name = rf"(?:(?!\n\n)[\s#*-])+{number}(?!\w)"
            behind_colon = rf"[\"'*]?:[^\w\n]*{number}(?!\w)(?![^\S\n]+\w)"
            words = f"{name}(?:{next_to_name}|{behind_colon})"
        for match in re.finditer(rf"(?<!\w){words}", plain, re.IGNORECASE):
            yield match.span()
    else:
        ends = ((start, start + len(fact)) for start in starts_of(plain, fact))
        yield from (place for place in ends if is_free(plain, *place))


def is_numbered(fact: str) -> bool:
    """True for a name with a number (`Level 3`). A text has it if blanks or a `#` stand between, or
    a colon and no word follows: in "Roof: 0 rooms" the number counts the rooms.

    >>> list(places_of("Roof: 0 rooms", "Roof 0")), list(places_of("size: 9, wide", "Size 9"))
    ([], [(0, 7)])
    """
    return _NUMBERED.fullmatch(fact) is not None


def occurs(plain: str, fact: str) -> bool:
    """True if a fact of one word, or a part of a text, occurs as written, not inside a longer word
    or number."""
    return any(is_free(plain, start, start + len(fact)) for start in starts_of(plain, fact))


def starts_of(plain: str, part: str, start: int = 0) -> Iterator[int]:
    """Yield each start of a part in a text, from a place on."""
    while (start := plain.find(part, start)) >= 0:
        yield start
        start += 1


def is_free(plain: str, start: int, end: int) -> bool:
    """True if the part of a text from `start` to `end` is not inside a longer word or number.

    >>> is_free("v0.5", 3, 4), is_free("5.25", 0, 1), is_free("of 5.", 3, 4), is_free("a_5", 2, 3)
    (False, False, True, False)
    """
    # Most facts stand between two breaks, or begin and end with one.
    before, after = plain[start - 1 : start], plain[end : end + 1]
    if before in _BREAKS and after in _BREAKS:
        return True
    if plain[start] in _BREAKS and plain[end - 1] in _BREAKS:
        return True
    if (before.isalnum() and plain[start].isalnum()) or (
        after.isalnum() and plain[end - 1].isalnum()
    ):
        return False
    return _ends(plain[start], plain[max(0, start - 2) : start][::-1]) and _ends(
        plain[end - 1], plain[end : end + 2]
    )


_BREAKS = frozenset("\n\t ,;:()[]{}'\"=<>|`") | {""}


def _ends(edge: str, beyond: str) -> bool:
    """True if a word or number ends with a character; `beyond` are the two next to it, the nearer one
    first."""
    if not beyond or not _is_word(edge):
        return True
    if _is_word(beyond[0]):
        return False
    # .5 of 0.5 is half a number.
    return not (edge.isdigit() and beyond[0] == "." and beyond[1:].isdigit())


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()
