"""Prompts of a strategy that could not be sent, or that lack their instructions."""

from __future__ import annotations

from ..evidence.of_replay import ReplayEvidence
from ..model.scores import Number
from . import NOTHING, example as example, metric


@metric("prompt.invalid", unit="prompts")
def invalid(evidence: ReplayEvidence) -> Number:
    """Prompts that a provider would refuse, or whose messages stand in another order than they
    came.

    Wrong are: a tool result without its call right before it (other results of the same message may
    stand between), a call without its result before the next turn, steps out of their recorded
    order, no message of a user at all; and of the strategy's own messages, those that are empty or
    hold half a character. What the recording itself broke counts for nobody. Commands that an agent
    writes as text, and results handed back as user messages, need no pairs. No model calls: nothing
    to measure.

    Source: OpenAI API reference, "Create chat completion" (messages with `tool_calls`, tool
    messages); Anthropic documentation "Handle tool calls"

    >>> invalid(example()).value
    0.0
    """
    return Number(float(len(evidence.refused))) if evidence.walked.calls else NOTHING


@metric("prompt.{}_missing", unit="prompts", places=("system", "task", "rules"))
def missing(evidence: ReplayEvidence, place: str) -> Number:
    """Prompts in which no message holds the system prompt; the task; or a standing instruction
    (never, always, must, only, unless).

    The task is what the user said last, and what they said before as long as a later turn takes
    facts from it. A message with its text holds it, one that repeats it, one that says most of what
    later turns take from a task, and what a strategy left of a system prompt. What the recorded
    harness had dropped itself does not count. No model calls: nothing to measure.

    Source: OpenAI API reference, "Create chat completion" (system and developer messages); 002
    Current Behavior: the initial request is kept when the conversation is compacted

    >>> missing(example(), "task").value
    0.0
    """
    given, kind = evidence.session.instructions.given, place.removesuffix("s")
    lacking = evidence.missing_instructions
    count = sum(any(given[at].kind == kind for at in item.missing) for item in lacking)
    return Number(float(count)) if lacking else NOTHING
