"""The whole Case of a trace from the evidence of its runs: everything that gates and reports are given of it."""

from __future__ import annotations

import bz2
import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import eq
from typing import Any

from ..model import CallShown, Case, Message, MetricInfo, RecordingShown, Run
from ..text.prompts_shown import happened
from ..text.wording import visible
from .losses import Scored, causes, damages, losses_of
from .of_run import RunEvidence
from .of_trace import TraceEvidence
from .shown import most_happened
from .side_by_side import worst_results
from .spoken import message_texts


def case_of(
    of_trace: TraceEvidence,
    recording: RecordingShown,
    evidence: Mapping[str, RunEvidence],
    samples: Mapping[str, Scored],
    calls: Mapping[str, Sequence[CallShown]],
    *,
    shown: frozenset[str] = frozenset(),
    losses_for: Sequence[MetricInfo] = (),
    results_shown: int = 8,
    prompts_for: Sequence[str] = (),
) -> Case:
    """A case without its rows and runs. `evidence`, `samples` and `calls` (every model call) are by strategy.

    `shown` are the strategies that reports look at closely, `losses_for` the metrics whose losses are kept, `results_shown` how many results are
    shown beside what was kept of them, `prompts_for` the strategies whose prompts can be opened.
    """
    results = of_trace.results
    looked_at = {name: scored for name, scored in samples.items() if name in shown}
    damaged = damages(looked_at, results)
    losses = (losses_of(results, name, info, scored) for name, scored in samples.items() for info in losses_for)
    return Case(
        id=of_trace.trace.id,
        recording=recording,
        losses=tuple(item for item in losses if item is not None),
        causes=causes(looked_at, results),
        results=worst_results(damaged, evidence, results_shown),
        results_damaged=len(damaged),
        results_needed=sum(any(damage.missed for damage in items) for items in damaged.values()),
        prompts=prompt_data({name: (evidence[name].run, calls[name]) for name in prompts_for if name in evidence}),
    )


MOST_CALLS = 120
"""The most model calls of a case that are kept; of a longer run those where most happened, evenly spread."""

MESSAGE_CHARS = 6_000  # the characters of one message that a page shows; the rest is counted

MOST_CHARS = 300_000
"""The characters of all messages of a case together; where they are more, long messages are cut shorter."""

LEAST_CHARS = 60  # the fewest characters kept of a message, so that it can be told from others

MAX_BYTES = 500_000
"""The largest size of the compressed prompts of one case; where even cut messages are more, they are left out."""


def prompt_data(runs: Mapping[str, tuple[Run, Sequence[CallShown]]]) -> bytes:
    """The prompts of some runs, each with its calls, as compressed JSON: each distinct message once, each prompt as edits.

    No prompts, or far too many: b"".

    `messages`: [role, kind, step, text, characters left out]; `strategies`: by name, prompts as [step, thread, tokens, edits, what happened,
    refused], an edit being [at, removed, [numbers of messages]] against the prompt before in its thread, `refused` the steps of messages that a
    provider would refuse; `calls`: how many are here, of how many.
    """
    told = {name: (run, calls) for name, (run, calls) in runs.items() if run.prompts}
    if not told:
        return b""
    longest = max((found for _, found in told.values()), key=len)
    kept = most_happened([found for _, found in told.values()], len(longest), MOST_CALLS)
    chosen = {longest[at].step for at in kept}  # the same for every strategy
    keys: dict[str, Message] = {}
    strategies = [[visible(name), _prompts(run, found, chosen, keys)] for name, (run, found) in told.items()]
    texts = ["\n".join(message_texts(message)) for message in keys.values()]
    chars = _chars([len(text) for text in texts])
    data = {
        "messages": [_message(*pair, chars) for pair in zip(keys.values(), texts, strict=True)],
        "strategies": strategies,
        "calls": [len(chosen), len(longest)],
    }
    packed = bz2.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return packed if len(packed) <= MAX_BYTES else b""


def _prompts(run: Run, found: Sequence[CallShown], chosen: set[int], keys: dict[str, Message]) -> list[list[Any]]:
    """The chosen prompts of a run as edits; the messages that they hold go to `keys`, where their place is their number."""
    numbers = {key: number for number, key in enumerate(keys)}
    before: dict[str, list[str]] = {}
    prompts: list[list[Any]] = []
    for (prompt, held), call in zip(run.walk(), found, strict=True):
        if prompt.step not in chosen:
            continue
        for key in held:
            if key not in numbers:
                numbers[key] = len(keys)
                keys[key] = run.messages[key]
        now = list(held)
        edits = _edits(before.get(prompt.thread, []), now, numbers)
        before[prompt.thread] = now
        told = [visible(happened(call)), list(call.invalid_at)]
        prompts.append([prompt.step, visible(prompt.thread), prompt.tokens, edits, *told])
    return prompts


def _edits(before: list[str], now: list[str], numbers: Mapping[str, int]) -> list[list[Any]]:
    """The edit that turns one prompt into another, between the beginning and the end that both have; none for the same."""
    start = len([*takewhile(bool, map(eq, before, now))])
    was, new = before[start:], now[start:]
    end = len([*takewhile(bool, map(eq, reversed(was), reversed(new)))])
    added, removed = new[: len(new) - end], len(was) - end
    return [[start, removed, [numbers[key] for key in added]]] if added or removed else []


def _chars(lengths: Sequence[int]) -> int:
    """The characters kept of a message, so that all messages together are not too many.

    >>> _chars([MESSAGE_CHARS] * (MOST_CHARS // MESSAGE_CHARS)), _chars([MESSAGE_CHARS] * (MOST_CHARS // MESSAGE_CHARS + 1)), _chars([99] * 9999)
    (6000, 4800, 60)
    """
    chars = MESSAGE_CHARS
    while chars > LEAST_CHARS and sum(min(length, chars) for length in lengths) > MOST_CHARS:
        chars = max(LEAST_CHARS, chars * 4 // 5)
    return chars


def _message(message: Message, text: str, chars: int) -> list[Any]:
    return [visible(message.role), message.kind, message.step, visible(text[:chars]), max(0, len(text) - chars)]
