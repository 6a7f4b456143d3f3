"""Texts that a strategy wrote and that are not faithful to the recording: what decides if it may be
used at all. Of one that reads the future they are not asked about.
"""

from __future__ import annotations

from ..evidence.checks import CheckedReplay
from ..model.scores import Number, Rule
from . import NOTHING, example as example, metric


@metric("faithful.changed", unit="values")
def changed(evidence: CheckedReplay) -> Number:
    """Values that a message shows otherwise than the tool returned them.

    Must be 0. A field with another value than the untruncated result has, or under a key that it
    does not have; rows that a text leaves out without a word. No prompts: nothing to measure.

    Source: https://arxiv.org/abs/2005.00661 (intrinsic errors of summaries)

    >>> changed(example()).value
    0.0
    """
    return _hits(evidence, "changed")


@metric("faithful.invented", unit="texts")
def invented(evidence: CheckedReplay) -> Number:
    """Texts of the strategy with a number, identifier, name or order that nothing before had said.

    No prompts: nothing to measure.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)

    >>> invented(example()).value
    0.0
    """
    return _hits(evidence, "invented")


@metric("faithful.hidden_errors", unit="results")
def hidden_errors(evidence: CheckedReplay) -> Number:
    """Failed results that a message shows without their failure.

    Must be 0. A placeholder that shows nothing of the result hides nothing. No prompts: nothing to
    measure.

    Source: 004 §1.2: a step that failed must be seen to have failed

    >>> hidden_errors(example()).value
    0.0
    """
    return _hits(evidence, "hidden")


def _hits(evidence: CheckedReplay, rule: Rule) -> Number:
    is_measured = evidence.walked.calls and not evidence.replay.reads_future
    return Number(float(evidence.checks[rule].hits)) if is_measured else NOTHING
