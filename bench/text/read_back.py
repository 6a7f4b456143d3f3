"""What a text gives when it is read back: JSON, a Python literal or tables, as far as they go; and how much of some leaves texts hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from . import lossless
from .decode import NothingParsed, parse_json, parse_prefix
from .labels import LabelsOf, count_labelled
from .leaf_tokens import match_tokens, tokens_in
from .leaves import Leaves, Match, flatten, match, together
from .tables import Names, find_tables
from .texts import Texts


@dataclass(frozen=True)
class Read:
    """What a text gives: leaves, None where nothing can be read; and the lines beside the tables that were read in it."""

    leaves: Leaves | None
    rest: str = ""


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


def read_held(text: str, names: Names) -> Read:
    """What a text gives when it is read back.

    >>> names = names_of(flatten([{"id": 1}]))
    >>> read_held("id,level\\n7,L 1\\ndone", names)
    Read(leaves=Leaves(rows=[[(('id',), (<class 'int'>, 7)), (('level',), (<class 'str'>, 'L 1'))]], others=[]), rest='done')
    >>> read_held("nothing here", names).leaves is None
    True
    """
    if text.lstrip()[:1] in ("{", "["):
        try:
            return Read(flatten(parse_json(text)))
        except NothingParsed:
            pass
        if "@table" in text:
            try:
                return Read(flatten(lossless.read_tables(text)))
            except NothingParsed:
                pass
        try:
            value, end = parse_prefix(text)
        except NothingParsed:
            pass
        else:
            rows = find_tables(text[end:], names)[0]
            return Read(together([flatten(value), flatten(rows)]) if rows else flatten(value))
    rows, rest = find_tables(text, names)
    return Read(flatten(rows), rest) if rows else Read(None, text)


@dataclass(frozen=True)
class Found:
    """Some leaves matched with what texts hold: the match, what was read back, and how many leaves were found only beside tables, as whole
    tokens, and how many of these with their key.
    """

    match: Match
    held: Leaves
    beside: int = 0
    beside_labelled: int = 0


def match_read(leaves: Leaves, shown: Iterable[str], texts: Texts | None = None) -> Found | None:
    """Some leaves matched with what texts hold that can be read back; None where none can.

    >>> found = match_read(flatten({"total": 471, "rows": [{"id": 1}, {"id": 2}]}), ["id,x\\n2,y\\nof 471"])
    >>> found.match.kept, found.match.lost, found.beside, found.beside_labelled
    (2, [(('id',), (<class 'int'>, 1))], 1, 0)
    """
    names = names_of(leaves)
    read = [item for item in (read_held(text, names) for text in shown) if item.leaves is not None]
    if not read:
        return None
    held = together([item.leaves for item in read if item.leaves is not None])
    found = match(leaves, held)
    rest = [item.rest for item in read if item.rest.strip()]
    if not rest or not found.lost:
        return Found(found, held)
    lost = Leaves([], found.lost)
    tokens, labels = tokens_in([lost], texts), LabelsOf([lost], texts)
    more = match_tokens(lost, Counter(item for text in rest for item in tokens(text)).__getitem__)
    labelled = count_labelled(lost, Counter(item for text in rest for item in labels(text)).__getitem__)
    counts = found.rows_kept, found.cells_compared, found.cells_changed
    matched = Match(found.kept + more.kept, found.total, more.lost, *counts)
    return Found(matched, held, more.kept, labelled)
