"""The sentences of summaries: each must have support in an earlier message. Texts that show a
single result are checked by `statements`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.escapes import unescape
from ...text.facts import flat
from ...text.instructions import is_consent, quantifiers, sentences_of
from ...text.notices import WORD, is_insignificant, is_notice
from ...text.speakers import NAMES, speaker_of
from ..failures import FAILURE, SUCCESS
from ..generated_text import GeneratedText
from .support import FEWEST_WORDS, is_quoted, without, without_tags

_OF_TURNS = frozenset({"assistant", "model", "user"})
"""The roles and kinds of the messages of a person and the model."""

_LABEL = re.compile(r"[^:\]\n{\"]{1,60}[:\]]\W{0,2}? (?=\S)")
"""Matches a label at the beginning of a sentence, with its colon or bracket."""

_MARK = re.compile(r"\[?(?:…|\.{3,})\]?|\[[^\[\]\n]{4,80}\]")
"""Matches dots for an omission, or words in brackets that may be a notice."""

_ALL_SHOWN = re.compile(r"\b(\d+) of (?:the )?\1\b|\b100 ?%")
_HEADING_WORDS = 4
"""A heading with more words may be a sentence."""

_NAME = re.compile(r"(\w+)")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


class Summary:
    """A text that shows no single result, compared with the messages before a step. A sentence is
    supported if it is a notice, or a message has its words in a row. Labels, headings that claim
    nothing, and the parts between marks of omission are taken off first."""

    def __init__(self, generated: GeneratedText, before: int, purpose: Sequence[str]) -> None:
        self._generated, self._before, self._purpose = generated, before, purpose

    def unsupported(self) -> Iterator[str]:
        """Yield the sentences that nothing supports."""
        for full_line in self._generated.without_results(self._before).split("\n"):
            line = _CUT_ESCAPE.sub("", full_line)
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
        """True if the recording supports a sentence, which the text attributes to a `speaker`."""
        if self._is_notice(sentence) or self._is_quoted(sentence, speaker):
            return True
        if not WORD.search(sentence) and _claims_nothing(sentence):
            return True
        parts = _between_marks(sentence)
        if len(parts) > 1 and all(map(self._is_supported, _without_cut_words(parts))):
            return True
        role, words = speaker_of(sentence)
        if role and words:
            roles = self._generated.session.mentions.roles_of(words)
            return (not roles or role in roles) and self._is_supported(words, role)
        is_short = len(WORD.findall(sentence)) <= _HEADING_WORDS
        if sentence.rstrip().endswith(":") and is_short and _claims_nothing(sentence):
            return True
        if label := _LABEL.match(sentence):
            rest = sentence[label.end() :]
            is_label = len(WORD.findall(label[0])) < _HEADING_WORDS and _claims_nothing(label[0])
            has_quotation = rest.count(" ") + 1 >= FEWEST_WORDS
            if (is_label and has_quotation) or _only_names(self._generated, label[0]):
                return self._is_supported(rest, speaker)
        if quantifiers(sentence):
            return False
        core = _core_of(sentence)
        return not core or self._is_quoted(core, speaker)

    def _is_notice(self, sentence: str) -> bool:
        """True for a notice. It may name the functions whose results are left out."""
        if _ALL_SHOWN.search(sentence):
            return False
        functions = self._generated.session.functions
        if is_notice(sentence) or functions.isdisjoint(flat(sentence).split()):
            return is_notice(sentence)
        others = (part for part in _NAME.split(sentence) if not functions >= {*flat(part).split()})
        return is_notice(" ".join(others))

    def _is_quoted(self, text: str, speaker: str) -> bool:
        """True if an earlier message has the words in a row. In a system message, where words are
        instructions, those of a person or the model must be attributed to a speaker."""
        if self._generated.message.role == "system" and not speaker:
            roles = self._generated.session.mentions.roles_of(text)
            if roles and roles <= _OF_TURNS:
                return False
        return is_quoted(self._generated, text, self._before)


def _claims_nothing(heading: str) -> bool:
    """True if a heading or label has no success, failure, consent or quantifier such as "all"."""
    claims = (quantifiers, SUCCESS.search, FAILURE.search, is_consent)
    return not any(claim(heading) for claim in claims)


def _only_names(generated: GeneratedText, label: str) -> bool:
    """True if a label only names a speaker or a function."""
    return all(
        is_insignificant(word) or word in NAMES or word in generated.session.functions
        for word in flat(label).split()
    )


def _core_of(sentence: str) -> str:
    """The words of a sentence without insignificant ones at both ends; "" if all are."""
    words = flat(sentence).split()
    significant = [
        number
        for number, word in enumerate(words)
        if WORD.search(word) and not is_insignificant(word) and word not in NAMES
    ]
    return " ".join(words[significant[0] : significant[-1] + 1]) if significant else ""


def _between_marks(sentence: str) -> list[str]:
    """The parts of a sentence between dots and notices."""
    parts, end = [], 0
    for mark in _MARK.finditer(sentence):
        if not WORD.search(mark[0]) or is_notice(mark[0]):
            parts.append(sentence[end : mark.start()])
            end = mark.end()
    return [*parts, sentence[end:]]


def _without_cut_words(parts: list[str]) -> Iterator[str]:
    """Yield the parts of a sentence without words that a mark of omission may have cut."""
    for number, part in enumerate(parts):
        words = part.split()
        if number and part[:1].strip():
            words = words[1:]
        if number < len(parts) - 1 and part[-1:].strip():
            words = words[:-1]
        if words:
            yield " ".join(words)
