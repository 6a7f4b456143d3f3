"""Compactors of common practice: a sliding window, masked observations, repeats as references, and a summary of what is old."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Edits, Window
from ..histories import (
    AtShare,
    Batched,
    Boundary,
    Compactor,
    Count,
    Share,
    Summarising,
    split_old,
    state,
    system_count,
    with_text,
    worth_summarising,
)


@register("compactor", "mask_observations")
class MaskObservations(Boundary):
    """The last `keep_last` tool results verbatim, a one-line placeholder in the place of each older one that says how long it was.

    A placeholder keeps role, call and step of the result it stands for.

    Source: common practice of coding agents; arXiv 2508.21433 "The Complexity Trap" §3

    >>> MaskObservations(keep_last=1).tried("call ls", "tool: a.txt", "call ls", "tool: b.txt")
    ['call ls', 'tool: [tool result left out: 5 characters, 1 lines]', 'call ls', 'tool: b.txt']
    """

    keep_last: Count = 10
    _verbatim: deque[Message] = state(deque)

    def compact(self, window: Window) -> Edits | None:
        self._verbatim.extend(message for message in window.added if message.kind == "result")
        if not self.due():
            return None
        old = [self._verbatim.popleft() for _ in range(max(0, len(self._verbatim) - self.keep_last))]
        return Edits(replace={message: _left_out(message) for message in old}) if old else None


def _left_out(message: Message) -> Message:
    text = message.text
    return with_text(message, f"[tool result left out: {len(text)} characters, {len(text.splitlines())} lines]")


@register("compactor", "repeats")
class Repeats(Compactor):
    """Every tool result of `min_chars` or more that an earlier one gives word for word as a line that names the earlier call.

    The earlier one stays, so nothing is lost and the prefix that a provider has cached holds. Results that differ in one character are no
    repeats. Where the recorded harness compacted its history, what had gone by then is no earlier result.

    Source: RFC 3229 (delta encoding in HTTP): an unchanged answer is sent as a reference to the one before

    >>> Repeats(min_chars=3).tried("call cat", "tool: a long text", "call cat", "tool: a long text")
    ['call cat', 'tool: a long text', 'call cat', 'tool: [the same result as call call 0 above]']
    """

    min_chars: Count = 200

    def compact(self, window: Window) -> Edits | None:
        if not any(message.kind == "result" for message in window.added):
            return None
        new = set(window.added)
        first: dict[str, Message] = {}
        instead: dict[Message, Message] = {}
        for message in window.messages:
            if message.kind != "result" or len(message.text) < self.min_chars:
                continue
            known = first.setdefault(message.text, message)
            if known is not message and message in new:
                instead[message] = with_text(message, f"[the same result as call {known.call_id} above]")
        return Edits(replace=instead) if instead else None


@register("compactor", "sliding_window")
class SlidingWindow(Batched):
    """The system messages at the start and the last `keep_last` messages, a tool call never separated from its results.

    Where the cut would fall between a call and one of its results, it moves back to the call, so a few more may stay.

    Source: common practice: a sliding window over the messages that keeps pairs together

    >>> SlidingWindow(keep_last=2).tried("user: 0", "user: 1", "user: 2")
    ['user: 1', 'user: 2']
    """

    keep_last: Count = 20

    def edit(self, window: Window) -> Edits | None:
        rest = window.messages[system_count(window.messages) :]
        cut = safe_cut(rest, max(0, len(rest) - self.keep_last))
        return Edits(replace=dict.fromkeys(rest[:cut])) if cut else None


def safe_cut(messages: Sequence[Message], cut: int) -> int:
    """Return the last position up to `cut` at which no kept result has its call among what is dropped."""
    call_at: dict[str | None, int] = {}
    answers: list[tuple[int, int]] = []
    for position, message in enumerate(messages):
        call_at.update((call.id, position) for call in message.tool_calls)
        if message.kind == "result" and message.call_id in call_at:
            answers.append((position, call_at[message.call_id]))
    for position, called in reversed(answers):
        if position >= cut:
            cut = min(cut, called)
    return cut


@register("compactor", "summarize_old")
class SummarizeOld(AtShare, Summarising):
    """`[system, summary, last 8]` once the prompt reaches a share of the window: everything older becomes one summary message.

    All prompt tokens count, framing and tool definitions included. The rule counts messages, so a tool call can be cut from its result. An earlier
    summary is old like the rest. Where nothing is older than the last `keep_last`, nothing changes and a note says so.

    Source: 002 Current Behavior

    >>> SummarizeOld(keep_last=1).tried("user: 0", "user: 1", "user: 2")
    ['user: Summary of 2 earlier messages:', 'user: 2']
    """

    threshold: Share = 0.8
    keep_last: Count = 8

    def compact(self, window: Window) -> Edits | None:
        if window.tokens < self.limit(window):
            return None
        system, old, recent = split_old(window.messages, self.keep_last)
        if worth_summarising(old):
            return self.summarised(
                window, system, old, recent, f"{window.tokens} tokens: {len(old)} messages summarised"
            )
        return Edits(notes=(f"{window.tokens} tokens, but nothing is older than the last {self.keep_last} messages",))
