"""Tell if a shown value is an original one, written in another way or cut: rounding, separators, units, case, spelling of booleans and of nothing."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any

_NUMBER = re.compile(
    r"([^\w+-]{0,3}?)([+-]?(?:\d{1,3}(?:[, _]\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?\.\d+)\s*([^\d\s,.;]*)"
)
_TOKEN = re.compile(r"[^\W_]+")
LEFT_OUT = re.compile(
    r"[\[(<{][^\[\]()<>{}\"\n]{0,80}(?:omitted|truncated|left out|more|chars?|characters|elided|\.\.\.|…)[^\[\]()<>{}\"\n]{0,80}[\])>}]"
    r"|(?:…|\.{3,})\s*\d[\w ,]{0,40}(?:omitted|truncated|left out|more|elided)\s*(?:…|\.{3,})|\.{3,}|…|^</?[a-z_-]+>$",
    re.IGNORECASE | re.MULTILINE,
)
"""Words that say that something was left out here, and tags on a line of their own, which say where a part begins and ends."""

_HALF_ESCAPE = re.compile(r"^u?\d[0-9a-f]{0,3}(?=\w{2})")
"""Of an escaped character that was cut in two: before a whole word."""
_NEGATING = {"un", "in", "im", "il", "ir", "dis", "non", "not", "mis", "de", "a"}
_TRUE, _FALSE = {"true", "yes", "y", "1", "on", "✓"}, {"false", "no", "n", "0", "off", "✗"}
_NOTHING = {"", "null", "none", "nan", "-", "n/a", "na", "nil", "undefined", "~", '""', "''", "[]", "{}"}
_SCALES = (100, 1000, 10**6, 10**9, 10**12, 1024, 1024**2, 1024**3)
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH_NAMES = tuple(map("".join, zip(*[iter(_MONTHS)] * 3, strict=True)))
_MONTH, _YEAR = r"[A-Za-z]{3,9})\.?", r"(?P<year>(?:19|20)\d\d)(?!\d)"
_SPACE_YEAR = re.compile(
    r"(?:19|20)(?<=[A-Za-z\d.,]\s..)\d\d(?!\d)"
)  # begins with two digits, so that all others are passed quickly
_DAY_MONTH = re.compile(rf"(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?P<month>{_MONTH},?\s{_YEAR}")
_MONTH_DAY = re.compile(rf"(?<!\w)(?P<month>{_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{_YEAR}")
_TIME = re.compile(r"((?:19|20)(?<!\d\d\d)\d\d)-?(\d\d)-?(\d\d)[Tt ](\d\d):?(\d\d):?(\d\d)(?!\d)([Zz]\b)?")
_DATED = re.compile(r"(?:19|20)(?:(?<=[A-Za-z\d.,]\s..)\d\d(?!\d)|\d\d-?\d\d-?\d\d[Tt ]\d\d)")
_MULTIPLES = {"%", "k", "‰", "bn", "mio"}
_SIGN = re.compile(r"[<>≤≥≠$€£¥]")
_COMPARES = {"<", ">", "≤", "≥", "≠"}
_DENYING = {"not", "no", "never", "cannot", "without", "none", "neither", "nor", "t"}  # the last: of "isn't"
_MOST_CHARS = 4_000


def explained(shown: Any, original: Any) -> bool:
    """True if a shown scalar says what an original one says, with fewer digits or fewer words at most.

    >>> explained("1,250.5", 1250.5), explained(36.5, 36.52), explained("25 %", 0.25), explained("2.1K", 2123), explained(24, 12)
    (True, True, True, True, False)
    >>> explained("true", True), explained(False, True), explained(None, ""), explained(None, "open"), explained("7", 7)
    (True, False, True, False, True)
    >>> explained("The quick … dog", "The quick brown fox and the dog"), explained("cancelled", "available"), explained("2024-05-16", "2024-05-15")
    (True, False, False)
    >>> explained("it is una [9 left out] le, and op", "it is unavailable, and open"), explained("it is [2 left out] available", "it is unavailable")
    (True, False)
    >>> explained("12 s", "12 ms"), explained("user found", "user not found"), explained("> 0.05", "< 0.05"), explained("€5", "$5")
    (False, False, False, False)
    """
    if shown is original or (type(shown) is type(original) and shown == original):
        return True
    new, old = _text(shown), _text(original)
    if new == old:
        return True
    if old in _NOTHING or new in _NOTHING:
        return (new in _NOTHING and old in _NOTHING) or (not new) or new == "..."
    if isinstance(original, bool):
        return new in (_TRUE if original else _FALSE)
    if isinstance(shown, bool):
        return old in (_TRUE if shown else _FALSE)
    numbers = _NUMBER.fullmatch(new), _NUMBER.fullmatch(old)
    if numbers[0] and numbers[1]:
        return _rounded(numbers[0], numbers[1])
    return _cut(new[:_MOST_CHARS], old)


def iso_dates(text: str) -> str:
    """A text with its dates and times in one ISO form.

    >>> iso_dates("25 May 2024, May 3, 2024; 20240503T084643 and 2024-05-03 08:46:43Z")
    '2024-05-25, 2024-05-03; 2024-05-03T08:46:43 and 2024-05-03T08:46:43+00:00'
    """
    if not _DATED.search(text):
        return text
    if _SPACE_YEAR.search(text) and (small := text.casefold()) and any(month in small for month in _MONTH_NAMES):
        for dates in (_DAY_MONTH, _MONTH_DAY):
            text = dates.sub(lambda match: _iso(match["year"], match["month"], match["day"], match.group()), text)
    return _TIME.sub(
        lambda match: "{}-{}-{}T{}:{}:{}{}".format(*match.groups()[:6], "+00:00" if match[7] else ""), text
    )


def _iso(year: str, month: str, day: str, otherwise: str) -> str:
    place = _MONTHS.find(month[:3].casefold())
    return f"{year}-{place // 3 + 1:02}-{int(day):02}" if place % 3 == 0 else otherwise


def canonical(value: Any) -> str:
    """One spelling of a scalar, so that most equal ones are found by looking up; others that `explained` takes for the same are not."""
    text = _text(value)
    match = _NUMBER.fullmatch(text) if len(text) < 30 else None
    number = _decimal(match) if match and not match.group(3) and not _SIGN.search(match.group(1)) else None
    return text if number is None else f"{number.normalize():f}"


def _decimal(match: re.Match[str]) -> Decimal | None:
    try:
        return Decimal(re.sub("[, _]", "", match.group(2)))
    except InvalidOperation:
        return None


def _text(value: Any) -> str:
    return iso_dates(" ".join(str(value).split())).strip("\"'`* ").casefold()


def _rounded(shown: re.Match[str], original: re.Match[str]) -> bool:
    new, old = _decimal(shown), _decimal(original)
    signs = [_SIGN.findall(match.group(1)) for match in (shown, original)]
    if (
        new is None
        or old is None
        or (signs[0] != signs[1] and (all(signs) or _COMPARES.intersection(signs[0] + signs[1])))
    ):
        return False
    exponent = new.as_tuple().exponent
    fine = isinstance(exponent, int) and (exponent < 0 or "e" in shown.group(2))
    step = Decimal(1).scaleb(int(exponent)) if fine else Decimal(1)
    units = shown.group(3), original.group(3)
    scales = [Decimal(1)] if _same_unit(*units) else []
    if units[0] != units[1]:
        scales += [Decimal(scale) for scale in _SCALES] + [1 / Decimal(scale) for scale in _SCALES]
    for scale in scales:
        off = abs(new - old * scale)
        if off <= step / 2 or (off < step and abs(new) <= abs(old * scale)):
            return True
    return False


def _same_unit(one: str, other: str) -> bool:
    """True if a number in one unit may be the same number in the other: one begins as the other does, or is left out and is no multiple."""
    if one and other:
        return one.startswith(other) or other.startswith(one)
    return one == other or (one or other) not in _MULTIPLES


def _cut(shown: str, original: str) -> bool:
    """True if the words of a shown text stand in an original one in this order, but for words that say something was left out.

    Beside such a place, and at the end, half a word is one.
    """
    parts = [_TOKEN.findall(part) for part in LEFT_OUT.split(shown)]
    there = _TOKEN.findall(original)
    if not any(parts):
        return len(parts) > 1
    place = 0
    for index, words in enumerate(parts):
        for number, word in enumerate(words):
            begun = number == len(words) - 1 and (len(word) > 1 or index < len(parts) - 1)
            ends = {word, _HALF_ESCAPE.sub("", word)} if number == 0 and index > 0 else set()
            while place < len(there) and there[place] != word:
                if (begun and there[place].startswith(word)) or any(_is_end(end, there[place]) for end in ends):
                    break
                if there[place] in _DENYING and (number > 0 or index == 0):
                    return False  # what is left says the opposite
                place += 1
            if place == len(there):
                return False
            place += not begun or index == len(parts) - 1 or there[place] == word  # both halves may be of one word
    return True


def _is_end(half: str, word: str) -> bool:
    return word.endswith(half) and word[: -len(half)].casefold() not in _NEGATING
