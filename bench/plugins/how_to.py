"""The lines that put a plug-in to use in somebody's own agent: an attribute of the plug-in, by the place where that agent can be changed."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

from .registry import KINDS, build, entries
from .spec import parse_spec, split_top

PLACES = {"langgraph": "langchain", "langsmith": "langchain", "flowgentic": "langchain", "openhands_sdk": "openhands"}
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
    """Return the lines that put the slots of a strategy to use, a text for each of its plug-ins; none for one that brings none, or is somebody's own.

    A plug-in registers them as `how`, a mapping of places to templates, in which `$name` is one of its settings, and `$name_tokens` a number of
    characters as tokens, at four a token.

    >>> print(how_to("compactor=clear_tool_uses:trigger=30000", ("langchain", "python"))[0].splitlines()[-1])
    agent = create_agent(model, tools, middleware=[ContextEditingMiddleware(edits=[edit])])
    """
    found = []
    for part in split_top(slots, "+"):
        slot, _, written = part.partition("=")
        entry = entries(slot).get(parse_spec(written).target) if slot in KINDS else None
        lines: Mapping[str, str] = {} if entry is None else entry.meta.get("how", {})
        place = next((place for place in places if place in lines), None)
        if place is not None:
            plugin = build(slot, written)
            settings = {item.name: item.default for item in plugin.entry.parameters} | plugin.arguments
            tokens = {f"{name}_tokens": value // 4 for name, value in settings.items() if type(value) is int}
            found.append(Template(lines[place]).safe_substitute(tokens | settings).strip())
    return tuple(found)
