"""A comparison from its measured runs: totals, gates, what moved, and the advice, in that order."""

from __future__ import annotations

from collections import Counter

import msgspec

from ..model.compared import Compared
from .advice import advise, answers_of
from .against import Against, moves
from .baseline import ScoreFile, score_file_of
from .gates import judge
from .rules import USUAL, Terms
from .totals import Runs, totals


def decided(
    measured: Compared,
    terms: Terms = USUAL,
    base: ScoreFile | None = None,
    *,
    required: bool = False,
    accepting: bool = False,
) -> Compared:
    """A comparison that holds measured runs, with all that follows from them.

    `base` is the baseline. `required`: a missing one, and a strategy that was
    replaced since, fails. `accepting`: these runs are the new baseline, so they are judged against themselves.
    """
    compared = msgspec.structs.replace(
        measured,
        answers=answers_of(measured.specs.get(name, "") for name in measured.strategies),
        totals=totals(Runs(measured.runs), measured.everyone, measured.metrics),
        specs_before={} if base is None else dict(base.specs),
    )
    judged_by = score_file_of(compared) if accepting else base
    against = None if judged_by is None else Against(compared, judged_by)
    gates = judge(compared, against, required=required)
    advice = advise(
        compared.runs,
        compared.strategies,
        specs=compared.specs,
        terms=terms,
        asks=compared.asks,
        failed_gates=Counter(gate.strategy for gate in gates if gate.outcome == "fail"),
    )
    moved = () if base is None else moves(Against(compared, base))
    return msgspec.structs.replace(compared, gates=gates, moves=moved, advice=advice)
