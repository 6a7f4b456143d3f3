"""Formatting of counts, shares, prices and names in sentences for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

MINUS = "−"
NOT_MEASURED = "not measured"


def count(value: float | None) -> str:
    """A count with thousands separators; a fraction has at most four digits.

    >>> count(1698.0), count(7.25), count(-3), count(None)
    ('1,698', '7.25', '−3', 'not measured')
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    is_integer = float(value).is_integer() or abs(value) >= 1000
    return (f"{value:,.0f}" if is_integer else f"{value:.4g}").replace("-", MINUS)


def counted(number: int | float, one: str, many: str = "") -> str:
    """A count with its noun.

    >>> counted(1, "run"), counted(1200, "run"), counted(2, "summary", "summaries")
    ('1 run', '1,200 runs', '2 summaries')
    """
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(share: float | None) -> str:
    """A share as percent with at most one decimal; rounding never makes it 0% or 100%.

    >>> percent(0.05), percent(0.1484), percent(0.0004), percent(0.9999), percent(None)
    ('5%', '14.8%', '<0.1%', '>99.9%', 'not measured')
    """
    if share is None or not math.isfinite(share):
        return NOT_MEASURED
    if 0 < share < 0.0005:
        return "<0.1%"
    if 0.9995 <= share < 1:
        return ">99.9%"
    return f"{share * 100:,.1f}".removesuffix(".0").replace("-", MINUS) + "%"


def dollars(value: float | None) -> str:
    """Dollars with two decimals, below a dollar with three digits.

    >>> dollars(64.478), dollars(1234.5), dollars(0.424), dollars(0.00123), dollars(0.0)
    ('$64.48', '$1,234.50', '$0.424', '$0.00123', '$0.00')
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    size = abs(value)
    places = 2 if size == 0 or size >= 1 else 2 - math.floor(math.log10(size))
    return (MINUS if value < 0 else "") + f"${size:,.{min(places, 12)}f}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence; after the first `most` the others are counted. "" without names.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], 1)
    ('a', 'a, b and c', 'a and 2 more')
    """
    first_names = (
        list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    )
    return " and ".join(filter(None, [", ".join(first_names[:-1]), *first_names[-1:]]))


def shortened(text: str, most: int = 70) -> str:
    """A text on one line; a long one without its middle, in whole words where they are short.

    >>> shortened("cat  a_long_path.txt", 10)
    'cat … h.txt'
    """
    if len(text) > 2 * _READ_CHARS:
        text = f"{text[:_READ_CHARS]} {text[-_READ_CHARS:]}"
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    first, last = flat[: most // 2], flat[-most // 2 :]
    return f"{first.rpartition(' ')[0] or first} … {last.partition(' ')[2] or last}"


_READ_CHARS = 2000


def sentence_case(text: str) -> str:
    """A text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def beginning(text: str, most: int = 200) -> str:
    """The first characters of a text; of a long one to the end of a word, with a sign that it goes
    on.

    >>> beginning("no release without approval", 12), beginning("so far")
    ('no release…', 'so far')
    """
    if len(text) <= most:
        return text
    first = text[:most]
    return (first.rpartition(" ")[0] or first).rstrip(",;:") + "…"


def at_difference(text: str, was: str, most: int = 200) -> tuple[str, str]:
    """Two texts, of which the first `most` characters show a difference: one that begins far into
    them stands behind dots.

    >>> at_difference("Loading data... 9 rows", "Loading data... 8 rows", 20), at_difference("a", "b")
    (('… 9 rows', '… 8 rows'), ('a', 'b'))
    """
    flat, flat_was = (" ".join(one.split()) for one in (text, was))
    pairs = enumerate(zip(flat, flat_was, strict=False))
    same = next((at for at, (now, then) in pairs if now != then), min(len(flat), len(flat_was)))
    start = same - most // 4
    if start <= 0 or flat == flat_was or max(len(text), len(was)) <= most:
        return text, was
    start = flat.find(" ", start, same) + 1 or start
    return f"… {flat[start:]}", f"… {flat_was[start:]}"


def quoted(text: str, most: int = 60) -> str:
    """A text in quotation marks, without the middle of one longer than `most`.

    >>> quoted("so  far")
    '"so far"'
    """
    return f'"{shortened(text, most)}"'
