"""Losses of tool results: facts, fields and commands that are no longer there, and silent
truncation.
"""

from __future__ import annotations

from ..evidence.kept import PLACES, Place
from ..evidence.lost import lost_commands, silent_results
from ..evidence.of_replay import ReplayEvidence
from ..model.scores import Number
from . import NOTHING, example as example, mean, metric, share, shared


@shared("loss.fact_recall.{}", places=PLACES)
def fact_recall(evidence: ReplayEvidence, place: Place) -> Number:
    """Share of a tool result's facts that are still there.

    0–1, the mean over results with a later prompt in their thread. The place is `shown` (any
    message of the first prompt after the result), `end` (any message of the last prompt of its
    thread), or `stored` (the value that a later step can read back from the store). An untruncated
    result has lost nothing. Of more than a million characters a sample of the lines is read. No such
    result: nothing to measure.

    Source: the recall of a set of keywords, as in "needle in a haystack" tests (Kamradt 2023)

    >>> fact_recall(example(), "shown").value, fact_recall(example(), "stored").value
    (0.5, 0.5)
    """
    return mean([item.share for item in evidence.facts_kept[place]])


@shared("loss.leaf_recall.{}", places=PLACES)
def leaf_recall(evidence: ReplayEvidence, place: Place) -> Number:
    """Share of a structured result's fields that are still there, each beside its own key.

    0–1, the mean over results with a mapping or list as their data. Places as in
    `loss.fact_recall`. A field counts as kept in a message about its result: under its key, in a
    column of that name, or in a sentence with its key or its record's identity. No such result:
    nothing to measure.

    Source: 004 §1.2: a structured result stored as `str(result)[:500]`

    >>> leaf_recall(example(), "shown").value
    0.5
    """
    return mean([item.share for item in evidence.fields_kept[place]])


@shared("loss.retrievable")
def retrievable(evidence: ReplayEvidence) -> Number:
    """Share of needed facts that are not in the prompt but behind a handle that it shows.

    0–1. The prompt has the whole handle, and resolving it gave a text with the fact. It is not
    known if an agent would resolve it. No needs: nothing to measure.

    Source: MemGPT (arXiv 2310.08560): what is paged out can be paged in

    >>> retrievable(example()).value
    0.0
    """
    return share(len(evidence.unmet) - len(evidence.missed), len(evidence.needs))


@metric("loss.silent_truncation", unit="results")
def silent_truncation(evidence: ReplayEvidence) -> Number:
    """Results that lost facts without a notice, in the first prompt after them or in the last one
    of their thread.

    A notice is a line with a word for leaving out, in a text that shows the result (or else in one
    of the strategy's own messages). No results with a later prompt: nothing to measure.

    Source: 004 §1.2: `str(result)[:500]` does not say that it was cut

    >>> silent_truncation(example()).value
    1.0
    """
    return Number(float(len(silent_results(evidence)))) if evidence.prompted else NOTHING


@metric("loss.commands_lost", unit="commands")
def commands_lost(evidence: ReplayEvidence) -> Number:
    """Commands of the recording that are in no message of the last prompt.

    A command is a tool call or a command in the text of a turn; repeated ones count once. It is
    kept if a message has the call, or the whole command as a line, or as the end of a line after a
    colon, a prompt sign or a quote. No commands before a last prompt: nothing to measure.

    Source: 002 Goal: commands stay after a summarization

    >>> commands_lost(example()).value
    0.0
    """
    lost = lost_commands(evidence)
    return Number(float(sum(map(len, lost)))) if lost else NOTHING
