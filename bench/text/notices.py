"""Notices: lines that only say how much of a text is shown or left out: `[first 10 of 45 rows]`.
`omissions` finds the words of an omission in any line. Here a notice is read word by word, so that
its counts and places can be checked (`evidence/checks/statements`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import filterfalse, takewhile
from typing import Literal, NamedTuple

from .common_words import FUNCTION_WORDS
from .instructions import quantifiers
from .omissions import omission_in, says_omission
from .speakers import NAMES
from .vocabulary import in_vocabulary, vocabulary

WORD = re.compile(r"[^\W\d_]{2,}")
_ABOUT_TEXTS = (
    *("units", "turns", "types", "formats", "notices", "first", "last"),
    *("repeated", "empty", "omitted", "states", "showing"),
)
"""The lists of words that are about texts, not about the world."""

_PHRASE = re.compile(
    r"\b(?:left out|(?:not|no longer) (?:displayed|here|included|listed|shown)|cut (?:off|short))\b"
)
_NOT_AVAILABLE = re.compile(r"\b(?:not|no longer) (?=available\b)")
_PURPOSE = re.compile(
    rf"\b({'|'.join(sorted(vocabulary('removals')))})(?: here)?"
    r" to [a-z]+(?: [a-z]+){1,4}(?=\s*(?:[^\w\s]|$))"
)
"""Matches an omission and the purpose behind it, such as "omitted to save tokens"."""

_OFFER = re.compile(
    r"(\b(?:call|fetch|read|repeat|request|run|see|use)\b[^.,;:]{0,80}?)"
    rf" to (?:{'|'.join(sorted(vocabulary('reading')))})\b"
)
"""Matches an offer to read more, and the verb behind it: "use offset=100 to view the rest"."""

_CLAUSE = re.compile(r"[,.;()\[\]](?=\s|$)|[()\[\]]")
_TOKEN = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)|[^\W\d_]+|[#–:=-]")
"""Matches a number, a word, or a sign."""

_MOST_BETWEEN, _NEAR = 3, 20
"""The most words between a number and the word "shown" or "omitted" behind it, and the most words
that are read on either side of a word."""

Counted = Literal["part", "missing", "shown", "total", "any"]
"""What a number in a notice counts: what is missing, shown, or there in total; "part" for the number
of a part (`page 3`), "any" if the notice does not say."""


class Number(NamedTuple):
    """A number in a notice, what it counts, and the noun behind it: ("10", "shown", "rows")."""

    text: str
    counted: Counted
    noun: str


class Notice:
    """A line read as a notice: its `text` in small letters without purposes, and its words.

    >>> notice = Notice("[first 10 of 45 rows, 1,200 characters not shown]")
    >>> [(number.text, number.counted) for number in notice.numbers()]
    [('10', 'shown'), ('45', 'total'), ('1200', 'missing')]
    >>> [*notice.places()], [*Notice("last 3 lines left out").places()], [*Notice("older messages").places()]
    ([('first', False)], [('last', True)], [])
    """

    def __init__(self, line: str) -> None:
        self.text = _without_purpose(line)
        self._clauses = [_TOKEN.findall(clause) for clause in _CLAUSE.split(self.text)]
        self.words = WORD.findall(self.text)

    def numbers(self) -> Iterator[Number]:
        """Yield the numbers of the notice."""
        for tokens in self._clauses:
            for place, token in enumerate(tokens):
                if token[0].isdigit():
                    after = [*takewhile(str.isalnum, tokens[place + 1 : place + 1 + _NEAR])]
                    noun = next(filterfalse(_is_no_noun, after), "")
                    before = tokens[max(0, place - _NEAR) : place]
                    yield Number(token.replace(",", ""), _counted(before, after), noun)

    def places(self) -> Iterator[tuple[Literal["first", "last"], bool]]:
        """Yield the ends of the result that the notice names, each with True if it says that this
        part is missing. Places in a conversation ("the last message") do not count."""
        for tokens in self._clauses:
            words = [word for word in tokens if word != "tool"]
            for place, word in enumerate(words):
                is_first = in_vocabulary(word, "first")
                if not (is_first or in_vocabulary(word, "last")):
                    continue
                if in_vocabulary("".join(words[place + 1 : place + 2]), "turns"):
                    continue
                near = *words[place : place + _NEAR], *words[max(0, place - _NEAR) : place]
                verb = next(filter(_tells_if_shown, near), "")
                yield "first" if is_first else "last", in_vocabulary(verb, "omitted")


def _is_no_noun(word: str) -> bool:
    return word in ("of", "out") or word.isdigit() or in_vocabulary(word, *_VERBS)


def _tells_if_shown(word: str) -> bool:
    """True for a word that says whether a part is shown or missing."""
    return word == "of" or in_vocabulary(word, *_VERBS)


def _counted(before: list[str], after: list[str]) -> Counted:
    """What a number counts, judged by the words before and after it.

    >>> [_counted([], words.split()) for words in ("of 9 lines are omitted", "of 9 lines")]
    ['missing', 'shown']
    """
    last, last_but_one, *_ = *reversed(before), "", ""
    is_range = last_but_one[:1].isdigit() and last in _TO
    if last == "#" or in_vocabulary(last, "numbered") or is_range:
        return "part"
    leading = next(filterfalse(_may_precede_number, reversed(before)), "")
    if leading == "of" and any(map(str.isdigit, before)):
        return "total"
    has_total = after[:1] == ["of"] or after[:2] == ["out", "of"]
    total = next((place for place, word in enumerate(after[:4]) if word[0].isdigit()), 0)
    near = after[total if has_total else 0 :][: _MOST_BETWEEN + 1]
    verb = next((word for word in near if in_vocabulary(word, *_VERBS)), "")
    if in_vocabulary(verb, "omitted") or (has_total and in_vocabulary(leading, "omitted")):
        return "missing"
    if verb or has_total or in_vocabulary(leading, "showing"):
        return "shown"
    return "total" if leading == "of" else "any"


_TO = frozenset({"-", "–", "to", "through"})
_VERBS = "omitted", "showing"


def _may_precede_number(word: str) -> bool:
    """True for a word that may stand between "showing" or "of" and the number: `of the first 10`."""
    return word in ("all", "are", "is", "the") or in_vocabulary(word, "first", "last")


def _without_purpose(line: str) -> str:
    """A line in small letters, without the purpose of an omission or of an offer to read more.

    >>> _without_purpose("[3 rows left out to fit the window. Use `fetch` to view them]")
    '[3 rows omitted. use `fetch` them]'
    >>> _without_purpose("Result no longer available")
    'result omitted available'
    """
    line = _NOT_AVAILABLE.sub("omitted ", _PHRASE.sub("omitted", line.casefold()))
    line = _PURPOSE.sub(r"\1", line)
    return _OFFER.sub(r"\1", line)


@lru_cache(1 << 12)
def is_insignificant(word: str) -> bool:
    """True for a word that states nothing about the world: a function word, a word about texts, or a
    name made of these.

    >>> is_insignificant("tool_result"), is_insignificant("tool_price")
    (True, False)
    """
    if "_" in word:
        return all(map(is_insignificant, word.split("_")))
    if word in FUNCTION_WORDS or in_vocabulary(word, *_ABOUT_TEXTS):
        return True
    return omission_in(word, "") != ""


def is_reason(word: str) -> bool:
    """True for a word that says why something is left out, such as "large" or "budget"."""
    return in_vocabulary(word, "reasons")


def is_notice(sentence: str) -> bool:
    """True if a sentence only says that something is left out, perhaps by whom it was said.

    >>> texts = "[2 answers of the assistant left out]", "2 rows omitted: too large", "2 flights left out"
    >>> [*map(is_notice, texts)]
    [True, True, False]
    """
    quantified = quantifiers(sentence)
    return all(
        is_insignificant(word) or is_reason(word) or word in quantified or word in NAMES
        for word in WORD.findall(_without_purpose(sentence))
    ) and bool(says_omission(sentence, ""))


_MARK = re.compile(r"\[[^\[\]\"'\n]{1,80}\]")


def without_notices(text: str) -> str:
    """A text without its notices in brackets, whose numbers are no data.

    >>> without_notices("row 1 [18 lines left out] [3, 4 … 9] [open: 2 more]")
    'row 1  [3, 4 … 9] [open: 2 more]'
    >>> without_notices('["#W12", "+2 more items not shown"]')
    '["#W12", "+2 more items not shown"]'
    """
    if "[" not in text:
        return text
    return _MARK.sub(
        lambda mark: "" if WORD.search(mark[0]) and is_notice(mark[0]) else mark[0], text
    )
