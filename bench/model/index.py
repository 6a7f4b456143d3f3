"""The index of one trace: all that is known of it whatever strategy is replayed, found once and
kept.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from .base import Value
from .outcome import Counting

Origin = Literal["system", "user", "model", "result"]
"""The origin of a fact: who stated it first."""


class Need(Value, frozen=True, array_like=True):
    """A fact that a model turn took from an earlier message of its thread.

    `fact` is its place in `TraceIndex.facts`. `distance` is the number of model turns since it was
    last said. `field` is the key under which a structured result holds it; `""` for prose.
    """

    fact: int
    origin: Origin
    origin_step: int
    distance: int
    field: str = ""


class TraceIndex(msgspec.Struct, frozen=True, kw_only=True):
    """One trace, looked at once. Immutable, picklable, a few kB for a run of 100 turns.

    Messages are numbered in the order of their steps, from 0. A result that was cut in the
    recording has two: `full` gives the untruncated one of a step, `seen` what the recorded model
    saw. `tokens` is what each message costs, framing included. `tools_tokens` (by the step that
    changed the tools), `answer_tokens` and `reasoning_tokens` (by model turn) are tokens too.
    `holders` gives, for each fact, the recorded messages that hold it. `window_tokens` is None
    where the model's window is not known.
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
    kinds: tuple[str, ...] = ()
    needs: dict[int, tuple[Need, ...]] = {}
    holders: tuple[frozenset[int], ...] = ()
