"""Dates and times of day, in one spelling for the many ways in which people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = (
    r"(?P<month>jan(?:uary?)?|feb(?:ruary?)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_COMPACT = re.compile(r"(?<!\w)(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:\d\d)?(?=Z|\b)")
"""Matches a date and time as calendars write them: 20260211T090000Z."""

_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})(?!\d)",
        r"(?<![\d/])(?P<year>\d{4})/(?P<number>\d{1,2})/(?P<day>\d{1,2})(?![\d/])",
        rf"\b{_NAME} {{1,2}}{_DAY}\b(?!:\d)(?:,? (?P<year>\d{{4}})\b)?",
        rf"\b{_DAY}(?:,(?= \w+,? \d{{4}}))? (?:of )?{_NAME}(?:,? (?P<year>\d{{4}})\b)?",
        r"(?<!\d)(?P<number>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)",
        r"(?<![\d.])(?P<day>\d{1,2})\.(?P<number>\d{1,2})\.(?P<year>\d{4})(?![\d.]*\d)",
        r"(?<!\d)(?P<day>1[3-9]|2\d|3[01])/(?P<number>\d{1,2})/(?P<year>\d{4})(?!\d)",
    )
)
_YEAR = re.compile(r"\d{4}")
_MONTH_AND_YEAR = re.compile(
    rf"\b{_NAME}.{{0,7}}\b\d{{4}}\b|\d[/.]\d{{4}}|\d{{4}}/\d", re.IGNORECASE
)
_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?(?:\s*(?P<half>[ap])\.?m\b)?(?![\d:])"
    r"|(?<![\d:.])(?P<hour_alone>\d{1,2})\s*(?P<half_alone>[ap])\.?m\b",
    re.IGNORECASE,
)

_OFFSET = re.compile(r"(?<=\d\d:\d\d:\d\d)[+-]\d\d:?\d\d\b")
_HALF_DAY = re.compile(r"(?<![\d:.])(\d{1,2})(:\d{2}(?::\d{2})?)\s?([ap])\.?m\b", re.IGNORECASE)
_DATE_AND_CLOCK = re.compile(r"(?<=\d)(?:[Tt]|, ?| )(?=\d\d:\d\d)")
NEXT_DAY = re.compile(r" \(?(?:the )?(?:next|following) day\b\)?")
"""Matches words behind a time of day that say it is on the next day."""

_MOST_CHARS = 30

Place = tuple[int, int]


def dates_in(text: str) -> Iterator[tuple[str, Place]]:
    """Yield each date in a text as `month-day`, with its place. The year is left out, since the dates
    of one run seldom differ only in the year.

    >>> [date for date, _ in dates_in("2024-05-22, May 22nd, 22 May 2024, 05/22/2024, 22/05/2024 and 22.05.2024")]
    ['5-22', '5-22', '5-22', '5-22', '5-22', '5-22']
    """
    for match in _COMPACT.finditer(text):
        yield f"{int(match[2])}-{int(match[3])}", match.span()
    small, has_year = text.casefold(), _YEAR.search(text) is not None
    has_month = any(map(small.__contains__, _MONTHS))
    for form in _FORMS:
        may_match = has_month if "month" in form.groupindex else has_year
        for match in form.finditer(text) if may_match else ():
            parts = match.groupdict()
            name = parts.get("month")
            month = _MONTHS.index(name[:3].casefold()) + 1 if name else int(parts["number"])
            if 1 <= month <= 12 and 1 <= int(parts["day"]) <= 31:
                yield f"{month}-{int(parts['day'])}", match.span()


def with_plain_moments(text: str) -> str:
    """A text with its dates as `2026-10-02` and its 12-hour times in 24 hours. A date without a year
    is unchanged.

    >>> with_plain_moments("sent on Friday 02, October 2026 at 1:30:41 PM, due May 22nd")
    'sent on Friday 2026-10-02 at 13:30:41, due May 22nd'
    """
    if ":" in text:
        text = _HALF_DAY.sub(_plain_time, text)
    if not (_YEAR.search(text) and _MONTH_AND_YEAR.search(text)):
        return text
    for form in _FORMS[1:]:
        text = form.sub(_plain_date, text)
    return text


def _plain_date(match: re.Match[str]) -> str:
    parts = match.groupdict()
    name, day = parts.get("month"), int(parts["day"])
    month = _MONTHS.index(name[:3].casefold()) + 1 if name else int(parts["number"])
    is_date = parts["year"] and 1 <= month <= 12 and 1 <= day <= 31
    return f"{parts['year']}-{month:02}-{day:02}" if is_date else match.group()


def _plain_time(match: re.Match[str]) -> str:
    hours = int(match[1]) % 12 + (12 if match[3] in "pP" else 0)
    return f"{hours:02}{match[2]}"


def without_offsets(text: str) -> str:
    """A text without the UTC offsets of its times, which are no times of day themselves.

    >>> without_offsets("from 13:25:36+01:00 to 14:00-15:30")
    'from 13:25:36 to 14:00-15:30'
    """
    return _OFFSET.sub("", text)


def times_in(text: str) -> Iterator[tuple[str, Place]]:
    """Yield each time of day of a text as `hour:minute` in 24 hours, with its place.

    >>> [time for time, _ in times_in("20240522T114500Z, 11:30 PM, 23:30:00 and 9 am")]
    ['11:45', '23:30', '23:30', '9:00']
    """
    for match in _COMPACT.finditer(text):
        yield f"{int(match[4])}:{match[5]}", match.span()
    for match in _TIME.finditer(text):
        hour, half = int(match["hour"] or match["hour_alone"]), match["half"] or match["half_alone"]
        if half:
            hour = hour % 12 + (12 if half in "pP" else 0)
        yield f"{hour}:{match['minute'] or '00'}", match.span()


@lru_cache(maxsize=1 << 12)
def moment_of(text: str) -> str:
    """The date with its year, the time of day, or both, that a text consists of; "" for any other
    text. `+1` is the next day.

    >>> [moment_of(text) for text in ("2024-05-22", "22 May 2024", "15:30:00+1", "3:30 PM (next day)", "15:30:07")]
    ['2024-5-22', '2024-5-22', '15:30+1', '15:30+1', '']
    >>> moment_of("15 May 2024, 15:00:00") == moment_of("2024-05-15T15:00")
    True
    """
    if len(text) > _MOST_CHARS:
        return ""
    text = NEXT_DAY.sub("+1", text)
    parts = _DATE_AND_CLOCK.split(text, 1)
    if len(parts) > 1:
        moments = list(map(moment_of, parts))
        return " ".join(moments) if all(moments) else ""
    if text[-2:-1] == "+" and ":" in (clock := moment_of(text[:-2])):
        return clock + text[-2:]
    full_span = 0, len(text)
    if years := re.findall(r"\b\d{4}\b", text):
        for date, span in dates_in(text):
            if span == full_span:
                return f"{years[0]}-{date}"
    has_seconds = re.search(r":\d\d:(?!00)", text)
    times = (time for time, span in times_in(text) if span == full_span)
    return "" if has_seconds else next(times, "")
