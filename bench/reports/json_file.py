"""The comparison as JSON, the format of baselines too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ..model.base import json_bytes
from ..model.compared import Compared


def render(comparisons: Sequence[Compared]) -> Iterator[str]:
    """One comparison as an object, several as a list, in pieces of one run; infinite numbers are
    null.

    Each begins with the first line of every output.
    """
    from . import first_line  # the formats stand below

    several = len(comparisons) > 1
    yield "[\n" if several else ""
    for number, compared in enumerate(comparisons):
        yield ",\n" if number else ""
        totals = {
            strategy: {name: number.as_written for name, number in numbers.items()}
            for strategy, numbers in compared.totals.items()
        }
        rest = msgspec.structs.replace(compared, runs=(), totals=totals)
        before, runs, after = json_bytes(rest).decode().partition('"runs":[')
        yield f'{{"first_line":{json_bytes(first_line(compared)).decode()},{before[1:]}{runs}'
        for place, run in enumerate(compared.runs):
            yield f"{',' if place else ''}{json_bytes(run.as_written).decode()}"
        yield after
    yield "\n]\n" if several else "\n"
