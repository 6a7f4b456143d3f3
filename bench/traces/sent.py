"""The prompts that a recording sent where it keeps every message whole: known masking rules, told apart by the sum of the tokens sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..tokens.counting import TokenCounter, encoding_for

TOLERANCE = 0.0005
"""The share by which the tokens of a rule may miss those that were sent. True rules miss by 0.0002 at most; a wrong one seldom comes so near."""

_NEAR = 0.05

_ENCODINGS = ("o200k_base", "cl100k_base")

Edits = Mapping[int, Mapping[int, str]]
"""By the number of an answer, what its prompt showed first in place of earlier messages, by their numbers."""


@dataclass(frozen=True)
class HistoryText:
    """One message of a history: `answer` is the model's own, `observed` counts for a masking rule, which may look at its `tags`."""

    text: str
    answer: bool = False
    observed: bool = False
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Masking:
    """The rule of SWE-agent's LastNObservations: all observations but the first (the task) and the last `n` are shown as one line.

    `polling` moves the boundary in steps. An observation with a tag of `keep` stays, one with a tag of `remove` goes at once.
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
        found: dict[int, dict[int, str]] = {}
        observed: list[int] = []
        done: set[int] = set()
        for at, entry in enumerate(history):
            if entry.observed:
                observed.append(at)
            if not entry.answer:
                continue
            end = len(observed) // self.polling * self.polling - self.n
            for place, number in enumerate(observed):
                tags = history[number].tags
                if number not in done and (tags & self.remove or (1 <= place < end and not tags & self.keep)):
                    done.add(number)
                    line = self.wording.format(len(history[number].text.splitlines()))
                    found.setdefault(at, {})[number] = line
        return found


def fitted(
    history: Sequence[HistoryText], sent: int, rules: Iterable[Masking | None], model: str | None
) -> Edits | None:
    """The edits of the rule whose prompts add up to the tokens `sent`; None where none does. `rules` come simplest first, None shows all.

    Where no model is named, each encoding of OpenAI is tried.
    """
    known, assumed = encoding_for(model)
    edits = [{} if rule is None else rule.edits(history) for rule in rules]
    for encoding in _ENCODINGS if assumed else (known,):
        count = TokenCounter(encoding).encoded
        misses = [(abs(_sum(history, edit, count) / sent - 1), edit) for edit in edits]
        miss, best = min(misses, key=lambda item: item[0])
        if miss <= TOLERANCE:
            return best
    return None


def fits_sent(history: Sequence[HistoryText], edits: Edits, sent: int, model: str | None) -> bool:
    """True if the prompts of a history with these edits add up to the tokens `sent`, within 5 %: encodings of
    other models differ, and tool definitions that the recording lacks show."""
    known, assumed = encoding_for(model)
    sums = [_sum(history, edits, TokenCounter(name).encoded) for name in (_ENCODINGS if assumed else (known,))]
    return any(abs(total / sent - 1) <= _NEAR for total in sums)


def _sum(history: Sequence[HistoryText], edits: Edits, count: Callable[[str], int]) -> int:
    """The tokens of all prompts: four for the frame of a message, three for that of a prompt, as OpenAI counts them."""
    prompt, total = 3, 0
    for at, entry in enumerate(history):
        if entry.answer:
            prompt += sum(count(text) - count(history[number].text) for number, text in edits.get(at, {}).items())
            total += prompt
        prompt += 4 + count(entry.text)
    return total
