"""Reading of structured values from a text in any layout.

Read are JSON and Python literals, tables (also with the header as strings and lists), and short
names that a legend in the text explains. Only records matter, not the shape of the value: every
record comes once, with its keys. Linear in the text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any

from ..model import nested
from .containers import without_containers
from .decode import NothingParsed, parse_prefix
from .escapes import unescape
from .line_notes import without_marks
from .tables import find_tables

_LEGEND = re.compile(
    r"^\W*(?:legend|keys|key|codes|columns|abbreviations|where)\b\s*:?\s*(.*)$", re.IGNORECASE
)
_SHORT_PAIR = re.compile(r"(\"(?:[A-Za-z]\d{1,3}|[$@%~]\w{1,3})\")\s*:\s*(\"[^\"\\{}]*\")")
_LEGEND_IN_DATA = re.compile(rf"\{{(?:\s*{_SHORT_PAIR.pattern}\s*,?)+\s*\}}")
_HEADING = re.compile(r"\W*\w+(?: \w+)?:\s*")
_SHORT = re.compile(r"[A-Za-z]\d{1,2}|[$%@~][\w/]{1,3}|\[[a-z]{0,8} ?\d{1,3}\]|[^\w\s\x00-\x7f]")
_NAME = r"(?:\[[a-z]{1,8} \d{1,3}\]|\[.\]|\S{1,40}?)"
_MEANS = r"(?:=|->|→|: | means |(?: stands)? for |(?<=\d\]) )"
_IS = re.compile(r"(?<=\w) (?:is|are) (?=[\w/])")
_SIGNS = frozenset("$@%~")
"""Signs at the beginning of names that are not words."""

_MEANING = re.compile(rf"\s*(?P<name>{_NAME})\s*{_MEANS}\s*(?P<meaning>.+)", re.DOTALL)
_NOTHING = frozenset({"empty", "no value", "none", "nothing", "null"})
_NEW_NAME = re.compile(
    rf"(?:\W*\w+(?: \w+)?:\s*)?(?P<names>(?:[A-Za-z]{{1,4}}\d{{0,3}}|\[.\])\s?{_MEANS})"
)
"""Matches an optional heading, then a name whose meaning is in a known text."""

_NUMBER_ALONE = re.compile(r"\[\d+\]")
_NEXT_MEANING = re.compile(rf"[,;] (?={_NAME}\s?{_MEANS})")
_PATH = re.compile(r"((?:[A-Za-z_][\w-]*|\[\d+\])(?:\.[\w /-]++|\[\d+\])+)\s*[:=]\s*(.*)")

_FOLDED = re.compile(r"\\\n(?![ \t]*\d+[:|→\t])\s*(?:\\(?= ))?")
_RULE = re.compile(r"(?m)^(?=[-=+|: \t]*+$)[^\n]*(?:--|==)[^\n]*$\n?")
"""Matches a line that only draws the rule of a table."""

_WORD = re.compile(r"\w+")
_MOST_DEPTH = 60
_MOST_LINES = 9
"""Within this many lines at either end a legend needs no label."""


def values_of(text: str, names: Iterable[str]) -> tuple[list[Any], str]:
    """The values in a text, and its lines that are neither table nor data.

    `names` are the keys by which the header of a table is recognised.

    >>> names = "id", "status"
    >>> values_of('{"id": [1, 2], "status": ["a", "b"]}', names)
    ([[{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]], '')
    >>> values_of("all:\\nid|status\\n1|a", names)
    ([[{'id': 1, 'status': 'a'}]], 'all:')
    >>> values_of('Legend: k0=id\\n{"k0": 5}', names)
    ([{'id': 5}], '')
    """
    text = expanded(without_marks(text))
    columns = set(names)
    values: list[Any] = []
    rest = text
    if text.lstrip()[:1] in ("{", "["):
        # The latter for lines that were wrapped.
        ways = dict.fromkeys((text, text.replace("\n", " ")))
        for way, bare in product(ways, (False, True)):
            with suppress(NothingParsed):
                value, end = parse_prefix(way, bare=bare)
                if len(text) - end < len(rest):
                    values, rest = [value], text[end:]
            if not rest.strip():
                break
    rows, rest = find_tables(_RULE.sub("", rest), columns)
    values += [rows] if rows else []
    data, _ = without_containers(rest)
    return [_plain(value) for value in [*values, *data]], rest


@lru_cache(maxsize=256)
def expanded(text: str, known: str = "") -> str:
    """A text with its short names replaced by their meanings, and without the lines that explain
    them (legends); a sign for nothing becomes an empty text.

    Names in a `known` text stay; a legend whose meaning is in that text needs no label.

    >>> expanded('Keys: k0 = id, k1 = status\\n{"k0": 5, "k1": "k0"}')
    '{"id": 5, "status": "id"}'
    >>> expanded("($P stands for /usr/lib)\\n$P/numpy [see1] ✓\\n[see1]: https://a.b\\n(✓ = yes, ✗ = no)")
    '/usr/lib/numpy https://a.b yes'
    >>> expanded('– means empty\\n{"note": –, "tag": –}')
    '{"note": "", "tag": ""}'
    >>> expanded("Columns: a = id, b = level\\na|b\\n1|2", "id level"), expanded("PY = lib\\nPY/a", "lib/a")
    ('id|level\\n1|2', 'lib/a')
    >>> expanded("D=/usr/lib\\n$D/a", "/usr/lib/a"), expanded("[~D/ stands for /usr/lib/]\\n~D/a", "/usr/lib/a")
    ('/usr/lib/a', '/usr/lib/a')
    """
    known = _unescaped(known)
    if text[:1] == "{" and "\\n" in text:
        return _expanded_within(text, known)
    text = _with_meanings_in_data(text, known)
    lines = text.split("\n")
    legends = _legends(lines, known)
    if not legends:
        return text
    first = min(legends)
    is_last = _uses(legends[first], lines[:first])
    for number, meanings in legends.items():
        scope = [at for at in _scope(number, legends, len(lines), is_last) if at not in legends]
        if not _uses(meanings, [lines[at] for at in scope]):
            continue
        for at in scope:
            lines[at] = _written_out(lines[at], meanings)
        lines[number] = ""
    while lines and not lines[-1].strip():
        lines.pop()
    if lines and max(legends) >= len(lines) and _HEADING.fullmatch(lines[-1]):
        lines.pop()  # above a legend at the end
    return "\n".join(lines).strip("\n")


def _expanded_within(text: str, known: str) -> str:
    """JSON with the short names in each of its longer texts replaced, else as it is."""
    with suppress(ValueError, RecursionError):  # no JSON, or nested too deeply
        value = json.loads(text)
        texts = [item for item in nested(value) if isinstance(item, str) and "\n" in item]
        if changed := {item: new for item in texts if (new := expanded(item, known)) != item}:
            return json.dumps(_replaced(value, changed), ensure_ascii=False)
    return text


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    """A value with some of its texts replaced by others."""
    if isinstance(value, dict):
        return {key: _replaced(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, texts) for item in value]
    return texts.get(value, value) if isinstance(value, str) else value


_unescaped = lru_cache(maxsize=64)(unescape)
"""The unescaped text, cached for a text that many others are compared with."""


def _written_out(line: str, meanings: Mapping[str, str]) -> str:
    """A line with names replaced by their meanings."""
    names = "|".join(map(_as_word, sorted(meanings, key=len, reverse=True)))
    return re.sub(names, lambda match: meanings[match[0]], line)


def _legends(lines: Sequence[str], known: str) -> dict[int, dict[str, str]]:
    """The meanings of names in legends, by line number. A legend in the middle of a text needs a
    label; a number that several lines have in front is no name.
    """
    outer = {*range(_MOST_LINES), *range(len(lines) - _MOST_LINES, len(lines))}
    candidates = (at for at, line in enumerate(lines) if at in outer or _LEGEND.match(line))
    legends = {at: meanings for at in candidates if (meanings := _meanings(lines[at], known))}
    for at, meanings in legends.items():
        legends[at] = {_as_used(name, lines): meaning for name, meaning in meanings.items()}
    counts = Counter(name for meanings in legends.values() for name in meanings)
    return {
        at: meanings
        for at, meanings in legends.items()
        if not any(counts[name] > 1 and _NUMBER_ALONE.fullmatch(name) for name in meanings)
    }


def _as_used(name: str, lines: Iterable[str]) -> str:
    """A name as some lines write it: with a dollar in front, like a variable of a shell, or as it
    is."""
    variable = f"${name}"
    return variable if any(variable in line for line in lines) else name


def _scope(
    number: int, legends: Mapping[int, Mapping[str, str]], size: int, is_last: bool
) -> Iterable[int]:
    """The lines for which a legend applies: all, or those up to the next legend that gives its
    names other meanings; with `is_last` the lines above it.
    """
    names = legends[number].keys()
    others = [at for at in legends if at != number and legends[at].keys() & names]
    if not others:
        return range(size)
    if is_last:
        return range(max((at + 1 for at in others if at < number), default=0), number)
    return range(number + 1, min((at for at in others if at > number), default=size))


def _uses(names: Iterable[str], lines: Iterable[str]) -> bool:
    """True if one of some names is in a line."""
    pattern = re.compile("|".join(map(_as_word, names)))
    return any(map(pattern.search, lines))


def _with_meanings_in_data(text: str, known: str) -> str:
    """A JSON text with its short strings replaced by the meanings in one of its mappings, which
    becomes empty.

    >>> _with_meanings_in_data('{"values": {"v0": "sent"}, "rows": [{"status": "v0"}]}', "")
    '{"values": {}, "rows": [{"status": "sent"}]}'
    """
    for legend in _LEGEND_IN_DATA.finditer(text) if text.lstrip()[:1] in ("{", "[") else ():
        meanings = dict(_SHORT_PAIR.findall(legend[0]))
        if all(name not in known and text.count(name) > 1 for name in meanings):
            text = f"{text[: legend.start()]}{{}}{text[legend.end() :]}"
            for name, meaning in meanings.items():
                text = text.replace(name, meaning)
            break
    return text


def _as_word(name: str) -> str:
    """The pattern for a name that is not part of a word."""
    before, after = r"(?<!\w)(?<!\w['’])" * name[0].isalnum(), r"(?!\w)" * name[-1].isalnum()
    return before + re.escape(name) + after


def unfolded(text: str) -> str:
    """A text with its YAML-style continuations joined: a line that ends in a backslash and the next.
    Lines that begin with a line number stay.

    >>> unfolded('a: "one\\\\\\n  \\\\ two"')
    'a: "one two"'
    """
    return _FOLDED.sub("", text)


def is_path(line: str) -> bool:
    """True if a line has a dotted path and its value.

    >>> is_path('orders.0.id = "W1"'), is_path("see: main.py")
    (True, False)
    """
    return bool(_PATH.fullmatch(line.strip()))


def _meanings(line: str, known: str) -> dict[str, str]:
    """The meanings in a legend for names that a known text does not have. It is recognised by a
    label, by names that are not words, or by meanings with words of that text.
    """
    bare = line.strip()
    bare = bare[1:-1] if bare[:1] + bare[-1:] in ("()", "[]") else bare
    label = _LEGEND.match(bare)
    heading = _HEADING.match(bare)
    if label:
        bare = label[1]
    elif heading and _SHORT.match(bare, heading.end()):
        bare = bare[heading.end() :]
    elif not _SHORT.match(bare.lstrip()):
        named = _NEW_NAME.match(bare) if known else None
        if named is None:
            return {}
        bare = bare[named.start("names") :]
    meanings: dict[str, str] = {}
    for part in _NEXT_MEANING.split(_IS.sub(" = ", bare) if label or bare[:1] in _SIGNS else bare):
        match = _MEANING.fullmatch(part)
        if match is None or re.search(_as_word(match["name"]), known):
            return {}
        name, meaning = match["name"], match["meaning"].strip()
        if not (label or _SHORT.fullmatch(name) or _has_words(known, meaning)):
            return {}
        meanings[name] = '""' if meaning.casefold() in _NOTHING else meaning
    return meanings


def _has_words(text: str, words: str) -> bool:
    """True if a text has all of some words, and there is at least one."""
    found = _WORD.findall(words.casefold())
    return bool(found) and set(found) <= set(_WORD.findall(text.casefold()))


def _plain(value: Any, depth: int = 0) -> Any:
    """A value with columns converted to rows."""
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, Mapping):
        values = {key: _plain(item, depth + 1) for key, item in value.items()}
        return _rows_of(values) or values
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _rows_of(value: dict[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a mapping with columns: lists of one length, or a header and lists as long as it."""
    lists = [item for item in value.values() if isinstance(item, list)]
    flat = [
        item for item in lists if item and not any(isinstance(one, dict | list) for one in item)
    ]
    sizes = {len(item) for item in lists}
    if len(lists) == len(value) and len(flat) > 1 and len(sizes) == 1 and len(flat[0]) > 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]
    for header in flat:
        for rows in lists:
            if all(isinstance(row, list) and len(row) == len(header) for row in rows) and rows:
                return [dict(zip(map(str, header), row, strict=True)) for row in rows]
    return []
