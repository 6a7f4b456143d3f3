"""Search in everything that a trace mentions, to find what is new in a strategy's texts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, compress, islice, pairwise

from ..model import memo
from ..text.dates import dates_in, times_in
from ..text.decode import NothingParsed, parse_prefix, plain_lines
from ..text.escapes import unescape
from ..text.facts import flat
from ..text.field_list import Numbers, add_number, listed
from ..text.instructions import Repetition, TextLines, sentences_of, text_lines
from ..text.line_prefixes import without_number
from ..text.omissions import notice_at
from .contents import kept_between_runs
from .messages import TraceMessages

_DIGITS = re.compile(r"\d+")
_LABEL = re.compile(r"\W*[^\W\d]+(?:\s+[^\W\d]+){0,2}(?:\s+#?\d{1,3})?\W{0,3}[:\]] (?=\S)")
"""Matches a label before a quotation: a few words, perhaps with an ordinal (`Step 24: `)."""

_LIST_MARK = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•])\s+")
_LABEL_ENDS, _MOST_LABELS = re.compile(r"[:\]] "), 12
"""Matches the end of a label; the most ends in a line at which a quotation may begin."""

_PART = re.compile(r"[^\W_]+")
_ORDINAL = re.compile(r"(?<![^\W_])\d{1,2}(?![^\W_])")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,80}>|[«»“”]")
_QUOTED_BLANKS = 3
"""Words between tags with at least this many blanks are a quotation."""

_QUOTED_WORDS = 4
"""The fewest blanks in a text that counts as quoted wherever its words are in a row."""

_CUT_CHARS, _BEGUN_CHARS = 3, 120
"""The most characters of a text that must end with a whole word, and the characters of the
beginning of a line that are compared."""

_REPEATED = 0.5
"""The share of an instruction's words in one earlier sentence with which it is not an invention."""

_DENIAL = re.compile(r"\b(?:cannot|never|no|not|t|without)$")
"""Matches a denial at the end of flat words, in which the sign in "don't" is a blank."""

_PART_CHARS = 10_000
"""The characters of a content's part."""

_FEWEST_BEFORE_A_CUT = 3
"""The fewest words of a text of which the last may be truncated."""


