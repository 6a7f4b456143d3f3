"""Counting as a recording's own usage shows: the framing of its prompts, its vocabulary, and the
reasoning sent back.

Three numbers are medians over the turns of one trace and hold for that trace alone. Where the
model's vocabulary is known a token is a token, and a message may cost more framing; where it is
not, the provider's tokens are ours times a factor. What is then left over of a prompt (instructions
and tool definitions that were not recorded) is the framing of every prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from ..model import (
    ContextEdit,
    ContextReset,
    Counting,
    ModelTurn,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    Trace,
    text_of,
)
from ..model.messages import Speaking
from .caching import cache_use
from .counting import TokenCounter

CALIBRATION_VERSION = "2"
"""Version of how the constants are found; part of every key under which counts are kept."""

FEWEST_TURNS = 5
"""Turns that must report usage before more than the framing of a prompt is taken from it."""

_MESSAGE_TOKENS = 0.0, 40.0
_FACTOR = 0.5, 2.5
_FEWEST_TOKENS = 20
"""Two prompts that differ by fewer tokens tell nothing about a factor."""

_BETTER = 0.95
"""Reasoning is taken as sent back only where that leaves so much of the error, or less."""


class SentPrompt(NamedTuple):
    """A prompt as the recorded model was sent it, in tokens of the encoding: messages without
    framing.

    `reported` is the provider's count (0: none). `reasoning` is that of its model turns, `answered`
    the provider's counts of these turns, in place of `answered_text` of the text.
    """

    step: int
    thread: str
    reported: int
    tools: int
    messages: int
    text: int
    reasoning: int
    answered: int
    answered_text: int


class Calibration(NamedTuple):
    """The counting of a trace. `reasoning_tokens` are those sent back with a model turn, by its
    step.

    `error` is the mean share by which the counts miss the reported prompts, `plain_error` that of
    the plain rule; both are 0 where nothing is reported.
    """

    counting: Counting = Counting()
    reasoning_tokens: dict[int, int] = {}
    error: float = 0.0
    plain_error: float = 0.0


def calibration_of(
    trace: Trace, count: TokenCounter, model: str | None, *, assumed: bool, calibrate: bool = True
) -> Calibration:
    """The counting of a trace's provider. `count` is plain, `assumed` says that its vocabulary is
    not the model's.

    `model` is that of turns which name none. With fewer than two reported prompts, or without
    `calibrate`, the plain rule stays, with reasoning where the recording says that it was sent
    back.

    >>> from bench.model import Source, UserTurn, Usage
    >>> steps = [UserTurn(index=0, content="Go.")]
    >>> steps += [ModelTurn(index=n, content="On.", usage=Usage(prompt_tokens=100 + 10 * n)) for n in range(1, 7)]
    >>> found = calibration_of(Trace(id="a", source=Source(format="native"), steps=tuple(steps)),
    ...     TokenCounter(), "gpt-4o", assumed=False)
    >>> found.counting.prompt_tokens, found.counting.message_tokens, found.error
    (100, 8.0, 0.0)
    """
    use = cache_use(trace, model)
    share = use.share if calibrate else 1.0
    base = Counting(cache_used=use.used, cache_share=share, cache_known=use.known)
    flagged = {
        turn.index: _reasoning(turn, count) for turn in trace.model_turns if turn.reasoning_resent
    }
    sent = [prompt for prompt in sent_prompts(trace, count) if prompt.reported > 0]
    plain = Calibration(base, {step: size for step, size in flagged.items() if size})
    if not calibrate or len(sent) < 2:
        return plain
    best = _Fit.of("", sent, assumed)
    plain_error = _error(sent, "", Counting())
    for way in ("reasoning", "answered"):
        enough = (
            len(sent) >= FEWEST_TURNS
            if way == "answered"
            else not assumed or len(sent) >= FEWEST_TURNS
        )
        if enough and any(getattr(prompt, way) for prompt in sent):
            other = _Fit.of(way, sent, assumed)
            if other.error < best.error * (1.0 if way == "reasoning" and flagged else _BETTER):
                best = other
    if best.error >= plain_error:
        return plain._replace(error=plain_error, plain_error=plain_error)
    counting = msgspec.structs.replace(best.counting, **_cache(base), calibrated=True)
    sizes = {turn.index: best.size(turn, count) for turn in trace.model_turns}
    return Calibration(
        counting, {step: size for step, size in sizes.items() if size > 0}, best.error, plain_error
    )


def _cache(base: Counting) -> dict[str, object]:
    return {name: getattr(base, name) for name in ("cache_used", "cache_share", "cache_known")}


class _Fit(NamedTuple):
    """One way to treat reasoning ("": not sent back; as reported; whole answers as reported), with
    what suits it.
    """

    way: str
    counting: Counting
    error: float

    @classmethod
    def of(cls, way: str, sent: Sequence[SentPrompt], assumed: bool) -> _Fit:
        parts = [_parts(prompt, way) for prompt in sent]
        factor, framing = 1.0, float(Counting().message_tokens)
        pairs = _far_apart(sent, parts) if len(sent) >= FEWEST_TURNS else []
        if assumed:
            slopes = [(d - x - framing * n) / s for d, s, n, x in pairs if abs(s) >= _FEWEST_TOKENS]
            factor = round(_within(median(slopes), _FACTOR), 4) if slopes else factor
        else:
            slopes = [(d - x - s) / n for d, s, n, x in pairs if n]
            framing = round(_within(median(slopes), _MESSAGE_TOKENS), 2) if slopes else framing
        rest = median(d - x - factor * s - framing * n for d, s, n, x in parts)
        # A prompt never costs less than nothing.
        lowest = -factor * min(prompt.tools for prompt in sent)
        counting = Counting(
            prompt_tokens=round(max(rest, lowest)), message_tokens=framing, factor=factor
        )
        return cls(way, counting, _error(sent, way, counting))

    def size(self, turn: ModelTurn, count: TokenCounter) -> int:
        """Tokens of reasoning that this way sends back with a turn."""
        if self.way == "reasoning":
            return _reasoning(turn, count)
        if self.way == "answered" and turn.usage is not None:
            content_tokens = self.counting.factor * count.contents(
                text_of(turn.content), turn.tool_calls
            )
            return turn.usage.completion_tokens - round(content_tokens)
        return 0


_Parts = tuple[float, float, float, float]
"""Of a prompt, or of the difference of two: reported tokens, text, messages, and what the provider
counted.
"""


def _parts(prompt: SentPrompt, way: str) -> _Parts:
    text, counted = prompt.text + prompt.tools, 0
    if way == "reasoning":
        counted = prompt.reasoning
    elif way == "answered":
        text, counted = text - prompt.answered_text, prompt.answered
    return prompt.reported, text, prompt.messages, counted


def _far_apart(sent: Sequence[SentPrompt], parts: Sequence[_Parts]) -> list[_Parts]:
    """The differences of prompts of one thread that are half of its turns apart."""
    threads: dict[str, list[_Parts]] = {}
    for prompt, part in zip(sent, parts, strict=True):
        threads.setdefault(prompt.thread, []).append(part)
    return [
        (b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3])
        for items in threads.values()
        for a, b in zip(items, items[max(1, len(items) // 2) :], strict=False)
    ]


def _within(value: float, bounds: tuple[float, float]) -> float:
    return min(bounds[1], max(bounds[0], value))


def _error(sent: Sequence[SentPrompt], way: str, counting: Counting) -> float:
    """The mean share by which a way of counting misses the reported prompts."""
    off = 0.0
    for prompt in sent:
        reported, text, messages, counted = _parts(prompt, way)
        ours = (
            counting.prompt_tokens
            + counting.factor * text
            + counting.message_tokens * messages
            + counted
        )
        off += abs(ours - reported) / reported
    return off / len(sent)


def _reasoning(turn: ModelTurn, count: TokenCounter) -> int:
    """The tokens of a turn's reasoning: the provider's count, else its text counted."""
    if turn.usage is not None and turn.usage.reasoning_tokens is not None:
        return turn.usage.reasoning_tokens
    return count.text(turn.reasoning or "")


# ---------------------------------------------------------------- what the recorded model was sent


class _Sized(NamedTuple):
    step: int
    is_system: bool
    size: tuple[int, ...]


class _Thread:
    """The messages that the recorded model of one thread was sent, with the sums of their sizes."""

    def __init__(self) -> None:
        self.messages: list[_Sized] = []
        self.total = [0] * 5
        self.tools = 0

    def add(self, message: _Sized) -> None:
        self.messages.append(message)
        self.total = [a + b for a, b in zip(self.total, message.size, strict=True)]

    def set(self, messages: list[_Sized]) -> None:
        self.messages, self.total = [], [0] * 5
        for message in messages:
            self.add(message)


def sent_prompts(trace: Trace, count: TokenCounter) -> Iterator[SentPrompt]:
    """Yield each model turn's prompt as it was recorded: seen texts, tool definitions, the
    recorder's own resets.
    """
    threads: dict[str, _Thread] = {}
    for step in trace.steps:
        thread = threads.setdefault(step.thread, _Thread())
        if isinstance(step, ToolsChanged):
            thread.tools = count.tools(step.tools)
        elif isinstance(step, ContextReset):
            thread.set(_after_reset(step, thread.messages, count))
        elif isinstance(step, ContextEdit):
            edits = {at: _plain(count.encoded(text)) for at, text in step.shown.items()}
            thread.set(
                [item._replace(size=edits.get(item.step, item.size)) for item in thread.messages]
            )
        elif isinstance(step, ModelTurn):
            reported = step.usage.prompt_tokens if step.usage is not None else 0
            messages, content, reasoning, answered, answered_text = thread.total
            yield SentPrompt(
                step.index,
                step.thread,
                reported,
                thread.tools,
                messages,
                content,
                reasoning,
                answered,
                answered_text,
            )
            content = count.contents(text_of(step.content), step.tool_calls)
            answer = step.usage.completion_tokens if step.usage is not None else 0
            size = 1, content, _reasoning(step, count), answer, content if answer else 0
            thread.add(_Sized(step.index, False, size))
        elif isinstance(step, Speaking):
            text = step.recorded_text if isinstance(step, ToolResult) else text_of(step.content)
            thread.add(
                _Sized(step.index, isinstance(step, SystemTurn), _plain(count.encoded(text)))
            )


def _plain(tokens: int) -> tuple[int, ...]:
    return 1, tokens, 0, 0, 0


def _after_reset(
    reset: ContextReset, before: Sequence[_Sized], count: TokenCounter
) -> list[_Sized]:
    """The prompt that a recorded reset leaves: the system turns at the start, the summary, and what
    it kept.
    """
    start = next((at for at, item in enumerate(before) if not item.is_system), len(before))
    summary = (
        [] if reset.summary is None else [_Sized(-1, False, _plain(count.encoded(reset.summary)))]
    )
    return [
        *before[:start],
        *summary,
        *(item for item in before[start:] if item.step in reset.kept),
    ]
