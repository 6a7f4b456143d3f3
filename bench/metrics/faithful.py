"""Texts of a strategy that are not faithful to the recording, which decide if it may be used at
all."""

from __future__ import annotations

from ..evidence.checks import checks_of
from ..evidence.of_replay import ReplayEvidence
from ..model.scores import Number, Rule
from ..text.wording import counted
from . import NOTHING, example as example, metric


@metric("faithful.changed", unit="values")
def changed(evidence: ReplayEvidence) -> Number:
    """Values that a message shows differently from what the tool returned.

    Must be 0. Counted are fields with another value than in the untruncated result, or under a key
    that the result lacks, and rows that a text leaves out without saying so. If some texts could not
    be checked, the number is the least that it can be. Without prompts there is nothing to measure.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)

    >>> changed(example()).value
    0.0
    """
    return _hits(evidence, "changed")


@metric("faithful.invented", unit="texts")
def invented(evidence: ReplayEvidence) -> Number:
    """Texts of the strategy with a number, identifier, name or order that no earlier message has.

    A number or label beside a result may count anything: the strategy is *not checked* instead, and
    the number is the least that it can be. 0: nothing is invented. Without prompts there is nothing
    to measure.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)

    >>> invented(example()).value
    0.0
    """
    return _hits(evidence, "invented")


@metric("faithful.hidden_errors", unit="results")
def hidden_errors(evidence: ReplayEvidence) -> Number:
    """Failed results that a message shows without their failure.

    Must be 0. A placeholder without any content of the result does not hide a failure. Without
    prompts there is nothing to measure.

    Source: 004 §1.2: a step that failed must be seen to have failed

    >>> hidden_errors(example()).value
    0.0
    """
    return _hits(evidence, "hidden")


def _hits(evidence: ReplayEvidence, rule: Rule) -> Number:
    """The findings of a rule; its reason names the texts that could not be checked."""
    if not evidence.walked.calls:
        return NOTHING
    check = checks_of(evidence)[rule]
    unchecked = check.unchecked if rule != "hidden" else 0  # these leave something out silently
    reason = f"at least: {counted(unchecked, 'text')} could not be checked" if unchecked else ""
    return Number(float(check.hits), reason=reason)
