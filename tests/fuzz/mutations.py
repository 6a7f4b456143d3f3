"""Mutations of real files: of their bytes, of their text, of the values that they hold. The same seed gives the same mutations."""

from __future__ import annotations

import gzip
import json
import random
import re
from typing import Any

TOKENS = (
    b"[" * 30, b"{" * 30, b"[" * 1200, b'{"a":' * 400, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000",
    b"1e308", b"1e999", b"-0", b"NaN",
    b"9" * 400, b"null", b"true", b'""', b"\r", b"\r\n", b"\n\n\n", b"::error::x",
    b"\x1b[31m", b"\xe2\x80\xae", b"```",
    b"---", b": ", b"\t", b'"', b"'",
    b"- ", b"&a *a", b"!!python/object", b"<output>", b"\\", b"=", b",",
)  # fmt: skip
NUMBERS = (
    b"9" * 400,
    b"9" * 5000,
    b"---58",
    b"-1",
    b"1e400",
    b"\xc2\xb2",
    b"\xd9\xa3",
    b"0x1F",
    b"1_000",
    b"",
    b"00",
    b"1.2.3",
    b"99999999999999999999",
)
"""Texts in the place of a number: too long for an integer or a float, of other scripts, or none at all."""

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 10**30, 10**400, -(10**400), "9" * 5000, "---58", "\u00b2", 1e308,
    -1e308, 5e-324, "", "x", "\ud800", "\x1b]8;;", "a" * 5000, "[" * 600, [], {},
    [[]], [None], {"": None}, {"a": {"b": []}},
    [{"type": "text"}], "2024-13-45T99:99", "{\"a\": ", ["a", 1, None], json.loads("[" * 300 + "]" * 300),
)  # fmt: skip


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A file with one to four mutations; one in twenty compressed, whole or cut."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        data = draw.choice(
            (_cut, _without, _twice, _flipped, _with_token, _of_value, _of_value, _of_value, _line, _number)
        )(data, draw)
    if draw.random() < 0.05:
        packed = gzip.compress(data)
        data = packed if draw.random() < 0.5 else packed[: draw.randrange(len(packed))]
    return data


def _place(data: bytes, draw: random.Random) -> int:
    return draw.randrange(len(data) + 1)


def _cut(data: bytes, draw: random.Random) -> bytes:
    return data[: _place(data, draw)]


def _without(data: bytes, draw: random.Random) -> bytes:
    start = _place(data, draw)
    return data[:start] + data[start + draw.choice((1, 2, 10, 100, 1000)) :]


def _twice(data: bytes, draw: random.Random) -> bytes:
    start = _place(data, draw)
    part = data[start : start + draw.choice((1, 10, 100, 1000))]
    return data[:start] + part * draw.choice((2, 2, 50)) + data[start + len(part) :]


def _flipped(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 3, 30)) if data else 0):
        changed[draw.randrange(len(changed))] = draw.randrange(256)
    return bytes(changed)


def _with_token(data: bytes, draw: random.Random) -> bytes:
    start = _place(data, draw)
    return data[:start] + draw.choice(TOKENS) + data[start + draw.choice((0, 0, 1, 5)) :]


def _number(data: bytes, draw: random.Random) -> bytes:
    """A run of digits replaced."""
    places = [match.span() for match in re.finditer(rb"-?\d+", data)]
    if not places:
        return _with_token(data, draw)
    start, end = draw.choice(places)
    return data[:start] + draw.choice(NUMBERS) + data[end:]


def _line(data: bytes, draw: random.Random) -> bytes:
    """Lines dropped, doubled or exchanged."""
    lines = data.split(b"\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines.insert(one, lines[other])
        case _:
            lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _of_value(data: bytes, draw: random.Random) -> bytes:
    """A value of a JSON file, or of one of its lines, replaced, dropped, doubled or renamed. Other files get a token."""
    try:
        return json.dumps(_changed(json.loads(data), draw)).encode("utf-8", "backslashreplace")
    except (ValueError, RecursionError):
        pass
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = json.dumps(_changed(json.loads(lines[at]), draw)).encode("utf-8", "backslashreplace")
    except (ValueError, RecursionError):
        return _with_token(data, draw)
    return b"\n".join(lines)


def _changed(value: Any, draw: random.Random) -> Any:
    """A value with one place in it changed."""
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        inside = (
            list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
        )
        places += [(node, key) for key, _ in inside]
        waiting += [item for _, item in inside]
    if not places:
        return draw.choice(ODD)
    node, key = draw.choice(places)
    match draw.randrange(6):
        case 0 | 1 | 2:
            node[key] = draw.choice(ODD)
        case 3:
            del node[key]
        case 4 if isinstance(node, dict):
            node[draw.choice(("", "id", "role", "type", "content", f"{key}x", "\ud800"))] = node.pop(key)
        case 4:
            node.insert(key, node[draw.randrange(len(node))])
        case _:
            other, place = draw.choice(places)
            there = place in other if isinstance(other, dict) else place < len(other)
            node[key] = json.loads(json.dumps(other[place])) if there else None
    return value
