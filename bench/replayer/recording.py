"""A recording with everything that its replays share."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..evidence.contents import TraceContents
from ..evidence.future import Future
from ..model import AnyStep, Decision, Message, RouteDecision, Trace
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..text.scripts import expected_scripts
from ..tokens.counting import DEFAULT_WINDOW_TOKENS, TokenCounter

_PLANS = ("execution_plan", "manifest")
"""The parts of a trace's `meta` that routers may see; the rest may reveal how the run ended."""


class Recording:
    """One trace, and what every replay asks about it.

    `count` counts tokens as the index does; its memo, and `contents`, are shared with the caller.
    `messages` are those of the trace. `plans` are the plan and the manifest that
    routers choose from, `points` the decision points (with the router, where known) at which
    decisions were recorded.
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
        self._routes = {step.index: step for step in trace.steps if isinstance(step, RouteDecision)}
        self.points = frozenset((step.at, step.router) for step in self._routes.values())
        self._scripts = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))

    def full_message(self, step: AnyStep) -> Message:
        """The untruncated message of a step."""
        return self.messages[self._full[step.index]]

    def seen_message(self, step: AnyStep) -> Message:
        """The message of a step that the recorded model saw."""
        return self.messages[self._seen[step.index]]

    @functools.cached_property
    def future(self) -> Future:
        """The needs of the whole recording, for a reference that reads them."""
        return Future(self.trace, self.index, self._contents)

    def labelled(self, decision: Decision) -> Decision:
        """A decision with the recorded route, and the route that the labels expect."""
        step = self._routes.get(decision.step)
        label = labelled_route(
            self.trace.labels, self._scripts, str(decision.step), decision.route, decision.detail
        )
        return msgspec.structs.replace(
            decision, recorded=None if step is None else step.taken, labelled=label
        )


def labelled_route(
    labels: Mapping[str, Any],
    scripts: Mapping[str, Sequence[str]],
    step: str,
    route: str,
    detail: Mapping[str, Any],
) -> str | None:
    """The route that a trace's labels expect at a step; None without a label.

    If several `scripts` are right, it is the chosen one if that is among them, else the first.

    >>> [labelled_route({}, {"3": ["a", "b"]}, "3", route, {"ranked": [route]}) for route in ("b", "c")]
    ['b', 'a']
    >>> labelled_route({"routes": {"3": "abort"}}, {}, "3", "next", {}), labelled_route({}, {}, "3", "next", {})
    ('abort', None)
    """
    routes = labels.get("routes")
    if isinstance(routes, dict) and step in routes:
        label: str | None = routes[step]
        return label
    is_selection = isinstance(detail.get("ranked"), list)
    accepted = scripts.get(step, ()) if is_selection else ()
    if route in accepted:
        return route
    return accepted[0] if accepted else None
