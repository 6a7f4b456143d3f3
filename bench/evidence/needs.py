"""Needs: facts in a model turn that an earlier message of its thread and its recorded prompt have.

Facts are extracted only from turns; results and messages are searched for these. Names of tools and
their parameters are not needs, nor are names in code that the agent itself made up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..model import ModelTurn, SystemTurn, ToolsChanged, Trace, UserTurn, nested
from ..model.index import Need, Origin
from ..model.messages import RecordedMessages, Speaking, recorded_prompts
from ..text.facts import flat
from .contents import TraceContents
from .step_texts import message_texts
from .turn_facts import TurnFacts

FAR_TURNS = 6
"""A need is far if its fact was last mentioned this many model turns ago, or more."""


class Needs(NamedTuple):
    """The needed facts of a trace, the needs by turn, and the messages with each fact."""

    facts: tuple[str, ...]
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
    of_turns, search = contents.turn_facts, contents.turn_search

    def facts_in(texts: Iterable[str]) -> frozenset[str]:
        """The facts of turns in some texts."""
        return frozenset[str]().union(*map(search.in_text, texts))

    facts_of = {message: facts_in(contents.of(message)) for message in recorded.messages}
    threads: dict[str, _Thread] = defaultdict(_Thread)
    for turn, keep, tail in recorded_prompts(trace, recorded):
        new = [facts_of[m] if m in facts_of else facts_in(message_texts(m)) for m in tail]
        threads[turn.thread].add_prompt(turn.index, keep, new, of_turns.of(turn.index))
    numbers: dict[str, int] = {}
    by_turn: dict[int, tuple[Need, ...]] = {}
    tools = _tool_words(trace)
    for step in trace.steps:
        if not isinstance(step, Speaking):
            continue
        thread = threads[step.thread]
        if isinstance(step, ModelTurn):
            needs = []
            for fact in thread.needed(step.index, of_turns, tools):
                if fact not in numbers:
                    numbers[fact] = len(numbers)
                origin, at = thread.first[fact]
                distance = thread.turns - thread.last[fact]
                needs.append(Need(numbers[fact], origin, at, distance))
            if needs:
                by_turn[step.index] = tuple(needs)
        message = recorded.messages[recorded.full[step.index]]
        thread.mention(step.index, _ORIGINS.get(type(step), "result"), facts_of[message])
    holders: list[set[int]] = [set() for _ in numbers]
    for number, message in enumerate(recorded.messages):
        for fact in facts_of[message] & numbers.keys():
            holders[numbers[fact]].add(number)
    return Needs(tuple(numbers), by_turn, tuple(map(frozenset, holders)))


_ORIGINS: dict[type, Origin] = {SystemTurn: "system", UserTurn: "user", ModelTurn: "model"}


class _Thread:
    """The facts of one thread: those that the recorded prompts have, and the first source and the
    last mention of each so far."""

    def __init__(self) -> None:
        self.first: dict[str, tuple[Origin, int]] = {}
        self.last: dict[str, int] = {}
        self.turns = 0
        self._prompt: list[frozenset[str]] = []
        self._counts: Counter[str] = Counter()
        self._prompted: dict[int, set[str]] = {}

    def add_prompt(
        self, turn: int, keep: int, tail: Sequence[frozenset[str]], facts_of_turn: Iterable[str]
    ) -> None:
        """Note which facts of a turn its prompt has: the first `keep` messages of the one before,
        then messages with the facts in `tail`."""
        for facts in self._prompt[keep:]:
            self._counts.subtract(facts)
        for facts in tail:
            self._counts.update(facts)
        self._prompt[keep:] = tail
        self._prompted[turn] = {fact for fact in facts_of_turn if self._counts[fact]}

    def needed(self, turn: int, of_turns: TurnFacts, tools: frozenset[str]) -> Iterator[str]:
        """Yield the facts that a turn took from its prompt, then the copied spans without such a
        fact. Names of tools, and names in code that the model made up, are left out. A path that
        the prompt lacks was composed, as of a folder and a line of its listing: the turn took the
        name of the file."""
        known = self._prompted[turn] & self.first.keys()
        taken: list[str] = []
        for fact, (kind, in_code) in of_turns.facts[turn].items():
            if fact not in known:
                fact = of_turns.file_names[turn].get(fact, "")
            if fact not in known or fact in tools or fact in taken:
                continue
            if self.first[fact][0] == "model" and in_code and kind in ("name", "quoted", "error"):
                continue
            taken.append(fact)
            yield fact
        words = "\n".join(map(flat, taken))
        for span in of_turns.spans[turn]:
            if span in known and self.first[span][0] != "model" and f" {span} " not in words:
                words = f"{words}\n {span} "
                yield span

    def mention(self, step: int, origin: Origin, facts: frozenset[str]) -> None:
        """Add a message with some facts."""
        for fact in facts:
            self.first.setdefault(fact, (origin, step))
            self.last[fact] = self.turns
        self.turns += origin == "model"


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
