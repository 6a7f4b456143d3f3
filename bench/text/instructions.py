"""Instructions in prose: sentences that tell an agent what to do or not to do, and the search for
texts that repeat them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .common_words import FUNCTION_WORDS
from .facts import flat
from .vocabulary import vocabulary

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*(?:[-*•]|\d+[.)])\s+|\n")
_WORD = re.compile(r"\w+")
_MOST_CHARS, _FEWEST_WORDS = 400, 3

_BULLET = re.compile(r"^(?:[^\w`]|_)*(?:\d+[.)]\s+)?(?:[^\w`]|_)*")
_LABEL = re.compile(r"^(?:[A-Za-z'’]+\s+){0,3}[A-Za-z'’]+\s*:\**\s+")
_OPENING = re.compile(
    r"^(?:(?:please|now|then|also|and|but|so|immediately|from now on|whatever happens|you (?:should|must|can|may|have to|need to)),?\s+"
    r"|(?:if|when|whenever|before|after|once|unless|under|at all times|in any case)\b[^,]{0,120},\s+)+",
    re.IGNORECASE,
)
_REPORTED = re.compile(r"^it (?:was|is|has been) (?:\w+ly )?\w+ed that\s+", re.IGNORECASE)
_TALK = re.compile(
    r"^\W*(?:i|we|they|he|she|it|my|our|his|her|there|this|that|these|those|let me|let['’]s)\b|\?\W*$|^\W*(?:never mind|you never know)\b"
    r"|^don['’]t (?:worry|sweat|mind|know|think)\b",
    re.IGNORECASE,
)
"""Matches questions, idioms, and statements about the speaker, which tell the agent nothing to do."""

_READING = re.compile(
    r"\bfor (?:more|details|the (?:rest|full|whole))\b"
    rf"|\bto (?:{'|'.join(sorted(vocabulary('reading')))}) (?:it|the|all|more|any|full)\b",
    re.IGNORECASE,
)
"""Matches a hint how to read more, which is no order."""

_ADVERB = re.compile(
    r"(?<!\w-)\b(?:(?:never|always)\b(?!-)(?!\s+(?:been|was|were|is|are|had|has)\b)(?!\s+\w+(?:ed|ing|[^s]s)\b)"
    r"|must\b(?!-)(?!\s+(?:have|be\s+\w+ing)\b))",
    re.IGNORECASE,
)
"""Matches never, always and must where they may command."""

_NOT_TO = (
    r"(?:do not|don['’]t|shall not|may not|can only|may only|should only)\s+"
    r"(?!have\b|need\b|want\b|know\b|see\b|think\b|worry\b)[a-z]"
)
"""Matches a prohibition. Behind a conjunction it may be about things: `the tests run and don't fail`."""

_COMMANDS, _STATEMENTS = (
    re.compile("|".join(patterns), re.IGNORECASE)
    for patterns in (
        (
            rf"(?:^|[,;:—–]\s*|\bplease\s+){_NOT_TO}",
            r"^only\s+(?!the\b|one\b|two\b|three\b|an?\b|some\b)[a-z]+\b",
            r"(?<!if )\b(?:you|agents?|the assistant|the model|nobody|nothing)\s+"
            r"(?:must|should|shall|may (?:not|only)|can['’]t|cannot|can only|have to|need to|(?:are|is) not allowed|(?:are|is) to)\b",
            r"\b(?:under no (?:circumstances|condition)|at all times|no matter what|in no case|in all cases|under all circumstances"
            r"|(?:hard|standing) (?:constraint|rule|instruction))\b",
            r"\b(?:may|can|allowed to|free to)\b.{0,60}\bwithout (?:\w+ ){0,2}(?:ask|approv|confirm|permission|consent|check)",
            r"(?:^|[:,;]\s*)no (?:\w+ ){1,3}(?:without|until|before)\b|^no \w+s on\b",
        ),
        (
            rf"(?:\(|\b(?:and|but|or)\s+){_NOT_TO}",
            r"^only\s+(?!one\b|two\b|three\b|an?\b|some\b)(?:\S+\s+){0,6}?(?:can|may|must|should)\b",
            r"\b(?:can|may|should|must|are|is)\s+only\s+(?:be\b|allowed|if|when|after|once|go|use)",
            r"\b(?:can(?:not|['’]t| not)?|may(?: not)?|should not|shall not)\s+be\s+(?:\w+ly\s+)?\w+(?:ed|en|[^e]t|ld)\b",
            r"\busers?\b.{0,40}\b(?:may|can|must) not\b|\b(?:not allowed|not permitted|forbidden|prohibited|off limits)\b",
            r"\b(?:requires?|needs?)\b.{0,60}\b(?:confirm|approv|permission|consent)|\bneeds? to stay\b",
        ),
    )
)
_CONSENT = re.compile(
    r"\b(?:user|customer|client|owner|operator|human|manager)\s+(?:\w+\s+){0,3}?"
    r"(?:confirmed|approved|agreed|authori[sz]ed|consented|permitted|allowed|accepted)\b",
    re.IGNORECASE,
)
_PERSON = r"(?:you|we|one|agents?|assistant|model|users?|customers?|clients?|nobody|everybody|everyone|nothing)\b"
_ABOUT_THINGS = re.compile(
    rf"\b(?!(?:and|but|or|to|please|then|so|also|should|must|shall|will|can|may|not)\b|{_PERSON})[\w’']+[`*\"')]*\s+(?=(?:never|always)\b)"
    rf"|\b(?!(?:and|but|or|to|please|then|so|also|it)\b|{_PERSON})[\w’']+[`*\"')]*\s+must\s+(?!not\b|be\b|always\b|never\b)"
    r"|`[^`]+`(?:\s+\w+)?\W+must\b",
    re.IGNORECASE,
)
"""Matches statements about things and code, which are not rules: `folders always show it`, `the key
must match`."""
_RANGE = re.compile(r"\b(?:from|between)\b(?=\W{0,3}\d)|\b\d+ (?:out )?of (?:the )?(?=\d)")
_AUXILIARY = re.compile(
    r"\b(?:i|we|he|she|they|it|has|have|had|is|are|was|were|been|can|could|would|['’](?:s|ve|d))\s+(?:\w+ly\s+)?$",
    re.IGNORECASE,
)

_REPEATED = 0.6
"""The share of an instruction's words with which one sentence repeats it."""

