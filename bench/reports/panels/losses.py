"""Losses: the runs that lose most, then the values, turns and prompts of a few of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...comparison.rules import TABLE
from ...model.base import grouped
from ...model.detail import ChangedMessage, Excerpt, MissedFact, ReplayDetail
from ...model.scores import Finding
from ...text.wording import count, counted, listed, sentence_case
from ..blocks import (
    Block,
    Cell,
    Cells,
    Fold,
    Prose,
    Section,
    Span,
    Table,
    Text,
    brief,
    code,
    headed,
    table,
)
from ..reading import MISSED, Reading

_RUNS, _STRATEGIES, _ROWS, _VALUES, _EACH = 12, 6, 10, 8, 2
_HEAT = (0.0, 0.15, 0.35)


def sections(reading: Reading) -> Iterator[Section]:
    """The sections on losses and on single runs; none if no turn needed anything and no rule found
    anything."""
    if blocks := (*_heat(reading), *_findings(reading)):
        yield Section("losses", "Losses", blocks)
    if details := tuple(_details(reading)):
        yield Section("run", "One run", details)


# ---------------------------------------------------------------- by run


def _heat(reading: Reading) -> Iterator[Block]:
    """Yield the table of missed turns by run and strategy, the worst runs first."""
    names = [item.strategy for item in reading.advice.tried if "inactive" not in item.marks]
    missed = {run.id: {it: reading.at(run, it, MISSED) for it in names} for run in reading.runs}
    total = {name: sum(values[name] or 0 for values in missed.values()) for name in names}
    if not any(total.values()):
        return
    subject = reading.advice.subject
    losing = [name for name in names if total[name] or name == subject]
    shown = sorted(losing, key=lambda name: (name != subject, -total[name]))[:_STRATEGIES]
    sums = [count(sum(bool(values[name]) for values in missed.values())) for name in shown]
    rows: list[Cells] = [("runs that miss any", *sums, counted(len(missed), "run"))]
    called = brief([reading.name(run.id) for run in reading.runs])
    turns = sum(run.facts.turns for run in reading.runs)
    rows.append(("turns in all runs", *[count(total[name]) for name in shown], count(turns)))
    for run in sorted(reading.runs, key=lambda run: -sum(missed[run.id][it] or 0 for it in shown)):
        if any(missed[run.id].values()):
            turns = run.facts.turns
            cells = [_heat_cell(missed[run.id][name], turns) for name in shown]
            rows.append((called[reading.name(run.id)], *cells, count(turns)))
    note = "Stronger colours: above 15% and above 35% of the turns of the run."
    if len(shown) < len(losing):
        note += (
            f" {count(len(shown))} of {count(len(losing))} strategies that miss turns are shown."
        )
    title, heads = "Turns that would have missed something", ["run", *shown, "of turns"]
    yield from headed(table(title, heads, rows, look="grid", most=_RUNS + 2, noun="run", note=note))


def _heat_cell(value: float | None, turns: int) -> Cell:
    """The cell of a run's missed turns, darker for a larger share."""
    if value is None:
        return Cell("–")
    share = value / turns if turns else float(bool(value))
    return Cell(count(value), heat=sum(share > edge for edge in _HEAT))


def _findings(reading: Reading) -> Iterator[Block]:
    """Yield the table of texts that made rules refuse strategies, by rule, and of the judgements
    that changed; the heat table shows the other losses."""
    rows: list[Cells] = []
    for entry in TABLE:
        found = grouped(
            (finding, item.strategy)
            for item in reading.advice.ranked
            for result in item.rules
            if result.rule == entry.rule and entry.refusal and not result.passed
            for finding in _distinct(result.findings)
        )
        examples = [
            (
                Cell(listed(names), finding.run),
                Cell(code(finding.was[:240]) if finding.was else ""),
                Cell(code(finding.text[:240], "bad")),
            )
            for finding, names in found.items()
        ]
        rows += [sentence_case(entry.measure), *examples] if examples else []
    judgements: list[Cells] = [
        (
            Cell(score.strategy, f"{reading.name(run.id)}, step {item.step}"),
            code(item.was[:240]),
            code(item.text[:240], "bad"),
        )
        for run in reading.runs
        for score in run.scores
        for rule, check in score.checks.items()
        if rule in ("stored", "judged", "routed")
        for item in check.findings
    ]
    rows += ["Judgements that changed", *judgements] if judgements else []
    if rows:
        title, heads = "Texts and judgements", ["strategy", "before", "with the strategy"]
        yield from headed(table(title, heads, rows, most=2 * _ROWS, noun="example"))


