"""A second replay of somebody's own function: where the two differ, its numbers depend on the day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..evidence.losses import same_findings
from ..model import Decision, Prompt, ResultOutcome, Run, compact_json, plain
from ..strategies import Strategy
from .loop import Replayer

STEPS = 40
"""The most steps of a trace that are replayed a second time."""


def unstable_at(replayer: Replayer, strategy: Strategy, run: Run, steps: int = STEPS) -> int | None:
    """The first step at which a second replay of the trace's beginning comes out otherwise than `run`; None where it does not.

    What can reach a prompt, a route or a gate is compared. A time or a random identifier that an evaluation or a stored value is stamped with cannot.
    Only strategies with somebody's own function or process are tried: what is registered is tested to be deterministic. One that raised is not.
    """
    if not strategy.own or run.failure is not None:
        return None
    again = replayer.run(strategy, steps)
    differing: list[int] = []
    pairs: tuple[tuple[Iterable[_Outcome], Iterable[_Outcome]], ...] = (
        (run.results, again.results),
        (run.prompts, again.prompts),
        (run.decisions, again.decisions),
    )
    for first, second in pairs:
        differing += [
            one.step for one, two in zip(first, second, strict=False) if _reaching(one, run) != _reaching(two, again)
        ]
    if again.failure is not None:
        differing.append(again.failure.step)
    return min(differing, default=None)


_Outcome = ResultOutcome | Prompt | Decision

_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
)


def _reaching(one: _Outcome, run: Run) -> Any:
    """The part of an outcome that can reach a prompt, a route or a gate."""
    if isinstance(one, Prompt):
        added = [key for splice in one.splices for key in splice.added]
        return plain(one), [run.held_messages[key].text for key in added]
    if isinstance(one, Decision):
        return one.route, one.untruncated, one.detail.get("ranked")
    agreed = (
        same_findings(one.evaluation_untruncated, one.evaluation),
        same_findings(one.extraction_untruncated, one.extraction),
    )
    shown = run.held_messages.get(one.shown)
    return shown and shown.text, one.record.success, agreed, _STAMP.sub("~", compact_json(plain(one.stored)))
