"""Score files: JSON reports read back, and one compared with another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..files.limits import read_result
from ..metrics import metrics
from ..model import (
    Against,
    Case,
    CaseList,
    Columns,
    Comparison,
    Failure,
    GateRule,
    RecordingShown,
    Row,
    RunShown,
    Signature,
    Verdict,
)
from ..model.errors import ResultsError, one_line
from .baselines import accepted_from, signature_from
from .intervals import require_comparable
from .judging import check
from .rows import NOTHING

_RAISED = re.compile(r"strategy raised(?: in (\w{1,99}))?(?: at step (\d{1,18}))?: (.*)", re.DOTALL)
"""The reason of a row whose strategy raised: in which slot, at which step, and what."""


class _Scored(Row, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A row as a report has it."""

    scenario: str | None = None


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    """A run that failed (with an `error`), or that came out otherwise at a step when it was replayed again."""

    strategy: str
    case: str
    step: int
    slot: str = "strategy"
    error: str = ""
    scenario: str | None = None


class _ScoreFile(msgspec.Struct, frozen=True, kw_only=True):
    title: str | tuple[str, ...]
    signature: msgspec.Raw
    strategies: tuple[str, ...]
    cases: tuple[str, ...]
    rows: tuple[_Scored, ...]
    summary: tuple[_Scored, ...]
    failures: tuple[_Named, ...] | None = None
    unstable: tuple[_Named, ...] = ()


