"""Leaves found in texts: read back from JSON, Python literals and tables, or by the tokens that they stand as, beside their key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..model import grouped
from .decode import NothingParsed, containers_in, parse_json, parse_prefix, unescape
from .facts import anchor
from .layouts import read_layout, spelled_out
from .leaves import Leaf, Leaves, Match, flatten, match, together, tokens_of
from .search import Strings
from .tables import Names, find_tables
from .texts import Remembered, Texts

_WORD = re.compile(r"\w+")
_LITERAL = re.compile(r"\s*[\"']\s*[{\[]")

JOINT = "\0"
"""The separators between key and value in a label."""


# ---------------------------------------------------------------- read back


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
    """Return the leaves that a text gives when it is read back; None where nothing can be read.

    >>> names = names_of(flatten([{"id": 1}]))
    >>> read_held("id,level\\n7,L 1\\ndone", names)
    Leaves(rows=[[(('id',), (<class 'int'>, 7)), (('level',), (<class 'str'>, 'L 1'))]], others=[])
    >>> read_held('"{\\\\"id\\\\": 7}"', names) == flatten({"id": 7}), read_held("nothing here", names)
    (True, None)
    """
    keys = {key for path in names.values() for key in path}
    text = spelled_out(text, keys)
    if _LITERAL.match(text):  # a container as a text, as JSON and Python write one
        text = unescape(text.strip()[1:])
    if text.lstrip()[:1] in ("{", "["):
        if '"columns"' in text and "columns" not in keys:
            with suppress(NothingParsed):
                return flatten(read_layout(text, keys))
        with suppress(NothingParsed):
            return flatten(parse_json(text))
        with suppress(NothingParsed):
            value, end = parse_prefix(text)
            return together([flatten(value), *_inside(text[end:], names)])
    with suppress(NothingParsed):
        return flatten(read_layout(text, keys))
    found = _inside(text, names)
    return together(found) if found else None


def _inside(text: str, names: Names) -> list[Leaves]:
    """Return the tables, JSON containers and Python containers that stand among other text."""
    rows, rest = find_tables(text, names)
    return [flatten(value) for value in ([rows] if rows else []) + list(containers_in(rest))]


def match_read(leaves: Leaves, shown: Iterable[str]) -> tuple[Match, Leaves]:
    """Some leaves matched with what texts give when they are read back, and what they give; nothing is kept where none can be read."""
    names = names_of(leaves)
    read = [found for found in (read_held(text, names) for text in shown) if found is not None]
    held = together(read)
    return match(leaves, held), held


# ---------------------------------------------------------------- beside their key


class TokensOf(Remembered[tuple[str, ...]]):
    """The tokens out of a given set that a text holds, each as often as it occurs whole.

    >>> list(TokensOf(["1", "level 2", "[]"])("1, 10, 1.5, level 2, level 1 and []"))
    ['1', 'level 2', '1', '[]']
    """

    def __init__(self, tokens: Iterable[str], texts: Texts | None = None) -> None:
        self._plain = (texts or Texts()).plain
        tokens = dict.fromkeys(tokens)
        self._bare = [token for token in tokens if not _WORD.search(token)]
        self._strings = Strings(token for token in tokens if _WORD.search(token))

    def find(self, text: str) -> tuple[str, ...]:
        """The tokens of a text that is not remembered: a token counts once where places of it overlap."""
        free_from: dict[str, int] = {}
        found = []
        for token, start in self._strings.places(self._plain(text)):
            if start >= free_from.get(token, 0):
                free_from[token] = start + len(token)
                found.append(token)
        return (*found, *(token for token in self._bare for _ in range(text.count(token))))


class LabelsOf(Remembered[tuple[str, ...]]):
    """The pairs out of those of given leaves that a text holds, each as often as it has lines with key and value.

    >>> leaves = [Leaves(others=[(("rows",), (int, 471)), (("id",), (int, 7))])]
    >>> [pair.split("\\0") for pair in LabelsOf(leaves)('{"rows": 471, "n": 7}')], LabelsOf(leaves)("471 7")
    ([['rows', '471']], ())
    """

    def __init__(self, parts: Iterable[Leaves], texts: Texts | None = None) -> None:
        self._texts = texts or Texts()
        self._keys: dict[str, dict[str, dict[str, None]]] = {}  # by token and a word: the keys that it stands under
        self.labels: dict[Leaf, tuple[str, ...]] = {}
        """The pairs of key and value as which each leaf may stand on a line; a leaf under no key has none."""

        for leaf in (leaf for leaves in parts for leaf in leaves.sizes):
            path, value = leaf
            if leaf not in self.labels and path and path[-1]:
                key, tokens = path[-1], tokens_of(value)
                self.labels[leaf] = tuple([f"{key}{JOINT}{token}" for token in tokens])
                word = anchor(key) if _WORD.search(key) else ""
                for token in tokens:
                    self._keys.setdefault(token, {}).setdefault(word, {})[key] = None
        self._tokens = TokensOf(self._keys, self._texts)

    def find(self, text: str) -> tuple[str, ...]:
        """The pairs of a text that is not remembered."""
        present = set(self._tokens(text))
        lines = self._texts.plain(text).split("\n") if present else ()
        return tuple(pair for line in lines for pair in self._of_line(line, present))

    def _of_line(self, line: str, present: set[str]) -> Iterator[str]:
        words: dict[str, None] | None = None
        for token, count in Counter(filter(present.__contains__, self._tokens.find(line))).items():
            if words is None:
                words = dict.fromkeys(_WORD.findall(line), None) | {"": None}
            under = self._keys[token]
            fewer, more = (words, under) if len(words) < len(under) else (under, words)
            for key in (key for word in fewer if word in more for key in under[word]):
                if stands(key, line, words):
                    yield from (f"{key}{JOINT}{token}",) * count


def by_label(lost: Iterable[Leaf], labels: Mapping[Leaf, tuple[str, ...]]) -> dict[str, list[Leaf]]:
    """The distinct leaves of some, by the pairs of key and value as which they may stand on a line; `labels` are as `LabelsOf` has them."""
    return grouped((label, leaf) for leaf in dict.fromkeys(lost) for label in labels.get(leaf, ()))


def with_labelled(
    found: Match, leaves: Leaves, lost: Mapping[str, Sequence[Leaf]], counts: Mapping[str, int]
) -> tuple[Match, int]:
    """A match with the leaves added that stand beside their key on a line, and how many these are.

    `lost` are its lost leaves as `by_label` gives them, `counts` how often each label is there. Equal leaves count as often as they were
    read back, or as often as there are such lines, whichever is more: they may be the same places.

    >>> leaves = Leaves(others=[(("n",), (int, 1)), (("n",), (int, 1)), (("m",), (int, 1))])
    >>> lost = by_label(leaves, LabelsOf([leaves]).labels)
    >>> with_labelled(Match(0, 3, [*leaves]), leaves, lost, {"n\\0" + "1": 1, "m\\0" + "1": 0})[1]
    1
    """
    there: Counter[Leaf] = Counter()
    for label in lost.keys() & counts.keys():
        for leaf in lost[label]:
            there[leaf] += counts[label]
    more = {}
    for leaf, count in there.items():
        more[leaf] = min(leaves.sizes[leaf], count) - (leaves.sizes[leaf] - found.missing[leaf])
    if not any(count > 0 for count in more.values()):
        return found, 0
    left = []
    for leaf in found.lost:
        if more.get(leaf, 0) > 0:
            more[leaf] -= 1
        else:
            left.append(leaf)
    added = len(found.lost) - len(left)
    return replace(found, kept=found.kept + added, lost=left), added


def stands(key: str, line: str, words: Container[str]) -> bool:
    """True if a key stands on a line as whole words."""
    if key in words:
        return True
    parts: Sequence[str] = _WORD.findall(key)
    return len(parts) != 1 and key in line and all(part in words for part in parts)
