"""Score files: what a JSON report says, read back to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import ResultsError, one_line
from ..model import Row, Signature, Value
from .signatures import signature_from
from .versioned import read_bytes


class _Scored(msgspec.Struct, frozen=True, kw_only=True):
    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    partly: int = 0
    scenario: str | None = None


class _ScoreFile(msgspec.Struct, frozen=True, kw_only=True):
    title: str | tuple[str, ...]
    signature: msgspec.Raw
    strategies: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[_Scored, ...]
    summary: tuple[_Scored, ...]


class Scores(Value, frozen=True, kw_only=True):
    """What a JSON report says of one scenario: its signature, its declared strategies, its rows by case and over all cases."""

    title: str
    signature: Signature
    strategies: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[Row, ...]
    summary: tuple[Row, ...]


def read_scores(path: Path) -> tuple[Scores, ...]:
    """The scores of every scenario of a JSON report (`-o x.json`). Raises ResultsError naming the file and what does not fit."""
    try:
        file = msgspec.json.decode(read_bytes(path), type=_ScoreFile)
        if isinstance(file.title, str):
            signed = {file.title: msgspec.json.decode(file.signature, type=dict[str, Any])}
        else:
            signed = msgspec.json.decode(file.signature, type=dict[str, dict[str, Any]])
        signatures = {title: signature_from(fields) for title, fields in signed.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{path}: {one_line(error)} — give a file that `bench run -o x.json` wrote") from None
    only = file.title if isinstance(file.title, str) else None
    return tuple(
        Scores(
            title=title,
            signature=signature,
            strategies=tuple(name for name in file.strategies if name in signature.strategies),
            cases=tuple(case for case in file.cases if case in signature.traces),
            rows=_rows(file.rows, only, title),
            summary=_rows(file.summary, only, title),
        )
        for title, signature in signatures.items()
    )


def _rows(scored: Sequence[_Scored], only: str | None, title: str) -> tuple[Row, ...]:
    return tuple(
        Row(
            strategy=row.strategy,
            metric=row.metric,
            case=row.case,
            value=row.value,
            unit=row.unit,
            n=row.n,
            reason=row.reason,
            low=row.low,
            high=row.high,
            partly=row.partly,
        )
        for row in scored
        if (row.scenario or only) == title
    )
