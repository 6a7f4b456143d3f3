"""Fetches: the calls that would fetch missing facts for turns, and their cost."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..model import grouped
from .unmet import Missed

if TYPE_CHECKING:
    from .of_replay import ReplayEvidence


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


def fetches_of(evidence: ReplayEvidence) -> list[Fetch]:
    """The fetches of a replay, in order of their turns; at most two per turn. `[]` if nothing was
    missing.

    A fetch sends the turn's prompt again, followed by the fetched texts. Its answer is as long as
    the median answer of the trace with a call.
    """
    walked, index = evidence.walked, evidence.index
    turns = (turn for turn in evidence.trace.model_turns if turn.tool_calls)
    asking = [index.answer_tokens.get(turn.index, 0) for turn in turns]
    answer = round(statistics.median(asking)) if asking else 0
    calls = {
        call.step: (call.thread, priced)
        for call, priced in zip(walked.calls, walked.priced, strict=True)
    }
    fetches = []
    by_turn = grouped(((item.step, bool(item.handle)), item) for item in evidence.needed.missed)
    for (step, by_handle), missed in by_turn.items():
        thread, call = calls[step]
        read = _behind_handles if by_handle else _in_results
        new = answer + sum(read(evidence, missed, thread, step))
        usd, uncached = evidence.session.pricing.again(call, new, answer)
        fetches.append(Fetch(step, by_handle, call.prompt_tokens + new, usd, uncached))
    return fetches


def _behind_handles(
    evidence: ReplayEvidence, missed: Iterable[Missed], thread: str, step: int
) -> list[int]:
    """The tokens of the texts behind the handles that lead to missed facts of a turn."""
    texts = {item.handle: evidence.handles.text_at(item.handle, step) or "" for item in missed}
    return [*map(evidence.messages.count.text, texts.values())]


def _in_results(
    evidence: ReplayEvidence, missed: Iterable[Missed], thread: str, step: int
) -> list[int]:
    """The tokens of untruncated results with the missed facts of a turn: for each fact the smallest
    one before the turn, unless one that is fetched anyway has it too.
    """
    messages, sizes = evidence.messages, dict[int, int]()
    for item in missed:
        choices = [
            number
            for result, number in messages.results_with(item.need.fact)
            if result.thread == thread and result.index < step
        ]
        if choices and sizes.keys().isdisjoint(choices):
            sizes[choices[0]] = messages.tokens[choices[0]]
    return [*sizes.values()]
