"""The judgements of a replay that are not as expected, for reports: wrong routes, evaluations that
differ from those of untruncated results, and questions whose answer is gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..evidence.of_replay import ReplayEvidence
from ..metrics.findings import same_findings
from ..metrics.probes import asked
from ..metrics.routing import expected_routes
from ..model import as_text
from ..model.errors import ScenarioError
from ..model.scores import Check, Finding, Rule
from ..text.wording import at_difference, beginning

_MOST = 3
"""The most findings of a rule to keep."""


def judgement_checks(evidence: ReplayEvidence) -> dict[Rule, Check]:
    """The judgements that a strategy changed, by the rule that counts them; none where all are as
    expected."""
    judged: Mapping[Rule, list[Finding | None]] = {
        "routed": [*_routes(evidence)],
        "judged": [*_evaluations(evidence)],
        "stored": [*_questions(evidence)],
    }
    checks: dict[Rule, Check] = {}
    for rule, each in judged.items():
        if found := [*filter(None, each)]:
            checks[rule] = Check(hits=len(found), of=len(each), findings=tuple(found[:_MOST]))
    return checks


def _routes(evidence: ReplayEvidence) -> Iterator[Finding | None]:
    """Yield for each decision with an expected route the other route that it took, or None."""
    for decision, expected in expected_routes(evidence):
        is_right = decision.route == expected
        yield None if is_right else Finding(decision.step, decision.route, expected)


def _evaluations(evidence: ReplayEvidence) -> Iterator[Finding | None]:
    """Yield for each evaluated result the evaluation of the stored record, if it differs from that
    of the untruncated one, or None."""
    for item in evidence.replay.results:
        untruncated = item.evaluation_untruncated
        if untruncated is None:
            continue
        if same_findings(untruncated, item.evaluation):
            yield None
        else:
            now, was = at_difference(as_text(item.evaluation), as_text(untruncated))
            yield Finding(item.step, beginning(now), beginning(was))


def _questions(evidence: ReplayEvidence) -> Iterator[Finding | None]:
    """Yield for each question of a scenario that it does not come out right, or None."""
    try:
        for probe, is_right in asked(evidence):
            now = "is there" if probe.absent else "not found"
            was = beginning(f"{probe.question} {as_text(probe.expected)}")
            yield None if is_right else Finding(probe.step, now, was)
    except ScenarioError:  # the number of `probes.recall` says what is wrong
        return
