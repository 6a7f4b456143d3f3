"""Leaves looked for as whole tokens, where a text cannot be parsed: an upper bound of what it still holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from .leaves import Leaves, Match
from .texts import Texts

_WORD = re.compile(r"\w+")
_LONG_CHARS = (
    20_000  # above this a token counts as often as its rarest word: still an upper bound, and the work stays linear
)


def match_tokens(untruncated: Leaves, count_of: Callable[[str], int]) -> Match:
    """How many leaves a text may still hold: a value counts at most as often as it occurs as a whole token.

    >>> from bench.text.leaves import flatten
    >>> match_tokens(flatten([1, 1, 2]), {"1": 1, "2": 5}.__getitem__).kept
    2
    """
    left: dict[str, int] = {}
    lost = []
    for leaf, tokens in untruncated.tokens:
        for token in tokens:
            if token not in left:
                left[token] = count_of(token)
            if left[token]:
                left[token] -= 1
                break
        else:
            lost.append(leaf)
    return Match(untruncated.total - len(lost), untruncated.total, lost)


class TokensOf:
    """The tokens out of a given set that a text holds, each as often as it occurs whole; what a text holds is found once.

    `texts` are what reads the texts. In a text of more than 20,000 characters a token counts as often as its rarest word.

    >>> list(TokensOf(["1", "level 2", "[]"])("1, 10, 1.5, level 2, level 1 and []"))
    ['1', '1', 'level 2', '[]']
    """

    def __init__(self, tokens: Iterable[str], texts: Texts | None = None) -> None:
        self._plain = (texts or Texts()).plain
        self._by_word: dict[str, list[tuple[str, frozenset[str]]]] = {}
        self._bare: list[str] = []  # without a word in them
        for token in dict.fromkeys(tokens):
            longest, words = _words_of(token)
            if words:
                self._by_word.setdefault(longest, []).append((token, words))
            else:
                self._bare.append(token)
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = tuple(self._find(text))
        return found

    def _find(self, text: str) -> Iterator[str]:
        plain = self._plain(text)
        words = Counter(_WORD.findall(plain))
        for word in words:
            for token, parts in self._by_word.get(word, ()):
                if token == word and not (token[0].isdigit() or token[-1].isdigit()):
                    yield from (token,) * words[word]  # no neighbour can make another token of it
                elif parts <= words.keys():
                    count = min(words[part] for part in parts) if len(plain) > _LONG_CHARS else _count(plain, token)
                    yield from (token,) * count
        for token in self._bare:
            yield from (token,) * text.count(token)


def _words_of(token: str) -> tuple[str, frozenset[str]]:
    """The longest word of a token, and all of them."""
    words: list[str] = _WORD.findall(token)
    return max(words, key=len, default=""), frozenset(words)


def tokens_in(parts: Iterable[Leaves], texts: Texts | None = None) -> TokensOf:
    """The tokens that any of the leaves may stand as."""
    return TokensOf((token for leaves in parts for _, tokens in leaves.tokens for token in tokens), texts)


def _count(plain: str, token: str) -> int:
    """How often a token occurs whole."""
    count, start = 0, plain.find(token)
    while start >= 0:
        end = start + len(token)
        whole = _free(plain[max(0, start - 2) : start][::-1], token[0]) and _free(plain[end : end + 2], token[-1])
        count += whole
        start = plain.find(token, end if whole else start + 1)
    return count


def _free(beyond: str, edge: str) -> bool:
    """Whether a token ends at this edge: the two characters beyond it, the nearer one first, are not part of a longer word or number."""
    if not beyond or not (edge.isalnum() or edge == "_"):
        return True
    if beyond[0].isalnum() or beyond[0] == "_":
        return False
    return not (edge.isdigit() and beyond[0] == "." and beyond[1:].isdigit())
