"""Strategies that load somebody's own code, put together so that nothing that this code does ends the bench."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..plugins.trial import Limits, tried
from . import Strategy, strategy_of

_LOADS = re.compile(r"\.py\b|:\s*[A-Za-z_]\w*\s*(?![\w\s]*=)")
"""What a spec has that loads somebody's own code: a file's ending, or a name behind a colon that is no setting."""


def given_strategies(given: Any, base: Path | None, limits: Limits) -> list[Strategy]:
    """What people pass as strategies: a mapping by name, a list, or one alone, each as `strategy_of` takes it."""
    if isinstance(given, Mapping):
        return put_together(given, lambda name, item: strategy_of(item, name, base), limits)
    several = isinstance(given, Iterable) and not isinstance(given, str)
    numbered = dict(enumerate(given if several else [given]))
    return put_together(numbered, lambda _, item: strategy_of(item, base=base), limits)


def put_together(given: Mapping[Any, Any], make: Callable[[Any, Any], Strategy], limits: Limits) -> list[Strategy]:
    """The strategies, each made from its name and what is written of it. Those that load somebody's own code are made in a process of their own
    first; one that ends it, or hangs, is broken.
    """
    loading = [name for name, item in given.items() if _LOADS.search(_written(item))]
    problems = tried([functools.partial(make, name, given[name]) for name in loading], limits)
    broken = {loading[number]: f"it cannot be loaded: {problem}" for number, problem in problems.items()}
    return [
        _broken(name, given[name], broken[name]) if name in broken else make(name, item) for name, item in given.items()
    ]


def _written(item: Any) -> str:
    """What is written of a strategy, as one text; `""` for a function or a Strategy, which are loaded already."""
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return "+".join(f"{slot}={_written(spec)}" for slot, spec in item.items())
    return f"[{','.join(map(_written, item))}]" if isinstance(item, list | tuple) else ""


def _broken(name: Any, item: Any, problem: str) -> Strategy:
    text = _written(item)
    if not isinstance(name, str):
        name, _, text = text.partition("=")
    return Strategy(name, broken=problem, written=text.removeprefix(f"{name}="))
