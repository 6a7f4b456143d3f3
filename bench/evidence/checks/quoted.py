"""Words of others that a message shows otherwise: a kept message of a person or the model, and
recorded lines in an extract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.scores import Finding
from ...text.instructions import keeps_words, sentences_of
from ...text.line_changes import ResultLines
from ...text.omissions import says_omission
from ..of_replay import ReplayEvidence
from .own import OwnText, new_lines, speaker_of
from .statements import repeats_others

_TAGGED = re.compile(r"<([\w-]+)>[^<]*</\1>")
_NOTICE = re.compile(r"\[[^\]]*\]|<[^<>]*>|…|(?m:^\s*\d+[.)]\s)")
_ANY = re.compile("")


def altered_quotes(evidence: ReplayEvidence, own: OwnText) -> Iterator[Finding]:
    """Yield the lines of a message that give what somebody said, or a recorded line, with another
    word.
    """
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
        is_user = own.message.kind == "user"
        if _has_other_words(own.text, original, whole=is_user):
            yield Finding(step, own.text[:200], original[:200])
        elif is_user and not says_omission(own.text, original):
            said = evidence.session.mentions.verbatim
            added = (
                words
                for words in sentences_of(_NOTICE.sub(" ", _TAGGED.sub(" ", own.text)))
                if not said(words)
            )
            yield from (Finding(step, words[:200], original[:200]) for words in added)
    elif own.message.kind == "made" and repeats_others(evidence, own):
        recorded = evidence.session.lines_with(_ANY)
        for line in new_lines(evidence, own):
            words = speaker_of(line)[1] or line
            if was := recorded.altered(words, cut=True, begun=True):
                yield Finding(step, line.strip()[:200], was.strip()[:200])


def _has_other_words(text: str, original: str, *, whole: bool) -> bool:
    """True if a text is neither the original with words added nor the original with words left out,
    its notices aside.

    `whole`: words may be left out only where the text says so.
    """
    lines = (
        line for line in text.split("\n") if line in original or not says_omission(line, original)
    )
    shown, was = (_NOTICE.sub(" ", part) for part in ("\n".join(lines), original))
    if keeps_words(shown, was):
        return False
    return not keeps_words(was, shown) or (whole and not says_omission(text, original))
