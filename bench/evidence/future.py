"""The needs and requests of a whole recording, for a strategy that reads the future: the first
source and the last use of each fact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ..model import Trace, compact_json, grouped, memo
from ..model.index import TraceIndex
from ..text.field_list import Field
from ..text.field_table import FieldTable
from ..text.texts import FactSearch, longer_facts
from .contents import TraceContents
from .instructions import instructions_of


class FutureNeed(NamedTuple):
    """A fact that a thread needs up to the step `last`. `source` is the first step with it."""

    thread: str
    fact: str
    source: int
    last: int


class Future:
    """The input of a strategy that reads the future: the needs and the requests of a trace. What
    follows from them is found once, for all such strategies.

    >>> from bench.evidence.index import index_trace
    >>> from bench.model import ModelTurn, Source, UserTurn
    >>> steps = UserTurn(index=0, content="Count 471."), ModelTurn(index=1, content="It has 471.")
    >>> trace = Trace(id="a", source=Source(format="native"), steps=steps)
    >>> Future(trace, index_trace(trace), TraceContents(trace)).needs
    [FutureNeed(thread='main', fact='471', source=0, last=1)]
    """

    def __init__(self, trace: Trace, index: TraceIndex, contents: TraceContents) -> None:
        self._trace, self._index, self._contents = trace, index, contents

    @cached_property
    def needs(self) -> list[FutureNeed]:
        """The needs of each thread, in the order in which they first arose."""
        threads = {turn.index: turn.thread for turn in self._trace.model_turns}
        needs: dict[tuple[str, str], FutureNeed] = {}
        for turn, of_turn in sorted(self._index.needs.items()):
            for need in of_turn:
                key = threads[turn], self._index.facts[need.fact]
                first = needs.get(key) or FutureNeed(*key, need.origin_step, turn)
                needs[key] = first._replace(last=turn)
        return [*needs.values()]

    def is_field(self, need: FutureNeed) -> bool:
        """True if the source of a fact has it in a field."""
        return self._contents.is_field(need.source, need.fact)

    @cached_property
    def last_turns(self) -> dict[int, float]:
        """The last turn to which each request applies, by its step."""
        given = instructions_of(self._trace, self._index, self.rules)
        requests = (item for item in given if item.kind == "task")
        return {item.step: math.inf if item.last is None else item.last for item in requests}

    @property
    def rules(self) -> Mapping[int, Sequence[str]]:
        """The standing rules in each system turn and request, by its step."""
        return self._contents.rules

    @property
    def search(self) -> FactSearch:
        """The search of texts for the needed facts."""
        return self._contents.turn_search

    @cached_property
    def longer(self) -> dict[str, frozenset[str]]:
        """For each needed fact the longer needed facts that contain it."""
        return longer_facts((need.fact for need in self.needs), self.search)

    @cached_property
    def illegible(self) -> frozenset[str]:
        """The needed facts that a text of nothing else does not have."""
        facts = {need.fact for need in self.needs}
        return frozenset(fact for fact in facts if fact not in self.search.in_text(fact))

    @memo
    def record_lines(self, step: int, facts: tuple[str, ...]) -> list[str]:
        """A line of JSON for each record of a result with some facts: its identity and these
        fields.

        >>> from bench.model import Source, ToolResult
        >>> data = [{"id": "W1", "mm": 125, "by": "ann"}, {"id": "W2", "mm": 300, "by": "bob"}]
        >>> result = ToolResult(index=4, call_id="c", function="f", data=data)
        >>> trace = Trace(id="t", source=Source(format="native"), steps=(result,))
        >>> Future(trace, TraceIndex(encoding=""), TraceContents(trace)).record_lines(4, ("125", "300"))
        ['{"id":"W1","mm":"125"}', '{"id":"W2","mm":"300"}']
        """
        table = self._contents.results[step].table
        by_record = grouped(
            (item.record, item) for item in (table.fields_with(fact)[0] for fact in facts)
        )
        return [_record_line(table, record, items) for record, items in by_record.items()]


def _record_line(table: FieldTable, record: int, items: Iterable[Field]) -> str:
    """One record as JSON: some fields, and the shortest value that identifies it, under its key in
    a mapping of rows, unless one of these does; a list if a key has several values."""
    identity, items, key = table.identity(record), list(items), ""
    pairs = [(item.key, item.text) for item in items]
    if all(item.text.casefold() not in identity or table.is_shared(item) for item in items):
        named = [pair for pair in table.pairs(record) if pair[1].casefold() in identity]
        others = sorted({*named}.difference(pairs), key=lambda pair: (len("".join(pair)), pair))
        pairs, key = [*others[:1], *pairs], table.row_key(record)
    by_key: dict[str, list[str]] = {}
    for name, text in dict.fromkeys(pairs):
        by_key.setdefault(name, []).append(text)
    row = {name: texts[0] if len(texts) == 1 else texts for name, texts in by_key.items()}
    return compact_json({key: row} if key else row)
