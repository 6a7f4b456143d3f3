"""Writer `extractive`: a summary made of lines of the messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...model import Message, lines_of
from ...plugins.registry import register
from ...text.facts import find_facts
from ..settings import Count

_FIRST, _LAST, _LINE_CHARS = 6, 2, 160
"""The lines of a message that compete for a place, and the most characters of each."""


@register("writer", "extractive")
def extractive(messages: Sequence[Message], *, max_chars: Count = 2000) -> str:
    """The lines of the messages with the most facts for their length, in order, under their roles.

    Deterministic and offline. At most `max_chars` characters, header included. Candidates are the
    first and last lines of each message (8 in all), cut at the last word that ends within 160
    characters, and every line of an earlier summary as it is. Without messages it is
    the header alone.

    Source: Luhn 1958, "The Automatic Creation of Literature Abstracts": the sentences that say
    most, as they stand

    >>> print(extractive([Message(role="user", text="Count the rows of data/cells.csv\\nplease", kind="user")]))
    Summary of 1 earlier messages:
    user: Count the rows of data/cells.csv
    user: please
    """
    header = f"Summary of {len(messages)} earlier messages:"
    candidates = list(_candidates(messages))
    room = max_chars - len(header)
    chosen: list[int] = []
    for position in _by_worth(candidates):
        size = len(candidates[position].line) + 1
        if size <= room:
            chosen.append(position)
            room -= size
    lines = [candidates[position].line for position in sorted(chosen)]
    return "\n".join([header, *lines])[:max_chars]


class Candidate(NamedTuple):
    """A line that may be chosen for a summary."""

    line: str
    facts: list[str]
    opens: bool
    """True for the first line of its message."""


def _candidates(messages: Sequence[Message]) -> Iterator[Candidate]:
    """Yield each line that competes, once."""
    before: set[str] = set()
    for message in messages:
        for position, line in enumerate(_candidate_lines(message)):
            if line not in before:
                before.add(line)
                yield Candidate(line, [fact for _, fact in find_facts(line)], position == 0)


def _candidate_lines(message: Message) -> list[str]:
    """The first and last lines of a message under its role; every line of an earlier summary."""
    lines = lines_of(message.text)
    if message.kind == "made":
        return lines[1:]  # the first line is the earlier summary's header
    ends = [*lines[:_FIRST], *lines[max(_FIRST, len(lines) - _LAST) :]]
    shortened = (_to_last_word(line.strip(), _LINE_CHARS) for line in ends)
    return [f"{message.role}: {line}" for line in shortened if line]


_WORD_ENDS = re.compile(r"(?=\s)|(?<=[,;])(?=\D)")


def _to_last_word(line: str, most: int) -> str:
    """A line up to the last word that ends within `most` characters: half a word may mean something
    else.

    >>> _to_last_word("sold for 1,250 dollars", 14), _to_last_word("sold for 1,250 dollars", 11)
    ('sold for 1,250', 'sold for')
    """
    if len(line) <= most:
        return line
    ends = [match.start() for match in _WORD_ENDS.finditer(line, 0, most + 2)]
    return line[: max((end for end in ends if end <= most), default=0)]


def _by_worth(candidates: Sequence[Candidate]) -> Iterable[int]:
    """The positions of the candidates by worth: short lines with rare facts, openings above all."""
    frequency = Counter(fact for candidate in candidates for fact in candidate.facts)

    def worth(position: int) -> tuple[float, int]:
        line, facts, opens = candidates[position]
        # not a set: it would add up in another order each time
        rarity = sum(1 / frequency[fact] for fact in dict.fromkeys(facts))
        return (rarity + (1.0 if opens else 0.25)) / (20 + len(line)), position

    return sorted(range(len(candidates)), key=worth, reverse=True)
