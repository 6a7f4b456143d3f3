"""Statements that a text adds to the words of others: nobody said them."""

from __future__ import annotations

import re

from ...text.instructions import is_notice_word
from ...text.omissions import says_omission
from ...text.scripts import FUNCTION_WORDS
from ..of_replay import ReplayEvidence
from .own import OwnText, new_lines, speaker_of

_WORD = re.compile(r"[^\W\d_]{3,}")
_WORDS = r"[^\W\d_]++(?:['’-][^\W\d_]++)*+"
# begins with a whole word and never goes back in one, so that a long word takes linear time
_PROSE = re.compile(rf"(?<!\w)(?<![^\W\d_]['’-]){_WORDS}(?:[,;]? {_WORDS}){{2,}}")
_MARK = re.compile(r"\[?(?:…|\.{3})\]?")
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z'’]{3,}")
_SUCCESS = re.compile(
    r"\b(?:success(?:ful(?:ly)?)?|succeeded|done|complete[d]?|passe[sd]|finished|solved|fixed|verified|approved|confirmed)\b",
    re.IGNORECASE,
)
_FEWEST_CHARS, _FEWEST_QUOTES = 1500, 2
"""An extract has so much of what others said, or such quotes: a short text of known words may be a
message of its own.
"""


def repeats_others(evidence: ReplayEvidence, own: OwnText) -> bool:
    """True for a text that is there for the words of others, so that what it adds is no summary of
    them.

    It shows a result, or consists for the most part of recorded words, or stands beside everything
    that was said before it.
    """
    if own.result is not None:
        return True
    if not new_lines(evidence, own):
        return False  # it adds nothing
    if not _stands_for_messages(evidence, own):
        return True
    lines = new_lines(evidence, own)
    new = sum(map(len, lines))
    kept = len(own.text) - new
    if kept < new or kept >= _FEWEST_CHARS:
        return kept >= new
    recorded = set(own.text.split("\n")).difference(lines)
    return sum(bool(speaker_of(line)[0]) for line in recorded) >= _FEWEST_QUOTES


def _stands_for_messages(evidence: ReplayEvidence, own: OwnText) -> bool:
    """True if some message before a text is missing in the first prompt that has it."""
    first = min(stay.first for stay in evidence.walked.stays[own.number])
    call = evidence.walked.calls[first]
    before = (
        s.index for s in evidence.trace.steps if s.thread == call.thread and s.index < call.step
    )
    numbers = (evidence.index.full[step] for step in before if step in evidence.index.full)
    return not all(evidence.stands(number, first) for number in numbers)


def is_unsupported(evidence: ReplayEvidence, own: OwnText, sentence: str, fewest: int = 2) -> bool:
    """True for prose of its own with so many strange words of which no message says half: neither a
    title nor a notice of what is shown or left out.

    That something succeeded is for the model or a tool to say first.
    """
    if sentence.rstrip().endswith(":") or is_title(sentence) or says_omission(sentence, ""):
        return False
    mentions = evidence.session.mentions
    table = None if own.result is None else evidence.messages.table(own.result.index)
    for prose in (
        run.group() for part in _own_parts(evidence, sentence) for run in _PROSE.finditer(part)
    ):
        words = set(map(str.casefold, _WORD.findall(prose)))
        strange = [
            word
            for word in words
            if word not in FUNCTION_WORDS
            and not is_notice_word(word)
            and not (table and word in table.key_words)
        ]
        if len(strange) < fewest or mentions.verbatim(prose):
            continue
        if not _SUCCESS.search(prose):
            return not mentions.instruction(sentence)
        first = min(stay.first for stay in evidence.walked.stays[own.number])
        return not mentions.reported(sentence, evidence.walked.calls[first].step)
    return False


def _own_parts(evidence: ReplayEvidence, sentence: str) -> list[str]:
    """The parts of a sentence between its marks of omission that no message says, half a word at a
    mark left out.
    """
    parts = _MARK.split(sentence)
    for number, part in enumerate(parts):
        part = part.partition(" ")[2] if number else part
        parts[number] = part.rpartition(" ")[0] if number < len(parts) - 1 else part
    return [part for part in parts if not evidence.session.mentions.verbatim(part)]


def is_title(sentence: str) -> bool:
    """True if the long words of a sentence, up to a colon, are all capitalised: no name stands out
    in a title.

    >>> [is_title(text) for text in ("Order Status Report", "Orders Shipped: by whom", "Order of today", "")]
    [True, True, False, False]
    """
    words = _LONG_WORD.findall(sentence.partition(":")[0])
    return bool(words) and all(word[0].isupper() for word in words)
