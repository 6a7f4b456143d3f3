"""A recording, and the data about it that all of its replays share."""

from __future__ import annotations

import functools

from ..evidence.contents import TraceContents
from ..evidence.future import Future
from ..model import AnyStep, Message, RouteDecision, Trace
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..tokens.counting import DEFAULT_WINDOW_TOKENS, TokenCounter

_PLANS = ("execution_plan", "manifest")
"""The keys of a trace's `meta` that routers may see; others may reveal how the run ended."""


class Recording:
    """One trace with its index, its messages and its token counter.

    `count` counts tokens as the index does; its memo, and `contents`, are shared with the caller.
    `plans` are the plan and the manifest that routers choose from. `points` are the decision points
    at which decisions were recorded, each with the router, where known.
    """

    def __init__(
        self,
        trace: Trace,
        index: TraceIndex,
        count: TokenCounter | None = None,
        contents: TraceContents | None = None,
    ) -> None:
        self.trace, self.index = trace, index
        self.count = count or TokenCounter(index.encoding, index.counting)
        self._contents = contents or TraceContents(trace)
        self.messages, self._full, self._seen = recorded_messages(trace, index.reasoning_tokens)
        self.max_tokens = index.window_tokens or DEFAULT_WINDOW_TOKENS
        self.plans = {name: trace.meta[name] for name in _PLANS if name in trace.meta}
        decisions = (step for step in trace.steps if isinstance(step, RouteDecision))
        self.points = frozenset((step.at, step.router) for step in decisions)

    def full_message(self, step: AnyStep) -> Message:
        """The untruncated message of a step."""
        return self.messages[self._full[step.index]]

    def seen_message(self, step: AnyStep) -> Message:
        """The message of a step that the recorded model saw."""
        return self.messages[self._seen[step.index]]

    @functools.cached_property
    def future(self) -> Future:
        """The facts that later steps need, for a reference that may read them."""
        return Future(self.trace, self.index, self._contents)
