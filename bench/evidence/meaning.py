"""The meaning of facts that come from fields: if a strategy's own text still tells a reader what such a fact is the value of.

A field is a scalar of a structured result. A text keeps its meaning where one line or sentence says it with the field's key, its column's name or a
value that identifies its record ("order W123 was delivered" keeps the status of W123), or where the text, read back, has it under that name. A bag of
values keeps nothing. Facts from prose, a long text in a field included, need no key.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from ..model import ToolResult, as_text, grouped
from ..text.decode import NothingParsed, decode_strings, parse_json
from ..text.facts import flat, is_number, number_value, numbers_in, occurs, words_of
from ..text.found_leaves import read_held
from ..text.scripts import FUNCTION_WORDS
from ..text.texts import Remembered, Texts

_FIELD_CHARS, _FIELD_WORDS = 160, 6  # a longer value is prose
_LINE_CHARS = 400  # longer lines are looked at in parts
_STEM_CHARS = 5
_FOREIGN = 0.15
"""The share of a sentence's words, at least, that no field of the result says, that it is a sentence and no bag of values."""

_IDENTIFIES = re.compile(r"(?:^|_)(?:id|name|code|key|number|no|title|symbol|email|path|file|url|uuid|sku)$")
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|\W)")
_HEADING = re.compile(r"\s*(?:#+\s.*|\W*\S.{0,80}:\W*|\*\*.{1,80}\*\*\W*)")
_TOLD_OF = re.compile(r"[\"'`*]*\s*[:=(\[→–—-]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+|\d+")
_CHUNK = re.compile(rf".{{1,{_LINE_CHARS}}}(?:[\s,;|]|$)")


T = TypeVar("T")
_Path = tuple[str, ...]
_Pairs = list[tuple[str, str]]


class Field(NamedTuple):
    """One scalar of a structured result: its name, the keys that lead to it, its text, and the number of its record."""

    name: str
    path: _Path
    text: str
    record: int


def _says(text: str, fact: str) -> bool:
    if is_number(fact):
        return fact in numbers_in(text)
    return flat(fact) in flat(text) if " " in fact else occurs(text, fact)


def _word(fact: str) -> str:
    """The word of a fact by which texts that say it are looked up."""
    return (fact if is_number(fact) else max(words_of(fact), key=len, default="")).casefold()


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text, by which `ordered` is `orders`; its numbers.

    >>> sorted(stems("orderId: departs at 7 gas"))
    ['7', 'at', 'depar', 'gas', 'id', 'order']
    """
    words = (word.casefold() for word in _PART.findall(text))
    return frozenset(word.rstrip("s")[:_STEM_CHARS] if len(word) > 3 else word for word in words)


def _key(names: Iterable[str]) -> frozenset[str]:
    """The stems by which keys are told; function words and numbers only where there are no others. Keys of no words: none."""
    found = stems(" ".join(names))
    words = frozenset(word for word in found if not word.isdigit())
    return (words - FUNCTION_WORDS) or words or found


def _by_word(items: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Things by each word and number of their texts."""
    words = Remembered(lambda text: {*words_of(text), *numbers_in(text)})
    return grouped((word.casefold(), item) for text, item in items for word in words(text))


