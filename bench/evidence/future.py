"""The needs and requests of a whole recording, for a strategy that reads the future: the first
source and the last use of each fact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ..model import Trace, compact_json, memo
from ..model.index import Origin, TraceIndex
from ..text.field_list import Field
from ..text.fields import FieldTable
from ..text.texts import FactsHeld, longer_holding
from .contents import TraceContents
from .missing import instructions_of


class FutureNeed(NamedTuple):
    """A fact that a thread needs up to the step `last`. `source` is the first step with it, `field`
    its key there.
    """

    thread: str
    fact: str
    origin: Origin
    source: int
    last: int
    field: str = ""


@dataclass(frozen=True)
class Future:
    """The input of a strategy that reads the future: every need of a trace, and its results by
    their steps.

    `search` finds them in texts. What follows from all this is found once, for all
    strategies that read the same future.
    """

    needs: tuple[FutureNeed, ...]
    search: FactsHeld
    table: Callable[[int], FieldTable]
    """The fields of the result of a step."""

    last_turns: Mapping[int, float]
    """The last turn to which each request applies, by its step."""

    rules: Mapping[int, Sequence[str]]
    """The standing rules in each system turn and request, by its step."""

    @classmethod
    def of(
        cls,
        needs: Iterable[FutureNeed],
        contents: TraceContents,
        last_turns: Mapping[int, float] = MappingProxyType({}),
        rules: Mapping[int, Sequence[str]] = MappingProxyType({}),
    ) -> Future:
        """The future with some needs, by fact."""
        return cls(tuple(needs), contents.turn_search, contents.table, last_turns, rules)

    @cached_property
    def longer(self) -> dict[str, frozenset[str]]:
        """For each needed fact the longer needed facts that contain it."""
        return longer_holding((need.fact for need in self.needs), self.search)

    @memo
    def record_lines(self, step: int, facts: tuple[str, ...]) -> list[str]:
        """A line of JSON for each record of a result with some facts: its identity and these
        fields.

        >>> from bench.model import Source, ToolResult
        >>> data = [{"id": "W1", "mm": 125, "by": "ann"}, {"id": "W2", "mm": 300, "by": "bob"}]
        >>> result = ToolResult(index=4, call_id="c", function="f", data=data)
        >>> trace = Trace(id="t", source=Source(format="native"), steps=(result,))
        >>> Future.of((), TraceContents(trace)).record_lines(4, ("125", "300"))
        ['{"id":"W1","mm":"125"}', '{"id":"W2","mm":"300"}']
        """
        table = self.table(step)
        by_record: dict[int, list[Field]] = {}
        for fact in facts:
            item = table.of(fact)[0]
            by_record.setdefault(item.record, []).append(item)
        return [_record_line(table, record, items) for record, items in by_record.items()]


def _record_line(table: FieldTable, record: int, items: Iterable[Field]) -> str:
    """One record as JSON: some fields, and the shortest value that identifies it unless one of
    these does; a list if a key has several values.
    """
    own, items = table.identity(record), list(items)
    pairs = [(item.key, item.text) for item in items]
    if all(item.text.casefold() not in own or table.is_shared(item) for item in items):
        named = [pair for pair in table.pairs(record) if pair[1].casefold() in own]
        others = sorted({*named}.difference(pairs), key=lambda pair: (len("".join(pair)), pair))
        pairs = [*others[:1], *pairs]
    by_key: dict[str, list[str]] = {}
    for key, text in dict.fromkeys(pairs):
        by_key.setdefault(key, []).append(text)
    return compact_json(
        {key: texts[0] if len(texts) == 1 else texts for key, texts in by_key.items()}
    )


def future_of(trace: Trace, index: TraceIndex, contents: TraceContents) -> Future:
    """The future of a trace, its needs in the order in which they first arose."""
    threads = {turn.index: turn.thread for turn in trace.model_turns}
    by_fact: dict[tuple[str, str], FutureNeed] = {}
    for turn, needs in sorted(index.needs.items()):
        for need in needs:
            key = threads[turn], index.facts[need.fact]
            first = by_fact.get(key) or FutureNeed(
                *key, need.origin, need.origin_step, turn, need.field
            )
            by_fact[key] = first._replace(last=turn)
    given = instructions_of(trace, index, contents.rules)
    requests = (item for item in given if item.kind == "task")
    last_turns = {item.step: math.inf if item.last is None else item.last for item in requests}
    return Future.of(by_fact.values(), contents, last_turns, contents.rules)
