"""The scores as JSON: one row per metric, strategy and case, with the signature and the verdicts beside them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

import msgspec

from ..comparison.advice import Candidate
from ..comparison.published import NOISE_OF_FAULTS
from ..comparison.rows import NOTHING
from ..model import Comparison, Row, RunShown
from . import REPLAY_LIMIT, Section, renderer
from .answered import Answered
from .decision_sentence import advice_text, asked_text
from .words import loss_lines, obstacle_text, told

COUNTS = {"fraction", "usd"}


@renderer("json", endings=(".json",), panels=False)
def json_rows(sections: Sequence[Section]) -> Iterator[str]:
    """`rows` (strategy, metric, case, value, unit, n, reason), `summary` (the same over all cases), `signature`, `verdicts`, `deltas`.

    `advice` is the advice that every output prints, with `elsewhere` (the advice with or without the cache, where that is another), `headroom` (the
    most that can be saved), the best alternative, every verdict, and `tuned`, the cases that it was chosen and judged on. A row whose
    value is not exact has `low` and `high` too, one that was measured in part `partly`, the number of samples left out. `failures` are the runs in
    which a strategy raised, `unstable` those that came out otherwise when replayed again; `own_words` are the sentences of strategies with counts,
    `altered_words` user and system messages in other words, `rules_missing` the prompts that lack a standing instruction. One row a line; a row of a
    case on which a metric had nothing to measure is left out. With several comparisons every row names its `scenario`.
    """
    several = len(sections) > 1

    def lines(rows: Callable[[Answered], Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """The rows of every comparison, each with its scenario where there are several."""
        found = ((section.name, row) for section in sections for row in rows(section.comparison))
        return ({"scenario": name, **row} if several else row for name, row in found)

    def of_runs(items: Callable[[RunShown], Iterable[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        """The statements of every run about itself, each with its strategy and case."""
        return lines(lambda comparison: (run | item for run, shown in _runs(comparison) for item in items(shown)))

    def each(field: str) -> list[str]:
        return list(dict.fromkeys(name for section in sections for name in getattr(section.comparison, field)))

    def one_or_all(found: dict[str, Any]) -> Any:
        return found if several else next(iter(found.values()), None)

    document: dict[str, Any] = {
        "title": [section.name for section in sections] if several else sections[0].name,
        "limits": REPLAY_LIMIT,
        "signature": one_or_all({section.name: _plain(section.comparison.signature) for section in sections}),
        "strategies": each("strategies"),
        "references": each("references"),
        "cases": each("case_ids"),
        "advice": one_or_all({section.name: _advice(section.comparison) for section in sections}),
        "verdicts": lines(_verdicts),
        "deltas": lines(lambda comparison: map(_plain, comparison.deltas)),
        "summary": lines(lambda comparison: map(row_fields, comparison.summary)),
        "rows": lines(lambda comparison: (row_fields(row) for row in comparison.rows if row.value is not None or row.reason != NOTHING)),
        "marks": lines(_marks),
        "failures": of_runs(lambda run: [] if run.failure is None else [_plain(run.failure)]),
        "unstable": of_runs(lambda run: [] if run.unstable_at is None else [{"step": run.unstable_at}]),
        "own_words": lines(_own_words),
        "altered_words": of_runs(lambda run: map(_plain, run.altered_words)),
        "rules_missing": of_runs(
            lambda run: ({"step": call.step, "rules": list(call.rules_missing)} for call in run.window.curve if call.rules_missing)
        ),
        "skipped": lines(
            lambda comparison: ({"path": path, "reason": reason, "damaged": path in comparison.damaged} for path, reason in comparison.skipped)
        ),
    }  # fmt: skip
    yield "{\n"
    for number, (key, value) in enumerate(document.items()):
        yield (",\n" if number else "") + f"{_line(key)}: "
        if isinstance(value, Iterator):
            yield from _list(value)
        else:
            yield _line(value)
    yield "\n}\n"


def _list(items: Iterator[dict[str, Any]]) -> Iterator[str]:
    """A list, one item a line."""
    before = "[\n"
    for item in items:
        yield f"{before}{_line(item)}"
        before = ",\n"
    yield "\n]" if before == ",\n" else "[]"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _verdicts(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for item in comparison.verdicts:
        yield {**_plain(item), "sentence": told(item), "losses": loss_lines(item)}


def _marks(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for row in chain(comparison.summary, comparison.rows):
        if row.marks:
            yield {"strategy": row.strategy, "metric": row.metric, "case": row.case, "marks": list(row.marks)}


def _own_words(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """Return each strategy's own words, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    for run, shown in _runs(comparison):
        for text, count in shown.own_words:
            counts[run["strategy"], text] += count
    for (name, text), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield {"strategy": name, "text": text, "count": count}


