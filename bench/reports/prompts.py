"""Two prompts of one step side by side: today's, and a strategy's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from ..model.detail import ReplayDetail, ShownMessage
from .blocks import Line, SideBySide, Span, Text
from .numbers import count, of

_LINES = 12  # that differ, on each side
_AROUND = 1  # equal messages shown beside those that differ
_BRIEF, _FULL = 140, 420  # characters of a message


def prompt_at(detail: ReplayDetail, step: int) -> list[ShownMessage] | None:
    """The messages of the prompt of a step; None where the step has no call."""
    threads: dict[str, list[int]] = {}
    for call in detail.calls:
        prompt = threads.setdefault(call.thread, [])
        prompt[call.keep :] = call.tail
        if call.step == step:
            return [detail.messages[number] for number in prompt if 0 <= number < len(detail.messages)]
    return None


def prompts_of(
    detail: ReplayDetail, today: ReplayDetail | None, step: int, *, today_name: str = "today"
) -> SideBySide | None:
    """The prompt of a step under both.

    The strategy's alone where today's is not known, None where neither is.
    """
    after = prompt_at(detail, step)
    before = prompt_at(today, step) if today is not None else None
    if after is None:
        return None
    facts = [fact.fact for fact in detail.missed if fact.turn == step]
    title = f"{detail.strategy}, prompt of step {step}"
    if before is None:
        lines = [_line("", message, facts, _BRIEF) for message in after[-_LINES:]]
        rest = len(after) - len(lines)
        return SideBySide(
            title,
            ((Line("", "", (Span(f"{of(rest, 'earlier message')}", "muted"),)), *lines) if rest else tuple(lines)),
        )
    left, right = _sides(before, after, facts)
    return SideBySide(f"{today_name}, prompt of step {step}", left, title, right)


def _sides(
    before: Sequence[ShownMessage], after: Sequence[ShownMessage], facts: Sequence[str]
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Only what differs, most relevant first, with its neighbours; what is equal is counted."""
    old, new = ([(message.step, message.kind, message.text) for message in side] for side in (before, after))
    left: list[Line] = []
    right: list[Line] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            equal = [*_equal(before[a:b], facts, first=a == 0, last=b == len(before))]
            left += equal
            right += equal
        else:
            left += _changed("-", before[a:b], facts)
            right += _changed("+", after[c:d], facts)
    return tuple(left), tuple(right)


def _changed(sign: Literal["-", "+"], messages: Sequence[ShownMessage], facts: Sequence[str]) -> Iterator[Line]:
    """Changed messages; of many, those that hold a missed fact and the first ones."""
    holding = [message for message in messages if any(fact in message.text for fact in facts)]
    others = [message for message in messages if not any(message is one for one in holding)]
    chosen = [*holding[:_LINES], *others[: max(2, _LINES - len(holding))]]
    for message in messages:
        if any(message is one for one in chosen):
            yield _line(sign, message, facts, _FULL)
    if len(messages) > len(chosen):
        yield Line(sign, "", (Span(f"{of(len(messages) - len(chosen), 'more message')}", "muted"),))


def _equal(messages: Sequence[ShownMessage], facts: Sequence[str], *, first: bool, last: bool) -> Iterator[Line]:
    head, tail = (0 if first else _AROUND), (_AROUND if not last else 2)
    if len(messages) <= head + tail + 1:
        head, tail = len(messages), 0
    for message in messages[:head]:
        yield _line("", message, facts, _BRIEF)
    hidden = len(messages) - head - tail
    if hidden > 0:
        yield Line("", "", (Span(f"{of(hidden, 'equal message')}", "muted"),))
    for message in messages[len(messages) - tail :] if tail else ():
        yield _line("", message, facts, _BRIEF)


def _line(sign: Literal["", "-", "+"], message: ShownMessage, facts: Sequence[str], most: int) -> Line:
    who = f"{'' if message.step is None else message.step} {message.role}".strip()
    text = excerpt(message.text, facts if sign != "+" else (), most)
    hidden = message.left_out + max(0, len(message.text) - most)
    note: tuple[Span, ...] = (
        (Span(f" {count(message.left_out)} characters more", "muted"),) if message.left_out and hidden else ()
    )
    return Line(sign, who, (*_spans(marked(text, facts, "bad") if sign == "-" else text), *note))


def _spans(text: Text) -> tuple[str | Span, ...]:
    return (text,) if isinstance(text, str) else text


def excerpt(text: str, facts: Sequence[str], most: int) -> str:
    """A text on one line in at most about so many characters, around the facts where it holds some.

    >>> excerpt("a " * 50 + "HAT028" + " b" * 50, ["HAT028"], 24)
    '… a a HAT028 b b b …'
    """
    flat = " ".join(text.split())
    places = sorted(at for fact in facts if (at := flat.find(fact)) >= 0)
    if len(flat) <= most:
        return flat
    if not places:
        return flat[: most - 1].rstrip() + " …"
    around = max(4, most // (2 * min(len(places), 4)) - 8)
    pieces: list[list[int]] = []
    for at in places[:4]:
        start, end = max(0, at - around), min(len(flat), at + around + 8)
        if pieces and start <= pieces[-1][1]:
            pieces[-1][1] = max(end, pieces[-1][1])
        else:
            pieces.append([start, end])
    text = " … ".join(flat[start:end].strip() for start, end in pieces)
    return ("… " if pieces[0][0] else "") + text + (" …" if pieces[-1][1] < len(flat) else "")


def marked(text: str, facts: Sequence[str], tone: Literal["bad", ""]) -> Text:
    """A text with each fact set off.

    >>> marked("to HAT028 now", ["HAT028"], "bad")[1]
    Span(text='HAT028', tone='bad', strong=True, code=False, href='', lost=True)
    """
    wanted = sorted({fact for fact in facts if fact}, key=len, reverse=True)
    if not wanted or not tone:
        return text
    parts = re.split("(" + "|".join(map(re.escape, wanted)) + ")", text)
    return tuple(Span(part, tone, strong=True, lost=True) if part in wanted else part for part in parts if part)
