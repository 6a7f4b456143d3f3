"""Needs: facts in a model turn that an earlier message of its thread and its recorded prompt have.

Facts are extracted only from turns; results and messages are searched for these. Names of tools and
their parameters are not needs, nor are names in code that the agent itself made up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..model import (
    ContextEdit,
    ContextReset,
    ModelTurn,
    SystemTurn,
    ToolsChanged,
    Trace,
    UserTurn,
    nested,
)
from ..model.index import Need, Origin
from ..model.messages import RecordedMessages, Speaking
from ..text.facts import flat
from .contents import TraceContents
from .copied import FlatTexts
from .step_texts import call_text
from .turn_facts import Asked

FAR_TURNS = 6
"""A need is far if its fact was last mentioned this many model turns ago, or more."""


class Needs(NamedTuple):
    """The needed facts of a trace, their kinds, the needs by turn, and the messages with each
    fact."""

    facts: tuple[str, ...]
    kinds: tuple[str, ...]
    by_turn: dict[int, tuple[Need, ...]]
    holders: tuple[frozenset[int], ...]


def needs_of(trace: Trace, recorded: RecordedMessages, contents: TraceContents) -> Needs:
    """The needs of a trace over its numbered messages. A trace without model turns has none.

    >>> from bench.model import Source
    >>> from bench.model.messages import recorded_messages
    >>> steps = UserTurn(index=0, content="Count 471."), ModelTurn(index=1, content="It has 471.")
    >>> trace = Trace(id="a", source=Source(format="native"), steps=steps)
    >>> found = needs_of(trace, recorded_messages(trace), TraceContents(trace))
    >>> found.facts, found.by_turn[1][0].origin, found.holders
    (('471',), 'user', (frozenset({0, 1}),))
    """
    asked, search = contents.turn_facts, contents.turn_search

    def facts_in(*texts: str) -> frozenset[str]:
        """The facts of turns in some texts."""
        return asked.distinct & frozenset().union(*map(search.in_text, texts))

    holds = [facts_in(*contents.of(message)) for message in recorded.messages]
    numbers: dict[str, int] = {}
    kinds: list[str] = []
    by_turn: dict[int, tuple[Need, ...]] = {}
    threads: dict[str, _Thread] = defaultdict(_Thread)
    tools = _tool_words(trace)
    for step in trace.steps:
        thread = threads[step.thread]
        if isinstance(step, ModelTurn):
            needs = []
            for fact, kind in thread.needed(
                asked.by_turn[step.index], asked.spans.of(step.index), tools
            ):
                if fact not in numbers:
                    numbers[fact] = len(numbers)
                    kinds.append(kind)
                origin, at = thread.first[fact]
                field = contents.table(at).key_of(fact) if origin == "result" else ""
                distance = thread.turns - thread.last[fact]
                needs.append(Need(numbers[fact], origin, at, distance, field))
            if needs:
                by_turn[step.index] = tuple(needs)
        elif isinstance(step, ContextReset):
            thread.reset(step, facts_in(step.summary or ""))
        elif isinstance(step, ContextEdit):
            thread.edit({at: facts_in(text) for at, text in step.shown.items()})
        if isinstance(step, Speaking):
            origin = _ORIGINS.get(type(step), "result")
            full, seen = recorded.full[step.index], recorded.seen[step.index]
            calls = step.tool_calls if isinstance(step, ModelTurn) else ()
            in_calls = facts_in(*map(call_text, calls))
            thread.join(step.index, origin, holds[full], holds[seen], in_calls)
    holders: list[set[int]] = [set() for _ in numbers]
    for number, facts in enumerate(holds):
        for fact in facts & numbers.keys():
            holders[numbers[fact]].add(number)
    return Needs(tuple(numbers), tuple(kinds), by_turn, tuple(map(frozenset, holders)))


_ORIGINS: dict[type, Origin] = {SystemTurn: "system", UserTurn: "user", ModelTurn: "model"}


_Remembered = tuple[int | None, Origin, frozenset[str], frozenset[str]]


class _Thread:
    """The facts of one thread: the first source and the last mention of each, and the facts in its
    recorded prompt."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[Origin, int]] = {}
        self.last: dict[str, int] = {}
        self.turns = 0
        self._prompt: Counter[str] = Counter()
        self._messages: list[_Remembered] = []

    def needed(
        self, asked: Mapping[str, Asked], spans: Iterable[str], tools: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield the facts that a turn took from its prompt, each with its kind, then the copied
        spans without such a fact. Names of tools, and names in code that the model made up, are
        left out.
        """
        seen: list[str] = []
        for fact, (kind, in_code) in asked.items():
            first = self.first.get(fact)
            if first is None or not self._prompt[fact] or fact in tools:
                continue
            if first[0] == "model" and in_code and kind in ("name", "quoted", "error"):
                continue
            seen.append(fact)
            yield fact, kind
        with_facts = FlatTexts(map(flat, seen))
        for span in spans:
            if self.first.get(span, ("model",))[0] == "model" or not self._prompt[span]:
                continue
            if span not in with_facts:
                with_facts.add(f" {span} ")
                yield span, "span"

    def join(
        self,
        step: int,
        origin: Origin,
        facts: frozenset[str],
        seen: frozenset[str],
        calls: frozenset[str],
    ) -> None:
        """Add a message with the `facts` of its full text, those `seen` by the recorded model, and
        those of its calls.
        """
        for fact in facts:
            self.first.setdefault(fact, (origin, step))
            self.last[fact] = self.turns
        self._messages.append((step, origin, seen, calls))
        self._prompt.update(seen)
        self.turns += origin == "model"

    def edit(self, texts: Mapping[int, frozenset[str]]) -> None:
        """Note that the recorded harness showed some steps with other texts from here on; calls
        stay."""
        self._show(
            (
                step,
                origin,
                texts[step] | calls if step is not None and step in texts else facts,
                calls,
            )
            for step, origin, facts, calls in self._messages
        )

    def reset(self, reset: ContextReset, summary: frozenset[str]) -> None:
        """Note that the recorded harness cleared its prompt except for the first system turns and
        the kept steps."""
        before, kept = self._messages, set(reset.kept)
        start = next((at for at, item in enumerate(before) if item[1] != "system"), len(before))
        remembered: _Remembered = (None, "result", summary, frozenset())
        self._show(
            [*before[:start], remembered, *(item for item in before[start:] if item[0] in kept)]
        )

    def _show(self, messages: Iterable[_Remembered]) -> None:
        self._messages = list(messages)
        self._prompt = Counter(fact for _, _, facts, _ in self._messages for fact in facts)


def _tool_words(trace: Trace) -> frozenset[str]:
    """The names of tools and of their parameters.

    >>> from bench.model import Source
    >>> tool = {"name": "count", "input_schema": {"properties": {"path": {}}}}
    >>> steps = (ToolsChanged(index=0, tools=[tool]),)
    >>> sorted(_tool_words(Trace(id="t", source=Source(format="native"), steps=steps)))
    ['count', 'path']
    """
    words: set[str] = set()
    for turn in trace.model_turns:
        for call in turn.tool_calls:
            words.add(call.name)
            if isinstance(call.arguments, dict):
                words.update(map(str, call.arguments))
    for node in nested([step.tools for step in trace.steps if isinstance(step, ToolsChanged)]):
        if isinstance(node, dict):
            if isinstance(node.get("name"), str):
                words.add(node["name"])
            if isinstance(node.get("properties"), dict):
                words.update(map(str, node["properties"]))
    return frozenset(words)
