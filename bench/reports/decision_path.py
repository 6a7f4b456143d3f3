"""The routing decisions of a run in order, as a path: every wrong turn, and the right ones around it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Decision
from .blocks import Path, Turn, counted

WHOLE = 12
"""Paths up to this long are shown decision by decision; in longer ones, right decisions in a row become one."""

MAX_TURNS = 48


def path(title: str, decisions: Sequence[Decision]) -> Path | None:
    """The path of one run; None where no router decided anything. The title says how many turns are wrong.

    >>> right = Decision(step=1, router="r", at="end", route="next", untruncated="next")
    >>> wrong = Decision(step=9, router="r", at="end", route="stop", untruncated="next")
    >>> [(turn.step, turn.count, turn.expected) for turn in path("run", [right] * 12 + [wrong]).turns]
    [(1, 11, None), (1, 1, None), (9, 1, 'next')]
    """
    if not decisions:
        return None
    wrong = [decision.route != decision.expected for decision in decisions]
    turns: list[Turn] = []
    for at, decision in enumerate(decisions):
        near = any(wrong[max(0, at - 1) : at + 2])
        if wrong[at] or near or len(decisions) <= WHOLE:
            turns.append(Turn(decision.step, decision.router, decision.route, decision.expected if wrong[at] else None))
        elif turns and turns[-1].router == "":
            last = turns.pop()
            turns.append(Turn(last.step, "", "as expected", None, last.count + 1))
        else:
            turns.append(Turn(decision.step, "", "as expected"))
    left = len(turns) - MAX_TURNS
    said = f"{counted(sum(wrong), 'wrong turn')} of {counted(len(decisions), 'decision')}"
    more = f", the first {MAX_TURNS} stretches shown" if left > 0 else ""
    return Path(f"{title}: {said}{more}", tuple(turns[:MAX_TURNS]))
