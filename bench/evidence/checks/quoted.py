"""Words of others that a message shows otherwise: a kept message of a person or the model, and recorded lines in an extract."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.scores import Finding
from ...text.line_changes import ResultLines
from ...text.omissions import says_omission
from ..of_replay import ReplayEvidence
from .own import OwnText, new_lines, speaker_of
from .statements import repeats_others

_WORD = re.compile(r"\w+")
_NOTICE = re.compile(r"\[[^\]]*\]|<[^<>]*>|…|(?m:^\s*\d+[.)]\s)")
_ANY = re.compile("")


def altered_quotes(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield the lines of a message that give what somebody said, or a recorded line, with another word."""
    if own.result is not None:
        return
    step = own.message.step
    number = None if step is None else evidence.index.full.get(step)
    if number is not None:
        original = evidence.messages.messages[number].text
        if own.text.split() == original.split():
            return
        lines = ResultLines(original.split("\n"))
        for line in own.text.split("\n"):
            if line not in lines and (was := lines.altered(line, cut=True, begun=True)):
                yield Finding(step, line.strip()[:200], was.strip()[:200])
        if own.message.kind in ("system", "user") and _has_other_words(own.text, original):
            yield Finding(step, own.text[:200], original[:200])
    elif own.message.kind == "made" and repeats_others(evidence, own):
        recorded = evidence.session.lines_with(_ANY)
        for line in new_lines(evidence, own):
            words = speaker_of(line)[1] or line
            if was := recorded.altered(words, cut=True, begun=True):
                yield Finding(step, line.strip()[:200], was.strip()[:200])


def _has_other_words(text: str, original: str) -> bool:
    """True if a text is neither the original with words left out nor the original with words added, its notices aside."""
    lines = (line for line in text.split("\n") if line in original or not says_omission(line, original))
    shown, was = (_WORD.findall(_NOTICE.sub(" ", part).casefold()) for part in ("\n".join(lines), original))
    return not _in_order(shown, was) and not _in_order(was, shown)


def _in_order(words: list[str], others: list[str]) -> bool:
    """True if some words stand in this order among others."""
    waiting = iter(others)
    return all(word in waiting for word in words)