class _Fields:
    """The fields of one structured result; of another one there are none. What tells its records apart is found when it is asked for."""

    def __init__(self, result: ToolResult) -> None:
        self.fields: list[Field] = []
        self.prose: list[str] = []
        self.keys: set[str] = set()
        self.stems = Remembered(_key)
        value = result.data
        if not isinstance(value, dict | list) and result.text.lstrip()[:1] in ("{", "["):
            try:
                value = parse_json(result.text)
            except NothingParsed:
                value = None
        self._records = list(_records(decode_strings(value)))
        for number, (path, scalars, _) in enumerate(self._records):
            self.keys.update(path)
            for key, text in scalars:
                self.keys.add(key)
                if _is_prose(text) or not self.stems((*path, key)):
                    self.prose.append(text)
                else:
                    name = key if self.stems((key,)) else next(part for part in reversed(path) if self.stems((part,)))
                    self.fields.append(Field(name, (*path, key), text, number))

    @cached_property
    def by_word(self) -> dict[str, list[Field]]:
        """The fields by each word and number of their values."""
        return _by_word((item.text, item) for item in self.fields)

    @cached_property
    def identifies(self) -> list[frozenset[str]]:
        """The values that identify each record, by its number."""
        columns: dict[_Path, Counter[str]] = {}
        for path, scalars, _ in self._records:
            for key, item in scalars:
                columns.setdefault((*path, key), Counter())[item] += 1
        of_pairs = {
            id(scalars): [text.casefold() for key, text in scalars if _identifies(key, text, columns[(*path, key)])]
            for path, scalars, _ in self._records
        }
        return [
            frozenset(part.casefold() for part in path if re.search(r"\d", part)).union(
                *(of_pairs[id(pairs)] for pairs in around)
            )
            for path, _, around in self._records
        ]

    @cached_property
    def all_records(self) -> frozenset[str]:
        """The values that identify the record of any field."""
        return frozenset().union(*(self.identifies[number] for number in {item.record for item in self.fields}))

    def of(self, fact: str) -> list[Field]:
        """The fields that say a fact."""
        words = [fact] if is_number(fact) else sorted(words_of(fact), key=len)[-1:]
        return [item for word in words for item in self.by_word.get(word.casefold(), ()) if _says(item.text, fact)]


def _is_prose(text: str) -> bool:
    """True if a value is a text and no field.

    >>> [_is_prose(text) for text in ("rows of the wall that we saw", "wall W1 L2 B3 C4 D5 E6", "one of the four walls", "a\\nb")]
    [True, False, False, True]
    """
    words = text.split()
    reads = len(words) > _FIELD_WORDS and any(word in FUNCTION_WORDS for word in words)
    return len(text) > _FIELD_CHARS or "\n" in text or reads


def _identifies(key: str, text: str, column: Counter[str]) -> bool:
    """True if a value tells its record from the others."""
    if len(text) < 2 or len(text) > 80:
        return False
    alone = len(text) > 3 and column[text] == 1 and column.total() > 1
    return bool(_IDENTIFIES.search(key.casefold())) or (alone and not is_number(number_value(text) or ""))


def _records(
    node: Any, path: _Path = (), around: tuple[_Pairs, ...] = ()
) -> Iterator[tuple[_Path, _Pairs, tuple[_Pairs, ...]]]:
    """Every mapping of a value: the keys that lead to it, its scalars by key, and those of itself and of the mappings around it."""
    if isinstance(node, Mapping):
        own: _Pairs = []
        around = (*around, own)
        for key, item in node.items():
            for one in item if isinstance(item, list) else (item,):
                if isinstance(one, dict | list):
                    yield from _records(one, (*path, str(key)), () if one is not item else around)
                else:
                    own.append((str(key), as_text(one)))
        yield path, own, around
    elif isinstance(node, list):
        for item in node:
            if isinstance(item, dict | list):
                yield from _records(item, path)
            else:
                yield path, [("", as_text(item))], ()


@dataclass(frozen=True)
class _Sentence:
    """One sentence of a text, and the heading above it."""

    text: str
    heading: str

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(f"{self.heading} {self.text}")

    @cached_property
    def said(self) -> str:
        return f"{self.heading} {self.text}".casefold()


