"""Statements that a text adds to the words of others: nobody said them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...text.facts import flat
from ...text.instructions import is_notice_word
from ...text.scripts import FUNCTION_WORDS
from ..of_replay import ReplayEvidence
from .own import OwnText, new_lines, speaker_of

_WORD = re.compile(r"[^\W\d_]{3,}")
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z'’]{3,}")
_FEWEST_WORDS, _FEWEST_STRANGE = 3, 2


def repeats_others(evidence: ReplayEvidence, own: OwnText) -> bool:
    """True for a text that is there for the words of others, so that what it adds is no summary of them.

    It shows a result, or consists for the most part of recorded words, or stands in a prompt that lost no message for it.
    """
    if own.result is not None:
        return True
    first = min(stay.first for stay in evidence.walked.stays[own.number])
    if not any(stay.after == first for stays in evidence.walked.stays.values() for stay in stays):
        return True
    return 2 * sum(map(len, new_lines(evidence, own))) <= len(own.text)


def is_unsupported(evidence: ReplayEvidence, sentence: str) -> bool:
    """True for a sentence of its own of which no message says half: neither a title nor a notice of what is shown."""
    words = _WORD.findall(sentence)
    if len(words) < _FEWEST_WORDS or sentence.rstrip().endswith(":") or is_title(sentence):
        return False
    strange = {word for word in map(str.casefold, words) if word not in FUNCTION_WORDS and not is_notice_word(word)}
    return len(strange) >= _FEWEST_STRANGE and not evidence.session.mentions.instruction(sentence)


def is_title(sentence: str) -> bool:
    """True if the long words of a sentence, up to a colon, are all capitalised: no name stands out in a title."""
    words = _LONG_WORD.findall(sentence.partition(":")[0])
    return bool(words) and all(word[0].isupper() for word in words)


def unsaid_quotes(evidence: ReplayEvidence, own: OwnText) -> Iterator[str]:
    """Yield the lines that put words behind a role which no message says, its own notices aside."""
    for line in new_lines(evidence, own):
        speaker, words = speaker_of(line)
        strange = [word for word in flat(words).split() if word not in FUNCTION_WORDS and not is_notice_word(word)]
        if speaker and any(map(str.isalpha, strange)) and not evidence.session.mentions.verbatim(words):
            yield line
