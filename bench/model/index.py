"""The index of one trace: everything about it that does not depend on a strategy, computed once."""

from __future__ import annotations

from typing import Literal

import msgspec

from .base import Value
from .outcome import Counting

Origin = Literal["system", "user", "model", "result"]
"""The author of a fact's first statement."""


class Need(Value, frozen=True, array_like=True):
    """A fact that a model turn took from an earlier message of its thread.

    `fact` is its place in `TraceIndex.facts`. `distance` is the number of model turns since a
    message last had it.
    """

    fact: int
    origin: Origin
    origin_step: int
    distance: int


class TraceIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The index of a trace. Immutable, picklable, a few kB for a run of 100 turns.

    Messages are numbered in the order of their steps, from 0. A result that was truncated in the
    recording has two: `full` maps its step to the untruncated message, `seen` to the one that the
    recorded model saw. `tokens` are those of each message, with framing. `tools_tokens` (by the
    step that changed the tools), `answer_tokens` and `reasoning_tokens` (by model turn) are tokens
    too. `holders` are, for each fact, the recorded messages that contain it. `window_tokens` is
    None if the model's window is not known.
    """

    encoding: str
    encoding_assumed: bool = False
    counting: Counting = Counting()
    model: str | None = None
    window_tokens: int | None = None
    full: dict[int, int] = {}
    seen: dict[int, int] = {}
    tokens: tuple[int, ...] = ()
    tools_tokens: dict[int, int] = {}
    answer_tokens: dict[int, int] = {}
    reasoning_tokens: dict[int, int] = {}
    facts: tuple[str, ...] = ()
    needs: dict[int, tuple[Need, ...]] = {}
    holders: tuple[frozenset[int], ...] = ()
