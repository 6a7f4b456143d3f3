"""True if a text says a fact, the slow way: at every place of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .numbers import numbers_in
from .reading import decoded, is_word, stands_free, unescaped


def present(fact: str, among: list[str]) -> bool:
    return any(stands(reading, fact) for text in among for reading in _readings(text))


def _readings(text: str) -> Iterator[str]:
    """A text decoded, then its lines that still hold escapes with these resolved, as often as that changes anything."""
    while True:
        yield decoded(text)
        lines = [line for line in decoded(text).split("\n") if "\\" in line]
        text = "\n".join(unescaped(line) for line in lines)
        if lines == text.split("\n") or not lines:
            return


def flat(text: str) -> str:
    """The words of a text in small letters between blanks."""
    words = "".join(char if is_word(char) else " " for char in text.casefold()).split()
    return f" {' '.join(words)} "


def stands(plain_text: str, fact: str) -> bool:
    """True if a text has a fact: a number by value, several words in a row, anything else as a complete word or number."""
    if re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", fact):
        return fact in numbers_in(plain_text)
    if re.fullmatch(r"[A-Z][a-z]+ #?[0-9]{1,4}", fact):
        return any(_beside(part, *re.findall(r"\w+", fact)) for part in plain_text.split("\n\n"))
    if " " in fact:
        return any(flat(fact) in flat(part) for part in plain_text.split("\n\n"))
    return verbatim(plain_text, fact)


def _beside(text: str, name: str, number: str) -> bool:
    """True if a name and its number have blanks and `#*-` between, or a colon if no word follows on the line."""
    found = re.findall(rf"(?i)(?<!\w){name}(\W+){number}(?!\w)(\s*\w)?", text)
    values = (re.match(r"[\"'*]*:[^\n]*$", between) and (not word or "\n" in word) for between, word in found)
    return any(values) or any(not between.strip(" \t\r\f\v\n#*-") for between, _ in found)


def verbatim(plain_text: str, fact: str) -> bool:
    """True if a text has a fact literally, not inside a longer word or number."""
    starts = range(len(plain_text) - len(fact) + 1)
    return any(plain_text.startswith(fact, at) and stands_free(plain_text, at, at + len(fact)) for at in starts)
