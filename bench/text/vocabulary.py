"""Lists of words by which notices, orders and claims are recognised, from `vocabulary.toml`."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib.resources import files


@cache
def vocabulary(name: str) -> frozenset[str]:
    """The words of one list, in small letters and the singular."""
    lists = tomllib.loads(files("bench.text").joinpath("vocabulary.toml").read_text("utf-8"))
    return frozenset(lists[name].split())


@lru_cache(1 << 14)
def in_vocabulary(word: str, *names: str) -> bool:
    """True if a word in small letters, or its singular, is in one of the lists.

    >>> [in_vocabulary(word, "units") for word in ("rows", "entries", "orders")]
    [True, True, False]
    >>> in_vocabulary("messages", "units"), in_vocabulary("messages", "units", "turns")
    (False, True)
    """
    forms = word, word.removesuffix("s"), f"{word.removesuffix('ies')}y"
    return any(not vocabulary(name).isdisjoint(forms) for name in names)
