"""Names in prose, character by character."""

from __future__ import annotations

from collections.abc import Iterator

from .numbers import run_end as run
from .reading import is_word

_OPENERS = """
A An And Are As At Be But By Can Could Did Do Does For From Had Has Have He Her Here His How I If In Is It Its Let May More My No Not Now Of On Once
One Or Our She Should So Some Such That The Their Then There These They This Those To Was We Were What When Where Which While Who Why Will With
Would Yes You Your Also After Before Because Based First Second Third Next Finally Please Thank Thanks Sorry However Since Both All Each Another
Here's It's I'll I'm I've Let's We'll You're Don't Overall Step Note Summary
"""
OPENERS = _OPENERS.split()
"""Words that open sentences, and are capitalised for that alone."""

JOINING = ["of", "the", "de", "van", "von", "and", "for", "&"]
REPORTED = [
    "Step",
    "Figure",
    "Option",
    "Note",
    "Part",
    "Line",
    "Task",
    "Phase",
    "Section",
    "Round",
    "Table",
    "Question",
    "Answer",
]


def named(line: str, lower: frozenset[str]) -> Iterator[tuple[str, str]]:
    found: list[list[tuple[str, str]]] = [[], [], []]  # proper names, numbered things, capitals
    free = [0, 0, 0]  # where the last of each ended
    for at, char in enumerate(line):
        before = line[at - 1] if at else ""
        if not "A" <= char <= "Z" or is_word(before) or before in (".", "'", "/", "-"):
            continue
        if at >= free[0] and (end := _proper_end(line, at)):
            free[0] = end
            name = _proper(line, at, end, lower)
            found[0] += [("proper", name)] if name else []
        if at >= free[1] and (end := _numbered_end(line, at)):
            free[1] = end
            found[1].append(("proper", " ".join(line[at:end].split())))
        end = run(line, at, lambda char: "A" <= char <= "Z")
        after = line[end : end + 1]
        if at >= free[2] and end - at >= 3 and not is_word(after) and after not in ("'", "-"):
            free[2] = end
            found[2] += [("name", line[at:end])] if line[at:end].casefold() not in lower else []
    for of_sort in found:
        yield from of_sort


def _small(char: str) -> bool:
    return "a" <= char <= "z" or "à" <= char <= "ö" or "ø" <= char <= "ÿ"


def _capitalised(line: str, at: int) -> list[int]:
    """Where a capitalised word may end, its parts between hyphens or apostrophes one after the other; `[]` for none."""
    end = run(line, at + 1, _small) if "A" <= line[at : at + 1] <= "Z" else 0
    if end <= at + 1:
        return []
    ends = [end]
    while line[end : end + 1] in ("-", "'", "’") and end < len(line):
        more = run(line, end + 1, lambda char: _small(char) or "A" <= char <= "Z")
        if more == end + 1:
            break
        end = more
        ends.append(end)
    return ends


def _proper_end(line: str, at: int) -> int:
    ends = _capitalised(line, at)
    place = ends[-1] if ends else 0
    while place:
        start = run(line, place, " \t".__contains__)
        word = line[start:].replace("\t", " ").partition(" ")[0]
        begins = [start]
        if word in JOINING:
            begins.insert(0, run(line, start + len(word), " \t".__contains__))
        more = next((found for begin in begins if start > place and (found := _capitalised(line, begin))), [])
        ends += more
        place = more[-1] if more else 0
    good = [end for end in ends if not is_word(line[end : end + 1]) and line[end : end + 1] != "/"]
    return good[-1] if good else 0


def _proper(line: str, at: int, end: int, lower: frozenset[str]) -> str:
    words = line[at:end].split()
    before = line[:at].rstrip(" \t*#>-•\"'([")
    opens = not before or before[-1] in ".!?:"
    for number, word in enumerate(words):
        small = word.casefold() in lower
        if not (word in OPENERS or (small and opens and number == 0)):
            words = words[number:]
            break
        opens = False
    else:
        return ""
    if not words:
        return ""
    while words and words[0].islower():
        words = words[1:]
    if not words or all(word.casefold() in lower for word in words if word[0].isupper()):
        return ""
    if len(words) == 1 and (opens or len(words[0]) < 4 or words[0] in OPENERS):
        return ""
    return " ".join(words)


def _numbered_end(line: str, at: int) -> int:
    """A name and its number, `Room 12`, `May 22, 2024`."""
    end = run(line, at + 1, lambda char: "a" <= char <= "z")
    if end - at < 3 or line[end : end + 1] != " ":
        return 0
    if line[at:end] in REPORTED:
        return 0
    start = end + 1 + (line[end + 1 : end + 2] == "#")
    last = run(line, start, str.isdecimal)
    if not 1 <= last - start <= 4:
        return 0
    year = line[last + 2 : last + 6]
    long = last + 6 if line[last : last + 2] == ", " and len(year) == 4 and year.isdecimal() else last
    for place in (long, last):
        after = line[place : place + 1]
        if not is_word(after) and not (
            after in (".", ",", "%", ":", ")") and after and is_word(line[place + 1 : place + 2])
        ):
            return place
    return 0
