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
    "strategies": (
        "summarizer",
        "compactor",
        "writer",
        "store",
        "evaluator",
        "extractor",
        "router",
    ),
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
    """List the formats, strategies or metrics; bare, how many there are.

    WORDs: only what holds all of them.
    """
    from ..plugins.registry import entries

    if what is None:
        _say_counts()
        return
    if what not in LISTED:
        raise SpecError(f"nothing is listed under {what!r}{nearest(what, LISTED)}")
    is_any = False
    for kind in LISTED[what]:
        each = [entry for entry in entries(kind).values() if _matches(entry, words)]
        if each:
            is_any = True
            say(f"{NAMES.get(kind, kind)}s")
            (_say_at_length if at_length else _say_briefly)(each)
    if what == "strategies" and not words:
        _say_references()
    if not is_any:
        raise SpecError(f"no {what} hold {' '.join(words)!r}{_hint(what, words)}")
    if not at_length:
        say("--long adds parameters, defaults and sources.")


def _say_counts() -> None:
    """Print the kinds with the number of each."""
    from ..plugins.registry import entries
    from ..strategies.portfolio import REFERENCES
    from ..text.wording import counted

    for name, kinds in LISTED.items():
        counts = [counted(len(entries(kind)), NAMES.get(kind, kind)) for kind in kinds]
        if name == "strategies":
            counts.append(counted(len(REFERENCES), "reference"))
        say(f"{name:<12}{', '.join(counts)}")


def _say_references() -> None:
    """Print the strategies that every comparison holds, with their slots."""
    from ..strategies.portfolio import REFERENCES

    say("references")
    for name, slots in REFERENCES.items():
        say(f"  {name:<12}  {slots or 'what the recording did'}")


def _say_briefly(each: Sequence[Any]) -> None:
    """Print a line for each plug-in, its summary in a column of its own."""
    wide = min(max(len(_name(entry)) for entry in each), 32)
    for entry in each:
        say(f"  {_name(entry):<{wide}}  {_summary(entry)}")


def _say_at_length(each: Sequence[Any]) -> None:
    """Print each plug-in with its settings and its source."""
    for entry in each:
        say(f"  {_name(entry)}{_parameters(entry)}{_declared(entry)}")
        say(f"      {_summary(entry)}")
        if entry.source:
            say(f"      Source: {entry.source}")


def _hint(what: str, words: Sequence[str]) -> str:
    """The end of the error about words that nothing holds: what to write instead."""
    from ..plugins.registry import entries

    if words and words[0] in LISTED:
        return f" — write bench list {words[0]}"
    names = (name for kind in LISTED[what] for name in entries(kind))
    close = nearest(
        " ".join(words[:1]), {part for name in names for part in re.split(r"[\W_]", name)}
    )
    return close if "did you mean" in close else f" — bench list {what} prints all"


def _matches(entry: Any, words: Sequence[str]) -> bool:
    """True if the names and the summary of a plug-in hold all words."""
    names = [entry.name, *(entry.name.format(place) for place in entry.meta.get("places", ()))]
    text = f"{' '.join(names)} {_summary(entry)}".lower()
    return all(word.lower() in text for word in words)


def _summary(entry: Any) -> str:
    """The first sentences of a plug-in's docstring, as many as say something, on one line."""
    first, *rest = " ".join(entry.doc.partition("\n\n")[0].split()).split(". ")
    while rest and len(first) < _FEWEST:
        first += f". {rest.pop(0)}"
    return first if not rest else f"{first}."


def _name(entry: Any) -> str:
    """The name of a plug-in; of a family of metrics with its places: `loss.fact_recall.{shown|end}`."""
    places = entry.meta.get("places", ())
    choice = "|".join(filter(None, places))
    return str(entry.name).replace("{}", f"[{choice}]" if "" in places else f"{{{choice}}}")


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
        return (
            f"  {entry.meta['unit']}, {entry.meta['better']} is better, {entry.meta['aggregate']}"
        )
    at, loop = entry.meta.get("at"), entry.meta.get("loop")
    return (f"  at {at}" if at else "") + (f", a loop is {loop}" if loop else "")
