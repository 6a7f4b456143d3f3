"""Statements about a text, not about the world: what its lines, rows and values are, in words that no
recorded result has.
"""

from __future__ import annotations

import re

from ...text.facts import flat
from ...text.instructions import is_unit
from ...text.small_words import WORD, is_small
from ..own_text import RewrittenResult
from .repeated import SAME, claims_repetition
from .support import claims_nothing

_MOST_WORDS = 20
_EACH = re.compile(r"\beach\b", re.IGNORECASE)
_NAME_OR_DATA = re.compile(r"\w_\w|[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]|[{}\\]")
"""What a name has, or data, and no word of prose."""


def is_about_form(own: RewrittenResult, sentence: str) -> bool:
    """True if a sentence of a text that shows a result names rows, lines, values or the like, and
    claims nothing else.

    Its other words are in that result, or in no result and call: a word that only another result
    has is about the contents of that one. It may speak of each list or row if it has no word of the
    result.
    """
    own_words = own.session.words_of(own.result.index)
    others = " ".join(
        word for word in sentence.split() if not own_words.issuperset(flat(word).split())
    )
    words, every = WORD.findall(others.casefold()), WORD.findall(sentence.casefold())
    if len(words) > _MOST_WORDS or not any(map(is_unit, every)):
        return False
    new = {word for word in words if not is_small(word)} - own_words
    if new.issuperset(word for word in every if not _is_formal(word)):
        sentence = _EACH.sub(" ", sentence)
    return (
        bool(new)
        and not _NAME_OR_DATA.search(others)
        and claims_nothing(SAME.sub(" ", sentence) if claims_repetition(own) else sentence)
        and (claims_repetition(own) or not SAME.search(sentence))
        and all(map(is_unit, new & own.session.words_of_results))
    )


def _is_formal(word: str) -> bool:
    """True for a word that states nothing about the data, or names what texts consist of."""
    return is_small(word) or is_unit(word) or word == "each"
