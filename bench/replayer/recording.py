"""A recording as the input of replays, moment by moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from ..model import AnyStep, Message, ModelTurn, RouteDecision, ToolsChanged, Trace
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..tokens.counting import DEFAULT_WINDOW_TOKENS

_PLANS = ("execution_plan", "manifest")
"""The parts of a trace's `meta` that routers may see; the rest may reveal how the run ended."""


class Frame(NamedTuple):
    """The part of a replay's input that is the same at every moment.

    `framing` are the tokens of an empty prompt, `window_tokens` those of the model's window,
    `plans` the plan and the manifest that routers choose from, `points` the decision points (with
    the router, where known) at which decisions were recorded, `messages` the number of recorded
    messages. `future` is for a reference that reads it.
    """

    framing: int
    window_tokens: int
    plans: dict[str, Any] = {}
    points: frozenset[tuple[str, str | None]] = frozenset()
    messages: int = 0
    future: Any = None


class Moment(NamedTuple):
    """A recorded step; with `asks` the moment before its answer, which is then left out.

    `message` is the untruncated message of the step, `seen` the one that the recorded model saw,
    each with its tokens; both are None for steps that are not in prompts. `tools_tokens` are the
    tokens of the tools in a model turn's prompt.
    """

    step: AnyStep
    asks: bool = False
    message: Message | None = None
    seen: Message | None = None
    tokens: tuple[int, int] = (0, 0)
    tools_tokens: int = 0
    tools_changed: bool = False


def frame_of(trace: Trace, index: TraceIndex) -> Frame:
    """The frame of every replay of a trace."""
    decisions = [step for step in trace.steps if isinstance(step, RouteDecision)]
    return Frame(
        index.counting.prompt_tokens,
        index.window_tokens or DEFAULT_WINDOW_TOKENS,
        {name: trace.meta[name] for name in _PLANS if name in trace.meta},
        frozenset((step.at, step.router) for step in decisions),
        len(index.tokens),
    )


def moments_of(trace: Trace, index: TraceIndex) -> Iterator[Moment]:
    """Yield the moments of a trace: a model turn and a routing decision ask before they are taken."""
    messages, full, seen = recorded_messages(trace, index.reasoning_tokens)
    tools: dict[str, int] = {}
    changed: set[str] = set()
    for step in trace.steps:
        if isinstance(step, ToolsChanged):
            tools[step.thread] = index.tools_tokens.get(step.index, 0)
            changed.add(step.thread)
        elif isinstance(step, ModelTurn):
            unanswered = ModelTurn(index=step.index, thread=step.thread, model=step.model)
            tokens, is_other = tools.get(step.thread, 0), step.thread in changed
            yield Moment(unanswered, asks=True, tools_tokens=tokens, tools_changed=is_other)
            changed.discard(step.thread)
        elif isinstance(step, RouteDecision):
            yield Moment(msgspec.structs.replace(step, taken=""), asks=True)
        if step.index in full:
            one, other = full[step.index], seen[step.index]
            both = index.tokens[one], index.tokens[other]
            yield Moment(step, message=messages[one], seen=messages[other], tokens=both)
        else:
            yield Moment(step)
