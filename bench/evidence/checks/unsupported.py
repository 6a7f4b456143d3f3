"""Statements without support in the recording, whose truth is unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice

from ...model import lines_of, nested
from ...text.decode import NothingParsed, parse_json
from ...text.escapes import unescape
from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.facts import flat
from ...text.instructions import is_notice_word, quantifiers, sentences_of
from ...text.line_notes import without_number
from ...text.small_words import WORD, is_all_small, is_notice, is_small
from ..calls import call_of
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult, lines_shown
from .form import is_about_form
from .repeated import SAME, claims_repetition
from .summaries import Summary
from .support import (
    FEWEST_WORDS,
    MARK,
    TAG,
    is_quoted,
    on_purpose,
    outcome_words,
    without,
    without_halves,
)

_ATTRIBUTE = re.compile(r"(?<=\s)[\w-]+(?==\")")
_FENCE = re.compile(r"^`{3,}\w*$", re.MULTILINE)
_BRACKETS = re.compile(r"\[[^\[\]\n]{0,80}\]")
_CUT_WORD = re.compile(r"([^\W\d_]+)[^\w\n]{0,3}(?:…|\.{3}|[\[(<⟨]|\n|$)")
_COMPLETE = frozenset({"complete", "entire", "unabridged", "verbatim"})
"""What a text may say about itself if it has the whole result."""

_EMPTY = "no output: none, nothing"
"""What a text may say about an empty result."""

_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])\w{3,}\b|(?<![\w./])~?/[\w/-]{2,}")
_OWN_NAME = re.compile(r"\b(?:[A-Z][a-z]+ \d+|(?=\w*\d)\w{5,})\b")
_FEW_WORDS = 40


def unsupported(evidence: ReplayEvidence, own: OwnText) -> str:
    """The first unsupported sentence of an own text; "" without one.

    In a text that shows a result, every word must be from the result or its call, or describe what
    is shown and left out, and no name may belong to something else. A sentence of any other text
    must be in an earlier message, or be a heading or a notice. Words such as all, none and latest are supported only if the result has them
    as often, or if they are quoted.
    """
    purpose = *on_purpose(own.text, evidence.replay.says), *own.handles
    if isinstance(own, RewrittenResult):
        return own.once(("unsupported", purpose), lambda: next(_in_result(own, purpose), ""))
    before = evidence.walked.calls[evidence.first_call(own.number)].step
    summary = Summary(own, before, purpose)
    found = lambda: next(summary.unsupported(), "")  # noqa: E731
    return own.once(("unsupported", purpose, before), found)


def _in_result(own: RewrittenResult, purpose: Sequence[str]) -> Iterator[str]:
    """Yield the sentences with a word that is neither in the result nor in a notice, or with an
    unsupported quantifier.

    Lines of an earlier message count as quotations.
    """
    text = _new_text(own, purpose)
    if not text.strip():
        return
    yield from _names_of_others(own, text)
    for prose in _prose_of(own, text):
        yield from _moved_lines(own, prose)
    if not _strange_words(own, text) and not quantifiers(text):
        return
    text = "\n".join(
        line
        for line in text.split("\n")
        if not (line.count(" ") >= FEWEST_WORDS and is_quoted(own, line, own.result.index))
    )
    strange = _strange_words(own, text) - (_COMPLETE if own.result.text in own.text else set())
    yield from islice(_sentences_with(own, text, strange), 1)
    yield from _quantified(own, text)


def _sentences_with(own: RewrittenResult, text: str, strange: frozenset[str]) -> Iterator[str]:
    """Yield the sentences with one of some words, except words that are the end of a word of the
    result, perhaps left by a cut.
    """
    sentences = [sentence for line in lines_shown(text) for sentence in sentences_of(line)]
    with_word = [item for item in sentences if strange & {*WORD.findall(item.casefold())}]
    for sentence in with_word or sorted(strange):
        if not is_about_form(own, sentence) and not re.search(
            rf"{re.escape(sentence)}(?!\w)", own.result.text
        ):
            yield sentence


def _names_of_others(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the codes and numbered names (`Level 1`) in a text that are in other messages, but
    neither in the result nor in its call.
    """
    session, result = own.session, own.result
    row_of = session.messages.texts.flat
    for name in dict.fromkeys(_OWN_NAME.findall(text)):
        row = flat(name)
        if not session.mentions.verbatim(name) or any(
            row in row_of(part) for part in (result.text, call_of(result))
        ):
            continue
        if " " in name or not session.words_of(result.index) >= {*row.split()}:
            yield name


