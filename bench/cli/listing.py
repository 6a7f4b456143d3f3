"""`bench list`: what is registered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click

from ..model.errors import SpecError, nearest
from .saying import say

LISTED = {
    "traces": ("reader",),
    "strategies": ("reference", "summarizer", "compactor", "writer", "store", "evaluator", "extractor", "router"),
    "metrics": ("number",),
}

_FEWEST = 40  # letters of a line about a plug-in

NAMES = {"number": "metric"}
"""Kinds that people call otherwise than the registry."""


@click.command(name="list")
@click.argument("what", metavar="[traces|strategies|metrics]", required=False)
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--long", "at_length", is_flag=True, help="With parameters, defaults and sources.")
def list_(what: str | None, words: tuple[str, ...], at_length: bool) -> None:
    """Print what there is, a line each; without an argument the kinds with counts.

    WORDs: only what holds all of them.
    """
    from ..plugins.registry import entries
    from ..text.wording import counted

    if what is None:
        for name, kinds in LISTED.items():
            counts = ", ".join(counted(len(entries(kind)), NAMES.get(kind, kind)) for kind in kinds)
            say(f"{name:<12}{counts}")
        return
    if what not in LISTED:
        raise SpecError(f"nothing is listed under {what!r}{nearest(what, LISTED)}")
    listed = 0
    for kind in LISTED[what]:
        selected = {name: entry for name, entry in entries(kind).items() if _matches(name, entry, words)}
        listed += len(selected)
        if selected:
            say(f"{NAMES.get(kind, kind)}s")
        wide = min(max(map(len, selected), default=0), 32)
        for name, entry in selected.items():
            if not at_length:
                say(f"  {name + _placeholders(entry):<{wide}}  {_summary(entry)}")
                continue
            say(f"  {name}{_placeholders(entry)}{_parameters(entry)}{_declared(entry)}")
            say(f"      {_summary(entry)}")
            if entry.source:
                say(f"      Source: {entry.source}")
    if words and not listed:
        parts = {part for kind in LISTED[what] for name in entries(kind) for part in re.split(r"[\W_]", name)}
        close = nearest(words[0], parts)
        hint = close if "did you mean" in close else f" — bench list {what} prints all"
        hint = f" — write bench list {words[0]}" if words[0] in LISTED else hint
        raise SpecError(f"no {what} hold {' '.join(words)!r}{hint}")
    if listed and not at_length:
        say("--long adds parameters, defaults and sources.")


def _matches(name: str, entry: Any, words: Sequence[str]) -> bool:
    text = f"{name} {_summary(entry)}".lower()
    return all(word.lower() in text for word in words)


def _summary(entry: Any) -> str:
    """The first sentences of a plug-in's docstring, as many as say something, on one line."""
    first, *rest = " ".join(entry.doc.partition("\n\n")[0].split()).split(". ")
    while rest and len(first) < _FEWEST:
        first += f". {rest.pop(0)}"
    return first if not rest else f"{first}."


def _placeholders(entry: Any) -> str:
    """The ending of a metric that has several places, such as `.shown|stored|end`; else `""`."""
    places = entry.meta.get("places", ()) if entry.kind == "number" else ()
    named = f".{'|'.join(filter(None, places))}" if any(places) else ""
    return f"[{named}]" if named and "" in places else named


def _parameters(entry: Any) -> str:
    settings = [
        f"{item.name}={'required' if item.required else _default(item.default)} ({type_name(item.type)})"
        for item in entry.parameters
    ]
    return f"  [{', '.join(settings)}]" if settings else ""


def _default(value: Any) -> str:
    """The default of a setting, as a spec would write it."""
    from ..plugins.spec import format_value

    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    if isinstance(value, tuple | list):
        return format_value(tuple(str(item) for item in value))
    return format_value(str(value))


BOUNDS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}


def type_name(kind: Any) -> str:
    """A type in words: `int ≥ 0`, `status or markers`, `list[str]`.

    >>> type_name(Literal["a", "b"]), type_name(int | None)
    ('a or b', 'int or null')
    """
    if get_origin(kind) is Annotated:
        base, *metas = get_args(kind)
        bounds = [f"{sign} {getattr(meta, name)}" for meta in metas for name, sign in BOUNDS.items()
                  if getattr(meta, name, None) is not None]  # fmt: skip
        return " ".join((type_name(base), *bounds))
    if get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    if isinstance(kind, UnionType) or get_origin(kind) is Union:
        return " or ".join(map(type_name, get_args(kind)))
    if kind is NoneType:
        return "null"
    named = isinstance(kind, type) and not hasattr(kind, "__args__")
    return kind.__name__ if named else str(kind).replace("typing.", "")


def _declared(entry: Any) -> str:
    if entry.kind == "number":
        return f"  {entry.meta['unit']}, {entry.meta['better']} is better, {entry.meta['aggregate']}"
    at, loop = entry.meta.get("at"), entry.meta.get("loop")
    return (f"  at {at}" if at else "") + (f", a loop is {loop}" if loop else "")
