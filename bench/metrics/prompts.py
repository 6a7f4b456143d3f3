"""Prompts of a strategy that could not be sent, or that lack their instructions."""

from __future__ import annotations

from collections.abc import Callable

from ..evidence.of_run import RunEvidence
from ..evidence.validity import Checked
from ..model import Sample, Told
from . import example as example, metric, sample

RULES_NAMED = 3  # the most missing instructions of one prompt that are named


@metric("prompt.invalid", unit="prompts", better="lower", aggregate="sum")
def invalid(evidence: RunEvidence) -> list[Sample]:
    """Prompts that a provider would refuse, or whose messages stand in another order than they were said.

    One sample a model call, 1 or 0. Wrong are: a tool result without its call right before it (other results of the same message may stand
    between), a call without its result before the next turn, steps out of their recorded order, no message of a user at all. What the recording
    itself broke counts for nobody. Commands that an agent writes as text, and results handed back as user messages, need no pairs. The detail
    says what is wrong. No model calls: no samples.

    Source: OpenAI API reference, "Create chat completion" (messages with `tool_calls`, tool messages); Anthropic documentation "Handle tool calls"

    >>> [sample.numerator for sample in invalid(example())]
    [0.0, 0.0]
    """
    return _counted(evidence, lambda found: Told(text=found.invalid, steps=found.places) if found.invalid else None)


@metric("prompt.task_missing", unit="prompts", better="lower", aggregate="sum", version=2)
def task_missing(evidence: RunEvidence) -> list[Sample]:
    """Prompts in which no message holds the task: what the user said last, and earlier user turns of which this or a later turn still uses something.

    A user turn is held by itself, by a message that contains its whole text or four of five of the facts that later turns use, or by a summary
    that keeps four of five of all its facts (of its words, where it has no facts). One sample a model call, 1 or 0; not where the recorded
    harness had dropped the task itself. No model calls: no samples.

    Source: 002 Current Behavior: the initial request is kept when the conversation is compacted

    >>> [sample.numerator for sample in task_missing(example())]
    [0.0, 0.0]
    """
    gone = Told(text="no message holds the task")
    return _counted(evidence, lambda checked: gone if checked.task_missing else None)


@metric("prompt.system_missing", unit="prompts", better="lower", aggregate="sum")
def system_missing(evidence: RunEvidence) -> list[Sample]:
    """Prompts that lack the system prompt: a system turn with which the thread begins.

    It is held as the task is, see `prompt.task_missing`. One sample a model call, 1 or 0; not where the recorded harness had dropped it itself. No
    model calls: no samples.

    Source: OpenAI API reference, "Create chat completion" (system and developer messages: instructions that the model should follow)

    >>> [sample.numerator for sample in system_missing(example())]
    [0.0, 0.0]
    """
    gone = Told(text="no message holds the system prompt")
    return _counted(evidence, lambda checked: gone if checked.system_missing else None)


@metric("prompt.rules_missing", unit="prompts", better="lower", aggregate="sum")
def rules_missing(evidence: RunEvidence) -> list[Sample]:
    """Prompts that lack a standing instruction: a sentence of a user or system turn that says never, always, do not, must or only.

    It is held by its turn, by a message that has the sentence, or by a summary with a sentence of most of its words. One sample a model call, 1 or
    0, with the sentences that are gone; not where the recorded harness had dropped them itself. No model calls: no samples.

    Source: OpenAI API reference, "Create chat completion" (system and developer messages: instructions that the model should follow)

    >>> [sample.numerator for sample in rules_missing(example())]
    [0.0, 0.0]
    """
    return _counted(evidence, lambda checked: _gone(checked.rules_missing) if checked.rules_missing else None)


def _gone(rules: tuple[str, ...]) -> Told:
    more = f" (and {len(rules) - RULES_NAMED} more)" if len(rules) > RULES_NAMED else ""
    return Told(text="; ".join(rules[:RULES_NAMED]) + more)


def _counted(evidence: RunEvidence, wrong: Callable[[Checked], Told | None]) -> list[Sample]:
    """One sample a prompt: 1 with what is wrong with it, or 0."""
    found = [(checked.step, wrong(checked)) for checked in evidence.prompts.checked]
    return [sample(told is not None, step, detail=told) for step, told in found]
