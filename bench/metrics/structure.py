"""What is lost of the structure of tool results: rows, columns and values told apart, keys, and labels."""

from __future__ import annotations

from collections.abc import Callable

from ..evidence.held import HeldLeaves, held_leaves
from ..model import Run, Sample, Trace
from . import metric

Part = Callable[[HeldLeaves], tuple[int, int]]


@metric("loss.rows_kept.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def rows_kept_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the rows of structured results that the first prompt after it still holds as rows.

    0–1. Rows are the mappings inside lists, duplicates counted; one is held where what the messages that show the result give when they are
    read back (as in `loss.leaf_recall.shown`) has a row that shares a leaf with it, each held row serving once. Prose about a row is no
    row: a lower bound. One sample a result with rows and a later prompt in its thread. No such result: no samples.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in rows_kept_shown(*example())]
    []
    """
    return _samples(trace, run, "shown", lambda held: held.rows)


@metric("loss.rows_kept.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def rows_kept_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the rows of structured results that the last prompt of its thread still holds as rows.

    0–1. Samples as in `loss.rows_kept.shown`.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in rows_kept_end(*example())]
    []
    """
    return _samples(trace, run, "end", lambda held: held.rows)


@metric("loss.columns_kept.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def columns_kept_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the columns of structured results that the first prompt after it still holds in any row.

    0–1. A column is a path of keys within the rows of a result, held where a held row has it, whatever its values. One sample a result with
    rows and a later prompt in its thread. No such result: no samples.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in columns_kept_shown(*example())]
    []
    """
    return _samples(trace, run, "shown", lambda held: held.columns)


@metric("loss.columns_kept.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def columns_kept_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the columns of structured results that the last prompt of its thread still holds in any row.

    0–1. Samples as in `loss.columns_kept.shown`.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in columns_kept_end(*example())]
    []
    """
    return _samples(trace, run, "end", lambda held: held.columns)


@metric("loss.values_changed.shown", unit="fraction", better="lower", aggregate="pooled", of_prompts=True)
def values_changed_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the cells of held rows that have another value than in the untruncated result, in the first prompt after it.

    0–1. Compared are the cells of rows that are held (as in `loss.rows_kept.shown`) at paths that the row held has as well: what is missing
    counts as rows or columns lost, not here. Type-strict: `1` that became `1.0` or `"1"` is changed. One sample a result with such cells.
    Nothing held: no samples.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in values_changed_shown(*example())]
    []
    """
    return _samples(trace, run, "shown", lambda held: (held.match.cells_changed, held.match.cells_compared))


@metric("loss.values_changed.end", unit="fraction", better="lower", aggregate="pooled", of_prompts=True)
def values_changed_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the cells of held rows that have another value than in the untruncated result, in the last prompt of its thread.

    0–1. Samples as in `loss.values_changed.shown`.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in values_changed_end(*example())]
    []
    """
    return _samples(trace, run, "end", lambda held: (held.match.cells_changed, held.match.cells_compared))


@metric("loss.schema_kept.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def schema_kept_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of the keys of structured results that the first prompt after it still holds, whatever their values.

    0–1. A key is a distinct path of keys, row numbers left out; held where one that was read back is its end, or it is the end of that
    one. Keys named in prose are not held: a lower bound. One sample a result with keys and a later prompt in its thread. No such result: no
    samples.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in schema_kept_shown(*example())]
    [(2, 0.0, 2.0)]
    """
    return _samples(trace, run, "shown", lambda held: held.paths)


@metric("loss.schema_kept.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def schema_kept_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of the keys of structured results that the last prompt of its thread still holds, whatever their values.

    0–1. Samples as in `loss.schema_kept.shown`.

    Source: issue 4 "Structure"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in schema_kept_end(*example())]
    [(2, 0.0, 2.0)]
    """
    return _samples(trace, run, "end", lambda held: held.paths)


@metric("loss.labelled_recall.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def labelled_recall_shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the first prompt after it holds together with their key.

    0–1. Where the messages that show the result can be read back, as `loss.leaf_recall.shown`; where values can only be looked for as whole
    tokens, the key must stand on the same line. So numbers printed without their labels count there and not here; a value written under its
    key on a line of its own is missed. One sample a structured result with a later prompt in its thread. No such result: no samples.

    Source: issue 4 "How it will be judged"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in labelled_recall_shown(*example())]
    [(2, 1.0, 2.0)]
    """
    return _samples(trace, run, "shown", lambda held: (held.labelled, held.match.total))


@metric("loss.labelled_recall.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def labelled_recall_end(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the last prompt of its thread holds together with their key.

    0–1. Samples as in `loss.labelled_recall.shown`.

    Source: issue 4 "How it will be judged"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.numerator, sample.denominator) for sample in labelled_recall_end(*example())]
    [(2, 1.0, 2.0)]
    """
    return _samples(trace, run, "end", lambda held: (held.labelled, held.match.total))


def _samples(trace: Trace, run: Run, place: str, part: Part) -> list[Sample]:
    """One sample a result of which there is something to count."""
    samples = []
    for held in held_leaves(trace, run)[place]:
        kept, total = part(held)
        if total:
            step, call_id = held.result.index, held.result.call_id
            samples.append(Sample(numerator=float(kept), denominator=float(total), step=step, call_id=call_id))
    return samples
