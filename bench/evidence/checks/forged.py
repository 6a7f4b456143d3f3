"""Turns that nobody took: the words of one speaker under the role of another."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.scores import Finding
from ..of_replay import ReplayEvidence
from .own import OwnText


def forged_turn(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield a message of the strategy that gives the words of a turn to somebody else.

    Whoever rewrites a history may leave out, shorten and sum up, under a label of its own.
    """
    message = own.message
    roles = evidence.session.turns.get(" ".join(own.text.split()), frozenset())
    if message.kind == "made" and roles and message.role not in roles:
        yield Finding(message.step, own.text[:200], f"said by: {min(roles)}")
