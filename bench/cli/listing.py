"""`bench list` and `bench show`: what is registered, and what a trace holds."""

from __future__ import annotations

from typing import Any

import click

from ..errors import SpecError, nearest

LISTED = {
    "traces": ("reader",),
    "strategies": ("reference", "summarizer", "compactor", "writer", "store", "evaluator", "extractor", "router"),
    "metrics": ("metric",),
    "gates": ("gate",),
    "panels": ("panel", "renderer"),
}


@click.command(name="list")
@click.argument("what", metavar="|".join(LISTED))
def list_(what: str) -> None:
    """Print what is registered, with parameters, defaults and sources."""
    from ..metrics import measured
    from ..registry import entries

    if what not in LISTED:
        raise SpecError(f"nothing is listed under {what!r}{nearest(what, LISTED)}")
    for kind in LISTED[what]:
        found = measured() if kind == "metric" else entries(kind)
        if not found:
            continue
        click.echo(f"{kind}s")
        for name, entry in found.items():
            click.echo(f"  {name}{_parameters(entry)}{_declared(entry)}")
            first = entry.doc.splitlines()[0] if entry.doc else ""
            click.echo(f"      {first}")
            if entry.source:
                click.echo(f"      Source: {entry.source}")


def _parameters(entry: Any) -> str:
    shown = [
        f"{item.name}={'required' if item.required else _default(item.default)} ({_type_name(item.type)})"
        for item in entry.parameters
    ]
    return f"  [{', '.join(shown)}]" if shown else ""


def _default(value: Any) -> str:
    from ..spec import format_value

    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    if isinstance(value, tuple | list):
        return format_value(tuple(str(item) for item in value))
    return format_value(str(value))


def _type_name(kind: Any) -> str:
    return (
        kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind).replace("typing.", "")
    )


def _declared(entry: Any) -> str:
    if entry.kind == "metric":
        return f"  {entry.meta['unit']}, {entry.meta['better']} is better, {entry.meta['aggregate']}"
    at = entry.meta.get("at", getattr(entry.target, "at", None))
    return f"  at {at}" if at else ""


@click.command()
@click.argument("trace", metavar="[FORMAT:]PATH")
def show(trace: str) -> None:
    """Print the steps of a trace (or of every trace of a folder) with their tokens."""
    from .. import load
    from ..reports.steps import step_lines

    for item in load([trace]).traces:
        for line in step_lines(item):
            click.echo(line)
