"""The texts and tables of one trace, each read once for all users."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from itertools import chain
from typing import Any, Protocol, TypeVar, cast, get_type_hints

from msgspec.structs import replace

from ..model import Message, SystemTurn, ToolResult, Trace, UserTurn, memo
from ..text.data_formats import comments_of, parse_data
from ..text.decode import NothingParsed, decode_strings, parse_json, without_colours
from ..text.encoded import decoded_runs
from ..text.excerpts import Excerpt
from ..text.facts import small_words_of
from ..text.field_table import FieldTable
from ..text.instructions import is_rule, sentences_of
from ..text.legends import written_out
from ..text.lossless import exact_json, write_tables
from ..text.notices import WORD, without_notices
from ..text.same_data import by_records, data_of, is_same_data
from ..text.tables import TextTables, tables_in
from ..text.texts import FactSearch, Texts
from ..tokens.counting import TokenCounter
from .step_texts import call_text, step_texts
from .turn_facts import TurnFacts

_Value = TypeVar("_Value")


class Once(Protocol):
    """A function that returns a trace's cached value under a name, or else makes it."""

    def __call__(self, kind: type[_Value], name: str, make: Callable[[], _Value], /) -> _Value: ...


def made_now(kind: type[_Value], name: str, make: Callable[[], _Value]) -> _Value:
    """The value of `make()`; nothing is cached."""
    return make()


def kept_between_runs(find: Callable[[Any], _Value]) -> cached_property[_Value]:
    """Decorator for a property that the cache keeps between runs too, since it depends on the trace
    alone; its object has `once`.
    """

    @cache
    def kind_of() -> type[_Value]:
        return cast(type[_Value], get_type_hints(find)["return"])

    def known(self: Any) -> _Value:
        return cast(_Value, self.once(kind_of(), find.__qualname__, lambda: find(self)))

    known.__doc__ = find.__doc__
    return cached_property(known)


