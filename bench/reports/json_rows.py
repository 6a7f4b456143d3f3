"""The scores as JSON: one row per metric, strategy and case, with the signature and the verdicts beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ..model import Row
from . import REPLAY_LIMIT, Section, renderer
from .loss.sentences import loss_lines, told

COUNTS = {"fraction", "usd"}


@renderer("json", endings=(".json",))
def json_rows(sections: Sequence[Section]) -> str:
    """`rows` (strategy, metric, case, value, unit, n, reason), `summary` (the same over all cases), `signature`, `verdicts`, `deltas`.

    A row whose value is not exact has `low` and `high` too, one that was measured in part `partly`, the number of samples left out.
    One row a line, keys always in one order, NaN impossible. With several comparisons every row also names its `scenario`, and
    `signature` maps scenario names to signatures.
    """
    several = len(sections) > 1
    document: dict[str, Any] = {
        "title": [section.name for section in sections] if several else sections[0].name,
        "limits": REPLAY_LIMIT,
        "signature": {section.name: _plain(section.comparison.signature) for section in sections},
        "strategies": _each(sections, "strategies"),
        "references": _each(sections, "references"),
        "cases": _each(sections, "case_ids"),
    }
    if not several:
        document["signature"] = document["signature"][sections[0].name]
    for name in ("verdicts", "deltas", "summary", "rows"):
        document[name] = _Lines(
            _named(section, several, row) for section in sections for row in _listed(section, name)
        )  # fmt: skip
    document["marks"] = _Lines(
        _named(section, several, {"strategy": row.strategy, "metric": row.metric, "case": row.case, "marks": list(row.marks)})
        for section in sections
        for row in (*section.comparison.summary, *section.comparison.rows)
        if row.marks
    )  # fmt: skip
    document["skipped"] = _Lines(
        _named(section, several, {"path": path, "reason": reason})
        for section in sections
        for path, reason in section.comparison.skipped
    )
    return "{\n" + ",\n".join(f"{_line(key)}: {_field(value)}" for key, value in document.items()) + "\n}\n"


class _Lines(list[Any]):
    """A list that is written one item a line."""

    def __init__(self, items: Iterable[Any]) -> None:
        super().__init__(items)


def _field(value: Any) -> str:
    if isinstance(value, _Lines) and value:
        return "[\n" + ",\n".join(_line(item) for item in value) + "\n]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _each(sections: Sequence[Section], field: str) -> list[str]:
    return list(dict.fromkeys(name for section in sections for name in getattr(section.comparison, field)))


def _named(section: Section, several: bool, row: Mapping[str, Any]) -> dict[str, Any]:
    return {"scenario": section.name, **row} if several else dict(row)


def _listed(section: Section, name: str) -> list[dict[str, Any]]:
    items = getattr(section.comparison, name)
    if name == "verdicts":
        return [{**_plain(item), "sentence": told(item), "losses": loss_lines(item)} for item in items]
    return [row_fields(item) if isinstance(item, Row) else _plain(item) for item in items]


def row_fields(row: Row) -> dict[str, Any]:
    """One row as the report writes it; whole counts as whole numbers, and what is not finite as not measured."""
    value = row.finite
    if value is not None and row.unit not in COUNTS and float(value).is_integer():
        value = int(value)
    n = int(row.n) if math.isfinite(row.n) and float(row.n).is_integer() else row.n
    fields = {
        "strategy": row.strategy,
        "metric": row.metric,
        "case": row.case,
        "value": value,
        "unit": row.unit,
        "n": n if math.isfinite(n) else 0,
        "reason": row.why,
    }
    if not row.exact and row.finite is not None:
        fields |= {"low": row.least, "high": row.most}
    return fields | ({"partly": row.partly} if row.partly else {})


def _plain(item: msgspec.Struct) -> dict[str, Any]:
    """A struct with every field named, in the order declared; what is not finite as null."""
    return {field: _finite(msgspec.to_builtins(getattr(item, field))) for field in item.__struct_fields__}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