COVERED = 0.8
"""The share of a request's words with which a text replaces it."""

_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without|only)\b|n['’]t\b", re.IGNORECASE)


def is_command(sentence: str) -> bool:
    """True if a sentence is a standing command to the agent: never, always, must, do not.

    >>> texts = "Never cancel twice.", "Basic flights cannot be changed.", "Folders always show a dash."
    >>> [is_command(text) for text in texts]
    [True, False, False]
    >>> is_command("- `open()` must be called first"), is_command("The tests run and don't fail.")
    (False, False)
    """
    text = _bare(sentence)
    if _ADVERB.search(text) and _has_commanding_adverb(_ABOUT_THINGS.sub(" is ", text)):
        return True
    return _COMMANDS.search(text) is not None


@lru_cache(1 << 12)
def is_rule(sentence: str) -> bool:
    """True if a sentence is a standing instruction: a command, or a statement on what may, can or
    needs to be done, such as "Basic flights cannot be changed".

    >>> texts = "Never cancel twice.", "My parents told me to always have a backup.", "don't sweat it", "Open the file."
    >>> [is_rule(text) for text in texts]
    [True, False, False, False]
    """
    if is_command(sentence):
        return True
    text = _bare(sentence)
    return _has_commanding_adverb(text) or bool(_STATEMENTS.search(text))


def _has_commanding_adverb(text: str) -> bool:
    """True if a text has never, always or must, not behind an auxiliary verb ("has always")."""
    return any(not _AUXILIARY.search(text[: match.start()]) for match in _ADVERB.finditer(text))


def is_consent(sentence: str) -> bool:
    """True if a sentence says that a person agreed to something.

    >>> texts = "The user has already approved this.", "Approved orders of the user: 3", "The user asks for approval."
    >>> [is_consent(text) for text in texts]
    [True, False, False]
    """
    return bool(_CONSENT.search(_bare(sentence)))


def quantifiers(text: str) -> list[str]:
    """The words in a text that speak of all, none or the first of some things, such as "every" and
    "cheapest", in order.

    >>> quantifiers("All seats, from 3 to 5, 2 of 4, the cheapest")
    ['all', 'cheapest', 'from', '2 of ']
    """
    small = text.casefold().replace("no longer", "")
    known = vocabulary("claims") | vocabulary("quantifiers") | vocabulary("ranks")
    return [*(word for word in _WORD.findall(small) if word in known), *_RANGE.findall(small)]


def is_order(sentence: str) -> bool:
    """True if a sentence tells its reader to do something. A hint where to read more is no order.

    >>> texts = "Cancel all bookings.", "Orders are cancelled.", "Use read_file to see the rest.", "Ran the tests."
    >>> [is_order(text) for text in texts]
    [True, False, False, False]
    """
    text = _OPENING.sub("", _bare(sentence))
    verb, _, rest = text.casefold().partition(" ")
    return bool(rest) and verb in vocabulary("orders") and not _READING.search(text)


@lru_cache(1 << 8)
def _bare(sentence: str) -> str:
    """A sentence without bullet and label; "" if it is short, long, a question, or about its speaker."""
    text = _BULLET.sub("", " ".join(sentence.split()))
    bare = _REPORTED.sub("", _LABEL.sub("", text))
    long_enough = text.count(" ") + 1 >= _FEWEST_WORDS and len(text) <= _MOST_CHARS
    return bare if long_enough and not _TALK.search(bare) else ""


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences and list items of a text, white space folded."""
    for part in _SENTENCE.split(text):
        sentence = " ".join(part.split())
        if sentence:
            yield sentence


class TextLines(NamedTuple):
    """A text prepared for `Repetition`: with single blanks, and its distinct lines."""

    folded: str
    lines: frozenset[str]


def text_lines(*texts: str) -> TextLines:
    """The joined texts, prepared for `Repetition`."""
    folded = "\n".join(" ".join(text.split()) for text in texts)
    return TextLines(folded, frozenset().union(*(text.split("\n") for text in texts)))


class Repetition:
    """The search for repetitions of one instruction, which reads each distinct line once.

    A text repeats an instruction if it has it word for word, or has a sentence with at least `share`
    of its words, and with a negation if and only if the instruction has one.

    >>> rule = Repetition("Never push to main")
    >>> rule.is_in(text_lines("The user said: never push to main.")), rule.is_in(text_lines("Push to main."))
    (True, False)
    """

    def __init__(self, instruction: str, share: float = _REPEATED) -> None:
        self._folded = " ".join(instruction.split())
        self._words, self._denies = _words_of(self._folded)
        self._fewest = share * len(self._words)
        self._read: set[str] = set()  # lines by `is_in`
        self._repeating: set[str] = set()
        self._compared: set[str] = set()  # lines by `is_covered_by`
        self._common: dict[str, frozenset[str]] = {}

    def is_in(self, text: TextLines) -> bool:
        """True if a text repeats the instruction."""
        if self._folded in text.folded:
            return True
        if not self._words:
            return False
        unread = text.lines - self._read
        self._read |= unread
        self._repeating.update(filter(self._is_repeated_in, unread))
        return not self._repeating.isdisjoint(text.lines)

    def _is_repeated_in(self, line: str) -> bool:
        return any(
            self._denies is denies and len(self._words & words) >= self._fewest
            for words, denies in _words_by_sentence(line)
        )

    def is_covered_by(self, text: TextLines) -> bool:
        """True if a text has the instruction word for word, or 80% of its words in any sentences.

        >>> request = Repetition("Sum up the orders. Then mail them.")
        >>> request.is_covered_by(text_lines("user: Sum up the orders.\\nuser: Then mail them."))
        True
        >>> request.is_covered_by(text_lines("Sum up.")), Repetition("Go.").is_covered_by(text_lines("He said: Go."))
        (False, True)
        """
        if self._folded in text.folded:
            return True
        for line in text.lines - self._compared:
            for words, _ in _words_by_sentence(line):
                if common := self._words & words:
                    self._common[line] = self._common.get(line, common) | common
        self._compared |= text.lines
        lines = self._common.keys() & text.lines
        covered = frozenset[str]().union(*map(self._common.__getitem__, lines))
        return bool(self._words) and len(covered) >= COVERED * len(self._words)


def keeps_words(text: str, instruction: str) -> bool:
    """True if a text has all words of an instruction, in their order.

    >>> keeps_words("Please open *the* file.", "Open the file!"), keeps_words("Open it.", "Open the file.")
    (True, False)
    """
    words = iter(_WORD.findall(text.casefold()))
    return all(word in words for word in _WORD.findall(instruction.casefold()))


def repeats(text: str, instruction: str) -> bool:
    """True if a text repeats an instruction."""
    return Repetition(instruction).is_in(text_lines(text))


_Words = tuple[frozenset[str], bool]
"""The first six letters of each word of a sentence, without function words, and True if it has a
negation."""

_KEPT_CHARS = 1000  # longer lines seldom come again, and the cache outlives their trace


def _words_by_sentence(line: str) -> tuple[_Words, ...]:
    return _read_line(line) if len(line) <= _KEPT_CHARS else _read_line.__wrapped__(line)


@lru_cache(maxsize=1 << 14)
def _read_line(line: str) -> tuple[_Words, ...]:
    return tuple(map(_words_of, sentences_of(line)))


def _words_of(sentence: str) -> _Words:
    words = frozenset(
        word[:6] for word in flat(sentence).split() if word not in FUNCTION_WORDS and len(word) > 2
    )
    return words, bool(_NEGATION.search(sentence))
