"""The blocks of a text: lines that belong together, with the headings above them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import unescape

from ..model import grouped
from .decode import without_colours
from .line_words import words_of_line
from .small_words import is_small

_CLAUSE_END = re.compile(r"(?<=[,;.!?])\s+|\s+(?:and|but|while)\s+")
_DIRECTION = re.compile(r"[-=]>|→|\bto\b")
"""Matches a sign of what comes before what."""

_DIGIT = re.compile(r"\d")
_COUNT = re.compile(r"\d{1,2}")
_MOST_BLOCK, _MOST_CANDIDATES = 40, 2000
"""The most lines of a paragraph that is one block, and the most blocks to look at for a clause."""


class Blocks:
    """The blocks of a text, to find the words of several blocks in one clause.

    A block is a paragraph; where its lines are indented, a line with the deeper ones below it; in a
    text of one paragraph or of single lines, a line. To it belong the lines above it that are
    indented less, the first line of its paragraph where that is a heading, and the paragraph before
    that which is indented less, else the single line before it. Linear in the number of paragraphs.

    >>> blocks = Blocks("# web-1\\nowner: Ann\\nstate: ready\\n\\n# web-2\\nowner: Bob\\nstate: failed\\n\\nas of Monday")
    >>> [blocks.mixed(text) for text in ("web-1 is ready (Ann), web-2 failed", "web-1 of Bob, web-2 of Bob")]
    ['', 'web-1 of Bob,']
    >>> Blocks("A1 held\\nA2 free\\nA3 held\\nA4 free").mixed("A1, which is free, is old")
    'which is free,'
    >>> Blocks("A3 moved from K-1 to K-9\\nA4 stays").mixed("A3: K-9 -> K-1")
    'A3: K-9 -> K-1'
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    @cached_property
    def _places(self) -> dict[str, set[int]]:
        """The numbers of the lines with a word."""
        places = defaultdict[str, set[int]](set)
        for number, line in enumerate(self._lines):
            for word in _content_words(line):
                places[word].add(number)
        return dict(places)

    @cached_property
    def _blocks(self) -> list[frozenset[int]]:
        """For each line the numbers of the lines of its block and of the headings above it."""
        found: list[frozenset[int]] = [frozenset()] * len(self._lines)
        above: list[list[int]] = []  # paragraphs, each indented deeper than the one before it
        single: list[int] = []
        paragraphs = [*_paragraphs(self._lines)]
        has_blocks = sum(len(numbers) > 1 for numbers in paragraphs) > 1
        for numbers in paragraphs:
            depth = self._depth(numbers)
            while above and self._depth(above[-1]) >= depth:
                above.pop()
            is_below = bool(above) and len(above[-1]) <= _MOST_BLOCK
            headings = above[-1] if is_below else single
            is_block = has_blocks and len(numbers) <= _MOST_BLOCK
            for number, own in self._within(numbers, is_block=is_block):
                found[number] = frozenset((*own, *headings))
            above.append(numbers)
            single = numbers if len(numbers) == 1 else single
        return found

    def _depth(self, numbers: Sequence[int]) -> int:
        """The indentation of the first line of a paragraph."""
        return _indent(self._lines[numbers[0]])

    def _within(self, numbers: Sequence[int], *, is_block: bool) -> Iterator[tuple[int, list[int]]]:
        """Yield each line of a paragraph with those of its block."""
        depths = [_indent(self._lines[number]) for number in numbers]
        heading = [*self._titles.intersection(numbers[:1])]
        if len({*depths}) == 1:
            for number in numbers:
                heading = [number] if self._is_heading(number) else heading
                yield number, [*numbers] if is_block else [*heading, number]
            return
        heading += filter(self._is_heading, numbers[:1])
        above: list[int] = []
        for at, number in enumerate(numbers):
            while above and depths[above[-1]] >= depths[at]:
                above.pop()
            below = at + 1
            while below < len(numbers) and depths[below] > depths[at]:
                below += 1
            yield number, [*heading, *(numbers[it] for it in above), *numbers[at:below]]
            above.append(at)

    @cached_property
    def _titles(self) -> set[int]:
        """The first lines of paragraphs that have no digits: of all lines below, not of a record."""
        first = (numbers[0] for numbers in _paragraphs(self._lines) if len(numbers) > 1)
        return {number for number in first if not _DIGIT.search(self._lines[number])}

    def _is_heading(self, number: int) -> bool:
        """True for a line with the sign of a heading."""
        line = self._lines[number].strip()
        is_name = line.startswith("[") and line.endswith("]")
        return line.startswith("#") or line.endswith(":") or is_name or line.isupper()

    @cached_property
    def _with_line(self) -> dict[int, list[int]]:
        """The lines whose block has a line."""
        return grouped((other, number) for number, of in enumerate(self._blocks) for other in of)

    def mixed(self, line: str) -> str:
        """The first clause of a line with words of several blocks that no block has together, or
        none of what the clause before it names; "" without one."""
        if sum(map(self._may_have, {*_content_words(line)})) < 2:
            return ""
        subject: set[int] = set()
        for clause in _CLAUSE_END.split(line):
            words = [word for word in _content_words(clause) if word in self._places]
            own = self._of_words(clause)
            if own is None or not words:
                continue
            if not own or self._is_turned(clause, words, own):
                return clause
            if any(len(self._places[word]) == 1 for word in words):
                subject = set().union(*map(self._blocks.__getitem__, own)) - self._titles
            elif subject and all(self._blocks[it].isdisjoint(subject) for it in own):
                return clause
        return ""

    def _may_have(self, word: str) -> bool:
        """False for a word with letters that certainly no line has."""
        return word in self._plain or not any(map(str.isalpha, word))

    @cached_property
    def _plain(self) -> str:
        """The text in the form in which it has its words with letters."""
        text = without_colours(unescape("\n".join(self._lines)))
        return text.casefold().replace("_", " ")

    def below_another(self, heading: str, line: str) -> bool:
        """True if no block has the words of a heading and those of a line below it together, though
        some have each.

        >>> blocks = Blocks("07:10 axis=Y door open\\n07:20 axis=Z door open\\n07:30 axis=Y tool worn")
        >>> [blocks.below_another(text, "07:10 door open") for text in ("axis Y:", "axis Z:", "Doors:")]
        [False, True, False]
        """
        own, other = self._of_words(heading), self._of_words(line)
        return own is not None and other is not None and bool(own and other) and not own & other

    def _of_words(self, text: str) -> set[int] | None:
        """The lines whose block has all words of a text that some line has; None for too many."""
        places = [self._places[word] for word in {*_content_words(text)} if word in self._places]
        rarest = min(places, key=len, default=set[int]())
        candidates = {other for it in rarest for other in self._with_line.get(it, ())}
        if len(candidates) > _MOST_CANDIDATES:
            return None
        return {it for it in candidates if not any(map(self._blocks[it].isdisjoint, places))}

    def _is_turned(self, clause: str, words: Sequence[str], numbers: set[int]) -> bool:
        """True if a clause says what comes before what, and the lines with all of its words have
        them in another order."""
        lines = {number for number in numbers if all(number in self._places[it] for it in words)}
        if not lines or not _DIRECTION.search(clause):
            return False
        return not any(_in_order(words, _content_words(self._lines[number])) for number in lines)


def _in_order(words: Sequence[str], original: Sequence[str]) -> bool:
    """True if some words stand in their order among the words of a line."""
    rest = iter(original)
    return all(word in rest for word in dict.fromkeys(words))


def _paragraphs(lines: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of the lines of each paragraph."""
    numbers: list[int] = []
    for number, line in enumerate((*lines, "")):
        if line.strip():
            numbers.append(number)
        elif numbers:
            yield numbers
            numbers = []


def _content_words(line: str) -> list[str]:
    """The words of a line that state something, without counts."""
    return [
        word
        for word in words_of_line(line)
        if any(map(str.isalnum, word)) and not is_small(word) and not _COUNT.fullmatch(word)
    ]


def _indent(line: str) -> int:
    """The blanks and drawn lines before the words of a line."""
    return len(line) - len(line.lstrip(" \t│├└─┬|`"))
