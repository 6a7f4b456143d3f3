"""What is lost of each structured tool result: the leaves of its untruncated value that are no longer held."""

from __future__ import annotations

from collections import Counter

from ..alike import alike
from ..leaf_tokens import TokensOf, match_tokens, tokens_of
from ..leaves import Leaf, Leaves, Match, flatten, match, read_leaves, together
from ..model import ResultOutcome, Run, Sample, ToolResult, Trace, as_text
from ..presence import LISTED, Shown, sightings
from . import metric, once

_LISTED_CHARS = 200  # of one lost leaf


@metric("loss.leaf_recall.shown", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def shown(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the first prompt after it still holds.

    0–1. Held is what the messages that show the result give when they are parsed as JSON or a Python literal, as far as that goes; where
    nothing can be parsed, or no message shows it, values are looked for as whole tokens in the whole prompt (`upper_bound` in the detail).
    A message with the untruncated text has lost nothing. One sample a result with a mapping or list as its `data` and a later prompt in its
    thread; its detail lists up to 20 `lost` leaves. No such result: no samples.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.numerator, sample.denominator, sample.detail) for sample in shown(*example())]
    [(1.0, 2.0, {'lost': ['file: a/b.csv'], 'upper_bound': True})]
    """
    return _in_prompts(trace, run)["shown"]


@metric("loss.leaf_recall.end", unit="fraction", better="higher", aggregate="pooled", of_prompts=True)
def end(trace: Trace, run: Run) -> list[Sample]:
    """Share of a structured result's leaves that the last prompt of its thread still holds.

    0–1. Samples as in `loss.leaf_recall.shown`.

    Source: design §4 "loss"

    >>> from bench.metrics import example
    >>> [(sample.step, sample.denominator) for sample in end(*example())]
    [(2, 2.0)]
    """
    return _in_prompts(trace, run)["end"]


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
        _sample(result, *_match_stored(_leaves_of(trace, result), result, outcomes[result.index]))
        for result in trace.results
        if _is_structured(result) and result.index in outcomes
    ]


def _is_structured(result: ToolResult) -> bool:
    return isinstance(result.data, dict | list)


def _leaves_of(trace: Trace, result: ToolResult) -> Leaves:
    leaves: dict[int, Leaves] = once(trace, "_leaves", dict)
    if result.index not in leaves:
        leaves[result.index] = flatten(result.data)
    return leaves[result.index]


def _tokens_of(trace: Trace) -> TokensOf:
    """What is looked for where nothing can be parsed: every value of every structured result of the trace."""

    def tokens() -> TokensOf:
        structured = [_leaves_of(trace, result) for result in trace.results if _is_structured(result)]
        return TokensOf(token for leaves in structured for _, typed in leaves for token in tokens_of(typed))

    return once(trace, "_leaf_tokens", tokens)


def _match_stored(leaves: Leaves, result: ToolResult, outcome: ResultOutcome) -> tuple[Match, bool]:
    value = outcome.stored
    if value is result.data or (isinstance(value, str) and value == result.text):
        return Match(leaves.total, leaves.total, []), False
    held = flatten(value) if isinstance(value, dict | list) else read_leaves(as_text(value))
    if held is not None:
        return match(leaves, held), False
    text = "" if value is None else as_text(value)
    found = Counter(TokensOf(token for _, typed in leaves for token in tokens_of(typed))(text))
    return match_tokens(leaves, found.__getitem__), True


def _in_prompts(trace: Trace, run: Run) -> dict[str, list[Sample]]:
    return once(alike(trace, run), "_leaves_in_prompts", lambda: _find(trace, run))


def _find(trace: Trace, run: Run) -> dict[str, list[Sample]]:
    samples: dict[str, list[Sample]] = {"shown": [], "end": []}
    if not any(map(_is_structured, trace.results)):
        return samples
    for place, subject, prompt in sightings(trace, run, _tokens_of(trace)):
        if isinstance(subject, ToolResult) and _is_structured(subject):
            samples[place].append(_sample(subject, *_match_shown(trace, subject, prompt)))
    return {place: sorted(found, key=lambda sample: sample.step or 0) for place, found in samples.items()}


def _match_shown(trace: Trace, result: ToolResult, prompt: Shown) -> tuple[Match, bool]:
    leaves = _leaves_of(trace, result)
    if prompt.whole(result):
        return Match(leaves.total, leaves.total, []), False
    known: dict[tuple[int, tuple[str, ...]], Match | None] = once(trace, "_leaf_matches", dict)
    key = result.index, tuple(prompt.texts_of(result.index))
    if key not in known:
        held = [parsed for parsed in map(read_leaves, key[1]) if parsed is not None]
        known[key] = match(leaves, together(held)) if held else None
    found = known[key]
    if found is not None:
        return found, False
    return match_tokens(leaves, prompt.items().__getitem__), True


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
