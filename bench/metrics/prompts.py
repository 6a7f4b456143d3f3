"""Prompts of a strategy that could not be sent, or that lack their instructions."""

from __future__ import annotations

from ..evidence.checks.instructed import newly_missing
from ..evidence.of_replay import ReplayEvidence
from ..model.scores import Number
from . import amount, example as example, metric


@metric("prompt.invalid", unit="prompts")
def invalid(evidence: ReplayEvidence) -> Number:
    """Prompts that a provider would refuse, or whose messages are not in their recorded order.

    Must be 0. Faults are: a tool result without its call right before it (other results of the same
    message may be between), a call without its result before the next turn, a call that stands
    twice, steps out of their recorded order, no user message at all, and messages of the strategy
    that are empty or have lone surrogates. Faults of the recording itself do not count. Commands in
    an agent's text, and results sent as user messages, need no pairs. Without model calls there is
    nothing to measure.

    Source: OpenAI API reference, "Create chat completion" (messages with `tool_calls`, tool
    messages); Anthropic documentation "Handle tool calls"

    >>> invalid(example()).value
    0.0
    """
    return amount(len(evidence.refused), of=evidence.walked.calls)


@metric("prompt.{}_missing", unit="prompts", places=("system", "task", "rules"))
def missing(evidence: ReplayEvidence, place: str) -> Number:
    """Prompts in which no message has the system prompt; the task; or a standing instruction
    (never, always, must, only, unless).

    The task is the last user message, and earlier ones as long as a later turn takes facts from
    them. An instruction is present in a message with its text, in one that repeats it, in one with
    most of the facts that later turns take from a task, and in the rest of a shortened system
    prompt, or of a task of more than 200 words. Instructions that the recorded harness had dropped
    do not count. 0: no prompt lacks one. Without model calls there is nothing to measure.

    Source: OpenAI API reference, "Create chat completion" (system and developer messages); 002
    Current Behavior: the initial request is kept when the conversation is compacted

    >>> missing(example(), "task").value
    0.0
    """
    given, kind = evidence.session.instructions.given, place.removesuffix("s")
    of_kind = {place for place, instruction in enumerate(given) if instruction.kind == kind}
    count = sum(not of_kind.isdisjoint(places) for places in newly_missing(evidence))
    return amount(count, of=evidence.walked.calls)
