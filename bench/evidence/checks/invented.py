"""Invented: an own text with a number, an identifier, a date, a name or an instruction that no
earlier message has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model.scores import Check, Finding
from ...text.dates import dates_in, times_in, without_offsets
from ...text.instructions import is_command, is_consent, is_order, repeats
from ...text.reading import is_path
from ...text.small_words import WORD
from ...text.wording import quoted
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult
from .findings import check_of
from .stated_numbers import StatedNumbers
from .support import on_purpose, without
from .understated import understated
from .unsupported import is_about_itself, unsupported

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n")
_IDENTIFIER = re.compile(  # bounded where it looks ahead, so that time is linear in a text that is one long word
    r"(?<![\w/.@#-])(?!\d+(?:st|nd|rd|th|s|-[A-Za-z]+)\b)(?!\d[\d.]*[eE][-+]?\d+(?!\w))[#@]?(?=[\w/.@:-]{0,255}\d)(?=[\w/.@:-]{0,255}[A-Za-z])"
    r"\w[\w/.@:-]{2,}\w|[\w.+-]{1,64}@[\w-]++\.\w+|https?://[^\s\[]+\w"
    r"|(?<![\w/<.])(?:~?/)?(?=[\w./@:-]{0,255}\d|[\w./@-]{0,255}\.[A-Za-z]\w*+(?![\w./@-]))"
    r"[\w.-]{0,255}\w/[\w./@:-]*\w"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]+")
"""Matches letters of scripts in which a word or its ending follows a name without a blank."""

_ZONE = re.compile(r"\b(?:UTC|GMT|timezone)\b|\b\d\dZ\b", re.IGNORECASE)
"""Matches the zone of a time, which may be another one than in the result."""

_LIST_MARK = re.compile(r"^\s*\d{1,3}[.)]\s+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)++(?!\w|['\"*:`]| \()")
_KEY = re.compile(
    r"\s*+(?:[-*•]\s++)?(?:[\w-]+[.\[\]])*\s*[\"'`*]*([A-Za-z_][\w-]*)[\"'`*]*\s*[:=]\s"
)
_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")  # places in a difference
_CUT = re.compile(r"\s?(?:…|\.{3}|\[)")
_QUOTE = re.compile(r"[\"“]([^\"“”\n]+ [^\"“”\n]+ [^\"“”\n]+)[\"”]")
_SHORT_HASH = re.compile(r"[0-9a-f]{7,39}")
_ALL = re.compile(r"\b(?:all|complete|total|entire)\b", re.IGNORECASE)
_LONG_WORD = re.compile(r"[A-Za-z][A-Za-z'’]{3,}")


def invented(evidence: ReplayEvidence, wording: frozenset[str]) -> Check:
    """The check of own texts with something that no earlier message has, over all own texts with
    new words.

    The unit is the text: a longer one may not invent more. Only lines that are not in the shown
    contents are checked. Not inventions are handles, counts of what is there or left out, and
    numbers computed from others in the same paragraph or record. A text that shows a result may not
    give an order or state a consent; any other may not give a standing instruction that nobody
    gave. Names in the strategy's own `wording` (lines in half of its texts) are quoted in the
    report instead, and so are sentences that it `says` on purpose. Not checked are, beside a
    result, an unknown number, which may count anything, an unknown name in a sentence about the
    text itself, which may be a label, an order beside a part of a result, which may say how to see
    the rest ("run it again if needed"), and a notice that counts far too little.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)
    """
    says = evidence.replay.says
    findings: list[Finding] = []
    of = summaries = 0
    statements: list[str] = []
    for own in evidence.own_texts:
        if isinstance(own, RewrittenResult) and own.is_encoded:
            continue
        is_summary = not isinstance(own, RewrittenResult)
        lines = [without(line, says) for line in own.new_lines]
        of += bool(lines)
        summaries += bool(lines) and is_summary
        strange, notice = _first_strange(evidence, own, lines, wording) if lines else ("", "")
        statements += [notice] if notice else []
        if strange:
            findings.append(Finding(own.step, strange))
    statements += [unsupported(evidence, own) for own in evidence.own_texts]
    statements += map(understated, evidence.rewritten)
    unchecked = [f"{quoted(words)} has no support" for words in statements if words]
    return check_of(findings, of, summaries, unchecked)


def _first_strange(
    evidence: ReplayEvidence,
    own: OwnText,
    lines: list[str],
    wording: frozenset[str],
) -> tuple[str, str]:
    """The first invention of an own text, and the first number of unknown meaning before it; ""
    without one. A text that shows a result is read once.
    """
    wording = wording.intersection(map(str.strip, lines))

    def find() -> tuple[str, str]:
        unknown = ""
        for words, is_invented in _strange(evidence, own, lines, wording):
            if is_invented:
                return words, unknown
            unknown = unknown or words
        return "", unknown

    if not isinstance(own, RewrittenResult):
        return find()
    says = on_purpose(own.text, evidence.replay.says)
    versions = tuple(evidence.own_by_step.get(own.step, ()))
    return own.once(("strange", wording, says, versions), find)


def _strange(
    evidence: ReplayEvidence,
    own: OwnText,
    lines: list[str],
    wording: frozenset[str],
) -> Iterator[tuple[str, bool]]:
    """Yield the inventions of an own text, each with False for what may be a count or a label of a
    text that shows a result; of numbers and of names only the first such one.
    """
    mentions = evidence.session.mentions
    shown = own if isinstance(own, RewrittenResult) else None
    near: list[str] = []
    numbers, has_label = StatedNumbers(evidence, own), False
    for line in lines:
        line = without_offsets(_HUNK.sub(" ", line))
        if shown and (
            is_path(line) or ((pair := _KEY.match(line)) and shown.table.has_key(pair[1]))
        ):
            continue  # data, which the rule `changed` holds against the record
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
                ordered = is_command(text) or is_order(text) or is_consent(text)
                ordered = ordered and not repeats(shown.result.text, text)
            if ordered:  # beside a part of a result it may say how to see the rest
                yield text, shown is None or shown.shows_all or is_consent(text)
            constant = line.strip() in wording
            bare = _IDENTIFIER.sub(" ", text)
            is_sure = shown is None or (
                bool(WORD.search(bare)) and not is_about_itself(shown, bare)
            )
            text = _IDENTIFIER.sub(lambda match: " " if mentions.name(match[0]) else match[0], text)
            may_convert = shown is not None and _ZONE.search(sentence) is not None
            for find in (dates_in, times_in):
                for moment, (start, end) in list(find(text)):
                    if moment not in mentions.moments and not constant:
                        words = text[start:end]
                        is_of_two = mentions.numbers.issuperset(words.split(":"))
                        yield _quoted(words, sentence), is_sure and not (may_convert or is_of_two)
                    text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
            text = _UNSPACED.sub(" ", text)
            identifiers = _IDENTIFIER.findall(text)
            for name in identifiers:
                is_no_label = is_sure or "/" in name
                if (is_no_label or not has_label) and not _is_known(own, name, sentence):
                    has_label = has_label or not is_no_label
                    yield _quoted(name, sentence), is_no_label
            text = _IDENTIFIER.sub(" ", text) if identifiers else text
            of_all = (
                word
                for word in _ALL.findall(sentence)
                if not (shown and shown.columns.has_key(word))
            )
            states_all = any(of_all) or own.text.strip() == line.strip()
            for number, is_wrong in numbers.unsupported(text, sentence, near, states_all):
                yield _quoted(number, sentence), is_wrong
            for name in () if constant or _is_title(text) else _NAME.findall(text):
                if not _is_known(own, name, sentence):
                    yield _quoted(name, sentence), is_sure


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
