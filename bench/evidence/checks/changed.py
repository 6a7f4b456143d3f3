"""Changed: a field of a rewritten result that has another value than the untruncated result, or a
key that it does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.scores import Check, Finding
from ...text.identifiers import broken_identifiers
from ...text.quantities import same_value
from ..of_replay import ReplayEvidence
from .changed_fields import changed_fields
from .changed_lines import changed_lines
from .dropped import dropped
from .own import OwnText, check_of, gaps_shown, own_texts
from .quoted import altered_quotes
from .repeated import repeated

_SCALAR = re.compile(r"[-+]?[$€£]?\d[\d.,]*\s?[%\w]{0,3}|true|false|yes|no", re.IGNORECASE)


def changed(evidence: ReplayEvidence) -> Check:
    """Fields that a message shows otherwise than the tool returned them, over the rewritten
    structured results.

    A value is held against the record of the result that the shown record agrees with most, under
    the same key. Fewer digits, separators, another layout or order, and text cut short are no
    change; a value that is absent is lost, not changed, but nothing at all in the place of a result
    says that it was empty, and rows left out without a word that there are no others. A line or
    record may not come more often than the result has it. A key that the result does not have is a
    change, unless a legend in the same text says what it stands for. A line of a text is changed
    where one of its words is replaced, an identifier cut or taken apart, or a denial dropped; so is
    what a person or the model said, and a message of the user with fewer words and no mark. So are
    altered arguments of a call, a turn of the model that alone is dropped, and a turn under the
    role of somebody else.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)
    """
    findings: list[Finding] = []
    looked_at = 0
    for own in own_texts(evidence, blank=True):
        if own.result is not None and own.result.text.strip():
            looked_at += 1
            findings.append(Finding(own.message.step, "", own.result.text[:200]))
    for step in evidence.picked_out:
        turn = evidence.messages.messages[evidence.index.full[step]]
        if turn.kind in ("user", "model") and not turn.tool_calls:
            looked_at += 1
            findings.append(Finding(step, "", turn.text[:200]))
    for own in own_texts(evidence):
        if own.message.kind == "model":
            looked_at += 1
            findings += _changed_calls(evidence, own)
        if own.result is None:
            quotes = [*altered_quotes(evidence, own)]
            looked_at += bool(quotes) and own.message.kind != "model"
            findings += quotes
            continue
        looked_at += 1
        known = evidence.session.changes
        if own.number not in known:
            known[own.number] = [
                *_changes(evidence, own),
                *repeated(evidence, own),
                *dropped(evidence, own),
            ]
        findings += known[own.number]
        if evidence.messages.contents.is_encoded(own.message):
            evidence.session.unread.add(own.number)
    return check_of(
        findings,
        looked_at,
        unchecked=[
            own.text for own in own_texts(evidence) if own.number in evidence.session.unread
        ],
    )


def _changes(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield what a rewritten result shows otherwise. One that is cut, or has the same words in
    other lines, changes nothing.
    """
    if gaps_shown(evidence, own) is None:
        yield from _changed_scalar(own)
        yield from changed_fields(evidence, own)
        yield from changed_lines(evidence, own)
        plain = evidence.messages.texts.plain
        text, was = plain(own.text), plain(own.result.text if own.result else "")
        broken = broken_identifiers(text, was, evidence.session.identifiers(was))
        yield from (Finding(own.message.step, shown, whole) for shown, whole in broken)


def _changed_calls(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """The arguments of recorded calls that a message gives otherwise."""
    step = own.message.step
    number = evidence.index.full.get(-1 if step is None else step)
    if number is None:
        return []
    recorded = {call.id: call for call in evidence.messages.messages[number].tool_calls}
    return [
        Finding(
            step,
            f"{call.name} {call.arguments}",
            f"{recorded[call.id].name} {recorded[call.id].arguments}",
        )
        for call in own.message.tool_calls
        if call.id in recorded
        and (call.name, call.arguments) != (recorded[call.id].name, recorded[call.id].arguments)
    ]


def _changed_scalar(own: OwnText) -> Iterator[Finding]:
    """Yield the one value of a result that is nothing else, where another of its kind is shown."""
    shown, was = own.text.strip(), own.result.text.strip() if own.result else ""
    if _SCALAR.fullmatch(shown) and _SCALAR.fullmatch(was) and not same_value(shown, was):
        yield Finding(own.message.step, shown, was)
