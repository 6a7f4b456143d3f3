"""Prompts that a recording sent where it keeps every message whole: masking rules, checked against the tokens sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..tokens.counting import TokenCounter, encoding_for

EXACT = 0.0005
"""Share of the tokens sent by which a rule that nothing names may miss. True rules miss by 0.0002 at most."""
NEAR = 0.05
"""The same for a rule that the configuration names: other models' encodings differ, tool definitions lack."""

_ENCODINGS = ("o200k_base", "cl100k_base")

Edits = Mapping[int, Mapping[int, str]]
"""By the number of an answer: the new texts, first shown in its prompt, of earlier messages by number."""


@dataclass(frozen=True)
class HistoryText:
    """One message of a history: `answer` is the model's own; a masking rule counts the `observed`."""

    text: str
    answer: bool = False
    observed: bool = False
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Masking:
    """SWE-agent's LastNObservations: all observations but the first (the task) and the last `n` become one line.

    `polling` moves the boundary in steps. An observation with a tag of `keep` stays, one with a tag
    of `remove` is masked at once.
    """

    n: int
    polling: int = 1
    keep: frozenset[str] = frozenset()
    remove: frozenset[str] = frozenset()
    wording: str = "Old output omitted ({} lines)"

    def edits(self, history: Sequence[HistoryText]) -> dict[int, dict[int, str]]:
        """The placeholders that each prompt of a history shows for the first time.

        >>> task, answer = HistoryText("go", observed=True), HistoryText("", True)
        >>> old, new = HistoryText("a\\nb", observed=True), HistoryText("c", observed=True)
        >>> Masking(1).edits([task, answer, old, answer, new, answer])
        {5: {2: 'Old output omitted (2 lines)'}}
        """
        edits: dict[int, dict[int, str]] = {}
        observed: list[int] = []
        masked: set[int] = set()
        for number, entry in enumerate(history):
            if entry.observed:
                observed.append(number)
            if not entry.answer:
                continue
            end = len(observed) // self.polling * self.polling - self.n
            for place, old in enumerate(observed):
                tags = history[old].tags
                due = 1 <= place < end and not tags & self.keep
                if old not in masked and (tags & self.remove or due):
                    masked.add(old)
                    line = self.wording.format(len(history[old].text.splitlines()))
                    edits.setdefault(number, {})[old] = line
        return edits


def best_fit(
    history: Sequence[HistoryText], sent: int, candidates: Sequence[Edits], model: str | None
) -> tuple[Edits, float]:
    """The candidate whose prompts come nearest to the tokens `sent`, and by which share they miss.

    Where no model is named, each encoding of OpenAI is tried.
    """
    known, assumed = encoding_for(model)
    misses = [
        (abs(_tokens_sent(history, edits, TokenCounter(encoding).encoded) / sent - 1), place)
        for encoding in (_ENCODINGS if assumed else (known,))
        for place, edits in enumerate(candidates)
    ]
    miss, place = min(misses)
    return candidates[place], miss


def _tokens_sent(history: Sequence[HistoryText], edits: Edits, count: Callable[[str], int]) -> int:
    """The tokens of all prompts; a message has 4 more and a prompt 3, as OpenAI counts them."""
    prompt, total = 3, 0
    for number, entry in enumerate(history):
        if entry.answer:
            changed = edits.get(number, {}).items()
            prompt += sum(count(text) - count(history[old].text) for old, text in changed)
            total += prompt
        prompt += 4 + count(entry.text)
    return total
