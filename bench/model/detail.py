"""Details of one strategy on one run, made for the few runs that a report shows."""

from __future__ import annotations

from .base import Value


class MissedFact(Value, frozen=True, kw_only=True):
    """A fact that a turn used and its prompt lacked.

    `handle`: the prompt shows a handle that gives it.
    """

    turn: int
    fact: str
    origin: str
    origin_step: int
    distance: int
    handle: str = ""


class Excerpt(Value, frozen=True, kw_only=True):
    """A part of a message: `text` begins at the character `start`; `left_out` characters are not in
    it.
    """

    text: str
    start: int = 0
    left_out: int = 0


class ChangedMessage(Value, frozen=True, kw_only=True):
    """A message in which two prompts differ, today's and a strategy's (None: it is not there).

    `role` of a result is its tool. `lost` are missed values that only today's holds.
    """

    role: str
    step: int | None
    before: Excerpt | None
    after: Excerpt | None
    lost: tuple[str, ...] = ()


class ReplayDetail(Value, frozen=True, kw_only=True):
    """One strategy on one run in detail: the missed facts, and the prompt that misses most beside
    today's.

    `step` is the turn of that prompt (None: there is none). `changed` are the first messages in
    which the two differ, `more_changed` and `unchanged` count the others. `compactions` are the
    steps at which recorded messages went.
    """

    run: str
    strategy: str
    missed: tuple[MissedFact, ...] = ()
    step: int | None = None
    changed: tuple[ChangedMessage, ...] = ()
    more_changed: int = 0
    unchanged: int = 0
    compactions: tuple[int, ...] = ()