def _distinct(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The first finding of each text, whatever its numbers if nothing stood there before; the same
    one on other steps and runs says nothing new."""
    first: dict[tuple[str, str], Finding] = {}
    for finding in findings:
        text = finding.text if finding.was else re.sub(r"\d+", "", finding.text)
        first.setdefault((finding.was, text), finding)
    return first.values()


# ---------------------------------------------------------------- one run in detail


def _details(reading: Reading) -> Iterator[Block]:
    """Yield the worst runs of each strategy, those with failed gates first; only the first one, if
    it loses something, is not folded."""
    failed = {gate.strategy for gate in reading.failed_gates if gate.outcome == "fail"}

    def order(item: ReplayDetail) -> tuple[bool, int, int]:
        return item.strategy not in failed, -len(_lost(item)), -len(item.missed)

    items = sorted(reading.compared.details, key=order)
    places = Counter[str]()
    for item in items:
        places[item.strategy] += 1
        most = _EACH if _lost(item) else 1
        blocks = tuple(_detail(item)) if places[item.strategy] <= most else ()
        if not blocks:
            continue
        title = f"{reading.name(item.run)} with `{item.strategy}`: {_lost_in_words(item)}"
        if item is items[0] and _lost(item):
            yield Prose(title, "heading")
            yield from blocks
        else:
            yield Fold(title, blocks)


def _lost(item: ReplayDetail) -> list[MissedFact]:
    """The values that are missed, without those that a handle can fetch."""
    return [fact for fact in item.missed if not fact.handle]


def _lost_in_words(item: ReplayDetail) -> str:
    """The number of turns that would miss something, in words."""
    lost, handles = _lost(item), len(item.missed) - len(_lost(item))
    turns = counted(len({fact.turn for fact in lost}), "turn")
    text = f"{turns} would miss {counted(len(lost), 'value')}" if lost else "nothing is missed"
    return text + (f", {counted(handles, 'value')} behind a handle" if handles else "")


def _detail(item: ReplayDetail) -> Iterator[Block]:
    """Yield the blocks on one run under one strategy."""
    if item.step is not None and item.changed:
        yield from headed(_prompts(item))
        yield from headed(_records(item))
    if item.missed:
        yield from headed(_missing(item.missed))


def _missing(missed: Sequence[MissedFact]) -> Table:
    """The table of missed values, with a row per turn, origin, and place of the last mention."""
    groups = grouped(((it.turn, it.origin_step, it.origin, _last_seen(it)), it) for it in missed)
    rows = []
    for (turn, step, origin, note), facts in sorted(groups.items()):
        place = f"step {step}" if origin == "result" else f"step {step}, {origin}"
        values: list[str | Span] = []
        for fact in facts[:_VALUES]:
            values += [", " if values else "", Span(fact.fact[:120], "bad", code=True)]
        more = len(facts) - _VALUES
        values += [f" and {count(more)} more"] if more > 0 else []
        rows.append((f"step {turn}", tuple(values), Cell(place, note)))
    heads = ["needed at", "missing values", "first returned at"]
    return table("Missing values", heads, rows, most=_ROWS, noun="row")


def _last_seen(fact: MissedFact) -> str:
    """Where a missed fact can still be fetched, else how long ago a message last had it."""
    if fact.handle:
        return f"behind the handle {fact.handle}"
    return (
        f"last seen {counted(fact.distance, 'turn')} earlier"
        if fact.distance
        else "seen just before"
    )


# ---------------------------------------------------------------- two prompts


def _prompts(detail: ReplayDetail) -> Table:
    """The messages in which today's prompt of a step and the strategy's differ, side by side."""
    rows = [
        (
            _place(message),
            Cell(_excerpt(message.before, message.lost), tone="bad"),
            Cell(_excerpt(message.after, ()), tone="muted"),
        )
        for message in detail.changed
    ]
    more, same = detail.more_changed, detail.unchanged
    rest = [f"{counted(more, 'more message differs', 'more messages differ')}."] if more else []
    rest += [f"{counted(same, 'message is', 'messages are')} the same."] if same else []
    heads = ["message", "today", detail.strategy]
    return table(f"Prompt of step {detail.step}", heads, rows, look="texts", note=" ".join(rest))


def _place(message: ChangedMessage) -> str:
    step = "" if message.step is None else f"step {message.step}, "
    return f"{step}{message.role}"


def _records(detail: ReplayDetail) -> Table:
    """The changes of the records in the messages that differ, with the first value of each."""
    rows: list[Cells] = []
    for message in detail.changed:
        rows += [_place(message)] if message.records else []
        for change in message.records:
            values = code(change.before[:240], "bad"), code(change.after[:240])
            rows.append((code(change.where), f"{count(change.count)} {change.kind}", *values))
    heads = ["where", "change", "today", detail.strategy]
    note = "Each row shows the first of its values."
    return table("Changed records", heads, rows, most=2 * _ROWS, noun="change", note=note)


def _excerpt(part: Excerpt | None, lost: Sequence[str]) -> Text:
    """An excerpt of a message on one line, with lost values marked."""
    text = "" if part is None else " ".join(part.text.split())
    if part is None or not text:
        return (Span("not in the prompt" if part is None else "empty", "muted"),)
    spans: list[str | Span] = ["… "] if part.start else []
    values = "|".join(map(re.escape, sorted(lost, key=len, reverse=True)))  # the longest first
    outside_words = rf"(?:(?<!\w)|(?<=\\[nrt])|(?<=\\u[0-9a-f]{{4}}))({values})(?!\w)"
    for number, piece in enumerate(re.split(outside_words, text) if lost else [text]):
        spans += [Span(piece, code=True, lost=number % 2 == 1)] if piece else []
    rest = part.left_out
    return (*spans, Span(f" … {count(rest)} characters more", "muted")) if rest else tuple(spans)
