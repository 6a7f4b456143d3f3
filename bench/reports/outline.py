"""Blocks reduced to what any text can show: headings, paragraphs, lists, tables, folds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .blocks import (
    Block,
    Code,
    Drawing,
    Figures,
    Fold,
    Gallery,
    Gates,
    Heading,
    Line,
    Pair,
    Prose,
    Sentence,
    SideBySide,
    Span,
    Table,
    Text,
)

DOTS = {"advised": "●", "today": "■", "rejected": "○", "other": "·"}
"""The signs of marks in a text."""


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: tuple[Text, ...]


@dataclass(frozen=True)
class Lines:
    """Lines of a comparison, each with its sign."""

    lines: tuple[Line, ...]


Part = Heading | Prose | Items | Table | Lines | Fold


def outline(blocks: Iterable[Block]) -> Iterator[Part]:
    """The parts of some blocks in order; a chart is the sentence that describes it."""
    for block in blocks:
        match block:
            case Heading() | Prose() | Table() | Fold():
                yield block
            case Sentence(text):
                yield Prose(text)
            case Figures(items, title, chart, note):
                yield Items(tuple(_with_notes(item.name, item.value, item.line, item.note) for item in items))
                if chart is not None:
                    yield Prose(chart.alt)
            case Drawing(chart, title, note):
                yield from [Heading(title)] if title else []
                yield from (Prose(text) for text in (chart.alt, note) if text)
            case Gallery(items):
                yield Items(tuple(f"{DOTS[mark]} {name}: {line}" for mark, name, line, _ in items))
            case SideBySide(left_title, left, right_title, right):
                for title, lines in ((left_title, left), (right_title, right)):
                    if title:
                        yield from (Prose(title), Lines(lines))
            case Gates(items):
                yield Items(
                    tuple(
                        (
                            f"{'✓' if gate.passed else '✕'} ",
                            Span(gate.name, strong=True),
                            f" ({gate.condition}): {gate.gauge.alt if gate.gauge else gate.change}. {gate.counts}",
                        )
                        for gate in items
                    )
                )
            case Code(label, text):
                yield Prose((f"{label} " if label else "", Span(text, code=True)))
            case Pair(left, right):
                yield from outline((*left, *right))


def _with_notes(name: str, value: str, *notes: str) -> Text:
    rest = "; ".join(filter(None, notes))
    return (f"{name}: ", Span(value, strong=True), f" ({rest})" if rest else "")
