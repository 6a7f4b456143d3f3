"""The texts that a strategy wrote, as the checks read them: each with the recorded step that it shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape as unescape_html
from typing import NamedTuple

from ...model import Message, ToolResult
from ...model.scores import Check, Finding
from ...text.decode import NothingParsed, parse_prefix, unescape
from ...text.reading import is_legend
from ..of_replay import ReplayEvidence
from .gaps import notice_between_ends

_NUMBERED = re.compile(r"^\s*\d+(?:\s{2,}|\s*[:|→\t]\s?|$)")
"""What a tool that numbers lines puts in front of each."""

_SPEAKERS = {
    "user": ("user", "human", "customer"),
    "assistant": ("assistant", "agent", "ai", "model"),
    "system": ("system",),
}
_QUOTE = re.compile(
    r"\W*(?:the )?(?P<speaker>"
    + "|".join(name for names in _SPEAKERS.values() for name in names)
    + r")(?: said| says| wrote| asked| replied)?\W{0,3}:\s*(?P<words>\S.*)",
    re.IGNORECASE,
)

MOST_FINDINGS = 5
"""The findings of one check that are kept for a report."""


class OwnText(NamedTuple):
    """One message of a strategy's own: its number, itself, its text as it is read, and the result that it shows (None: none)."""

    number: int
    message: Message
    text: str
    result: ToolResult | None


def own_texts(evidence: ReplayEvidence, *, blank: bool = False) -> Iterator[OwnText]:
    """Yield each message of the strategy's own that stood in a prompt and says something, in order; `blank`: those that say nothing."""
    results = evidence.messages.contents.results
    for number in evidence.own:
        message = evidence.messages.messages[number]
        if bool(message.text.strip() or message.tool_calls) != blank:
            result = results.get(-1 if message.step is None else message.step)
            yield OwnText(number, message, evidence.messages.contents.text_of(message), result)


def notice_of_cut(evidence: ReplayEvidence, own: OwnText) -> str | None:
    """The words of its own in a text that shows no more of its result than the beginning and the end; None for any other.

    The result may be cut as its text, as its plain lines, or as Python writes its value.
    """
    memo = evidence.session.notices
    if own.result is None:
        return None
    if own.number not in memo:
        table, known = evidence.messages.table(own.result.index), evidence.session.lines_of(own.result.index)
        notices = (notice_between_ends(own.text, way, known, table) for way in _ways(evidence, own, own.result))
        memo[own.number] = next((notice for notice in notices if notice is not None), None)
    return memo[own.number]


def _ways(evidence: ReplayEvidence, own: OwnText, result: ToolResult) -> Iterator[str]:
    """Yield the ways in which a result is written before it is cut."""
    yield result.text
    yield evidence.messages.texts.plain(result.text)
    if isinstance(result.data, dict | list) and own.text[:2] in _PYTHON:
        yield str(result.data)


_PYTHON = frozenset({"{'", "[{", "['"})
"""The beginnings of a Python mapping or list as text."""


def new_lines(evidence: ReplayEvidence, own: OwnText) -> list[str]:
    """The lines of an own text that do not stand in what it shows, or for a summary in the trace.

    Left out are the whole result, data that a line begins with, a legend, and what stands in some
    message word for word.
    """
    memo = evidence.session.new_lines
    if own.number not in memo:
        memo[own.number] = list(_new_lines(evidence, own))
    return memo[own.number]


def _new_lines(evidence: ReplayEvidence, own: OwnText) -> Iterator[str]:
    known = evidence.session.lines_of(None if own.result is None else own.result.index)
    verbatim = evidence.session.mentions.verbatim
    text = notice_of_cut(evidence, own)
    if text is None:
        text = (evidence.messages.contents.of(own.message) or [""])[0] if own.message.text else ""
        if own.result is not None and own.result.text:
            text = text.replace(own.result.text, "\n")
    parts = evidence.session.prose
    for line in text.split("\n"):
        if line in known or ("&" in line and unescape_html(line) in known):
            continue
        if line not in parts:
            parts[line] = tuple(_prose(line, verbatim))
        yield from parts[line]


def _prose(line: str, verbatim: Callable[[str], bool]) -> Iterator[str]:
    """Yield the sentences of a line that no message has; none for a legend."""
    if not line.strip() or is_legend(line) or verbatim(line):
        return
    prose = _NUMBERED.sub("", _behind_data(line))
    for part in unescape(prose).split("\n") if "\\" in prose else (prose,):
        if part.strip() and (part == line or not verbatim(part)):
            yield part


def _behind_data(line: str) -> str:
    """A line without the JSON value that it begins with; data are held against their records by another rule.

    >>> _behind_data(' {"a": 1} of 3'), _behind_data("[x] of 3"), _behind_data("of 3")
    (' of 3', '[x] of 3', 'of 3')
    """
    if line.lstrip()[:1] not in ("{", "["):
        return line
    try:
        _, end = parse_prefix(line)
    except NothingParsed:
        return line
    return line[end:]


@lru_cache(1 << 12)
def speaker_of(line: str) -> tuple[str, str]:
    """The role to which a line gives words, and these words; two empty texts for none.

    >>> speaker_of("The user said: fix it"), speaker_of("Status: open")
    (('user', 'fix it'), ('', ''))
    """
    quoted = _QUOTE.fullmatch(line)
    if quoted is None:
        return "", ""
    speaker = quoted["speaker"].casefold()
    return next(role for role, names in _SPEAKERS.items() if speaker in names), quoted["words"]


def template_lines(texts: list[OwnText]) -> frozenset[str]:
    """The lines of a strategy's own wording: those that at least half of its texts of one kind have.

    Texts that show results are one kind, summaries another; of one text nothing is known.
    """
    constant: set[str] = set()
    for of_results in (True, False):
        lines = [
            frozenset(map(str.strip, own.text.split("\n"))) - {""}
            for own in texts
            if (own.result is not None) == of_results
        ]
        counts = Counter(line for each in lines for line in each)
        constant.update(line for line, count in counts.items() if count > 1 and 2 * count >= len(lines))
    return frozenset(constant)


def check_of(findings: list[Finding], of: int, summaries: int = 0, unchecked: int = 0) -> Check:
    """A check of so many texts or prompts, with its first findings."""
    first = tuple(findings[:MOST_FINDINGS])
    return Check(hits=len(findings), of=of, summaries=summaries, unchecked=unchecked, findings=first)
