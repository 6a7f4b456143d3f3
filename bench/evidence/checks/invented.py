"""Invented: an own text with a number, an identifier, a date, a name or an instruction that no
earlier message has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.scores import Check, Finding
from ...text.dates import dates_in, times_in, without_offsets
from ...text.instructions import is_command, is_consent, is_order, repeats
from ...text.notices import WORD
from ...text.wording import quoted
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from ..shown import own_lines
from .findings import check_of
from .statements import is_free, unproven
from .summaries import Summary
from .summary_numbers import SummaryNumbers
from .support import IDENTIFIER, UNSPACED, on_purpose, without

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n")
_ZONE = re.compile(r"\b(?:UTC|GMT|timezone)\b|\b\d\dZ\b", re.IGNORECASE)
"""Matches the zone of a time, which may be another one than in the result."""

_LIST_MARK = re.compile(r"^\s*\d{1,3}[.)]\s+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)++(?!\w|['\"*:`]| \()")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")  # places in a difference
_CUT = re.compile(r"\s?(?:…|\.{3}|\[)")
_QUOTE = re.compile(r"[\"“]([^\"“”\n]+ [^\"“”\n]+ [^\"“”\n]+)[\"”]")
_SHORT_HASH = re.compile(r"[0-9a-f]{7,39}")
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z'’]{3,}")


def invented(evidence: ReplayEvidence, wording: frozenset[str]) -> Check:
    """The check of own texts with something that no earlier message has, over all own texts with
    new words.

    The unit is the text: a longer one may not invent more. Only lines that are not in the shown
    contents, and no notices, are checked. Not inventions are handles, and in a summary counts of
    what is there or left out, and numbers computed from others in the same paragraph; other numbers
    in a text that shows a result may be computed too, so they are not checked. A text that shows a
    result may not give an order or state a consent; any other may not give a standing instruction
    that nobody gave. Names in the strategy's own `wording` (lines in half of its texts) are quoted in
    the report instead, and so are sentences that it `says` on purpose.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)
    """
    says = evidence.replay.says
    findings: list[Finding] = []
    of = summaries = 0
    for own in evidence.own_texts:
        if isinstance(own, RewrittenResult) and own.is_encoded:
            continue
        lines = [without(line, says) for line in own_lines(own)]
        of += bool(lines)
        summaries += bool(lines) and not isinstance(own, RewrittenResult)
        if strange := _first_strange(evidence, own, lines, wording) if lines else "":
            findings.append(Finding(own.step, strange))
    statements = [_unsupported(evidence, own) for own in evidence.own_texts]
    unchecked = [f"{quoted(words)} has no support" for words in statements if words]
    return check_of(findings, of, summaries, unchecked)


def _unsupported(evidence: ReplayEvidence, own: OwnText) -> str:
    """The first statement of an own text that nothing supports; "" without one."""
    purpose = *on_purpose(own.text, evidence.replay.says), *own.handles
    if isinstance(own, RewrittenResult):
        return own.once(("unsupported", purpose), lambda: next(unproven(own, purpose), ""))
    before = evidence.walked.calls[evidence.first_call(own.number)].step
    summary = Summary(own, before, purpose)
    found = lambda: next(summary.unsupported(), "")  # noqa: E731
    return own.once(("unsupported", purpose, before), found)


def _first_strange(
    evidence: ReplayEvidence, own: OwnText, lines: list[str], wording: frozenset[str]
) -> str:
    """The first invention of an own text; "" without one. A text that shows a result is read once."""
    wording = wording.intersection(map(str.strip, lines))
    if not isinstance(own, RewrittenResult):
        return next(_Reader(evidence, own, wording).inventions(lines), "")
    about = "strange", wording, on_purpose(own.text, evidence.replay.says)
    return own.once(about, lambda: next(_Reader(evidence, own, wording).inventions(lines), ""))


class _Reader:
    """The inventions in the lines of an own text, read one sentence after the other."""

    def __init__(self, evidence: ReplayEvidence, own: OwnText, wording: frozenset[str]) -> None:
        self._evidence, self._own, self._wording = evidence, own, wording
        self._shown = own if isinstance(own, RewrittenResult) else None
        self._mentions = own.session.mentions
        self._numbers = SummaryNumbers(evidence, own)

    def inventions(self, lines: list[str]) -> Iterator[str]:
        """Yield the words that no earlier message has. Whether a line is a notice is asked last,
        unless all lines of the text are notices."""
        are_notices = not _unsupported(self._evidence, self._own)
        texts = [without_offsets(_HUNK.sub(" ", line)) for line in lines]
        for at, text in enumerate(texts):
            if are_notices and self._is_free(lines[at]):
                continue
            near = texts[max(0, at - _LINES_NEAR) : at + 1]
            is_constant = text.strip() in self._wording
            for sentence in map(str.strip, _SENTENCE.split(_LIST_MARK.sub("", text))):
                strange = self._in_sentence(sentence, near, is_constant)
                yield from (words for words in strange if not self._is_free(lines[at]))

    def _is_free(self, line: str) -> bool:
        """True for a notice in a text that shows a result, which may have labels."""
        shown = self._shown
        return shown is not None and (
            is_free(shown, line) or is_free(shown, IDENTIFIER.sub(" ", line))
        )

    def _in_sentence(self, sentence: str, near: list[str], is_constant: bool) -> Iterator[str]:
        is_said, text = self._mentions.verbatim, sentence
        for handle in self._own.handles:
            text = text.replace(handle, " ")
        if not text.strip() or is_said(text):
            return
        text = _QUOTE.sub(lambda quote: " " if is_said(quote[1]) else quote[0], text)
        if self._is_new_order(text):
            yield text
        without_names = IDENTIFIER.sub(" ", text)
        is_prose = self._shown is None or WORD.search(without_names) is not None
        text = IDENTIFIER.sub(lambda it: " " if self._mentions.name(it[0]) else it[0], text)
        moments, text = self._moments(text, sentence, is_constant)
        text = UNSPACED.sub(" ", text)
        names = IDENTIFIER.findall(text)
        text = IDENTIFIER.sub(" ", text)
        names += () if is_constant or _is_title(text) else _NAME.findall(text)
        strange = [*moments, *(it for it in names if not _is_known(self._own, it, sentence))]
        yield from (_quoted(words, sentence) for words in strange if is_prose)
        if self._shown is None:
            for number in self._numbers.unsupported(text, sentence, near):
                yield _quoted(number, sentence)

    def _is_new_order(self, text: str) -> bool:
        """True for an order that nobody gave; beside a result also for a consent. An order beside
        a part of a result may say how to see the rest."""
        if self._shown is None:
            return is_command(text) and not self._mentions.instruction(text)
        is_order_or_command = is_command(text) or is_order(text)
        is_new = is_consent(text) or (self._shown.shows_all and is_order_or_command)
        return is_new and not repeats(self._shown.result.text, text)

    def _moments(self, text: str, sentence: str, is_constant: bool) -> tuple[list[str], str]:
        """The new dates and times in a text, and the text without any."""
        new: list[str] = []
        if self._shown is not None and _ZONE.search(sentence):
            is_constant = True  # it may be the time of another zone
        for find in (dates_in, times_in):
            for moment, (start, end) in [*find(text)]:
                words = text[start:end]
                is_of_two = self._mentions.numbers.issuperset(words.split(":"))
                if not (is_constant or is_of_two or moment in self._mentions.moments):
                    new.append(words)
                text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return new, text


def _quoted(words: str, sentence: str) -> str:
    """Words together with their sentence, if that has others."""
    return words if words == sentence else f"{words} in: {sentence[:160]}"


_LINES_NEAR = 15
"""The lines above a line that count as its paragraph."""


def _is_known(own: OwnText, name: str, sentence: str) -> bool:
    """True if a name is known; the beginning is enough for a hash, and for a name truncated at the
    end or before a mark of omission."""
    mentions = own.session.mentions
    if mentions.name(name):
        return True
    cut = (
        _SHORT_HASH.fullmatch(name)
        or own.text.rstrip().endswith(sentence)
        or _CUT.match(sentence.partition(name)[2])
    )
    return bool(cut) and mentions.begins(name)


def _is_title(sentence: str) -> bool:
    """True if the long words of a sentence, up to a colon, are all capitalised, so that names
    cannot be recognised.

    >>> [_is_title(text) for text in ("Order Status Report", "Orders Shipped: by whom", "Order of today", "")]
    [True, True, False, False]
    """
    words = _LONG_WORD.findall(sentence.partition(":")[0])
    return bool(words) and all(word[0].isupper() for word in words)
