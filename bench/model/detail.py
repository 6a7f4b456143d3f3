"""Details of one strategy on one run, for the few runs that a report shows."""

from __future__ import annotations

from typing import Literal

from .base import Value


class MissedFact(Value, frozen=True, kw_only=True):
    """A fact that a turn used and its prompt lacked.

    `handle` is the handle in the prompt that resolves to it; `""` without one.
    """

    turn: int
    fact: str
    origin: str
    origin_step: int
    distance: int
    handle: str = ""


class Excerpt(Value, frozen=True, kw_only=True):
    """A part of a message: `text` begins at the character `start`; `left_out` characters are
    missing after it."""

    text: str
    start: int = 0
    left_out: int = 0


Kind = Literal["removed", "changed", "added"]
"""The kinds of changes of records."""


class RecordChange(Value, frozen=True, kw_only=True):
    """The same change in so many records of a result; `where` is the path in them, such as
    `size.m`, or "rows" for whole records. `before` and `after` are the values in the first one, `""` where there is none."""

    kind: Kind
    where: str
    count: int
    before: str = ""
    after: str = ""


class ChangedMessage(Value, frozen=True, kw_only=True):
    """A message that differs between today's prompt and a strategy's (None: not in the prompt).

    The `role` of a result is its tool. `lost` are missed values that only today's message has,
    `records` the changes of a result that both texts show as data.
    """

    role: str
    step: int | None
    before: Excerpt | None
    after: Excerpt | None
    lost: tuple[str, ...] = ()
    records: tuple[RecordChange, ...] = ()


class ReplayDetail(Value, frozen=True, kw_only=True):
    """One strategy on one run in detail: the missed facts, and the prompt that misses most compared
    with today's.

    `step` is the turn of that prompt (None without one). `changed` are the first messages in which
    the two differ, `more_changed` and `unchanged` count the others.
    """

    run: str
    strategy: str
    missed: tuple[MissedFact, ...] = ()
    step: int | None = None
    changed: tuple[ChangedMessage, ...] = ()
    more_changed: int = 0
    unchanged: int = 0
