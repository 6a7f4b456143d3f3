"""The number of examples that a test tries: few by default, more with `BENCH_EXAMPLES`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

EXAMPLES = int(os.environ.get("BENCH_EXAMPLES", "20"))
_Item = TypeVar("_Item")


def some(items: Sequence[_Item], few: int) -> list[_Item]:
    """`few` items, evenly spread; as many times more as there are times 20 in `BENCH_EXAMPLES`.

    >>> some(range(10), 3)
    [0, 4, 8]
    """
    return list(items[:: max(1, -(-20 * len(items) // (few * EXAMPLES)))])
