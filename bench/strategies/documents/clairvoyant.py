"""Compactors `clairvoyant` and `floor`, which read the future of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ...evidence.contents import TraceContents
from ...evidence.future import Future
from ...model import Message, Source, Trace
from ...plugins.registry import register
from ...text.search import first_places
from ...text.texts import Texts
from .. import Edits, Window
from ..histories import summary_message, with_text

NOTHING = Future.of(
    (), TraceContents(Trace(id="nothing", source=Source(format="native"), steps=()))
)
"""The future of a recording in which nothing is needed."""


@register("compactor", "clairvoyant", needs_future=True)
class Clairvoyant:
    """The conversation, and of each result the lines that this or a later turn depends on.

    Reads the future of the trace. One line a fact: the first that holds it, until the last turn
    that needs it. Of a structured result a line is a record: its identity and the needed fields. A
    result that nothing needs any more is `""`; where the chosen lines would cost more than the
    untruncated text, that is shown.

    Source: the clairvoyant optimum of cache research (Belady 1966), by lines

    >>> from bench.evidence.index import index_trace
    >>> from bench.replayer.replaying import Replayer
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> result = ToolResult(index=0, call_id="a", function="f", seen="total 471\\nnothing here")
    >>> steps = (result, ModelTurn(index=1, content="So 471."))
    >>> trace = Trace(id="t", source=Source(format="native"), steps=steps)
    >>> history = [Message(role="tool", text=result.text, kind="result", step=0)]
    >>> count = lambda item: len(getattr(item, "text", item))
    >>> future = Replayer(trace, index_trace(trace), count).future
    >>> window = Window(1, "main", history, history, 9, 100, count, future=future)
    >>> Clairvoyant().compact(window).replace[history[0]].text
    'total 471'
    """

    def __init__(self) -> None:
        # by result its facts, with the last turn
        self._needs: dict[int, dict[str, int]] | None = None
        # by untruncated result how it is shown, and for which facts
        self._shown: dict[Message, tuple[Message, tuple[str, ...] | None]] = {}

    def compact(self, window: Window) -> Edits | None:
        """Each result cut to the lines that later turns need, and cut further when a need has
        passed.
        """
        future = window.future or NOTHING
        if self._needs is None:
            self._needs = {}
            for need in future.needs:
                if need.thread == window.thread and need.origin == "result":
                    self._needs.setdefault(need.source, {})[need.fact] = need.last
        for message in window.added:
            if message.kind == "result" and message.step is not None:
                self._shown[message] = message, None
        replace: dict[Message, Message | None] = {}
        for result, (before, facts) in self._shown.items():
            needs = self._needs.get(result.step or 0, {})
            alive = tuple(fact for fact, last in needs.items() if last >= window.step)
            if alive == facts:
                continue
            text = _selected(result, needs, alive, window.count, future)
            shown = before if text == before.text else with_text(result, text)
            if shown is not before:
                replace[before] = shown
            self._shown[result] = shown, alive
        return Edits(replace=replace) if replace else None


def _selected(
    result: Message,
    needs: Iterable[str],
    alive: tuple[str, ...],
    count: Callable[[str], int],
    future: Future,
) -> str:
    """The lines of a result that hold the facts that are still needed, or everything where that is
    cheaper.
    """
    step, plain = result.step or 0, future.plain(result.text)
    prose = [fact for fact in needs if (step, fact) not in future.fields]
    is_as_recorded = step in future.places and result.text == future.results[step].text
    places = future.places[step] if is_as_recorded else first_places(plain, prose)
    spans = [_line_at(plain, *places[fact]) for fact in prose if fact in alive and fact in places]
    lines = [plain[start:end] for start, end in merged(spans)]
    if fields := [fact for fact in alive if (step, fact) in future.fields]:
        lines += future.record_lines(step, fields)
    text = "\n".join(lines)
    text = text if future.plain(text) == text else f">{text}"  # it would be decoded as JSON
    return text if not alive or count(text) <= count(result.text) else result.text


def _line_at(plain: str, start: int, end: int) -> tuple[int, int]:
    """The start and the end of the line, or lines, around a place in a text."""
    after = plain.find("\n", end)
    return plain.rfind("\n", 0, start) + 1, len(plain) if after < 0 else after


def merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, overlapping ones as one.

    >>> merged([(5, 9), (0, 2), (5, 9), (8, 12)])
    [(0, 2), (5, 12)]
    """
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# ---------------------------------------------------------------- by facts


