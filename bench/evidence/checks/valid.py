"""Valid: prompts that a provider would refuse, or that do not fit the model's window."""

from __future__ import annotations

from ...model.scores import Check, Finding
from ..of_replay import ReplayEvidence
from .findings import check_of


def valid(evidence: ReplayEvidence) -> Check:
    """The check of prompts that could not have been sent, over all prompts.

    Faults are unpaired calls and results, no user message, an empty message, a lone surrogate, or
    more tokens than the window. Faults of the recording itself do not count.

    Source: OpenAI API reference, "Create chat completion"; Anthropic documentation, "Handle tool
    calls"
    """
    window = evidence.index.window_tokens
    calls = evidence.walked.calls
    problems = {item.call: Finding(calls[item.call].step, str(item)) for item in evidence.refused}
    for number, priced in enumerate(evidence.walked.priced):
        if window is not None and priced.prompt_tokens > window:
            text = f"{priced.prompt_tokens:,} tokens do not fit a window of {window:,}"
            text += _longest_result(evidence, number)
            problems.setdefault(number, Finding(calls[number].step, text))
    return check_of([problems[number] for number in sorted(problems)], len(calls))


def _longest_result(evidence: ReplayEvidence, call: int) -> str:
    """A clause on the result of which a prompt shows most beyond what the harness showed; "" if it
    shows no more of any."""
    most, clause = 0, ""
    for outcome, result in zip(evidence.replay.results, evidence.trace.results, strict=True):
        is_cut = result.recorded_text != result.text
        if is_cut and evidence.is_in_prompt(outcome.message, call):
            recorded = len(result.recorded_text)
            size = len(evidence.messages.messages[outcome.message].text)
            if size - recorded > most:
                most = size - recorded
                characters = f"of {len(result.text):,} characters of step {result.index}"
                clause = f": {characters} the harness showed {recorded:,}, the strategy {size:,}"
    return clause
