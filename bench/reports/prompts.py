"""Two prompts of one step side by side: today's and a strategy's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model.detail import ChangedMessage, Excerpt, ReplayDetail
from .blocks import Cell, Heads, Span, Table, Text, table
from .numbers import count, counted


def prompts_of(detail: ReplayDetail) -> Table | None:
    """The messages in which both prompts of a step differ; None if all are the same."""
    if detail.step is None or not detail.changed:
        return None
    rows = [_row(message) for message in detail.changed]
    heads: Heads = ["message", "today", detail.strategy]
    return table(
        f"Prompt of step {detail.step}", heads, rows, look="texts", note=" ".join(_rest(detail))
    )


def _row(message: ChangedMessage) -> tuple[str, Cell, Cell]:
    name = message.role if message.step is None else f"step {message.step}, {message.role}"
    before = Cell(_text_of(message.before, message.lost), tone="bad")
    return name, before, Cell(_text_of(message.after, ()), tone="muted")


def _rest(detail: ReplayDetail) -> Iterator[str]:
    """Yield sentences on the messages that the table leaves out."""
    if detail.more_changed:
        yield f"{counted(detail.more_changed, 'more message differs', 'more messages differ')}."
    if detail.unchanged:
        yield f"{counted(detail.unchanged, 'message is', 'messages are')} the same."


def _text_of(part: Excerpt | None, lost: Sequence[str]) -> Text:
    """An excerpt of a message on one line, with lost values marked."""
    text = "" if part is None else " ".join(part.text.split())
    if part is None or not text:
        return (Span("not in the prompt" if part is None else "empty", "muted"),)
    spans: list[str | Span] = ["… "] if part.start else []
    wanted = _pattern(lost)
    for number, piece in enumerate(wanted.split(text) if wanted else [text]):
        spans += [Span(piece, code=True, lost=number % 2 == 1)] if piece else []
    rest = part.left_out
    return (*spans, Span(f" … {count(rest)} characters more", "muted")) if rest else tuple(spans)


def _pattern(values: Sequence[str]) -> re.Pattern[str] | None:
    """The pattern that finds any of some values, the longest first, outside longer words and
    numbers."""
    if not values:
        return None
    ordered = sorted(values, key=len, reverse=True)
    return re.compile(
        rf"(?:(?<!\w)|(?<=\\[nrt])|(?<=\\u[0-9a-f]{{4}}))({'|'.join(map(re.escape, ordered))})(?!\w)"
    )
