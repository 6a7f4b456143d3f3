"""Words and sentences that state nothing about the data: function words, and notices."""

from __future__ import annotations

import re
from functools import lru_cache

from .common_words import FUNCTION_WORDS
from .instructions import is_notice_word, is_unit, quantifiers
from .omissions import omission_in, says_omission
from .speakers import NAMES

WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(1 << 12)
def is_small(word: str) -> bool:
    """True for a word that states nothing about the data: a function word, a word of notices, or a
    name made of them.

    >>> is_small("tool_result"), is_small("tool_price")
    (True, False)
    """
    if "_" in word:
        return all(map(is_small, word.split("_")))
    return word in FUNCTION_WORDS or is_notice_word(word) or bool(omission_in(word, ""))


def is_notice(sentence: str) -> bool:
    """True if a sentence only says that something is left out, perhaps of whose words.

    >>> is_notice("[2 answers of the assistant left out]"), is_notice("2 flights left out")
    (True, False)
    """
    quantified = quantifiers(sentence)
    return all(
        is_small(word) or is_unit(word) or word in quantified or word in NAMES
        for word in WORD.findall(sentence.casefold())
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
