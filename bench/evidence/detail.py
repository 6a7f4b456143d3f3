"""One strategy on one run in detail: the missed facts, and one prompt compared with today's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..model import Message
from ..model.detail import ChangedMessage, Excerpt, MissedFact, ReplayDetail
from ..model.messages import shared_length
from ..text.omissions import says_omission
from .of_replay import ReplayEvidence
from .record_changes import record_changes
from .unmet import unmet_needs

_MOST_MISSED, _MOST_CHANGED, _CHARS = 500, 4, 300

_Pair = tuple[Message | None, Message | None]
"""A message of today's prompt, and the strategy's message in its place."""


def detail_of(evidence: ReplayEvidence, today: ReplayEvidence) -> ReplayDetail:
    """The detail of one replay compared with today's; messages are cut, and the rest is counted.

    >>> from bench.metrics import example
    >>> detail = detail_of(example(), example())
    >>> detail.step, detail.missed[0].fact, detail.unchanged
    (3, 'a/b.csv', 3)
    """
    missed = tuple(
        MissedFact(
            turn=item.step,
            fact=evidence.index.facts[item.need.fact],
            origin=item.need.origin,
            origin_step=item.need.origin_step,
            distance=item.need.distance,
            handle=item.handle,
        )
        for item in unmet_needs(evidence)
    )
    step = _worst_step(evidence, missed)
    before, after = (_prompt_of(replay, step) for replay in (today, evidence))
    differing = [*_differing(before, after)]
    here = [fact for fact in missed if fact.turn == step]
    origins = {fact.origin_step for fact in here}
    pairs = [pair for pair in differing if _either(pair).step in origins] or differing
    lost = [fact.fact for fact in here]
    tools = {result.index: result.function for result in evidence.trace.results}
    changed = tuple(_changed(pair, lost, tools) for pair in pairs[:_MOST_CHANGED])
    return ReplayDetail(
        run=evidence.trace.id,
        strategy=evidence.replay.strategy,
        missed=missed[:_MOST_MISSED],
        step=step,
        changed=changed,
        more_changed=len(differing) - len(changed),
        unchanged=len(before) - sum(old is not None for old, _ in differing),
    )


def _worst_step(evidence: ReplayEvidence, missed: Sequence[MissedFact]) -> int | None:
    """The turn that misses most facts that no handle can fetch, the first one if several do; else
    the last turn."""
    by_turn = Counter(fact.turn for fact in [fact for fact in missed if not fact.handle] or missed)
    if by_turn:
        return min(by_turn, key=lambda turn: (-by_turn[turn], turn))
    return next((call.step for call in reversed(evidence.walked.calls)), None)


def _prompt_of(evidence: ReplayEvidence, step: int | None) -> list[Message]:
    """The messages of the prompt of a turn; none for a turn without a call."""
    call = None if step is None else evidence.call_of.get(step)
    return [] if call is None else evidence.prompt(call)


def _differing(before: Sequence[Message], after: Sequence[Message]) -> Iterator[_Pair]:
    """Yield pairs of messages that differ between two prompts; messages of one step and kind
    belong together."""
    rest = list(after)
    for old in before:
        new = next((item for item in rest if (item.step, item.kind) == (old.step, old.kind)), None)
        if new is not None:
            rest.remove(new)
        if new is None or _text(old) != _text(new):
            yield old, new
    yield from ((None, new) for new in rest)


def _changed(pair: _Pair, facts: Sequence[str], tools: Mapping[int, str]) -> ChangedMessage:
    """A changed message with both texts cut around the first missed fact, or else around the
    change."""
    old, new = ("" if message is None else _text(message) for message in pair)
    lost = tuple(fact for fact in facts if fact in old and fact not in new)
    first = old.find(lost[0]) if lost else _place_of_change(old, new)
    message = _either(pair)
    return ChangedMessage(
        role=message.role if message.step is None else tools.get(message.step, message.role),
        step=message.step,
        before=None if pair[0] is None else _excerpt(old, first),
        after=None if pair[1] is None else _excerpt(new, _place_of_change(new, old)),
        lost=lost,
        records=record_changes(old, new) if message.kind == "result" and old and new else (),
    )


def _either(pair: _Pair) -> Message:
    old, new = pair
    message = old or new
    assert message is not None  # a pair has one at least
    return message


def _excerpt(text: str, place: int) -> Excerpt:
    start = max(0, min(place - _CHARS // 3, len(text) - _CHARS))
    part = text[start : start + _CHARS]
    return Excerpt(text=part, start=start, left_out=len(text) - len(part))


def _place_of_change(text: str, original: str) -> int:
    """The place of the first notice in a text, else the first difference."""
    if words := says_omission(text, original):
        return text.find(words)
    return shared_length(text, original)


def _text(message: Message) -> str:
    calls = (f"→ {call.name} {call.command}" for call in message.tool_calls)
    return "\n".join(filter(None, (message.text, *calls)))
