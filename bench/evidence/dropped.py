"""Steps that a strategy left out because of their contents, and gaps between results."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain, groupby

from ..model import ModelTurn, ToolResult, UserTurn, memo
from ..text.instructions import keeps_words
from .of_replay import ReplayEvidence


@memo
def selectively_dropped(evidence: ReplayEvidence) -> list[int]:
    """The steps that a strategy left out because of their contents, in order.

    Windows, masks and summaries leave out messages by age. A strategy that drops only the newest
    message, user turns between others that it keeps, some of the model's turns without calls, or
    only failed results, chooses by contents. Steps whose words the strategy's texts repeat in the
    last prompt are not listed.
    """
    messages = evidence.messages.messages
    lasts = [*evidence.last_calls.values()]
    texts = {
        messages[number].text
        for number in evidence.generated
        if any(evidence.is_in_prompt(number, last) for last in lasts)
    }
    steps = chain(_dropped_at_once(evidence), *(_dropped_by_last(evidence, at) for at in lasts))
    words = {step: messages[evidence.index.full[step]].text for step in sorted({*steps})}
    return [step for step in words if not any(keeps_words(text, words[step]) for text in texts)]


def _dropped_by_last(evidence: ReplayEvidence, call: int) -> Iterator[int]:
    """Yield the turns and failed results that the last prompt of a thread lacks although it shows
    their neighbours."""
    last, present = evidence.walked.calls[call], _steps_in(evidence, call)
    before = [s for s in evidence.trace.steps if s.thread == last.thread and s.index < last.step]
    succeeded = evidence.session.succeeded.get(last.thread, [])
    succeeded = succeeded[: bisect_left(succeeded, last.step)]
    if succeeded and present.issuperset(succeeded):
        results = (step.index for step in before if isinstance(step, ToolResult))
        yield from (at for at in results if at > succeeded[0] and at not in present)
    alone = {
        step.index
        for first, step, following in zip(before, before[1:], before[2:], strict=False)
        if step.index not in present and {first.index, following.index} <= present
    }
    for kind in (UserTurn, ModelTurn):
        turns = [s for s in before if isinstance(s, kind) and not getattr(s, "tool_calls", ())]
        known = [turn.content for turn in turns if turn.index in present]
        turns = [s for s in turns if s.index in present or s.content not in known]
        gaps = [s.index not in present for s in turns]
        missing = [s.index for s, gap in zip(turns, gaps, strict=True) if gap and s.index in alone]
        windows = sum(gap for gap, _ in groupby(gaps))
        if windows > 1 or (len(missing) > 1 and kind is UserTurn):
            yield from missing


def _dropped_at_once(evidence: ReplayEvidence) -> Iterator[int]:
    """Yield the steps that no prompt shows, although the first one after them shows every older
    successful result."""
    walked, messages = evidence.walked, evidence.messages.messages
    of_several = {number for number in evidence.generated if messages[number].step is None}
    edited = {
        number
        for number, (call, left) in enumerate(zip(walked.calls, walked.left, strict=True))
        if left or not of_several.isdisjoint(call.tail)
    }
    ever = {messages[number].step for number in walked.during}
    for step in evidence.trace.steps:
        if step.index not in evidence.index.full or step.index in ever:
            continue
        call = evidence.call_after(step)
        succeeded = evidence.session.succeeded.get(step.thread, [])
        older = succeeded[: bisect_left(succeeded, step.index)]
        if call is None or call in edited or not older:
            continue
        if _steps_in(evidence, call).issuperset(older):
            yield step.index


def gaps_between_results(evidence: ReplayEvidence) -> Iterator[int]:
    """Yield the first result of each gap but the oldest between results that the last prompt of a
    thread shows; none where a text of the strategy about no single result says that something was
    left out. Windows, which go by age, leave one gap."""
    for at in evidence.last_calls.values():
        last, present = evidence.walked.calls[at], _steps_in(evidence, at)
        notes = (it.text for it in evidence.prompt(at) if it.step is None)
        if any(map(evidence.session.names_omission, notes)):
            continue
        results = (r.index for r in evidence.trace.results if r.thread == last.thread)
        is_present = [(index, index in present) for index in results if index < last.step]
        firsts = (next(group) for _, group in groupby(is_present, key=lambda item: item[1]))
        yield from [index for index, kept in firsts if not kept][1:]


def _steps_in(evidence: ReplayEvidence, call: int) -> set[int | None]:
    """The steps that the messages of a prompt show, as recorded or as the strategy wrote them."""
    return {message.step for message in evidence.prompt(call)}
