"""Two replays of somebody's own code: where they differ, its numbers depend on the day."""

from __future__ import annotations

import re
from typing import Any

from ..model import compact_json, plain
from ..model.replay import Replay

STEPS = 40
"""The most steps of a trace that are replayed a second time."""

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
)
"""A time or a random identifier, with which a stored value may be stamped."""


def first_difference(replay: Replay, again: Replay, messages: int) -> int | None:
    """The first step at which the second replay, which may be shorter, came out otherwise; else None.

    What can reach a prompt, a route or a gate is compared: texts, routes, findings that agree,
    stored values but for times and random identifiers. `messages` is the number of recorded ones.
    """
    differing = [] if again.failure is None else [again.failure.step]
    for one, other in zip(_parts(replay, messages), _parts(again, messages), strict=True):
        pairs = zip(one, other, strict=False)
        differing += [a[0] for a, b in pairs if a != b and _masked(a) != _masked(b)][:1]
    return min(differing, default=None)


def _parts(replay: Replay, messages: int) -> tuple[list[Any], ...]:
    """The parts that are compared, each behind its step."""

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
            item.stored,
            _masked(item.evaluation) == _masked(item.evaluation_untruncated),
            _masked(item.extraction) == _masked(item.extraction_untruncated),
        )
        for item in replay.results
    ]
    routes = [(one.step, one.route, one.untruncated, one.detail.get("ranked")) for one in replay.decisions]
    return calls, results, routes


def _masked(value: Any) -> str:
    return _STAMP.sub("~", compact_json(plain(value)))
