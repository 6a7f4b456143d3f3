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


class ShownMessage(Value, frozen=True, kw_only=True):
    """One message of a prompt as a page shows it: some thousand characters around `focus`.

    `focus` is where a missed fact stands, or where the text differs from the recorded one;
    `left_out` counts the characters that are not in `text`.
    """

    role: str
    kind: str
    step: int | None
    text: str
    focus: int = 0
    left_out: int = 0


class ShownCall(Value, frozen=True, kw_only=True):
    """One prompt: the first `keep` messages of the one before in its thread, then `tail`."""

    step: int
    thread: str
    tokens: int
    keep: int
    tail: tuple[int, ...]
    cached_tokens: int | None = None
    invalid: str = ""
    missed: tuple[str, ...] = ()


class ReplayDetail(Value, frozen=True, kw_only=True):
    """One strategy on one run in detail. `messages` are numbered as `calls` name them."""

    run: str
    strategy: str
    messages: tuple[ShownMessage, ...] = ()
    calls: tuple[ShownCall, ...] = ()
    missed: tuple[MissedFact, ...] = ()
    compactions: tuple[int, ...] = ()
