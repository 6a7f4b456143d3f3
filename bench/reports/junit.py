"""The gates as JUnit XML: a suite by scenario, a case by gate and strategy."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from ..model.compared import Compared, GateResult
from ..model.errors import visible
from .gates import condition, gate_in_words
from .reading import Reading

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """Failed and undecided gates are failures with before → after, skipped ones skipped.

    No gate: an empty suite.
    """
    suites = ET.Element("testsuites")
    for compared in comparisons:
        reading, gates = Reading(compared), compared.gates
        counts = {"tests": len(gates), "failures": len(reading.failed), "errors": 0}
        counts["skipped"] = len(gates) - len(reading.decided)
        suite = ET.SubElement(suites, "testsuite", name=_legal(compared.title or "comparison"))
        suite.attrib.update({name: str(value) for name, value in counts.items()})
        for gate in gates:
            _add_case(suite, reading, gate)
    ET.indent(suites, "")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, "unicode")}\n'


def _add_case(suite: ET.Element, reading: Reading, gate: GateResult) -> None:
    name = f"{gate.rule.metric} {condition(gate, reading.unit(gate.rule.metric))}".strip()
    about = {"classname": gate.strategy or "baseline", "name": name or gate.reason}
    case = ET.SubElement(suite, "testcase", {key: _legal(text) for key, text in about.items()})
    text = _legal(gate_in_words(reading, gate))
    if gate.outcome == "skipped":
        ET.SubElement(case, "skipped", message=_legal(gate.reason) or text)
    elif gate.outcome != "pass":
        ET.SubElement(case, "failure", type=gate.outcome, message=text).text = text


def _legal(text: str) -> str:
    return _ILLEGAL.sub("�", visible(text))
