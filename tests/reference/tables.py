"""What a text gives when it is read back: JSON, literals, and tables written in five ways, every line tried as the header of one."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

from .leaves import taken_apart
from .reading import WORDS, Nothing, beginning, colon_of, container, is_word, unescaped, whole

Names = dict[str, tuple[str, ...]]
LEFT_OUT = ("...", "..", "…")


def names_of(data: Any) -> Names:
    """The columns by which a table of this value is known: every path, joined by dots, and every last key."""
    rows, others = taken_apart(data)
    paths = [path for leaves in (*rows, others) for path, _ in leaves if path]
    found = {".".join(path): path for path in reversed(paths)}
    for path in paths:
        found.setdefault(path[-1], path)
    return found


def read(text: str, names: Names) -> tuple[list[Any], str] | None:
    """The values that a text holds, and the lines beside them; None where nothing can be read."""
    if text.lstrip().startswith(('"', "'")) and text.lstrip()[1:].lstrip().startswith(("{", "[")):
        text = unescaped(text.strip()[1:])
    if text.lstrip()[:1] in ("{", "["):
        with contextlib.suppress(Nothing):
            return [whole(text)], ""
        with contextlib.suppress(Nothing):
            value, end = beginning(text)
            return [value, *_among(text[end:], names)[0]], ""
    values, rest = _among(text, names)
    return (values, rest) if values else None


def _among(text: str, names: Names) -> tuple[list[Any], str]:
    """The tables of a text, then each container that begins a line, and each mapping, of the lines beside them."""
    rows, rest = find(text, names)
    values, at = [rows] if rows else [], 0
    while at < len(rest):
        opens = rest[at] == "[" or (rest[at] == "{" and colon_of(rest, at) is None)
        first = not rest[rest.rfind("\n", 0, at) + 1 : at].strip(" \t")
        if rest[at] not in "[{" or (opens and not first):
            at += 1
            continue
        value, end, cut = container(rest, at, 0)
        half = all(char in "-+." or is_word(char) for char in rest[end:])
        if value and (not cut or half or isinstance(value, dict)):
            values = [*values, value]
        at = max(end, at + 1)
    return values, rest


# ---------------------------------------------------------------- tables of others


def find(text: str, names: Names) -> tuple[list[dict[str, Any]], str]:
    """The rows of every table of a text, and the lines that belong to none."""
    lines, rows, rest = text.split("\n"), [], []  # type: ignore[var-annotated]
    wrapped: list[dict[str, Any]] = []  # rows that go on below a blank line with more columns
    at = 0
    while at < len(lines):
        found, height = _table(lines[at:], names)
        if not height:
            if lines[at].strip():
                wrapped = []
            rest.append(lines[at])
            at += 1
            continue
        if wrapped and len(wrapped) == len(found):
            for row, more in zip(wrapped, found, strict=True):
                row.update(more)
        elif not wrapped and not found:
            pass
        else:
            rows += found
            wrapped = found
        wrapped = wrapped if lines[at].rstrip().endswith("\\") else []
        at += height
    return rows, "\n".join(rest)


def _table(lines: list[str], names: Names) -> tuple[list[dict[str, Any]], int]:
    """The table that a text opens with: rows, and how many lines it takes; 0 lines for none."""
    header = lines[0]
    if not header.strip() or not [name for name in names if name in header]:
        return [], 0
    toon = TOON.fullmatch(header.strip())
    if toon:
        return _below(
            lines, _split(toon[1], ","), names, lambda line: _split(line.strip(), ",") if line.startswith(" ") else None
        )
    if "|" in header:
        return _below(lines, _bars(header), names, lambda line: _bars(line) if "|" in line else None)
    for mark in "\t;,":
        if mark in header and _known(_split(header, mark), names):
            return _below(lines, _split(header, mark), names, lambda line, mark=mark: _split(line, mark))  # type: ignore[misc]
    return _aligned(lines, names)


def _known(columns: list[str], names: Names) -> bool:
    named = [column for column in columns if column]
    repeated = [column for column in named if named.count(column) > 1]
    return 0 < len(named) <= 200 and not repeated and sum(column in names for column in named) >= len(named) / 2


def _below(
    lines: list[str], columns: list[str], names: Names, read_row: Callable[[str], list[str] | None]
) -> tuple[list[dict[str, Any]], int]:
    columns = [column.strip().strip("\"'") for column in columns]
    rows: list[dict[str, Any]] = []
    height, any_row = 1, False
    for line in lines[1:] if _known(columns, names) else []:
        bare = line.rstrip("\r")
        if not RULE.fullmatch(bare):
            cells = read_row(bare) if bare.strip() else None
            if cells is None or len(cells) > len(columns):
                break
            if len(cells) < len(columns) and (len(cells) == 1 or height + 1 < len(lines)):
                break  # only the very last line may be cut short
            rows.append(_row(columns, cells, names))
            any_row = True
        height += 1
    return ([row for row in rows if row], height) if any_row else ([], 0)


RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
TOON = re.compile(r'[\w."-]*\[\d+\]\{([^{}]+)\}:')


def _row(columns: list[str], cells: list[str], names: Names) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=False):
        text = cell.strip()
        if text == "" or text in LEFT_OUT or (column == "" and text.isdigit()):
            continue
        into: dict[str, Any] = row
        path = names.get(column, (column,))
        for key in path[:-1]:
            if not isinstance(into.setdefault(key, {}), dict):
                into = {}
                continue
            into = into[key]
        into[path[-1]] = _cell(text)
    return row


def _cell(text: str) -> Any:
    if text in WORDS:
        return WORDS[text]
    if NUMBER.fullmatch(text):
        return json.loads(text) if len(text) < 300 else text
    quoted = len(text) > 1 and text[0] in "\"'" and text[0] == text[-1]
    return text[1:-1] if quoted else text


def _split(line: str, mark: str) -> list[str]:
    """The cells of a line of CSV, those in quotes with their quotes and without what doubles them."""
    cells, at = [], 0
    while True:
        quoted = line[at : at + 1] == '"'
        inner, end = "", at
        if quoted:
            end = at + 1
            while end < len(line) and not (line[end] == '"' and line[end + 1 : end + 2] != '"'):
                inner += line[end]
                end += 2 if line[end] == '"' else 1
        stop = line.find(mark, end)
        stop = len(line) if stop < 0 else stop
        cells.append(f'"{inner}"' if quoted else line[at:stop])
        if stop == len(line):
            return cells
        at = stop + 1


def _bars(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    cells = re.split(r"(?<!\\)\|", inner if inner.endswith("\\|") else inner.removesuffix("|"))
    return [cell.replace("\\|", "|").strip() for cell in cells]


# ---------------------------------------------------------------- aligned columns


def _aligned(lines: list[str], names: Names) -> tuple[list[dict[str, Any]], int]:
    """A table whose columns are kept apart by places that are blank in every line: two of them, or one where that fits better."""
    best: tuple[list[dict[str, Any]], int] = ([], 0)
    for gap in (2, 1):
        named = re.split(rf"\s{{{gap},}}", lines[0].strip())
        if not _known(named, names):
            continue
        spans, height = _fitting(lines, gap, len(named))
        first = [_within(line, spans[0]) for line in lines[:height]]
        numbered = first[0] == "" and all(cell.isdigit() or cell in LEFT_OUT for cell in first[1:])
        if gap == 1 and len(spans) > len(named) and not numbered:
            spans = [(spans[0][0], spans[1][1]), *spans[2:]]
        if height < 2 or len(spans) > len(named) + 1 or (best[1] and height <= best[1] and not numbered):
            continue
        columns, *body = [[_within(line, span) for span in spans] for line in lines[:height]]
        if [column for column in columns if column] != named or not all(columns[1:]):
            continue
        if columns[0] == "" and body[0][0] in names and not any(body[0][1:]):
            columns, body = (
                [body[0][0], *columns[1:]],
                body[1:],
            )  # the index has a name of its own, on a line of its own
        rows = [_row(columns, cells, names) for cells in body]
        best = [row for row in rows if row], height
    return best


def _filled(line: str) -> set[int]:
    return {place for place, char in enumerate(line.expandtabs()) if not char.isspace()}


def _spans(places: set[int], gap: int) -> list[tuple[int, int]]:
    starts = [place for place in sorted(places) if not any(place - back in places for back in range(1, gap + 1))]
    return list(zip(starts, [*starts[1:], 10**9], strict=True))


def _fitting(lines: list[str], gap: int, named: int) -> tuple[list[tuple[int, int]], int]:
    """The columns, and how many lines they hold for: as long as each name has one of its own."""
    header = _filled(lines[0])
    together, height = header, 1
    for line in lines[1:]:
        with_it = together if all(word in LEFT_OUT for word in line.split()) else together | _filled(line)
        under = [span for span in _spans(with_it, gap) if any(span[0] <= place < span[1] for place in header)]
        if not line.strip() or len(under) < named:
            break
        together, height = with_it, height + 1
    return _spans(together, gap), height


def _within(line: str, span: tuple[int, int]) -> str:
    return line.expandtabs()[span[0] : span[1]].strip()