class TraceContents:
    """The texts of a trace's messages and the fields of its results, while it is measured.

    `once` caches expensive values that depend only on the trace and that not every strategy needs.
    """

    def __init__(self, trace: Trace, once: Once = made_now) -> None:
        self.once = once
        self.results = {result.index: replace(result, full=result.text) for result in trace.results}
        """Its results by step. The text of each is written once."""

        self._trace, self._texts = trace, Texts()

    @cached_property
    def texts(self) -> Texts:
        """The shared readings of texts, which know the words that the trace writes in small
        letters."""
        self._texts.lower.update(self._small_words)
        return self._texts

    @kept_between_runs
    def _small_words(self) -> frozenset[str]:
        texts = (text for step in self._trace.steps for text in step_texts(step))
        return small_words_of(
            line for text in texts for line in self._texts.plain(text).split("\n")
        )

    @kept_between_runs
    def rules(self) -> dict[int, list[str]]:
        """The standing rules that each system turn and request gives, by its step."""
        given = (s for s in self._trace.steps if isinstance(s, SystemTurn | UserTurn))
        found = {s.index: [*dict.fromkeys(filter(is_rule, sentences_of(s.content)))] for s in given}
        return {step: rules for step, rules in found.items() if rules}

    @memo
    def counter(self, encoding: str) -> TokenCounter:
        """The shared token counter of an encoding."""
        return TokenCounter(encoding)

    def result_of(self, message: Message) -> ToolResult | None:
        """The result that a message shows; None for any other message."""
        return None if message.step is None else self.results.get(message.step)

    def of(self, message: Message) -> list[str]:
        """The texts of a message and its calls, without empty ones and without half words at a
        cut."""
        text, result = self.text_of(message), self.result_of(message)
        if result is not None and text != result.text:
            text = self.excerpt(text, result.index).without_halves
        return [part for part in (text, *map(call_text, message.tool_calls)) if part]

    @memo
    def excerpt(self, text: str, step: int) -> Excerpt:
        """The text of a message as an excerpt of the result of a step, which it shows."""
        return Excerpt(text, self.results[step].text)

    def text_of(self, message: Message) -> str:
        """The text of a message without colours; for a result with its short names and encoded runs
        decoded.

        If it provably writes the result, or all of its data, in another layout, the result itself
        replaces it.
        """
        text, result = message.text, self.result_of(message)
        if result is not None and text == result.text:
            return text
        text = without_colours(text)
        return text if result is None else self.in_place(text, result.index)

    @memo
    def decoded(self, text: str, step: int) -> tuple[str, bool]:
        """A text that shows a step's result, with its encoded runs decoded; True if it has any."""
        return decoded_runs(text, self.results[step].text)

    @memo
    def in_place(self, text: str, step: int) -> str:
        """A text decoded as far as possible, with its step's result in place of the same data."""
        result, around = self.results[step], None
        if 2 * len(text) < len(result.text) and not without_notices(text).strip():
            return text
        if text in result.text and WORD.search(result.text.replace(text, "", 1)):
            return text  # a part of it, as it is
        comments = comments_of(result.text) if self.is_laid_out(step) else []
        if comments and comments_of(text) != comments:
            return text
        decoded = self.decoded(text, step)[0]
        text = written_out(decoded, result.text)
        with suppress(RecursionError):  # nested too deeply
            beside = (self._beside_data(way, step) for way in dict.fromkeys((decoded, text)))
            around = next((lines for lines in beside if lines is not None), None)
        return text if around is None else "\n".join([*around, result.text])

    @memo
    def value(self, step: int) -> Any:
        """The value of a result, else of its text where that is data; None for other texts."""
        result = self.results[step]
        if isinstance(result.data, dict | list):
            return result.data
        with suppress(NothingParsed):
            return parse_data(result.text)
        return None

    def is_laid_out(self, step: int) -> bool:
        """True if a result is data in YAML or settings, whose indentation is a part of the layout."""
        result, value = self.results[step], self.value(step)
        return (
            value is not None and value is not result.data and result.text.lstrip()[0] not in "[{"
        )

    @memo
    def comments(self, step: int) -> list[str]:
        """The comments in the YAML or settings of a result."""
        found = comments_of(self.results[step].text) if self.is_laid_out(step) else []
        return [words for words, _ in found]

    @memo
    def _by_records(self, step: int) -> Any:
        """The data, or the tables, of a result as records."""
        tables = self.tables(step).tables
        return by_records(tables[0] if len(tables) == 1 else tables or self.value(step))

    @memo
    def _as_json(self, step: int) -> str:
        return exact_json(self.value(step))

    @memo
    def _with_tables(self, step: int) -> str:
        """The data of a result with its tables as CSV, as the bench writes them."""
        return write_tables(decode_strings(self.value(step)))

    def _beside_data(self, text: str, step: int) -> list[str] | None:
        """The lines of a text besides all data of a step's result, without the comments of the result
        and the lines beside its table; None if it lacks one of these."""
        is_json = text[:1] in ("[", "{") and text == self._as_json(step)
        is_written = is_json or ("@table" in text and text == self._with_tables(step))
        shown = None if is_written else data_of(text)
        if not (is_written or shown) or not self.fields(step).fields:
            return None
        if shown is None:
            return []
        records, full = by_records(shown.value), self._by_records(step)
        if not is_same_data(records, full, in_cells=shown.are_tables):
            return None
        around = self.tables(step).rest
        if self.is_laid_out(step):
            around = [words for words, _ in comments_of(self.results[step].text)]
        lines, around = [*map(str.strip, shown.rest)], [*map(str.strip, around)]
        is_complete = [line for line in lines if line in around] == around
        return [line for line in lines if line not in around] if is_complete else None

    @kept_between_runs
    def facts(self) -> dict[int, tuple[str, ...]]:
        """The distinct facts of each untruncated result, in order, by its step."""
        find = self.texts.find_facts  # asked for once: their kinds need not stay
        return {step: tuple(find(result.text)) for step, result in self.results.items()}

    @memo
    def facts_of(self, step: int) -> frozenset[str]:
        """The facts of the untruncated result of a step."""
        return frozenset(self.facts[step])

    @cached_property
    def turn_facts(self) -> TurnFacts:
        """The facts in its model turns."""
        return TurnFacts(self._trace, self.texts)

    @cached_property
    def turn_search(self) -> FactSearch:
        """The search of a text for the facts of its turns."""
        return FactSearch(self._facts_of_turns, self.texts)

    @cached_property
    def search(self) -> FactSearch:
        """The search of a text for the facts of its turns and of its results."""
        return FactSearch(chain(self._facts_of_turns, *self.facts.values()), self.texts)

    @kept_between_runs
    def _facts_of_turns(self) -> frozenset[str]:
        return self.turn_facts.distinct

    @kept_between_runs
    def names(self) -> frozenset[str]:
        """The keys of all results, by which the header of a table is recognised."""
        return frozenset().union(*(self.fields(step).names for step in self.results))

    @kept_between_runs
    def field_counts(self) -> dict[int, int]:
        """The number of fields of each structured result, by its step."""
        structured = (s for s, r in self.results.items() if isinstance(r.data, dict | list))
        return {step: len(self.table(step).fields) for step in structured}

    @memo
    def table(self, step: int) -> FieldTable:
        """The fields of the result of a step, where that is data."""
        return FieldTable(self.value(step))

    def is_field(self, step: int, fact: str) -> bool:
        """True if a step is a result that has a fact in a field."""
        return step in self.results and self.table(step).key_of(fact) != ""

    @memo
    def fields(self, step: int) -> FieldTable:
        """The fields of the result of a step, or the cells of its tables where it is text."""
        tables = self.tables(step).tables
        return FieldTable(tables) if tables else self.table(step)

    @memo
    def tables(self, step: int) -> TextTables:
        """The tables in a result that is text."""
        if self.value(step) is not None:
            return TextTables([], [])
        text = self.results[step].text
        with suppress(NothingParsed):
            return TextTables([[*map(parse_json, filter(str.strip, text.split("\n")))]], [])
        return tables_in(text)
