"""The texts that a strategy wrote, as the checks read them: each with the recorded step that it
shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from html import unescape as unescape_html
from itertools import compress
from typing import Any, NamedTuple

from ...model import Message, ToolResult, nested
from ...model.scores import Check, Finding
from ...text.decode import NothingParsed, parse_json, parse_prefix
from ...text.escapes import unescape
from ...text.excerpts import NOTICE_CHARS, Gap, gaps_of
from ...text.omissions import notice_at
from ...text.reading import unfolded, without_number
from ..of_replay import ReplayEvidence
from .gaps import Notices

SPEAKERS = {
    "user": ("user", "human", "customer"),
    "assistant": ("assistant", "agent", "ai", "model"),
    "system": ("system",),
}
"""The names by which a text calls each role."""

_QUOTE = re.compile(
    r"\W*(?:the )?(?P<speaker>"
    + "|".join(name for names in SPEAKERS.values() for name in names)
    + r")(?: said| says| wrote| asked| replied)?\W{0,3}:\s*(?P<words>(?:\S.*)?)",
    re.IGNORECASE,
)

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_QUOTED_BLANKS = 3
"""Words of a message between tags are a quotation from so many blanks on."""

MOST_FINDINGS = 5
"""The findings of one check that are kept for a report."""


class OwnText(NamedTuple):
    """One message of a strategy's own: its number, itself, its text as it is read, and the result
    that it shows (None: none).
    """

    number: int
    message: Message
    text: str
    result: ToolResult | None


def own_texts(evidence: ReplayEvidence, *, blank: bool = False) -> Iterator[OwnText]:
    """Yield each message of the strategy's own that stood in a prompt and says something, in order;
    `blank`: those that say nothing.
    """
    results = evidence.messages.contents.results
    for number in evidence.own:
        message = evidence.messages.messages[number]
        if bool(message.text.strip() or message.tool_calls) != blank:
            result = results.get(-1 if message.step is None else message.step)
            yield OwnText(number, message, evidence.messages.contents.text_of(message), result)


def gaps_shown(evidence: ReplayEvidence, own: OwnText) -> list[Gap] | None:
    """The gaps of a text that shows its result and nothing else but notices between its parts; None
    for any other.

    The result may be written as its text, as its value, as its plain lines, or as Python writes it.
    """
    memo = evidence.session.gaps
    if own.result is None:
        return None
    if own.number not in memo:
        notices = notices_of(evidence, own.result)
        as_written = evidence.messages.contents.excerpt(own.text, own.result)
        ways = (way for way in _ways(evidence, own, own.result) if _may_show(*way))
        found = (
            as_written.gaps(notices.admits)
            if (shown, full) == (own.text, own.result.text)
            else gaps_of(shown, full, notices.admits)
            for shown, full in ways
        )
        memo[own.number] = next((gaps for gaps in found if gaps is not None), None)
    return memo[own.number]


def notices_of(evidence: ReplayEvidence, result: ToolResult) -> Notices:
    """The words that are notices in a text which shows a result."""
    return Notices(
        result.text,
        evidence.session.lines_of(result.index),
        evidence.messages.table(result.index),
        evidence.session.result_counts(result).has,
    )


def _ways(evidence: ReplayEvidence, own: OwnText, result: ToolResult) -> Iterator[tuple[Any, Any]]:
    """Yield a text and its result in the ways in which they may be the same."""
    text = own.message.text
    yield from ((shown, result.text) for shown in dict.fromkeys((own.text, text)))
    value = result.data
    with suppress(NothingParsed):
        yield parse_json(text), parse_json(result.text) if value is None else value
    yield text, evidence.messages.texts.plain(result.text)
    if isinstance(value, dict | list) and text[:2] in _PYTHON:
        yield text, str(value)


def _may_show(shown: Any, full: Any) -> bool:
    """True unless a text has no beginning or end of any of its outer lines from another one: most
    layouts are their own.
    """
    if not isinstance(shown, str) or not isinstance(full, str) or len(shown) <= NOTICE_CHARS:
        return True
    lines = shown.split("\n")
    outer = (
        lines if len(lines) <= 2 * _OUTER_LINES else [*lines[:_OUTER_LINES], *lines[-_OUTER_LINES:]]
    )
    plain = (without_number(line).strip() for line in outer)
    parts = (
        part
        for line in plain
        for part in (line[:_PART_CHARS], line[-_PART_CHARS:])
        if len(part) > 1
    )
    return any(part in full for part in parts)


_OUTER_LINES, _PART_CHARS = 20, 12
"""The lines at each end that are looked at, and how much of each."""

_PYTHON = frozenset({"{'", "[{", "['"})
"""The beginnings of a Python mapping or list as text."""


def shows_line(evidence: ReplayEvidence, own: OwnText) -> bool:
    """True if a text shows a line of its result, or a long one within data."""
    if own.result is None:
        return False
    known = evidence.session.lines_of(own.result.index)
    if any(line in known for line in own.text.split("\n") if line.strip()):
        return True
    text, lines = unescape(own.text), evidence.messages.texts.plain(own.result.text).split("\n")
    return any(len(line.strip()) >= _LONG_LINE_CHARS and line.strip() in text for line in lines)


_LONG_LINE_CHARS = 24
"""A line of so many characters does not stand in another text by accident."""


def lines_shown(text: str) -> list[str]:
    """The lines of a text; where it is JSON, or one of them is, those of the texts in it.

    >>> lines_shown("a\\nb"), lines_shown('{"a": "b\\\\nc", "d": 1}'), lines_shown('a\\n["b"]')
    (['a', 'b'], ['b', 'c'], ['a', 'b'])
    """
    texts = _texts_in(text)
    if texts is None:
        lines = unfolded(text).split("\n")
        texts = [inner for line in lines for inner in _texts_in(line) or [line]]
    return [line for item in texts for line in item.split("\n")]


def _texts_in(text: str) -> list[str] | None:
    """The texts of a JSON value; None for what is none."""
    with suppress(NothingParsed):
        return [item for item in nested(parse_json(text)) if isinstance(item, str)]
    return None


def new_lines(evidence: ReplayEvidence, own: OwnText) -> list[str]:
    """The lines of an own text that do not stand in what it shows, or for a summary in the trace.

    Left out are the whole result, data that a line begins with, and what stands in some message
    word for word.
    """
    memo = evidence.session.new_lines
    if own.number not in memo:
        memo[own.number] = list(_new_lines(evidence, own))
    return memo[own.number]


def _new_lines(evidence: ReplayEvidence, own: OwnText) -> Iterator[str]:
    known = evidence.session.lines_of(None if own.result is None else own.result.index)
    verbatim = evidence.session.mentions.verbatim
    gaps = gaps_shown(evidence, own)
    if gaps is not None:
        text = "\n".join(gap.words for gap in gaps)
    else:
        text = (evidence.messages.contents.of(own.message) or [""])[0] if own.message.text else ""
        if own.result is not None and own.result.text:
            text = text.replace(own.result.text, "\n")
    is_text = own.result is not None and not evidence.messages.table(own.result.index).fields
    parts = evidence.session.prose
    for line in lines_shown(text) if is_text else text.split("\n"):
        if line in known or ("&" in line and unescape_html(line) in known):
            continue
        if line not in parts:
            parts[line] = tuple(_prose(line, verbatim))
        yield from parts[line]


def _prose(line: str, verbatim: Callable[[str], bool]) -> Iterator[str]:
    """Yield the sentences of a line that no message has; none for a blank line."""
    if not line.strip() or verbatim(line):
        return
    quoted = line[: notice_at(line)]
    if quoted.strip() and verbatim(quoted):
        line = line[len(quoted) :]
    pieces = _TAG.split(line)
    if len(pieces) > 1:
        is_new = (piece.count(" ") < _QUOTED_BLANKS or not verbatim(piece) for piece in pieces)
        line = " ".join(compress(pieces, is_new))
    prose = without_number(_behind_data(line))
    for part in unescape(prose).split("\n") if "\\" in prose else (prose,):
        if part.strip() and (part == line or not verbatim(part)):
            yield part


def _behind_data(line: str) -> str:
    """A line without the JSON value that it begins with; data are held against their records by
    another rule.

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
    """The role to which a line gives words, and these words, `""` where they stand below it; two
    empty texts for none.

    >>> speaker_of("The user said: fix it"), speaker_of("User:"), speaker_of("Status: open")
    (('user', 'fix it'), ('user', ''), ('', ''))
    """
    quoted = _QUOTE.fullmatch(line)
    if quoted is None:
        return "", ""
    speaker = quoted["speaker"].casefold()
    return next(role for role, names in SPEAKERS.items() if speaker in names), quoted["words"]


def template_lines(texts: list[OwnText]) -> frozenset[str]:
    """The lines of a strategy's own wording: those that at least half of its texts of one kind
    have.

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
        constant.update(
            line for line, count in counts.items() if count > 1 and 2 * count >= len(lines)
        )
    return frozenset(constant)


def check_of(
    findings: list[Finding], of: int, summaries: int = 0, unchecked: Sequence[str] = ()
) -> Check:
    """A check of so many texts or prompts, with its first findings, and what it could not check."""
    return Check(
        hits=len(findings),
        of=of,
        summaries=summaries,
        unchecked=len(unchecked),
        unchecked_text=unchecked[0][:_TEXT_CHARS] if unchecked else "",
        findings=tuple(findings[:MOST_FINDINGS]),
    )


_TEXT_CHARS = 200
"""So much of a text that could not be checked is kept."""