def _moved_lines(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the lines of prose that the result does not have, has in another order, or has with a
    code in other letters.
    """
    result = own.result
    row, place = own.session.messages.texts.flat(result.text), 0
    said = f"{result.text}\n{call_of(result)}"
    for shown in lines_of(text) if row.strip() else ():
        line = shown
        for pattern in (_BRACKETS, TAG):
            line = pattern.sub(lambda brackets: _without_notice(own, brackets[0]), line)
        words = flat(without_number(line)).rstrip()
        found = row.find(words, place)
        # A cut may have left half a word in front.
        is_part = words not in row and shown.strip() in result.text
        if found < 0 and not is_part and not _is_of_call(own, flat(unescape(line))):
            parts = list(without_halves(MARK.split(line)))
            is_in_parts = len(parts) > 1 and all(flat(part).rstrip() in row for part in parts)
            if not (is_in_parts or is_about_form(own, line)):
                yield line
        elif any(code not in said for code in _CODE.findall(line)):
            yield line  # a code with other letters
        place = max(place, found)


def _is_of_call(own: RewrittenResult, words: str) -> bool:
    """True if flat words only name the call of a result and its outcome."""
    outcome = outcome_words(own.failed)
    row = own.session.messages.texts.flat(call_of(own.result)).split()
    called = [word for word in words.split() if not (outcome.fullmatch(word) or is_small(word))]
    called = [*dropwhile(str.isdigit, called)]  # the number of the call
    called = [word for word in called if not word.isdigit() or word in row]
    known = [word for word in row if not is_small(word)]
    return f" {' '.join(called)} " in f" {' '.join(known)} " or not called


def _without_notice(own: RewrittenResult, brackets: str) -> str:
    """A blank for brackets or a tag without significant words; else the match itself."""
    is_notice_ = WORD.search(brackets) and is_all_small(brackets)
    return " " if is_notice_ or is_about_form(own, brackets) else brackets


def _prose_of(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the texts with several lines in a text; a text that is not data counts as one if the
    result has no fields.
    """
    try:
        yield from (
            item for item in nested(parse_json(text)) if isinstance(item, str) and "\n" in item
        )
    except NothingParsed:
        if not own.table.fields:
            yield text


def _new_text(own: RewrittenResult, purpose: Sequence[str]) -> str:
    """The words of an own text besides its result."""
    text, result = without(own.added, purpose), own.result
    for other in own.session.equal_results(result):
        if other.call_id in text and other.text == result.text:
            text = text.replace(other.call_id, " ")  # the same as that call gave
    codes = exit_codes(text) if text.lstrip()[:1] != "{" else ()
    if codes and {*codes}.issubset(exit_codes(result.text)):
        text = EXIT_CODE.sub(" ", text)
    return TAG.sub(lambda tag: _ATTRIBUTE.sub("", tag[0]), _FENCE.sub(" ", text))


def _strange_words(own: RewrittenResult, text: str) -> frozenset[str]:
    """The words of a text that are neither in its result nor in a notice, without half words at a
    cut.

    Names with digits do not count.
    """
    words = {
        word
        for word in own.session.messages.texts.flat(text).split()
        if not word.isdigit() and not is_notice_word(word)
    }
    if all(map(is_small, words)) if len(words) < _FEW_WORDS else not words:
        return frozenset()
    known = own.session.words_of(own.result.index)
    strange = {
        part
        for word in words - known
        if not any(map(str.isdigit, word))
        for part in WORD.findall(word)
        if not is_small(part)
    } - known
    if "null" in known:
        strange.discard("none")
    if claims_repetition(own):  # which *changed* holds against the other results
        strange = {word for word in strange if not SAME.fullmatch(word)}
    if not strange:
        return frozenset()
    outcome = outcome_words(own.failed)
    cut = set(_CUT_WORD.findall(text.casefold()))
    return frozenset(
        part
        for part in strange
        if not outcome.fullmatch(part)
        and not (part in cut and any(word.startswith(part) for word in known))
    )


def _quantified(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the sentences with more quantifiers (all, none, first) than the result has."""
    result, session = own.result, own.session
    lines = session.lines_of(result.index)
    sentences = [
        (sentence, quantified)
        for line in lines_shown(text)
        if line not in lines
        for sentence in sentences_of(line)
        if (quantified := quantifiers(sentence)) and not is_notice(sentence)
    ]
    if not sentences:
        return
    now = Counter(word for _, quantified in sentences for word in quantified)
    was = Counter(session.quantifiers_of(result.index))
    output = TAG.sub(" ", EXIT_CODE.sub(" ", result.text))
    if is_all_small(output) and not any(map(str.isdigit, output)):
        was.update(quantifiers(_EMPTY))
    was["none"] += result.text.count("null")
    if claims_repetition(own):
        was.update(filter(SAME.fullmatch, now))
    for sentence, quantified in sentences:
        if any(now[word] > was[word] for word in quantified) and not is_about_form(own, sentence):
            yield sentence
