"""What says that something was left out, phrase by phrase at every character.

In a phrase `#` is a whole number, `*` the rest of a word, `_` one blank, `~` up to 30 characters of one line, and `{…|…}` any one of these;
a capital `B` demands that a word ends there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .leaves import taken_apart
from .reading import Nothing, decoded, some

NOUNS = (
    "{rows|row|lines|line|records|record|items|item|entries|entry|results|result|matches|hits|elements|element|observations"
    "|cells|genes|terms|walls|files|file}"
)
OUTPUTS = "{results|result|outputs|output|contents|content|observations|observation|responses|response}"
MARKERS = [
    "truncat*", "elided*", "omitted", "omission", "omitting", "abridged", "abbreviated", "shortened", "clipped", "snipped", "redacted",
    "left out", "cut {off|short|at|here}", "not {shown|displayed|included|listed}", "only the {first|last}", "{first|last|top} #B~Bshown",
    "{shown|showing}_{first|last|top|#}", "{shown|showing}_{only|the}_{first|last|top|#}", "{shown|showing}_only_the_{first|last|top|#}",
    "{first|last|top} # of #", "and # {more|others}", "# moreB", "# {remaining|further|additional|hidden}B",
    OUTPUTS + " {|was |were |is |has been }{removed|cleared|dropped|masked|hidden|pruned|compacted}",
    "{removed|cleared|dropped|masked|pruned} {to save|for brevity|from {|the }{context|history}}", "for brevity",
    "stored {as|at|in|under}", "saved {as|at|to|under}", "full {output|result|text|content} {at|in|under|is|available}", "summary of ",
    "{summarized|summarised}", "condensed", "compacted",
]  # fmt: skip
POINTERS = ("stored ", "saved ", "full ")
KEYS = [
    "{row|line|record|item}{_|}count", "total{rows|lines|count|records|items|results|significant}",
    "total{_|}{rows|lines|count|records|items|results|significant}", "total", "{n|num}{_|}{rows|lines|records|items}",
]  # fmt: skip
ENDS = 4_000


def _spelled(phrase: str) -> Iterator[str]:
    """A phrase with every choice made."""
    start = phrase.find("{")
    if start < 0:
        yield phrase
        return
    depth, at, choices = 0, start, [start + 1]
    while True:
        depth += {"{": 1, "}": -1}.get(phrase[at], 0)
        if phrase[at] == "|" and depth == 1:
            choices.append(at + 1)
        if not depth:
            break
        at += 1
    ends = [*(place - 1 for place in choices[1:]), at]
    for first, last in zip(choices, ends, strict=True):
        yield from _spelled(phrase[:start] + phrase[first:last] + phrase[at + 1 :])


def _pattern(phrase: str) -> str:
    marks = {"#": r"\d+", "*": r"\w*", "_": r"\s", "~": r".{0,30}", "B": r"\b"}
    return "".join(marks.get(char, re.escape(char)) for char in phrase)


PHRASE = re.compile("|".join(_pattern(spelled) for phrase in MARKERS for spelled in _spelled(phrase)))
DOTS = [re.compile(pattern) for pattern in (r"(\.{3,}|…)(?=\s*($|[\"'\])}>,|]))", r"[\[(<]\s*(\.\.\.|…)")]
FIRST_DOTS = re.compile(r"\s*(\.\.\.|…)")
"""An ellipsis at the end of a line, a cell or a bracket; one that opens a bracket; one that opens a line."""


def _found(line: str) -> Iterator[tuple[int, int]]:
    """Every marker of a line: where it starts and ends, those that begin earlier first, no overlaps."""
    lower, at = line.lower(), 0
    while at <= len(line):
        patterns = ([] if at and line[at - 1].isalnum() else [PHRASE]) + DOTS + ([] if at else [FIRST_DOTS])
        match = next((found for pattern in patterns if (found := pattern.match(lower, at))), None)
        if match:
            yield at, match.end()
        at = max(match.end() if match else 0, at + 1)


def marker(shown: str, untruncated: str, *, pointers: bool = True) -> str | None:
    """The first marker in a shown text that the untruncated text does not have there."""
    for text in dict.fromkeys((shown, decoded(shown))):
        for line in text.split("\n"):
            for start, end in _found(line):
                said = line[start:end]
                before, after = line[max(0, start - 24) : start].lower(), line[end : end + 16].lower()
                if DENIED_AFTER.match(after) or DENIED_BEFORE.search(before):
                    continue
                if not pointers and said.lower().startswith(POINTERS):
                    continue
                own = line[max(0, start - 12) : end + 12]
                if own not in untruncated and own not in decoded(untruncated):
                    return said.strip()
    return None


DENIED_AFTER = re.compile(r"[\"']?\s*[:=]\s*[\"']?(false|none|null|no|0)(?!\w)")
DENIED_BEFORE = re.compile(r"((?<!\w)(not|nothing|no|never|none|isn't|wasn't|without)|(?<![\d.,])0)(\s\w+)?\s+\Z")


# ---------------------------------------------------------------- counts


COUNT = r"(\d{1,3}(?:,\d{3})+|\d+)"
WHOLE = COUNT + r"(?![\w.])"
TOTALS = [
    re.compile(f"(?:{'|'.join(word for key in KEYS for word in _spelled(key))})[\"']?\\s*[:=]\\s*{WHOLE}"),
    re.compile(rf"\d[\d,]*\s+(?:out\s+)?of\s+(?:the\s+|a\s+total\s+of\s+)?{WHOLE}"),
    re.compile(rf"(?<![\w.,]){COUNT}\s+(?:\w+\s+)?(?:{'|'.join(_spelled(NOUNS))})\b"),
]
"""A total under a key, as `5 of 276`, as `276 rows`."""


def stated_totals(text: str) -> list[int]:
    """The totals that a text states at either end."""
    looked_at = text if len(text) <= 2 * ENDS else text[:ENDS] + "\n" + text[-ENDS:]
    lines = looked_at.lower().split("\n")
    said = [found for pattern in TOTALS for line in lines for found in pattern.findall(line)]
    return list(dict.fromkeys(int(number.replace(",", "")[:18]) for number in said))


def shown_count(text: str) -> int:
    """How many rows or items a text has, else how many lines."""
    try:
        value = some(text)
    except Nothing:
        return len([line for line in text.splitlines() if line.strip()])
    return max([1, len(taken_apart(value)[0]), *_sizes(value)])


def _sizes(value: object) -> list[int]:
    below = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([len(value)] if isinstance(value, list) else []) + [size for item in below for size in _sizes(item)]


def is_noticed(shown: list[str], untruncated: str) -> bool:
    """Whether the shown texts say that something was left out."""
    if any(marker(text, untruncated) for text in shown):
        return True
    totals = [total for text in shown for total in stated_totals(text)]
    return max(totals, default=0) > sum(map(shown_count, shown))