def read_scores(path: Path) -> tuple[Comparison, ...]:
    """The scores of every scenario of a JSON report (`-o x.json`), each as a comparison without gates, whose cases say where a strategy raised or was
    unstable. Raises ResultsError naming the file and what does not fit.
    """
    try:
        file = msgspec.json.decode(read_result(path), type=_ScoreFile)
        if isinstance(file.title, str):
            signed = {file.title: msgspec.json.decode(file.signature, type=dict[str, Any])}
        else:
            signed = msgspec.json.decode(file.signature, type=dict[str, dict[str, Any]])
        signatures = {title: signature_from(fields) for title, fields in signed.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ResultsError(
            f"{path}: no score file: {one_line(error)} — give a file that `bench run -o x.json` wrote"
        ) from None
    return tuple(_scores(file, title, signature) for title, signature in signatures.items())


def _scores(file: _ScoreFile, title: str, signature: Signature) -> Comparison:
    """One scenario of a file. A file leaves out the rows of cases on which a metric had nothing to measure."""
    fields = [name for name in Row.__struct_fields__ if name != "marks"]
    summary, known = (
        {(row.strategy, row.metric, row.case): Row(**{name: getattr(row, name) for name in fields}) for row in rows}
        for rows in ([row for row in of if _is_of(row, file, title)] for of in (file.summary, file.rows))
    )
    nothing: dict[str, Any] = {"value": None, "n": 0.0, "reason": NOTHING, "low": None, "high": None, "partly": 0}
    names = {name: item.info for name, item in metrics().items()}
    cases = tuple(case for case in file.cases if case in signature.traces)
    runs = _runs(*([item for item in of if _is_of(item, file, title)] for of in (_failures(file), file.unstable)))
    return Comparison(
        title=title,
        signature=signature,
        strategies=tuple(name for name in file.strategies if name in signature.strategies),
        references=tuple(name for name in signature.strategies if name not in file.strategies),
        cases=CaseList(
            Case(id=name, recording=RecordingShown(sha256=signature.traces[name]), runs=runs.get(name, {}))
            for name in cases
        ),
        rows=Columns(
            known.get((total.strategy, total.metric, case)) or msgspec.structs.replace(total, case=case, **nothing)
            for total in summary.values()
            for case in cases
        ),
        summary=tuple(summary.values()),
        metrics={row.metric: names[row.metric] for row in summary.values() if row.metric in names},
    )


def _is_of(item: _Scored | _Named, file: _ScoreFile, title: str) -> bool:
    """True if something in a file is of one scenario; a file of one alone does not name it."""
    return (item.scenario or (file.title if isinstance(file.title, str) else None)) == title


def _failures(file: _ScoreFile) -> tuple[_Named, ...]:
    """The runs that failed. Files written before that was said apart say it where a value is missing."""
    if file.failures is not None:
        return file.failures
    missing = [(row, row.case, _RAISED.fullmatch(row.reason or "")) for row in file.rows]
    return tuple(
        _Named(
            strategy=row.strategy, case=case, step=int(said[2] or -1), slot=said[1] or "strategy", error=said[3],
            scenario=row.scenario,
        )
        for row, case, said in missing
        if said is not None and case is not None
    )  # fmt: skip


def _runs(failures: Iterable[_Named], unstable: Iterable[_Named]) -> dict[str, dict[str, RunShown]]:
    """By case and strategy, what gates judge beside rows."""
    found: dict[str, dict[str, RunShown]] = {}
    for item in failures:
        failure = Failure(step=item.step, slot=item.slot, error=item.error)
        found.setdefault(item.case, {})[item.strategy] = RunShown(failure=failure)
    for item in unstable:
        runs = found.setdefault(item.case, {})
        runs[item.strategy] = msgspec.structs.replace(runs.get(item.strategy, RunShown()), unstable_at=item.step)
    return found


def compare_scores(
    before: Path, after: Path, rules: Sequence[GateRule], *, allow_inconclusive: bool = False
) -> list[Comparison]:
    """One comparison for each scenario that both files hold; a scenario of one file alone is a verdict that says so.

    Raises ResultsError where they share no scenario, or where signatures differ in anything but strategies and cases.
    """
    earlier, later = ({item.title: item for item in read_scores(path)} for path in (before, after))
    pairs = [(earlier[title], later[title]) for title in later if title in earlier]
    if len(earlier) == len(later) == 1:
        pairs = [*zip(earlier.values(), later.values(), strict=True)]  # whatever they are called
    if not pairs:
        raise ResultsError(f"{after}: no scenario of {before} is in it — compare runs of the same scenario")
    found = [_compared(*pair, before, rules, allow_inconclusive) for pair in pairs]
    if len(pairs) < max(len(earlier), len(later)):
        alone = tuple(
            Verdict(gate="same scenarios", metric="", strategy="", outcome="inconclusive",
                    sentence=f"scenario {title!r} is in only one of {before.name} and {after.name}")
            for title in sorted(earlier.keys() ^ later.keys())
        )  # fmt: skip
        found[0] = msgspec.structs.replace(found[0], verdicts=(*found[0].verdicts, *alone))
    return found


def _compared(
    old: Comparison, new: Comparison, path: Path, rules: Sequence[GateRule], allow_inconclusive: bool
) -> Comparison:
    """The declared strategies of a scenario held against an earlier run of it, which is beside them where it was unstable."""
    try:
        require_comparable(new.signature, old.signature)
    except ResultsError as error:
        raise ResultsError(f"{path}: {new.title}: {error}") from None
    before = {name: f"{name} of {path.name}" for name in old.strategies}
    cases = []
    for case in new.cases:
        then = old.by_case[case.id].runs if case.id in old.by_case else {}
        then = {name: RunShown(unstable_at=run.unstable_at) for name, run in then.items()}
        earlier = {called: then[name] for name, called in before.items() if name in then}
        here = {name: run for name, run in case.runs.items() if name in new.strategies}
        cases.append(msgspec.structs.replace(case, runs={**here, **earlier}))
    accepted = accepted_from(
        (*old.summary, *old.rows), old.signature, old.metrics, {name: name for name in old.strategies}
    )
    drawn = msgspec.structs.replace(
        new,
        references=(),
        cases=CaseList(cases),
        rows=Columns(row for row in new.rows if row.strategy in new.strategies),
        summary=tuple(row for row in new.summary if row.strategy in new.strategies),
        rules=tuple(rules),
        against=Against(baseline=accepted, name=path.name, before=before),
        allow_inconclusive=allow_inconclusive,
    )
    return msgspec.structs.replace(drawn, verdicts=check(drawn))
