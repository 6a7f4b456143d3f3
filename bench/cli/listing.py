"""`bench list`: the registered formats, strategies and metrics."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from ..model.errors import SpecError, nearest
from .saying import say

SLOTS = ("summarizer", "compactor", "writer", "store", "evaluator", "router")
LISTED = {"traces": ("reader",), "strategies": (*SLOTS, "reference"), "metrics": ("metric",)}
"""The kinds that are listed under each word."""

_MOST = 100  # letters of a line about a plug-in, unless its first sentence has more


@click.command(name="list")
@click.argument("what", metavar="[traces|strategies|metrics]", required=False)
@click.argument("words", nargs=-1, metavar="[WORD]...")
def list_(what: str | None, words: tuple[str, ...]) -> None:
    """List the formats, strategies or metrics; without a kind, how many there are.

    With WORDs only entries that contain all of them, with settings, defaults and sources.
    """
    if what is None:
        _say_counts()
        return
    if what not in LISTED:
        raise SpecError(f"nothing is listed under {what!r}{nearest(what, LISTED)}")
    listed = {kind: [*_lines(kind, words)] for kind in LISTED[what]}
    if not any(listed.values()):
        raise SpecError(f"no {what} contain {' '.join(words)!r} — bench list {what} prints all")
    for kind, lines in listed.items():
        if lines:
            say("\n".join([f"{kind}s", *lines]))
    if not words:
        say(f"bench list {what} WORD adds settings, defaults and sources.")


def _say_counts() -> None:
    """Print the number of plug-ins of each kind."""
    from ..metrics import LABELS
    from ..plugins.registry import entries
    from ..strategies.portfolio import REFERENCES
    from ..text.wording import counted

    known = {"reference": len(REFERENCES), "metric": len(LABELS)}
    for name, kinds in LISTED.items():
        counts = [counted(known.get(kind) or len(entries(kind)), kind) for kind in kinds]
        say(f"{name:<12}{', '.join(counts)}")


def _lines(kind: str, words: Sequence[str]) -> Iterator[str]:
    """Yield a line on each plug-in of a kind; with words several lines on those that have all of
    them."""
    wanted = [word.lower() for word in words]
    items = [
        (name, summary, *more)
        for name, summary, *more in _listed(kind)
        if all(word in f"{kind}s {name} {summary}".lower() for word in wanted)
    ]
    wide = min(max((len(name) for name, *_ in items), default=0), 32)
    for name, summary, settings, source in items:
        if not words:
            yield f"  {name:<{wide}}  {summary}"
            continue
        yield f"  {name}{settings}"
        yield f"      {summary}"
        if kind in ("summarizer", "compactor"):
            yield f'      In an agent: bench.{kind}("{name}")'
        if source:
            yield f"      Source: {source}"


def _listed(kind: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield everything of a kind, each as its name, summary, settings and source."""
    from ..metrics import metrics
    from ..plugins.registry import entries
    from ..strategies.portfolio import REFERENCES

    if kind == "reference":
        for name, slots in REFERENCES.items():
            yield name, slots or "what the recording did", "", ""
    elif kind == "metric":
        for name, metric in metrics().items():
            info = metric.info
            adds = f"  {info.unit}, {info.better} is better, {info.aggregate}"
            yield name, info.label, adds, metric.entry.source
    else:
        for name, entry in entries(kind).items():
            at, loop = entry.meta.get("at"), entry.meta.get("loop")
            routes = (f"  at {at}" if at else "") + (f", a loop is {loop}" if loop else "")
            yield name, _summary(entry.doc), _parameters(entry) + routes, entry.source


def _summary(doc: str) -> str:
    """The first sentences of a plug-in's docstring, as many as fit a line."""
    first, *rest = " ".join(doc.partition("\n\n")[0].split()).split(". ")
    while rest and len(first) + len(rest[0]) < _MOST:
        first += f". {rest.pop(0)}"
    return first if not rest else f"{first}."


def _parameters(entry: Any) -> str:
    """The settings of a plug-in with defaults and types, in brackets; "" without settings."""

    def described(item: inspect.Parameter) -> str:
        """A setting with its default and type."""
        is_required = item.default is item.empty
        default = "required" if is_required else default_text(item.default)
        return f"{item.name}={default} ({type_name(item.annotation)})"

    settings = list(map(described, entry.parameters.values()))
    return f"  [{', '.join(settings)}]" if settings else ""


def default_text(value: Any) -> str:
    """The default of a setting, as a spec would write it."""
    from ..plugins.spec import format_value

    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    return format_value(tuple(map(str, value)) if isinstance(value, tuple | list) else str(value))


def type_name(kind: Any) -> str:
    """A type in words: `int`, `status or markers`, `list[str]`.

    >>> type_name(Literal["a", "b"]), type_name(int | None)
    ('a or b', 'int or null')
    """
    if get_origin(kind) is Annotated:
        return type_name(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        return " or ".join(map(type_name, get_args(kind)))
    if kind is NoneType:
        return "null"
    named = isinstance(kind, type) and not hasattr(kind, "__args__")
    return kind.__name__ if named else str(kind).replace("typing.", "")
