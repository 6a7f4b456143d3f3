"""Compactors `clairvoyant` and `floor`, which read the future: the needed lines of each result, or the needed facts alone."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from ...evidence.future import Future
from ...model import Message
from ...plugins.registry import register
from ...text.search import first_places
from ...text.texts import Texts
from .. import Edits, Window
from ..histories import summary_message

NOTHING = Future.of(())
"""The future of a recording in which nothing is needed."""


@register("compactor", "clairvoyant", needs_future=True)
class Clairvoyant:
    """The conversation, and of each tool result only the decoded lines that this or a later turn depends on, until the last one.

    Reads the future of the trace. One line a fact: the first that holds it. A result that nothing needs any more is `""`; where the chosen lines
    would cost more than the untruncated text, that is shown. Of a structured result a line is a record: its identity and the needed fields.

    Source: the clairvoyant optimum of cache research (Belady 1966), by lines

    >>> from bench.evidence.index import index_trace
    >>> from bench.replayer.replaying import Replayer
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> got = ToolResult(index=0, call_id="a", function="f", seen="total 471\\nnothing here")
    >>> trace = Trace(id="t", source=Source(format="native"), steps=(got, ModelTurn(index=1, content="So 471.")))
    >>> told = [Message(role="tool", text=got.text, kind="result", step=0)]
    >>> count = lambda item: len(getattr(item, "text", item))
    >>> future = Replayer(trace, index_trace(trace), count).future
    >>> edits = Clairvoyant().compact(Window(1, "main", told, told, 9, 100, count, future=future))
    >>> edits.replace[told[0]].text
    'total 471'
    """

    def __init__(self) -> None:
        self._needs: dict[int, dict[str, int]] | None = None
        self._selections: dict[int, _Selection] = {}
        self._expiries: list[tuple[int, int]] = []  # (turn, result) after which a result's selection changes

    def compact(self, window: Window) -> Edits | None:
        """Each result cut to the lines that later turns need, and cut further when a need has passed."""
        future = window.future or NOTHING
        if self._needs is None:
            self._needs = last_needs(future, window.thread)
        changed: dict[int, _Selection] = {}
        while self._expiries and self._expiries[0][0] < window.step:
            _, step = heapq.heappop(self._expiries)
            changed[step] = self._selections[step]
        for message in window.added:
            if message.kind == "result" and message.step is not None:
                needs = self._needs.get(message.step, {})
                fields = {fact: needs[fact] for fact in needs if (message.step, fact) in future.fields}
                prose = {fact: last for fact, last in needs.items() if fact not in fields}
                selection = _Selection(message, message, _spans(message, prose, future), fields)
                changed[message.step] = self._selections[message.step] = selection
                for turn in set(needs.values()):
                    heapq.heappush(self._expiries, (turn, message.step))
        replace: dict[Message, Message | None] = {}
        for selection in changed.values():
            earlier = selection.current
            text = selection.text(window)
            if text != earlier.text:
                selection.current = msgspec.structs.replace(selection.untruncated, text=text)
                replace[earlier] = selection.current
        return Edits(replace=replace) if replace else None


@dataclass
class _Selection:
    """One result: how it came, how it is shown, each needed line as (start, end, last turn that needs it), and the
    last turn of each fact that is needed as a field.
    """

    untruncated: Message
    current: Message
    spans: list[tuple[int, int, int]]
    fields: dict[str, int]

    def text(self, window: Window) -> str:
        """The lines still needed at this turn, or everything where that is cheaper."""
        alive = [(start, end) for start, end, last in self.spans if last >= window.step]
        fields = [fact for fact, last in self.fields.items() if last >= window.step]
        if not alive and not fields:
            return ""
        whole = self.untruncated.text
        future = window.future or NOTHING
        decode = future.plain
        plain = decode(whole)
        lines = [plain[start:end] for start, end in merged(alive)]
        lines += future.record_lines(self.untruncated.step or 0, fields) if fields else []
        text = "\n".join(lines)
        text = text if decode(text) == text else f">{text}"  # one that would be decoded as JSON gets a mark in front
        return text if window.count(text) <= window.count(whole) else whole


def last_needs(future: Future, thread: str) -> dict[int, dict[str, int]]:
    """Per tool result (by step) the facts that it said first and that a thread needs, each with its last turn."""
    needs: dict[int, dict[str, int]] = {}
    for need in future.needs:
        if need.thread == thread and need.origin == "result":
            needs.setdefault(need.source, {})[need.fact] = need.last
    return needs


def _spans(message: Message, needs: dict[str, int], future: Future) -> list[tuple[int, int, int]]:
    """The lines of a result's message that are needed; those of an untruncated result were found once for all strategies."""
    if message.step not in future.places or message.text != future.results[message.step].text:
        return spans_of(future.plain(message.text), needs)
    plain, places = future.plain(message.text), future.places[message.step]
    return [(*_line_at(plain, *places[fact]), last) for fact, last in needs.items() if fact in places]


