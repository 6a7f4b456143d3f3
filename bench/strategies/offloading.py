"""`offload`, with which a user's strategy keeps a value outside of the prompt under a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..model.errors import StrategyError, one_line

Keep = Callable[[str, Any], None]
KEEP: ContextVar[Keep | None] = ContextVar("KEEP", default=None)
"""The function that is called with each offloaded name and value."""


def offload(name: str, value: Any) -> str:
    """Keep a value outside of the prompt under a name to show instead; returns the name.

    No file is written. Wherever a prompt shows the name, the value counts as retrievable, at the
    cost of fetching it. A name that is used again stands for the newer value. Raises StrategyError
    for a name that is empty or has a line break, and for a value that JSON cannot represent.

    >>> f"[{offload('results/3.json', {'rows': 471})}: 1 row]"
    '[results/3.json: 1 row]'
    """
    if not isinstance(name, str) or not name.strip() or name != name.strip() or "\n" in name:
        what = "a name is one line of text without blanks around it"
        raise StrategyError(f"offload: {what}, got {one_line(name)[:80]!r}")
    keep = KEEP.get()
    if keep is not None:
        keep(name, value)
    return name


@contextmanager
def offloaded_to(keep: Keep) -> Iterator[None]:
    """A context in which `keep` is called with each offloaded name and value."""
    outer = KEEP.set(keep)
    try:
        yield
    finally:
        KEEP.reset(outer)
