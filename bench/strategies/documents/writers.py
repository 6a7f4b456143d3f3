"""Writer `extractive`: a summary made of the messages' own lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...model import Message, lines_of
from ...plugins.registry import register
from ...text.facts import find_facts
from ..settings import Count


@register("writer", "extractive")
def extractive(
    messages: Sequence[Message], *, max_chars: Count = 2000, line_chars: Count = 160, lines_per_message: Count = 8
) -> str:
    """The messages' own lines that state most facts for their length, in order, under their roles.

    Deterministic and offline. At most `max_chars` characters, header included; of each message the
    first and last lines compete (`lines_per_message` in all), cut at `line_chars`. Lines of an
    earlier summary compete as they are. No messages give the header alone.

    Source: Luhn 1958, "The Automatic Creation of Literature Abstracts": the sentences that say
    most, as they stand

    >>> print(extractive([Message(role="user", text="Count the rows of data/cells.csv\\nplease", kind="user")]))
    Summary of 1 earlier messages:
    user: Count the rows of data/cells.csv
    user: please
    """
    header = f"Summary of {len(messages)} earlier messages:"
    room = max_chars - len(header)
    candidates = list(_candidates(messages, line_chars, lines_per_message))
    chosen: list[int] = []
    for position in _by_worth(candidates):
        line = candidates[position][0]
        if len(line) + 1 <= room:
            chosen.append(position)
            room -= len(line) + 1
    return "\n".join([header, *(candidates[position][0] for position in sorted(chosen))])[:max_chars]


def _candidates(
    messages: Sequence[Message], line_chars: int, lines_per_message: int
) -> Iterator[tuple[str, list[str], bool]]:
    """Each line that competes, once: under its role, its facts, and True where it opens a message."""
    seen: set[str] = set()
    for message in messages:
        lines = lines_of(message.text)
        if message.kind == "made":
            offered = lines[1:]  # the first line is the earlier summary's header
        else:
            first = lines_per_message - lines_per_message // 3
            last = lines[max(first, len(lines) - lines_per_message // 3) :] if lines_per_message >= 3 else []
            offered = [f"{message.role}: {line.strip()[:line_chars]}" for line in [*lines[:first], *last]]
        for position, line in enumerate(offered):
            if line not in seen:
                seen.add(line)
                yield line, [fact for _, fact in find_facts(line)], position == 0


def _by_worth(candidates: Sequence[tuple[str, list[str], bool]]) -> Iterable[int]:
    """The positions of the candidates by worth: short lines with rare facts, openings above all."""
    frequency = Counter(fact for _, facts, _ in candidates for fact in facts)

    def worth(position: int) -> tuple[float, int]:
        line, facts, opens = candidates[position]
        # not a set: it would add up in another order each time
        rarity = sum(1 / frequency[fact] for fact in dict.fromkeys(facts))
        return (rarity + (1.0 if opens else 0.25)) / (20 + len(line)), position

    return sorted(range(len(candidates)), key=worth, reverse=True)
