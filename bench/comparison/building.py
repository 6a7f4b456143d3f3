"""From measured runs to a complete comparison: totals, gates, advice and moves."""

from __future__ import annotations

from collections import Counter

import msgspec

from ..model.compared import Compared
from .advice import advise, answers_of
from .against import Against, moves
from .baseline import ScoreFile, score_file_of
from .gates import judge
from .rules import Rates
from .totals import Runs, totals


def with_decision(
    measured: Compared,
    base: ScoreFile | None = None,
    *,
    rates: Rates | None = None,
    portfolio: bool = False,
    required: bool = False,
    accepting: bool = False,
) -> Compared:
    """A comparison of measured runs, completed with totals, gates, advice and moves.

    `base` is the baseline. If `required`, a missing baseline fails, and so does a strategy that was
    replaced since. If `accepting`, these runs are the new baseline, so they are judged against
    themselves.
    """
    compared = msgspec.structs.replace(
        measured,
        answers=answers_of(measured.specs.get(name, "") for name in measured.strategies),
        totals=totals(Runs(measured.runs), measured.everyone, measured.metrics),
        specs_before={} if base is None else dict(base.specs),
    )
    judged_by = score_file_of(compared) if accepting else base
    gates = judge(Against(compared, judged_by), required=required)
    advice = advise(
        compared.runs,
        compared.strategies,
        specs=compared.specs,
        rates=rates,
        portfolio=portfolio,
        asks=compared.asks,
        failed_gates=Counter(gate.strategy for gate in gates if gate.outcome == "fail"),
    )
    moved = moves(Against(compared, base))
    return msgspec.structs.replace(compared, gates=gates, moves=moved, advice=advice)