class Mentions:
    """The numbers, names and sentences in all recorded messages of a trace."""

    def __init__(self, messages: TraceMessages) -> None:
        self._recorded = messages.recording.messages
        self._of, self._texts = messages.contents.of, messages.texts
        self.once = messages.once
        self._rest = -1, 0
        """The content with the words that were found last, and the blank behind them there: the next
        line of a text often goes on there."""

    @cached_property
    def _first_steps(self) -> dict[str, int]:
        """The distinct texts of the recorded messages, and their calls as text (the name, then the
        arguments), each with its first step."""
        steps: dict[str, int] = {}
        for message in self._recorded:
            step = -1 if message.step is None else message.step
            calls = (f"{call.name} {plain_lines(call.arguments)}" for call in message.tool_calls)
            for text in (*self._of(message), *calls):
                steps.setdefault(text, step)
        return steps

    @cached_property
    def _contents(self) -> list[str]:
        return [*self._first_steps]

    @cached_property
    def _call_ids(self) -> frozenset[str]:
        """The words of the ids of all calls, which prompts have besides texts."""
        ids = {call.id for message in self._recorded for call in message.tool_calls}
        return frozenset(word for call_id in ids for word in flat(call_id).split())

    @memo
    def first_step_with(self, text: str) -> int | None:
        """The first step whose message has the words of a text in a row, the last one perhaps
        truncated; few words must begin a line. None without one."""
        words = flat(text).rstrip()
        find = self._steps_with if words.count(" ") >= _QUOTED_WORDS else self._steps_beginning
        return min(find(words), default=None)

    def _steps_with(self, words: str) -> Iterator[int]:
        """Yield the steps of the contents with flat words in a row, the last one perhaps truncated,
        where no denial stands before them."""
        parts = self._with_rarest(words.split()[:-1])
        for number in dict.fromkeys(part % len(self._contents) for part in parts):
            before, *others = self._row(number).split(words)
            if others and any(not _DENIAL.search(text) for text in (before, *others[:-1])):
                yield self._first_steps[self._contents[number]]

    def _steps_beginning(self, words: str) -> Iterator[int]:
        """Yield the steps of the lines that begin with flat words, the last one perhaps
        truncated."""
        if not self._by_word.keys() >= {*words.split()[:-1]}:
            return
        words = words[:_BEGUN_CHARS]
        enough = words if len(words) > _CUT_CHARS else f"{words} "
        for line, step in self._beginnings[bisect_left(self._beginnings, (words, -2)) :]:
            if not line.startswith(words):
                return
            if line.startswith(enough):
                yield step

    @cached_property
    def _beginnings(self) -> list[tuple[str, int]]:
        """The beginnings of all lines and sentences as flat words, each with its step, sorted. A
        line with a key goes on with the text below it."""
        steps: dict[str, int] = {}
        for text, step in self._first_steps.items():
            lines = self._texts.plain(text).split("\n")
            below_keys = (f"{key} {line}" for key, line in pairwise(lines) if key.endswith(":"))
            for line in chain(lines, below_keys):
                steps.setdefault(line, step)
        beginnings = {
            (sentence[: 2 * _BEGUN_CHARS], step)
            for line, step in steps.items()
            for sentence in (_LIST_MARK.sub("", line), *sentences_of(line))
        }
        return sorted({(flat(sentence), step) for sentence, step in beginnings})

    def _row(self, number: int) -> str:
        """The flat words of a content."""
        return self._texts.flat(self._contents[number])

    @kept_between_runs
    def _by_word(self) -> Numbers:
        """The parts of the contents that have a word. A part's number is that of its content, plus
        the number of contents for each part before it."""
        numbers: Numbers = {}
        for number in range(len(self._contents)):
            row, end = self._row(number), 0
            for part, start in enumerate(range(0, len(row), _PART_CHARS)):
                begin, end = end, row.find(" ", start + _PART_CHARS)
                words = {*row[begin : end if end >= 0 else len(row)].split()}
                number_of_part = number + part * len(self._contents)
                known = numbers.keys() & words
                numbers.update(dict.fromkeys(words - known, number_of_part))
                for word in known:
                    add_number(numbers, word, number_of_part)
                if end < 0:
                    break
        return numbers

    def _has(self, part: int, words: str) -> bool:
        """True if flat words are in a row in or around a part of a content."""
        before, number = divmod(part, len(self._contents))
        begin, end = before * _PART_CHARS - len(words), (before + 1) * _PART_CHARS + len(words)
        start = self._row(number).find(words, max(0, begin), end + 1)
        if start >= 0:
            self._rest = number, start + len(words) - 1
        return start >= 0

    @kept_between_runs
    def numbers(self) -> frozenset[str]:
        """All numbers in the messages, and the digits in their words, without leading zeros."""
        runs = _DIGITS.findall(" ".join(self._by_word))
        of_each = map(self._texts.numbers, self._contents)
        return frozenset(run.lstrip("0") for run in runs).union(*of_each)

    @cached_property
    def moments(self) -> frozenset[str]:
        """All dates and times of day in the messages, as `bench.text.dates` spells them."""
        return frozenset(
            moment
            for text in self._contents
            for find in (dates_in, times_in)
            for moment, _ in find(text)
        )

    def has_together(self, one: str, other: str) -> bool:
        """True if one recorded message of a person or the model, with its calls, has two texts."""
        return any(flat(one) in words and flat(other) in words for words in self._turns)

    @cached_property
    def _turns(self) -> list[str]:
        kinds = "user", "system", "model"
        turns = (message for message in self._recorded if message.kind in kinds)
        return [self._texts.flat(" ".join(self._of(message))) for message in turns]

    @memo
    def roles_of(self, text: str) -> frozenset[str]:
        """The roles and kinds of the messages with the words of a text in a row."""
        words = flat(text)
        messages = self._recorded if self._in_a_row(words) else ()
        holders = (message for message in messages if words in self._texts.flat(message.text))
        return frozenset(name for message in holders for name in (message.role, message.kind))

    @memo
    def has_words(self, text: str) -> bool:
        """True if one message has the words of a text in a row, the last one perhaps truncated; a
        label (`tool: `) or the words of another message may come first."""
        text = _LIST_MARK.sub("", text, count=1)
        if self._begins_a_row(flat(text)):
            return True
        label = _LABEL.match(text)
        for colon in islice(_LABEL_ENDS.finditer(text), _MOST_LABELS):
            words = flat(text[colon.end() :])
            is_label = label and label.end() == colon.end()
            if words.strip() and self._begins_a_row(words):
                return bool(is_label) or self._in_a_row(flat(text[: colon.start()]))
        return False

    @memo
    def new_parts(self, line: str) -> tuple[str, ...]:
        """The parts of a line that no message has, without data at its beginning; none for a blank
        line."""
        if not line.strip() or self.has_words(line):
            return ()
        quoted = line[: notice_at(line)]
        if quoted.strip() and self.has_words(quoted):
            line = line[len(quoted) :]
        pieces = _TAG.split(line)
        if len(pieces) > 1:
            is_new = (p.count(" ") < _QUOTED_BLANKS or not self.has_words(p) for p in pieces)
            line = " ".join(compress(pieces, is_new))
        prose = without_number(_behind_data(line))
        parts = unescape(prose).split("\n") if "\\" in prose else (prose,)
        return tuple(p for p in parts if p.strip() and (p == line or not self.has_words(p)))

    def _begins_a_row(self, words: str) -> bool:
        """True if some message has flat words in a row, the last of several perhaps truncated."""
        *before, _ = each = words.split() or [""]
        begun = words.rstrip()
        return self._in_a_row(words) or (
            len(each) >= _FEWEST_BEFORE_A_CUT
            and any(self._has(part, begun) for part in self._with_rarest(before))
        )

    def _in_a_row(self, words: str) -> bool:
        """True if some message has flat words in a row, or there are no words."""
        number, start = self._rest
        if number >= 0 and self._row(number).startswith(words, start):
            self._rest = number, start + len(words) - 1
            return True
        each = words.split()
        return not each or any(self._has(part, words) for part in self._with_rarest(each))

    def _with_rarest(self, words: list[str]) -> list[int]:
        """The parts of the contents with the rarest of some words; none if a word is in no content."""
        if not self._by_word.keys() >= set(words):
            return []
        rarest: list[int] = []
        for word in words:
            numbers = listed(self._by_word[word])
            if len(numbers) == 1:
                return numbers
            if not rarest or len(numbers) < len(rarest):
                rarest = numbers
        return rarest

    def has_name(self, name: str) -> bool:
        """True if the messages have each word of a name or of its path (except ordinals), alone or
        in a longer name, or its parts in a row, or have it in the id of a call."""
        words = set(flat(name).split())
        if all(map(self._is_in_a_name, words)) or words <= self._call_ids:
            return True
        if "_" in name and self._in_a_row(flat(name.replace("_", " "))):
            return True
        parts = set(_PART.findall(_ORDINAL.sub(" ", name.casefold())))
        return all(map(str.isalpha, parts)) and parts <= self._parts

    def _is_in_a_name(self, word: str) -> bool:
        """True if a flat word is one of the messages, or a part of one: beside an underscore or a
        letter of a script without blanks."""
        if word in self._by_word:
            return True
        alone = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])", re.ASCII)
        return alone.search(self._all_words) is not None

    @cached_property
    def _all_words(self) -> str:
        return " ".join(self._by_word)

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The words of the messages, names in their parts."""
        return frozenset(part for word in self._by_word for part in _PART.findall(word))

    def has_beginning(self, name: str) -> bool:
        """True if the messages have a name with this beginning, as a cut leaves it."""
        begun = flat(name)[:-1]
        return any(begun in self._row(number) for number in range(len(self._contents)))

    @memo
    def has_instruction(self, text: str) -> bool:
        """True if a message has an instruction in nearly these words."""
        return Repetition(text, _REPEATED).is_in(self._lines)

    @cached_property
    def _lines(self) -> TextLines:
        return text_lines(*self._contents)


def _behind_data(line: str) -> str:
    """A line without a complete JSON value at its beginning, which another rule checks.

    >>> [_behind_data(line) for line in (' {"a": 1} of 3', "[x] of 3", "[1 line left out]", "of 3")]
    [' of 3', '[x] of 3', '[1 line left out]', 'of 3']
    """
    if line.lstrip()[:1] not in ("{", "["):
        return line
    try:
        _, end = parse_prefix(line)
    except NothingParsed:
        return line
    return line[end:] if line[:end].rstrip()[-1:] in ("]", "}") else line