def spans_of(plain: str, needs: dict[str, int]) -> list[tuple[int, int, int]]:
    """For each fact the line or lines of its first appearance: (start, end, last turn that needs the fact).

    >>> spans_of("a\\nrow 471\\nb", {"471": 9})
    [(2, 9, 9)]
    """
    return [(*_line_at(plain, *place), needs[fact]) for fact, place in first_places(plain, needs).items()]


def _line_at(plain: str, start: int, end: int) -> tuple[int, int]:
    after = plain.find("\n", end)
    return plain.rfind("\n", 0, start) + 1, len(plain) if after < 0 else after


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, overlapping ones as one.

    >>> merged([(5, 9), (0, 2), (5, 9), (8, 12)])
    [(0, 2), (5, 12)]
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


# ---------------------------------------------------------------- by facts


@register("compactor", "floor", needs_future=True)
class Floor:
    """The system turns and one message with the needed facts, each from its result on until its last use.

    Reads the future of the trace. A fact that another one or a system turn already holds is left out, and of the separators the cheapest is taken;
    facts of fields stand behind their key and the identity of their record.

    Source: the clairvoyant optimum of cache research (Belady 1966), by facts

    >>> from bench.evidence.index import index_trace
    >>> from bench.replayer.replaying import Replayer
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> got = ToolResult(index=0, call_id="a", function="f", seen="total 471 of 36.5 in all")
    >>> trace = Trace(id="t", source=Source(format="native"), steps=(got, ModelTurn(index=1, content="36.5 makes 471.")))
    >>> told = [Message(role="tool", text=got.text, kind="result", step=0)]
    >>> future = Replayer(trace, index_trace(trace), len).future
    >>> [message.text for message in Floor().compact(Window(1, "main", told, told, 9, 100, len, future=future)).messages]
    ['36.5 471']
    """

    def __init__(self) -> None:
        self._born: dict[int, list[str]] | None = None  # facts by the result they come from
        self._dies: dict[str, int] = {}  # the last turn that needs a fact
        self._results: dict[str, int] = {}  # the result that says a fact as a field
        self._alive: dict[str, None] = {}
        self._system: list[Message] = []
        self._in_system: set[str] = set()  # the facts that system turns hold
        self._latest: tuple[tuple[str, ...], Message | None] = ((), None)

    def compact(self, window: Window) -> Edits:
        future = window.future or NOTHING
        if self._born is None:
            self._born = self._foresee(window, future)
        for message in window.added:
            if message.kind == "system":
                self._system.append(message)
                self._in_system.update(future.search(message.text))
            if message.step is not None:
                self._alive.update(dict.fromkeys(self._born.get(message.step, ())))
        self._alive = {fact: None for fact in self._alive if self._dies[fact] >= window.step}
        needed = tuple(fact for fact in self._alive if fact not in self._in_system)
        if needed != self._latest[0]:
            made = summary_message(self._written(needed, window.count, future)) if needed else None
            self._latest = needed, made
        made = self._latest[1]
        return Edits(messages=[*self._system, *([] if made is None else [made])])

    def _written(self, needed: tuple[str, ...], count: Callable[[str], int], future: Future) -> str:
        """The needed facts as one text, those of fields in a line for their record."""
        by_result: dict[int | None, list[str]] = {}
        for fact in needed:
            by_result.setdefault(self._results.get(fact), []).append(fact)
        plain = by_result.pop(None, [])
        lines = [densest(tuple(plain), count, future.longer)] if plain else []
        for step, facts in by_result.items():
            lines += future.record_lines(-1 if step is None else step, facts)
        return "\n".join(lines)

    def _foresee(self, window: Window, future: Future) -> dict[int, list[str]]:
        born: dict[int, list[str]] = {}
        for need in future.needs:
            if need.thread == window.thread:
                born.setdefault(need.source, []).append(need.fact)
                self._dies[need.fact] = need.last
                if need.field:
                    self._results[need.fact] = need.source
        return born


def densest(facts: tuple[str, ...], count: Callable[[str], int], longer: Mapping[str, frozenset[str]]) -> str:
    """One text that holds every fact, in few tokens; `longer` are by fact the longer ones that hold it.

    >>> densest(("src/a.py", "/x/src/a.py:12", "471"), len, {"src/a.py": frozenset({"/x/src/a.py:12"})})
    '/x/src/a.py:12 471'
    """
    among = set(facts)
    kept = [fact for fact in facts if among.isdisjoint(longer.get(fact, ()))]
    return min((_joined(kept, facts, separator, longer) for separator in (" ", "\n")), key=count)


def _joined(kept: list[str], facts: tuple[str, ...], separator: str, longer: Mapping[str, frozenset[str]]) -> str:
    """The kept facts as one text, and those of all facts that it does not hold. What is kept stands there whole, between separators."""
    texts = Texts()
    text = separator.join(kept)
    standing = set(kept)
    if texts.plain(text) != text:  # it would be read as JSON
        text, standing = f">{text}", set()
    elif "\\" not in text:  # what a kept fact holds as it stands, the text holds too
        whole = {fact for fact in kept if fact[0] not in "{["}
        standing.update(fact for fact in facts if not whole.isdisjoint(longer.get(fact, ())))
    missing = texts.missing(text, [fact for fact in facts if fact not in standing])
    return separator.join([text, *missing]) if missing else text
