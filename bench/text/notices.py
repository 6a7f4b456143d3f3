"""Notices: lines that only say how much of a text is shown or left out, read word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple

from .common_words import FUNCTION_WORDS
from .instructions import quantifiers
from .omissions import omission_in, says_omission
from .speakers import NAMES
from .vocabulary import in_vocabulary, vocabulary

WORD = re.compile(r"[^\W\d_]{2,}")
_OF_TEXTS = (
    *("units", "turns", "types", "formats", "notices", "first", "last"),
    *("repeated", "empty", "omitted", "states", "showing"),
)
"""The lists of words that speak of texts."""

_PHRASE = re.compile(
    r"\b(?:left out|(?:not|no longer) (?:displayed|here|included|listed|shown)|cut (?:off|short))\b"
)
_PURPOSE = re.compile(
    rf"\b({'|'.join(sorted(vocabulary('omitted') | {'cleared', 'masked'}))})(?: here)? to [a-z]+(?: [a-z]+){{1,4}}(?=\s*(?:[^\w\s]|$))"
)
"""Matches an omission and the purpose behind it, such as "omitted to save tokens"."""

_MEANS = re.compile(
    r"(\b(?:call|fetch|read|repeat|request|run|see|use)\b[^.,;:]{0,80}?)"
    rf" to (?:{'|'.join(sorted(vocabulary('reading')))})\b"
)
"""Matches an offer to read more, and the verb behind it: "use offset=100 to view the rest"."""

_CLAUSE = re.compile(r"[,.;()\[\]](?=\s|$)|[()\[\]]")
_TOKEN = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)|[^\W\d_]+|[#–:=-]")
"""Matches a number, a word, or a sign."""

_MOST_BETWEEN, _NEAR = 3, 20
"""The most words between a number and the word that says what it counts, and those beside a word that
may say more of it."""

Counted = Literal["part", "missing", "shown", "total", "any"]
"""What a number in a notice counts: it numbers a part, counts what is missing, shown or in the whole
result, or does not say."""


class Number(NamedTuple):
    """A number in a notice, what it counts, and the word for what it counts."""

    text: str
    counted: Counted
    noun: str


class Notice:
    """A line, read as a notice.

    >>> notice = Notice("[first 10 of 45 rows, 1,200 characters not shown]")
    >>> [(number.text, number.counted) for number in notice.numbers()]
    [('10', 'shown'), ('45', 'total'), ('1200', 'missing')]
    >>> [*notice.places()], [*Notice("last 3 lines left out").places()], [*Notice("older messages").places()]
    ([('first', False)], [('last', True)], [])
    """

    def __init__(self, line: str) -> None:
        line = _without_purpose(line)
        self._clauses = [_TOKEN.findall(clause) for clause in _CLAUSE.split(line)]
        self.words = WORD.findall(line)

    def numbers(self) -> Iterator[Number]:
        """Yield its numbers."""
        for tokens in self._clauses:
            for at, token in enumerate(tokens):
                if token[0].isdigit():
                    after = [*takewhile(str.isalnum, tokens[at + 1 : at + 1 + _NEAR])]
                    nouns = (
                        it
                        for it in after
                        if not (it in _OF or it.isdigit() or in_vocabulary(it, *_SAYS))
                    )
                    before = tokens[max(0, at - _NEAR) : at]
                    counted = _counted(before, after)
                    yield Number(token.replace(",", ""), counted, next(nouns, ""))

    def places(self) -> Iterator[tuple[Literal["first", "last"], bool]]:
        """Yield the places of which it speaks, at the beginning or end of a result, each with True
        if it says that this part is missing; places in a conversation are left out."""
        for tokens in self._clauses:
            words = [it for it in tokens if it != "tool"]
            for at, word in enumerate(words):
                place: Literal["first", "last"] = (
                    "first" if in_vocabulary(word, "first") else "last"
                )
                if in_vocabulary(word, place) and not in_vocabulary(
                    "".join(words[at + 1 : at + 2]), "turns"
                ):
                    near = *words[at : at + _NEAR], *words[max(0, at - _NEAR) : at]
                    says = filter(_says_which, near)
                    yield place, in_vocabulary(next(says, ""), "omitted")


def _says_which(word: str) -> bool:
    """True for a word that says whether a part is shown or missing."""
    return word == "of" or in_vocabulary(word, *_SAYS)


def _counted(before: list[str], after: list[str]) -> Counted:
    """What a number between some words counts.

    >>> [_counted([], words.split()) for words in ("of 9 lines are omitted", "of 9 lines")]
    ['missing', 'shown']
    """
    last, second, *_ = *reversed(before), "", ""
    if last == "#" or in_vocabulary(last, "numbered") or (second[:1].isdigit() and last in _TO):
        return "part"
    ahead, *_ = *(it for it in reversed(before) if not _links(it)), ""
    if ahead == "of" and any(map(str.isdigit, before)):
        return "total"
    whole = next((at for at, word in enumerate(after[:4]) if word[0].isdigit()), 0)
    is_of_whole = after[:1] == ["of"] or after[:2] == ["out", "of"]
    near = after[whole if is_of_whole else 0 :][: _MOST_BETWEEN + 1]
    says = next((it for it in near if in_vocabulary(it, *_SAYS)), "")
    if in_vocabulary(says, "omitted") or (is_of_whole and in_vocabulary(ahead, "omitted")):
        return "missing"
    if says or is_of_whole or in_vocabulary(ahead, "showing"):
        return "shown"
    return "total" if ahead == "of" else "any"


_TO = frozenset({"-", "–", "to", "through"})
_OF = frozenset({"of", "out"})
_SAYS = "omitted", "showing"


def _links(word: str) -> bool:
    """True for a word between a number and the word before it that says what it counts."""
    return word in ("all", "are", "is", "the") or in_vocabulary(word, "first", "last")


def _without_purpose(line: str) -> str:
    """A line in small letters, without what an omission is for and what an offer leads to.

    >>> _without_purpose("[3 rows left out to fit the window. Use `fetch` to view them]")
    '[3 rows omitted. use `fetch` them]'
    """
    line = _PURPOSE.sub(r"\1", _PHRASE.sub("omitted", line.casefold()))
    return _MEANS.sub(r"\1", line)


@lru_cache(1 << 12)
def is_small(word: str) -> bool:
    """True for a word that states nothing about the data: a function word, a word of notices, or a
    name made of them.

    >>> is_small("tool_result"), is_small("tool_price")
    (True, False)
    """
    if "_" in word:
        return all(map(is_small, word.split("_")))
    return word in FUNCTION_WORDS or in_vocabulary(word, *_OF_TEXTS) or bool(omission_in(word, ""))


def is_notice(sentence: str) -> bool:
    """True if a sentence only says that something is left out, perhaps of whose words.

    >>> is_notice("[2 answers of the assistant left out]"), is_notice("2 flights left out")
    (True, False)
    """
    quantified = quantifiers(sentence)
    return all(
        is_small(word) or word in quantified or word in NAMES
        for word in WORD.findall(_without_purpose(sentence))
    ) and bool(says_omission(sentence, ""))


_MARK = re.compile(r"\[[^\[\]\"'\n]{1,80}\]")


def without_notices(text: str) -> str:
    """A text without its notices in brackets, whose numbers do not belong to the data.

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
