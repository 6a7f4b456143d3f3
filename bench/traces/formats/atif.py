"""The Agent Trajectory Interchange Format (ATIF), which Harbor and others write: version 1, as it is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ...model import Outcome, Trace
from ...plugins.registry import register
from .. import Confidence, Keeps, Near, by_marks, source_of
from ..atif import OURS, Trajectory, ours_in
from ..documents import Document, Node
from ..steps import Steps

_VERSION = re.compile(r"(?:ATIF-)?v?(\d+)(?:\.\d+)*")
_ROOT = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "continued_trajectory_ref", "extra",
         "subagent_trajectories"}  # fmt: skip
_OURS: dict[str, Any] = {"labels": dict[str, Any], "meta": dict[str, Any], "left_out": dict[str, int]}
"""The fields of a trace that a file of the bench holds, with their types."""


@register("reader", "atif")
class Atif:
    """One trajectory a file: `{schema_version, agent, steps}`. Written by `write_atif` (`atif_writing.py`), a trace comes back as it was.

    An agent's step is a model turn, its observations the results of its calls; an observation without calls is a user turn. Tool
    definitions come first. Embedded sub-agents are threads before the observation that refers to them. Metrics are usage, costs are in
    `meta` by step, and so are the agent, notes and final metrics. Version 2 is another format and is refused.

    Source: Harbor, RFC 0001 "Agent Trajectory Interchange Format" (github.com/laude-institute/harbor); PyPI `atif` 1.7
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "reasoning", "threads", "tools", "model"),
        never="errors (an observation says none) and the untruncated result, except in files that the bench wrote, which hold all",
        tested="ATIF 1.6 and 1.7, written by hand after the RFC",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head if isinstance(document.head, dict) else {}
        steps = head.get("steps")
        sourced = isinstance(steps, list) and any(isinstance(step, dict) and "source" in step for step in steps)
        stated = _VERSION.fullmatch(str(head.get("schema_version"))) is not None
        told = isinstance(head.get("agent"), dict) and sourced
        return by_marks({"a `schema_version` of ATIF": stated, "an `agent` and `steps` with their source": told})

    def read(self, document: Document) -> Iterator[Trace]:
        whole = document.node()
        version = whole["schema_version"]
        known = _VERSION.fullmatch(version.text())
        if known is None or known.group(1) != "1":
            raise version.fail(
                f"{version.text()[:40]} is not version 1 of ATIF, which this reader knows — export it as v1.7"
            )
        steps = Steps()
        steps.unread.keys(whole, _ROOT, "the trajectory")
        if whole["continued_trajectory_ref"].value is not None:
            steps.unread.add("continuation of the trajectory in another file")
        main = Trajectory(steps, whole)
        if ours_in(whole):
            yield _restored(document, whole, main)
        else:
            yield steps.trace(document, "atif", whole, meta=_meta(whole, main.costs))


def _meta(whole: Node, costs: dict[int, float]) -> dict[str, Any]:
    agent = whole["agent"].object()
    found = {
        "agent": {key: value for key, value in agent.items() if key not in ("tool_definitions", "model_name")},
        "trajectory_session_id": whole["session_id"].value,
        **{key: whole[key].value for key in ("trajectory_id", "notes", "final_metrics", "extra")},
        "costs_usd": {str(step): cost for step, cost in costs.items()},
    }
    return {key: value for key, value in found.items() if value}


def _restored(document: Document, whole: Node, main: Trajectory) -> Trace:
    """A trace that `write_atif` wrote: its steps under their own indices, and all else that it said."""
    ours = whole["extra"][OURS]
    given = [main.ours.get(step.index, {}).get("index", step.index) for step in main.steps.steps]
    indices = [index if type(index) is int else -1 for index in given]
    if len(set(indices)) < len(indices):
        raise ours.fail(f"two steps have one index — leave `{OURS}` as it was written, or out")
    steps = (msgspec.structs.replace(step, index=at) for step, at in zip(main.steps.steps, indices, strict=True))
    try:
        outcome = None if ours["outcome"].value is None else msgspec.convert(ours["outcome"].value, Outcome)
        said = {key: msgspec.convert(ours[key].value or {}, kind) for key, kind in _OURS.items()}
    except msgspec.ValidationError as error:
        raise ours.fail(str(error)[:200]) from None
    return Trace(
        id=ours["id"].text_or_none() or "",
        source=source_of(document, "atif"),
        steps=tuple(sorted(steps, key=lambda step: step.index)),
        outcome=outcome,
        **said,
    )
