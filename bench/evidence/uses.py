"""What the future of a trace says mattered: each time a model turn used something it had learned from a tool result."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import ModelTurn, SystemTurn, ToolCall, ToolResult, Trace, UserTurn, text_of
from ..text.decode import plain_lines
from ..text.facts import anchor, occurs
from ..text.texts import Texts


@dataclass(frozen=True)
class Use:
    """A fact in a model turn that first appeared in a tool result.

    `turn` and `source` are step indices, `turn_number` and `source_turn` count the model turns of the thread before them (their difference is
    the age in turns). `first`: no turn of model, user or system held the fact before. `recorded_only`: the fact is not in the untruncated result
    (a harness's own warning), so no strategy can be blamed for it.
    """

    fact: str
    kind: str
    turn: int
    source: int
    thread: str
    turn_number: int
    source_turn: int
    first: bool
    recorded_only: bool

    @property
    def age(self) -> int:
        """How many model turns after its result it is used: 0 is the turn right after."""
        return self.turn_number - self.source_turn


def call_text(call: ToolCall) -> str:
    """The text of a tool call's arguments as facts are looked for in it; `""` where the call is written in the turn's own text."""
    if call.in_text or call.arguments is None:
        return ""
    return plain_lines(call.arguments)


def turn_text(turn: ModelTurn) -> str:
    """Everything a model turn says: its text, then its tool-call arguments, one after the other."""
    return "\n".join(filter(None, [text_of(turn.content), *(call_text(call) for call in turn.tool_calls)]))


@dataclass
class _Thread:
    """What one thread said so far, findable by the words that are anchors of what model turns say."""

    texts: Texts
    anchors: frozenset[str]
    said: list[tuple[str, ToolResult | None, int]] = field(default_factory=list)
    by_word: dict[str, list[int]] = field(default_factory=dict)
    model_turns: int = 0

    def add(self, text: str, result: ToolResult | None) -> None:
        for word in self.texts.words(text) & self.anchors:
            self.by_word.setdefault(word, []).append(len(self.said))
        self.said.append((text, result, self.model_turns))


def find_uses(trace: Trace, texts: Texts) -> tuple[Use, ...]:
    """Every use of a trace, in order of the turns and of the facts in them; `()` where nothing was used."""
    said = {turn.index: turn_text(turn) for turn in trace.model_turns}
    anchors = frozenset(anchor(fact) for text in said.values() for fact in texts.facts(text))
    threads: dict[str, _Thread] = {}
    found: list[Use] = []
    for step in trace.steps:
        thread = threads.setdefault(step.thread, _Thread(texts, anchors))
        if isinstance(step, SystemTurn | UserTurn):
            thread.add(text_of(step.content), None)
        elif isinstance(step, ToolResult):
            thread.add(step.shown_by_recorder, step)
        elif isinstance(step, ModelTurn):
            text = said[step.index]
            for fact, kind in texts.facts(text).items():
                use = _use(fact, kind, step, thread)
                if use:
                    found.append(use)
            thread.add(text, None)
            thread.model_turns += 1
    return tuple(found)


def _use(fact: str, kind: str, turn: ModelTurn, thread: _Thread) -> Use | None:
    source: tuple[ToolResult, int] | None = None
    for position in thread.by_word.get(anchor(fact), ()):
        text, result, turns_before = thread.said[position]
        if source is not None and result is not None:
            continue
        if not occurs(thread.texts.plain(text), fact):
            continue
        if source is None and result is None:
            return None  # a turn said it before any result did
        if result is None:
            break
        source = result, turns_before
    else:
        if source is None:
            return None
        return _make(fact, kind, turn, thread, source, first=True)
    return _make(fact, kind, turn, thread, source, first=False) if source else None


def _make(
    fact: str, kind: str, turn: ModelTurn, thread: _Thread, source: tuple[ToolResult, int], *, first: bool
) -> Use:
    result, source_turn = source
    return Use(
        fact=fact,
        kind=kind,
        turn=turn.index,
        source=result.index,
        thread=turn.thread,
        turn_number=thread.model_turns,
        source_turn=source_turn,
        first=first,
        recorded_only=result.text != result.shown_by_recorder and not thread.texts.holds(result.text, fact),
    )
