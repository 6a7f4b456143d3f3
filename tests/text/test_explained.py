"""Shown values beside original ones: each kind of rewriting that says the same, and the nearest that says something else."""

from __future__ import annotations

import re

import pytest
from bench.text.explained import canonical, explained, iso_dates

# original: what says the same, what says something else
NUMBERS = [
    ("36.56", ["36.6", "37", "36.5", "36", "36.560", "+36.56", " 36.56 "], ["36.4", "36.7", "35", "38", "-36.56", "366"]),
    ("12", ["12.0", "1.2e1", "12.00"], ["11", "13", "24", "6", "120"]),
    ("2.5", ["3", "2", "2.5"], ["1", "4", "2.4", "2.6"]),
    ("-2.5", ["-3", "-2"], ["2", "3", "-1"]),
    ("123456", ["1.23e5", "1.2e5", "1.234e5", "1.235e5", "123,456", "123_456", "123 456"], ["1.22e5", "1.3e5", "123,457"]),
    ("0.25", ["25%", "25 %", ".25", "$.25", "0.3", "0.2", "250 ‰"], ["25", "26%", "2.5%", "0.5", "24%"]),
    ("2123", ["2.1k", "2.12 k", "2k", "2.1 thousand", "2.1 ki"], ["2.1", "2.2k", "3k", "2.2m", "1.9k"]),
    ("5000000", ["5M", "5 million", "4.8 MiB", "4.77 MiB"], ["6M", "50k", "4.6 MiB"]),
    ("3000000000", ["3bn", "2.8 GiB", "3 B"], ["30M", "4bn"]),
    ("7000000000000", ["7t"], ["70bn", "8t"]),
    ("1536", ["1.5 kib"], ["1.6 kib"]),
    ("12 ms", ["12", "12 m", "0.012 s", "12 ms"], ["12 kg", "13 ms", "120 ms"]),
    ("12", ["12 ms"], ["12 %", "12 k", "12 bn", "12 mio"]),
    ("$5", ["5", "$5", "$5.00"], ["€5", "$6"]),
    ("< 0.05", ["< 0.05", "<0.05"], ["0.05", "> 0.05", "≤ 0.05"]),
    ("0.05", [], ["< 0.05", "> 0.05"]),
]  # fmt: skip
OTHERS = [
    (True, [True, "true", "Yes", "y", "1", "on", "✓", "`true`"], [False, "false", "no", "2", "tru"]),
    (False, [False, "false", "No", "n", "0", "off", "✗"], [True, "true", "yes", "1", "-1"]),
    ("yes", [True, "yes"], [False]),
    ("off", [False], [True]),
    (1, [1, "1", True, 1.0], [2, False]),
    (None, [None, "", "null", "None", "NaN", "-", "n/a", "nil", "undefined", "~", "[]", "{}", "..."], ["0", "x", 0, False]),
    ("", [None, "", "null"], ["x"]),
    ("open", ["open", "ope", "OPEN", '"open"', "'open'", "`open`", "*open*", "", "..."], ["closed", "null", "opn", "-", None]),
    ("2024-05-03", ["May 3, 2024", "3 May 2024", "3rd May 2024", "May 3rd 2024"], ["May 4, 2024", "June 3, 2024"]),
]  # fmt: skip
TEXT = "The user was not found in the first region, so it is unavailable today"
CUTS = [
    (TEXT, ["The user was not found", "The user was not found in the fi", "the … region", "… day", "The user [9 words left out] it is una…",
            "The user was not found … it is unavailable", "The user was not found ... today",
            "The user was not found in the first region (40 characters omitted) today", "…", "[12 left out]", "The us"],
           ["The user was found", "the first region",
            "in … today", "user found", "region first", "The user was not found, ever", "… available today", "x", "first r … first", "t"]),
    ("W1 and W2", ["W1", "W1 and", "W1 … W2", "and W2"], ["W2 and W1", "W1 W1", "W2 … W1", "W3"]),
    ("never sell this", ["never sell", "never … this"], ["sell this", "sell"]),
    ("sell this, never that", ["sell this", "sell … that", "sell this, never"], ["sell that", "this that"]),
]  # fmt: skip


@pytest.mark.parametrize(("original", "same", "others"), [*NUMBERS, *OTHERS, *CUTS])
def test_what_says_the_same(original, same, others):
    assert [shown for shown in same if not explained(shown, original)] == []
    assert [shown for shown in others if explained(shown, original)] == []


def test_dates():
    for place, month in enumerate(re.findall("...", "JanFebMarAprMayJunJulAugSepOctNovDec"), 1):
        assert iso_dates(f"{month} 7, 2024") == iso_dates(f"7th {month}. 2024") == f"2024-{place:02}-07"
    for text in ("7 Foo 2024", "7 anf 2024", "May 7, 1824", "7 ebm 2024"):
        assert iso_dates(text) == text
    assert iso_dates("20240503_084643 2024-05-03T08:46:43Z x") == "20240503_084643 2024-05-03T08:46:43+00:00 x"


@pytest.mark.parametrize(
    ("value", "one"),
    [("1,250.50", "1250.5"), ("+7", "7"), (7, "7"), ("$7", "$7"), ("7 ms", "7 ms"), ("1e3", "1000"), ("-0.50", "-0.5"),
     ("Open ", "open"), ("1" * 29, "1" * 28 + "0"), ("1" * 30 + ".0", "1" * 30 + ".0"), (True, "true")],
)  # fmt: skip
def test_one_spelling(value, one):
    assert canonical(value) == one
