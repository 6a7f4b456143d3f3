"""The cells of a line of a table, between signs."""

from __future__ import annotations

import json
import re
from contextlib import suppress

SIGNS = "|", "\t", ";", ","
"""The signs between cells."""

_BAR = re.compile(r"(?<!\\)\|")
_QUOTED = {
    sign: re.compile(rf' *"((?:[^"]|"")*)(?:" *(?={re.escape(sign)}|$)|$)') for sign in SIGNS
}
"""Matches a cell in quotation marks, of which the last one may be missing at the end."""

_LINES = re.compile(r"""(?m)(?<=[,;\t])"(?:[^"]|"")*+"(?=[,;\t]|$)|^"(?:[^"]|"")*+"(?=[,;\t])""")
"""Matches a cell in quotation marks with a sign beside it, which may have several lines."""

_BREAK = "\u2028"
_JSON = json.JSONDecoder()


def without_breaks(text: str) -> str:
    """A text with each row of a table in one line, also where a cell has several.

    >>> with_breaks(without_breaks('id,n\\n1,"a\\nb"\\n2,c')) == 'id,n\\n1,"a\\nb"\\n2,c'
    True
    >>> [cells_of(line, ",") for line in without_breaks('id,n\\n1,"a\\nb"').split("\\n")]
    [['id', 'n'], ['1', 'a\\nb']]
    """
    if '"' not in text:
        return text
    return _LINES.sub(lambda cell: cell[0].replace("\n", _BREAK), text)


def with_breaks(text: str) -> str:
    """A text with its cells as they were."""
    return text.replace(_BREAK, "\n")


def cells_of(line: str, sign: str) -> list[str]:
    """The cells of a line, without quotation marks around them; JSON needs none.

    >>> cells_of('"say ""yes"", then",2,"x', ","), cells_of('mug,{"size":"S","lid":[1,2]},3', ",")
    (['say "yes", then', '2', 'x'], ['mug', '{"size":"S","lid":[1,2]}', '3'])
    >>> cells_of(',"a",', ","), cells_of(r"a \\| b | ", "|")
    (['', 'a', ''], ['a | b', ''])
    """
    if sign == "|":
        return [_bare(cell.strip().replace("\\|", "|")) for cell in _BAR.split(line)]
    if '"' not in line:
        return [_bare(cell.strip()) for cell in line.split(sign)]
    cells, at = [], 0
    while at <= len(line):
        if quoted := _QUOTED[sign].match(line, at):
            end = quoted.end()
            cells.append(with_breaks(quoted[1].replace('""', '"')))
        else:
            end = line.find(sign, _end_of_container(line, at))
            end = len(line) if end < 0 else end
            cells.append(_bare(line[at:end].strip()))
        at = end + 1
    return cells


def framed_cells(line: str, sign: str) -> list[str]:
    """The cells of a line with signs around it, some perhaps missing."""
    cells = cells_of(line.strip(), sign)
    first = 0 if cells[0] else 1
    last = len(cells) - 1 if len(cells) > 1 and not cells[-1] else len(cells)
    return cells[first:last]


def _end_of_container(line: str, at: int) -> int:
    """The end of the JSON container that begins at a place; the place itself without one."""
    at += len(line[at:]) - len(line[at:].lstrip(" "))
    if line[at : at + 1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return _JSON.raw_decode(line, at)[1]
    return at


def _bare(cell: str) -> str:
    """A cell without quotation marks around it."""
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "\"'"
    return cell[1:-1] if is_quoted else cell
