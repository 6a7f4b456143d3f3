"""Two prompts of one step side by side: today's, and a strategy's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..model.detail import ReplayDetail, ShownMessage
from .blocks import Cell, Span, Table, Text, columns, table
from .numbers import count, of

_MOST = 4  # messages that differ
_CHARS = 300

_Both = tuple[ShownMessage | None, ShownMessage | None]
"""A message of today's prompt, and the one in its place."""


def prompt_at(detail: ReplayDetail, step: int) -> list[ShownMessage] | None:
    """The messages of the prompt of a step; None where the step has no call."""
    threads: dict[str, list[int]] = {}
    for call in detail.calls:
        prompt = threads.setdefault(call.thread, [])
        prompt[call.keep :] = call.tail
        if call.step == step:
            return [detail.messages[number] for number in prompt if 0 <= number < len(detail.messages)]
    return None


def prompts_of(detail: ReplayDetail, today: ReplayDetail | None, step: int, today_name: str = "today") -> Table | None:
    """The messages that differ between both prompts of a step, those with a missed value first.

    None where one of the prompts is not known, or where both are the same.
    """
    after = prompt_at(detail, step)
    before = None if today is None else prompt_at(today, step)
    if before is None or after is None:
        return None
    differing = [*_differing(before, after)]
    if not differing:
        return None
    missed = [fact for fact in detail.missed if fact.turn == step]
    origins, facts = {fact.origin_step for fact in missed}, [fact.fact for fact in missed if fact.fact]
    places = [at for at, pair in enumerate(differing) if _step(*pair) in origins] or [*range(len(differing))]
    rows = []
    for at in places[:_MOST]:
        old, new = differing[at]
        lost = [fact for fact in facts if new is None or fact not in new.text]
        after_cell, before_cell = Cell(_text_of(new, ()), tone="muted"), Cell(_text_of(old, lost), tone="bad")
        rows.append((_who(old, new), before_cell, after_cell))
    same = len(before) - sum(old is not None for old, _ in differing)
    heads = columns("message", today_name, detail.strategy)
    note = _rest(len(differing) - len(rows), same)
    return table(f"Prompt of step {step}", heads, rows, look="texts", note=note)


def _rest(more: int, same: int) -> str:
    """The messages that the table does not show, in words."""
    notes = [of(more, "more message differs", "more messages differ")] if more > 0 else []
    notes += [of(same, "message is", "messages are") + " the same"] if same > 0 else []
    return "; ".join(notes) + "." if notes else ""


def _differing(before: Sequence[ShownMessage], after: Sequence[ShownMessage]) -> Iterator[_Both]:
    """Yields the messages that one prompt lacks or holds otherwise; two of one step and kind belong
    together.
    """
    rest = list(after)
    for old in before:
        new = next((item for item in rest if (item.step, item.kind) == (old.step, old.kind)), None)
        if new is not None:
            rest.remove(new)
        if new is None or (old.text, old.left_out) != (new.text, new.left_out):
            yield old, new
    yield from ((None, new) for new in rest)


def _step(old: ShownMessage | None, new: ShownMessage | None) -> int | None:
    return old.step if old else new.step if new else None


def _who(old: ShownMessage | None, new: ShownMessage | None) -> str:
    step, role = _step(old, new), old.role if old else new.role if new else ""
    return role if step is None else f"step {step}, {role}"


def _text_of(message: ShownMessage | None, facts: Sequence[str]) -> Text:
    """A message on one line, cut around the missed values, else around the place where it differs."""
    if message is None:
        return (Span("not in the prompt", "muted"),)
    wanted = _pattern(facts)
    first = wanted.search(message.text) if wanted else None
    at = first.start() if first else message.focus
    start = max(0, min(at - _CHARS // 3, len(message.text) - _CHARS))
    text = " ".join(message.text[start : start + _CHARS].split())
    rest = len(message.text) - _CHARS + message.left_out
    if not text:
        return (Span("empty", "muted"),)
    spans: list[str | Span] = ["… "] if start else []
    for number, part in enumerate(wanted.split(text) if wanted else [text]):
        spans += [Span(part, code=True, lost=number % 2 == 1)] if part else []
    return (*spans, Span(f" … {count(rest)} characters more", "muted")) if rest > 0 else tuple(spans)


def _pattern(facts: Sequence[str]) -> re.Pattern[str] | None:
    """Any of some values, the longest first, where it is no part of a longer word or number."""
    if not facts:
        return None
    ordered = sorted(facts, key=len, reverse=True)
    return re.compile(rf"(?:(?<!\w)|(?<=\\[nrt])|(?<=\\u[0-9a-f]{{4}}))({'|'.join(map(re.escape, ordered))})(?!\w)")