@register("compactor", "floor", needs_future=True)
class Floor:
    """The system turns and one message with the needed facts, each from its result to its last use.

    Reads the future of the trace. A fact that another one or a system turn already holds is left
    out, and of the separators the cheapest is taken; facts of fields stand behind their key and the
    identity of their record.

    Source: the clairvoyant optimum of cache research (Belady 1966), by facts

    >>> from bench.evidence.index import index_trace
    >>> from bench.replayer.replaying import Replayer
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> result = ToolResult(index=0, call_id="a", function="f", seen="total 471 of 36.5 in all")
    >>> steps = (result, ModelTurn(index=1, content="36.5 makes 471."))
    >>> trace = Trace(id="t", source=Source(format="native"), steps=steps)
    >>> history = [Message(role="tool", text=result.text, kind="result", step=0)]
    >>> future = Replayer(trace, index_trace(trace), len).future
    >>> window = Window(1, "main", history, history, 9, 100, len, future=future)
    >>> [message.text for message in Floor().compact(window).messages]
    ['36.5 471']
    """

    def __init__(self) -> None:
        self._alive: dict[str, None] = {}
        self._system: list[Message] = []
        self._in_system: set[str] = set()  # the facts that system turns hold
        self._facts: tuple[str, ...] = ()
        self._message: list[Message] = []

    def compact(self, window: Window) -> Edits:
        """The system turns, and one message with the facts that this or a later turn needs."""
        future = window.future or NOTHING
        needs = {need.fact: need for need in future.needs if need.thread == window.thread}
        joined = {message.step for message in window.added}
        for message in window.added:
            if message.kind == "system":
                self._system.append(message)
                self._in_system.update(future.search(message.text))
        self._alive |= {fact: None for fact, need in needs.items() if need.source in joined}
        self._alive = {fact: None for fact in self._alive if needs[fact].last >= window.step}
        facts = tuple(fact for fact in self._alive if fact not in self._in_system)
        if facts != self._facts:
            fields = {fact: needs[fact].source for fact in facts if needs[fact].field}
            self._facts = facts
            self._message = (
                [summary_message(_written(facts, fields, window.count, future))] if facts else []
            )
        return Edits(messages=[*self._system, *self._message])


def _written(
    facts: tuple[str, ...], fields: Mapping[str, int], count: Callable[[str], int], future: Future
) -> str:
    """Facts as one text, those of fields in a line for their record; `fields` has their results."""
    plain = tuple(fact for fact in facts if fact not in fields)
    lines = [densest(plain, count, future.longer)] if plain else []
    for step in dict.fromkeys(fields.values()):
        lines += future.record_lines(step, [fact for fact in fields if fields[fact] == step])
    return "\n".join(lines)


def densest(
    facts: tuple[str, ...], count: Callable[[str], int], longer: Mapping[str, frozenset[str]]
) -> str:
    """One text that holds every fact, in few tokens; `longer` are by fact those that hold it.

    >>> densest(("src/a.py", "/x/src/a.py:12", "471"), len, {"src/a.py": {"/x/src/a.py:12"}})
    '/x/src/a.py:12 471'
    """
    among = set(facts)
    kept = [fact for fact in facts if among.isdisjoint(longer.get(fact, ()))]
    return min((_joined(kept, facts, separator) for separator in (" ", "\n")), key=count)


def _joined(kept: list[str], facts: tuple[str, ...], separator: str) -> str:
    """Some facts as one text, then those of `facts` that the text does not hold."""
    texts, text = Texts(), separator.join(kept)
    text = text if texts.plain(text) == text else f">{text}"  # it would be decoded as JSON
    return separator.join([text, *texts.missing(text, facts)])
