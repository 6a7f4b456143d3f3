"""A recording as every replay of it needs it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import Message, ModelTurn, RouteDecision, ToolsChanged, Trace
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..tokens.counting import DEFAULT_WINDOW_TOKENS
from .numbering import RecordedMessages

_PLANS = ("execution_plan", "manifest")
"""The parts of a trace's `meta` that routers choose from; the rest may say how the run ended."""

Asked = ModelTurn | RouteDecision
"""A step that waits for its answer."""


class Recording:
    """One trace with its messages numbered.

    `framing` are the tokens of an empty prompt, `window_tokens` those of the model's window, `plans`
    the plan and the manifest that routers choose from, `points` the decision points (with the
    router, where known) at which decisions were recorded.
    """

    def __init__(self, trace: Trace, index: TraceIndex) -> None:
        self.steps = trace.steps
        messages, self._full, self._seen = recorded_messages(trace, index.reasoning_tokens)
        self.messages = RecordedMessages(messages, index.tokens)
        self.framing = index.counting.prompt_tokens
        self.window_tokens = index.window_tokens or DEFAULT_WINDOW_TOKENS
        self.plans: dict[str, Any] = {
            name: trace.meta[name] for name in _PLANS if name in trace.meta
        }
        self.decisions = {
            step.index: step for step in trace.steps if isinstance(step, RouteDecision)
        }
        self.points = {(step.at, step.router) for step in self.decisions.values()}
        self.asked = {
            step.index: _unanswered(step) for step in trace.steps if isinstance(step, Asked)
        }
        self.tools = dict(_tools(trace, index))

    def message(self, step: int, *, seen: bool = False) -> Message | None:
        """The untruncated message of a step, or the one that was `seen`; None where it has none."""
        number = (self._seen if seen else self._full).get(step)
        return None if number is None else self.messages.messages[number]


def _unanswered(step: Asked) -> Asked:
    """The step before anybody knows its answer."""
    if isinstance(step, RouteDecision):
        return msgspec.structs.replace(step, taken="")
    return ModelTurn(index=step.index, thread=step.thread, model=step.model)


def _tools(trace: Trace, index: TraceIndex) -> Any:
    """Yield, for each model turn, the tokens of its tools, and True where they have changed."""
    tokens: dict[str, int] = {}
    changed: set[str] = set()
    for step in trace.steps:
        if isinstance(step, ToolsChanged):
            tokens[step.thread] = index.tools_tokens.get(step.index, 0)
            changed.add(step.thread)
        elif isinstance(step, ModelTurn):
            yield step.index, (tokens.get(step.thread, 0), step.thread in changed)
            changed.discard(step.thread)
