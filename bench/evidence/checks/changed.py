"""Changed: a field of a rewritten result that has another value than the untruncated result, or a key that it does not have."""

from __future__ import annotations

import re

from ...model.scores import Check, Finding
from ...text.fields import FieldTable, TextReading
from ...text.quantities import same_value
from ..of_replay import ReplayEvidence
from .own import OwnText, check_of, own_texts

_LEGEND = re.compile(r"^\s*(?:legend|keys|where|note)\b.*", re.IGNORECASE | re.MULTILINE)
_PAIR = re.compile(r"([\w.$@#-]{1,40})\s*(?:=|:|->|→|for|means)\s*[\"'`]?([\w .$@#/-]{1,80})")


def changed(evidence: ReplayEvidence) -> Check:
    """Fields that a message shows otherwise than the tool returned them, over the rewritten structured results.

    A value is held against the record of the result that the shown record agrees with most, under
    the same key. Fewer digits, separators, another layout or order, and text cut short are no
    change; a value that is absent is lost, not changed. A key that the result does not have is a
    change, unless a legend in the same text says what it stands for. Arguments of a recorded call
    that were altered are changed too.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)
    """
    findings: list[Finding] = []
    looked_at = 0
    for own in own_texts(evidence):
        if own.message.kind == "model":
            looked_at += 1
            findings += _changed_calls(evidence, own)
        if own.result is None:
            continue
        table = evidence.messages.table(own.result.index)
        if not table.fields:
            continue
        looked_at += 1
        reading = evidence.messages.reading(own.result.index, own.text)
        findings += _changed_fields(own, table, reading)
    return check_of(findings, looked_at)


def _changed_calls(evidence: ReplayEvidence, own: OwnText) -> list[Finding]:
    """The arguments of recorded calls that a message gives otherwise."""
    step = own.message.step
    number = evidence.index.full.get(-1 if step is None else step)
    if number is None:
        return []
    recorded = {call.id: call for call in evidence.messages.messages[number].tool_calls}
    return [
        Finding(step, f"{call.name} {call.arguments}", f"{recorded[call.id].name} {recorded[call.id].arguments}")
        for call in own.message.tool_calls
        if call.id in recorded and (call.name, call.arguments) != (recorded[call.id].name, recorded[call.id].arguments)
    ]


def _changed_fields(own: OwnText, table: FieldTable, reading: TextReading) -> list[Finding]:
    """The fields of one rewritten result that differ."""
    step = own.message.step
    meant = _legend(own.text)
    found: list[Finding] = []
    for record in reading.records:
        pairs = tuple((meant.get(key, key), meant.get(text, text)) for key, text in record.pairs)
        known = [(key, text) for key, text in pairs if table.has_key(key)]
        if not known:
            continue
        best = table.best_records(known, record.around)
        for key, text in pairs:
            if not text.strip() or not key:
                continue
            if not table.has_key(key):
                if len(known) * 2 >= len(pairs) and table.says_value(text):
                    found.append(Finding(step, f"{key}: {text}", _origin(table, text)))
                continue
            values = [value for number in best for value in table.values(number, key)]
            values = values or (table.column(key) if best else [])
            if values and not any(same_value(text, value) for value in values):
                found.append(Finding(step, f"{key}: {text}", f"{key}: {values[0]}"))
    return found


def _origin(table: FieldTable, text: str) -> str:
    return next((f"{item.key}: {item.text}" for item in table.fields if same_value(text, item.text)), "")


def _legend(text: str) -> dict[str, str]:
    """The short keys and references that a text itself explains."""
    found: dict[str, str] = {}
    for match in _LEGEND.finditer(text):
        found.update((short, long.strip()) for short, long in _PAIR.findall(match.group()))
    return found
