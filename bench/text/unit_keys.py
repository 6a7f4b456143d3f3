"""Keys that end in a unit, and their values in another unit of the same kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import lru_cache

_KINDS = (
    {"mm": "0.001", "cm": "0.01", "m": "1", "km": "1000"},
    {"mm2": "0.000001", "cm2": "0.0001", "m2": "1", "km2": "1000000"},
    {"mm3": "0.000000001", "cm3": "0.000001", "l": "0.001", "m3": "1"},
    {"g": "0.001", "kg": "1", "t": "1000"},
    {"ms": "0.001", "s": "1"},
    {"cents": "0.01", "": "1"},
)
"""The units of each kind with their sizes, which differ by powers of ten, so that no digit is lost;
an amount of money without a unit is in whole units."""


_UNITS = "|".join(sorted({unit for sizes in _KINDS for unit in sizes if unit}))
_PAIR = re.compile(
    rf"(?<!\w)(?P<key>\w{{1,80}}_(?:{_UNITS}))(?P<between>[\"']?\s?[:=]\s?)"
    r"(?P<number>-?\d{1,15}(?:\.\d{1,15})?)(?![\w.])"
)


def in_known_units(text: str, names: Collection[str]) -> str:
    """A text with the numbers under keys with a unit converted to the unit of a known key.

    >>> in_known_units('{"width_mm": 2500, "price_cents": 1254}', ["width_m", "price"])
    '{"width_m": 2.5, "price": 12.54}'
    >>> in_known_units("width_mm: wide", ["width_m"]), in_known_units("width_mm: 5", ["width_mm", "width_m"])
    ('width_mm: wide', 'width_mm: 5')
    """
    if not _PAIR.search(text):
        return text
    known = _known_keys(frozenset(names))

    def converted(pair: re.Match[str]) -> str:
        if pair["key"] not in known:
            return pair[0]
        key, factor = known[pair["key"]]
        return f"{key}{pair['between']}{(Decimal(pair['number']) * factor).normalize():f}"

    return _PAIR.sub(converted, text)


@lru_cache(maxsize=256)
def _known_keys(names: frozenset[str]) -> dict[str, tuple[str, Decimal]]:
    """The known key of each one with another unit, and the factor to its unit."""
    return {key: (known, factor) for key, known, factor in _other_keys(names)}


def _other_keys(names: frozenset[str]) -> Iterator[tuple[str, str, Decimal]]:
    """Yield the known keys with another unit, each with the known key and the factor to its unit."""
    for known in names:
        for sizes in _KINDS:
            stem, _, unit = known.rpartition("_") if "" not in sizes else (known, "", "")
            if not stem or unit not in sizes:
                continue
            for other, size in sizes.items():
                key = f"{stem}_{other}"
                if other and other != unit and key not in names:
                    yield key, known, Decimal(size) / Decimal(sizes[unit])
