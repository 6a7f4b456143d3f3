"""Calibration of token counts, so that they agree with the usage that a recording reports.

Three numbers are fitted for each trace, as medians over its turns: the framing of a message, a
factor, and a constant of every prompt. If the model's vocabulary is known, the factor is 1; if not,
the provider's tokens are ours times the factor. The constant covers the rest of a prompt, such as
instructions and tool definitions that were not recorded. Resent reasoning is found, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import add, sub
from statistics import median
from typing import NamedTuple

import msgspec

from ..model import Counting, Message, ModelTurn, ToolResult, ToolsChanged, Trace, grouped
from ..model.messages import Running, Speaking, recorded_messages, recorded_prompts
from .caching import cache_use
from .counting import TokenCounter

CALIBRATION_VERSION = "3"
"""The version of the calibration; part of every key in the cache."""

FEWEST_TURNS = 5
"""The fewest turns with usage from which more than the framing of a prompt is calibrated."""

_MESSAGE_TOKENS = 0.0, 40.0
_FACTOR = 0.5, 2.5
_FEWEST_TOKENS = 20
"""Two prompts that differ by fewer tokens are too similar to measure a factor."""

_BETTER = 0.95
"""Reasoning counts as resent only if that reduces the error to this share or less."""


class Size(NamedTuple):
    """The size of some messages in tokens of the encoding, without framing.

    `reasoning` is that of the model turns among them. `answered` are the provider's counts of these
    turns, which can replace the part `answered_text` of the text.
    """

    messages: int = 0
    text: int = 0
    reasoning: int = 0
    answered: int = 0
    answered_text: int = 0


class SentPrompt(NamedTuple):
    """A prompt that the recorded model got. `reported` is the provider's count (0: none), `tools`
    the size of the tool definitions, of the step `defined`."""

    thread: str
    reported: int
    tools: int
    defined: int
    size: Size


class Calibration(NamedTuple):
    """The counting of a trace. `reasoning_tokens` is the reasoning resent with each model turn, by
    its step, `tools_tokens` the definitions in the encoding, by the step that has them.

    `error` is the mean relative error of the counts of reported prompts, 0 if none is reported.
    """

    counting: Counting = Counting()
    reasoning_tokens: dict[int, int] = {}
    error: float = 0.0
    tools_tokens: dict[int, int] = {}


def calibration_of(
    trace: Trace, count: TokenCounter, model: str | None, *, assumed: bool
) -> Calibration:
    """The counting of a trace's provider. `count` is not calibrated; `assumed` is True if its
    vocabulary is not the model's.

    `model` applies to turns that name none. With fewer than two reported prompts the plain rule
    stays, with reasoning if the recording says that it was resent.

    >>> from bench.model import Source, UserTurn, Usage
    >>> steps = [UserTurn(index=0, content="Go.")]
    >>> steps += [ModelTurn(index=n, content="On.", usage=Usage(prompt_tokens=100 + 10 * n)) for n in range(1, 7)]
    >>> found = calibration_of(Trace(id="a", source=Source(format="native"), steps=tuple(steps)),
    ...     TokenCounter(), "gpt-4o", assumed=False)
    >>> found.counting.prompt_tokens, found.counting.message_tokens, found.error
    (100, 8.0, 0.0)
    """
    use = cache_use(trace, model)
    base = Counting(cache_used=use.used, cache_share=use.share)
    flagged = {
        turn.index: _reasoning(turn, count) for turn in trace.model_turns if turn.reasoning_resent
    }
    prompts = [*sent_prompts(trace, count)]
    tools = _tools_tokens(prompts)
    sent = [it._replace(tools=tools.get(it.defined, 0)) for it in prompts if it.reported > 0]
    if len(sent) < 2:
        resent = {step: size for step, size in flagged.items() if size}
        return Calibration(base, resent, tools_tokens=tools)
    best = _best_fit(sent, assumed, said_so=bool(flagged))
    plain_error = _error(sent, "", Counting())
    if best.error >= plain_error:
        return Calibration(base, error=plain_error, tools_tokens=tools)
    counting = msgspec.structs.replace(
        best.counting, cache_used=use.used, cache_share=use.share, calibrated=True
    )
    sizes = {turn.index: best.size(turn, count) for turn in trace.model_turns}
    resent = {step: size for step, size in sizes.items() if size > 0}
    return Calibration(counting, resent, best.error, tools)


def _tools_tokens(prompts: Iterable[SentPrompt]) -> dict[int, int]:
    """The size of each recorded list of tool definitions, by its step. A provider may write them
    shorter, so it is at most what its counts leave beside the texts of each prompt.

    >>> sent = [SentPrompt("main", 500, 900, 0, Size(text=200)), SentPrompt("main", 0, 50, 4, Size())]
    >>> _tools_tokens(sent)
    {0: 300, 4: 50}
    """
    sizes = {}
    for step, with_tools in grouped((it.defined, it) for it in prompts if it.tools).items():
        left = (it.reported - it.size.text for it in with_tools if it.reported)
        sizes[step] = max(0, min([with_tools[0].tools, *left]))
    return sizes


def _best_fit(sent: Sequence[SentPrompt], assumed: bool, *, said_so: bool) -> _Fit:
    """The fit without reasoning, or one with reasoning if that is clearly better.

    If the recording says that reasoning was resent, any improvement is enough.
    """
    best = _Fit.of("", sent, assumed)
    has_few_turns = len(sent) < FEWEST_TURNS
    for way in ("reasoning", "answered"):
        if has_few_turns and (assumed or way == "answered"):
            continue
        if any(getattr(prompt.size, way) for prompt in sent):
            other = _Fit.of(way, sent, assumed)
            if other.error < best.error * (1.0 if way == "reasoning" and said_so else _BETTER):
                best = other
    return best


class _Fit(NamedTuple):
    """A fitted counting for one way to treat reasoning: "" (not resent), "reasoning" (as reported),
    "answered" (whole answers as reported)."""

    way: str
    counting: Counting
    error: float

    @classmethod
    def of(cls, way: str, sent: Sequence[SentPrompt], assumed: bool) -> _Fit:
        """The fit whose counts are closest to the reported prompts.

        The difference is attributed to the vocabulary if that is `assumed`, else to the framing of
        messages; the rest is a constant of every prompt.
        """
        prompts = [_Counted.of(prompt, way) for prompt in sent]
        factor, framing = 1.0, float(Counting().message_tokens)
        apart = _far_apart(sent, prompts) if len(sent) >= FEWEST_TURNS else []
        if assumed:
            factor = _text_factor(apart, framing)
        else:
            framing = _message_framing(apart, framing)
        rest = median(prompt.left_over(factor, framing) for prompt in prompts)
        # A prompt never costs less than nothing.
        lowest = -factor * min(prompt.tools for prompt in sent)
        counting = Counting(
            prompt_tokens=round(max(rest, lowest)), message_tokens=framing, factor=factor
        )
        return cls(way, counting, _error(sent, way, counting))

    def size(self, turn: ModelTurn, count: TokenCounter) -> int:
        """The tokens of reasoning resent with a turn under this fit."""
        if self.way == "reasoning":
            return _reasoning(turn, count)
        if self.way == "answered" and turn.usage is not None:
            content_tokens = self.counting.factor * count.contents(turn.content, turn.tool_calls)
            return turn.usage.completion_tokens - round(content_tokens)
        return 0


class _Counted(NamedTuple):
    """The counts of a prompt, or of the difference between two: reported tokens, our tokens of its
    text, its messages, and tokens of its answers counted by the provider."""

    reported: float
    text: float
    messages: float
    answers: float

    @classmethod
    def of(cls, prompt: SentPrompt, way: str) -> _Counted:
        """The counts of a prompt, with reasoning treated in one way."""
        size, text = prompt.size, prompt.size.text + prompt.tools
        if way == "reasoning":
            return cls(prompt.reported, text, size.messages, size.reasoning)
        if way == "answered":
            return cls(prompt.reported, text - size.answered_text, size.messages, size.answered)
        return cls(prompt.reported, text, size.messages, 0)

    def left_over(self, factor: float, framing: float) -> float:
        """The reported tokens that neither text nor messages explain."""
        return self.reported - self.answers - factor * self.text - framing * self.messages


def _far_apart(sent: Sequence[SentPrompt], prompts: Sequence[_Counted]) -> list[_Counted]:
    """The differences between prompts of one thread that are half of its turns apart."""
    threads = grouped((item.thread, prompt) for item, prompt in zip(sent, prompts, strict=True))
    return [
        _Counted(*map(sub, later, earlier))
        for items in threads.values()
        for earlier, later in zip(items, items[max(1, len(items) // 2) :], strict=False)
    ]


def _text_factor(apart: Iterable[_Counted], framing: float) -> float:
    """Reported tokens per token of ours, for text; 1 if too little text was added to measure it."""
    longer = (difference for difference in apart if abs(difference.text) >= _FEWEST_TOKENS)
    factors = [difference.left_over(0.0, framing) / difference.text for difference in longer]
    return round(_within(median(factors), _FACTOR), 4) if factors else 1.0


def _message_framing(apart: Iterable[_Counted], plain: float) -> float:
    """The reported framing tokens of one message; `plain` if no message was added."""
    added = (difference for difference in apart if difference.messages)
    framings = [difference.left_over(1.0, 0.0) / difference.messages for difference in added]
    return round(_within(median(framings), _MESSAGE_TOKENS), 2) if framings else plain


def _within(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return min(high, max(low, value))


def _error(sent: Sequence[SentPrompt], way: str, counting: Counting) -> float:
    """The mean relative error of a counting over the reported prompts."""
    off = 0.0
    for prompt in sent:
        rest = _Counted.of(prompt, way).left_over(counting.factor, counting.message_tokens)
        off += abs(counting.prompt_tokens - rest) / prompt.reported
    return off / len(sent)


def _reasoning(turn: ModelTurn, count: TokenCounter) -> int:
    """The tokens of a turn's reasoning: the provider's count, else those of its text."""
    if turn.usage is not None and turn.usage.reasoning_tokens is not None:
        return turn.usage.reasoning_tokens
    return count.text(turn.reasoning or "")


# ---------------------------------------------------------------- the recorded prompts


def sent_prompts(trace: Trace, count: TokenCounter) -> Iterator[SentPrompt]:
    """Yield the recorded prompt of each model turn, with its tool definitions and after recorded
    resets."""
    recorded = recorded_messages(trace)
    steps = {step.index: step for step in trace.steps if isinstance(step, Speaking)}
    known = {
        recorded.messages[number]: _size_of(steps[step], count)
        for step, number in recorded.seen.items()
    }

    def with_message(before: Size, message: Message) -> Size:
        size = known.get(message) or Size(1, count.encoded(message.text))
        return Size(*map(add, before, size))

    sizes = defaultdict[str, Running[Size]](lambda: Running(Size(), with_message))
    tools = _tools_of_turns(trace, count)
    for turn, keep, tail in recorded_prompts(trace, recorded):
        reported = turn.usage.prompt_tokens if turn.usage is not None else 0
        size = sizes[turn.thread].change(keep, tail)
        yield SentPrompt(turn.thread, reported, *tools[turn.index], size)


def _tools_of_turns(trace: Trace, count: TokenCounter) -> dict[int, tuple[int, int]]:
    """The size of the tool definitions in the prompt of each model turn, and the step that has
    them, by the turn's step."""
    by_thread: dict[str, tuple[int, int]] = {}
    by_turn = {}
    for step in trace.steps:
        if isinstance(step, ToolsChanged):
            by_thread[step.thread] = count.tools(step.tools), step.index
        elif isinstance(step, ModelTurn):
            by_turn[step.index] = by_thread.get(step.thread, (0, -1))
    return by_turn


def _size_of(step: Speaking, count: TokenCounter) -> Size:
    """The size of a message as the recorded model saw it."""
    if isinstance(step, ModelTurn):
        text = count.contents(step.content, step.tool_calls)
        answered = step.usage.completion_tokens if step.usage is not None else 0
        return Size(1, text, _reasoning(step, count), answered, text if answered else 0)
    seen = step.recorded_text if isinstance(step, ToolResult) else step.content
    return Size(1, count.encoded(seen))
