"""Two prompts of one step side by side: today's, and a strategy's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal

from ..model.detail import ReplayDetail, ShownMessage
from .blocks import Line, SideBySide, Span, Text
from .numbers import count, of

_LINES = 12  # that differ, in each place
_BRIEF, _FULL = 140, 420  # characters of an equal message, of one that differs
Sign = Literal["", "-", "+"]


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
        rest = len(after) - _LINES
        earlier = [_note("", of(rest, "earlier message"))] if rest > 0 else []
        return SideBySide(title, (*earlier, *(_line("", message, facts) for message in after[-_LINES:])))
    left: list[Line] = []
    right: list[Line] = []
    old, new = ([(message.step, message.kind, message.text) for message in side] for side in (before, after))
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            equal = _equal(before[a:b], facts)
            left += equal
            right += equal
        else:
            left += _changed("-", before[a:b], facts)
            right += _changed("+", after[c:d], facts)
    return SideBySide(f"{today_name}, prompt of step {step}", tuple(left), title, tuple(right))


def _changed(sign: Sign, messages: Sequence[ShownMessage], facts: Sequence[str]) -> list[Line]:
    """Changed messages in order; of many, those that hold a missed fact, then the first ones."""
    places = sorted(range(len(messages)), key=lambda at: not any(fact in messages[at].text for fact in facts))
    lines = [_line(sign, messages[at], facts) for at in sorted(places[:_LINES])]
    more = len(messages) - len(lines)
    return [*lines, _note(sign, of(more, "more message"))] if more else lines


def _equal(messages: Sequence[ShownMessage], facts: Sequence[str]) -> list[Line]:
    """The first and the last of equal messages; those between are counted."""
    if len(messages) <= 3:
        return [_line("", message, facts) for message in messages]
    between = _note("", of(len(messages) - 2, "equal message"))
    return [_line("", messages[0], facts), between, _line("", messages[-1], facts)]


def _note(sign: Sign, text: str) -> Line:
    return Line(sign, "", (Span(text, "muted"),))


def _line(sign: Sign, message: ShownMessage, facts: Sequence[str]) -> Line:
    who = f"{'' if message.step is None else message.step} {message.role}".strip()
    text = excerpt(message.text, facts if sign != "+" else (), _FULL if sign else _BRIEF)
    parts = marked(text, facts) if sign == "-" else (text,)
    cut = f" {count(message.left_out)} characters more" if message.left_out else "" if text else "empty"
    return Line(sign, who, (*parts, Span(cut, "muted")) if cut else parts)


def excerpt(text: str, facts: Sequence[str], most: int) -> str:
    """A text on one line in at most about so many characters, around the facts where it holds some.

    >>> excerpt("a " * 50 + "HAT028" + " b" * 50, ["HAT028"], 24)
    '… a a HAT028 b b b …'
    """
    flat = " ".join(text.split())
    first = (_pattern([fact]).search(flat) for fact in facts if fact)
    places = sorted(match.start() for match in first if match)[:4]
    if len(flat) <= most:
        return flat
    if not places:
        return flat[: most - 1].rstrip() + " …"
    around = max(4, most // (2 * len(places)) - 8)
    pieces: list[tuple[int, int]] = []
    for at in places:
        start, end = max(0, at - around), min(len(flat), at + around + 8)
        if pieces and start <= pieces[-1][1]:
            start, _ = pieces.pop()
        pieces.append((start, end))
    inner = " … ".join(flat[start:end].strip() for start, end in pieces)
    return ("… " if pieces[0][0] else "") + inner + (" …" if pieces[-1][1] < len(flat) else "")


def marked(text: str, facts: Sequence[str]) -> Text:
    """A text with each fact set off.

    >>> marked("to HAT028 now", ["HAT028"])[1]
    Span(text='HAT028', tone='bad', strong=True, code=False, href='', lost=True)
    """
    wanted = {fact for fact in facts if fact}
    parts = _pattern(wanted).split(text) if wanted else [text]
    return tuple(Span(part, "bad", strong=True, lost=True) if part in wanted else part for part in parts if part)


def _pattern(facts: Iterable[str]) -> re.Pattern[str]:
    """Any of some facts, the longest first, where it is no part of a longer word or number."""
    ordered = sorted(facts, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, ordered))})(?!\w)")
