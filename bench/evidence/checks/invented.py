"""Invented: an own text with a number, an identifier, a date, a name or an instruction that no
earlier message has.
"""

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
        return next(_strange(evidence, own, lines, wording), "")
    about = "strange", wording, on_purpose(own.text, evidence.replay.says)
    return own.once(about, lambda: next(_strange(evidence, own, lines, wording), ""))


def _strange(
    evidence: ReplayEvidence, own: OwnText, lines: list[str], wording: frozenset[str]
) -> Iterator[str]:
    """Yield the inventions of an own text."""
    mentions = evidence.session.mentions
    shown = own if isinstance(own, RewrittenResult) else None
    near: list[str] = []
    numbers = SummaryNumbers(evidence, own)
    for line in lines:
        ways = dict.fromkeys((line, IDENTIFIER.sub(" ", line)))  # a notice may have labels
        if shown and any(is_free(shown, way) for way in ways):
            continue
        line = without_offsets(_HUNK.sub(" ", line))
        near = [*near[-_LINES_NEAR:], line]
        line = line if shown else _LIST_MARK.sub("", line)
        for sentence in map(str.strip, _SENTENCE.split(line)):
            text = sentence
            for handle in own.handles:
                text = text.replace(handle, " ")
            if not text.strip() or mentions.verbatim(text):
                continue
            text = _QUOTE.sub(lambda quote: " " if mentions.verbatim(quote[1]) else quote[0], text)
            if shown is None:
                ordered = is_command(text) and not mentions.instruction(text)
            else:
                ordered = is_consent(text) or (
                    shown.shows_all and (is_command(text) or is_order(text))
                )
                ordered = ordered and not repeats(shown.result.text, text)
            if ordered:  # an order beside a part of a result may say how to see the rest
                yield text
            constant = line.strip() in wording
            is_prose = shown is None or WORD.search(IDENTIFIER.sub(" ", text)) is not None
            text = IDENTIFIER.sub(lambda match: " " if mentions.name(match[0]) else match[0], text)
            may_convert = shown is not None and _ZONE.search(sentence) is not None
            for find in (dates_in, times_in):
                for moment, (start, end) in list(find(text)):
                    words = text[start:end]
                    is_of_two = mentions.numbers.issuperset(words.split(":"))
                    is_known = moment in mentions.moments or constant or may_convert or is_of_two
                    if is_prose and not is_known:
                        yield _quoted(words, sentence)
                    text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
            text = UNSPACED.sub(" ", text)
            names = IDENTIFIER.findall(text)
            text = IDENTIFIER.sub(" ", text) if names else text
            names += () if constant or _is_title(text) else _NAME.findall(text)
            for name in names if is_prose else ():
                if not _is_known(own, name, sentence):
                    yield _quoted(name, sentence)
            if shown is None:
                for number in numbers.unsupported(text, sentence, near):
                    yield _quoted(number, sentence)


def _quoted(words: str, sentence: str) -> str:
    """Words together with their sentence, if that has others."""
    return words if words == sentence else f"{words} in: {sentence[:160]}"


_LINES_NEAR = 15
"""The lines above a line that count as its paragraph."""


def _is_known(own: OwnText, name: str, sentence: str) -> bool:
    """True if a name is known; the beginning is enough for a hash, and for a name truncated at the
    end or before a mark of omission.
    """
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
