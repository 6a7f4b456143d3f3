"""The tool results of one case that strategies lost most of: untruncated text beside what was kept, and the turns that needed what is gone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from ..model import Kept, ResultShown, Rows, Span, ToolResult, as_text
from ..text.decode import as_data, decode_strings
from ..text.search import Strings
from ..text.texts import Texts
from ..text.wording import counted, cut, listed
from .explanations import explain
from .losses import Damage
from .of_run import RunEvidence
from .presence import messages_at

MAX_STRATEGIES = 6
MAX_NAMED = 12
MAX_SENTENCES = 6
MAX_EXPLAINED_CHARS = 400_000  # comparing longer values takes seconds
UNTRUNCATED_CHARS = 6_000
KEPT_CHARS = 2_500


def worst_results(
    damaged: Mapping[int, Sequence[Damage]], evidence: Mapping[str, RunEvidence], most: int
) -> tuple[ResultShown, ...]:
    """The worst results of a case, at most `most`, each beside what the worst strategies kept of it."""
    worst = sorted(damaged, key=lambda step: (min(damage.badness for damage in damaged[step]), step))[:most]
    return tuple(_result_shown(step, damaged[step], evidence) for step in worst)


def _result_shown(step: int, damaged: Sequence[Damage], evidence: Mapping[str, RunEvidence]) -> ResultShown:
    worst = sorted(damaged, key=lambda damage: (damage.badness, damage.strategy))[:MAX_STRATEGIES]
    result = evidence[worst[0].strategy].of_trace.results[step]
    table = table_of(result)
    kept = [_kept(evidence[damage.strategy], result, table, damage) for damage in worst]
    needed = {item.fact for damage in worst for item in damage.missed}
    lost = dict.fromkeys(fact for _, facts in kept for fact in facts)
    return ResultShown(
        step=step,
        function=result.function,
        characters=len(result.text),
        untruncated=excerpt(result.text, lost, needed, UNTRUNCATED_CHARS),
        kept=tuple(item for item, _ in kept),
        missed=max(len(damage.missed) for damage in damaged),
        lost=max(damage.lost_in_prompt + damage.lost_in_store for damage in damaged),
        rows=whole(table),
    )


def _kept(evidence: RunEvidence, result: ToolResult, table: Table | None, damage: Damage) -> tuple[Kept, list[str]]:
    """The part of a result that a strategy kept, and every fact it lost.

    It is looked for in the prompt that first missed it, else in the last one, else in the store.
    """
    if damage.missed or damage.lost_in_prompt:
        turn = damage.missed[0].turn if damage.missed else None
        where, text, lost = _in_prompt(evidence, result, turn)
        held: object = text
    else:
        held = evidence.outcomes[result.index].stored
        where, text = "in its store", as_text(held)
        lost = evidence.of_trace.lost_of(result, text)
    comparable = isinstance(result.data, dict | list) and len(result.text) <= MAX_EXPLAINED_CHARS and held
    needed = {item.fact for item in damage.missed}
    tiers = (found.facts for found in evidence.tiers["end"] if found.held.result is result)
    behind = {fact for facts in tiers for fact in facts["retrievable"]}
    named = sorted(lost, key=lambda fact: fact not in needed)[:MAX_NAMED]
    return (
        Kept(
            strategy=damage.strategy,
            where=where,
            text=excerpt(text, (), (), KEPT_CHARS) if text else (Span("nothing", "gap"),),
            lost=tuple(named),
            lost_total=len(lost),
            needed_at=damage.missed[:MAX_NAMED],
            retrievable=tuple(fact for fact in named if fact in behind),
            said=tuple(explain(result.value, held)[:MAX_SENTENCES]) if comparable else (),
            rows=beside(table, text),
        ),
        lost,
    )


def _in_prompt(evidence: RunEvidence, result: ToolResult, turn: int | None) -> tuple[str, str, list[str]]:
    """The prompt in words, the messages in it that still show the result, and the facts of the result that no message there holds."""
    run, texts = evidence.run, evidence.texts
    last = next((prompt.step for prompt in reversed(run.prompts) if prompt.thread == result.thread), None)
    messages = messages_at(run, last if turn is None else turn)
    facts, of_trace = texts.facts(result.text), evidence.of_trace
    if messages is None:
        return "in no prompt", "", list(facts)
    still = [message.text for message in messages if message.step == result.index]
    where = "in the last prompt" if turn is None else f"in the prompt of step {turn}, which needed it"
    if result.text in still:
        return where, "\n".join(still), []
    said = dict.fromkeys(text for message in messages for text in of_trace.said_in(message))
    present = {fact for text in said for fact in of_trace.facts_held(text)}
    return where, "\n".join(still), [fact for fact in facts if fact not in present]


MAX_ROWS = 24
MAX_COLUMNS = 12
MAX_CELL = 60
MAX_COMPARED = 400  # the most kept rows or lines in which a row is looked for
Table = Sequence[Mapping[str, Any]]


def table_in(value: Any) -> Table | None:
    """The largest list of mappings anywhere in a value, JSON inside strings included; None where no list of two or more is.

    >>> table_in({"data": '[{"id": 1}, {"id": 2}]', "n": 2})
    [{'id': 1}, {'id': 2}]
    """
    best: list[Any] = []
    waiting = [decode_strings(value)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting.extend(node.values())
        elif isinstance(node, list | tuple):
            rows = [item for item in node if isinstance(item, Mapping) and item]
            if len(rows) > max(1, len(best)) and len(rows) == len(node):
                best = rows
            waiting.extend(node)
    return best or None


def whole(table: Table | None) -> Rows | None:
    """The beginning of the table in a result; None where it holds none."""
    if table is None:
        return None
    shown = _beginning(table)
    first = f", the first {MAX_ROWS} shown" if len(table) > MAX_ROWS else ""
    more = f", the first {MAX_COLUMNS} shown" if len(shown.columns) == MAX_COLUMNS else ""
    said = f"{counted(len(table), 'row')}{first}; {counted(len(shown.columns), 'column')}{more}."
    return replace(shown, caption=said)


def _beginning(table: Table) -> Rows:
    """The first rows and columns of a table, without a caption."""
    rows = table[:MAX_ROWS]
    columns = tuple(dict.fromkeys(str(name) for row in rows for name in row))[:MAX_COLUMNS]
    cells = (tuple(cut(as_text(row[name]), MAX_CELL) if name in row else "" for name in columns) for row in rows)
    return Rows(columns, tuple(cells), frozenset(), "")


def beside(table: Table | None, text: str) -> Rows | None:
    """The same rows with the cells gone that a text does not hold, in the row it holds most of; None where the result has no table."""
    if table is None:
        return None
    shown, rows = _beginning(table), table[:MAX_ROWS]
    columns = shown.columns
    held = _held_rows(text)
    places = held if held is not None else [line for line in text.splitlines() if line.strip()][:MAX_COMPARED]
    texts = Texts()
    free = list(range(len(places)))
    gone: set[tuple[int, int]] = set()
    for number, row in enumerate(rows):
        of_place = {at: _columns_held(row, columns, places[at], texts) for at in free}
        count, at = max(((len(kept), -at) for at, kept in of_place.items()), default=(0, 0))
        kept = of_place[-at] if count else set()
        if count and held is not None:
            free.remove(-at)
        gone |= {(number, column) for column, name in enumerate(columns) if name in row and column not in kept}
    shown = replace(shown, gone=frozenset(gone))
    return replace(shown, caption=_said(shown, len(table)))


def table_of(result: ToolResult) -> Table | None:
    """The table in a result; None where it holds none."""
    return table_in(result.data if result.data is not None else as_data(result.text[:2_000_000]))


def _held_rows(text: str) -> list[Mapping[str, Any]] | None:
    """The rows that a text holds as data, as far as it can be read; None where it is not data."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    value = as_data(text[start:])
    found: list[Mapping[str, Any]] = []
    waiting = [value]
    while waiting and len(found) < MAX_COMPARED:
        node = waiting.pop()
        if isinstance(node, Mapping):
            found.append(node)
            waiting.extend(as_data(item) if isinstance(item, str) else item for item in reversed([*node.values()]))
        elif isinstance(node, list | tuple):
            waiting.extend(reversed(node))
    return None if isinstance(value, str) else found


