"""Values that a message shows otherwise than the tool returned them, matched by record and key; and failures that it no longer tells."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, NamedTuple

from ..model import ToolResult, as_text, grouped
from ..text.decode import containers_in, decoded, is_json, resolved
from ..text.explained import LEFT_OUT, canonical, explained
from ..text.fact_kinds import exit_codes
from ..text.found_leaves import names_of, read_held
from ..text.leaves import Leaves, flatten
from ..text.notices import marker
from ..text.tables import Names
from ..text.texts import Remembered

Key = tuple[str, ...]
Record = list[tuple[Key, Any]]

_ALIKE = 0.6  # of the words of a line, that it is told to be another one changed
_LOOKED_AT = 5_000  # lines and records of one text
_BRIEF_CHARS = 2_000  # longer results may quote failures of others
_TOLD_CHARS = 12  # a shorter part of a line is found by accident
_DISTINCT = 3_000  # values of one column that are compared beyond looking up
_LINE_WORDS = 300  # of a line that is compared
_LINE_PLACES = 200  # lines that hold one word
_NEAREST = 3  # lines that are most like it
_PAIR = re.compile(
    r"[\s\-*•>#|]*[\"'`*]*([A-Za-z_][\w .\-]{0,40}?)[\"'`*]*\s*(?::|=(?!=))(?!//|[\w.:\-]*[\"'`]\s*:)\s*(\S.*)"
)
_NEXT_PAIR = re.compile(r"[,;|]\s+(?=[\"'`*]*[A-Za-z_][\w.\-]{0,40}[\"'`*]*\s*[:=])")
_WORD = re.compile(
    r"[!=<>]=|(?<=\s)[<>](?=[\s\d])|[≤≥≠]|(?:[$€£¥]|(?<![\w)\]-])-(?=\d))?[^\W_]+(?:[.,:/'’-][^\W_]+)*|\$"
)
_FAILED = re.compile(
    r"(?<![^\W_])(?:errors?|exceptions?|traceback|fail(?:ed|ure|s)?|fatal|denied|refused|not\s+found|no\s+such|cannot|can't|could\s+not|unable|invalid"
    r"|timed?\s?-?out|aborted|crashed|\w+(?:Error|Exception)|not\s+(?:allowed|permitted|recogni[sz]ed|supported)|unsuccessful\w*|rejected"
    r"|non-?zero|exit(?:ed)?(?:\s+(?:with|code|status))+\s*:?\s*-?[1-9])(?![^\W_])|✗|❌|[\"']?(?:success|ok)[\"']?\s*[:=]\s*[\"']?false",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"\A\W*(?:\w*error|fatal|failed|failure|traceback|exception)\b|^Traceback \(most|^\w*(?:Error|Exception):|^(?:error|fatal):"
    r"|[\"'](?:error|exception)[\"']\s*:\s*[\"'{][^\"'}]|[\"'](?:success|ok)[\"']\s*:\s*false|command not found|No such file or directory",
    re.IGNORECASE | re.MULTILINE,
)


_DENIALS = 3  # words more or less in a line that denies something, or does not
_DENIAL = re.compile(r"\b(?:not|no|never|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^\d{1,7}(?:[:|→\t]|\s{2})\s*(?=\S)")


class ChangedValue(NamedTuple):
    """One value that is shown otherwise: its key (`""`: a word of a line), what the tool returned and what is shown instead."""

    key: str
    was: str
    shown: str

    def __str__(self) -> str:
        return f"{self.key + ': ' if self.key else ''}{self.was[:60]} → {self.shown[:60]}"


class Returned:
    """One tool result with all its values, to be held against texts that show it."""

    def __init__(self, result: ToolResult) -> None:
        self.texts = tuple(dict.fromkeys((result.text, result.shown_by_recorder, as_text(result.value))))
        self._data = result.data if isinstance(result.data, dict | list) else None
        self._agreeing: dict[tuple[Key, str], set[int]] = {}

    @cached_property
    def _leaves(self) -> Leaves:
        """The leaves of its value; where that is a text, those that it gives when it is read back."""
        return flatten(self._data) if self._data is not None else read_held(self.texts[0], {}) or Leaves()

    @cached_property
    def _lines(self) -> set[str]:
        return {line.strip() for text in self.texts for line in text.split("\n")}

    @cached_property
    def _names(self) -> Names:
        return names_of(self._leaves)

    @cached_property
    def _records(self) -> list[Record]:
        found = list(_records(self._leaves))
        for text in self.texts:
            found += _pairs(text.split("\n")[:_LOOKED_AT]) if not is_json(text) else ()
            if self._data is not None and text != self.texts[0] and (read := read_held(text, self._names)) is not None:
                found += _records(read)
        return found

    @cached_property
    def _columns(self) -> dict[Key, dict[str, tuple[Any, set[int]]]]:
        """By each end of a path and spelling of a value that stands there: the value, and the numbers of its records."""
        found: dict[Key, dict[str, tuple[Any, set[int]]]] = {}
        spelling = Remembered(lambda typed: canonical(typed[1]))

        def enter(path: Key, item: Any, number: int) -> None:
            spelled = spelling[type(item), item]
            for start in range(len(path)):
                column = found.setdefault(path[start:], {})
                column.setdefault(spelled, (item, set()))[1].add(number)

        for number, record in enumerate(self._records):
            together = grouped((path, str(item)) for path, item in record)
            for path, item in record:
                enter(path, item, number)
            for path, items in together.items():
                if len(items) > 1:  # a list may be shown as one text
                    enter(path, ", ".join(items), number)
        return found

    @cached_property
    def _words(self) -> list[list[str]]:
        """The words of each line of its texts."""
        return [_WORD.findall(line) for text in self.texts for line in text.split("\n")[:_LOOKED_AT]]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """By word the numbers of the lines that have it."""
        return grouped((word, number) for number, words in enumerate(self._words) for word in set(words))

    def changes(self, shown: str) -> list[ChangedValue]:
        """The values of a text that shows this result which are others than those returned.

        >>> Returned(ToolResult(index=1, call_id="c", function="f", seen="gate is open")).changes("gate is shut")
        [ChangedValue(key='', was='open', shown='shut')]
        """
        if shown in self.texts:
            return []
        found = self._of_whole(shown)
        first, *later = LEFT_OUT.split(shown)
        if not found or not later or is_json(shown):
            return found
        # The middle is left out: what stands before and behind it are no values of one record.
        return [*self._of_whole(first), *(change for piece in later for change in self._of_end(piece))]

    def _of_end(self, piece: str) -> Iterator[ChangedValue]:
        """The changed values of the end of a text, which may begin within a word, a value or a record."""
        if self._leaves.total == 0:
            yield from self._of_whole(piece.partition("\n")[2])
            return
        begun, brace, rest = piece.partition("{")
        for pairs in _pairs([begun]):
            yield from (change for pair in pairs for change in self._of_record([pair]))
        for value in containers_in(brace + rest):
            yield from (change for record in _records(flatten(value)) for change in self._of_record(record))

    def _of_whole(self, shown: str) -> list[ChangedValue]:
        """The changed values of a text without a gap in its middle."""
        lines = shown.split("\n")
        is_data = self._leaves.total > 0
        if not is_data:
            wrapped = read_held(shown, {})
            texts = [decoded(shown)] if wrapped is None else [str(item) for _, (_, item) in wrapped]
            lines = [line for text in texts for line in text.split("\n")]
        new = self._new([line.strip() for line in lines if line.strip()])[:_LOOKED_AT]
        if not new:
            return []
        read = read_held(shown, self._names) if is_data else None
        found = [change for record in _records(read) for change in self._of_record(record)] if read is not None else []
        if read is None:
            found = [change for record in _pairs(new) for change in self._of_record(record)]
            if not found and not is_data:
                found = [change for line in new for change in self._of_line(line)]
        return found

    def _new(self, lines: Sequence[str]) -> list[str]:
        """The lines that no text of the result has, and that do not follow each other as its values do when each is a line."""
        plain = [line.replace('"', "") for line in lines]
        follows = [True, *(pair in self._plain_pairs for pair in pairwise(plain)), True] if plain else [True]
        return [
            line
            for line, (before, behind) in zip(lines, pairwise(follows), strict=True)
            if not (before and behind and len(lines) > 1) and not self._says(line)
        ]

    @cached_property
    def _plain_pairs(self) -> set[tuple[str, str]]:
        plain = [[line.strip().replace('"', "") for line in decoded(text).split("\n")] for text in self.texts]
        return {pair for lines in plain for pair in pairwise(filter(None, lines))}

    def _says(self, line: str) -> bool:
        line = _NUMBERED.sub("", line)
        return line in self._lines or (len(line) >= _TOLD_CHARS and any(line in text for text in self.texts))

    # ------------------------------------------------------------ records

    def _of_record(self, record: Record) -> Iterator[ChangedValue]:
        known = [(column, item) for path, item in record if (column := self._column(path)) is not None]
        if not known or 2 * len(known) < len(record):
            return
        rows = [self._rows(column, item) for column, item in known]
        votes = defaultdict[int, float](float)
        for agreeing in rows:
            for number in agreeing if len(agreeing) <= _DISTINCT else ():
                votes[number] += 1 + 1 / len(agreeing)
        if not any(rows) and len(known) < len(
            record
        ):  # a mapping of the strategy's own, which happens to have such a key
            return
        best = max(votes, key=lambda number: (votes[number], -number)) if votes else None
        for (column, item), agreeing in zip(known, rows, strict=True):
            if not agreeing or (best is not None and best not in agreeing and self._has(best, column)):
                if isinstance(item, str) and item.lstrip()[:1] in ("{", "["):  # the whole result within a field
                    yield from self.changes(item)
                else:
                    yield ChangedValue(".".join(column), self._was(column, best), str(item))

    def _has(self, number: int, column: Key) -> bool:
        return any(path[-len(column) :] == column for path, _ in self._records[number])

    def _column(self, path: Key) -> Key | None:
        return next((path[start:] for start in range(len(path)) if path[start:] in self._columns), None)

    def _was(self, column: Key, number: int | None) -> str:
        record = self._records[number] if number is not None else ()
        of_record = (str(item) for path, item in record if path[-len(column) :] == column)
        return next(of_record, None) or str(next(iter(self._columns[column].values()))[0])

    def _rows(self, column: Key, item: Any) -> set[int]:
        """The records that a shown value agrees with in a column."""
        spelled = canonical(item)
        key = column, spelled
        if key not in self._agreeing:
            values = self._columns[column]
            spellings = {resolved(item), item} if isinstance(item, str) else {item}  # of a cut text escapes are left
            some = islice(values.values(), 0 if spelled in values else _DISTINCT)
            alike = [numbers for value, numbers in some if any(explained(one, value) for one in spellings)]
            self._agreeing[key] = values[spelled][1] if spelled in values else set().union(*alike)
        return self._agreeing[key]

    # ------------------------------------------------------------ lines of a text

    def _of_line(self, line: str) -> Iterator[ChangedValue]:
        """The words of a line that stand where a line of the result, otherwise alike, has others."""
        words = _WORD.findall(line)
        if len(words) > _LINE_WORDS:
            return
        shared: Counter[int] = Counter()
        for word in set(words):
            places = self._by_word.get(word, ())
            if len(places) < _LINE_PLACES:
                shared.update(places)
        for number, _ in shared.most_common(_NEAREST):
            matcher = SequenceMatcher(None, self._words[number], words, autojunk=False)
            if matcher.ratio() < _ALIKE or abs(len(self._words[number]) - len(words)) > _DENIALS:
                continue
            same = len(self._words[number]) == len(words) > 2
            for kind, low, high, start, end in matcher.get_opcodes():
                was, now = " ".join(self._words[number][low:high]), " ".join(words[start:end])
                if (kind == "replace" and same and not explained(now, was)) or (
                    kind != "equal" and (not _DENIAL.search(was)) != (not _DENIAL.search(now))
                ):
                    yield ChangedValue("", was, now)
            return


def _records(leaves: Leaves) -> Iterator[Record]:
    """The mappings that leaves come from, each with its values by path; of lists of one length, side by side, one a place.

    >>> [[item for _, item in record] for given in ({"a": [1, 2], "b": [3, 4]}, {"a": [1, 2], "b": 3}) for record in _records(flatten(given))]
    [[1, 3], [2, 4], [3, 1, 2]]
    >>> [[item for _, item in record] for record in _records(flatten([{"a": 1, "b": {}}, {"a": 2, "b": []}]))]
    [[1], [2]]
    """
    path_of = Remembered(_path)  # rows repeat their paths
    for row in leaves.rows:
        yield [(path_of(path), item) for path, (kind, item) in row if kind not in (dict, list)]
    groups: dict[Key, dict[Key, list[Any]]] = {}
    for path, (kind, item) in leaves.others:
        if path and kind not in (dict, list):
            groups.setdefault(path_of(path[:-1]), {}).setdefault(path_of(path), []).append(item)
    for columns in groups.values():
        if len(columns) > 1 and len({len(items) for items in columns.values()}) == 1:
            yield from ([*zip(columns, row, strict=True)] for row in zip(*columns.values(), strict=True))
        else:
            yield [(path, item) for path, items in columns.items() for item in items]


def _path(keys: tuple[str, ...]) -> Key:
    return tuple(re.sub(r"[\W_]+", "", part.casefold()) for key in keys for part in key.split("."))


def _pairs(lines: Sequence[str]) -> list[Record]:
    """The records that lines of the form `key: value` make; a key that comes again, or any other line, begins the next one."""
    found: list[Record] = [[]]
    for line in lines:
        pairs = [match.groups() for part in _NEXT_PAIR.split(line[:2_000]) if (match := _PAIR.fullmatch(part))]
        fresh = [(_path((key,)), item.rstrip(",;|").strip("\"'`* ")) for key, item in pairs if item[:1] not in "{["]
        if not fresh or {key for key, _ in fresh} & {key for key, _ in found[-1]}:
            found.append([])
        found[-1] += fresh
    return [record for record in found if record]


# ---------------------------------------------------------------- failures


def tells_failure(text: str) -> bool:
    """True if a text has a word for a failure, or an exit code other than 0.

    >>> tells_failure("ValueError: no rows"), tells_failure('{"success": false}'), tells_failure("exit code 0"), tells_failure("exit code 2")
    (True, True, False, True)
    """
    return bool(_FAILED.search(text)) or any(exit_codes(text))


def failed(result: ToolResult) -> bool:
    """True if a result failed and its text says so: by its flag and a word for it, by its exit code, or as error messages begin.

    >>> got = ToolResult(index=0, call_id="a", function="f", seen="Error: user not found")
    >>> failed(got), failed(ToolResult(index=0, call_id="a", function="f", seen="2 rows"))
    (True, False)
    >>> [failed(ToolResult(index=0, call_id="a", function="f", seen=f"exit status {first}; exit status {last}")) for first, last in ("01", "10")]
    [False, True]
    >>> failed(ToolResult(index=0, call_id="a", function="f", seen="2 rows. " * 99 + "The third failed.", success=False))
    True
    """
    text = result.text
    codes = exit_codes(text)
    if codes and not result.error:
        return codes[0] != 0
    if not result.success or result.error:
        return tells_failure(text)
    return len(text) < _BRIEF_CHARS and bool(_FAILURE.search(text))


def hides_failure(result: ToolResult, shown: str) -> bool:
    """True if a text that shows a failed result tells no failure, and does not say that something was left out either.

    >>> got = ToolResult(index=0, call_id="a", function="f", seen="Error: user not found")
    >>> hides_failure(got, "ok"), hides_failure(got, "not found"), hides_failure(got, "[old result removed]"), hides_failure(got, "<MASKED>")
    (True, False, False, False)
    """
    if not failed(result) or tells_failure(shown) or not shown.strip():
        return False
    return marker(shown, result.text) is None