class Meaning:
    """Tells if texts keep the meaning of facts; what a text or result says is found once.

    >>> order = ToolResult(index=1, call_id="c", function="get", data={"id": "W123", "status": "sent", "price": 412.75})
    >>> kept = Meaning({1: order}, Texts()).kept
    >>> [kept(text, "412.75", (1,)) for text in ("price: 412.75", "W123 was sold for 412.75", "W123 sent 412.75", "sold for 412.75")]
    [True, True, False, False]
    """

    def __init__(self, results: Mapping[int, ToolResult], texts: Texts) -> None:
        self._results, self._texts = results, texts
        self._fields = Remembered(lambda step: _Fields(results[step]))
        self._lines = Remembered(self._sentences_by_word)
        self._read = Remembered(lambda key: self._read_back(*key))
        self._labels = Remembered(lambda key: self._label(*key))
        self._known = Remembered(lambda key: self._keeps(*key))

    def of_field(self, step: int, fact: str) -> bool:
        """True if the result of a step says a fact as a field, and nowhere as prose or as a key."""
        return bool(self.label(step, fact))

    def label(self, step: int, fact: str) -> str:
        """The key under which the result of a step says a fact first; `""` for one that is prose."""
        return self._labels[step, fact]

    def _label(self, step: int, fact: str) -> str:
        fields = self._fields(step)
        found = [] if fact in fields.keys else fields.of(fact)
        return found[0].name if found and not any(self._texts.holds(text, fact) for text in fields.prose) else ""

    def kept(self, text: str, fact: str, steps: tuple[int | None, ...]) -> bool:
        """True if a text says a fact, and what it is the value of in the results of the steps."""
        return self._known[text, fact, steps]

    def _keeps(self, text: str, fact: str, steps: tuple[int | None, ...]) -> bool:
        return self._texts.holds(text, fact) and any(
            self._keeps_of(text, fact, step) for step in steps if step is not None and step in self._results
        )

    def _keeps_of(self, text: str, fact: str, step: int) -> bool:
        fields = self._fields(step)
        sources = fields.of(fact)
        keys = frozenset[str]().union(*(fields.stems(item.path) for item in sources))
        lines = [line for line in self._lines(text).get(_word(fact), ()) if _says(line.text, fact)] if sources else []
        if any(line.stems & keys or self._of_record(line, fact, sources, fields) for line in lines):
            return True
        read = self._read[text, step].get(_word(fact), ()) if sources else ()
        return any(fields.stems(path) & keys and _says(item, fact) for path, item in read)

    def _read_back(self, text: str, step: int) -> dict[str, list[tuple[_Path, str]]]:
        """The values that a text gives when it is read back, with the keys that lead to them, by their words."""
        read = read_held(text, {key: (key,) for key in self._fields(step).keys}) or ()
        leaves = ((path, as_text(item)) for path, (_, item) in read)
        return _by_word((leaf[1], leaf) for leaf in leaves)

    def _sentences_by_word(self, text: str) -> dict[str, list[_Sentence]]:
        plain = filter(None, (self._texts.plain(text), self._texts.unescaped(text)))
        return _by_word((line.text, line) for part in plain for line in _sentences(part))

    def _of_record(self, line: _Sentence, fact: str, sources: list[Field], fields: _Fields) -> bool:
        """True if a sentence says whose value a fact is."""
        records = [fields.identifies[item.record] for item in sources]
        idents = {ident for record in records for ident in record if occurs(line.said, ident)}
        if not idents:
            return False
        words = re.findall(r"\w+", line.said)
        foreign = sum(word.isalpha() and word not in fields.by_word for word in words)
        if foreign >= max(1, _FOREIGN * len(words)):
            return True
        told = fact.casefold()
        return any(_told_of(line.said, ident, told, fields.all_records - idents) for ident in idents - {told})


def _told_of(said: str, ident: str, fact: str, others: Iterable[str]) -> bool:
    """True if a fact stands right behind what identifies its record, with no other record between."""
    start = said.find(ident) + len(ident)
    end = said.find(fact, start)
    between = said[start : end if end >= 0 else start + _LINE_CHARS]
    return bool(_TOLD_OF.match(between)) and not any(other in between for other in others)


def _sentences(plain: str) -> Iterator[_Sentence]:
    heading = ""
    for line in plain.split("\n"):
        if not line.strip():
            continue
        chunks = [line] if len(line) <= _LINE_CHARS else _CHUNK.findall(line)
        for chunk in chunks:
            for sentence in _SENTENCES.split(chunk):
                yield _Sentence(sentence, heading)
        if _HEADING.fullmatch(line):
            heading = line