def _columns_held(
    row: Mapping[str, Any], columns: Sequence[str], place: Mapping[str, Any] | str, texts: Texts
) -> set[int]:
    """The columns of a row that a kept row or line holds."""
    if isinstance(place, str):
        return {at for at, name in enumerate(columns) if name in row and _stands(place, as_text(row[name]), texts)}
    both = [(at, row[name], place[name]) for at, name in enumerate(columns) if name in row and name in place]
    return {at for at, ours, theirs in both if type(ours) is type(theirs) and ours == theirs}


def _stands(line: str, text: str, texts: Texts) -> bool:
    """True if a cell's text is in a line; one without letters and digits (a dash, nothing) wherever it occurs."""
    return texts.holds(line, text) if re.search(r"\w", text) else text in line


def _said(shown: Rows, total: int) -> str:
    """One sentence on the rows and columns that are left."""
    rows = sum(not shown.row_gone(row) for row in range(len(shown.rows)))
    columns = [name for at, name in enumerate(shown.columns) if shown.column_gone(at)]
    of = f"{len(shown.rows)} rows" if total <= MAX_ROWS else f"the first {len(shown.rows)} of {total} rows"
    if not rows:
        return f"Nothing left of {of}."
    lost = f"; lost in all: {listed(columns)}" if columns else ""
    return f"Something left in {rows} of {of}{lost}."


