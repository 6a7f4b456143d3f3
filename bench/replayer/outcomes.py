"""The parts of a replay as they come, what is known before the first step, and the error of a strategy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..model import Decision, Note, Resolved, WriterCall
from ..model.errors import BenchError, debugged, one_line
from ..model.replay import Call, StepOutcome
from ..strategies.functions import error_line


class Broken(Exception):
    """A strategy raised, or returned what its slot does not allow."""

    def __init__(self, slot: str, error: BaseException) -> None:
        self.slot = slot
        self.text = one_line(error) if isinstance(error, BenchError) else error_line(error)
        debugged(error)


@contextlib.contextmanager
def broken(slot: str) -> Iterator[None]:
    """Turn what a slot raises into Broken, with the slot's name."""
    try:
        yield
    except Exception as error:
        raise Broken(slot, error) from error


class About(msgspec.Struct, frozen=True):
    """All that a replay knows of a recording before its first step.

    `messages` is the number of its messages, `framing` the tokens of an empty prompt, `points` the
    decision points (with the router, where known) at which it recorded decisions.
    """

    messages: int
    framing: int
    window_tokens: int | None
    meta: dict[str, Any]
    points: frozenset[tuple[str, str | None]]


@dataclass
class Outcomes:
    """The outcomes of the steps so far: the parts of a Replay."""

    calls: list[Call] = field(default_factory=list)
    results: list[StepOutcome] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    own_calls: list[WriterCall] = field(default_factory=list)
    handles: list[Resolved] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
