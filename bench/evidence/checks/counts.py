"""Counts that a text may state of what it shows and of what it leaves out: characters, words, lines, rows, messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from ...model import as_text
from ...text.decode import decode_strings
from ..of_replay import ReplayEvidence
from .own import OwnText

_NOTICE_CHARS = 200
"""A notice is at most so long: what is left out is known to that many characters, and to two lines."""

_NEAR, _SAME_START = 2, 16
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class Counts:
    """The counts of one own text."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText) -> None:
        self._evidence, self._own = evidence, own
        self._exact: set[int] = set()
        self._rows: set[int] = set()
        self._between: list[tuple[int, int]] = []
        own_text = own.text
        self._add(own_text)
        if own.result is not None:
            others = {*range(evidence.messages.recorded), *evidence.own} - {own.number}
            shown = map(evidence.messages.messages.__getitem__, others)
            texts = {message.text for message in shown if message.step == own.result.index}
            value = own.result.data if own.result.data is not None else own.result.text
            parts = [own_text, *self._strings(decode_strings(own_text))]
            of_result = {own.result.text, *self._strings(decode_strings(value), self._rows)}
            self._rows.update(count for text in of_result for count in _lines(text))
            for text in texts | of_result:
                self._add(text)
                lines = len(text.split("\n"))
                self._between.append((lines - _NEAR, lines))
                for part in parts:
                    if part is own_text or part[:_SAME_START] == text[:_SAME_START]:
                        self._left_out(text, part)
            self._add(as_text(own.result.value))
        else:
            self._messages(evidence, own)

    def has(self, number: str) -> bool:
        """True if a number is one of the counts."""
        if not number.isdigit():
            return False
        value = int(number[:18])
        known = value in self._exact or any(low <= value <= high for low, high in self._between)
        return known or value == self._result_tokens

    def is_all(self, number: str) -> bool:
        """True if a number counts all rows or lines of the result, or of a list in it."""
        return number.isdigit() and int(number[:18]) in self._rows

    def is_total(self, number: str) -> bool:
        """True if a number is the sum of a column of the result."""
        return self._own.result is not None and any(
            abs(total - float(number)) < 0.5 * 10 ** -len(number.partition(".")[2]) for total in self._totals
        )

    @cached_property
    def _totals(self) -> list[float]:
        table = self._evidence.messages.table(self._own.message.step or 0)
        columns = ([float(text) for text in table.column(name) if _NUMBER.fullmatch(text)] for name in table.names)
        return [sum(column) for column in columns if len(column) > 1]

    @cached_property
    def _result_tokens(self) -> int:
        return self._evidence.messages.count.text(self._own.result.text) if self._own.result else 0

    def _add(self, text: str) -> None:
        self._exact |= {len(text), len(text.encode("utf-8", "replace")), len(text.split()), *_lines(text)}

    def _left_out(self, untruncated: str, own_text: str) -> None:
        chars = len(untruncated) - len(own_text)
        self._between.append((chars, chars + _NOTICE_CHARS))
        known = set(untruncated.split("\n"))
        kept = sum(line in known for line in own_text.split("\n"))
        lines = len(untruncated.split("\n")) - kept
        self._between.append((lines - _NEAR, lines + _NEAR))

    def _strings(self, value: object, rows: set[int] | None = None) -> Iterator[str]:
        """Yield the texts of several lines in a value; the lengths of its containers are exact counts, of lists `rows`."""
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                if "\n" in item:
                    yield item
            elif isinstance(item, dict | list):
                self._exact.add(len(item))
                items = list(item.values()) if isinstance(item, dict) else item
                if rows is not None and (isinstance(item, list) or all(isinstance(one, dict) for one in items)):
                    rows.add(len(item))
                waiting.extend(items)

    def _messages(self, evidence: ReplayEvidence, own: OwnText) -> None:
        """The messages that a summary stands for: those of its thread before its first prompt, and those that left it."""
        recorded_messages = evidence.messages.messages[: evidence.messages.recorded]
        self._exact.update(len(message.text) for message in recorded_messages)
        first = min(stay.first for stay in evidence.walked.stays[own.number])
        call = evidence.walked.calls[first]
        steps = {s.index for s in evidence.trace.steps if s.thread == call.thread and s.index < call.step}
        recorded = [n for step, n in evidence.index.full.items() if step in steps]
        standing = sum(evidence.stands(number, first) for number in recorded)
        left = sum(stay.after == first for stays in evidence.walked.stays.values() for stay in stays)
        for count in (len(recorded), len(recorded) - standing, left):
            self._between.append((count - _NEAR, count + _NEAR))


def _lines(text: str) -> tuple[int, int]:
    """The lines of a text, all and those that are not blank."""
    lines = text.split("\n")
    return len(lines), sum(map(bool, map(str.strip, lines)))
