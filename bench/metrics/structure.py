"""Losses of structured tool results: values with their keys, rows, columns and keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from ..evidence.of_run import RunEvidence
from ..evidence.presence import HeldLeaves
from ..model import ResultOutcome, Sample, ToolResult
from ..text.found_leaves import by_label, match_read, with_labelled
from ..text.leaves import Leaf, Leaves, Match, flatten, match, tokens_of
from ..text.wording import cut
from . import LISTED, example as example, metric, of_result, sample

PROMPTS = ("shown", "end")
_LISTED_CHARS = 200  # of one lost leaf


@metric(
    "loss.leaf_recall",
    unit="fraction",
    better="higher",
    aggregate="pooled",
    version=2,
    recall=True,
    place=(*PROMPTS, "stored"),
)
def leaf_recall(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of a structured result's leaves (its scalar values, each at its path of keys) that are still held.

    0–1. Held is what the messages that show the result give when they are read back as JSON, a Python literal or tables in text, as far as
    that goes; and every value that stands beside its key on a line of any message of the prompt (an upper bound). A number printed without its
    key is not held. A message with the untruncated text has lost nothing. `place`: `shown`, the first prompt after the result; `end`, the last
    one of its thread; `stored`, what a later step can read back: a mapping or list as it is, a text as above.
    One sample a result with a mapping or list as its `data` (and a later prompt in its thread). No such result: no samples.

    Source: 004 §1.2: a structured result stored as `str(result)[:500]`

    >>> [(sample.numerator, sample.denominator, sample.detail.facts, sample.low) for sample in leaf_recall(example(), "shown")]
    [(1.0, 2.0, ('file: a/b.csv',), 0.0)]
    """
    if place != "stored":
        return [_sample(held.result, held.match, held.labelled) for held in evidence.prompts.leaves[place]]
    return [
        _stored(evidence, result, leaves, evidence.outcomes[result.index])
        for result in evidence.trace.results
        if (leaves := evidence.of_trace.structured.leaves.get(result.index)) and result.index in evidence.outcomes
    ]


def _stored(evidence: RunEvidence, result: ToolResult, leaves: Leaves, outcome: ResultOutcome) -> Sample:
    if outcome.stored is result.data or outcome.stored == result.text:
        return _sample(result, Match(leaves.total, leaves.total, []), 0)
    if isinstance(outcome.stored, dict | list):
        return _sample(result, match(leaves, flatten(outcome.stored)), 0)
    text = evidence.of_trace.stored_text(result, outcome)
    labels = evidence.of_trace.structured.labels
    read = match_read(leaves, [text])[0]
    return _sample(result, *with_labelled(read, leaves, by_label(read.lost, labels.labels), Counter(labels(text))))


def _sample(result: ToolResult, found: Match, labelled: int) -> Sample:
    """The sample of what was found; a lower bound is added where some of it was only seen beside its key."""
    whole = of_result(result, found.kept, found.total, [_text(leaf) for leaf in found.lost[:LISTED]])
    return replace(whole, upper_bound=True, least=float(found.kept - labelled)) if labelled else whole


def _text(leaf: Leaf) -> str:
    path, value = leaf
    return cut(f"{'.'.join(path)}: {tokens_of(value)[0]}" if path else tokens_of(value)[0], _LISTED_CHARS)


def _parts(evidence: RunEvidence, place: str, part: Callable[[HeldLeaves], tuple[int, int]]) -> list[Sample]:
    """One sample a result of which there is something to count."""
    counted = [(held.result, *part(held)) for held in evidence.prompts.leaves[place]]
    return [sample(kept, result.index, result.call_id, of=total) for result, kept, total in counted if total]


@metric("loss.rows_kept", unit="fraction", better="higher", aggregate="pooled", recall=True, place=PROMPTS)
def rows_kept(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of the rows of structured results that a prompt still holds as rows.

    0–1. Rows are the mappings inside lists, duplicates counted; one is held where what the messages that show the result give when they are
    read back has a row that shares a leaf with it, each held row serving once. Prose about a row is no row: a lower bound. One sample a
    result with rows and a later prompt in its thread. No such result: no samples.

    Source: 001 §1 Rule #1 "Showing 5 of 100 rows"

    >>> rows_kept(example(), "shown")
    []
    """
    return _parts(evidence, place, lambda held: held.rows)


@metric("loss.columns_kept", unit="fraction", better="higher", aggregate="pooled", recall=True, place=PROMPTS)
def columns_kept(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of the columns of structured results that a prompt still holds in any row.

    0–1. A column is a path of keys within the rows of a result, held where a held row has it, whatever its values. One sample a result with
    rows and a later prompt in its thread. No such result: no samples.

    Source: 001 §1 Rule #1; 000 Step 3: tables of script results

    >>> columns_kept(example(), "shown")
    []
    """
    return _parts(evidence, place, lambda held: held.columns)


@metric("loss.schema_kept", unit="fraction", better="higher", aggregate="pooled", recall=True, place=PROMPTS)
def schema_kept(evidence: RunEvidence, place: str) -> list[Sample]:
    """Share of the keys of structured results that a prompt still holds, whatever their values.

    0–1. A key is a distinct path of keys, row numbers left out; held where one that was read back is its end, or it is the end of that
    one. Keys named in prose are not held: a lower bound. One sample a result with keys and a later prompt in its thread. No such result: no
    samples.

    Source: 004 §2.1: structured records keep their keys

    >>> [(sample.step, sample.numerator, sample.denominator) for sample in schema_kept(example(), "end")]
    [(2, 0.0, 2.0)]
    """
    return _parts(evidence, place, lambda held: held.paths)
