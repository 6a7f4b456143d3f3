"""A score file (`bench run -o x.json`) read as a baseline to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ..files.limits import read_result
from ..metrics import metrics
from ..model import Baseline, Row
from ..model.errors import ResultsError, nearest, one_line
from ..version import VERSION
from .baselines import accepted_from, signature_from


class _Scored(Row, frozen=True, kw_only=True, forbid_unknown_fields=False):
    scenario: str | None = None


class _ScoreFile(msgspec.Struct, frozen=True, kw_only=True):
    title: str | tuple[str, ...]
    signature: msgspec.Raw
    rows: tuple[_Scored, ...]
    summary: tuple[_Scored, ...]


def scores_as_baseline(path: Path, title: str) -> Baseline:
    """The values that a score file has of the scenario called `title`; of its only scenario, whatever that is called.

    Raises ResultsError for a file that is no score file, and for one of several scenarios without this one.
    """
    try:
        file = msgspec.json.decode(read_result(path), type=_ScoreFile)
        several = not isinstance(file.title, str)
        signed = msgspec.json.decode(file.signature, type=dict[str, dict[str, Any]] if several else dict[str, Any])
        if several and title not in signed:
            raise ResultsError(f"{path}: has no scenario {title!r}{nearest(title, signed)}")
        signature = signature_from(signed[title] if several else signed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "give a file that `bench run -o x.json` wrote"
        raise ResultsError(f"{path}: no score file: {one_line(error)} — {hint}") from None
    rows = [row for row in (*file.summary, *file.rows) if not several or row.scenario == title]
    infos = {name: item.info for name, item in metrics().items()}
    if signature.bench_version == VERSION:  # a score file signs the families of gated metrics alone
        versions = {info.family: info.version for info in infos.values()}
        signature = msgspec.structs.replace(signature, metrics=versions)
    return accepted_from(rows, signature, infos, {name: name for name in signature.strategies})
