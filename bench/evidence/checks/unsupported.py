"""Statements without support in the recording, whose truth is unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.instructions import is_command, is_consent, is_rank, is_unit, quantifiers, sentences_of
from ...text.omissions import omission_in
from ...text.separators import is_part
from ...text.small_words import WORD, is_all_small, is_notice, is_small
from ..failures import FAILURE, SUCCESS
from ..of_replay import ReplayEvidence
from ..own_text import OwnText, RewrittenResult, lines_shown
from ..repeated import SAME, claims_repetition
from .summaries import Summary
from .support import (
    FEWEST_WORDS,
    TAG,
    is_quoted,
    on_purpose,
    without,
)

_ATTRIBUTE = re.compile(r"(?<=\s)[\w-]+(?==\")")
_SUCCEEDED = re.compile(r"success\w*|succeeded|ok(?:ay)?")
_FENCE = re.compile(r"^`{3,}\w*$", re.MULTILINE)
_FROM_TO = re.compile(r"\bfrom\b(?!\W{0,3}\d)[^\n]{1,120}?\bto\b", re.IGNORECASE)
"""Matches a direction, which is a statement of its own."""

_CUT_WORD = re.compile(r"([^\W\d_]+)[^\w\n]{0,3}(?:…|\.{3}|[\[(<⟨]|\n|$)")
_NO_OTHERS = re.compile(r"\bonly\b(?!(?: the)? \d+ of \d)|\b(\d+) of (?:the )?\1\b", re.IGNORECASE)
"""Matches a statement that there is nothing else."""

_SOME_OF = re.compile(r"(?<![\w.])\d+ (?:of|out of) (?:the )?\d+ [^\W\d]", re.IGNORECASE)
"""Matches a count of those that have something in common."""

_DENIED = re.compile(r"\b(?:0|never|no|none|not|without|zero)\b", re.IGNORECASE)
_OBJECT = re.compile(r"^\W*\w+(?= (?:all|an|her|him|his|it|the|their|them|this|to|your)\b)")
"""Matches a verb at the beginning, such as call or record, before its object."""

_OF_ALL = frozenset({"all", "both", "each", "every"})
"""The words that state nothing without a word for what they count."""

_CELL_END = re.compile(r"\||:\s")
_IS = re.compile(r"\b(?:are|had|has|have|is|was|were)\b", re.IGNORECASE)
"""Matches the verb of a statement of what something is or has."""

_MUST = re.compile(r"\b(?:may|must|should)\b", re.IGNORECASE)
"""Matches the verb of a statement of what may or must be done."""

_OF_ALL_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(_OF_ALL))})\b", re.IGNORECASE)
_EMPTY = "no output: none, nothing"
"""What a text may say about an empty result."""


def unsupported(evidence: ReplayEvidence, own: OwnText) -> str:
    """The first unsupported sentence of an own text; "" without one.

    In a text that shows a result, every word must be from the result or its call, and words such as
    all, none and latest may not be more than there. Lines of an earlier message are free, and so are
    sentences about the text itself. A sentence of any other text must be in an earlier message, or be
    a heading or a notice.
    """
    purpose = *on_purpose(own.text, evidence.replay.says), *own.handles
    if isinstance(own, RewrittenResult):
        return own.once(("unsupported", purpose), lambda: next(_in_result(own, purpose), ""))
    before = evidence.walked.calls[evidence.first_call(own.number)].step
    summary = Summary(own, before, purpose)
    found = lambda: next(summary.unsupported(), "")  # noqa: E731
    return own.once(("unsupported", purpose, before), found)


def _in_result(own: RewrittenResult, purpose: Sequence[str]) -> Iterator[str]:
    """Yield the sentences with an unsupported word or quantifier, except those about the text
    itself and lines of an earlier message.
    """
    text = _new_text(own, purpose)
    if own.gaps is None:
        yield from islice(_of_several_blocks(own, text), 1)
    states = _new_words(own, text) or quantifiers(text) or _SOME_OF.search(text)
    if not text.strip() or not states:
        return
    text = "\n".join(
        line
        for line in text.split("\n")
        if not (line.count(" ") >= FEWEST_WORDS and is_quoted(own, line, own.result.index))
    )
    yield from islice(_sentences_with(own, text, _new_words(own, text)), 1)
    yield from islice(_counts_of_some(own, text), 1)
    yield from _quantified(own, text)


def _of_several_blocks(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the clauses with words of several blocks of the result, except those about the text
    itself."""
    if own.table.fields:
        return  # compared field by field
    if own.columns is not own.table:
        text = own.session.messages.reading(text).outside_records
    lines, blocks = own.session.lines_of(own.result.index), own.session.blocks(own.result.index)
    heading = ""
    for line in lines_shown(text):
        is_own = line.rstrip().endswith(":") and line.strip() not in own.result.text
        is_part = line in lines or line in own.result.text
        if is_own or not line.strip():
            heading = line.strip()
        elif heading and not is_part and blocks.below_another(heading, line):
            yield f"{heading} {line.strip()}"
        clause = "" if is_part else blocks.mixed(line)
        if clause and not (
            is_about_itself(own, clause)
            or _is_right_of_columns(own, clause)
            or _is_column(own, line)
        ):
            yield clause


def _is_column(own: RewrittenResult, line: str) -> bool:
    """True if a line has the name of a column of the result and cells of that."""
    key, *cells = filter(None, map(str.strip, _CELL_END.split(line)))
    return bool(cells) and own.columns.column(key).keys() >= {*cells}


