"""The intake of attributes: what spans of OpenTelemetry, and services that store them, say about a
model call beside its messages."""

from __future__ import annotations

from typing import Any

from ..values import Fields, Unread, dicts, first_of, from_json_text, text

_WRAPPERS = {"message", "tool_call", "message_content", "tool", "image"}


class Attributes:
    """The attributes of a span by their names.

    >>> listed = {"llm.tools.0.tool.json_schema": '{"name": "count"}', "gen_ai.system_instructions": '[{"content"'}
    >>> Attributes(listed).tools(), Attributes(listed).instructions(unread := Unread()), unread.counts
    ([{'name': 'count'}], None, {"attribute 'gen_ai.system_instructions' that was cut: the exporter limits their length": 1})
    """

    def __init__(self, attributes: Fields) -> None:
        self.attributes = attributes

    def first(self, *keys: str) -> Any:
        """The first attribute, among `keys`, that is not null; None without one."""
        return first_of(self.attributes, keys)

    def text(self, *keys: str) -> str:
        """The first attribute, among `keys`, that is a text and not empty, else `""`."""
        return next(filter(None, (text(self.attributes.get(key)) for key in keys)), "")

    def decoded(self, key: str, unread: Unread) -> Any:
        """The value of an attribute, decoded if it is JSON; None, and counted, if that was cut."""
        value = from_json_text(self.attributes.get(key))
        if isinstance(value, str) and value[:1] in ("[", "{"):
            unread.add(f"attribute {key!r} that was cut: the exporter limits their length")
            return None
        return value

    def instructions(self, unread: Unread) -> Any:
        """The system prompt beside the messages of a call; None without one."""
        return self.decoded("gen_ai.system_instructions", unread)

    def tools(self) -> list[Any] | None:
        """The tool definitions of a call; None without any."""
        defined = from_json_text(self.first("gen_ai.tool.definitions", "ai.prompt.tools"))
        if isinstance(defined, list) and defined:
            return list(map(from_json_text, defined))
        listed = dicts(self.below("llm.tools") or self.below("llm.request.functions"))
        return [from_json_text(tool.get("json_schema")) or tool for tool in listed] or None

    def below(self, prefix: str) -> Any:
        """The attributes `prefix.…` as one value: nested objects, or lists where all names are
        numbers; None without any."""
        values: Fields = {}
        for key, value in self.attributes.items():
            if key.startswith(f"{prefix}."):
                inner = values
                *outer, last = key[len(prefix) + 1 :].split(".")
                for name in outer:
                    inner = inner.setdefault(name, {})
                    inner = inner if isinstance(inner, dict) else {}
                inner[last] = value
        return _listed(values) if values else None


def _listed(value: Any) -> Any:
    """A value with lists for objects of numbered names, without OpenInference's wrapping."""
    if not isinstance(value, dict):
        return value
    if value and all(name.isdecimal() and len(name) < 10 for name in value):
        return [_listed(value[name]) for name in sorted(value, key=int)]
    if len(value) == 1 and not _WRAPPERS.isdisjoint(value):
        return _listed(*value.values())
    return {name: _listed(item) for name, item in value.items()}