_BEGINS = re.compile(r"(?:(?<!\w)|(?<=\\[nrt])|(?<=\\u[0-9a-fA-F]{4}))")  # a fact may follow an escape in JSON text
_ENDS = re.compile(r"(?!\w)")


def _whole(text: str, start: int, end: int) -> bool:
    return bool(_BEGINS.match(text, start) and _ENDS.match(text, end))


AROUND = 160  # characters kept on each side of a marked fact
MOST_SOUGHT = 200  # lost facts looked for to choose what is shown; every lost fact in what is shown is marked
_Mark = tuple[int, int, Literal["lost", "needed"]]


def excerpt(text: str, lost: Collection[str], needed: Collection[str], limit: int) -> tuple[Span, ...]:
    """A text as spans of at most about `limit` characters: its beginning, then the surroundings of needed facts, then of lost ones.

    What is left out becomes a gap that says how much. `()` for an empty text.

    >>> [(span.text, span.kind) for span in excerpt("id run_7 ok", ["run_7"], [], 100)]
    [('id ', 'plain'), ('run_7', 'lost'), (' ok', 'plain')]
    >>> [span.kind for span in excerpt("a" * 500, [], [], 100)]
    ['plain', 'gap']
    """
    chosen = {*needed, *itertools.islice(lost, MOST_SOUGHT)}
    windows = _windows(len(text), list(_marks(text, chosen, needed)), limit)
    shown = "\n".join(text[low:high] for low, high in windows)
    marks = list(_marks(text, {fact for fact in {*lost, *needed} if fact in shown}, needed))
    return tuple(_spans(text, marks, windows))


def _marks(text: str, sought: Collection[str], needed: Collection[str]) -> Iterator[_Mark]:
    behind = 0
    for start, length in sorted((start, -len(fact)) for fact, start in Strings(sought, _whole).places(text)):
        if start >= behind:
            behind = start - length
            yield start, behind, "needed" if text[start:behind] in needed else "lost"


def _windows(length: int, marks: Sequence[_Mark], limit: int) -> list[tuple[int, int]]:
    """The parts to show, in order and apart from each other."""
    if length <= limit:
        return [(0, length)]
    spent = limit if not marks else limit // 4
    wanted = [(0, spent)]
    for kind in ("needed", "lost"):
        for start, end, mark in marks:
            around = max(0, start - AROUND), min(length, end + AROUND)
            if mark != kind or any(low <= start and end <= high for low, high in wanted):
                continue
            if spent + around[1] - around[0] > limit:
                break
            wanted.append(around)
            spent += around[1] - around[0]
    merged: list[tuple[int, int]] = []
    for low, high in sorted(wanted):
        if merged and low <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return merged


def _spans(text: str, marks: Sequence[_Mark], windows: Sequence[tuple[int, int]]) -> Iterator[Span]:
    position = 0
    for low, high in (*windows, (len(text), len(text))):
        if low > position:
            yield Span(f"\n… {counted(low - position, 'character')} left out here …\n", "gap")
        at = low
        for start, end, kind in marks:
            if start >= at and end <= high:
                if start > at:
                    yield Span(text[at:start])
                yield Span(text[start:end], kind)
                at = end
        if high > at:
            yield Span(text[at:high])
        position = high
