"""Runs of one sign (`-----`), counted in a text and written out in another."""

from __future__ import annotations

import re
from functools import lru_cache

_RUN = re.compile(r"([^\w\s])\1{7,}")
_OPEN, _CLOSE = r"[\[({<⟨⟪⟦«]?\s?", r"\s?[\])}>⟩⟫⟧»]?"


@lru_cache(maxsize=64)
def _runs_in(text: str) -> tuple[tuple[str, int], ...]:
    """The distinct runs of a text: each sign with the length of its run."""
    return tuple(dict.fromkeys((run[1], len(run[0])) for run in _RUN.finditer(text)))


def with_runs(text: str, known: str) -> str:
    """A text with the runs that it counts written out, if a `known` text has runs of that length.

    >>> known = f"a\\n{'-' * 49}\\nb"
    >>> [with_runs(f"a\\n{run}\\nb", known) == known for run in ("-{49}", "<-*49>", "⟦49-⟧", "-{48}")]
    [True, True, True, False]
    >>> with_runs("x = 49", f"x = 49 {'=' * 49}")
    'x = 49'
    """
    for sign, length in _runs_in(known):
        if sign * length in text or str(length) not in text:
            continue
        of_sign = re.escape(sign)
        times = r"\s?(?:(?:[x×*]|times)\s?)?"
        ways = rf"{of_sign}{times}[{{(]?{length}[)}}]?|{length}{times}{of_sign}"
        for match in dict.fromkeys(re.findall(rf"{_OPEN}(?:{ways}){_CLOSE}", text)):
            if match.strip() not in known:
                text = text.replace(match.strip(), sign * length)
    return text
