"""The rules that read what a strategy wrote: each counts its findings over the strategy's own texts, or over prompts."""

from __future__ import annotations

from ...model.scores import Check, Rule
from ..of_replay import ReplayEvidence
from .changed import changed
from .hidden import hidden
from .instructed import instructed
from .invented import invented
from .misattributed import misattributed
from .valid import valid


def checks_of(evidence: ReplayEvidence) -> dict[Rule, Check]:
    """The checks of one replay by rule; a strategy that wrote nothing has no hits."""
    return {
        "valid": valid(evidence),
        "instructed": instructed(evidence),
        "changed": changed(evidence),
        "misattributed": misattributed(evidence),
        "invented": invented(evidence),
        "hidden": hidden(evidence),
    }
