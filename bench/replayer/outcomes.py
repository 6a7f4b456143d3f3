"""The parts of a replay as they come, the facts before its first step, and the error of a strategy."""

from __future__ import annotations

from typing import Any

import msgspec

from ..model import Decision, Failure, Message, Record, Resolved, WriterCall
from ..model.errors import BenchError, debugged, one_line
from ..model.replay import Call, StepOutcome
from ..strategies.functions import error_line


class Broken(Exception):
    """A strategy raised, or returned what its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        self.text = reason_of(error)


def reason_of(error: BaseException) -> str:
    """An error of a strategy in one line; with BENCH_DEBUG its traceback is printed."""
    debugged(error)
    return one_line(error) if isinstance(error, BenchError) else error_line(error)


class InSlot:
    """Turns what is raised in the block into Broken, with the name of a slot."""

    def __init__(self, slot: str) -> None:
        self._slot = slot

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt | MemoryError):
            raise Broken(self._slot, error) from error


def failed(error: BaseException, step: int) -> Failure:
    """The failure of a strategy that raised at a step; -1: before the first."""
    known = error if isinstance(error, Broken) else Broken("strategy", error)
    return Failure(step=step, slot=known.slot, error=known.text)


class About(msgspec.Struct, frozen=True):
    """All that a replay knows of a recording before its first step.

    Messages that it writes are numbered from `messages` on. `framing` are the tokens of an empty
    prompt, `meta` the plan and the manifest that routers choose from, `points` the decision points
    (with the router, where known) at which it recorded decisions.
    """

    messages: int
    framing: int
    window_tokens: int | None
    meta: dict[str, Any]
    points: frozenset[tuple[str, str | None]]


class Outcomes(msgspec.Struct):
    """The outcomes of the steps so far: the parts of a Replay."""

    written: list[Message] = []
    calls: list[Call] = []
    results: list[StepOutcome] = []
    decisions: list[Decision] = []
    own_calls: list[WriterCall] = []
    handles: list[Resolved] = []
    failure: Failure | None = None


UNTRUNCATED = Record(step=-1, call_id="", function="", success=True)
"""Crosses between processes in the place of a record that both sides have: the untruncated one."""
