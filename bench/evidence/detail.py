"""One strategy on one run in detail, for a report: its prompts and the facts that turns missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Message
from ..model.detail import MissedFact, ReplayDetail, ShownCall, ShownMessage
from ..text.omissions import says_omission
from .checks import CheckedReplay

MOST_CALLS = 120
"""The most prompts of a run that are kept; of a longer run the first, the last, and those that miss
most.
"""

_MESSAGE_CHARS, _ALL_CHARS, _FEWEST_CHARS = 6_000, 300_000, 60
_MOST_MISSED = 500


def detail_of(evidence: CheckedReplay, missed_from: Mapping[int, Sequence[str]] | None = None) -> ReplayDetail:
    """The detail of one replay, of bounded size: long messages are cut, and what is left out is
    counted.

    `missed_from`: facts by the step of the result that gave them; a long message is cut around
    these.

    >>> from bench.metrics import example
    >>> detail = detail_of(example())
    >>> [(call.step, call.tokens, call.missed) for call in detail.calls], detail.missed[0].fact
    ([(1, 9, ()), (3, 22, ('a/b.csv',))], 'a/b.csv')
    """
    walked, index = evidence.walked, evidence.index
    missed: dict[int, list[str]] = {}
    for item in walked.lost:
        missed.setdefault(item.step, []).append(index.facts[item.need.fact])
    invalid = {item.call: str(item) for item in evidence.refused}
    chosen = _chosen_calls(evidence, missed)
    prompts = _prompts(evidence, chosen)
    used = list(dict.fromkeys(number for prompt in prompts.values() for number in prompt))
    place = {number: at for at, number in enumerate(used)}
    calls: list[ShownCall] = []
    before: dict[str, list[int]] = {}
    for call in chosen:
        prompt_call, priced = walked.calls[call], walked.priced[call]
        old, new = before.get(prompt_call.thread, []), prompts[call]
        keep = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        before[prompt_call.thread] = new
        calls.append(
            ShownCall(
                step=prompt_call.step,
                thread=prompt_call.thread,
                tokens=priced.prompt_tokens,
                keep=keep,
                tail=tuple(place[number] for number in new[keep:]),
                cached_tokens=priced.read,
                invalid=invalid.get(call, ""),
                missed=tuple(missed.get(prompt_call.step, ())),
            )
        )
    return ReplayDetail(
        run=evidence.trace.id,
        strategy=evidence.replay.strategy,
        messages=_shortened(evidence, used, missed_from or {}),
        calls=tuple(calls),
        missed=tuple(
            MissedFact(
                turn=item.step,
                fact=index.facts[item.need.fact],
                origin=item.need.origin,
                origin_step=item.need.origin_step,
                distance=item.need.distance,
                handle=item.handle,
            )
            for item in walked.missed[:_MOST_MISSED]
        ),
        compactions=_compactions(evidence),
    )


def _chosen_calls(evidence: CheckedReplay, missed: dict[int, list[str]]) -> list[int]:
    """The calls that are kept, in order: all of a short run."""
    calls = evidence.walked.calls
    if len(calls) <= MOST_CALLS:
        return list(range(len(calls)))
    dearest = sorted(range(len(calls)), key=lambda at: -len(missed.get(calls[at].step, ())))
    spread = [at * (len(calls) - 1) // (MOST_CALLS // 2 - 1) for at in range(MOST_CALLS // 2)]
    return sorted(dict.fromkeys([*spread, *dearest]).keys() & {*spread, *dearest[: MOST_CALLS // 2]})


def _prompts(evidence: CheckedReplay, chosen: list[int]) -> dict[int, list[int]]:
    """The messages of each chosen prompt."""
    wanted = set(chosen)
    prompts: dict[str, list[int]] = {}
    by_message: dict[int, list[int]] = {}
    for number, call in enumerate(evidence.walked.calls):
        prompt = prompts.setdefault(call.thread, [])
        prompt[call.keep :] = call.tail
        if number in wanted:
            by_message[number] = list(prompt)
    return by_message


def missed_by_origin(evidence: CheckedReplay) -> dict[int, list[str]]:
    """The facts that turns of a replay missed, by the step of the result that gave them."""
    by_step: dict[int, list[str]] = {}
    for item in evidence.walked.missed:
        by_step.setdefault(item.need.origin_step, []).append(evidence.index.facts[item.need.fact])
    return by_step


def _shortened(
    evidence: CheckedReplay, used: Sequence[int], missed_from: Mapping[int, Sequence[str]]
) -> tuple[ShownMessage, ...]:
    """Messages with their calls as text, each cut so that all together are not too many characters."""
    recorded = evidence.messages.messages[: evidence.messages.recorded]
    originals = {item.step: item.text for item in recorded if item.kind == "result"}
    texts = {number: _text(evidence.messages.messages[number]) for number in used}
    chars = _MESSAGE_CHARS
    while chars > _FEWEST_CHARS and sum(min(len(text), chars) for text in texts.values()) > _ALL_CHARS:
        chars = max(_FEWEST_CHARS, chars * 4 // 5)
    messages = []
    for number, text in texts.items():
        item = evidence.messages.messages[number]
        places = [at for fact in missed_from.get(item.step or 0, ()) if (at := text.find(fact)) >= 0]
        original = originals.get(item.step, text) if item.kind == "result" else text
        focus = min(places) if places else 0 if original == text else _place_of_cut(text, original)
        start = max(0, min(focus - chars // 4, len(text) - chars))
        cut = text[start : start + chars]
        left_out = len(text) - len(cut)
        messages.append(
            ShownMessage(
                role=item.role, kind=item.kind, step=item.step, text=cut, focus=focus - start, left_out=left_out
            )
        )
    return tuple(messages)


def _place_of_cut(text: str, original: str) -> int:
    """The place in a text where it says that it leaves something out, else where it first differs."""
    if words := says_omission(text, original):
        return text.find(words)
    pairs = enumerate(zip(text, original, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(original)))


def _text(message: Message) -> str:
    return "\n".join(filter(None, (message.text, *(f"→ {call.name} {call.command}" for call in message.tool_calls))))


def _compactions(evidence: CheckedReplay) -> tuple[int, ...]:
    """The steps of the prompts from which recorded messages went."""
    went = {
        stay.after
        for number, stays in evidence.walked.stays.items()
        if number < evidence.messages.recorded
        for stay in stays
    }
    calls = evidence.walked.calls
    return tuple(calls[number].step for number in sorted(went) if number < len(calls))
