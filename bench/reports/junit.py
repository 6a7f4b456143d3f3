"""The verdicts as JUnit XML, which every CI system reads: one test case a verdict."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from ..comparison.judging import conclude, measured_anything
from ..model import Comparison
from ..text.wording import visible
from . import Section, renderer
from .decision_sentence import advice_text
from .words import loss_lines, told


@renderer("junit", endings=(".xml",))
def junit(sections: Sequence[Section]) -> str:
    """A test suite per comparison, with the advice as its property.

    A gate that fails is a failure, an inconclusive one an error (skipped where that is allowed).
    Beside the gates one case says whether anything was measured, and one for each strategy that raised says so. A suite without failure and
    error is one whose exit code is 0. Times are what replaying and scoring the strategies took, in seconds, each shared evenly by the cases that
    are about the strategy; nothing else in the file differs from one run to the next.
    """
    root = ET.Element("testsuites", name="bench")
    for section in sections:
        about, cases = zip(*_cases(section), strict=True)
        seconds = _seconds(section.comparison, about)
        for case, took in zip(cases, seconds, strict=True):
            case.set("time", f"{took:.3f}")
        outcomes = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        counts = {name: str(sum(case.find(tag) is not None for case in cases)) for name, tag in outcomes}
        total = {"name": visible(section.name), "tests": str(len(cases)), **counts, "time": f"{sum(seconds):.3f}"}
        suite = ET.SubElement(root, "testsuite", total)
        said = {"name": "advice", "value": visible(advice_text(section.comparison))}
        ET.SubElement(ET.SubElement(suite, "properties"), "property", said)
        suite.extend(cases)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _seconds(comparison: Comparison, about: Sequence[str]) -> list[float]:
    """The seconds of each test case, given the strategy it is about ("" for none). Those about one strategy share its time.

    The first one, which is about none, has the time of the strategies that no other one is about.
    """
    seconds = [0.0] * len(about)
    for name in comparison.everyone:
        took = sum(case.runs[name].seconds for case in comparison.cases if name in case.runs)
        places = [at for at, strategy in enumerate(about) if strategy == name] or [0]
        for at in places:
            seconds[at] += took / len(places)
    return seconds


def _cases(section: Section) -> Iterator[tuple[str, ET.Element]]:
    """Every test case with the strategy that it is about."""
    comparison = section.comparison

    def case(
        strategy: str, name: str, outcome: str = "", sentence: str = "", kind: str = "", *detail: str
    ) -> tuple[str, ET.Element]:
        made = ET.Element("testcase", classname=visible(f"{section.name}.{strategy or 'bench'}"), name=visible(name))
        if outcome:
            typed = {"type": kind} if kind else {}
            element = ET.SubElement(made, outcome, {"message": visible(sentence), **typed})
            element.text = visible("\n".join(detail)) or None
        return strategy, made

    nothing = () if measured_anything(comparison) else ("error", "nothing was measured", "inconclusive")
    yield case("", "measured something", *nothing)
    for strategy in comparison.strategies:
        failed = comparison.failed(strategy)
        if failed:
            outcome = ("error", "raised") if conclude([comparison]).exit_code else ("skipped", "")
            said = f"raised on {failed[0]}: {failed[1]}"
            yield case(strategy, "ran on every case", outcome[0], said, outcome[1])
    for verdict in comparison.verdicts:
        given = verdict.strategy, verdict.gate
        if verdict.outcome == "fail":
            yield case(*given, "failure", told(verdict), "gate", *loss_lines(verdict))
        elif verdict.outcome == "inconclusive" and not comparison.allow_inconclusive:
            yield case(*given, "error", verdict.sentence, "inconclusive")
        elif verdict.outcome != "pass":
            yield case(*given, "skipped", verdict.sentence)
        else:
            yield case(*given)
