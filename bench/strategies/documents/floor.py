"""Compactor `floor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...evidence.oracle import Bundle, Fact, Recall, given_up
from ...model import Message
from ...plugins.registry import register
from ...text.texts import Texts
from .. import Edits, Window
from ..histories import summary_message

_ON_A_LINE = 8  # facts behind one key


@register("compactor", "floor", needs_future=True)
class Floor:
    """The system turns and one message with the needed facts, each from its result on until its last use.

    Reads the future of the trace. The fewest tokens at full recall among strategies that select verbatim: a fact that another one or a
    system turn already holds is left out, and of the separators the cheapest is taken; facts of fields stand behind their key. Nothing needed: the
    system turns alone.

    `recall` is the share of dependencies to reach: below 1 the facts are given up that cost most (their tokens times the prompts they are in).

    Source: the clairvoyant optimum of cache research (Belady 1966), by facts

    >>> from bench.evidence.of_trace import TraceEvidence
    >>> from bench.model import ModelTurn, Source, ToolResult, Trace
    >>> got = ToolResult(index=0, call_id="a", function="f", seen="total 471 of 36.5 in all")
    >>> trace = Trace(id="t", source=Source(format="native"), steps=(got, ModelTurn(index=1, content="36.5 makes 471.")))
    >>> told = [Message(role="tool", text=got.text, kind="result", step=0)]
    >>> [message.text for message in Floor().compact(Window(1, "main", told, told, 9, 100, len, future=TraceEvidence(trace).future)).messages]
    ['36.5 471']
    """

    def __init__(self, *, recall: Recall = 1.0) -> None:
        self.recall = recall
        self._born: dict[int, list[str]] | None = None  # facts by the result they come from
        self._dies: dict[str, int] = {}  # the last turn that needs a fact
        self._labels: dict[str, str] = {}
        self._alive: dict[str, None] = {}
        self._system: list[Message] = []
        self._in_system: set[str] = set()  # the facts that system turns hold
        self._shown: tuple[tuple[str, ...], Message | None] = ((), None)

    def compact(self, window: Window) -> Edits:
        if self._born is None:
            self._born = self._foresee(window)
        future = window.future
        for message in window.added:
            if message.kind == "system":
                self._system.append(message)
                self._in_system.update(() if future is None else future.held(message.text))
            if message.step is not None:
                self._alive.update(dict.fromkeys(self._born.get(message.step, ())))
        self._alive = {fact: None for fact in self._alive if self._dies[fact] >= window.step}
        needed = tuple(fact for fact in self._alive if fact not in self._in_system)
        if needed != self._shown[0]:
            longer = {} if future is None else future.longer
            self._shown = needed, summary_message(self._written(needed, window.count, longer)) if needed else None
        made = self._shown[1]
        return Edits(messages=[*self._system, *([] if made is None else [made])])

    def _written(
        self, needed: tuple[str, ...], count: Callable[[str], int], longer: Mapping[str, frozenset[str]]
    ) -> str:
        """The needed facts as one text, those of fields behind their keys."""
        groups: dict[str, list[str]] = {}
        for fact in needed:
            groups.setdefault(self._labels[fact], []).append(fact)
        plain = groups.pop("", [])
        lines = [densest(tuple(plain), count, longer)] if plain else []
        for label, facts in groups.items():
            for start in range(0, len(facts), _ON_A_LINE):
                lines.append(f"{label}: {' '.join(facts[start : start + _ON_A_LINE])}")
        return "\n".join(lines)

    def _foresee(self, window: Window) -> dict[int, list[str]]:
        born: dict[int, list[str]] = {}
        gone = self._given_up(window)
        for need in window.future.needs if window.future is not None else ():
            if need.thread == window.thread and need.key not in gone:
                born.setdefault(need.source, []).append(need.fact)
                self._dies[need.fact] = need.last
                self._labels[need.fact] = need.label
        return born

    def _given_up(self, window: Window) -> frozenset[Fact]:
        if window.future is None or self.recall >= 1:
            return frozenset()
        count = window.count
        return given_up(
            window.future.needs,
            self.recall,
            lambda needs: [Bundle((need,), count(f" {need.fact}") * need.prompts) for need in needs],
        )


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
