"""Fetches: the calls that would fetch missing facts for turns, and their cost."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

from ..model import ToolResult
from ..model.replay import Replay
from .handles import Handles
from .walk import Missed, Walked

if TYPE_CHECKING:
    from .session import TraceSession


class Fetch(NamedTuple):
    """One more call at a turn: `by_handle` if a handle in its prompt leads to the missing fact,
    else a repetition of the original call.

    `prompt_tokens` are those of the turn's prompt and of the fetched texts. Dollars are None
    without listed prices.
    """

    step: int
    by_handle: bool
    prompt_tokens: int
    usd: float | None
    uncached_usd: float | None


def fetches_of(session: TraceSession, walked: Walked, replay: Replay) -> list[Fetch]:
    """The fetches of a replay, in order of their turns; at most two per turn. `[]` if nothing was
    missing.

    A fetch sends the turn's prompt again, followed by the fetched texts. Its answer is as long as
    the median answer of the trace with a call.
    """
    if not walked.missed:
        return []
    index = session.index
    asking = [
        index.answer_tokens.get(turn.index, 0)
        for turn in session.trace.model_turns
        if turn.tool_calls
    ]
    answer = round(statistics.median(asking)) if asking else 0
    handles = Handles(replay, session.messages)
    results = {index.full[r.index]: r for r in session.trace.results}
    by_turn: dict[tuple[int, bool], list[Missed]] = {}
    for item in walked.missed:
        by_turn.setdefault((item.step, bool(item.handle)), []).append(item)
    calls = {call.step: number for number, call in enumerate(walked.calls)}
    fetches = []
    for (step, by_handle), missed in by_turn.items():
        thread = walked.calls[calls[step]].thread
        texts: dict[int | str, int] = {}
        for item in missed:
            if by_handle:
                text = handles.text_at(item.handle, step) or ""
                texts[item.handle] = session.messages.count.text(text)
                continue
            choices = _holding(session, item, results, thread)
            if choices and not any(number in texts for _, number in choices):
                tokens, number = min(choices)
                texts[number] = tokens
        new = answer + sum(texts.values())
        priced = walked.priced[calls[step]]
        usd, uncached = session.pricing.again(priced, new, answer)
        fetches.append(Fetch(step, by_handle, priced.prompt_tokens + new, usd, uncached))
    return fetches


def _holding(
    session: TraceSession, item: Missed, results: dict[int, ToolResult], thread: str
) -> list[tuple[int, int]]:
    """The untruncated results of a thread with a missed fact, before its turn, as (tokens,
    message).
    """
    return [
        (session.index.tokens[number], number)
        for number in session.index.holders[item.need.fact]
        if number in results
        and results[number].thread == thread
        and results[number].index < item.step
    ]
