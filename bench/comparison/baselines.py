"""Baselines: accepted values, from rows and to files, the cases shared with them, and the reasons why they no longer compare."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..files.limits import read_result
from ..model import SCHEMA_VERSION, Baseline, Comparison, GateRule, MetricInfo, Row, Signature, grouped
from ..model.errors import ResultsError, one_line
from ..text.wording import listed
from .rows import NOTHING

_Kept = TypeVar("_Kept")

COUNTED = {"tokens", "usd", "prompts"}  # units of values that depend on how tokens are counted


@dataclass(frozen=True)
class SharedCases:
    """The cases of a comparison beside those that have accepted values, each list sorted.

    `shared` are judged. `new` ones were not known then, `removed` ones were and have no accepted value (what could not be measured has one that says
    so), `lost` ones were not replayed, `renamed` ones are the same recording under another name (before, now), `other` ones have the name and not
    the recording or the questions of then, each with what differs.
    """

    shared: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    other: tuple[tuple[str, str], ...] = ()

    @property
    def all_shared(self) -> bool:
        """True if both sides have the same cases."""
        return not (self.new or self.removed or self.lost or self.renamed or self.other)


def shared_cases(comparison: Comparison, accepted: Iterable[str]) -> SharedCases:
    """The cases of a comparison beside those of its baseline that have accepted values (`""`, over all cases, is none)."""
    ours, known = set(comparison.case_ids), set(accepted) - {""}
    now = comparison.signature
    then = comparison.against.baseline.signature if comparison.against.baseline is not None else now
    other = [(case, what) for case in sorted(ours & known) if (what := then.case_differs(now, case))]
    lost, unknown = sorted(known - ours), sorted(ours - known)
    removed = [case for case in unknown if comparison.against.baseline is not None and case in then.traces]
    new = [case for case in unknown if case not in removed]
    renamed = []
    for before in lost:
        same = next((case for case in new if then.traces.get(before) == now.traces.get(case)), None)
        if same is not None and before in then.traces:
            renamed.append((before, same))
    return SharedCases(
        shared=tuple(sorted((ours & known) - {case for case, _ in other})),
        new=tuple(case for case in new if case not in {after for _, after in renamed}),
        removed=tuple(removed),
        lost=tuple(case for case in lost if case not in {before for before, _ in renamed}),
        renamed=tuple(renamed),
        other=tuple(other),
    )


def stale_metrics(now: Signature, then: Baseline, infos: Mapping[str, MetricInfo]) -> dict[str, str]:
    """Baseline metrics that are no longer comparable, mapped to the reason. `{}` where all compare.

    That is the pattern of facts and the version of the metric's family; for tokens and dollars also the encodings, how counts are fitted and
    the model given to traces that name none; for dollars the tables of prices. A new release alone, or another seed, changes no value.
    """
    accepted = {metric for by_metric in then.rows.values() for metric in by_metric}
    found = {metric: _why_stale(now, then.signature, infos[metric]) for metric in sorted(accepted) if metric in infos}
    return {metric: why for metric, why in found.items() if why is not None}


def stale_reasons(stale: Mapping[str, str]) -> list[str]:
    """The reasons of `stale_metrics`, each in a clause that names its metrics.

    >>> stale_reasons({"a": "the pattern changed", "b": "prices changed", "c": "the pattern changed"})
    ['a and c: the pattern changed', 'b: prices changed']
    """
    by_reason = grouped((why, metric) for metric, why in stale.items())
    return [f"{listed(metrics)}: {why}" for why, metrics in by_reason.items()]


def _why_stale(now: Signature, before: Signature, info: MetricInfo) -> str | None:
    version = before.metrics.get(info.family, 1)  # what was accepted before families had versions
    settings = [
        ("the pattern of facts", now.facts_version, before.facts_version),
        (f"how {info.family or info.name} is counted", f"version {info.version}", f"version {version}"),
    ]
    if info.unit in COUNTED:
        settings += [
            ("the token encoding", *_encodings(now, before)),
            ("how counts of tokens are fitted", now.calibration, before.calibration),
            ("the model of traces that name none", now.model, before.model),
        ]
    if info.unit == "usd":
        settings.append(("the table of prices", now.prices_date, before.prices_date))
    changed = ((what, then or "not said", ours or "not said") for what, ours, then in settings if ours != then)
    return next((f"{what} changed ({then} then, {ours} now)" for what, then, ours in changed), None)


def _encodings(now: Signature, then: Signature) -> tuple[str, str]:
    """The encodings of now and then, those of a case that was counted otherwise; the same twice where none was."""
    both = now.case_encodings.keys() & then.case_encodings.keys()
    for case in sorted(both):
        ours, theirs = now.case_encodings[case], then.case_encodings[case]
        if ours != theirs:
            return f"{', '.join(ours)} for {case}", ", ".join(theirs)
    if not both and now.traces.keys() == then.traces.keys() and now.encodings != then.encodings:
        return ", ".join(now.encodings), ", ".join(then.encodings)
    return "", ""


_Table = dict[str, dict[str, dict[str, _Kept]]]  # values by strategy, metric and case (`""`: over all cases)


def _flat(table: _Table[_Kept]) -> dict[tuple[str, str, str], _Kept]:
    return {
        (strategy, metric, case): value
        for strategy, by_metric in table.items()
        for metric, by_case in by_metric.items()
        for case, value in by_case.items()
    }


def _nested(flat: Mapping[tuple[str, str, str], _Kept]) -> _Table[_Kept]:
    found: _Table[_Kept] = {}
    for (strategy, metric, case), value in flat.items():
        found.setdefault(strategy, {}).setdefault(metric, {})[case] = value
    return found


def accepted_from(
    rows: Iterable[Row], signature: Signature, infos: Mapping[str, MetricInfo], names: Mapping[str, str]
) -> Baseline:
    """Rows as accepted ones; `names` maps the strategies to take to what each is called there."""
    found = {}
    for row in rows:
        if row.strategy in names:
            key = names[row.strategy], row.metric, row.case or ""
            pooled = row.metric in infos and infos[row.metric].aggregate == "pooled"
            weighed = row.case and row.value is not None and pooled
            ends = None if row.exact or row.least is None or row.most is None else (row.least, row.most)
            found[key] = _accepted(*key, row.value, row.n if weighed else 0.0, ends)
    return Baseline(signature=signature, rows=_nested(found))


def _accepted(
    strategy: str, metric: str, case: str, value: float | None, n: float, ends: tuple[float, float] | None
) -> Row:
    low, high = ends or (None, None)
    row = Row(strategy=strategy, metric=metric, case=case or None, value=value, unit="", n=n, low=low, high=high)
    return msgspec.structs.replace(row, reason=NOTHING) if value is None else row


class _Stored(msgspec.Struct, frozen=True):
    """A baseline file. Fields that are not known here are left alone.

    `weights` has what a case weighs in a pooled value, `bounds` the least and the most that a value can be, where it is not exact.
    """

    signature: dict[str, Any]
    values: _Table[float | None]
    weights: _Table[float] = {}
    bounds: _Table[tuple[float, float]] = {}
    rules: tuple[GateRule, ...] = ()
    schema: int = 1  # of a file without the field


class _Versioned(msgspec.Struct, frozen=True):
    schema: int = 1


def baseline_bytes(baseline: Baseline) -> bytes:
    """A baseline as indented JSON with sorted keys: small, and readable in a diff."""
    rows = _flat(baseline.rows)
    file = _Stored(
        signature=msgspec.to_builtins(baseline.signature),
        values=_nested({key: row.value for key, row in rows.items()}),
        weights=_nested({key: row.n for key, row in rows.items() if row.n}),
        bounds=_nested({key: (row.low or 0.0, row.high or 0.0) for key, row in rows.items() if not row.exact}),
        rules=baseline.rules,
        schema=SCHEMA_VERSION,
    )
    known = {name: value for name, value in msgspec.to_builtins(file).items() if value}
    encoded = msgspec.json.encode({"values": {}, **known}, order="sorted")
    return msgspec.json.format(encoded, indent=2) + b"\n"


def baseline_from(
    signature: Signature,
    values: _Table[float | None],
    weights: _Table[float] | None = None,
    bounds: _Table[tuple[float, float]] | None = None,
    rules: tuple[GateRule, ...] = (),
) -> Baseline:
    """A baseline from the tables of its file."""
    weigh, ends = _flat(weights or {}), _flat(bounds or {})
    found = {key: _accepted(*key, value, weigh.get(key, 0.0), ends.get(key)) for key, value in _flat(values).items()}
    return Baseline(signature=signature, rows=_nested(found), rules=rules)


def read_baseline(path: Path) -> Baseline | None:
    """The baseline of a file; None where there is no file. Fields that are not known are left alone.

    Raises ResultsError for a file that cannot be read, or that a bench of another schema wrote.
    """
    if not os.path.lexists(path):  # a link that leads nowhere is no missing baseline
        return None
    data, where, again = read_result(path), f"{path}:1", "accept a new one with --update-baseline"
    try:
        schema = msgspec.json.decode(data, type=_Versioned).schema
        if schema != SCHEMA_VERSION:
            raise ResultsError(f"{where}: schema {schema}, this bench reads {SCHEMA_VERSION} — {again}")
        where = str(path)
        file = msgspec.json.decode(data, type=_Stored)
        signature = signature_from(file.signature)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{where}: {one_line(error)} — {again}") from None
    return baseline_from(signature, file.values, file.weights, file.bounds, file.rules)


_UNSAID: dict[str, Any] = {
    "bench_version": "", "traces": {}, "strategies": {}, "encodings": [], "facts_version": "", "prices_date": "", "seed": 0,
}  # fmt: skip


def signature_from(fields: Mapping[str, Any]) -> Signature:
    """A signature as it was written. What is not known here is left alone; what is missing counts as not said, which is not what holds now.

    Raises msgspec.ValidationError for a field of another type.

    >>> old = signature_from({"bench_version": "1.0.0", "facts_version": "1", "something": 3})
    >>> old.facts_version, old.prices_date, old.traces
    ('1', '', {})
    """
    mine = {name: value for name, value in fields.items() if name in Signature.__struct_fields__}
    return msgspec.convert({**_UNSAID, **mine}, Signature)
