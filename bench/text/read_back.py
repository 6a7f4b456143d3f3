"""What a text gives when it is read back: JSON, a Python literal or tables, as far as they go; and how much of some leaves texts hold."""

from __future__ import annotations

from collections.abc import Iterable

from . import lossless
from .decode import NothingParsed, parse_json, parse_prefix
from .leaves import Leaves, Match, flatten, match, together
from .tables import Names, find_tables


def names_of(leaves: Leaves) -> Names:
    """The column names by which a table of these leaves is recognised: the keys of rows, joined by dots where they are nested, and of others.

    >>> names_of(flatten([{"id": 1, "size": {"x": 2}}]))
    {'id': ('id',), 'size.x': ('size', 'x'), 'x': ('size', 'x')}
    """
    paths = dict.fromkeys(path for path, _ in leaves if path)
    found = {".".join(path): path for path in paths}
    for path in paths:
        found.setdefault(path[-1], path)
    return found


def read_held(text: str, names: Names) -> Leaves | None:
    """What a text gives when it is read back; None where nothing can be read.

    >>> names = names_of(flatten([{"id": 1}]))
    >>> read_held("id,level\\n7,L 1\\ndone", names)
    Leaves(rows=[[(('id',), (<class 'int'>, 7)), (('level',), (<class 'str'>, 'L 1'))]], others=[])
    >>> read_held("nothing here", names) is None
    True
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return flatten(parse_json(text))
        except NothingParsed:
            pass
        if "@table" in text:
            try:
                return flatten(lossless.read_tables(text))
            except NothingParsed:
                pass
        try:
            value, end = parse_prefix(text)
        except NothingParsed:
            pass
        else:
            rows = find_tables(text[end:], names)[0]
            return together([flatten(value), flatten(rows)]) if rows else flatten(value)
    rows = find_tables(text, names)[0]
    return flatten(rows) if rows else None


def match_read(leaves: Leaves, shown: Iterable[str]) -> tuple[Match, Leaves]:
    """Some leaves matched with what texts give when they are read back, and what they give; nothing is kept where none can be read.

    >>> match_read(flatten([{"id": 1}, {"id": 2}]), ["id,x\\n2,y", "no table"])[0].lost
    [(('id',), (<class 'int'>, 1))]
    """
    names = names_of(leaves)
    read = [found for found in (read_held(text, names) for text in shown) if found is not None]
    held = together(read)
    return match(leaves, held), held
