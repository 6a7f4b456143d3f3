"""Strategies as they are declared: each at every setting that a sweep names, and at every budget.

A sweep is several values of one setting in a spec, `keep_last=5|10|20`. A budget is one of the compactor's window.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ..model.errors import SpecError
from ..plugins.apart import Limits
from ..plugins.registry import build
from . import Strategy, has_parameter
from .loading import put_together

MOST_SETTINGS = 100
"""The most strategies that one sweep may become."""

WINDOW = "max_tokens"
"""The compactor's parameter that a budget sets."""

_PART = re.compile(r'"(?:\\.|[^"\\])*"|(?P<key>[:,]\s*[^\W\d]\w*\s*=\s*)(?P<values>[^\s,+:="\[\]]*\|[^\s,+:="\[\]]*)')


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

    A strategy with a sweep becomes one for each setting, called after the values; two sweeps in one strategy give every combination. One whose
    compactor has a window then runs at every budget. Raises SpecError as `strategy_of` does, and for more than 100 settings.

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
    """Every setting of a spec string, a list of them (routers), or slots: the values that it takes, and the item with these.

    Several sweeps give every combination. What is quoted is no sweep. Raises SpecError for an empty value and for more than 100
    settings.

    >>> at_settings({"compactor": "mask_observations:keep_last=5|10"})[1]
    (('10',), {'compactor': 'mask_observations:keep_last=10'})
    >>> [values for values, _ in at_settings("m=compactor=mine.py:f:share=0.5|0.6,n=1|2")]
    [('0.5', '1'), ('0.5', '2'), ('0.6', '1'), ('0.6', '2')]
    >>> at_settings('m=summarizer=mine.py:f:mark="a|b"')
    [((), 'm=summarizer=mine.py:f:mark="a|b"')]
    """
    if isinstance(item, str):
        fixed, swept = _split(item)
        each = [[((value,), value) for value in values] for values in swept]
        return [
            (values, "".join(map("".join, zip(fixed, (*found, ""), strict=True))))
            for values, found in _combined(each, item)
        ]
    if isinstance(item, Mapping):
        parts = [at_settings(part) for part in item.values()]
        return [(values, dict(zip(item, found, strict=True))) for values, found in _combined(parts, item)]
    return _combined([at_settings(part) for part in item], item) if isinstance(item, list | tuple) else [((), item)]


def _combined(
    parts: Sequence[Sequence[tuple[tuple[str, ...], Any]]], whole: object
) -> list[tuple[tuple[str, ...], list[Any]]]:
    _require_few(math.prod(map(len, parts)), whole)
    return [
        (tuple(value for values, _ in chosen for value in values), [part for _, part in chosen])
        for chosen in product(*parts)
    ]


def _split(text: str) -> tuple[list[str], list[list[str]]]:
    """A spec as the texts around its sweeps, and the values of each sweep."""
    fixed, swept, end = [""], [], 0
    for match in _PART.finditer(text):
        if match["values"] is not None:
            fixed[-1] += text[end : match.start("values")]
            fixed.append("")
            swept.append(list(_values(match["values"], text)))
            end = match.end()
    fixed[-1] += text[end:]
    return fixed, swept


def _values(written: str, whole: str) -> Iterator[str]:
    found = written.split("|")
    if not all(found):
        raise SpecError(f"spec {whole!r}: the sweep {written!r} has an empty value — write 5|10|20")
    return iter(dict.fromkeys(found))


def _require_few(count: int, whole: object) -> None:
    if count > MOST_SETTINGS:
        raise SpecError(f"spec {whole!r}: a sweep of {count} settings, above {MOST_SETTINGS} — sweep fewer values")


def parse_budgets(text: str) -> tuple[int, ...]:
    """Windows as they are written on the command line, in tokens, each once. Raises SpecError for anything else.

    >>> parse_budgets("8000, 16000,8000")
    (8000, 16000)
    """
    found = []
    for item in text.split(","):
        if not re.fullmatch(r"0*[1-9][0-9]{0,17}", number := item.strip().replace("_", "")):
            raise SpecError(f"budget {item.strip()!r} is no number of tokens — write --budget 8000,16000,32000")
        found.append(int(number))
    return tuple(dict.fromkeys(found))


def at_budgets(strategies: Sequence[Strategy], budgets: Sequence[int]) -> tuple[Strategy, ...]:
    """The strategies with each one whose compactor has a window (`max_tokens`) at every budget instead, called `name@budget`.

    One without such a compactor runs once, as it is; without budgets all do. Raises SpecError for a declared name that a budget would make.

    >>> from bench.strategies import parse_strategy
    >>> [str(item) for item in at_budgets([parse_strategy("old=compactor=summarize_old"), parse_strategy("keep_all")], [8000])]
    ['old@8000=compactor=summarize_old:max_tokens=8000', 'keep_all']
    """
    if not budgets:
        return tuple(strategies)
    found: list[Strategy] = []
    for strategy in strategies:
        found.extend([_at(strategy, budget) for budget in budgets] if has_window(strategy) else [strategy])
    names = [strategy.name for strategy in found]
    taken = next((name for name in names if names.count(name) > 1), None)
    if taken is not None:
        raise SpecError(f"two strategies are called {taken!r} once budgets are set — rename the declared one")
    return tuple(found)


def has_window(strategy: Strategy) -> bool:
    """True if a strategy's compactor has a window that a budget can set. A reference is never changed."""
    return not strategy.reference and has_parameter(strategy, WINDOW)


def _at(strategy: Strategy, budget: int) -> Strategy:
    (alone,) = strategy.plugins["compactor"]
    name, wanted = f"{strategy.name}@{budget}", alone.spec.setting(WINDOW, str(budget))
    if strategy.apart is not None:
        slots = {slot: [str(plugin.spec) for plugin in found] for slot, found in strategy.plugins.items()}
        return strategy.apart.again(name, {**slots, "compactor": [str(wanted)]})
    plugin = build("compactor", wanted, alone.base)
    return replace(strategy, name=name, plugins={**strategy.plugins, "compactor": (plugin,)})
