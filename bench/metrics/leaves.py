"""What is lost of each structured tool result: the leaves of its untruncated value that are no longer held."""

from __future__ import annotations

from collections import Counter

from ..evidence.held import held_leaves, is_structured, leaves_of, match_read
from ..evidence.presence import LISTED
from ..model import ResultOutcome, Run, Sample, ToolResult, Trace, as_text
from ..text.leaf_tokens import match_tokens, tokens_in, tokens_of
from ..text.leaves import Leaf, Leaves, Match, flatten, match
from . import metric

_LISTED_CHARS = 200  # of one lost leaf


@metric("loss.leaf_recall.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the first prompt after it still holds.

    0–1. Held is what the messages that show the result give when they are read back as JSON, a Python literal or tables in text, as far as
    that goes; beside such tables, and where nothing can be read or no message shows it, values are looked for as whole tokens, in the latter
    case in the whole prompt (`upper_bound` in the detail).
    A message with the untruncated text has lost nothing. One sample a result with a mapping or list as its `data` and a later prompt in its
    thread; its detail lists up to 20 `lost` leaves. No such result: no samples.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator, sample.detail) for sample in shown(*example())]
    [(1.0, 2.0, {'lost': ['file: a/b.csv'], 'upper_bound': True})]
    """
    return _in_prompts(trace, run, "shown")


@metric("loss.leaf_recall.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def end(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the last prompt of its thread still holds.

    0–1. Samples as in `loss.leaf_recall.shown`.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.denominator) for sample in end(*example())]
    [(2, 2.0)]
    """
    return _in_prompts(trace, run, "end")


@metric("loss.leaf_recall.stored", unit="fraction", better="higher", aggregate="pooled")
def stored(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that a later step can read back from what was stored.

    0–1. A stored mapping or list is compared as it is, a stored text as in `loss.leaf_recall.shown`, whole tokens being looked for in that text
    alone. One sample a result with a mapping or list as its `data`.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.denominator) for sample in stored(*example())]
    [(2, 2.0)]
    """
    outcomes = {outcome.step: outcome for outcome in run.results}
    return [
        _sample(result, *_match_stored(leaves_of(trace, result), result, outcomes[result.index]))
        for result in trace.results
        if is_structured(result) and result.index in outcomes
    ]


def _match_stored(leaves: Leaves, result: ToolResult, outcome: ResultOutcome) -> tuple[Match, bool]:
    value = outcome.stored
    if value is result.data or (isinstance(value, str) and value == result.text):
        return Match(leaves.total, leaves.total, []), False
    if isinstance(value, dict | list):
        return match(leaves, flatten(value)), False
    text = "" if value is None else as_text(value)
    read = match_read(leaves, [text])
    if read is not None:
        return read.match, read.beside > 0
    found = Counter(tokens_in([leaves])(text))
    return match_tokens(leaves, found.__getitem__), True


def _in_prompts(trace: Trace, run: Run, place: str) -> list[Sample]:
    return [_sample(held.result, held.match, held.upper_bound) for held in held_leaves(trace, run)[place]]


def _sample(result: ToolResult, found: Match, upper_bound: bool) -> Sample:
    detail: dict[str, object] = {}
    if found.lost:
        detail["lost"] = [_text(leaf) for leaf in found.lost[:LISTED]]
    if upper_bound:
        detail["upper_bound"] = True
    if result.truncated_at_source:
        detail["truncated_at_source"] = True
    return Sample(
        numerator=float(found.kept),
        denominator=float(found.total),
        step=result.index,
        call_id=result.call_id,
        detail=detail,
    )


def _text(leaf: Leaf) -> str:
    path, typed = leaf
    text = f"{'.'.join(path)}: {tokens_of(typed)[0]}" if path else tokens_of(typed)[0]
    return text if len(text) <= _LISTED_CHARS else text[: _LISTED_CHARS - 1] + "…"
