"""Names in prose, character by character."""

from __future__ import annotations

import re
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
        if at >= free[0] and (match := NAME.match(line, at)):
            free[0] = end = match.end()
            name = _proper(line, at, end, lower)
            found[0] += [("proper", name)] if name else []
        if at >= free[1] and (match := NUMBERED.match(line, at)) and match[1] not in REPORTED:
            free[1] = end = match.end()
            found[1].append(("proper", " ".join(line[at:end].split())))
        end = run(line, at, lambda char: "A" <= char <= "Z")
        after = line[end : end + 1]
        if at >= free[2] and end - at >= 3 and not is_word(after) and after not in ("'", "-"):
            free[2] = end
            found[2] += [("name", line[at:end])] if line[at:end].casefold() not in lower else []
    for of_sort in found:
        yield from of_sort


WORD = r"[A-Z][a-zà-öø-ÿ]+(?:[-'’][A-Za-zà-öø-ÿ]+)*"
NAME = re.compile(rf"{WORD}(?:[ \t]+(?:(?:{'|'.join(JOINING)})[ \t]+)?{WORD})*(?![\w/])")
NUMBERED = re.compile(r"([A-Z][a-z]{2,}) #?\d{1,4}(?:, \d{4})?(?!\w)(?![.,%:)]\w)")


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
