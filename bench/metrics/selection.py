"""Selection of the script that a request is meant for: if it was found, and the tokens of the selection. Only selection routers count."""

from __future__ import annotations

from collections.abc import Iterator

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
    return [_found(decision, expected, rank, rank == 1) for decision, expected, rank in _ranks(evidence)]


@metric("routing.selection_recall_at_3", unit="fraction", better="higher", aggregate="pooled")
def selection_recall_at_3(evidence: RunEvidence) -> list[Sample]:
    """Share of requests for which the expected script was among the first three returned.

    0–1. Samples as in `routing.selection_top1`.

    Source: 003 §4.2; recall at k (Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", chapter 8)

    >>> selection_recall_at_3(example())
    []
    """
    return [
        _found(decision, expected, rank, rank is not None and rank <= RECALL_AT)
        for decision, expected, rank in _ranks(evidence)
    ]


@metric("routing.selection_mrr", unit="fraction", better="higher", aggregate="pooled")
def selection_mrr(evidence: RunEvidence) -> list[Sample]:
    """Mean reciprocal rank of the expected script among those returned: 1 where it always comes first, a half where always second.

    0–1; 0 for a request whose script was not returned. Samples as in `routing.selection_top1`.

    Source: 003 §4.2; mean reciprocal rank (Voorhees 1999, "The TREC-8 Question Answering Track Report")

    >>> selection_mrr(example())
    []
    """
    return [
        _found(decision, expected, rank, 0.0 if rank is None else 1 / rank)
        for decision, expected, rank in _ranks(evidence)
    ]


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


def _ranks(evidence: RunEvidence) -> Iterator[tuple[Decision, list[str], int | None]]:
    """Each selection with a label: the expected names, and the place (from 1) of the first of them among those returned."""
    trace = evidence.trace
    labels = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))
    for decision in _selections(evidence.run):
        if expected := labels.get(str(decision.step)):
            ranked = decision.detail["ranked"]
            yield decision, expected, next((at for at, name in enumerate(ranked, 1) if name in expected), None)


def _found(decision: Decision, expected: list[str], rank: int | None, value: float) -> Sample:
    ranked = ", ".join(decision.detail["ranked"][:RECALL_AT]) or "nothing"
    told = None if rank == 1 else Told(text=f"expected {' or '.join(expected)}, got {ranked}")
    return sample(value, decision.step, of=1, detail=told)
