"""Gates in words: their conditions, their values before and now, the failed ones.

Values and limits are stated as a gate judges them and its file has them: totals are not per run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..comparison.gate_rules import REGRESSION
from ..model.advice import TODAY
from ..model.compared import Compared, GateResult, Move
from .numbers import count, counted, difference, quantity, sentence_case
from .reading import Reading

_SETTINGS = {
    "min": ("at least", ""),
    "max": ("at most", ""),
    "max_drop": ("a drop of at most", "no less than before"),
    "max_increase": ("an increase of at most", "no more than before"),
}
"""The words for the limit of a gate, and those for a limit of 0 that is relative."""


def name_of(reading: Reading, metric: str) -> str:
    """The short name of a metric, to begin a line with; the baseline's where a gate has no
    metric."""
    return sentence_case(reading.label(metric) or "baseline")


def failed_sentence(reading: Reading) -> tuple[str, str]:
    """How many gates did not pass; the first of them, and what its strategy saves in return."""
    first = reading.failed_gates[0]
    words = gate_in_words(reading, first)
    head = not_passed(reading.failed_gates, len(reading.judged_gates))
    move, saved = reading.move(first.strategy, reading.price_metric), ""
    if move is not None and move.better and first.rule.metric != move.metric:
        saved = f" In return, {cost_in_words(reading, move)}."
    return head, f"{words if first.strategy else sentence_case(words)}.{saved}"


def cost_in_words(reading: Reading, move: Move) -> str:
    """The cost of a run now, in the baseline and today."""
    metric, unit = move.metric, reading.label(move.metric).removeprefix("price ")  # "with cache"
    values = move.after, move.before
    now, was = (reading.stated(value, metric, reading.shared_runs) for value in values)
    is_same = not reading.compared.new_runs  # else the baseline has not all of today's runs
    today = reading.stated(reading.value(TODAY, metric), metric) if is_same else ""
    moved = f" ({difference(move.before, move.after, reading.unit(metric))})"
    rest = f" and today{moved}" if today == was else f"{moved}{today and f', and {today} today'}"
    return f"a run costs {now} {unit} instead of {was} in the baseline{rest}"


def not_passed(gates: Sequence[GateResult], many: int) -> str:
    """A sentence with the number of gates, out of `many`, that failed or could not decide.

    >>> from bench.model import GateRule
    >>> rule = GateRule(metric="cost.usd")
    >>> failed, undecided = (GateResult(rule=rule, strategy="a", outcome=it) for it in ("fail", "undecided"))
    >>> not_passed([failed, undecided], 9), not_passed([undecided], 1)
    ('Do not merge: 1 of 9 gates failed, 1 could not decide.', '1 of 1 gate could not decide.')
    """
    failed = sum(gate.outcome == "fail" for gate in gates)
    undecided = len(gates) - failed
    if not failed:
        return f"{count(undecided)} of {counted(many, 'gate')} could not decide."
    more = f", {count(undecided)} could not decide" if undecided else ""
    return f"Do not merge: {count(failed)} of {counted(many, 'gate')} failed{more}."


def gates_in_words(compared: Compared, *outcomes: str) -> list[str]:
    """The gates of a comparison with one of some outcomes, in words."""
    reading = Reading(compared)
    return [
        f"{gate.outcome}: {gate_in_words(reading, gate)}"
        for outcome in outcomes
        for gate in compared.gates
        if gate.outcome == outcome
    ]


def not_accepted(compared: Compared) -> str:
    """What nobody has accepted, and that this can be an error, as a sentence; "" for nothing."""
    skipped = (gate.reason for gate in compared.gates if gate.outcome == "skipped")
    reasons = "; ".join(dict.fromkeys(skipped))
    return f"Not accepted yet: {reasons} (an error with --require-baseline)." if reasons else ""


def gate_in_words(reading: Reading, gate: GateResult) -> str:
    """The outcome of a gate as a clause: its values, their basis, the condition, the worst run."""
    metric = gate.rule.metric
    if not metric:
        return gate.reason
    about = f"`{gate.strategy}`: {reading.label(metric)}"
    if of_baseline(reading, gate):
        about += " (gate of the baseline)"
    if gate.value is None:
        return f"{about} could not be judged: {gate.reason or 'not measured'}"
    before, now = (quantity(value, reading.unit(metric)) for value in (gate.before, gate.value))
    moved = f": {now}"
    if gate.before is not None and gate.before != gate.value:
        moved = f" {'rose' if gate.value > gate.before else 'fell'} from {before} in the baseline to {now}"
    basis = f" ({re.sub(r'tasks$', reading.sample, gate.basis)})" if gate.basis else ""
    rest = (f"{about}{moved}{basis}", f"the gate allows {condition(reading, gate)}")
    return "; ".join(filter(None, (*rest, worst_run(reading, gate), gate.reason)))


def of_baseline(reading: Reading, gate: GateResult) -> bool:
    """True for a gate that the baseline has and the scenario has no more."""
    return bool(gate.rule.metric) and gate.rule not in reading.compared.rules


def worst_run(reading: Reading, gate: GateResult) -> str:
    """The run that did most to fail a gate, with its value, and how many are worse than in the
    baseline; "" for none. For a gate on a change that is the run that changed most."""
    if not gate.run:
        return ""
    unit, move = reading.unit(gate.rule.metric), reading.move(gate.strategy, gate.rule.metric)
    shared = counted(reading.shared_runs, "run")
    worse = f"worse in {count(move.regressed_runs)} of {shared}; " if move else ""
    kind, is_change = "change", {*REGRESSION} & gate.rule.settings.keys()
    values = {
        it.run: f"{quantity(it.before, unit)} → {quantity(it.after, unit)}"
        for it in (move.runs if move and is_change else ())
    }
    if gate.run not in values:
        kind = "run"
        found = ((it, reading.at(it, gate.strategy, gate.rule.metric)) for it in reading.runs)
        values = {run.id: quantity(it, unit) for run, it in found if it is not None}
    there = values.get(gate.run, "")
    equal = sum(it == there for it in values.values()) - 1
    name = reading.name(gate.run) + (f" and {counted(equal, 'other')}" if equal > 0 else "")
    return f"{worse}worst {kind}: {name}{there and f' ({there})'}"


def condition(reading: Reading, gate: GateResult) -> str:
    """The condition of a gate in words; "" for the baseline's, which has none."""
    unit = reading.unit(gate.rule.metric)
    for name, value in gate.rule.settings.items():
        words, unchanged = _SETTINGS[name]
        if unchanged and value == 0:
            return unchanged
        if isinstance(value, str):
            return f"{words} {value}"
        if unchanged and unit == "share":
            return f"{words} {difference(0.0, float(value), unit).lstrip('+')}"
        return f"{words} {quantity(float(value), unit)}"
    return ""
