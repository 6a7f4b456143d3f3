"""The cells of a table's line between separators, such as commas or bars, for `tables`."""

from __future__ import annotations

import json
import re
from contextlib import suppress

SEPARATORS = "|", "\t", ";", ","
"""The signs between cells."""

_BAR = re.compile(r"(?<!\\)\|")
_QUOTED = {
    sign: re.compile(rf' *"((?:[^"]|"")*)(?:" *(?={re.escape(sign)}|$)|$)') for sign in SEPARATORS
}
"""Match a quoted cell up to each separator; at the end of a line the last mark may be missing."""

_QUOTED_CELL = re.compile(  # begins with the mark, so that all other signs are passed quickly
    r"""(?m)"(?:(?<=[,;\t]")(?:[^"]|"")*+"(?=[,;\t]|$)|(?<=^")(?:[^"]|"")*+"(?=[,;\t]))"""
)
"""Matches a quoted cell beside a separator, which may have several lines."""

_OTHER_BARS = "│┃║"
_BETWEEN_CELLS = re.compile(r"</t[dh]>\s*<t[dh]\b[^>]*>")
_ROW_TAGS = re.compile(r"(?:\s*</?t(?:able|head|body|[rdh])\b[^>]*>)+\s*")
_TOON = re.compile(r"(?m)^(\s*[\w.\"-]*\[\d+\])\{([^{}\n]+)\}:[ \t]*$")

_BREAK = "\u2028"
_JSON = json.JSONDecoder()


def with_separators(text: str) -> str:
    """A text with separators between the cells of its HTML tables, and with the header of a TOON
    table in a line of its own.

    >>> with_separators("<table><tr><th>id</th><th>n</th></tr> <tr><td>W1</td><td>2</td></tr></table>")
    '\\nid\\tn\\nW1\\t2\\n'
    >>> with_separators("rows[1]{id,n}:\\n  W1,2")
    'rows[1]:\\nid,n\\n  W1,2'
    """
    for bar in _OTHER_BARS:
        text = text.replace(bar, "|")
    text = without_breaks(text)
    if "</td>" in text:
        text = _ROW_TAGS.sub("\n", _BETWEEN_CELLS.sub("\t", text))
    return _TOON.sub(r"\1:\n\2", text) if "]{" in text else text


def without_breaks(text: str) -> str:
    """A text with each row of a table in one line: the line breaks in quoted cells are another
    character until `with_breaks` restores them.

    >>> with_breaks(without_breaks('id,n\\n1,"a\\nb"\\n2,c')) == 'id,n\\n1,"a\\nb"\\n2,c'
    True
    >>> [cells_of(line, ",") for line in without_breaks('id,n\\n1,"a\\nb"').split("\\n")]
    [['id', 'n'], ['1', 'a\\nb']]
    """
    if '"' not in text:
        return text
    return _QUOTED_CELL.sub(lambda cell: cell[0].replace("\n", _BREAK), text)


def with_breaks(text: str) -> str:
    """A text with the line breaks of its cells, which `without_breaks` replaced."""
    return text.replace(_BREAK, "\n")


def cells_of(line: str, sign: str) -> list[str]:
    """The cells of a line between separators, without quotation marks. A cell of JSON may contain
    the separator.

    >>> cells_of('"say ""yes"", then",2,"x', ","), cells_of('mug,{"size":"S","lid":[1,2]},3', ",")
    (['say "yes", then', '2', 'x'], ['mug', '{"size":"S","lid":[1,2]}', '3'])
    >>> cells_of(',"a",', ","), cells_of(r"a \\| b | ", "|")
    (['', 'a', ''], ['a | b', ''])
    """
    if sign == "|":
        return [_unquoted(cell.strip().replace("\\|", "|")) for cell in _BAR.split(line)]
    if '"' not in line:
        return [_unquoted(cell.strip()) for cell in line.split(sign)]
    cells, start = [], 0
    while start <= len(line):
        if quoted := _QUOTED[sign].match(line, start):
            end = quoted.end()
            cells.append(with_breaks(quoted[1].replace('""', '"')))
        else:
            end = line.find(sign, _end_of_container(line, start))
            end = len(line) if end < 0 else end
            cells.append(_unquoted(line[start:end].strip()))
        start = end + 1
    return cells


def framed_cells(line: str, sign: str) -> list[str]:
    """The cells of a line that begins or ends with a separator: `| a | b |`."""
    cells = cells_of(line.strip(), sign)
    first = 0 if cells[0] else 1
    last = len(cells) - 1 if len(cells) > 1 and not cells[-1] else len(cells)
    return cells[first:last]


def _end_of_container(line: str, start: int) -> int:
    """The end of the JSON container at a place of a line; without one the place itself."""
    start += len(line[start:]) - len(line[start:].lstrip(" "))
    if line[start : start + 1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _JSON.raw_decode(line, start)[1]
    return start


def _unquoted(cell: str) -> str:
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1] if is_quoted else cell
