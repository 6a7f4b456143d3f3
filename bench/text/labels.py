"""Leaves looked for together with their key: a value counts where its key stands on the same line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from .leaf_tokens import TokensOf
from .leaves import JOINT, Leaves
from .texts import Texts

_WORD = re.compile(r"\w+")


class LabelsOf:
    """The pairs out of those of given leaves that a text holds, each as often as it has lines with key and value; found once a text.

    >>> leaves = [Leaves(others=[(("rows",), (int, 471)), (("id",), (int, 7))])]
    >>> [pair.split("\\0") for pair in LabelsOf(leaves)('{"rows": 471, "n": 7}')]
    [['rows', '471']]
    >>> [pair.split("\\0") for pair in LabelsOf(leaves)("471 7")]
    []
    """

    def __init__(self, parts: Iterable[Leaves], texts: Texts | None = None) -> None:
        self._texts = texts or Texts()
        self._keys: dict[str, dict[str, None]] = {}  # by token: the keys that it stands under
        for leaves in parts:
            for (path, _), tokens in leaves.tokens:
                for token in tokens:
                    self._keys.setdefault(token, {})[path[-1] if path else ""] = None
        self._tokens = TokensOf(self._keys, self._texts)
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = tuple(self._find(text))
        return found

    def _find(self, text: str) -> Iterator[str]:
        present = dict.fromkeys(self._tokens(text))
        if not present:
            return
        narrowed = TokensOf(present)
        for line in self._texts.plain(text).split("\n"):
            words: frozenset[str] | None = None
            for token, count in Counter(narrowed(line)).items():
                if words is None:
                    words = frozenset(_WORD.findall(line))
                for key in self._keys[token]:
                    if not key or stands(key, line, words):
                        yield from (f"{key}{JOINT}{token}",) * count


def count_labelled(leaves: Leaves, count_of: Callable[[str], int]) -> int:
    """How many leaves stand with their key on a line, a pair counting at most as often as there are such lines.

    >>> leaves = Leaves(others=[(("n",), (int, 1)), (("n",), (int, 1)), (("m",), (int, 1))])
    >>> count_labelled(leaves, {"n\\0" + "1": 1, "m\\0" + "1": 0}.__getitem__)
    1
    """
    left: dict[str, int] = {}
    kept = 0
    for pairs in leaves.labels:
        for pair in pairs:
            if pair not in left:
                left[pair] = count_of(pair)
            if left[pair]:
                left[pair] -= 1
                kept += 1
                break
    return kept


def stands(key: str, line: str, words: frozenset[str]) -> bool:
    """Whether a key stands on a line as whole words.

    >>> stands("go.id", "go.id: 3", frozenset({"go", "id", "3"})), stands("id", "width: 3", frozenset({"width", "3"}))
    (True, False)
    """
    if key in words:
        return True
    parts: Sequence[str] = _WORD.findall(key)
    return len(parts) != 1 and key in line and all(part in words for part in parts)
