"""Selection of the right script for a request. Only selection routers count."""

from __future__ import annotations

import math

from ..evidence.of_replay import ReplayEvidence
from ..model.scores import Number
from ..text.scripts import expected_scripts
from . import mean, shared


@shared("routing.selection_{}", places=("top1", "recall_at_3"))
def selection(evidence: ReplayEvidence, place: str) -> Number:
    """Share of requests for which the expected script came first, or was among the first three
    returned.

    0–1. The expected script is in the trace's labels (`labels.scripts`: step of the request → name,
    or a list of acceptable names; ids of the manifest work too). No selection router, or no labels:
    nothing to measure.

    Source: 003 §4.2; Berkeley Function Calling Leaderboard, category "multiple"; recall at k
    (Manning, Raghavan and Schütze 2008, "Introduction to Information Retrieval", chapter 8)
    """
    most = 1 if place == "top1" else 3
    return mean([rank <= most for rank in _ranks(evidence)])


def _ranks(evidence: ReplayEvidence) -> list[float]:
    """The rank, from 1, of the first expected script in each selection with a label; infinity where
    no expected script was returned."""
    decisions = [item for item in evidence.replay.decisions if item.at == "user_turn"]
    if not decisions:
        return []
    trace = evidence.trace
    labels = expected_scripts(trace.labels.get("scripts"), trace.meta.get("manifest"))
    places = []
    for decision in decisions:
        ranked, expected = decision.detail.get("ranked"), labels.get(str(decision.step))
        if isinstance(ranked, list) and expected:
            ranks = (at for at, name in enumerate(ranked, 1) if name in expected)
            places.append(next(ranks, math.inf))
    return places
