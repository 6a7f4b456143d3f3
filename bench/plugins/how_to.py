"""The lines that put a plug-in to use in somebody's own agent, by the place where that agent can be changed: those of `how_to.toml`."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from string import Template

from .registry import build
from .spec import parse_spec, split_top

PLACES = {"langgraph": "langchain", "langsmith": "langchain", "flowgentic": "langchain"}
"""Formats whose recordings come from the library of another name."""

PYTHON = "python"
"""The place for which every policy of the portfolio has lines: a loop of one's own over chat messages."""


def place_of(trace_format: str, provider: str | None) -> tuple[str, ...]:
    """Return where a recording's agent can be changed, the most specific first: its harness or library, its provider, a loop of one's own.

    >>> place_of("langgraph", "openai"), place_of("openai", "anthropic")
    (('langchain', 'openai', 'python'), ('openai', 'anthropic', 'python'))
    """
    return tuple(dict.fromkeys(filter(None, (PLACES.get(trace_format, trace_format), provider, PYTHON))))


def how_to(slots: str, places: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that put the slots of a strategy to use, a text for each of its plug-ins; none for one without lines, or somebody's own.

    >>> print(how_to("compactor=clear_tool_uses:trigger=30000", ("langchain", "python"))[0].splitlines()[-1])
    agent = create_agent(model, tools, middleware=[ContextEditingMiddleware(edits=[edit])])
    """
    found = []
    for part in split_top(slots, "+"):
        slot, _, written = part.partition("=")
        lines = _lines().get(slot, {}).get(parse_spec(written).target, {})
        place = next((place for place in places if place in lines), None)
        if place is not None:
            plugin = build(slot, written)
            settings = {item.name: item.default for item in plugin.entry.parameters} | plugin.arguments
            tokens = {f"{name}_tokens": value // 4 for name, value in settings.items() if type(value) is int}
            found.append(Template(lines[place]).safe_substitute(tokens | settings).strip())
    return tuple(found)


@functools.cache
def _lines() -> dict[str, dict[str, dict[str, str]]]:
    """The templates by slot, plug-in and place."""
    return tomllib.loads(files("bench.plugins").joinpath("how_to.toml").read_text(encoding="utf-8"))
