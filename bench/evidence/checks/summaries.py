"""Statements in summaries, checked against earlier messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...model import UserTurn
from ...text.decode import NothingParsed, parse_prefix
from ...text.escapes import unescape
from ...text.facts import flat
from ...text.instructions import quantifiers, sentences_of
from ...text.small_words import WORD, is_notice, is_small
from ..own_text import OwnText, lines_shown
from .speakers import speaker_of
from .support import (
    CALL,
    FEWEST_WORDS,
    LABEL,
    MARK,
    TAG,
    claims_nothing,
    core_of,
    is_of_run,
    is_quoted,
    outcome_words,
    without,
    without_halves,
)

_PLACE = re.compile(r"\[\d+\]\.?")
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")
_FIRST_WORD = re.compile(r"\W{0,4}(\w+)")
_ALL, _LATEST = frozenset({"all", "each", "every"}), frozenset({"current", "latest", "newest"})
_REQUEST = frozenset({"customer", "message", "messages", "request", "requests", "user"})


class Summary:
    """A text about no single result, checked against the messages before a step. `absent` are the
    earlier requests that the prompt does not have elsewhere.
    """

    def __init__(
        self, own: OwnText, before: int, purpose: Sequence[str], absent: Sequence[str]
    ) -> None:
        self._own, self._before, self._purpose, self._absent = own, before, purpose, absent
        self._results = [result for result in own.session.trace.results if result.index < before]

    def unsupported(self) -> Iterator[str]:
        """Yield the sentences that nothing supports."""
        for whole in self._own.text.split("\n"):
            line = _CUT_ESCAPE.sub("", whole)
            if self._is_supported(line):
                continue
            line = self._without_calls(TAG.sub(" ", line))
            if self._is_supported(line):
                continue
            for part in lines_shown(line) if line.lstrip()[:1] in ("{", "[") else (line,):
                for piece in unescape(part).split("\n") if "\\" in part else (part,):
                    for sentence in sentences_of(without(piece, self._purpose)):
                        if not self._is_supported(sentence):
                            yield sentence

    def _without_calls(self, line: str) -> str:
        """A line without recorded calls and the correct words for their outcomes: `name({"a": 1}):
        failed`.
        """
        while call := CALL.search(line):
            arguments, end = None, 0
            with suppress(NothingParsed):
                arguments, end = parse_prefix(line[call.end() :])
            results = [
                result
                for result in self._results
                if (result.function, result.arguments) == (call[1], arguments)
            ]
            if not end or not results:
                return line
            rest = line[call.end() + end :].removeprefix(")")
            word, is_failed = _FIRST_WORD.match(rest), self._own.session.failed(results[-1])
            if word and outcome_words(is_failed).fullmatch(word[1]):
                rest = rest[word.end() :]
            line = f"{line[: call.start()]} {rest}"
        return line

    def _is_supported(self, sentence: str) -> bool:
        """True if the recording supports a sentence."""
        if is_notice(sentence) or self._is_quoted(sentence):
            return True
        if self._own.session.mentions.is_call_id(sentence):
            return True
        if not WORD.search(sentence) and claims_nothing(sentence):
            return True
        role, words = speaker_of(sentence)
        if role and words:
            roles = self._own.session.mentions.roles_of(words)
            return (not roles or role in roles) and self._is_supported(words)
        if sentence.rstrip().endswith(":") and (
            claims_nothing(sentence) or self._is_of_requests(sentence)
        ):
            return True
        if label := LABEL.match(sentence):
            rest = sentence[label.end() :]
            if is_of_run(self._own, label[0]) or (
                rest.count(" ") + 1 >= FEWEST_WORDS and claims_nothing(label[0])
            ):
                return self._is_supported(rest)
            if self._is_last_request(label[0], rest):
                return True
        if not quantifiers(sentence):
            core = core_of(sentence)
            if not core or self._is_quoted(core):
                return True
        parts = MARK.split(sentence)
        if len(parts) > 1:
            return all(map(self._is_supported, without_halves(parts)))
        return self._is_of_one_result(sentence)

    def _is_quoted(self, text: str) -> bool:
        return is_quoted(self._own, text, self._before)

    def _is_of_requests(self, heading: str) -> bool:
        """True if a heading correctly says that all requests are below it."""
        row = self._own.session.messages.texts.flat(self._own.text)
        return (
            _claims_only(heading, _ALL)
            and not _REQUEST.isdisjoint(flat(heading).split())
            and all(flat(text) in row for text in self._absent)
        )

    def _is_last_request(self, label: str, words: str) -> bool:
        """True if a label correctly says that the words after it are the latest request."""
        turns = (turn for turn in self._own.session.trace.steps if turn.index < self._before)
        requests = [turn.content for turn in turns if isinstance(turn, UserTurn)]
        return (
            bool(requests)
            and _claims_only(label, _LATEST)
            and not _REQUEST.isdisjoint(flat(label).split())
            and flat(words) in flat(requests[-1])
        )

    def _is_of_one_result(self, sentence: str) -> bool:
        """True if all words of a sentence are from one structured result; consecutive if the
        sentence speaks of all or none.
        """
        session = self._own.session
        row = flat(_PLACE.sub(".", sentence))
        words = {word for word in row.split() if not is_small(word)}
        is_quantified = bool(quantifiers(sentence))
        return any(
            words <= session.words_of(result.index)
            and bool(session.messages.table(result.index).fields)
            and (not is_quantified or row in session.messages.texts.flat(result.text))
            for result in self._results
        )


def _claims_only(words: str, quantified: frozenset[str]) -> bool:
    """True if words claim nothing except some quantifiers.

    >>> [_claims_only(words, _ALL) for words in ("All requests", "No requests", "All requests worked")]
    [True, False, False]
    """
    claims = set(quantifiers(words))
    return claims <= quantified and claims_nothing(
        " ".join(word for word in flat(words).split() if word not in claims)
    )
