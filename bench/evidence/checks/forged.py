"""Turns that nobody took: the words of one speaker under the role of another, and words put into
the mouth of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import ModelTurn, UserTurn
from ...model.scores import Finding
from ...text.omissions import says_omission
from ..of_replay import ReplayEvidence
from .own import OwnText

_LABELLED = re.compile(r"\W*(?:[^\W\d]+\s+){0,2}[^\W\d]+:|[^\n]*[\[<(*]")


def forged_turn(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield a message of the strategy that reads as a turn of somebody who did not take it.

    Whoever rewrites a history may leave out, shorten and sum up, under a label of its own. A bare
    line in the role of the user or the system beside every turn so far sums up nothing: it is a
    turn of theirs.
    """
    message = own.message
    if message.kind != "made":
        return
    words = " ".join(own.text.split())
    roles = evidence.session.turns.get(words, frozenset())
    if roles and message.role not in roles:
        yield Finding(message.step, own.text[:200], f"said by: {min(roles)}")
    elif (
        message.role in ("user", "system")
        and _is_bare(own.text)
        and _stands_beside_all(evidence, own)
    ):
        asked = next((turn for turn, by in evidence.session.turns.items() if "user" in by), "")
        if asked != words:
            yield Finding(message.step, own.text[:200], "")


def _is_bare(text: str) -> bool:
    """True for one line without a label, a bracket or the words of a notice.

    >>> _is_bare("Yes, go on."), _is_bare("[3 results removed]"), _is_bare("Earlier: W1"), _is_bare("a\\nb")
    (True, False, False, False)
    """
    is_labelled = _LABELLED.match(text) is not None
    return not is_labelled and "\n" not in text.strip() and not says_omission(text, "")


def _stands_beside_all(evidence: ReplayEvidence, own: OwnText) -> bool:
    """True if the first prompt that has a text also shows every turn before it."""
    first = min(stay.first for stay in evidence.walked.stays[own.number])
    call = evidence.walked.calls[first]
    messages = evidence.messages.messages
    shown = {messages[number].step for number in evidence.standing(first).messages}
    return all(
        step.index in shown
        for step in evidence.trace.steps
        if isinstance(step, UserTurn | ModelTurn)
        and step.thread == call.thread
        and step.index < call.step
    )
