"""Instructed: prompts that lack the system prompt, the task or a standing instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.scores import Check, Finding
from .findings import check_of

if TYPE_CHECKING:
    from ..of_replay import ReplayEvidence


def instructed(evidence: ReplayEvidence) -> Check:
    """The check of prompts that lack an instruction, also in the strategy's own texts, over all
    prompts.

    Instructions are the system prompt, the first request, and every standing rule of a system or
    user turn (never, always, do not, must, only, unless).

    Source: OpenAI API reference, "Create chat completion" (system and developer messages:
    instructions that the model should follow)
    """
    given = evidence.session.instructions.given
    findings: list[Finding] = []
    for call, places in zip(evidence.walked.calls, evidence.newly_missing, strict=True):
        if places:
            missing = given[places[0]]
            text = f"the prompt lacks {_NAMES[missing.kind]} of step {missing.step}"
            findings.append(Finding(call.step, text, was=missing.text))
    return check_of(findings, len(evidence.walked.calls))


_NAMES = {"system": "the system prompt", "task": "the request", "rule": "an instruction"}
