"""Compactor `clairvoyant`, which reads the future of a recording."""

from __future__ import annotations

from collections.abc import Mapping

from ...evidence.future import Future, FutureNeed
from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..histories import summary_message


@register("compactor", "clairvoyant", needs_future=True)
class Clairvoyant:
    """The system turns, the current requests, and one message with the needed facts, each from its
    result to its last use.

    Reads the future of the trace. The message also has the rules of finished requests. A fact that
    is part of another one, or of a turn that stays, is left out; facts from fields are written
    after their key and their record's identity.

    Source: the clairvoyant optimum of cache research (Belady 1966), by facts

    >>> from bench.evidence.contents import TraceContents
    >>> from bench.evidence.index import index_trace
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> result = ToolResult(index=0, call_id="a", function="f", seen="total 471 of 36.5 in all")
    >>> steps = (result, ModelTurn(index=1, content="36.5 makes 471."))
    >>> trace = Trace(id="t", source=Source(format="native"), steps=steps)
    >>> history = [Message(role="tool", text=result.text, kind="result", step=0)]
    >>> future = Future(trace, index_trace(trace), TraceContents(trace))
    >>> window = Window(1, "main", history, history, 9, 100, len)
    >>> [message.text for message in Clairvoyant(future).compact(window)]
    ['36.5 471']
    """

    def __init__(self, future: Future | None = None) -> None:
        self._future = future
        self._needs: dict[str, FutureNeed] = {}
        self._fields: dict[str, int] = {}  # the facts from fields, each with its source
        self._alive: dict[str, None] = {}
        self._turns: list[Message] = []  # of the system and the user
        self._about: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        self._message: list[Message] = []

    def compact(self, window: Window) -> list[Message]:
        """The turns that stay, and one message with the facts that this or a later turn needs."""
        future = self._future
        assert future, "given to whoever declares needs_future"
        needs = self._needs
        if not needs:
            needs |= {need.fact: need for need in future.needs if need.thread == window.thread}
            self._fields = {fact: it.source for fact, it in needs.items() if future.is_field(it)}
        joined = {message.step for message in window.added}
        self._turns += (item for item in window.added if item.kind in ("system", "user"))
        standing = [item for item in self._turns if _stands(item, window.step, future)]
        rules = tuple(
            rule
            for item in self._turns
            if item not in standing
            for rule in future.rules.get(_step(item), ())
        )
        in_turns = frozenset[str]().union(*(future.search.in_text(item.text) for item in standing))
        self._alive |= {fact: None for fact, need in needs.items() if need.source in joined}
        self._alive = {fact: None for fact in self._alive if needs[fact].last >= window.step}
        facts = tuple(fact for fact in self._alive if fact not in in_turns)
        if (facts, rules) != self._about:
            fields = {fact: self._fields[fact] for fact in facts if fact in self._fields}
            self._about = facts, rules
            lines = *rules, _facts_as_text(facts, fields, future)
            self._message = [summary_message("\n".join(lines).strip())] if facts or rules else []
        return [*standing, *self._message]


def _step(message: Message) -> int:
    return -1 if message.step is None else message.step


def _stands(message: Message, turn: int, future: Future) -> bool:
    """True for a system message, and for a request that still applies at a turn."""
    return message.kind == "system" or future.last_turns.get(_step(message), -1) >= turn


def _facts_as_text(facts: tuple[str, ...], fields: Mapping[str, int], future: Future) -> str:
    """Facts as one text; those from fields are in a line per record. `fields` maps these to their
    results."""
    plain = tuple(fact for fact in facts if fact not in fields)
    lines = [densest(plain, future)] if plain else []
    for step in dict.fromkeys(fields.values()):
        lines += future.record_lines(step, tuple(f for f in fields if fields[f] == step))
    return "\n".join(lines)


def densest(facts: tuple[str, ...], future: Future) -> str:
    """One short line with every fact; facts that are part of others in it are not repeated.

    >>> from bench.evidence.contents import TraceContents
    >>> from bench.evidence.index import index_trace
    >>> from bench.model import ModelTurn, Source, Trace, UserTurn
    >>> text = "It was set up in November 2023."
    >>> steps = UserTurn(index=0, content=text), ModelTurn(index=1, content=text)
    >>> trace = Trace(id="t", source=Source(format="native"), steps=steps)
    >>> future = Future(trace, index_trace(trace), TraceContents(trace))
    >>> densest(tuple(need.fact for need in future.needs), future)
    'November it was set up in november 2023'
    """
    among: set[str] = set()
    for fact in sorted(facts, key=len, reverse=True):
        if among.isdisjoint(future.longer.get(fact, ())):
            among.add(fact)
    kept = [fact for fact in facts if fact in among]
    line = " ".join(kept)
    mark = (
        "" if future.search.texts.plain(line) == line else ">"
    )  # else it would be decoded as JSON
    return mark + " ".join([line, *(fact for fact in kept if fact in future.illegible)])
