"""Gates in words: the condition, the values before and now, the ones that failed."""

from __future__ import annotations

from typing import Any, Literal

from ..model.compared import GateResult
from .numbers import count, difference, of, quantity, sentence_case
from .reading import Reading

_SETTINGS = {
    "min": "at least",
    "max": "at most",
    "max_drop": "a drop of at most",
    "max_increase": "an increase of at most",
}
_SAME = {"max_drop": "no less than before", "max_increase": "no more than before"}


def name_of(reading: Reading, metric: str) -> str:
    """The short name of a metric, to begin a line with."""
    return sentence_case(reading.label(metric))


def failed_sentence(reading: Reading) -> tuple[str, str]:
    """The number of gates that failed, and the first of them in words."""
    first = reading.failed[0]
    metric, unit = first.rule.metric, reading.unit(first.rule.metric)
    head = f"{count(len(reading.failed))} of {of(len(reading.decided), 'gate')} failed."
    if first.value is None:
        return (
            head,
            f"{name_of(reading, metric)} of {first.strategy}: {first.reason or 'not measured'}.",
        )
    moved = f"is {quantity(first.value, unit)}"
    if first.before is not None and first.before != first.value:
        verb = "rose" if first.value > first.before else "fell"
        moved = f"{verb} from {quantity(first.before, unit)} to {quantity(first.value, unit)}"
    basis = f" ({first.basis})" if first.basis else ""
    return (
        head,
        f"{first.strategy}: {reading.label(metric)} {moved}{basis}; allowed: {condition(first, unit)}.",
    )


def condition(gate: GateResult, unit: str) -> str:
    """The condition of a gate in words.

    >>> from bench.model import GateRule
    >>> rule = GateRule(metric="needed.recall", settings={"min": 0.9})
    >>> condition(GateResult(rule=rule, strategy="a", outcome="pass", limit=0.9), "share")
    'at least 90%'
    """
    words = [_setting(name, value, unit) for name, value in gate.rule.settings.items()]
    limit = "" if gate.limit is None else f"limit {quantity(gate.limit, unit)}"
    return " and ".join(filter(None, words)) or limit or gate.rule.gate


def _setting(name: str, value: Any, unit: str) -> str:
    """One setting of a gate in words; "" for what is no limit."""
    if name not in _SETTINGS or isinstance(value, bool):
        return ""
    if name in _SAME and value == 0:
        return _SAME[name]
    if isinstance(value, str):
        return f"{_SETTINGS[name]} {value}"
    if name in _SAME and unit == "share":
        return f"{_SETTINGS[name]} {difference(0.0, float(value), unit).lstrip('+')}"
    return f"{_SETTINGS[name]} {quantity(float(value), unit)}"


def bad_side(reading: Reading, gate: GateResult) -> Literal["above", "below"]:
    """The side of a limit that a gate forbids."""
    settings = gate.rule.settings
    if "min" in settings or "max_drop" in settings:
        return "below"
    higher = reading.info(gate.rule.metric).better == "higher"
    return "below" if higher and not {"max", "max_increase"} & settings.keys() else "above"
