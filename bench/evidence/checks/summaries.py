"""Statements in summaries, checked against earlier messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.escapes import unescape
from ...text.facts import flat
from ...text.instructions import is_consent, quantifiers, sentences_of
from ...text.notices import WORD, is_insignificant, is_notice
from ...text.speakers import NAMES, speaker_of
from ..failures import FAILURE, SUCCESS
from ..own_text import OwnText
from .support import (
    FEWEST_WORDS,
    is_quoted,
    without,
    without_tags,
)

_OF_TURNS = frozenset({"assistant", "model", "user"})
"""The roles and kinds of the messages of a person and the model."""

_LABEL = re.compile(r"[^:\]\n{\"]{1,60}[:\]]\W{0,2}? (?=\S)")
"""Matches a label before words: up to a colon or bracket."""

_MARK = re.compile(r"\[?(?:…|\.{3,})\]?|\[[^\[\]\n]{4,80}\]")
"""Matches a mark of omission, or words in brackets that may be a notice."""

_ALL_SHOWN = re.compile(r"\b(\d+) of (?:the )?\1\b|\b100 ?%")
_HEADING_WORDS = 4
"""A heading with more words may be a sentence."""

_NAME = re.compile(r"(\w+)")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class Summary:
    """A text about no single result, checked against the messages before a step."""

    def __init__(self, own: OwnText, before: int, purpose: Sequence[str]) -> None:
        self._own, self._before, self._purpose = own, before, purpose

    def unsupported(self) -> Iterator[str]:
        """Yield the sentences that nothing supports."""
        for whole in self._own.without_results(self._before).split("\n"):
            line = _CUT_ESCAPE.sub("", whole)
            if self._is_supported(line):
                continue
            line = without_tags(line)
            if self._is_supported(line):
                continue
            for piece in unescape(line).split("\n") if "\\" in line else (line,):
                for sentence in sentences_of(without(piece, self._purpose)):
                    if not self._is_supported(sentence):
                        yield sentence

    def _is_supported(self, sentence: str, speaker: str = "") -> bool:
        """True if the recording supports a sentence, which a text says that a `speaker` said."""
        if self._is_notice(sentence) or self._is_quoted(sentence, speaker):
            return True
        if not WORD.search(sentence) and _claims_nothing(sentence):
            return True
        parts = _between_marks(sentence)
        if len(parts) > 1 and all(map(self._is_supported, _without_halves(parts))):
            return True
        role, words = speaker_of(sentence)
        if role and words:
            roles = self._own.session.mentions.roles_of(words)
            return (not roles or role in roles) and self._is_supported(words, role)
        is_short = len(WORD.findall(sentence)) <= _HEADING_WORDS
        if sentence.rstrip().endswith(":") and is_short and _claims_nothing(sentence):
            return True
        if label := _LABEL.match(sentence):
            rest = sentence[label.end() :]
            if _is_of_run(self._own, label[0]) or (
                rest.count(" ") + 1 >= FEWEST_WORDS
                and _claims_nothing(label[0])
                and len(WORD.findall(label[0])) < _HEADING_WORDS
            ):
                return self._is_supported(rest, speaker)
        if quantifiers(sentence):
            return False
        core = _core_of(sentence)
        return not core or self._is_quoted(core, speaker)

    def _is_notice(self, sentence: str) -> bool:
        """True for a notice, perhaps with the names of functions whose results are left out."""
        if _ALL_SHOWN.search(sentence):
            return False
        known = self._own.session.functions
        if is_notice(sentence) or known.isdisjoint(flat(sentence).split()):
            return is_notice(sentence)
        parts = (it for it in _NAME.split(sentence) if not known >= {*flat(it).split()})
        return is_notice(" ".join(parts))

    def _is_quoted(self, text: str, speaker: str) -> bool:
        """True if an earlier message has some words. As the system's they are an instruction: those
        of a person or the model need their speaker there."""
        roles = self._own.session.mentions.roles_of
        is_of_others = self._own.message.role == "system" and not speaker
        if is_of_others and (said := roles(text)) and said <= _OF_TURNS:
            return False
        return is_quoted(self._own, text, self._before)


def _claims_nothing(heading: str) -> bool:
    """True if a heading or label claims no success, failure or consent, and does not speak of all,
    none or the latest."""
    claims = (quantifiers, SUCCESS.search, FAILURE.search, is_consent)
    return not any(claim(heading) for claim in claims)


def _is_of_run(own: OwnText, label: str) -> bool:
    """True if a label only names a speaker or a function."""
    return all(
        is_insignificant(word) or word in NAMES or word in own.session.functions
        for word in flat(label).split()
    )


def _core_of(sentence: str) -> str:
    """A sentence without insignificant words at both ends."""
    words = flat(sentence).split()
    states = [
        bool(WORD.search(word)) and not is_insignificant(word) and word not in NAMES
        for word in words
    ]
    if not any(states):
        return ""
    return " ".join(words[states.index(True) : len(words) - states[::-1].index(True)])


def _between_marks(sentence: str) -> list[str]:
    """The parts of a sentence between its marks of omission."""
    marks = [it for it in _MARK.finditer(sentence) if not WORD.search(it[0]) or is_notice(it[0])]
    starts, ends = [0, *(it.end() for it in marks)], [*(it.start() for it in marks), len(sentence)]
    return [sentence[start:end] for start, end in zip(starts, ends, strict=True)]


def _without_halves(parts: list[str]) -> Iterator[str]:
    """Yield the parts of a sentence between its marks of omission, without words that a mark may
    have truncated."""
    for number, part in enumerate(parts):
        words = part.split()
        if number and part[:1].strip():
            words = words[1:]
        if number < len(parts) - 1 and part[-1:].strip():
            words = words[:-1]
        if words:
            yield " ".join(words)
