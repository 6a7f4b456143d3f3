"""The comparison as JSON: the values as they are, which is also what a baseline is read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.base import json_bytes
from ..model.compared import Compared


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """One comparison as an object, several as a list of them; what is not finite is null."""
    several = len(comparisons) > 1
    yield "[\n" if several else ""
    for number, compared in enumerate(comparisons):
        yield ",\n" if number else ""
        yield json_bytes(compared).decode()
    yield "\n]\n" if several else "\n"
