"""Needs that the prompts of a replay do not meet, and the calls that would fetch their facts: by a
handle in the prompt, or by repeating an earlier call."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..model import grouped, memo
from ..model.index import Need
from .generated_text import RewrittenResult
from .of_replay import ReplayEvidence
from .result_diff import diff_of
from .walk import with_one_of


class Unmet(NamedTuple):
    """A need of a turn that its prompt does not meet, and a handle in that prompt that leads to the
    fact; `""` without one."""

    step: int
    need: Need
    handle: str = ""


@memo
def unmet_needs(evidence: ReplayEvidence) -> list[Unmet]:
    """The needs that prompts do not meet, in the order of the calls; a handle may lead to their
    facts."""
    return [*_unmet(evidence)]


@memo
def missed_needs(evidence: ReplayEvidence) -> list[Unmet]:
    """The unmet needs to whose facts no handle leads."""
    return [item for item in unmet_needs(evidence) if not item.handle]


def _unmet(evidence: ReplayEvidence) -> Iterator[Unmet]:
    """Yield the needs that prompts do not meet. A need is met by a recorded message with its fact,
    or by one of the strategy that keeps it."""
    index, during, messages = evidence.index, evidence.walked.during, evidence.messages
    saying = grouped(
        (fact, number) for number in evidence.generated for fact in messages.needed_in(number)
    )
    said = {fact: with_one_of(numbers, during) for fact, numbers in saying.items()}
    recorded: dict[int, int] = {}  # by fact the calls whose prompts have a recorded message with it
    for at, call in enumerate(evidence.walked.calls):
        for need in index.needs.get(call.step, ()):
            if need.fact not in recorded:
                recorded[need.fact] = with_one_of(index.holders[need.fact], during)
            if recorded[need.fact] >> at & 1:
                continue
            fact = index.facts[need.fact]
            if said.get(fact, 0) >> at & 1 and any(
                during[number] >> at & 1 and _keeps(evidence, number, need)
                for number in saying[fact]
            ):
                continue
            numbers = (number for number in evidence.generated if during[number] >> at & 1)
            handle = (
                evidence.handles.giving(fact, call.step, numbers) if evidence.handles.names else ""
            )
            yield Unmet(call.step, need, handle)


def _keeps(evidence: ReplayEvidence, number: int, need: Need) -> bool:
    """True if a message of the strategy with a needed fact really keeps it, or cannot be read as the
    result that it shows. The messages of a strategy that reads the future are not read."""
    if evidence.replay.reads_future or evidence.messages.keeps(number, need):
        return True
    text = evidence.generated_text(number)
    return isinstance(text, RewrittenResult) and not text.is_blank and bool(diff_of(text).unclear)


class Fetch(NamedTuple):
    """One more call at a turn: `by_handle` if a handle in its prompt leads to the unmet facts, else
    a repetition of the calls that gave them.

    `prompt_tokens` are those of the turn's prompt and of the fetched texts. Dollars are None
    without listed prices.
    """

    step: int
    by_handle: bool
    prompt_tokens: int
    usd: float | None
    uncached_usd: float | None


@memo
def fetches(evidence: ReplayEvidence) -> list[Fetch]:
    """The fetches of a replay, in order of their turns; at most two per turn. `[]` if all needs are
    met.

    A fetch sends the turn's prompt again, followed by the fetched texts. Its answer is as long as
    the median answer of the trace with a call.
    """
    walked, index = evidence.walked, evidence.index
    turns = (turn for turn in evidence.trace.model_turns if turn.tool_calls)
    asking = [index.answer_tokens.get(turn.index, 0) for turn in turns]
    answer = round(statistics.median(asking)) if asking else 0
    found = []
    by_turn = grouped(((item.step, bool(item.handle)), item) for item in unmet_needs(evidence))
    for (step, by_handle), unmet in by_turn.items():
        number = evidence.call_of[step]
        thread, call = walked.calls[number].thread, walked.priced[number]
        sizes = (
            _behind_handles(evidence, unmet) if by_handle else _of_results(evidence, unmet, thread)
        )
        new = answer + sum(sizes)
        usd, uncached = evidence.session.pricing.again(call, new, answer)
        found.append(Fetch(step, by_handle, call.prompt_tokens + new, usd, uncached))
    return found


def _behind_handles(evidence: ReplayEvidence, unmet: Iterable[Unmet]) -> Iterable[int]:
    """The tokens of the texts behind the handles that lead to the unmet facts of a turn."""
    texts = {item.handle: evidence.handles.text_at(item.handle, item.step) or "" for item in unmet}
    return map(evidence.messages.count.text, texts.values())


def _of_results(evidence: ReplayEvidence, unmet: Iterable[Unmet], thread: str) -> Iterable[int]:
    """The tokens of untruncated results with the unmet facts of a turn: for each fact the smallest
    one before the turn, unless one that is fetched anyway has it too."""
    messages, sizes = evidence.messages, dict[int, int]()
    for item in unmet:
        choices = [
            number
            for result, number in messages.results_with(item.need.fact)
            if result.thread == thread and result.index < item.step
        ]
        if choices and sizes.keys().isdisjoint(choices):
            sizes[choices[0]] = messages.tokens[choices[0]]
    return sizes.values()
