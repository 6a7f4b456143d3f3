"""Losses of tool results: facts, fields and commands that are no longer there, and silent
truncation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ..evidence.kept import PLACES, Place, facts_kept, fields_kept
from ..evidence.of_replay import ReplayEvidence
from ..evidence.unmet import missed_needs, unmet_needs
from ..model import Message
from ..model.scores import Number
from ..text.places import starts_of
from . import amount, example as example, mean, metric, share, share_metric


@share_metric("loss.fact_recall.{}", places=PLACES)
def fact_recall(evidence: ReplayEvidence, place: Place) -> Number:
    """Share of a tool result's facts that are still there.

    From 0 (none) to 1 (all), the mean over results with a later prompt in their thread. The place is
    `shown` (any message of the first prompt after the result), `end` (any message of the last prompt
    of its thread), or `stored` (the value that a later step can read back from the store). An
    untruncated result has lost nothing. Of more than a million characters a sample of the lines is
    read. Without such a result there is nothing to measure.

    Source: the recall of a set of keywords, as in "needle in a haystack" tests (Kamradt 2023)

    >>> fact_recall(example(), "shown").value, fact_recall(example(), "stored").value
    (0.5, 0.5)
    """
    return mean([item.share for item in facts_kept(evidence, place)])


@share_metric("loss.leaf_recall.{}", places=PLACES)
def leaf_recall(evidence: ReplayEvidence, place: Place) -> Number:
    """Share of a structured result's fields that are still there, each beside its own key.

    From 0 (none) to 1 (all), the mean over results with a mapping or list as their data. Places as
    in `loss.fact_recall`. A field counts as kept in a message about its result: under its key, in a
    column of that name, or in a sentence with its key or its record's identity. Without such a
    result there is nothing to measure.

    Source: 004 §1.2: a structured result stored as `str(result)[:500]`

    >>> leaf_recall(example(), "shown").value
    0.5
    """
    return mean([item.share for item in fields_kept(evidence, place)])


@share_metric("loss.retrievable")
def retrievable(evidence: ReplayEvidence) -> Number:
    """Share of needed facts that are not in the prompt of their turn, but behind a handle in it.

    From 0 (none) to 1 (all). The prompt has the whole handle, and resolving it gave a text with the
    fact. It is not known if an agent would resolve it. Without needs there is nothing to measure.

    Source: MemGPT (arXiv 2310.08560): what is paged out can be paged in

    >>> retrievable(example()).value
    0.0
    """
    return share(len(unmet_needs(evidence)) - len(missed_needs(evidence)), len(evidence.needs))


@metric("loss.silent_truncation", unit="results")
def silent_truncation(evidence: ReplayEvidence) -> Number:
    """Results that lost facts without a notice, in the first prompt after them or in the last one
    of their thread.

    A notice is a line with a word for leaving out, in a text that shows the result (or else in a
    message of the strategy about no single result). 0: every loss is announced. Without results with
    a later prompt there is nothing to measure.

    Source: 004 §1.2: `str(result)[:500]` does not say that it was cut

    >>> silent_truncation(example()).value
    1.0
    """
    kept = [kept(evidence, place) for place in _PROMPTS for kept in (facts_kept, fields_kept)]
    cut = {(it.result.index, it.call or 0) for it in chain(*kept) if it.kept < it.total}
    silent = {step for step, call in cut if not _is_noticed(evidence, step, call)}
    return amount(len(silent), of=evidence.prompted_results)


_PROMPTS: tuple[Place, ...] = "shown", "end"
"""The places that are prompts."""


def _is_noticed(evidence: ReplayEvidence, step: int, call: int) -> bool:
    """True if a prompt says that a part of a result was left out: a text that shows the result, or
    where there is none a text of the strategy about no single result."""
    about = [evidence.messages.messages[number] for number in evidence.messages_about(step, call)]
    texts = [message.text for message in about if message.step is not None]
    texts = texts or [it.text for it in about if evidence.session.names_omission(it.text)]
    return any(map(evidence.contents.results[step].says_omission, texts))


@metric("loss.commands_lost", unit="commands")
def commands_lost(evidence: ReplayEvidence) -> Number:
    """Commands of the recording that are in no message of the last prompt.

    A command is a tool call or a command in the text of a turn; repeated ones count once. It is
    kept if a message has the call, or the whole command as a line, or as the end of a line after a
    colon, a prompt sign or a quote. 0: all are kept. Without commands before a last prompt there is
    nothing to measure.

    Source: 002 Goal: commands stay after a summarization

    >>> commands_lost(example()).value
    0.0
    """
    lost = []
    for thread, call in evidence.last_calls.items():
        end = evidence.walked.calls[call].step
        turns = (turn for turn in evidence.trace.model_turns if turn.thread == thread)
        before = (call for turn in turns if turn.index < end for call in turn.tool_calls)
        if commands := {call.command for call in before}:
            lost.append(len(_missing(commands, evidence.prompt(call))))
    return amount(sum(lost), of=lost)


def _missing(commands: set[str], prompt: Sequence[Message]) -> list[str]:
    """The commands that no message of a prompt has."""
    missing = commands.difference(call.command for it in prompt for call in it.tool_calls)
    text = "\n".join(message.text for message in prompt) if missing else ""
    return [command for command in missing if not is_complete(command, text)]


def is_complete(command: str, text: str) -> bool:
    """True if a text has a whole command.

    >>> texts = ("ls", "run: 'ls'", "first\\n ls \\nthen", "ls -la", "$ ls -la", "find | ls", "also ls")
    >>> [is_complete("ls", text) for text in texts]
    [True, True, True, False, False, False, False]
    """
    for start in starts_of(text, command):
        end = start + len(command)
        line_end = text.find("\n", end)
        before = text[text.rfind("\n", 0, start) + 1 : start].rstrip(" \t")
        after = text[end : line_end if line_end >= 0 else len(text)].lstrip(" \t")
        if before[-1:] in _BEFORE and after[:1] in _AFTER:
            return True
    return False


_BEFORE = {"", *":$>`\"'"}
_AFTER = {"", *"`\"'"}
"""The characters that may be next to a whole command on its line, ignoring blanks; `""` is the
start or end of the line."""
