"""Strategies as they are declared: each at every setting that a sweep names, and at every budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ..plugins.apart import Limits
from ..plugins.sweeps import require_few, swept
from . import Strategy
from .budgets import at_budgets
from .loading import put_together


@dataclass(frozen=True)
class Declared:
    """The strategies to run, and for each name as declared those that were made of it: itself, or one for each setting and budget."""

    strategies: tuple[Strategy, ...]
    names: Mapping[str, tuple[str, ...]]


def declared(
    items: Iterable[tuple[str | None, Any]],
    budgets: Sequence[int] = (),
    base: Path | None = None,
    limits: Limits | None = None,
) -> Declared:
    """The strategies of some names (None: what is given has its own) and what `strategy_of` takes.

    A strategy with a sweep becomes one for each setting, called after the values: `mask=compactor=…:keep_last=5|10` gives `mask-5` and `mask-10`,
    two sweeps in one strategy every combination. One whose compactor has a window then runs at every budget. What loads somebody's own code may
    take what `limits` say. Raises SpecError as `strategy_of` does, and for more than 100 settings.

    >>> found = declared([(None, "cut=summarizer=truncate:limit=80|200"), ("old", "compactor=summarize_old")], [8000])
    >>> [str(item) for item in found.strategies]
    ['cut-80=summarizer=truncate:limit=80', 'cut-200=summarizer=truncate:limit=200', 'old@8000=compactor=summarize_old:max_tokens=8000']
    >>> found.names["cut"], found.names["old"]
    (('cut-80', 'cut-200'), ('old@8000',))
    """
    strategies: list[Strategy] = []
    names: dict[str, tuple[str, ...]] = {}
    settings = [(name, values, written) for name, item in items for values, written in at_settings(item)]
    found = put_together([(name, written) for name, _, written in settings], base, limits or Limits())
    for (_, values, _), alone in zip(settings, found, strict=True):
        one = replace(alone, name="-".join((alone.name, *values)))
        made = tuple(each.name for each in at_budgets([one], budgets))
        strategies.append(one)
        for known in dict.fromkeys((alone.name, one.name)):
            names[known] = (*names.get(known, ()), *made)
        names.update({each: (each,) for each in made if each not in names})
    return Declared(at_budgets(strategies, budgets), names)


def at_settings(item: Any) -> Sequence[tuple[tuple[str, ...], Any]]:
    """What a spec string, a list of them (routers), or slots stand for: for each setting that a sweep names its values, and the item with them.

    >>> at_settings({"compactor": "mask_observations:keep_last=5|10"})[1]
    (('10',), {'compactor': 'mask_observations:keep_last=10'})
    """
    if isinstance(item, str):
        return swept(item)
    if isinstance(item, Mapping):
        return [(values, dict(zip(item, filled, strict=True))) for values, filled in _combined(list(item.values()))]
    return _combined(item) if isinstance(item, list | tuple) else [((), item)]


def _combined(items: Sequence[Any]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Every combination of the settings of several, in order."""
    each = [at_settings(item) for item in items]
    require_few(math.prod(map(len, each)), items)
    return [
        (tuple(value for values, _ in chosen for value in values), [part for _, part in chosen])
        for chosen in product(*each)
    ]
