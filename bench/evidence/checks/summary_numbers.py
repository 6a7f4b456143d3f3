"""The numbers in summaries: known ones, counts, and numbers computed from others. The rest is
invented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from ...text.numbers import number_value
from ...text.omissions import says_omission
from ...text.worked_out import worked_out
from ..generated_text import GeneratedText
from ..of_replay import ReplayEvidence
from ..row_counts import NEAR, counts_of, line_counts

_NUMBER = re.compile(
    r"(?<![\w.@])(?:(?<!\d,)\d{1,3}(?:,\d{3})+(?!,?\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w]|\.\d)(\s?%)?"
)
_FEWEST_DIGITS = 2
_MOST_TERMS = 500


class SummaryNumbers:
    """The numbers of a text that shows no single result."""

    def __init__(self, evidence: ReplayEvidence, generated: GeneratedText) -> None:
        self._evidence, self._generated, self._session = evidence, generated, generated.session

    def unsupported(self, text: str, sentence: str, paragraph: Sequence[str]) -> Iterator[str]:
        """Yield the numbers in a text, the unknown words of a sentence, that no message has, that
        count nothing, and that cannot be computed from others in the text or its paragraph."""
        matches = [*_NUMBER.finditer(text)]
        values = [number_value(match[0].rstrip("%, ")) for match in matches]
        for match, value in zip(matches, values, strict=True):
            if self._counts(value, sentence) or self._is_known(value, match[0].rstrip("%, ")):
                continue
            terms = [*islice(chain(values, _numbers_of(paragraph)), _MOST_TERMS)]
            if not worked_out(value, terms, percent=bool(match[1])):
                yield value

    def _is_known(self, value: str, written: str) -> bool:
        """True if a number has one digit, or messages have it, or each of its parts (`12,500`)."""
        known = self._session.mentions.numbers
        parts = map(number_value, written.split(","))
        has_one_digit = len(value.replace(".", "")) < _FEWEST_DIGITS
        return has_one_digit or value in known or known.issuperset(parts)

    def _counts(self, value: str, sentence: str) -> bool:
        """True if a number counts characters, lines or messages of the recording or the summary."""
        if not value.isdigit():
            return False
        count = int(value[:18])
        return (
            count in self._sizes
            or (f"{value} lines" in sentence and count in self._line_counts)
            or count in self._own_size
            or any(abs(count - other) <= NEAR for other in self._replaced)
            or (count <= self._largest and says_omission(sentence, "") != "")
        )

    @cached_property
    def _own_size(self) -> frozenset[int]:
        return counts_of(self._generated.text)

    @cached_property
    def _sizes(self) -> frozenset[int]:
        """The sizes of the recorded messages."""
        messages = self._evidence.messages
        return frozenset(len(message.text) for message in messages.messages[: messages.recorded])

    @cached_property
    def _largest(self) -> int:
        return max(self._sizes)

    @cached_property
    def _line_counts(self) -> frozenset[int]:
        """The numbers of lines of the recorded messages."""
        messages = self._evidence.messages
        texts = (message.text for message in messages.messages[: messages.recorded])
        return frozenset(count for text in texts for count in line_counts(text))

    @cached_property
    def _replaced(self) -> tuple[int, int, int]:
        """The counts of messages that a summary may replace: all of its thread before its first
        prompt, those missing there, and those dropped with it."""
        evidence = self._evidence
        first = evidence.first_call(self._generated.number)
        call = evidence.walked.calls[first]
        before = (step for step in evidence.trace.steps if step.index < call.step)
        steps = {step.index for step in before if step.thread == call.thread}
        recorded = [number for step, number in evidence.index.full.items() if step in steps]
        still_there = sum(evidence.is_in_prompt(number, first) for number in recorded)
        return len(recorded), len(recorded) - still_there, len(evidence.walked.left[first])


def _numbers_of(paragraph: Sequence[str]) -> Iterator[str]:
    """Yield the numbers of a paragraph, the last line first."""
    for line in reversed(paragraph):
        yield from (number_value(match[0].rstrip("%, ")) for match in _NUMBER.finditer(line))
