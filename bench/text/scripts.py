"""The scripts and functions of a manifest, from which a router chooses one for a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NONE = "none"
"""The route if no script fits."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Script:
    """One entry of a manifest. `examples` are requests that it is meant for, `parameters` the names,
    descriptions and permitted values of its parameters."""

    name: str
    description: str = ""
    examples: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    entry: Any = None


def scripts_of(manifest: Any) -> tuple[Script, ...]:
    """The scripts of a manifest, in order. An entry without a name is left out; anything but a list
    gives `()`.

    An entry has a `name` (else its `id` is the name), its texts at the top (a function definition)
    or below `metadata`. Of two entries with one name the later goes by its id.

    >>> scripts_of([{"id": "a/Create_Wall.cs", "name": "Create_Wall.cs", "metadata": {"description": "Creates a wall."}}])[0].description
    'Creates a wall.'
    >>> [script.name for script in scripts_of([{"name": "a"}, {"name": "a", "id": "b"}, {"name": ""}, {"id": 3}, "c"])]
    ['a', 'b']
    """
    scripts: dict[str, Script] = {}
    for entry in manifest if isinstance(manifest, list | tuple) else ():
        if isinstance(entry, Mapping):
            for name in (entry.get("name"), entry.get("id")):
                if isinstance(name, str) and name and name not in scripts:
                    scripts[name] = _script(name, entry)
                    break
    return tuple(scripts.values())


def expected_scripts(labels: Any, manifest: Any) -> dict[str, list[str]]:
    """For each step the names of the scripts that the labels of a trace accept; ids in the labels
    become names.

    >>> expected_scripts({"3": "a/b.cs", "5": ["x", "y"]}, [{"name": "b.cs", "id": "a/b.cs"}])
    {'3': ['b.cs'], '5': ['x', 'y']}
    """
    scripts = [script for script in scripts_of(manifest) if "id" in script.entry]
    name_by_id = {str(script.entry["id"]): script.name for script in scripts}
    expected_by_step = {}
    for step, label in labels.items() if isinstance(labels, Mapping) else ():
        given = label if isinstance(label, list) else [label]
        if names := [name_by_id.get(item, item) for item in given if isinstance(item, str)]:
            expected_by_step[str(step)] = names
    return expected_by_step


def _script(name: str, entry: Mapping[str, Any]) -> Script:
    """The script of an entry, whose fields may be under `metadata`."""
    metadata = entry.get("metadata")
    fields = {**entry, **metadata} if isinstance(metadata, Mapping) else entry
    description = fields.get("description")
    return Script(
        name,
        description if isinstance(description, str) else "",
        _texts(fields.get("usage_examples")),
        tuple(_parameters(fields.get("parameters"))),
        _texts(fields.get("categories")),
        entry,
    )


def _texts(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, str))


def _parameters(schema: Any) -> list[str]:
    """The texts of a JSON Schema's properties at any depth: names, descriptions, permitted values."""
    texts: list[str] = []
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        for key, item in properties.items() if isinstance(properties, Mapping) else ():
            texts.append(str(key))
            for part in (item, item.get("items") if isinstance(item, Mapping) else None):
                if isinstance(part, Mapping):
                    values = part.get("enum")
                    texts += [text for text in (part.get("description"),) if isinstance(text, str)]
                    texts += map(str, values) if isinstance(values, list | tuple) else ()
                    waiting.append(part)
    return texts


def words_of_name(text: str) -> list[str]:
    """The words of a text in lower case, with compound names split.

    >>> words_of_name("HTTPServer_v2 Créer 墙")
    ['http', 'server', 'v', '2', 'créer', '墙']
    """
    return [word.lower() for word in _WORD.findall(_INNER_CAPITAL.sub(" ", text))]
