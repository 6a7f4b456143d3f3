"""What says that something was left out, phrase by phrase at every character.

In a phrase `#` is a whole number, `*` the rest of a word, `_` one blank, `~` up to 30 characters of one line, and `{…|…}` any one of these;
a capital `B` demands that a word ends there.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from .leaves import taken_apart
from .reading import Nothing, decoded, is_word, some

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


def _ends(line: str, at: int, phrase: str) -> list[int]:
    """Where a phrase that begins at a place ends; `[]` where it does not stand there."""
    found = _pattern(phrase).match(line, at)
    return [found.end()] if found else []


@functools.cache
def _pattern(phrase: str) -> re.Pattern[str]:
    marks = {"#": r"\d+", "*": r"\w*", "_": r"\s", "~": r".{0,30}?", "B": r"\b"}
    return re.compile("".join(marks.get(char, re.escape(char)) for char in phrase))


PHRASES = [spelled for phrase in MARKERS for spelled in _spelled(phrase)]


def _found(line: str) -> Iterator[tuple[int, int]]:
    """Every marker of a line: where it starts and ends, those that begin earlier first, no overlaps."""
    lower, at = line.lower(), 0
    while at <= len(line):
        end = _marker_at(lower, at)
        if end is None:
            at += 1
        else:
            yield at, end
            at = max(end, at + 1)


def _marker_at(line: str, at: int) -> int | None:
    if not (at and line[at - 1].isalnum()):
        for phrase in PHRASES:
            if phrase[0] == "#" or line.startswith(phrase[:2], at):
                ends = _ends(line, at, phrase)
                if ends:
                    return ends[0]
    dots = at
    while line[dots : dots + 1] == ".":
        dots += 1
    if line[at : at + 1] == "…":
        dots = at + 1
    if (dots - at >= 3 or line[at : at + 1] == "…") and _closes(line, dots):
        return dots
    start = at
    if at == 0 or line[at : at + 1] in ("[", "(", "<"):  # an ellipsis that opens a line or a bracket
        start = at + (line[at : at + 1] in ("[", "(", "<") and line[at : at + 1] != "")
        for begin in {start, at} if at == 0 else {start}:
            place = begin
            while line[place : place + 1].isspace():
                place += 1
            if line.startswith("...", place) or line.startswith("…", place):
                return place + (3 if line.startswith("...", place) else 1)
    return None


def _closes(line: str, at: int) -> bool:
    rest = line[at:].lstrip()
    return rest == "" or rest[0] in "\"'])}>,|"


def marker(shown: str, untruncated: str, *, pointers: bool = True) -> str | None:
    """The first marker in a shown text that the untruncated text does not have there."""
    for text in dict.fromkeys((shown, decoded(shown))):
        for line in text.split("\n"):
            for start, end in _found(line):
                said = line[start:end]
                if _denied_after(line[end : end + 16].lower()) or _denied_before(
                    line[max(0, start - 24) : start].lower()
                ):
                    continue
                if not pointers and said.lower().startswith(POINTERS):
                    continue
                own = line[max(0, start - 12) : end + 12]
                if own not in untruncated and own not in decoded(untruncated):
                    return said.strip()
    return None


def _denied_after(after: str) -> bool:
    rest = after[1:] if after[:1] in ('"', "'") else after
    rest = rest.lstrip()
    if rest[:1] not in (":", "="):
        return False
    value = rest[1:].lstrip()
    value = value[1:] if value[:1] in ('"', "'") else value
    return any(
        value.startswith(word) and not is_word(value[len(word) : len(word) + 1])
        for word in ("false", "none", "null", "no", "0")
    )


def _denied_before(before: str) -> bool:
    if not before or not before[-1].isspace():
        return False
    for words in (1, 2):  # the denial itself, or one word between
        rest = before.rstrip()
        if words == 2:
            cut = len(rest)
            while cut and is_word(rest[cut - 1]):
                cut -= 1
            if cut == len(rest) or not cut or not rest[cut - 1].isspace():
                continue
            rest = rest[: cut - 1]
        for word in ("not", "nothing", "no", "never", "none", "isn't", "wasn't", "without"):
            if rest.endswith(word) and not is_word(rest[-len(word) - 1 : -len(word)]):
                return True
        if (rest.endswith("0") and rest[-2:-1] not in tuple("0123456789.,")) or rest == "0":
            return True
    return False


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
