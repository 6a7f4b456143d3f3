"""What is kept on disk: runs, and the baselines that gates compare with. Versioned, signed, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ..errors import ResultsError, one_line
from ..model import SCHEMA_VERSION, Baseline, Comparison, GateRule, Row, Run, Signature, Value


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; its folder is made. Raises ResultsError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_runs(runs: Iterable[Run], path: Path) -> None:
    """Runs as JSON lines, one a run; scoring them again needs neither the strategies nor a replay."""
    write_atomically(path, b"".join(msgspec.json.encode(run) + b"\n" for run in runs))


def read_runs(path: Path) -> tuple[Run, ...]:
    """The runs of a file that `write_runs` wrote. Raises ResultsError naming the line and path of what does not fit."""
    runs = []
    decoder = msgspec.json.Decoder(Run)
    for number, line in enumerate(_read(path).splitlines(), 1):
        _require_schema(path, line, number)
        try:
            runs.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise ResultsError(f"{path}:{number}: {one_line(error)} — replay the scenario again") from None
    if not runs:
        raise ResultsError(f"{path}: holds no run")
    return tuple(runs)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from None


class _Versioned(msgspec.Struct):
    schema: int = 1  # what a file without the field is


def _require_schema(path: Path, data: bytes, line: int = 1) -> None:
    try:
        found = msgspec.json.decode(data, type=_Versioned).schema
    except msgspec.DecodeError as error:
        raise ResultsError(f"{path}:{line}: {one_line(error)}") from None
    if found != SCHEMA_VERSION:
        raise ResultsError(
            f"{path}:{line}: schema {found}, this bench reads {SCHEMA_VERSION} — make the file again with this version"
        )


def baseline_of(comparison: Comparison, rules: Sequence[GateRule]) -> Baseline:
    """The values that relative gates need, of every declared strategy and reference a gate names, per case and over all (`""`)."""
    relative = [rule for rule in rules if rule.max_increase is not None or rule.max_drop is not None]
    metrics = {rule.metric for rule in relative}
    strategies = {*comparison.strategies, *(rule.strategy for rule in relative)}
    values: dict[str, dict[str, dict[str, float | None]]] = {}
    for row in (*comparison.summary, *comparison.rows):
        if row.metric in metrics and row.strategy in strategies:
            values.setdefault(row.strategy, {}).setdefault(row.metric, {})[row.case or ""] = row.value
    return Baseline(signature=comparison.signature, values=values)


def write_baseline(baseline: Baseline, path: Path) -> None:
    """A baseline as indented JSON with sorted keys: small, and readable in a diff."""
    encoded = msgspec.json.encode({**msgspec.to_builtins(baseline), "schema": SCHEMA_VERSION}, order="sorted")
    write_atomically(path, msgspec.json.format(encoded, indent=2) + b"\n")


def read_baseline(path: Path) -> Baseline | None:
    """The baseline of a file; None where there is no file. Raises ResultsError for one that cannot be read."""
    if not path.exists():
        return None
    data = _read(path)
    _require_schema(path, data)
    try:
        return msgspec.json.decode(data, type=Baseline)
    except msgspec.DecodeError as error:
        raise ResultsError(f"{path}: {one_line(error)} — accept a new one with --update-baseline") from None


# ---------------------------------------------------------------- score files


class _Scored(msgspec.Struct, frozen=True, kw_only=True):
    strategy: str
    metric: str
    case: str | None
    value: float | None
    unit: str
    n: float
    reason: str | None = None
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
        file = msgspec.json.decode(_read(path), type=_ScoreFile)
        if isinstance(file.title, str):
            signatures = {file.title: msgspec.json.decode(file.signature, type=Signature)}
        else:
            signatures = msgspec.json.decode(file.signature, type=dict[str, Signature])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
        )
        for row in scored
        if (row.scenario or only) == title
    )
