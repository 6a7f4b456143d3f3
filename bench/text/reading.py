"""Structured values read back from a text, whatever layout they are written in.

JSON and Python literals, tables (with their header as strings and lists too), `key: value` lines by
indentation and dotted paths; short names that a legend in the same text explains. Records
matter, not the shape: where a layout leaves it open, every record comes once, with its keys. Linear
in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

from .decode import NothingParsed, containers_in, parse_prefix
from .escapes import unescape_cut
from .tables import find_tables, read_cell

_LEGEND = re.compile(
    r"^\W*(?:legend|keys|key|codes|abbreviations|where)\b\s*:?\s*(.*)$", re.IGNORECASE
)
_SHORT_PAIR = re.compile(r"(\"(?:[A-Za-z]\d{1,3}|[$@%~]\w{1,3})\")\s*:\s*(\"[^\"\\{}]*\")")
_LEGEND_IN_DATA = re.compile(rf"\{{(?:\s*{_SHORT_PAIR.pattern}\s*,?)+\s*\}}")
_HEADING = re.compile(r"\W*\w+(?: \w+)?:\s*")
_SHORT = re.compile(r"[A-Za-z]\d{1,2}|[$%@~][\w/]{1,3}|\[[a-z]{0,8} ?\d{1,3}\]|[^\w\s\x00-\x7f]")
_NAME = r"(?:\[[a-z]{1,8} \d{1,3}\]|\S{1,40}?)"
_MEANS = r"(?:=|->|→|: | means |(?: stands)? for |(?<=\d\]) )"
_MEANING = re.compile(rf"\s*({_NAME})\s*{_MEANS}\s*(.+)", re.DOTALL)
_NOTHING = frozenset({"empty", "no value", "none", "nothing", "null"})
_NEXT_MEANING = re.compile(rf"[,;] (?={_NAME}\s?{_MEANS})")
_PAIR = re.compile(
    r"[\"'`*]*([A-Za-z_#@$][\w .#@$/-]{0,60}?|\d{1,6})[\"'`*]*\s*(?::(?=\s|$)|=(?!=))\s*(.*)"
)
_NEXT_PAIR = re.compile(
    r"[,;]\s++(?=[\"'`*]*[A-Za-z_][\w.-]{0,40}[\"'`*]*\s*[:=])|(?<!\s)\s++(?=[A-Za-z_][\w.-]{0,40}=\S)"
)
_PATH = re.compile(r"((?:[A-Za-z_][\w-]*|\[\d+\])(?:\.[\w /-]++|\[\d+\])+)\s*[:=]\s*(.*)")
_COLUMN = re.compile(r"((?:[A-Za-z_][\w-]*|\[\d+\])(?:\.[\w/-]+|\[\d+\])*)\s+(\S.*)")
"""A path, or a key alone, with its value behind blanks."""

_DASHES = re.compile(r"(?:[-*•]\s+)+")
_NUMBERED = re.compile(r"[ \t]*(\d+)(?:[ \t]?[:|│→\t] ?|  |$)")

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_FOLDED = re.compile(r"\\\n(?![ \t]*\d+[:|→\t])\s*(?:\\(?= ))?")
_RULE = re.compile(r"(?m)^(?=[-=+|: \t]*+$)[^\n]*(?:--|==)[^\n]*$\n?")
"""A line that draws the rule of a table says nothing."""

_FLOW = re.compile(r"(?:^|:\s+|-\s+)[{\[]")
_MOST_DEPTH, _MOST_LINES = 60, 40


def values_of(text: str, names: Iterable[str]) -> tuple[list[Any], str]:
    """The values that a text shows, and the lines of it that are no table and no data.

    `names` are the keys by which the header of a table is recognised.

    >>> names = "id", "status"
    >>> [values_of(text, names)[0] for text in ('{"id": [1, 2], "status": ["a", "b"]}', "a.id = 1")]
    [[[{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]], [{'a': {'id': 1}}]]
    >>> values_of("- id: 1\\n  status: a\\n- id: 2\\n  status: b", names)[0]
    [{'id': 1, 'status': 'a'}, {'id': 2, 'status': 'b'}]
    >>> values_of('Legend: k0=id\\n{"k0": 5}', names)
    ([{'id': 5}], '')
    """
    text = expanded(without_numbers(text))
    columns = set(names)
    values: list[Any] = []
    paths = [line for line in text.split("\n") if line.lstrip()[:1] == "[" and is_path(line)]
    if paths:
        text = "\n".join(line for line in text.split("\n") if line not in set(paths))
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
    values += containers_in(rest)
    values += _pair_values("\n".join([unfolded(rest), *paths]), frozenset(columns))
    return [_plain(value) for value in values], rest


def without_number(line: str) -> str:
    """A line without the number that `cat -n` and readers of files write in front of it; a number
    alone is a line of its own.

    >>> without_number("  12\\tdef main():"), without_number("303  ls: no file"), without_number("12 files")
    ('def main():', 'ls: no file', '12 files')
    >>> without_number("35866")
    '35866'
    """
    match = _NUMBERED.match(line)
    return line[match.end() :] or line if match else line


def without_numbers(text: str) -> str:
    """A text without the line numbers in front of all of its lines; they have words behind them.

    >>> without_numbers("  7: {\\n  8:   }"), without_numbers("7: a\\nb"), without_numbers("35866")
    ('{\\n  }', '7: a\\nb', '35866')
    """
    lines = text.rstrip("\n").split("\n")
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    numbers = [int(match[1][:9]) for match in matches]
    if len(numbers) < len(lines) or any(b - a != 1 for a, b in pairwise(numbers)):
        return text
    rest = "\n".join(line[match.end() :] for line, match in zip(lines, matches, strict=True))
    return rest if rest.strip() else text


@lru_cache(maxsize=256)
def expanded(text: str, known: str = "") -> str:
    """A text with the short names that its first or last lines explain written out, and without
    these lines; a sign that stands for nothing as an empty text.

    A name that stands in a `known` text is none of these.

    >>> expanded('Keys: k0 = id, k1 = status\\n{"k0": 5, "k1": "k0"}')
    '{"id": 5, "status": "id"}'
    >>> expanded("($P stands for /usr/lib)\\n$P/numpy [see1] ✓\\n[see1]: https://a.b\\n(✓ = yes, ✗ = no)")
    '/usr/lib/numpy https://a.b yes'
    >>> expanded('– means empty\\n{"note": –, "tag": –}')
    '{"note": "", "tag": ""}'
    """
    text = _with_meanings_in_data(text, known)
    lines = text.split("\n")
    meanings: dict[str, str] = {}
    for numbers, others in ((range(len(lines)), 2), (range(len(lines) - 1, -1, -1), 0)):
        for number in numbers:
            of_line = _meanings(lines[number])
            used = {
                name: meaning
                for name, meaning in of_line.items()
                if name not in known and text.count(name) > 1
            }
            if used:
                meanings.update(used)
                lines[number], others = "", 0
            elif others:
                others -= 1
            elif lines[number].strip():
                is_heading = numbers.step < 0 and meanings and _HEADING.fullmatch(lines[number])
                lines[number] *= not is_heading
                break
    if not meanings:
        return text
    names = "|".join(map(_as_word, sorted(meanings, key=len, reverse=True)))
    return re.sub(names, lambda match: meanings[match[0]], "\n".join(lines).strip("\n"))


def _with_meanings_in_data(text: str, known: str) -> str:
    """A JSON text with the short strings that a mapping in it explains written out, and that mapping
    empty.

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
    """The pattern of a name where it is no part of a word."""
    before, after = r"(?<!\w)(?<!\w['’])" * name[0].isalnum(), r"(?!\w)" * name[-1].isalnum()
    return before + re.escape(name) + after


def unfolded(text: str) -> str:
    """A text with the lines joined that end in a backslash, as YAML goes on with a quoted text;
    none behind a line number.

    >>> unfolded('a: "one\\\\\\n  \\\\ two"')
    'a: "one two"'
    """
    return _FOLDED.sub("", text)


def is_path(line: str) -> bool:
    """True if a line gives a value behind its dotted path.

    >>> is_path('orders.0.id = "W1"'), is_path("see: main.py")
    (True, False)
    """
    return bool(_PATH.fullmatch(line.strip()))


def _meanings(line: str) -> dict[str, str]:
    """The meanings that a line gives to names: behind a label, or to names that are no words."""
    bare = line.strip()
    bare = bare[1:-1] if bare[:1] == "(" and bare[-1:] == ")" else bare
    label = _LEGEND.match(bare)
    if not label and not _SHORT.match(bare.lstrip()):
        return {}
    meanings: dict[str, str] = {}
    for part in _NEXT_MEANING.split(label[1] if label else bare):
        pair = _MEANING.fullmatch(part)
        if pair is None or not (label or _SHORT.fullmatch(pair[1])):
            return {}
        meaning = pair[2].strip()
        meanings[pair[1]] = '""' if meaning.casefold() in _NOTHING else meaning
    return meanings


def _plain(value: Any, depth: int = 0) -> Any:
    """A value with columns beside each other as rows."""
    if depth > _MOST_DEPTH:
        return value
    if isinstance(value, Mapping):
        values = {key: _plain(item, depth + 1) for key, item in value.items()}
        return _rows_of(values) or values
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def _rows_of(value: dict[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a mapping that holds columns: lists of one length, or a header and lists as long
    as it.
    """
    lists = [item for item in value.values() if isinstance(item, list)]
    flat = [
        item for item in lists if item and not any(isinstance(one, dict | list) for one in item)
    ]
    if len(flat) == len(value) > 1 and len({len(item) for item in flat}) == 1 and len(flat[0]) > 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*flat, strict=True)]
    for header in flat:
        for rows in lists:
            if all(isinstance(row, list) and len(row) == len(header) for row in rows) and rows:
                return [dict(zip(map(str, header), row, strict=True)) for row in rows]
    return []


def _cell(text: str) -> Any:
    for entity, char in _ENTITIES.items():
        text = text.replace(entity, char)
    bare = text.strip().rstrip(",;")
    if bare[:1] in ("{", "["):
        with suppress(NothingParsed):
            value, end = parse_prefix(bare, bare=True)
            if end == len(bare):
                return value
    return read_cell(unescape_cut(bare) if bare[:1] == '"' else bare)


def _pair_values(text: str, names: frozenset[str] = frozenset()) -> list[Any]:
    """The mappings that lines of `key: value` write.

    Deeper lines belong to the key above. A new one begins with a dash, unless each pair has one,
    with a key that comes again, or with a heading (a line `key:` that is none of the `names`, with
    no deeper line below it).
    """
    records: list[dict[str, Any]] = []
    by_path: dict[str, Any] = {}
    stack: list[tuple[int, dict[str, Any]]] = []
    heading = -1  # the indentation of the line above, where that may be a heading
    bullets: list[tuple[int, dict[str, Any]]] = []  # the mappings each pair of which has a dash
    for line in _whole_lines(text):
        bare = line.strip()
        if not bare:
            stack = []
            continue
        if bare in ("-", "*", "•"):
            bullets = []
            continue
        path = _PATH.fullmatch(bare) or (
            (column := _COLUMN.fullmatch(bare)) and _is_column(line, column, names) and column
        )
        if path and not (stack and path[0] == bare and not re.search(r"[.\[]\d", path[1])):
            _put(by_path, re.findall(r"[\w /-]+", path[1].rstrip()), _cell(path[2]))
            continue
        indent = len(line) - len(line.lstrip())
        item = _DASHES.match(bare)
        if item:
            # A list may stand below its key as it is.
            stack = [level for level in stack if level[0] <= indent + 1]
            indent, bare = indent + item.end(), bare[item.end() :]
        pairs = [
            _PAIR.fullmatch(part)
            for part in ([bare] if _FLOW.search(bare) else _NEXT_PAIR.split(bare))
        ]
        if item:
            begun = [level for level in bullets if level[0] == indent]
            one = len(pairs) == 1 and pairs[0]
            if begun and one and one[1].strip() not in begun[0][1]:
                stack.append(begun[0])
            else:
                stack.append((indent, _below(stack, records, "")))
                bullets = [level for level in bullets if level[0] < indent] + stack[-1:] * bool(one)
        elif bullets:
            bullets = [level for level in bullets if level[0] < indent]
        if not all(pairs):
            if item and not any(pairs):
                stack[-1][1][""] = bare.lstrip("#")
            elif not item:
                stack = []
            continue
        stack = [level for level in stack if level[0] <= indent]
        if not stack or stack[-1][0] < indent:
            stack.append((indent, _below(stack, records, "")))
        elif heading == indent:
            stack[-1] = indent, _below(stack[:-1], records, "")
        heading = -1
        for pair in filter(None, pairs):
            key, value = pair[1].strip(), pair[2].strip()
            if key in stack[-1][1]:
                stack[-1] = indent, _below(stack[:-1], records, "")
            if value:
                stack[-1][1][key] = _cell(value)
            elif len(stack) < _MOST_DEPTH:
                stack.append((indent + 1, _below(stack, records, key)))
                heading = indent if key not in names else -1
    return [value for value in [*records, by_path] if value]


def _whole_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, one that opens a bracket behind its key with those up to where it
    closes.
    """
    waiting, open_, joined = "", 0, 0
    for line in text.split("\n"):
        if waiting or _FLOW.search(line.lstrip()):
            waiting = f"{waiting} {line.strip()}" if waiting else line
            open_ += sum(map(line.count, "{[")) - sum(map(line.count, "}]"))
            joined += 1
            if open_ > 0 and joined < _MOST_LINES:
                continue
            line, waiting, open_, joined = waiting, "", 0, 0
        yield line
    if waiting:
        yield waiting


def _is_column(line: str, column: re.Match[str], names: frozenset[str]) -> bool:
    """True if a line has one of the `names` and its value in columns: a path of them, or two blanks
    between.
    """
    parts = re.findall(r"[\w /-]+", column[1])
    return parts[-1] in names and (len(parts) > 1 or line.startswith(column[1] + "  "))


def _below(
    stack: list[tuple[int, dict[str, Any]]], records: list[dict[str, Any]], key: str
) -> dict[str, Any]:
    """A new mapping in the innermost open one, or beside all."""
    new: dict[str, Any] = {}
    if stack:
        stack[-1][1].setdefault(f"{key}[]", []).append(new)
    else:
        records.append(new)
    return new


def _put(node: dict[str, Any], parts: list[str], value: Any) -> None:
    for part in parts[:-1][:_MOST_DEPTH]:
        inner = node.setdefault(part, {})
        if not isinstance(inner, dict):
            return
        node = inner
    node[parts[-1]] = value
