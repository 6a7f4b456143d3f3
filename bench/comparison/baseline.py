"""Baselines, which are score files: accepted values of the numbers that gates judge, and the
signature of the scenario that they depend on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ..files.limits import read_result
from ..model.base import SCHEMA_VERSION, json_bytes
from ..model.compared import Compared
from ..model.errors import ResultsError, one_line
from ..model.metric import MetricInfo
from ..model.scores import MeasuredRun, Score
from ..model.signature import GateRule, Signature
from ..text.wording import listed
from .gate_rules import judged_strategies


class ScoreFile(msgspec.Struct, frozen=True, kw_only=True):
    """Accepted values. A JSON report has these keys too, so it can also be a baseline; a report
    alone has the `file` of its scenario."""

    title: str
    file: str | msgspec.UnsetType = msgspec.UNSET
    signature: Signature
    specs: dict[str, str] = {}
    rules: tuple[GateRule, ...] = ()
    runs: tuple[MeasuredRun, ...] = ()
    schema: int = SCHEMA_VERSION


def score_file_of(compared: Compared, metrics: Iterable[str] | None = None) -> ScoreFile:
    """The score file of a comparison, with the values of some metrics, by default those of gates.

    It has the declared strategies, and the references that have a gate.
    """
    wanted = {rule.metric for rule in compared.rules} if metrics is None else {*metrics}
    judged = (judged_strategies(rule, compared) for rule in compared.rules)
    names = {*compared.strategies}.union(*judged)

    def stored(score: Score) -> Score:
        numbers = {name: score.numbers[name] for name in sorted(wanted & score.numbers.keys())}
        return msgspec.structs.replace(score, numbers=numbers, checks={}, constant_texts=())

    runs = []
    for run in sorted(compared.runs, key=lambda run: run.id):
        scores = tuple(stored(score) for score in run.scores if score.strategy in names)
        runs.append(msgspec.structs.replace(run, scores=scores))
    return ScoreFile(
        title=compared.title,
        signature=compared.signature,
        specs=compared.specs,
        rules=compared.rules,
        runs=tuple(runs),
    )


def score_bytes(file: ScoreFile) -> bytes:
    """A score file as JSON with a line for each key: small, and readable in a diff.

    The same input gives the same bytes.
    """
    written = msgspec.structs.replace(file, runs=tuple(run.as_written for run in file.runs))
    data = json_bytes(msgspec.to_builtins(written), order="sorted")
    return msgspec.json.format(data, indent=2) + b"\n"


def read_scores(path: Path, scenario: str = "") -> ScoreFile | None:
    """The score file at a path, or None if there is no file. In a report it is that of a scenario's
    file; without one there may be no other.

    Raises ResultsError for anything but a score file, for another schema, and for a report without
    that scenario.
    """
    if not os.path.lexists(path):  # a link to a missing file is an error
        return None
    again = "restore it with git checkout, or make it anew: --update-baseline, -o FILE.json"
    try:
        data = read_result(path)
        read = msgspec.json.decode(data, type=ScoreFile | tuple[ScoreFile, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(f"{path}: {one_line(error)} — {again}") from None
    every: Sequence[ScoreFile] = read if isinstance(read, tuple) else (read,)
    found = [it for it in every if not scenario or it.file == scenario]
    if len(found) != 1:
        known = listed([it.file or it.title for it in every], 3) or "nothing"
        what = f"{path}: has the scores of {known}, not of {scenario or 'one scenario'}"
        raise ResultsError(f"{what} — give a report of that (-o FILE.json)")
    (scores,) = found
    if scores.schema != SCHEMA_VERSION:
        raise ResultsError(
            f"{path}: schema {scores.schema}, this bench reads {SCHEMA_VERSION} — {again}"
        )
    return scores


COUNTED = ("tokens", "usd", "prompts")
"""The units of amounts that depend on the model; a limit on them holds only for the same model."""

_CONDITIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "facts_version": ("reading of facts", ()),
    "calibration": ("calibration of token counts", COUNTED),
    "model": ("model of traces that name none", COUNTED),
    "encodings": ("encoding", COUNTED),
    "prices_date": ("price tables", ("usd",)),
}
"""The fields of a signature, each with its name and the units of the metrics that depend on it
(none: all metrics)."""


def stale(now: Signature, then: Signature, info: MetricInfo) -> str:
    """The reason why a metric's earlier values cannot be compared with today's; "" if they can.

    >>> fixed = {"bench_version": "1", "facts_version": "1"}
    >>> old, new = (Signature(prices_date=date, **fixed) for date in ("2026-01-01", "2026-02-01"))
    >>> price, count = (MetricInfo(name="cost", unit=unit, better="lower", aggregate="total") for unit in ("usd", "facts"))
    >>> stale(new, old, price), stale(new, old, count)
    ('price tables: 2026-01-01 then, 2026-02-01 now', '')
    """
    for field, (name, units) in _CONDITIONS.items():
        before, after = getattr(then, field), getattr(now, field)
        if field == "encodings":
            shared = sorted(before.keys() & after.keys())
            before, after = [before[run] for run in shared], [after[run] for run in shared]
        if before != after and (not units or info.unit in units):
            return f"{name}: {before or 'none'} then, {after or 'none'} now"
    return ""
