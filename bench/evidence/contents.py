"""The texts and tables of one trace, each read once for all users."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from itertools import chain
from typing import Any, Protocol, TypeVar, cast, get_type_hints

from ..model import Message, SystemTurn, Trace, UserTurn, grouped, memo
from ..text.decode import without_colours
from ..text.facts import small_words_of
from ..text.instructions import is_rule, sentences_of
from ..text.texts import FactSearch, Texts
from ..tokens.counting import TokenCounter
from .result_contents import ResultContents
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
    alone; its object has `once`."""

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
        self.results = {result.index: ResultContents(result) for result in trace.results}
        """The contents of its results by step."""

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

    def result_of(self, message: Message) -> ResultContents | None:
        """The contents of the result that a message shows; None for any other message."""
        return None if message.step is None else self.results.get(message.step)

    def of(self, message: Message) -> list[str]:
        """The texts of a message and its calls, without empty ones and without half words at a
        cut."""
        text, result = self.text_of(message), self.result_of(message)
        if result is not None and text != result.text:
            text = result.excerpt(text).without_halves
        return [part for part in (text, *map(call_text, message.tool_calls)) if part]

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
        return text if result is None else result.normalized(text)

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
        return frozenset().union(*(result.columns.names for result in self.results.values()))

    @cached_property
    def keys_within(self) -> dict[str, set[str]]:
        """The keys in the mappings under each key of all results."""
        pairs = (pair for it in self.results.values() for pair in it.columns.keys_within.items())
        return {key: set[str]().union(*inner) for key, inner in grouped(pairs).items()}

    @kept_between_runs
    def field_counts(self) -> dict[int, int]:
        """The number of fields of each structured result, by its step."""
        return {
            step: len(contents.table.fields)
            for step, contents in self.results.items()
            if isinstance(contents.result.data, dict | list)
        }

    def is_field(self, step: int, fact: str) -> bool:
        """True if a step is a result that has a fact in a field."""
        return step in self.results and self.results[step].table.key_of(fact) != ""
