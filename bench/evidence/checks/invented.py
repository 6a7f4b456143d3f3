"""Invented: an own text states a number, an identifier, a date, a name or an instruction that no
earlier message has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...model import memo
from ...model.scores import Check, Finding
from ...text.dates import dates_in, times_in, without_offsets
from ...text.instructions import is_command, is_consent, is_order, repeats
from ...text.notices import WORD
from ...text.omissions import omission_in
from ...text.wording import quoted
from ..generated_text import GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence
from ..result_diff import added_lines
from .findings import check_of, wording_of
from .statements import first_unproven, states_nothing
from .summaries import Summary
from .summary_numbers import SummaryNumbers
from .support import IDENTIFIER, UNSPACED, as_declared, on_purpose, without

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n")
_ZONE = re.compile(r"\b(?:UTC|GMT|timezone)\b|\b\d\dZ\b", re.IGNORECASE)
"""Matches the zone of a time, which may be another one than in the result."""

_LIST_MARK = re.compile(r"^\s*\d{1,3}[.)]\s+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)++(?!\w|['\"*:`]| \()")
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")  # places in a difference
_CUT = re.compile(r"\s?(?:…|\.{3}|\[)")
_QUOTE = re.compile(r"[\"“]([^\"“”\n]+ [^\"“”\n]+ [^\"“”\n]+)[\"”]")
_SHORT_HASH = re.compile(r"[0-9a-f]{7,39}")
_NOT_FOUND = "could not be matched with the recording"
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z'’]{3,}")


def invented(evidence: ReplayEvidence) -> Check:
    """The check of own texts with something that no earlier message has, over all own texts with
    new words.

    The unit is the text: a longer one may not invent more. Lines of the shown contents, notices and
    handles are not checked. In a summary, counts of what is there or left out are no inventions, nor
    are numbers computed from others in the same paragraph; the numbers in a text that shows a result
    are not checked, since they may be computed too. A text that shows a result may not give an order
    or state a consent; any other may not give a standing instruction that nobody gave. Names in the
    strategy's own `wording` (lines in half of its texts) are quoted in the report instead, and so are
    sentences that it `says` on purpose.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)
    """
    says, wording = evidence.replay.says, wording_of(evidence)
    findings: list[Finding] = []
    checked = summaries = 0
    for generated in evidence.generated_texts:
        if isinstance(generated, RewrittenResult) and generated.is_encoded:
            continue
        lines = [without(line, says) for line in added_lines(generated)]
        if not lines:
            continue
        checked += 1
        summaries += not isinstance(generated, RewrittenResult)
        if invention := _first_invention(evidence, generated, lines, wording):
            findings.append(Finding(generated.step, invention))
    statements = [_first_unsupported(evidence, generated) for generated in evidence.generated_texts]
    unchecked = [*map(_in_words, filter(None, statements))]
    return check_of(findings, checked, summaries, unchecked)


def _in_words(statement: str) -> str:
    """A statement without support, in words; a notice as a whole, since it can be declared."""
    if not omission_in(statement, ""):
        return f"{quoted(statement)} {_NOT_FOUND}"
    notice = quoted(as_declared(statement), 300)
    return f"{notice} {_NOT_FOUND}; list it in `says` if it is always true"


def _first_unsupported(evidence: ReplayEvidence, generated: GeneratedText) -> str:
    """The first statement of an own text that nothing supports; "" without one."""
    purpose = *on_purpose(generated.text, evidence.replay.says), *generated.handles
    if isinstance(generated, RewrittenResult):
        return first_unproven(generated, purpose)
    before = evidence.walked.calls[evidence.first_call(generated.number)].step
    return _first_unsupported_in_summary(generated, before, purpose)


@memo
def _first_unsupported_in_summary(
    generated: GeneratedText, before: int, purpose: tuple[str, ...]
) -> str:
    return next(Summary(generated, before, purpose).unsupported(), "")


def _first_invention(
    evidence: ReplayEvidence, generated: GeneratedText, lines: list[str], wording: frozenset[str]
) -> str:
    """The first invention of a text; "" without one. A text that shows a result is read once."""
    wording = wording.intersection(map(str.strip, lines))
    are_all_notices = not _first_unsupported(evidence, generated)
    if isinstance(generated, RewrittenResult):
        return _first_invention_beside(generated, tuple(lines), wording, are_all_notices)
    numbers = SummaryNumbers(evidence, generated)
    return next(_Reader(generated, wording, are_all_notices, numbers).inventions(lines), "")


@memo
def _first_invention_beside(
    rewritten: RewrittenResult,
    lines: tuple[str, ...],
    wording: frozenset[str],
    are_all_notices: bool,
) -> str:
    return next(_Reader(rewritten, wording, are_all_notices).inventions(lines), "")


class _Reader:
    """A reader that finds the inventions in a text, sentence by sentence. Numbers are only read in a
    summary."""

    def __init__(
        self,
        generated: GeneratedText,
        wording: frozenset[str],
        are_all_notices: bool,
        numbers: SummaryNumbers | None = None,
    ) -> None:
        self._generated, self._wording, self._numbers = generated, wording, numbers
        self._are_all_notices = are_all_notices
        self._shown = generated if isinstance(generated, RewrittenResult) else None
        self._mentions = generated.session.mentions

    def inventions(self, lines: Sequence[str]) -> Iterator[str]:
        """Yield the words that no earlier message has. To be fast, a line is only read as a notice
        if all of the text's are, or if it has inventions."""
        texts = [without_offsets(_HUNK.sub(" ", line)) for line in lines]
        for number, (line, text) in enumerate(zip(lines, texts, strict=True)):
            if self._are_all_notices and self._is_notice(line):
                continue
            paragraph = texts[max(0, number - _LINES_NEAR) : number + 1]
            is_template = text.strip() in self._wording
            for sentence in map(str.strip, _SENTENCE.split(_LIST_MARK.sub("", text))):
                for words in self._in_sentence(sentence, paragraph, is_template):
                    if not self._is_notice(line):
                        yield words

    def _is_notice(self, line: str) -> bool:
        """True for a notice in a text that shows a result. It may have labels with digits."""
        shown = self._shown
        return shown is not None and (
            states_nothing(shown, line) or states_nothing(shown, IDENTIFIER.sub(" ", line))
        )

    def _in_sentence(self, sentence: str, paragraph: list[str], is_template: bool) -> Iterator[str]:
        """Yield the inventions in a sentence. The steps take out what is known, and what is left is
        read for names and numbers."""
        is_said, text = self._mentions.has_words, sentence
        for handle in self._generated.handles:
            text = text.replace(handle, " ")
        if not text.strip() or is_said(text):
            return
        text = _QUOTE.sub(lambda quote: " " if is_said(quote[1]) else quote[0], text)
        if self._is_new_order(text):
            yield text
        if self._shown is not None and not WORD.search(IDENTIFIER.sub(" ", text)):
            return  # no prose
        text = IDENTIFIER.sub(
            lambda name: " " if self._mentions.has_name(name[0]) else name[0], text
        )
        moments, text = self._new_moments(text, sentence, is_template)
        text = UNSPACED.sub(" ", text)
        names = IDENTIFIER.findall(text)
        text = IDENTIFIER.sub(" ", text)
        names += () if is_template or _is_title(text) else _NAME.findall(text)
        new = [
            *moments,
            *(name for name in names if not _is_known(self._generated, name, sentence)),
        ]
        yield from (_with_sentence(words, sentence) for words in new)
        if self._numbers is not None:
            for number in self._numbers.unsupported(text, sentence, paragraph):
                yield _with_sentence(number, sentence)

    def _is_new_order(self, text: str) -> bool:
        """True for an order that nobody gave, and in a text that shows a result for a consent. A text
        that shows a part of a result may tell the reader how to see the rest."""
        if self._shown is None:
            return is_command(text) and not self._mentions.has_instruction(text)
        shows_all = self._shown.shows_all
        is_new = is_consent(text) or (shows_all and (is_command(text) or is_order(text)))
        return is_new and not repeats(self._shown.result.text, text)

    def _new_moments(self, text: str, sentence: str, is_template: bool) -> tuple[list[str], str]:
        """The new dates and times in a text, and the text without any dates and times."""
        new: list[str] = []
        may_be_converted = self._shown is not None and _ZONE.search(sentence)  # from another zone
        for find in (dates_in, times_in):
            for moment, (start, end) in [*find(text)]:
                words = text[start:end]
                is_known = is_template or may_be_converted
                is_known = is_known or self._mentions.numbers.issuperset(words.split(":"))
                if not (is_known or moment in self._mentions.moments):
                    new.append(words)
                text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
        return new, text


def _with_sentence(words: str, sentence: str) -> str:
    """A clause with the words and their sentence; only the words if there are no others."""
    return words if words == sentence else f"{words} in: {sentence[:160]}"


_LINES_NEAR = 15
"""The number of lines above a line that are its paragraph."""


def _is_known(generated: GeneratedText, name: str, sentence: str) -> bool:
    """True if a message has a name. Of a hash, and of a name at the end of a text or before `…`, the
    beginning is enough."""
    mentions = generated.session.mentions
    if mentions.has_name(name):
        return True
    may_be_cut = (
        _SHORT_HASH.fullmatch(name)
        or generated.text.rstrip().endswith(sentence)
        or _CUT.match(sentence.partition(name)[2])
    )
    return bool(may_be_cut) and mentions.has_beginning(name)


def _is_title(sentence: str) -> bool:
    """True if the long words of a sentence, up to a colon, are all capitalised, so that names
    cannot be recognised.

    >>> [_is_title(text) for text in ("Order Status Report", "Orders Shipped: by whom", "Order of today", "")]
    [True, True, False, False]
    """
    words = _LONG_WORD.findall(sentence.partition(":")[0])
    return bool(words) and all(word[0].isupper() for word in words)
