"""Dependencies: every fact of a model turn that an earlier message of its thread had said, and that the recorded prompt of the turn held.

The recorded prompt holds results as the harness showed them, messages as it reworded them, and after a context reset what it kept. What the recorded
model could not see it did not need. Where a recording does not say what the model saw, the full history counts.

A fact of a turn is what `bench.text.facts` finds in its text and in the values of its tool calls, and a copied span. Three things are none: what the
agent says in a large share of its turns (its habit), the names of tools, parameters and programs that the system prompt describes, and names inside
code that the agent itself had made up.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

from ..model import (
    AnyStep,
    ContextEdit,
    ContextReset,
    ModelTurn,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
    nested,
)
from ..text.facts import flat
from ..text.texts import Texts
from .copied import FlatTexts, Spans
from .spoken import call_text, parts_by_turn, spoken

Origin = Literal["system", "user", "model", "result"]

HABIT_SHARE = 0.25  # a fact in more than this share of an agent's turns is a habit of the agent
HABIT_TURNS = 4  # below so many turns nothing is a habit
_PARTS = 24  # the most parts that the end of a path has: all ends of a longer path would take the square of its length


class Dependency(NamedTuple):
    """A fact in a model turn that an earlier message of its thread had said.

    `turn` is the step of the turn, `turn_number` how many model turns of the thread came before it. `origin` is who said it first, at step
    `origin_step`; `distance` counts the model turns since any message last said it (0: said since the turn before). `form` is how the turn says it:
    `verbatim`, the end of a longer path (`composed`), or a number with fewer digits (`rounded`).
    """

    fact: str
    said: str
    kind: str
    form: Literal["verbatim", "composed", "rounded"]
    turn: int
    thread: str
    turn_number: int
    origin: Origin
    origin_step: int
    distance: int


class SaidFact(NamedTuple):
    """One fact as a turn says it: `code` tells whether only code says it."""

    fact: str
    kind: str
    code: bool


DISTANCES = {"near": (0, 1), "mid": (2, 5), "far": (6, None)}
"""Model turns since the fact was last said: from, to (None: no limit)."""


def within(turns: int, distance: str) -> bool:
    """True if a number of model turns is `near`, `mid` or `far`.

    >>> within(1, "near"), within(6, "mid"), within(600, "far")
    (True, False, True)
    """
    low, high = DISTANCES[distance]
    return low <= turns and (high is None or turns <= high)


class DependencyFinder:
    """Finds the dependencies of one trace. `universe` is what has to be looked for in messages to tell them: facts, ends of paths, copied spans."""

    def __init__(self, trace: Trace, texts: Texts) -> None:
        self._trace, self._texts = trace, texts
        parts = parts_by_turn(trace)
        self._turns = {turn: self._said(*found) for turn, found in parts.items()}
        self._excluded = _tool_words(trace)
        self._programs = _programs(trace)
        self._habits = self._find_habits()
        self._spans = Spans(trace, texts, parts)
        self.universe: dict[str, None] = {}
        for said in self._turns.values():
            for item in said:
                self.universe[item.fact] = None
                self.universe.update(dict.fromkeys(_ends(item)))
        for turn in self._turns:
            self.universe.update(dict.fromkeys(self._spans.of(turn)))
        self._rounding = self._rounded()
        self.universe.update(self._rounding)

    def _rounded(self) -> dict[str, None]:
        """The numbers that some turn may say with fewer digits."""
        said = {item.fact for turn in self._turns.values() for item in turn if item.kind == "number" and not item.code}
        short = {Decimal(fact) for fact in said if significant(fact) >= 3 and "e" not in fact}
        units = {Decimal(f"1e-{len(fact.partition('.')[2])}") for fact in said if "e" not in fact}
        if not short:
            return {}
        texts = (text for step in self._trace.steps if not isinstance(step, ModelTurn) for text in spoken(step))
        longer = {number for text in texts for number in self._texts.numbers(text) if significant(number) > 3}
        found: dict[str, None] = {}
        for number in sorted(longer):
            with suppress(InvalidOperation):
                exact = Decimal(number)
                ways = (exact.quantize(unit, rule) for unit in units for rule in (ROUND_HALF_UP, ROUND_HALF_DOWN))
                if any(way in short for way in ways):
                    found[number] = None
        return found

    def _said(self, prose: list[str], code: list[str]) -> list[SaidFact]:
        found: dict[str, SaidFact] = {}
        for texts, in_code in ((prose, False), (code, True)):
            for text in texts:
                for fact, kind in self._texts.facts(text).items():
                    if in_code and kind == "proper":
                        continue
                    if fact not in found:
                        found[fact] = SaidFact(fact, kind, in_code)
        return list(found.values())

    def _find_habits(self) -> set[tuple[str, str]]:
        """(thread, fact) of what an agent says in a large share of its turns."""
        turns = Counter(turn.thread for turn in self._trace.model_turns)
        said = Counter((turn.thread, item.fact) for turn in self._trace.model_turns for item in self._turns[turn.index])
        return {
            key for key, count in said.items()
            if turns[key[0]] >= HABIT_TURNS and count > max(2, HABIT_SHARE * turns[key[0]])
        }  # fmt: skip

    def find(self, held: Callable[[str], Iterable[str]], shown: Callable[[ToolResult], str]) -> tuple[Dependency, ...]:
        """Every dependency, in order of the turns.

        `held` gives the facts of the universe that a text holds, `shown` the text in which the recorded model saw a result.
        """
        threads: dict[str, _Told] = {}
        found: list[Dependency] = []
        calls: dict[int, list[str]] = {}
        for step in self._trace.steps:
            told = threads.setdefault(step.thread, _Told())
            if isinstance(step, ModelTurn):
                found.extend(self._of_turn(step, told))
            elif isinstance(step, ContextReset):
                told.reset(step, () if step.summary is None else held(step.summary))
            elif isinstance(step, ContextEdit):
                told.edit({at: [*held(text), *calls.get(at, ())] for at, text in step.shown.items()})
            texts = spoken(step)
            if texts:
                origin = _ORIGINS.get(type(step), "result")
                facts = [fact for text in texts for fact in held(text)]
                told.add(facts, origin, step.index)
                for text in texts if origin != "model" else ():
                    told.add_numbers(self._texts.numbers(text) & self._rounding.keys())
                if isinstance(step, ToolResult) and (seen := shown(step)) != step.text:
                    facts = list(held(seen))
                told.show(facts, origin, step.index)
            if isinstance(step, ModelTurn):
                calls[step.index] = [fact for call in step.tool_calls for fact in held(call_text(call))]
                told.turns += 1
        return tuple(found)

    def _of_turn(self, turn: ModelTurn, told: _Told) -> Iterator[Dependency]:
        seen: set[str] = set()
        for item in self._turns[turn.index]:
            if item.fact in self._excluded:
                continue
            habit = (turn.thread, item.fact) in self._habits
            for fact, form in self._forms(item, told):
                first = told.first.get(fact)
                if first is None or not told.prompt[fact]:
                    continue
                if first[0] == "system" and fact in self._programs:
                    break
                if first[0] == "model" and (habit or (item.code and item.kind in ("name", "quoted", "error"))):
                    break
                if fact not in seen:
                    seen.add(fact)
                    yield self._made(item.fact, fact, item.kind, form, turn, told)
                break
        said_with = FlatTexts(map(flat, seen))
        for span in self._spans.of(turn.index):
            if told.first.get(span, ("model",))[0] == "model":  # an agent's own turns of phrase
                continue
            if told.prompt[span] and span not in said_with:  # the words of a path or name are said with it
                said_with.add(f" {span} ")
                yield self._made(span, span, "span", "verbatim", turn, told)

    def _forms(self, item: SaidFact, told: _Told) -> Iterator[tuple[str, Any]]:
        yield item.fact, "verbatim"
        for end in _ends(item):
            yield end, "composed"
        if item.kind == "number" and not item.code:
            rounded = told.rounded_from(item.fact)
            if rounded is not None:
                yield rounded, "rounded"

    def _made(self, said: str, fact: str, kind: str, form: Any, turn: ModelTurn, told: _Told) -> Dependency:
        distance = told.turns - told.last[fact]
        return Dependency(fact, said, kind, form, turn.index, turn.thread, told.turns, *told.first[fact], distance)


@dataclass
class _Told:
    """The facts that one thread has said so far: who said each first and where, and after how many model turns it was said last.

    `prompt` counts the facts that its recorded prompt holds.
    """

    first: dict[str, tuple[Origin, int]] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    numbers: list[tuple[Decimal, str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    prompt: Counter[str] = field(default_factory=Counter)
    messages: list[tuple[int | None, Origin, list[str]]] = field(default_factory=list)

    def show(self, facts: list[str], origin: Origin, step: int | None) -> None:
        """A message with these facts joins the recorded prompt; a recorded summary has no step."""
        self.messages.append((step, origin, facts))
        self.prompt.update(facts)

    def edit(self, shown: Mapping[int, list[str]]) -> None:
        """The recorded harness showed these steps in other words from here on, which hold these facts."""
        before, self.messages, self.prompt = self.messages, [], Counter()
        for step, origin, facts in before:
            self.show(facts if step is None else shown.get(step, facts), origin, step)

    def reset(self, reset: ContextReset, summary: Iterable[str]) -> None:
        """The recorded harness cleared its prompt: the system turns at the start stay, its summary, and what it kept."""
        before, self.messages, self.prompt = self.messages, [], Counter()
        start = next((at for at, (_, origin, _) in enumerate(before) if origin != "system"), len(before))
        kept = [message for message in before[start:] if message[0] in reset.kept]
        for step, origin, facts in (*before[:start], (None, "result", list(summary)), *kept):
            self.show(facts, origin, step)

    def add(self, facts: Iterable[str], origin: Origin, step: int) -> None:
        for fact in facts:
            self.first.setdefault(fact, (origin, step))
            self.last[fact] = self.turns

    def add_numbers(self, numbers: Iterable[str]) -> None:
        """Numbers that a later turn may round: those that somebody else than the model said."""
        for number in numbers:
            if number not in self.known:
                self.known.add(number)
                insort(self.numbers, (Decimal(number), number))

    def rounded_from(self, fact: str) -> str | None:
        """The number said before that this one is with fewer digits, the longest of several; None where there is none."""
        if significant(fact) < 3 or "e" in fact:
            return None
        decimals = len(fact.partition(".")[2])
        value, half = Decimal(fact), Decimal(5).scaleb(-decimals - 1)
        low = bisect_left(self.numbers, (value - half, ""))
        high = bisect_right(self.numbers, (value + half, "~"))
        near = [number for _, number in self.numbers[low:high] if significant(number) > significant(fact)]
        return max(near, key=len) if near else None


def significant(number: str) -> int:
    """The number of significant digits that a number is written with.

    >>> significant("0.0120"), significant("1500")
    (3, 4)
    """
    return len(number.partition("e")[0].replace(".", "").lstrip("0"))


def suffixes(path: str) -> list[str]:
    """The ends of a path that mean one thing, longest first: what a listing of its folder would have said.

    >>> suffixes("/data/run/x.h5ad")
    ['data/run/x.h5ad', 'run/x.h5ad', 'x.h5ad']
    """
    parts = [part for part in path.split("/") if part]
    ends = ["/".join(parts[start:]) for start in range(max(0, len(parts) - _PARTS), len(parts))]
    return [end for end in ends if end != path and ("/" in end or re.search(r"\w\.\w|\d|_|-", end)) and len(end) > 3]


def _ends(item: SaidFact) -> list[str]:
    """The ends of a fact that mean the same: of a path, and of a hexadecimal number what stands behind its `0x`."""
    if item.kind == "path":
        return suffixes(item.fact)
    return [item.fact[2:]] if item.kind == "name" and _HEXADECIMAL.fullmatch(item.fact) else []


_HEXADECIMAL = re.compile(r"0x[0-9A-Fa-f]{8,}")


_ORIGINS: dict[type[AnyStep], Origin] = {SystemTurn: "system", UserTurn: "user", ModelTurn: "model"}


def _programs(trace: Trace) -> set[str]:
    """The bare names that commands begin with: where the system prompt describes them they are tools."""
    arguments = (call.arguments for turn in trace.model_turns for call in turn.tool_calls)
    commands = [given.get("command") for given in arguments if isinstance(given, dict)]
    first = (command.split(maxsplit=1)[0] for command in commands if isinstance(command, str) and command.strip())
    return {word for word in first if "/" not in word}


def _tool_words(trace: Trace) -> set[str]:
    """The names of tools and of their parameters."""
    found: set[str] = set()
    for turn in trace.model_turns:
        for call in turn.tool_calls:
            found.add(call.name)
            if isinstance(call.arguments, dict):
                found.update(map(str, call.arguments))
    for node in nested([step.tools for step in trace.steps if isinstance(step, ToolsChanged)]):
        if isinstance(node, dict):
            if isinstance(node.get("name"), str):
                found.add(node["name"])
            if isinstance(node.get("properties"), dict):
                found.update(map(str, node["properties"]))
    return found
