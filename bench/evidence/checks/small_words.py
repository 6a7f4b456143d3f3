"""Words and sentences of a text that state nothing of the data: function words, and notices."""

from __future__ import annotations

import re
from functools import lru_cache

from ...text.instructions import is_notice_word, quantifiers
from ...text.omissions import omission_in, says_omission
from ...text.scripts import FUNCTION_WORDS

WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(1 << 12)
def is_small(word: str) -> bool:
    """True for a word that states nothing: a function word, or one of notices."""
    return word in FUNCTION_WORDS or is_notice_word(word) or bool(omission_in(word, ""))


def is_all_small(text: str) -> bool:
    """True if all words of a text state nothing."""
    return all(map(is_small, WORD.findall(text.casefold())))


def is_notice(sentence: str) -> bool:
    """True if a sentence says that something is left out, and nothing else."""
    quantified = quantifiers(sentence)
    return all(
        is_small(word) or word in quantified for word in WORD.findall(sentence.casefold())
    ) and bool(says_omission(sentence, ""))