def _runs(comparison: Comparison) -> Iterator[tuple[dict[str, Any], RunShown]]:
    for case in comparison.cases:
        for name, run in case.runs.items():
            yield {"strategy": name, "case": case.id}, run


def row_fields(row: Row) -> dict[str, Any]:
    """One row as the report writes it; whole counts as whole numbers, and what is not finite as not measured."""
    value = row.finite
    if value is not None and row.unit not in COUNTS and float(value).is_integer():
        value = int(value)
    n = row.n if math.isfinite(row.n) else 0
    counts = {"value": value, "unit": row.unit, "n": int(n) if float(n).is_integer() else n, "reason": row.why}
    fields = _fields(row, "strategy", "metric", "case") | counts
    if not row.exact and row.finite is not None:
        fields |= {"low": row.least, "high": row.most}
    return fields | ({"partly": row.partly} if row.partly else {})


def _advice(comparison: Answered) -> dict[str, Any]:
    decision, tuned, advice = comparison.choice, comparison.tuned, comparison.advice
    other, elsewhere = advice.alternative, advice.elsewhere
    return {
        "outcome": advice.outcome,
        "strategy": advice.named,
        "word": advice.word,
        "sentence": advice_text(comparison),
        **({"asked": asked_text(comparison)} if comparison.asks else {}),
        "metric": decision.metric,
        "unit": advice.unit,
        **_said(advice.subject),
        "sure": advice.sure,
        "could_miss_one_in": advice.could_miss or None,
        "cache": advice.cache,
        "headroom": None if advice.headroom is None else asdict(advice.headroom),
        "elsewhere": elsewhere and {
            "cache": elsewhere.cache,
            "outcome": elsewhere.outcome,
            "strategy": elsewhere.named,
            "word": elsewhere.word,
            **_said(elsewhere.subject),
        },
        **_fields(advice, "unknown_prompts", "unknown_cache"),
        "nearest_experiment": None if advice.nearest is None else asdict(advice.nearest),
        "alternative": other and {"strategy": other.strategy, "word": advice.alternative_word, **_said(other)},
        **_fields(decision, "cases", "compared", "tasks", "left_out", "max_fault_rate", "min_far_recall"),
        "noise_of_fault_rate": list(NOISE_OF_FAULTS),
        "unchecked": list(decision.unchecked),
        "candidates": [
            {
                "strategy": item.strategy,
                "word": decision.word(item),
                **_fields(item, "qualifies", "never_acted", "far_recall", "cached_share"),
                "spent": item.spent and _plain(item.spent),
                **_said(item),
                "obstacles": [{"kind": found.kind, "text": obstacle_text(found)} for found in item.obstacles],
            }
            for item in decision.candidates
        ],
        **({} if tuned is None else {"tuned": {
            "strategy": None if tuned.candidate is None else tuned.candidate.strategy,
            **_fields(tuned, "holds", "sure"),
            "seed": tuned.tuning.seed,
            "chosen_on": tuned.chosen_on,
            "judged_on": tuned.comparison.case_ids,
        }}),
    }  # fmt: skip


def _fields(item: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in names}


def _said(item: Candidate | None) -> dict[str, Any]:
    """The price, saving and worst case of one candidate."""
    if item is None:
        return {"price_a_run": None, "saving": None, "fault_rate": None, "worst_case": None}
    return {
        "price_a_run": item.price_a_run,
        "priced_cases": item.cases,
        "saving": None if item.saving is None else {**asdict(item.saving), "sure": item.saving.sure},
        "fault_rate": item.fault_rate,
        "worst_case": None if item.worst_case is None else {"case": item.worst_case, "fault_rate": item.worst_fault_rate},
    }  # fmt: skip


def _plain(item: msgspec.Struct) -> dict[str, Any]:
    """A struct with every field named, in the order declared; what is not finite as null."""
    plain = {field: msgspec.to_builtins(getattr(item, field)) for field in item.__struct_fields__}
    return {field: None if isinstance(it, float) and not math.isfinite(it) else it for field, it in plain.items()}
