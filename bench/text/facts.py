"""Facts: the pieces of a text that mean one thing, and whether a text still holds one.

A fact is a URL, a quoted string, a path, a number, a name, or the message of an error line: leftmost, longest, no overlaps, in that
order. It is present in a text when it occurs there exactly and not inside a longer word or number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .decode import decoded

FACTS_VERSION = "1"
"""Version of the pattern below; part of every signature, because it changes every recall."""

_ERROR_LINE = r"^[\w.]*(?:Error|Exception|Warning|error|fatal):[ \t]+(?P<error>\S[^\r\n]*)"
# Possessive quantifiers (`++`, `*+`) and the look-ahead at a name keep plain prose from being scanned more than once.
_PATTERN = re.compile(
    r"""
    (?<!\w)(?:
      (?P<url>[A-Za-z][A-Za-z0-9+.-]*+://[^\s"'<>`|\\^{}]+)
    | "(?P<quoted>[^"\r\n]{2,80}+)"(?!\w)
    | '(?P<quoted1>[^'\r\n]{2,80}+)'(?!\w)
    | (?<![/<])(?P<path>
          (?:~|\.{1,2})?(?:/[\w.@%+~-]++)++/?
        | [\w.@%+~-]++(?:(?:/[\w.@%+~-]++){2,}+/?|/[\w@%+~.-]*\.[A-Za-z]\w{0,7}+)
        | \.[A-Za-z]\w++ )
    | (?<!\.)(?P<number>[-+]?(?:\d++(?:\.\d++)++(?:[eE][-+]?\d++)?|\d++[eE][-+]?\d++|\d{3,}+))(?!\w)
    | (?P<name>(?!\d[\d.-]*+(?!\w))(?=[\d_]|\w[a-z]*+(?:[\d_@A-Z.-]|[^\W\d_a-z]))
          (?=[\w@.-]*?(?:\d|_|@|\w[A-Z]|[^\W\d_]\.[^\W\d_]))\w[\w@]*+(?:[.@-]\w[\w@]*+)*+ )
    )""",
    re.VERBOSE,
)
_ERROR = re.compile(_ERROR_LINE)
_TRAILING = ".,;:!?"
_RUN = re.compile(r"\w+")
_KINDS = {"quoted1": "quoted"}


Found = tuple[tuple[str, str], ...]
"""Facts of a piece of text as (kind, fact), in order."""


def find_facts(text: str, known: dict[str, Found] | None = None) -> list[tuple[str, str]]:
    """The facts of a decoded text as (kind, fact), in order, repeats included; `[]` for an empty text.

    Kinds: url, quoted, path, number, name, error. `known` remembers pieces for a caller that reads many texts: texts repeat words and lines.

    >>> find_facts("see src/a.py:12, total 36.5 of 471")
    [('path', 'src/a.py'), ('number', '36.5'), ('number', '471')]
    >>> find_facts("ValueError: no rows left")
    [('name', 'ValueError'), ('error', 'no rows left')]
    """
    known = {} if known is None else known
    found: list[tuple[str, str]] = []
    for line in text.split("\n"):
        error = _ERROR.match(line) if ":" in line else None
        if error is None:
            found.extend(_facts_in(line, known))
            continue
        found.extend(_facts_in(line[: error.start("error")], known))
        message = error.group("error").strip().rstrip(_TRAILING)
        if _RUN.search(message):
            found.append(("error", message))
        found.extend(_facts_in(line[error.end() :], known))
    return found


def _facts_in(line: str, known: dict[str, Found]) -> Iterator[tuple[str, str]]:
    """The facts of a line but for an error message. Only a quoted string reaches over white space, so that without a quote each word stands alone."""
    for piece in (line,) if '"' in line or "'" in line else line.split():
        found = known.get(piece)
        if found is None:
            found = known[piece] = _scan(piece)
        yield from found


def _scan(text: str) -> Found:
    found = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        fact = match.group(kind).strip().rstrip(_TRAILING)
        if kind == "name":
            if len(fact) < 4 or not _is_name(fact):
                continue
        elif kind != "number" and not _RUN.search(fact):
            continue
        found.append((_KINDS.get(kind, kind), fact))
    return tuple(found)


_NAME_MARK = re.compile(r"\d|_|@|\w[A-Z]|[^\W\d_]\.[^\W\d_]")


def _is_name(word: str) -> bool:
    """A word whose mark is still there once trailing punctuation is off."""
    return bool(_NAME_MARK.search(word))


def facts_of(text: str) -> dict[str, str]:
    """The distinct facts of a text, decoded first, as fact → kind in order of first appearance.

    >>> facts_of('{"rows": 471, "file": "a/b.csv"}')
    {'471': 'number', 'a/b.csv': 'path'}
    """
    return distinct_facts(find_facts(decoded(text)))


def distinct_facts(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Facts as fact → kind, each once, in order of first appearance."""
    distinct: dict[str, str] = {}
    for kind, fact in found:
        distinct.setdefault(fact, kind)
    return distinct


def words_of(plain: str) -> frozenset[str]:
    """The runs of word characters of a decoded text: what decides quickly that a fact cannot be there."""
    return frozenset(_RUN.findall(plain))


def anchor(fact: str) -> str:
    """The longest run of word characters in a fact; wherever the fact is present, that run stands as a whole word.

    >>> anchor("/data/run_7.csv")
    'run_7'
    """
    runs: list[str] = _RUN.findall(fact)
    return max(runs, key=len, default=fact)


def holds(text: str, fact: str) -> bool:
    """Whether a fact is present in a text, decoded first.

    >>> holds("a,Level 1,b", "Level 1"), holds("0.125", "125"), holds("width 1250", "125"), holds("", "125")
    (True, False, False, False)
    """
    return occurs(decoded(text), fact)


def occurs(plain: str, fact: str) -> bool:
    """Whether a fact occurs in a text as it stands, not inside a longer word or number."""
    start = plain.find(fact)
    while start >= 0:
        end = start + len(fact)
        # most facts stand between two of these, which never belong to a word or number
        if (plain[start - 1 : start] or " ") in _BREAKS and plain[end : end + 1] in _BREAKS:
            return True
        if _free_before(plain, start, fact) and _free_after(plain, end, fact[-1]):
            return True
        start = plain.find(fact, start + 1)
    return False


_BREAKS = frozenset("\n\t ,;:()[]{}'\"=<>|`") | {""}


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()


_NUMBER = re.compile(r"[\d.]+(?:[eE][-+]?\d+)?")


def _free_before(plain: str, start: int, fact: str) -> bool:
    first = fact[0]
    if start == 0 or not (_is_word(first) or first in "+-."):
        return True
    before = plain[start - 1]
    if _is_word(before):
        return not _is_word(first)
    if not first.isdigit():
        return True
    if before == ".":  # .5 of 0.5 is half a number; a full stop and a number are two things
        return not (start >= 2 and plain[start - 2].isdigit())
    if before in "+-":  # the sign belongs to a number unless it joins two words, and never to a name (`+2nd_row`)
        if start >= 3 and plain[start - 2] in "eE" and plain[start - 3].isdigit():  # 120 of 1e-120 is half a number too
            return False
        joins = start >= 2 and (_is_word(plain[start - 2]) or plain[start - 2] in "+-)]")
        return joins or _NUMBER.fullmatch(fact) is None
    return True


def _free_after(plain: str, end: int, last: str) -> bool:
    if end >= len(plain) or not _is_word(last):
        return True
    after = plain[end]
    if _is_word(after):
        return False
    return not (after == "." and last.isdigit() and end + 1 < len(plain) and plain[end + 1].isdigit())
