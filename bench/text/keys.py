"""Keys of data: one spelling for `Switch_Type` and `switchType`, and the words of a key."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize


@lru_cache(maxsize=65536)
def plain_key(key: str) -> str:
    """The key in small letters with blanks between its words, in which keys are compared.

    >>> plain_key("Switch_Type"), plain_key("switchType"), plain_key("Area (m²)"), plain_key("#")
    ('switch type', 'switch type', 'area m2', '#')
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key if key.isascii() else normalize("NFKC", key))
    return re.sub(r"[\W_]+", " ", words).strip().casefold() or key


@lru_cache(maxsize=65536)
def words_of_key(key: str) -> tuple[str, ...]:
    """The words of a key in small letters.

    >>> words_of_key("payment_id"), words_of_key("giftCard8"), words_of_key("#")
    (('payment', 'id'), ('gift', 'card', '8'), ())
    """
    return tuple(re.findall(r"[^\W\d_]+|\d+", plain_key(key)))
