"""Statements in summaries, checked against earlier messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.escapes import unescape
from ...text.instructions import quantifiers, sentences_of
from ...text.small_words import WORD, is_notice
from ..own_text import OwnText
from .speakers import speaker_of
from .support import (
    FEWEST_WORDS,
    LABEL,
    MARK,
    TAG,
    claims_nothing,
    core_of,
    is_of_run,
    is_quoted,
    without,
    without_halves,
)

_OF_TURNS = frozenset({"assistant", "model", "user"})
"""The roles and kinds of the messages of a person and the model."""

_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class Summary:
    """A text about no single result, checked against the messages before a step."""

    def __init__(self, own: OwnText, before: int, purpose: Sequence[str]) -> None:
        self._own, self._before, self._purpose = own, before, purpose

    def unsupported(self) -> Iterator[str]:
        """Yield the sentences that nothing supports."""
        for whole in self._own.text.split("\n"):
            line = _CUT_ESCAPE.sub("", whole)
            if self._is_supported(line):
                continue
            line = TAG.sub(" ", line)
            if self._is_supported(line):
                continue
            for piece in unescape(line).split("\n") if "\\" in line else (line,):
                for sentence in sentences_of(without(piece, self._purpose)):
                    if not self._is_supported(sentence):
                        yield sentence

    def _is_supported(self, sentence: str, speaker: str = "") -> bool:
        """True if the recording supports a sentence, which a text says that a `speaker` said."""
        if is_notice(sentence) or self._is_quoted(sentence, speaker):
            return True
        if not WORD.search(sentence) and claims_nothing(sentence):
            return True
        parts = MARK.split(sentence)
        if len(parts) > 1 and all(map(self._is_supported, without_halves(parts))):
            return True
        role, words = speaker_of(sentence)
        if role and words:
            roles = self._own.session.mentions.roles_of(words)
            return (not roles or role in roles) and self._is_supported(words, role)
        if sentence.rstrip().endswith(":") and claims_nothing(sentence):
            return True
        if label := LABEL.match(sentence):
            rest = sentence[label.end() :]
            if is_of_run(self._own, label[0]) or (
                rest.count(" ") + 1 >= FEWEST_WORDS and claims_nothing(label[0])
            ):
                return self._is_supported(rest, speaker)
        if quantifiers(sentence):
            return False
        core = core_of(sentence)
        return not core or self._is_quoted(core, speaker)

    def _is_quoted(self, text: str, speaker: str) -> bool:
        """True if an earlier message has some words. As the system's they are an instruction: those
        of a person or the model need their speaker there."""
        roles = self._own.session.mentions.roles_of
        is_of_others = self._own.message.role == "system" and not speaker
        if is_of_others and (said := roles(text)) and said <= _OF_TURNS:
            return False
        return is_quoted(self._own, text, self._before)
