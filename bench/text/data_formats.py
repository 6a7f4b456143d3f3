"""Texts that are data as a whole: JSON, XML, YAML, TOML, and settings in sections. `layouts`
also finds data among other text; `decode` reads truncated JSON."""

from __future__ import annotations

import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from typing import Any

from ..model import grouped
from .decode import SCALARS, NothingParsed, parse_json

_KEY = r"(?:[\w./+-]+(?: [\w./+-]+){0,2}|\"[^\"\n]*\"|'[^'\n]*')"
_LINE = re.compile(rf"\s*+(?:(?:- ++)*{_KEY}:(?: (?!#\w).*)?|-(?: .*)?|#(?!# ).*|[}}\]]?)")
_PAIR = re.compile(rf"\s*+(?:- ++)*+{_KEY}:(?: |$)")
_SECTION = re.compile(r"\[{1,2}([\w.\" /:-]+)\]{1,2}\s*")
_SETTING = re.compile(r"\s*+(?:export )?([\w.-]+)\s*=\s*(.*)")
_COMMENT = re.compile(r"(?:^[#;]+|\s#)\s*(\S.*)")
_PAIRS = re.compile(r"(?m)(?:^[ \t]*(?:export )?|[{,] ?)[\w.\"-]+[ \t]*=")
_FEWEST_PAIRS, _MOST_CHARS = 4, 200_000


def parse_data(text: str) -> Any:
    """The value that a text consists of, in JSON, XML, YAML, or the settings of a configuration file.

    Raises NothingParsed for any other text.

    >>> parse_data('{"a": 1}'), parse_data("[door]\\nwide = 10\\nhigh = 20\\nopen = 1\\n# old\\nname = 'D1'")
    ({'a': 1}, {'door': {'wide': 10, 'high': 20, 'open': 1, 'name': 'D1'}})
    """
    with suppress(NothingParsed):
        return parse_json(text)
    if text.lstrip()[:1] == "<":
        return parse_xml(text)
    with suppress(NothingParsed):
        return parse_yaml(text)
    if len(_PAIRS.findall(text)) < _FEWEST_PAIRS or len(text) > _MOST_CHARS:
        raise NothingParsed
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        return json.loads(json.dumps(tomllib.loads(text, parse_float=str), default=str))
    return _settings(text)


def parse_xml(text: str) -> dict[str, Any]:
    """The mapping of an XML text: of its elements and attributes by their names, elements of the same
    name as a list. Raises NothingParsed for any other text, and for one that declares entities.

    >>> parse_xml('<walls floor="2"><wall>a</wall><wall>b</wall></walls>')
    {'walls': {'floor': '2', 'wall': ['a', 'b']}}
    """
    if "<!ENTITY" in text or len(text) > _MOST_CHARS:
        raise NothingParsed
    try:
        root = ElementTree.fromstring(text.strip())
        return {root.tag: _value_of_element(root)}
    except (ElementTree.ParseError, RecursionError, ValueError):
        raise NothingParsed from None


def _value_of_element(element: ElementTree.Element) -> Any:
    """The value of an element: its text, or a mapping. Raises NothingParsed for text among elements."""
    texts = [element.text, *(child.tail for child in element)]
    text = "".join(filter(None, texts)).strip()
    children = grouped((child.tag, _value_of_element(child)) for child in element)
    if (children or element.attrib) and text:
        raise NothingParsed
    if not (children or element.attrib):
        return text
    items = ((tag, each[0] if len(each) == 1 else each) for tag, each in children.items())
    return {**element.attrib, **dict(items)}


def _settings(text: str) -> dict[str, Any]:
    """The settings of a configuration file, in mappings by section. A dotted key opens a section."""
    settings: dict[str, Any] = {}
    section = settings
    for line in text.split("\n"):
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        if heading := _SECTION.fullmatch(line):
            section = settings.setdefault(heading[1], {})
        setting = _SETTING.fullmatch(line)
        if not (heading or setting) or not isinstance(section, dict):
            raise NothingParsed
        if setting:
            path, value = setting[1].split("."), setting[2].strip()
            is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            inner: Any = section
            for key in path[:-1]:
                inner = inner.setdefault(key, {}) if isinstance(inner, dict) else None
            if not isinstance(inner, dict) or path[-1] in inner:
                raise NothingParsed
            inner[path[-1]] = value[1:-1] if is_quoted else value
    return settings


def parse_yaml(text: str) -> Any:
    """The mapping or list of a text of which all lines are YAML. Scalars are texts.

    Raises NothingParsed for any other text, for fewer than four keys, for a key that comes twice in a
    mapping, and for a list of texts.

    >>> parse_yaml("name: W1\\nsize:\\n  width: 10\\n  height: 2.50\\n  unit: m")
    {'name': 'W1', 'size': {'width': '10', 'height': '2.50', 'unit': 'm'}}
    >>> parse_yaml("doors:\\n- {id: D1, wide: true}\\n- id: D2\\n  tags: [a, b]\\nopen: no\\nnote: none")["doors"][1]
    {'id': 'D2', 'tags': ['a', 'b']}
    >>> parse_yaml("Error: no such file\\nTry again.")
    Traceback (most recent call last):
    bench.text.decode.NothingParsed
    """
    lines = text.split("\n") if len(text) <= _MOST_CHARS else []
    if sum(map(bool, map(_PAIR.match, lines))) < _FEWEST_PAIRS or not all(
        map(_LINE.fullmatch, lines)
    ):
        raise NothingParsed
    import yaml  # slow, and few results are YAML

    try:
        value = _value_of(yaml.compose(text, Loader=yaml.CBaseLoader))
    except (yaml.YAMLError, RecursionError):
        raise NothingParsed from None
    if isinstance(value, list) and not all(isinstance(item, dict) for item in value):
        raise NothingParsed  # a list in prose
    return value


def comments_of(text: str) -> list[tuple[str, str]]:
    """The comments of YAML or settings, each with the line that it is in or above.

    >>> comments_of("# sizes\\na = 1 # m\\nb = 2")
    [('sizes', 'a = 1 # m'), ('m', 'a = 1 # m')]
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return [
        (match[1], below if match.start() == 0 else line)
        for line, below in zip(lines, [*lines[1:], ""], strict=True)
        for match in _COMMENT.finditer(line)
    ]


def _value_of(node: Any) -> Any:
    """The value of a node of PyYAML. Raises NothingParsed for a key that comes twice."""
    if node.id == "mapping":
        pairs = {_value_of(key): _value_of(item) for key, item in node.value if key.id == "scalar"}
        if len(pairs) < len(node.value):
            raise NothingParsed
        return pairs
    if node.id == "sequence":
        return [_value_of(item) for item in node.value]
    return node.value if node.style else SCALARS.get(node.value, node.value)
