"""YAML in a text, as data."""

from __future__ import annotations

import re
from typing import Any

from .decode import NothingParsed

_KEY = r"(?:[\w./-]+(?: [\w./-]+){0,2}|\"[^\"\n]*\"|'[^'\n]*')"
_LINE = re.compile(rf"\s*+(?:(?:- ++)*{_KEY}:(?: .*)?|-(?: .*)?|#.*|[}}\]]?)")
_PAIR = re.compile(rf"\s*+(?:- ++)*+{_KEY}:(?: |$)")
_FEWEST_PAIRS, _MOST_CHARS = 4, 200_000


def parse_yaml(text: str) -> Any:
    """The mapping or list that a text consists of if all of its lines are YAML; scalars as texts.

    Raises NothingParsed for any other text, for fewer than four keys with values, and for equal
    keys in one mapping.

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
        node = yaml.compose(text, Loader=yaml.CBaseLoader)
        return _value(node)
    except (yaml.YAMLError, RecursionError):
        raise NothingParsed from None


def _value(node: Any) -> Any:
    if node.id == "mapping":
        pairs = {_value(key): _value(item) for key, item in node.value if key.id == "scalar"}
        if len(pairs) < len(node.value):
            raise NothingParsed
        return pairs
    if node.id == "sequence":
        return [_value(item) for item in node.value]
    return None if node.value in ("null", "~") and node.style is None else node.value
