"""The gates as JUnit XML: a suite by scenario, a case by gate and strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from ..model.compared import Compared, GateResult
from ..model.errors import visible
from .gates import condition
from .labels import label
from .numbers import quantity
from .reading import Reading

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """Failed and undecided gates are failures with before → after, skipped ones skipped.

    No gate: an empty suite.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    for compared in comparisons:
        reading = Reading(compared)
        failures = len(reading.failed)
        skipped = len(compared.gates) - len(reading.decided)
        counts = f'tests="{len(compared.gates)}" failures="{failures}" errors="0" skipped="{skipped}"'
        yield f"<testsuite name={_quoted(compared.title or 'comparison')} {counts}>\n"
        for gate in compared.gates:
            yield _case(reading, gate)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def message(reading: Reading, gate: GateResult) -> str:
    """The outcome of a gate on one line: before → after, the limit, the basis, the worst run."""
    unit = reading.unit(gate.rule.metric)
    values = [quantity(value, unit) for value in (gate.before, gate.value) if value is not None]
    parts = [" → ".join(values) or gate.reason or "not measured", condition(gate, unit), gate.basis]
    parts += [f"worst run {reading.name(gate.run)}" if gate.run else "", gate.reason if values else ""]
    return f"{label(gate.rule.metric, reading.info(gate.rule.metric))}: {'; '.join(filter(None, parts))}"


def _case(reading: Reading, gate: GateResult) -> str:
    number = f"gate {gate.rule.number}" if gate.rule.number else ""
    asks = condition(gate, reading.unit(gate.rule.metric))
    name = " ".join(filter(None, [number, gate.rule.metric, asks]))
    head = f"<testcase classname={_quoted(gate.strategy)} name={_quoted(name)}"
    text = message(reading, gate)
    if gate.outcome == "pass":
        return f"{head}/>\n"
    if gate.outcome == "skipped":
        return f"{head}><skipped message={_quoted(gate.reason or text)}/></testcase>\n"
    failure = f"<failure type={_quoted(gate.outcome)} message={_quoted(text)}>{_legal(escape(text))}</failure>"
    return f"{head}>{failure}</testcase>\n"


def _quoted(text: str) -> str:
    return _legal(quoteattr(visible(text)))


def _legal(text: str) -> str:
    return _ILLEGAL.sub("�", text)
