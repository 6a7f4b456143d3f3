"""Calibration by a trace's own usage: reasoning that is sent back, the cost of framing, and what the cache served.

Everything is fitted on one trace and holds for that trace alone. Where nothing was recorded, or the fit predicts turns that it has not seen no
better, the plain rule stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from ..model import (
    ContextEdit,
    ContextReset,
    Counting,
    ModelTurn,
    Reasoning,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    UserTurn,
    text_of,
)
from .caching import cache_use
from .counting import TokenCounter
from .fitting import Constant, fitted, outside_error

CALIBRATION_VERSION = "1"
"""Version of what is fitted and how; part of every signature, because it changes every count of tokens."""

FEWEST_TURNS = 5
"""Turns that must report usage before more than the framing of a prompt is fitted on them."""

_MESSAGE = Constant(plain=3, lowest=0, highest=40)
"""Framing of a message, in tokens. More than that is no framing: something that was sent with every message is missing in the recording."""

_FACTOR = Constant(plain=1, lowest=0.5, highest=2.5)
"""Tokens of a provider for one of ours: vocabularies of models differ by no more."""

_MOST_PROMPT_TOKENS = 200_000.0
"""The largest framing of a prompt, in tokens: system instructions and tool definitions that were not recorded."""

MARGIN = 0.001
"""Two ways of counting whose errors differ by no more than this share of the tokens reported agree equally well."""

_HIDDEN = 0.25
"""The share of the answers that, where neither text nor calls account for it, must be reasoning though none is reported."""

_HIDDEN_TOKENS = 32
"""The tokens a turn that it must then have on average: fewer are how the provider writes a call down."""

Sizes = dict[int, int]
"""Tokens of reasoning that was sent back with a model turn, by its step."""


@dataclass(frozen=True)
class Calibration:
    """The way in which the tokens of one trace are counted.

    `reasoning` says what the recording shows (`""`: it does not tell), `problem` why nothing was fitted.
    """

    counting: Counting = field(default_factory=Counting)
    sizes: Sizes = field(default_factory=dict)
    reasoning: Reasoning = ""
    problem: str = ""


def calibrated(trace: Trace, count: TokenCounter, model: str | None, *, assumed: bool, fit: bool = True) -> Calibration:
    """Fit the counting of tokens to the usage that a trace recorded.

    `count` is of the encoding, `assumed` that the model's own one is not known here; `model` is
    that of turns which name none. Without `fit` only the reasoning, and whether a cache was used at all, is taken from the recording.

    The reasoning sent back is what the provider reported of each answer, or what it counted of the answer beyond its text and calls, whichever
    agrees better with the prompts that followed. On two to four turns only the framing of a prompt is fitted.

    >>> from bench.metrics import example
    >>> calibrated(example().trace, TokenCounter(), None, assumed=False).problem
    'no turn reports usage'
    """
    sent, fewest_tools = _sent(trace, count)
    use = cache_use(trace, model)
    plain = Counting(cache_used=use.used, cache_share=use.share if fit else 1.0, cache_known=use.known)
    flagged = {turn.index: _reported(turn, count) for turn in trace.model_turns if turn.reasoning_resent}
    said_so: Reasoning = "resent" if flagged else ""
    if len(sent) < 2:
        problem = "only one turn reports usage" if sent else "no turn reports usage"
        return Calibration(plain, flagged, said_so, problem=problem)
    ways = _ways(sent, fewest_tools, bool(flagged), assumed)
    best = min(way.error for way in ways)
    chosen = next(way for way in ways if way.error <= best + MARGIN)
    problem = ""
    if not fit:
        problem = "calibration is switched off"
    elif chosen.outside >= chosen.plain:
        problem = "fitted constants miss turns that they were not fitted on by more than the plain rule does"
    constants = Constants() if problem else chosen.constants
    counting = msgspec.structs.replace(plain, **constants._asdict(), calibrated=not problem)
    sized = {turn.index: chosen.size(turn, count, counting.factor) for turn in trace.model_turns}
    sizes = {step: size for step, size in sized.items() if size}
    return Calibration(counting, sizes, _verdict(ways, chosen, sent, sizes, said_so), problem)


# ---------------------------------------------------------------- what the recorded model was sent


class MessageSize(NamedTuple):
    """One message of a recorded prompt: its step (-1: a summary), its text and calls in tokens of the encoding, and the model turn it is."""

    step: int
    said: int
    turn: ModelTurn | None = None
    is_system: bool = False


Weights = tuple[int, ...]


class _Thread:
    """The messages that the recorded model of one thread saw, and the sum of their tokens."""

    def __init__(self, weigh: Callable[[MessageSize], Weights]) -> None:
        self.weigh = weigh
        self.told: list[MessageSize] = []
        self.total: list[int] = []
        self.tools = 0

    def add(self, told: MessageSize) -> None:
        self.told.append(told)
        weights = self.weigh(told)
        self.total = [a + b for a, b in zip(self.total, weights, strict=True)] if self.total else list(weights)

    def reset(self, step: ContextReset, count: TokenCounter) -> None:
        """Keep what a recorded reset leaves: the system turns at the start, the summary, and the kept messages."""
        old, kept = self.told, set(step.kept)
        start = next((place for place, item in enumerate(old) if not item.is_system), len(old))
        summary = [] if step.summary is None else [MessageSize(-1, count.encoded(step.summary))]
        self._hold([*old[:start], *summary, *(item for item in old[start:] if item.step in kept)])

    def edit(self, step: ContextEdit, count: TokenCounter) -> None:
        """Give the messages that a recorded edit reworded the size of what was shown in their place."""
        shown = {at: count.encoded(text) for at, text in step.shown.items()}
        self._hold([item._replace(said=shown[item.step]) if item.step in shown else item for item in self.told])

    def _hold(self, told: list[MessageSize]) -> None:
        self.told, self.total = [], []
        for item in told:
            self.add(item)


def recorded_prompts(
    trace: Trace, count: TokenCounter, weigh: Callable[[MessageSize], Weights]
) -> Iterator[tuple[ModelTurn, list[int], int]]:
    """Each model turn with what its prompt held when it was recorded: the sums of what its messages weigh (`[]` for none), and the tokens of
    the tool definitions, as `count` counts them. Rebuilt from seen texts, tool definitions and the recorder's own resets.
    """
    threads: dict[str, _Thread] = {}
    for step in trace.steps:
        thread = threads.setdefault(step.thread, _Thread(weigh))
        if isinstance(step, ToolsChanged):
            thread.tools = count.tools(step.tools)
        elif isinstance(step, ContextReset):
            thread.reset(step, count)
        elif isinstance(step, ContextEdit):
            thread.edit(step, count)
        elif isinstance(step, ToolResult):
            thread.add(MessageSize(step.index, count.encoded(step.shown_by_recorder)))
        elif isinstance(step, ModelTurn):
            yield step, thread.total, thread.tools
            thread.add(MessageSize(step.index, count.said(text_of(step.content), step.tool_calls), step))
        elif isinstance(step, SystemTurn | UserTurn):
            said = count.encoded(text_of(step.content))
            thread.add(MessageSize(step.index, said, is_system=isinstance(step, SystemTurn)))


def count_error(trace: Trace, count: TokenCounter, sizes: Sizes) -> list[tuple[int, int, int]]:
    """For each turn with recorded usage: its step, our count of the prompt that the recorded model saw, and the provider's own.

    `sizes` is the reasoning counted in. No usage: `[]`.
    """

    def weigh(told: MessageSize) -> Weights:
        return (count.framed(told.said) + sizes.get(told.step, 0),)

    framing = count.counting.prompt_tokens
    return [
        (turn.index, framing + tools + sum(total), turn.usage.prompt_tokens)
        for turn, total, tools in recorded_prompts(trace, count, weigh)
        if turn.usage is not None and turn.usage.prompt_tokens > 0
    ]


# ---------------------------------------------------------------- the ways to count, compared


class SentPrompt(NamedTuple):
    """The prompt of one turn in numbers: what the provider counted, the tool definitions; the messages, what they say, the reasoning reported
    of its model turns, what the provider counted of these in all (0 where it did not), and what of the messages' text that replaces.
    """

    reported: int
    tools: int
    messages: int = 0
    said: int = 0
    reasoning: int = 0
    answered: int = 0
    answered_said: int = 0


class Constants(NamedTuple):
    """The fitted constants: framing of a prompt and of a message, and provider tokens for one of ours."""

    prompt_tokens: int = 3
    message_tokens: float = 3.0
    factor: float = 1.0


_PLAIN = {name: float(value) for name, value in Constants()._asdict().items()}


class _Way:
    """One way to count a recording, with the constants that suit it best, and how far off it is with and without these."""

    def __init__(self, sent: Sequence[SentPrompt], fewest_tools: int, assumed: bool) -> None:
        few = len(sent) < FEWEST_TURNS
        reported = sum(item.reported for item in sent)
        lowest = -fewest_tools * (_FACTOR.lowest if assumed else 1.0)  # a prompt never costs less than nothing
        wanted = {"prompt_tokens": Constant(3, lowest, _MOST_PROMPT_TOKENS)}
        if not few:
            wanted["message_tokens"] = _MESSAGE
        if assumed and not few:
            wanted["factor"] = _FACTOR
        rows, targets = [], []
        for item in sent:
            weights = {
                "prompt_tokens": 1.0,
                "message_tokens": float(item.messages),
                "factor": float(item.said + item.tools - self.replaced(item)),
            }
            known = sum(weights[name] * value for name, value in _PLAIN.items() if name not in wanted)
            rows.append([weights[name] for name in wanted])
            targets.append(item.reported - self.fixed(item) - known)
        plain = [constant.plain for constant in wanted.values()]
        off = [
            abs(sum(a * b for a, b in zip(row, plain, strict=True)) - target)
            for row, target in zip(rows, targets, strict=True)
        ]
        self.plain = sum(off) / reported
        values = fitted(rows, targets, [*wanted.values()])
        self.outside = outside_error(rows, targets, [*wanted.values()], values) / reported
        found = dict(zip(wanted, values, strict=True))
        self.constants = Constants(
            prompt_tokens=round(found["prompt_tokens"]),
            message_tokens=round(found.get("message_tokens", _PLAIN["message_tokens"]), 2),
            factor=round(found.get("factor", _PLAIN["factor"]), 4),
        )

    @property
    def error(self) -> float:
        """The share by which it misses turns, fitted or not, whichever is better."""
        return min(self.plain, self.outside)

    def fixed(self, sent: SentPrompt) -> int:
        """Tokens of a prompt that the provider itself counted."""
        return 0

    def replaced(self, sent: SentPrompt) -> int:
        """The part of the text that these tokens stand for."""
        return 0

    def size(self, turn: ModelTurn, count: TokenCounter, factor: float) -> int:
        return 0


class _AsReported(_Way):
    def fixed(self, sent: SentPrompt) -> int:
        return sent.reasoning

    def size(self, turn: ModelTurn, count: TokenCounter, factor: float) -> int:
        return _reported(turn, count)


class _AsAnswered(_Way):
    def fixed(self, sent: SentPrompt) -> int:
        return sent.answered

    def replaced(self, sent: SentPrompt) -> int:
        return sent.answered_said

    def size(self, turn: ModelTurn, count: TokenCounter, factor: float) -> int:
        if turn.usage is None:
            return 0
        return max(0, turn.usage.completion_tokens - round(factor * count.said(text_of(turn.content), turn.tool_calls)))


def _reported(turn: ModelTurn, count: TokenCounter) -> int:
    """The tokens of a turn's reasoning: the provider's count, else its text counted."""
    if turn.usage is not None and turn.usage.reasoning_tokens is not None:
        return turn.usage.reasoning_tokens
    return count.text(turn.reasoning or "")


def _ways(sent: Sequence[SentPrompt], fewest_tools: int, flagged: bool, assumed: bool) -> list[_Way]:
    """The ways to count that differ on this recording, the one to be believed first; a few turns cannot tell hidden reasoning from anything else."""
    kinds: list[type[_Way]] = [_Way]
    if any(item.reasoning for item in sent):
        kinds = [_AsReported, _Way] if flagged else [_Way, _AsReported]
    if len(sent) >= FEWEST_TURNS:
        kinds += [_AsAnswered] if any(item.answered for item in sent) else []
    elif assumed:
        kinds = kinds[:1]
    return [kind(sent, fewest_tools, assumed) for kind in kinds]


def _verdict(
    ways: Sequence[_Way], chosen: _Way, sent: Sequence[SentPrompt], sizes: Sizes, said_so: Reasoning
) -> Reasoning:
    """Return the verdict on re-sent reasoning.

    Answers may be counted as the provider did though nothing shows that they hold any reasoning: then it tells nothing.
    """
    without = next((way for way in ways if type(way) is _Way), None)
    others = [way for way in ways if way is not without]
    hidden = sum(sizes.values()) > max(_HIDDEN * max(item.answered for item in sent), _HIDDEN_TOKENS * len(sizes))
    if without is None or not others or not (hidden or any(item.reasoning for item in sent)):
        return said_so
    resent = min(way.error for way in others)
    if chosen is not without:
        return "resent"
    return "not resent" if without.error < resent - MARGIN else said_so


def _sent(trace: Trace, count: TokenCounter) -> tuple[list[SentPrompt], int]:
    """The recorded prompts whose size the provider reported, and the tokens of the smallest tool definitions of any prompt."""

    def weigh(told: MessageSize) -> Weights:
        turn = told.turn
        if turn is None:
            return (1, told.said, 0, 0, 0)
        answered = turn.usage.completion_tokens if turn.usage is not None else 0
        return (1, told.said, _reported(turn, count), answered, told.said if answered else 0)

    found, fewest_tools = [], []
    for turn, total, tools in recorded_prompts(trace, count, weigh):
        fewest_tools.append(tools)
        if turn.usage is not None and turn.usage.prompt_tokens > 0:
            found.append(SentPrompt(turn.usage.prompt_tokens, tools, *total))
    return found, min(fewest_tools, default=0)
