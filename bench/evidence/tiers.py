"""The tier of each fact of a result in one prompt: in context, derivable, retrievable or lost. Judged per result, never per event or trace.

- `in_context`: the prompt holds it, in any of its messages.
- `derivable`: it does not, and the fact is a number that follows from what the messages that show the result say, by one of these rules:
  (a) a count that is stated: they state a total (`bench.text.notices`), or how much they left out of what they show the rest of, and that total is
  the result's own count of the rows of a table, of the items of a list, or of lines; the fact is that count;
  (b) a total that follows from rows all shown: a table of the result is there, read back, with every row, in some column every value; the fact
  is the number of its rows, or the sum of such a column of numbers, rounded as the fact is written.
- `retrievable`: neither, but the outcome's record has a handle, the prompt holds that handle as a whole, and resolving it gave a value that
  holds the fact. A handle that resolves to nothing, or that no message shows, retrieves nothing.
- `lost`: none of these.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Set
from typing import Any

from ..model import ResultOutcome, Run, ToolResult, Trace, as_text, lines_of
from ..text.decode import NothingParsed, decode_strings, parse_json
from ..text.leaves import Leaf, flatten
from ..text.notices import shown_count, stated_left_out, stated_totals
from .held import read_held
from .presence import missing_from, sightings
from .prompt_scan import Standing

TIERS = ("in_context", "derivable", "retrievable", "lost")
"""Best first; a fact has the first that applies."""

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_Column = Counter[tuple[type, Any]]


def tiers(
    standing: Standing, derivable: Iterable[str], retrievable: Callable[[], Iterable[str]]
) -> dict[str, tuple[str, ...]]:
    """The facts of a result that are not in context, by tier, in the order of the result; `retrievable` is asked only where needed.

    >>> cut = Standing(ToolResult(index=0, call_id="a", function="f", seen="471 36.5 /a/b"), False, ("471", "36.5", "/a/b"))
    >>> tiers(cut, ["471"], lambda: ["/a/b"])
    {'derivable': ('471',), 'retrievable': ('/a/b',), 'lost': ('36.5',)}
    """
    if not standing.gone:
        return {}
    follows = set(derivable)
    left = [fact for fact in standing.gone if fact not in follows] if follows else standing.gone
    behind = set(retrievable()) if left else set()
    if not follows and not behind:
        return {"lost": standing.gone}
    by_tier = {
        "derivable": tuple(fact for fact in standing.gone if fact in follows),
        "retrievable": tuple(fact for fact in left if fact in behind),
        "lost": tuple(fact for fact in left if fact not in behind),
    }
    return {tier: facts for tier, facts in by_tier.items() if facts}


# ---------------------------------------------------------------- derivable


class Countable:
    """What can be counted and added up in one result; found when it is first asked for."""

    def __init__(self, result: ToolResult) -> None:
        self._result = result

    @functools.cached_property
    def tables(self) -> list[tuple[int, dict[str, _Column]]]:
        """Its tables, lists of two or more mappings: how many rows, and each column with its values as often as they come."""
        return list(_tables(self._result))

    @functools.cached_property
    def counts(self) -> frozenset[int]:
        """How many rows, items and lines it has, each table, list and text of its own."""
        return _own_counts(self._result)

    @functools.cached_property
    def sums(self) -> list[float]:
        """The sums of the columns of its tables that hold numbers alone."""
        return [_sum(column) for _, columns in self.tables for column in columns.values() if _adds(column)]

    def candidates(self, facts: Iterable[str]) -> list[str]:
        """Those of the facts that would follow were everything stated and shown: in most results none, and then no text need be looked at."""
        numbers = [fact for fact in facts if _NUMBER.fullmatch(fact)]
        return [fact for fact in numbers if _is_count(fact, self.counts) or _is_sum(fact, self.sums)]


def derivable(
    result: ToolResult, texts: Iterable[str], facts: Iterable[str], countable: Countable | None = None
) -> list[str]:
    """Those of the facts that follow from the texts that show a result, by the rules above. `countable` is that of the result, where it is known.

    >>> rows = [{"id": number, "x": 2 * number} for number in range(200)]
    >>> table = ToolResult(index=0, call_id="a", function="f", data={"rows": rows, "count": 200, "sum": 39800})
    >>> derivable(table, ["[195 more rows]\\nid,x\\n0,0\\n1,2\\n2,4\\n3,6\\n4,8"], ["200", "39800", "195"])
    ['200']
    >>> derivable(table, ["id,x\\n" + "\\n".join(f"{row['id']},{row['x']}" for row in rows)], ["200", "39800", "195"])
    ['200', '39800']
    """
    own = countable or Countable(result)
    texts = tuple(text for text in texts if text)
    numbers = own.candidates(facts) if texts else []
    if not numbers:
        return []
    names = {key: (key,) for _, columns in own.tables for key in columns}
    rows = [row for text in texts for row in getattr(read_held(text, names).leaves, "rows", ())]
    shown = _columns_of(rows)
    counts = _stated_counts(texts, len(rows)) & own.counts
    sums: list[float] = []
    for length, columns in own.tables:
        whole = [column for key, column in columns.items() if shown.get(key) == column]
        if whole:
            counts.add(length)
            sums += [_sum(column) for column in whole if _adds(column)]
    return [fact for fact in numbers if _is_count(fact, counts) or _is_sum(fact, sums)]


def _stated_counts(texts: tuple[str, ...], rows: int) -> set[int]:
    """Rule (a): the totals that texts state, and those that follow from what they show and left out; a line that says so is none shown."""
    totals = {total for text in texts for total in stated_totals(text)}
    left_out = {count for text in texts for count in stated_left_out(text)}
    lines = sum(len(lines_of(text)) for text in texts)
    shown = {rows, sum(map(shown_count, texts)), lines, lines - 1}
    return totals | {count + more for count in shown for more in left_out}


def _own_counts(result: ToolResult) -> frozenset[int]:
    counts = {len(lines_of(result.text))}
    waiting: list[Any] = [_value(result)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            counts.add(len(node))
        if isinstance(node, str) and "\n" in node:
            counts.add(len(lines_of(node)))
        if isinstance(node, list | dict):
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return frozenset(counts - {0})


def _tables(result: ToolResult) -> Iterable[tuple[int, dict[str, _Column]]]:
    waiting: list[Any] = [_value(result)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list) and len(node) > 1 and all(isinstance(row, dict) for row in node):
            yield len(node), _columns_of(flatten(row).others for row in node)
        if isinstance(node, list | dict):
            waiting.extend(node.values() if isinstance(node, dict) else node)


def _columns_of(rows: Iterable[list[Leaf]]) -> dict[str, _Column]:
    """Each top-level column of some rows, its values as often as they come."""
    columns: dict[str, _Column] = {}
    for row in rows:
        for path, typed in row:
            if len(path) == 1:
                columns.setdefault(path[0], Counter())[typed] += 1
    return columns


def _value(result: ToolResult) -> Any:
    if result.data is not None:
        return decode_strings(result.data)
    return _value_of_text(result.text)


@functools.lru_cache(maxsize=256)
def _value_of_text(text: str) -> Any:
    try:
        return decode_strings(parse_json(text))
    except NothingParsed:
        return None


def _adds(column: _Column) -> bool:
    return all(kind in (int, float) and value != "NaN" and math.isfinite(value) for kind, value in column)


def _sum(column: _Column) -> float:
    return math.fsum(value * times for (_, value), times in column.items())


def _is_count(fact: str, counts: Set[int]) -> bool:
    return "." not in fact and int(fact[:20]) in counts


def _is_sum(fact: str, sums: Iterable[float]) -> bool:
    decimals, value = len(fact.partition(".")[2]), float(fact)
    return any(math.isfinite(total) and abs(total) < 1e15 and round(total, decimals) == value for total in sums)


# ---------------------------------------------------------------- retrievable


def retrievable(result: ToolResult, outcome: ResultOutcome, facts: Iterable[str]) -> list[str]:
    """Those of the facts that what was stored holds, the handle resolved; `[]` where it resolved to nothing.

    >>> from bench.strategies import untruncated_record
    >>> got = ToolResult(index=0, call_id="a", function="f", seen="471 rows in /a/b")
    >>> outcome = ResultOutcome(step=0, call_id="a", shown="k", record=untruncated_record(got), stored="471 rows")
    >>> retrievable(got, outcome, ["471", "/a/b"])
    ['471']
    """
    stored = outcome.stored
    if stored is None:
        return []
    text = as_text(stored)
    if stored is result.value or text in (result.text, as_text(result.value)):
        return list(facts)
    facts = list(facts)
    missing = set(missing_from(text, facts))
    return [fact for fact in facts if fact not in missing]


class _HandlesOf:
    """The handles out of given ones that a text shows whole."""

    def __init__(self, handles: Iterable[str]) -> None:
        self._patterns = [
            (handle, re.compile(rf"(?<!\w){re.escape(handle)}(?!\w)")) for handle in dict.fromkeys(handles)
        ]
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            found = tuple(handle for handle, pattern in self._patterns if handle in text and pattern.search(text))
            self._known[text] = found
        return found


def visible_handles(trace: Trace, run: Run) -> tuple[dict[str, frozenset[int]], dict[int, frozenset[str]]]:
    """Which results have their handle in their first prompt and in their last one, by place, and which handles each prompt shows, by step.

    Both are empty for a run without handles.

    >>> from bench.metrics import example
    >>> visible_handles(*example())
    ({}, {})
    """
    handles = {outcome.step: outcome.record.handle for outcome in run.results if outcome.record.handle}
    if not handles:
        return {}, {}
    of_results: dict[str, set[int]] = {"shown": set(), "end": set()}
    of_prompts: dict[int, frozenset[str]] = {}
    for place, subject, shown in sightings(trace, run, _HandlesOf(handles.values())):
        held = shown.items()
        if not isinstance(subject, ToolResult):
            of_prompts[subject.step] = frozenset(held)
        elif handles.get(subject.index) in held:
            of_results[place].add(subject.index)
    return {place: frozenset(found) for place, found in of_results.items()}, of_prompts
