"""The comparison as JSON: the values as they are, which is also what a baseline is read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ..model.base import json_bytes
from ..model.compared import Compared


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """One comparison as an object, several as a list of them, run by run; what is not finite is null."""
    several = len(comparisons) > 1
    yield "[\n" if several else ""
    for number, compared in enumerate(comparisons):
        yield ",\n" if number else ""
        before, runs, after = json_bytes(msgspec.structs.replace(compared, runs=())).decode().partition('"runs":[')
        yield before + runs
        for place, run in enumerate(compared.runs):
            yield f"{',' if place else ''}{json_bytes(run.as_written).decode()}"
        yield after
    yield "\n]\n" if several else "\n"
