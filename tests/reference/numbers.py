"""Numbers in text, tried at every character: where one stands, which one it is, however it is written."""

from __future__ import annotations

from decimal import Decimal

from .reading import is_word


def run_end(text: str, at: int, allowed: object) -> int:
    """The end of a run of allowed characters."""
    while at < len(text) and allowed(text[at]):  # type: ignore[operator]
        at += 1
    return at


def number_at(text: str, at: int) -> int:
    """The end of a complete number: no word and no further fraction follows."""
    ends = [
        end for end in number_ends(text, at) if not (text[end : end + 1] == "." and text[end + 1 : end + 2].isdecimal())
    ]
    return next(iter(ends), 0)


def number_ends(text: str, at: int) -> list[int]:
    """The possible ends of a number that begins here, the best first; none within a word."""
    found = []
    whole = run_end(text, at, str.isdecimal)
    groups = whole
    while text[groups : groups + 1] == "," and len(digits := text[groups + 1 : groups + 4]) == 3 and digits.isdecimal():
        groups += 4
    if 1 <= whole - at <= 3 and groups > whole:
        found += [_fraction(text, groups), groups]
    if whole > at or text[at] == ".":
        end = _fraction(text, whole)
        found += [_power(text, end), end, whole] if end > whole else [_power(text, whole), whole]
        if whole == at:
            found.pop()  # a number that begins with a dot needs its fraction
    return [end for end in found if end > at and not is_word(text[end : end + 1])]


def _fraction(text: str, at: int) -> int:
    return (
        run_end(text, at + 1, str.isdecimal) if text[at : at + 1] == "." and text[at + 1 : at + 2].isdecimal() else at
    )


def _power(text: str, at: int) -> int:
    """The end of an exponent; 0 without one."""
    if text[at : at + 1] not in ("e", "E"):
        return 0
    start = at + 1 + (text[at + 1 : at + 2] in ("+", "-"))
    end = run_end(text, start, str.isdecimal)
    return end if end > start else 0


def number_value(text: str) -> str:
    """A number written in one way: no separators, no trailing zeros."""
    plain = text.replace(",", "")
    if len(plain) > 40:
        return plain
    number = Decimal(plain)
    if number == 0:
        return f"{number.normalize():f}"
    _, digits, exponent = number.as_tuple()
    written = list(digits)
    while len(written) > 1 and written[-1] == 0:
        written.pop()
        exponent += 1
    size = len(written) - 1 + exponent
    if -7 < exponent < 16 and abs(size) < 16:
        return f"{Decimal((0, tuple(written), exponent)):f}"
    head = "".join(map(str, written))
    return f"{head[0]}{'.' + head[1:] if head[1:] else ''}e{size}"


def numbers_in(plain: str) -> set[str]:
    """Every number of a text by value; of one with separators also its parts."""
    found: set[str] = set()
    at = 0
    while at < len(plain):
        before = plain[at - 1] if at else ""
        end = 0 if is_word(before) or before == "." else number_at(plain, at)
        if end:
            text = plain[at:end]
            found |= {number_value(part) for part in [text, *text.split(",")] if part}
        at = end or at + 1
    return found
