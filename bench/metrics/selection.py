"""Selection of the script that a request is meant for: if it was found, and the tokens of the selection. Only selection routers count."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ..evidence.of_run import RunEvidence
from ..model import Decision, Run, Sample, Told, compact_json
from ..text.scripts import expected_scripts, scripts_of
from . import example as example, metric, sample

RECALL_AT = 3  # the number of returned scripts that `routing.selection_recall_at_3` looks at


@metric("routing.selection_top1", unit="fraction", better="higher", aggregate="pooled")
def selection_top1(evidence: RunEvidence) -> list[Sample]:
    """Share of requests for which the expected script came first.

    0–1. Expected is what the trace's labels say (`labels.scripts`: step of the request → name, or a list of names of which any will do; a
    manifest's id serves too). One sample a selection with a label; its detail has `expected` and `ranked`. No selection router, or no labels: no
    samples.

    Source: 003 §4.2; Berkeley Function Calling Leaderboard, category "multiple"

    >>> selection_top1(example())
    []
    """
    return _ranked(evidence, lambda rank: rank == 1)


@metric("routing.selection_recall_at_3", unit="fraction", better="higher", aggregate="pooled")
def selection_recall_at_3(evidence: RunEvidence) -> list[Sample]:
    """Share of requests for which the expected script was among the first three returned.

    0–1. Samples as in `routing.selection_top1`.

    Source: 003 §4.2; recall at k (Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", chapter 8)

    >>> selection_recall_at_3(example())
    []
    """
    return _ranked(evidence, lambda rank: rank <= RECALL_AT)


@metric("routing.selection_mrr", unit="fraction", better="higher", aggregate="pooled")
def selection_mrr(evidence: RunEvidence) -> list[Sample]:
    """Mean reciprocal rank of the expected script among those returned: 1 where it always comes first, a half where always second.

    0–1; 0 for a request whose script was not returned. Samples as in `routing.selection_top1`.

    Source: 003 §4.2; mean reciprocal rank (Voorhees 1999, "The TREC-8 Question Answering Track Report")

    >>> selection_mrr(example())
    []
    """
    return _ranked(evidence, lambda rank: 1 / rank)


@metric("routing.selection_tokens", unit="tokens", better="lower", aggregate="sum")
def selection_tokens(evidence: RunEvidence) -> list[Sample]:
    """Tokens that the selections put into prompts: the manifest entries of the scripts returned, as compact JSON.

    One sample a user turn that a selection router decided on, 0 where nothing was returned. No such router: no samples.

    Source: 003 §1 "Token Efficiency"

    >>> selection_tokens(example())
    []
    """
    manifest = scripts_of(evidence.trace.meta.get("manifest"))
    texts = {script.name: compact_json(script.entry) for script in manifest}
    count = evidence.count.text
    return [
        sample(sum(count(texts[name]) for name in item.detail["ranked"] if name in texts), item.step)
        for item in _selections(evidence.run)
    ]


def _selections(run: Run) -> Iterator[Decision]:
    return (item for item in run.decisions if item.at == "user_turn" and isinstance(item.detail.get("ranked"), list))


def _ranked(evidence: RunEvidence, score: Callable[[float], float]) -> list[Sample]:
    """Score each selection with a label by the place (from 1) of the first expected name among those returned; infinity for none."""
    trace = evidence.trace
    labels = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))
    samples = []
    for decision in _selections(evidence.run):
        if expected := labels.get(str(decision.step)):
            ranked = decision.detail["ranked"]
            rank = next((at for at, name in enumerate(ranked, 1) if name in expected), math.inf)
            told = f"expected {' or '.join(expected)}, got {', '.join(ranked[:RECALL_AT]) or 'nothing'}"
            detail = None if rank == 1 else Told(text=told)
            samples.append(sample(score(rank), decision.step, of=1, detail=detail))
    return samples
