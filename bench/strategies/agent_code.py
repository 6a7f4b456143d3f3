"""The lines of code with which an agent uses a summarizer or compactor of the bench."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..plugins.registry import entries
from ..plugins.spec import parse_spec


def code_lines(slots: Mapping[str, str]) -> list[str]:
    """The lines of Python with which an agent calls the summarizer and the compactor of a strategy;
    none for plug-ins that are not the bench's. `slots` has the spec of each slot.

    >>> for line in code_lines({"summarizer": "csv_table", "store": "full"}):
    ...     print(line)
    import bench
    <BLANKLINE>
    rewrite = bench.summarizer("csv_table")
    text = rewrite(result, call_id=call_id, function=name)  # for each tool result
    """
    lines: list[str] = []
    for slot, spec in slots.items():
        plugin = entries(slot).get(parse_spec(spec).target) if slot in _CALLS else None
        if plugin is not None:
            keep = ", keep=store" if plugin.attribute("offloads") else ""
            lines += (line.format(json.dumps(spec) + keep) for line in _CALLS[slot])
    return ["import bench", "", *lines] if lines else []


_CALLS = {
    "summarizer": (
        "rewrite = bench.summarizer({})",
        "text = rewrite(result, call_id=call_id, function=name)  # for each tool result",
    ),
    "compactor": (
        "compact = bench.compactor({})  # one for each conversation",
        "prompt = compact(messages)  # before each model call",
    ),
}
"""The lines of code for each slot, with `{}` in place of the spec."""
