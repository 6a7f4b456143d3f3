"""Comparison of two replays of user code, whose numbers are useless if they differ."""

from __future__ import annotations

import re
from typing import Any

from ..model import compact_json, plain
from ..model.replay import Replay

STEPS = 40
"""The number of steps of a trace to replay a second time."""

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
)
"""A time or a random identifier, with which a stored value may be stamped."""


def first_difference(replay: Replay, again: Replay, messages: int) -> int | None:
    """The first step at which two replays differ; None if they agree.

    The second one may be shorter. Times and random identifiers in stored values may differ.
    `messages` is the number of recorded messages.
    """
    differing = [] if again.failure is None else [again.failure.step]
    for one, other in zip(_parts(replay, messages), _parts(again, messages), strict=True):
        for item, same in zip(one, other, strict=False):
            if item != same and _as_json(item) != _as_json(same):
                step, *_ = item
                differing.append(step)
    return min(differing, default=None)


def _parts(replay: Replay, messages: int) -> tuple[list[Any], ...]:
    """The parts of a replay that can reach a prompt, a route or a gate, each after its step."""

    def shows(number: int) -> Any:
        """A recorded message by its number, a generated one by its text: its number may differ."""
        own = number - messages
        return number if own < 0 else (replay.written[own].role, replay.written[own].text)

    calls = [(call.step, call.keep, [*map(shows, call.tail)]) for call in replay.calls]
    results = [
        (
            item.step,
            shows(item.message),
            item.record.success,
            _masked(item.stored),
            _masked(item.evaluation) == _masked(item.evaluation_untruncated),
            _masked(item.extraction) == _masked(item.extraction_untruncated),
        )
        for item in replay.results
    ]
    routes = [
        (one.step, one.route, one.untruncated, one.detail.get("ranked")) for one in replay.decisions
    ]
    return calls, results, routes


def _as_json(value: Any) -> str:
    """A value as JSON, in which one NaN equals another."""
    return compact_json(plain(value))


def _masked(value: Any) -> str:
    """A value as JSON without times and random identifiers."""
    return _STAMP.sub("~", _as_json(value))
