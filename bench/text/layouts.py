"""Values in other layouts than JSON or a plain table, read back: YAML, TOML, INI, dotted paths, XML, HTML, CSV with long cells; short keys.

All of a text must fit the layout, and half of its keys must be known: prose is no data.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator
from typing import Any
from xml.etree import ElementTree

import yaml

from ..model import nested
from .decode import NothingParsed, decode_strings, parse_json
from .tables import read_cell

_MOST_CHARS = 200_000
_SECTION = re.compile(r"\[{1,2}([^\[\]\n]+)\]{1,2}")
_ASSIGNED = re.compile(r"""((?:[\w.\-#]|[ ](?=[\w.\-#])|"[^"\n]*"){1,200})[ \t]*=(?!=)[ \t]*(.*)""")
_LEGEND = re.compile(
    r"^[^\w{]*(?:legend|keys|abbreviations|short names|glossary)\b\W*(.*)$", re.IGNORECASE | re.MULTILINE
)
_MEANS = re.compile(r"""["']?([\w.-]{1,60})["']?\s*(?:=|:|→|->)\s*["']?([\w. -]{1,60}?)["']?\s*(?:[,;}|]|$)""")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_layout(text: str, names: Collection[str]) -> Any:
    """The value of a whole text in one of these layouts. Raises NothingParsed for any other text, and where most keys are not among the names.

    >>> read_layout("order:\\n  id: W1\\n  paid: true", {"id", "paid"}), read_layout("[order]\\nid = \\"W1\\"\\nn = 2", {"id", "n"})
    ({'order': {'id': 'W1', 'paid': True}}, {'order': {'id': 'W1', 'n': 2}})
    >>> read_layout("<o><id>W1</id><n>2</n></o>", {"id", "n"}), read_layout("order.id: W1\\norder.n: 2", {"id", "n"})
    ({'o': {'id': 'W1', 'n': 2}}, {'order': {'id': 'W1', 'n': 2}})
    >>> read_layout("order.id: W1\\nn: 2", {"id", "n"})
    {'order': {'id': 'W1'}, 'n': 2}
    """
    if len(text) <= _MOST_CHARS:
        for read in (_assignments, _markup, _long_cells, _split, _yaml):
            try:
                value = read(text.strip())
            except (NothingParsed, yaml.YAMLError, csv.Error, ElementTree.ParseError, RecursionError, ValueError):
                continue
            keys = [key for key in _keys(value) if not key.isdigit()]
            if keys and 2 * sum(key in names for key in keys) >= len(keys):
                return value
    raise NothingParsed


def spelled_out(text: str, names: Collection[str]) -> str:
    """A text with the short keys of its legend written out, where the legend is of known names.

    >>> spelled_out('Legend: a=order_id, b=price\\n{"a": "W1", "b": 7}', {"order_id", "price"})
    '{"order_id": "W1", "price": 7}'
    """
    found = _LEGEND.search(text, 0, 4_000)
    meant = dict(_MEANS.findall(found.group(1))) if found else {}
    if sum(short in names for short in meant) > sum(long in names for long in meant.values()):
        meant = {long: short for short, long in meant.items()}
    if found is None or len(meant) < 2 or 2 * sum(long in names for long in meant.values()) < len(meant):
        return text
    rest = (text[: found.start()] + text[found.end() :]).strip("\n")
    short = "|".join(map(re.escape, sorted(meant, key=len, reverse=True)))
    written, count = re.subn(rf"(?<![\w.-])({short})(?=[\"']?\s*[:=,|\t\n])", lambda match: meant[match.group(1)], rest)
    return written if count else text


def keys_in(value: Any) -> frozenset[str]:
    """Every key of a value, JSON inside strings included; none of a scalar."""
    whole = decode_strings(value) if isinstance(value, dict | list) else None
    return frozenset(str(key) for node in nested(whole) if isinstance(node, dict) for key in node)


def _keys(value: Any) -> Iterator[str]:
    """The keys of a value that lead to scalars."""
    items = value.items() if isinstance(value, dict) else (("", item) for item in value)
    for key, item in items:
        if isinstance(item, dict | list) and item:
            inner = (
                [""]
                if isinstance(item, list) and not any(isinstance(one, dict | list) for one in item)
                else _keys(item)
            )
            yield from ((one or key) for one in inner)
        elif key:
            yield key


def _nested(pairs: Iterator[tuple[list[str], Any]]) -> Any:
    """The value whose leaves stand at these paths."""
    value: dict[str, Any] = {}
    for path, item in pairs:
        into = value
        for key in path[:-1]:
            into = into.setdefault(key, {})
            if not isinstance(into, dict):
                raise NothingParsed
        into[path[-1]] = item
    return value


def _path(text: str) -> list[str]:
    return [part.strip("\"' ") for part in re.findall(r'"[^"]*"|[^.]+', text)]


def _assignments(text: str) -> Any:
    """Lines `key = value`, under headings in brackets or not."""

    def pairs() -> Iterator[tuple[list[str], Any]]:
        section: list[str] = []
        for line in filter(None, map(str.strip, text.split("\n"))):
            heading, pair = _SECTION.fullmatch(line), _ASSIGNED.fullmatch(line)
            if heading:
                section = _path(heading.group(1))
            elif pair:
                yield [*section, *_path(pair.group(1))], _scalar(pair.group(2))
            elif line[0] not in "#;":
                raise NothingParsed

    return _nested(pairs())


def _long_cells(text: str) -> Any:
    """The rows of CSV with cells of many lines."""
    rows = list(csv.reader(text.splitlines(keepends=True))) if '"' in text else []
    if len(rows) < 2 or len(rows[0]) < 2 or len(rows) == text.count("\n") + 1 or len({len(row) for row in rows}) > 1:
        raise NothingParsed
    return [dict(zip(rows[0], map(_scalar, row), strict=True)) for row in rows[1:]]


def _split(text: str) -> Any:
    """The rows of a JSON mapping with the names of the columns in one list and the cells of each row in another."""
    value = parse_json(text)
    lists = [item for item in value.values() if isinstance(item, list) and item] if isinstance(value, dict) else []
    if len(lists) == 2 and all(isinstance(row, list) and len(row) == len(lists[0]) for row in lists[1]):
        return [{str(key): item for key, item in zip(lists[0], row, strict=True)} for row in lists[1]]
    raise NothingParsed


def _scalar(text: str) -> Any:
    try:
        return parse_json(text)
    except NothingParsed:
        return read_cell(text.strip())


def _yaml(text: str) -> Any:
    """A YAML document: scalars as cells are read, a key that comes again begins the next record."""
    if ":" not in text:
        raise NothingParsed
    return _of_node(yaml.compose(text, Loader=_Loader))


def _of_node(node: Any) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_inner(item) for item in node.value]
    if not isinstance(node, yaml.MappingNode):
        raise NothingParsed
    records: list[dict[str, Any]] = [{}]
    for key, item in node.value:
        name = str(key.value)
        if name in records[-1]:
            records.append({})
        records[-1][name] = _inner(item)
    dotted = len(records) == 1 and any("." in key for key in records[0])
    if dotted and all(re.fullmatch(r"[\w#$ -]+(?:\.[\w#$ -]+)*", key) for key in records[0]):
        return _nested((_path(key), item) for key, item in records[0].items())
    return records[0] if len(records) == 1 else records


def _inner(node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return node.value if node.style else read_cell(node.value)
    return _of_node(node)


def _markup(text: str) -> Any:
    """An XML document, or the rows of an HTML table."""
    if text[:1] != "<" or "<!" in text[:2_000]:
        raise NothingParsed
    root = ElementTree.fromstring(text)
    rows = [[cell for cell in row if cell.tag in ("th", "td")] for row in root.iter("tr")]
    if rows:
        head, *body = [["".join(cell.itertext()) for cell in row] for row in rows]
        return [{key: _scalar(item) for key, item in zip(head, row, strict=False)} for row in body]
    return {root.tag: _of_element(root)}


def _of_element(element: ElementTree.Element) -> Any:
    if not len(element) and not element.attrib:
        return read_cell((element.text or "").strip())
    found: dict[str, list[Any]] = {key: [read_cell(item)] for key, item in element.attrib.items()}
    for child in element:
        found.setdefault(child.tag, []).append(_of_element(child))
    return {key: items[0] if len(items) == 1 else items for key, items in found.items()}
