"""Instructed: prompts that lack the system prompt, the task or a standing instruction."""

from __future__ import annotations

from ...model import memo
from ...model.scores import Check, Finding
from ..of_replay import ReplayEvidence
from ..walk import members
from .findings import check_of


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
    for call, places in zip(evidence.walked.calls, newly_missing(evidence), strict=True):
        if places:
            missing = given[places[0]]
            text = f"the prompt lacks {_NAMES[missing.kind]} of step {missing.step}"
            findings.append(Finding(call.step, text, was=missing.text))
    return check_of(findings, len(evidence.walked.calls))


_NAMES = {"system": "the system prompt", "task": "the request", "rule": "an instruction"}


@memo
def missing_instructions(evidence: ReplayEvidence) -> list[tuple[int, ...]]:
    """For each call the places of the earlier instructions that no message of its prompt has; `()`
    if the prompt has all.

    An unchanged recorded message has its own instructions; a text of the strategy has those that it
    repeats.
    """
    reader = evidence.session.instructions
    missing: list[list[int]] = [[] for _ in evidence.walked.calls]
    for place, item in enumerate(reader.given):
        calls = evidence.calls_between(item.thread, item.step, item.last)
        calls &= ~evidence.calls_with([reader.full[item.step]])
        if calls:
            calls &= ~evidence.calls_with(reader.repeated_in(place))
        for number in evidence.generated:
            during = evidence.walked.during[number]
            if calls & during and reader.is_in(number, place):
                calls &= ~during
        for call in members(calls):
            missing[call].append(place)
    return [*map(tuple, missing)]


@memo
def newly_missing(evidence: ReplayEvidence) -> list[tuple[int, ...]]:
    """For each call those of these instructions that the recorded prompt did not lack."""
    excused = evidence.session.excused
    missing = zip(evidence.walked.calls, missing_instructions(evidence), strict=True)
    return [
        tuple(place for place in places if (call.step, place) not in excused)
        for call, places in missing
    ]
