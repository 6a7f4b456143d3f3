"""Trust: what was read, left out and assumed; the limits; how it was decided; the signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...model.scores import Rule
from ..blocks import (
    Block,
    Cell,
    Code,
    Column,
    Fold,
    Heading,
    Pair,
    Prose,
    Row,
    Section,
    Span,
    Table,
)
from ..labels import MEASURES, rule_value
from ..numbers import count, listed, of, percent, rule_out
from ..reading import Reading

ORDER = 50
REPLAY_LIMIT = (
    "Replay keeps the recorded actions fixed: it measures what each strategy would have shown to the model, "
    "not whether the task would have succeeded."
)
"""The limit of replay; every report states it."""
_FILES = 10
_TEXTS = 12


def sections(reading: Reading) -> Iterator[Section]:
    """Always something: the limit of replay at least."""
    read: list[Block] = [Heading("Read"), Prose(_read(reading))]
    if assumed := _assumed(reading):
        read += [Heading("Assumed"), Prose(assumed)]
    limits: list[Block] = [Heading("Limits"), *(Prose(text) for text in _limits(reading))]
    blocks: list[Block] = [Pair(tuple(read), tuple(limits)), *_left_out(reading)]
    if any(item.rules for item in reading.ranked):
        blocks += [Heading("How it was decided"), _rules(reading)]
    blocks += [*_constant_texts(reading), *_signature(reading)]
    yield Section("trust", "Trust", "Trust", tuple(blocks))


def _read(reading: Reading) -> str:
    facts = [run.facts for run in reading.compared.runs]
    if not facts:
        return "No recording."
    turns, results = sum(item.turns for item in facts), sum(item.results for item in facts)
    text = f"{reading.size}, {of(turns, 'model call')}, {of(results, 'tool result')}."
    skipped: Counter[str] = Counter()
    for item in facts:
        skipped.update(item.skipped)
    damaged = sum(item.damaged for item in reading.compared.skipped)
    left = [f"{count(number)} × {kind}" for kind, number in skipped.most_common(6)]
    text += f" Not understood and left out: {listed(left)}." if left else ""
    if files := reading.compared.skipped:
        text += f" {of(len(files), 'file')} {'was' if len(files) == 1 else 'were'} not read" + (
            f", {count(damaged)} of them damaged." if damaged else "."
        )
    cut = sum(item.cut for item in facts)
    text += f" {of(cut, 'result')} had been cut in the recording; what was cut is not known." if cut else ""
    unknown = sum(not item.prompts_known for item in facts)
    text += f" Of {of(unknown, 'run')} the recorded prompts are not known." if unknown else ""
    return text + ("" if left or files or cut or unknown else " Nothing was left out.")


def _assumed(reading: Reading) -> str:
    facts, signature = [run.facts for run in reading.compared.runs], reading.compared.signature
    encodings = sorted({item.encoding for item in facts if item.encoding} or set(signature.encodings))
    parts = []
    if encodings:
        guessed = any(item.encoding_assumed for item in facts)
        parts.append(f"tokens by {listed(encodings)}" + (", assumed for models without a known one" if guessed else ""))
    if signature.prices_date:
        parts.append(f"prices of {signature.prices_date}")
    shares = {item.cache_shares for item in facts}
    if "assumed" in shares:
        parts.append("cache shares by the provider's rules")
    if "recorded" in shares:
        parts.append("cache shares as recorded")
    text = "; ".join(parts)
    counted = sum(item.counted_tokens for item in facts if item.reported_tokens)
    reported = sum(item.reported_tokens for item in facts)
    text = text[:1].upper() + text[1:] + "." if text else ""
    if reported:
        text += f" Counted prompt tokens are {percent(abs(counted / reported - 1))} {'above' if counted > reported else 'below'} what providers reported."
    return text


def _limits(reading: Reading) -> Iterator[str]:
    yield REPLAY_LIMIT
    advice = reading.advice
    if advice.cannot_rule_out and reading.tasks:
        yield rule_out(of(reading.tasks, "task"), advice.cannot_rule_out) + "."
    unchecked = [item.strategy for item in reading.ranked if "not checked" in item.marks]
    if unchecked:
        yield f"Some texts of {listed(unchecked)} could not be read, so they were not checked."
    yield from reading.compared.notes


def _left_out(reading: Reading) -> Iterator[Block]:
    files = reading.compared.skipped
    if files:
        rows = tuple(Row((Cell((Span(item.path, code=True),)), Cell(item.reason))) for item in files[:_FILES])
        more = f"{of(len(files) - _FILES, 'more file')}." if len(files) > _FILES else ""
        yield Fold(
            f"{of(len(files), 'file')} not read",
            (
                Table(
                    "Files that were not read",
                    (Column("file"), Column("reason")),
                    rows,
                    caption=more,
                ),
            ),
        )


def _rules(reading: Reading) -> Table:
    """A row by rule: its measure, its limit, the value of what is advised, and whom it rejects."""
    shown = reading.by_name.get(reading.advice.advised or "") or reading.by_name.get(reading.compared.today)
    name = reading.shown(shown.strategy) if shown else ""
    mine = {rule.rule: rule for rule in shown.rules} if shown else {}
    asked = {rule.rule for item in reading.ranked for rule in item.rules}
    rows = []
    for rule, (measure, kind) in MEASURES.items():
        if rule not in asked:
            continue
        refused = [
            item.strategy
            for item in reading.ranked
            for result in item.rules
            if result.rule == rule and not result.passed
        ]
        limit = next(
            (
                result.limit
                for item in reading.ranked
                for result in item.rules
                if result.rule == rule and result.limit is not None
            ),
            None,
        )
        cells = [
            Cell(rule),
            Cell(measure),
            Cell(_limit_of(rule, kind, limit)),
            Cell(rule_value(rule, mine[rule].value) if rule in mine else "–"),
        ]
        cells.append(Cell(listed(refused, 8) if refused else "none", tone="bad" if refused else ""))
        rows.append(Row(tuple(cells)))
    columns = (
        Column("rule"),
        Column("measure"),
        Column("limit", True),
        Column(name or "value", True),
        Column("rejects"),
    )
    return Table("How it was decided", columns, tuple(rows), "cards")


def _limit_of(rule: Rule, kind: str, limit: float | None) -> str:
    if kind == "ratio":
        return "below 0%"
    if limit is None:
        return "0" if kind == "count" else "–"
    return rule_value(rule, limit)


def _constant_texts(reading: Reading) -> Iterator[Block]:
    """What is the same in all texts that a strategy writes: quoted, since no rule reads it."""
    found: dict[str, dict[str, None]] = {}
    for run in reading.compared.runs:
        for score in run.scores:
            for text in score.constant_texts:
                found.setdefault(score.strategy, {})[text] = None
    rows = [Row((Cell(name), Cell((Span(text[:500], code=True),)))) for name, texts in found.items() for text in texts]
    if rows:
        table = Table(
            "Texts that a strategy always writes",
            (Column("strategy"), Column("text")),
            tuple(rows[:_TEXTS]),
        )
        yield Fold("Texts that a strategy always writes, word for word", (table,))


def _signature(reading: Reading) -> Iterator[Block]:
    signature = reading.compared.signature
    lines = [("bench", signature.bench_version), ("facts", signature.facts_version), ("prices", signature.prices_date),
             ("encodings", ", ".join(signature.encodings)), ("calibration", signature.calibration), ("seed", str(signature.seed)),
             ("recordings", count(len(signature.traces) or len(reading.compared.runs)))]  # fmt: skip
    rows = tuple(Row((Cell(name), Cell((Span(value, code=True),)))) for name, value in lines if value)
    specs = [Code(f"{name}:", spec) for name in reading.compared.specs if (spec := reading.spec(name))][:40]
    yield Fold(
        "Signature: what made these numbers",
        (Table("Signature", (Column("setting"), Column("value")), rows), *specs),
    )