def _sentences_with(own: RewrittenResult, text: str, words: frozenset[str]) -> Iterator[str]:
    """Yield the sentences with one of some words, except words that are the end of a word of the
    result, perhaps left by a cut.
    """
    sentences = [
        sentence for line in lines_shown(text, keys=True) for sentence in sentences_of(line)
    ]
    with_word = [item for item in sentences if words & {*WORD.findall(item.casefold())}]
    for sentence in with_word or sorted(words):
        if not (
            is_about_itself(own, sentence)
            or _is_right_of_columns(own, sentence)
            or re.search(rf"{re.escape(sentence)}(?!\w)", own.result.text)
        ):
            yield sentence


def _counts_of_some(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the sentences that count some of all things, except those about the text itself."""
    for sentence in sentences_of(text):
        if _SOME_OF.search(sentence) and not (
            sentence in own.result.text
            or is_about_itself(own, sentence)
            or _is_right_of_columns(own, sentence)
        ):
            yield sentence


def _is_right_of_columns(own: RewrittenResult, sentence: str) -> bool:
    return own.has_right_sums(sentence) or own.has_right_order(sentence)


def is_about_itself(own: RewrittenResult, sentence: str) -> bool:
    """True if a sentence names lines, rows, values or what is left out, and claims no success or
    consent, nor a failure that the result does not name, or that there is none, nor, in new words,
    what must be. In place of a failure, without a handle to it, every other word may be a
    claim."""
    return own.once(("about itself", sentence), lambda: _is_about_itself(own, sentence))


def _is_about_itself(own: RewrittenResult, sentence: str) -> bool:
    if own.failed and not (own.shows_line or own.handles):
        return is_all_small(sentence)
    words = WORD.findall(_OBJECT.sub(" ", sentence.casefold(), count=1))
    if not omission_in(sentence, own.result.text):
        known = own.session.words_of(own.result.index).union(quantifiers(sentence))
        is_new = any(not (is_small(it) or is_unit(it) or it in known) for it in words)
        if not any(map(is_unit, words)) or (is_new and _MUST.search(sentence)):
            return False
    if SUCCESS.search(sentence) or is_consent(sentence) or is_command(sentence):
        return False
    failures = [failure[0].casefold() for failure in FAILURE.finditer(sentence)]
    if not failures:
        return True
    of_result = own.result.text.casefold()
    return all(words in of_result for words in failures) and not _DENIED.search(sentence)


def _new_text(own: RewrittenResult, purpose: Sequence[str]) -> str:
    """The words of an own text besides its result."""
    text, result = without(own.added, purpose), own.result
    for call_id in own.session.call_ids[result.text]:  # the same as that call gave
        if call_id in text:
            text = re.sub(rf"(?<!\w){re.escape(call_id)}(?!\w)", " ", text)
    codes = exit_codes(text) if text.lstrip()[:1] != "{" else ()
    if codes and {*codes}.issubset(exit_codes(result.text)):
        text = EXIT_CODE.sub(" ", text)
    return TAG.sub(_bare_tag, _FENCE.sub(" ", text))


def _bare_tag(tag: re.Match[str]) -> str:
    """A tag without the names of its attributes; a blank for one of a layout."""
    names = WORD.findall(tag[0].casefold())
    return " " if names and is_part(names[0]) else _ATTRIBUTE.sub("", tag[0])


def _new_words(own: RewrittenResult, text: str) -> frozenset[str]:
    """The words of a text that neither its result nor its call has. Names with digits, small words,
    words for all of some things, and half words at a cut do not count.
    """
    said = [
        (word, part)
        for word in {*own.session.messages.texts.flat(text).split()}
        if not any(map(str.isdigit, word))
        for part in WORD.findall(word)
        if part not in _OF_ALL and not is_small(part) and not is_unit(part)
    ]
    is_directed = _FROM_TO.search(text) is not None
    if not said and not is_directed:
        return frozenset()
    known = own.session.words_of(own.result.index)
    new = {part for word, part in said if known.isdisjoint((word, part, part.removesuffix("s")))}
    if "null" in known:
        new -= {"none", "nil"}
    if is_directed and "from" not in known:
        new.add("from")
    if claims_repetition(own):  # which *changed* holds against the other results
        new = {word for word in new if not SAME.fullmatch(word)}
    if not new:
        return frozenset()
    outcome = FAILURE if own.failed else _SUCCEEDED
    cut = set(_CUT_WORD.findall("\n".join(lines_shown(text)).casefold()))
    return frozenset(
        word
        for word in new
        if not outcome.fullmatch(word)
        and not (word in cut and any(other.startswith(word) for other in known))
    )


def _quantified(own: RewrittenResult, text: str) -> Iterator[str]:
    """Yield the sentences with more quantifiers (all, none, first) than the result has."""
    result, session = own.result, own.session
    lines = session.lines_of(result.index)
    sentences = [
        (sentence, quantified)
        for line in lines_shown(text, keys=True)
        if line not in lines
        for whole in sentences_of(line)
        for sentence in whole.split("; ")
        if (quantified := quantifiers(sentence)) and not is_notice(sentence)
        if not _OF_ALL.issuperset(quantified) or not is_all_small(_OF_ALL_WORDS.sub("", sentence))
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
        more = [word for word in quantified if now[word] > was[word]]
        is_free = is_about_itself(own, sentence) and not _speaks_of_the_rest(sentence, more)
        if _OF_ALL.issuperset(more) and _IS.search(sentence) and own.is_of_columns(sentence):
            is_free = own.has_right_constants(sentence)
        if more and not is_free and not _is_right_of_columns(own, sentence):
            yield sentence


def _speaks_of_the_rest(sentence: str, quantified: Sequence[str]) -> bool:
    """True for a statement that there is nothing else, or that ranks what is shown above it."""
    return bool(_NO_OTHERS.search(sentence)) or any(map(is_rank, quantified))
