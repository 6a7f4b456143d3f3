"""Statements that nothing recorded supports: nobody can tell whether they are true."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from ...model import ToolResult, lines_of, nested
from ...text.decode import NothingParsed, parse_json, parse_prefix
from ...text.escapes import unescape
from ...text.exit_codes import EXIT_CODE, exit_codes
from ...text.facts import flat
from ...text.instructions import is_consent, is_notice_word, quantifiers, sentences_of
from ...text.omissions import omission_in, says_omission
from ...text.reading import without_number
from ...text.scripts import FUNCTION_WORDS
from ..calls import call_of
from ..failures import FAILURE, SUCCESS
from ..of_replay import ReplayEvidence
from .own import SPEAKERS, OwnText, gaps_shown, lines_shown, speaker_of

_WORD = re.compile(r"[^\W\d_]{2,}")
_LABEL = re.compile(r"[^:\]\n]{1,60}[:\]]\W{0,2}? (?=\S)")
_CALL = re.compile(r"\b([\w.-]+)\((?=[{\[])")
_TAG = re.compile(r"</?[A-Za-z_][\w-]*(?:\s+[\w-]+=\"[^\"<>]{0,60}\")*\s*/?>")
_FENCE = re.compile(r"^`{3,}\w*$", re.MULTILINE)
_PLACE = re.compile(r"\[\d+\]\.?")
_MARK = re.compile(r"\[?(?:…|\.{3,})\]?")
_BRACKETS = re.compile(r"\[[^\[\]\n]{0,80}\]")
_CUT_WORD = re.compile(r"([^\W\d_]+)[^\w\n]{0,3}(?:…|\.{3}|\[|\n|$)")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
_FIRST_WORD = re.compile(r"\W{0,4}(\w+)")
_SUCCEEDED = re.compile(r"success\w*|succeeded")
_NAMES = frozenset(name for names in SPEAKERS.values() for name in names)
_COMPLETE = frozenset({"complete", "entire", "unabridged", "verbatim"})
"""What a text may say of itself that has the whole result."""

_EMPTY = "no output: none, nothing"
"""What a text may say of a result that is empty."""

_CODE = re.compile(r"\b(?=\w*\d)(?=\w*[^\W\d_])\w{3,}\b")
_FEW_WORDS = 40
_FEWEST_WORDS = 4
"""So many words in a row are a quotation."""


def unsupported(evidence: ReplayEvidence, own: OwnText) -> str:
    """The first word or sentence of an own text that nothing supports; "" for none.

    In a text that shows a result every word is one of the result or its call, or speaks of what is
    shown and left out. A sentence of any other text stands in a message before it, is a heading or
    a notice, or has all its words from one structured result. Words such as all, none and latest
    are supported only where the result has them as often, or where they are quoted.
    """
    found = _in_summary(evidence, own)
    if own.result is not None:
        found = _in_result(evidence, own, own.result)
    return next(found, "")


def _without_known(evidence: ReplayEvidence, text: str) -> str:
    """A text without what the strategy says on purpose and its handles."""
    handles = (item.record.handle for item in evidence.replay.results)
    offloaded = (item.handle for item in evidence.replay.handles)
    for words in (*evidence.replay.says, *handles, *offloaded):
        if words and str(words) in text:
            text = text.replace(str(words), " ")
    return text


@lru_cache(1 << 12)
def _is_small(word: str) -> bool:
    """True for a word that states nothing: a function word, or one of notices."""
    return word in FUNCTION_WORDS or is_notice_word(word) or bool(omission_in(word, ""))


def _is_all_small(text: str) -> bool:
    """True if all words of a text state nothing."""
    return all(map(_is_small, _WORD.findall(text.casefold())))


def _is_notice(sentence: str) -> bool:
    """True if a sentence says that something is left out, and nothing else."""
    quantified = quantifiers(sentence)
    return all(
        _is_small(word) or word in quantified for word in _WORD.findall(sentence.casefold())
    ) and bool(says_omission(sentence, ""))


# ---------------------------------------------------------------- texts that show a result


def _in_result(evidence: ReplayEvidence, own: OwnText, result: ToolResult) -> Iterator[str]:
    """Yield the words that neither the result nor a notice has, and sentences with a quantifier.

    Lines that stand in some message before are a quotation.
    """
    text = _new_text(evidence, own, result)
    for prose in _prose_of(evidence, text, result):
        yield from _moved_lines(evidence, prose, result)
    if not _strange_words(evidence, text, result) and not quantifiers(text):
        return
    text = "\n".join(
        line
        for line in text.split("\n")
        if line.count(" ") < _FEWEST_WORDS or not _is_quoted(evidence, line, result.index)
    )
    strange = _strange_words(evidence, text, result)
    is_whole = result.text in evidence.messages.contents.text_of(own.message)
    yield from sorted(strange - _COMPLETE if is_whole else strange)
    yield from _quantified(evidence, text, result)


def _moved_lines(evidence: ReplayEvidence, text: str, result: ToolResult) -> Iterator[str]:
    """Yield the lines of prose that do not stand in a row in the result, or stand there before what
    is above them, or with a code in other letters.
    """
    row, place = evidence.messages.texts.flat(result.text), 0
    for shown in lines_of(text) if row.strip() else ():
        line = _BRACKETS.sub(_without_notice, shown)
        words = flat(without_number(line)).rstrip()
        found = row.find(words, place)
        if found < 0 and not _is_of_call(evidence, flat(unescape(line)), result):
            label = _LABEL.match(line)
            rest = line[label.end() :] if label and _is_of_run(evidence, label[0]) else line
            parts = list(_without_halves(_MARK.split(rest)))
            if any(flat(part).rstrip() not in row for part in parts) or (
                len(parts) == 1 and row.find(flat(rest).rstrip(), place) < 0
            ):
                yield line
        elif any(code not in result.text for code in _CODE.findall(line)):
            yield line  # a code with other letters
        place = max(place, found)


def _is_of_call(evidence: ReplayEvidence, words: str, result: ToolResult) -> bool:
    """True if flat words only name the call of a result, and how it ended."""
    known = set(evidence.messages.texts.flat(call_of(result)).split())
    outcome = _outcome(evidence, result)
    return all(
        word in known or word.isdigit() or outcome.fullmatch(word) or _is_small(word)
        for word in words.split()
    )


def _without_notice(brackets: re.Match[str]) -> str:
    """A blank for brackets with words that state nothing; else themselves."""
    return " " if _WORD.search(brackets[0]) and _is_all_small(brackets[0]) else brackets[0]


def _prose_of(evidence: ReplayEvidence, text: str, result: ToolResult) -> Iterator[str]:
    """Yield the texts of several lines in a text; a text that is no data is one where the result has
    no fields.
    """
    try:
        yield from (
            item for item in nested(parse_json(text)) if isinstance(item, str) and "\n" in item
        )
    except NothingParsed:
        if not evidence.messages.table(result.index).fields:
            yield text


def _new_text(evidence: ReplayEvidence, own: OwnText, result: ToolResult) -> str:
    """What an own text says beside its result."""
    gaps = gaps_shown(evidence, own)
    if gaps is not None:
        text = "\n".join(gap.words for gap in gaps)
    else:
        text = (evidence.messages.contents.of(own.message) or [""])[0]
        text = text.replace(result.text, "\n") if result.text else text
    for other in evidence.trace.results:
        if other.call_id in text and other.text == result.text:
            text = text.replace(other.call_id, " ")  # the same as that call gave
    if set(exit_codes(text)) <= set(exit_codes(result.text)):
        text = EXIT_CODE.sub(" ", text)
    return _FENCE.sub(" ", _without_known(evidence, text))


def _strange_words(evidence: ReplayEvidence, text: str, result: ToolResult) -> frozenset[str]:
    """The words of a text that neither its result nor a notice has, half a word at a cut left out.

    Names with digits are no words.
    """
    words = {
        word
        for word in evidence.messages.texts.flat(text).split()
        if not word.isdigit() and not is_notice_word(word)
    }
    if all(map(_is_small, words)) if len(words) < _FEW_WORDS else not words:
        return frozenset()
    known = evidence.session.words_of(result.index)
    strange = {
        part
        for word in words - known
        if not any(map(str.isdigit, word))
        for part in _WORD.findall(word)
        if not _is_small(part)
    } - known
    if "null" in known:
        strange.discard("none")
    if not strange:
        return frozenset()
    outcome = _outcome(evidence, result)
    cut = set(_CUT_WORD.findall(text.casefold()))
    return frozenset(
        part
        for part in strange
        if not outcome.fullmatch(part)
        and not (part in cut and any(word.startswith(part) for word in known))
    )


def _quantified(evidence: ReplayEvidence, text: str, result: ToolResult) -> Iterator[str]:
    """Yield the sentences that speak of all, none or the first more often than the result does."""
    lines = evidence.session.lines_of(result.index)
    sentences = [
        (sentence, quantified)
        for line in lines_shown(text)
        if line not in lines
        for sentence in sentences_of(line)
        if (quantified := quantifiers(sentence)) and not _is_notice(sentence)
    ]
    if not sentences:
        return
    now = Counter(word for _, quantified in sentences for word in quantified)
    was = Counter(evidence.session.quantifiers_of(result.index))
    was.update(() if result.text.strip() else quantifiers(_EMPTY))
    was["none"] += result.text.count("null")
    for sentence, quantified in sentences:
        if any(now[word] > was[word] for word in quantified):
            yield sentence


# ---------------------------------------------------------------- all other texts


def _in_summary(evidence: ReplayEvidence, own: OwnText) -> Iterator[str]:
    """Yield the sentences that nothing before the first prompt with the text supports."""
    first = min(stay.first for stay in evidence.walked.stays[own.number])
    before = evidence.walked.calls[first].step
    for whole in own.text.split("\n"):
        line = _CUT_ESCAPE.sub("", whole)
        if _is_supported(evidence, line, before):
            continue
        line = _without_calls(evidence, _TAG.sub(" ", line), before)
        if _is_supported(evidence, line, before):
            continue
        for part in lines_shown(line) if line.lstrip()[:1] in ("{", "[") else (line,):
            for piece in unescape(part).split("\n") if "\\" in part else (part,):
                for sentence in sentences_of(_without_known(evidence, piece)):
                    if not _is_supported(evidence, sentence, before):
                        yield sentence


def _without_calls(evidence: ReplayEvidence, line: str, before: int) -> str:
    """A line without the calls in it that were made before a step, and without the word that says
    truly how each ended: `name({"a": 1}): failed`.
    """
    while call := _CALL.search(line):
        arguments, end = None, 0
        with suppress(NothingParsed):
            arguments, end = parse_prefix(line[call.end() :])
        results = [
            result
            for result in evidence.trace.results
            if result.index < before and (result.function, result.arguments) == (call[1], arguments)
        ]
        if not end or not results:
            return line
        rest = line[call.end() + end :].removeprefix(")")
        word = _FIRST_WORD.match(rest)
        if word and _outcome(evidence, results[-1]).fullmatch(word[1]):
            rest = rest[word.end() :]
        line = f"{line[: call.start()]} {rest}"
    return line


def _outcome(evidence: ReplayEvidence, result: ToolResult) -> re.Pattern[str]:
    """The words that say how a call ended."""
    return FAILURE if evidence.session.failed(result) else _SUCCEEDED


def _is_quoted(evidence: ReplayEvidence, text: str, before: int) -> bool:
    """True if a message before a step has the words of a text."""
    step = evidence.session.mentions.first_step_with(text)
    return step is not None and step < before


def _is_supported(evidence: ReplayEvidence, sentence: str, before: int) -> bool:
    """True if something before a step supports a sentence of a summary."""
    if _is_notice(sentence) or _is_quoted(evidence, sentence, before):
        return True
    if evidence.session.mentions.is_call_id(sentence):
        return True
    if not _WORD.search(sentence) and _claims_nothing(sentence):
        return True
    role, words = speaker_of(sentence)
    if role and words:
        roles = evidence.session.mentions.roles_of(words)
        return (not roles or role in roles) and _is_supported(evidence, words, before)
    if sentence.rstrip().endswith(":") and _claims_nothing(sentence):
        return True
    if label := _LABEL.match(sentence):
        rest = sentence[label.end() :]
        if _is_of_run(evidence, label[0]) or (
            rest.count(" ") + 1 >= _FEWEST_WORDS and _claims_nothing(label[0])
        ):
            return _is_supported(evidence, rest, before)
    if not quantifiers(sentence):
        core = _core(sentence)
        if not core or _is_quoted(evidence, core, before):
            return True
    parts = _MARK.split(sentence)
    if len(parts) > 1:
        return all(_is_supported(evidence, part, before) for part in _without_halves(parts))
    return _is_of_one_result(evidence, sentence, before)


def _claims_nothing(heading: str) -> bool:
    """True if words above or in front of others tell no success, failure or consent, and do not
    speak of all, none or the latest.
    """
    claims = (quantifiers, SUCCESS.search, FAILURE.search, is_consent)
    return not any(claim(heading) for claim in claims)


def _is_of_run(evidence: ReplayEvidence, label: str) -> bool:
    """True if a label names who speaks or a function, and nothing else."""
    return all(
        _is_small(word) or word in _NAMES or word in evidence.session.functions
        for word in flat(label).split()
    )


def _core(sentence: str) -> str:
    """A sentence without the words at both ends that state nothing."""
    words = flat(sentence).split()
    states = [
        bool(_WORD.search(word)) and not _is_small(word) and word not in _NAMES for word in words
    ]
    if not any(states):
        return ""
    return " ".join(words[states.index(True) : len(words) - states[::-1].index(True)])


def _without_halves(parts: list[str]) -> Iterator[str]:
    """Yield the parts of a sentence between its marks of omission, without the word that a mark may
    have cut.
    """
    for number, part in enumerate(parts):
        words = part.split()
        if number and part[:1].strip():
            words = words[1:]
        if number < len(parts) - 1 and part[-1:].strip():
            words = words[:-1]
        if words:
            yield " ".join(words)


def _is_of_one_result(evidence: ReplayEvidence, sentence: str, before: int) -> bool:
    """True if all words of a sentence are from one structured result, in a row where it speaks of
    all or none.
    """
    row = flat(_PLACE.sub(".", sentence))
    words = {word for word in row.split() if not _is_small(word)}
    is_quantified = bool(quantifiers(sentence))
    return any(
        words <= evidence.session.words_of(step)
        and bool(evidence.messages.table(step).fields)
        and (not is_quantified or row in evidence.messages.texts.flat(result.text))
        for step, result in evidence.messages.contents.results.items()
        if step < before
    )
