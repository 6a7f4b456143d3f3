"""Facts: the names, numbers, paths and quotations of a text, by which it is known what a text keeps.

A fact is a URL, a path, a number of three digits or more or with a decimal point, a date, a name, a
quoted string, the message of an error line, or a proper name in prose. It is present in a text if
it occurs as a whole, not inside a longer word or number; a number is present in any spelling.

- A URL ends before a bracket that it does not open.
- Thousands separators, currency signs, a sign and trailing zeros do not change which number it is:
  `$1,250.50` and `1250.5` are one.
- A name is a word with a digit, an underscore, an inner capital, a dot or an @. A word all in
  capitals, and a single capitalised word in prose, is one only if the trace does not also write it
  in small letters (`lower`).
- A fact of several words is present if they follow each other within a paragraph, in any case and
  with any signs between; a name with a number (`Level 3`) by the rule of `places.is_numbered`.
- A quoted string counts if it contains no other fact; a quoted number follows the rule for numbers,
  so that `'22'` is not a fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from .numbers import NUMBER_TEXT, number_value, spelled

FACTS_VERSION = "2"
"""Version of the pattern below, which is part of every signature: with it every recall changes."""

_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|Warning|error|fatal):[ \t]+(?P<error>\S[^\r\n]*)")
# Possessive quantifiers (`++`, `*+`) and the look-ahead at a name keep plain prose from being
# scanned more than once. What may fail after a scan is bounded, so that every text takes linear
# time: a scheme to 64 characters, a part of a path to 256, the look-ahead at a name to 128.
_PATTERN = re.compile(
    rf"""
    (?<!\w)(?:
      (?P<url>[A-Za-z][A-Za-z0-9+.-]{{0,63}}+://[^\s"'<>`|\\^{{}}]+)
    | "(?P<quoted>[^"\r\n]{{2,80}}+)"(?!\w)
    | '(?P<quoted1>[^'\r\n]{{2,80}}+)'(?!\w)
    | (?<![/<])(?P<path>
          (?:~|\.{{1,2}})?(?:/[\w.@%+~-]++)++/?
        | [\w.@%+~-]{{1,256}}+(?:(?:/[\w.@%+~-]++){{2,}}+/?|/[\w@%+~.-]{{0,256}}\.[A-Za-z]\w{{0,7}}+(?!\w)(?!\.\d))
        | (?<![\w)\]}}"'])\.[A-Za-z]\w++ )
    | (?P<doi>10\.\d{{4,9}}/[^\s"'<>)\]]+)
    | (?P<dotted>\d++(?:\.\d++){{2,64}}+(?:/\d++(?!\.*+\w))?+)(?!\.*+\w)
    | (?P<date>\d{{4}}-\d\d-\d\d)(?![\w-])
    | (?<![\d.,])(?P<number>{NUMBER_TEXT})(?!\w)(?!\.\d)
    | (?P<name>(?!\d(?![\d.,-]{{0,256}}+[^\W\d]))(?=[\d_#]|\w[a-z]*+(?:[\d_@A-Z.-]|[^\W\d_a-z]))
          (?=[\w@.-]{{0,128}}?(?:\d|_|@|\w[A-Z]|[^\W\d_]\.[^\W\d_]))\w[\w@]*+(?:[.@-]\w[\w@]*+)*+ )
    )""",
    re.VERBOSE,
)
# The next ones look behind their first character, so that all others are passed quickly.
_CAPITAL, _SMALL = r"[A-Z](?<![\w.'/-][A-Z])", "[a-zà-öø-ÿ]+(?:[-'’][A-Za-zà-öø-ÿ]+)*"
_PROPER = re.compile(
    rf"{_CAPITAL}{_SMALL}(?:[ \t]+(?:(?:of|the|de|van|von|and|for|&)[ \t]+)?[A-Z]{_SMALL})*(?![\w/])"
)
_NUMBERING = "Step Figure Option Note Part Line Task Phase Section Round Table Question Answer"
_COUNTED = frozenset(_NUMBERING.split())
"""Words that reports number themselves."""
_NUMBERED = re.compile(rf"({_CAPITAL}[a-z]{{2,}}) #?\d{{1,4}}(?:, \d{{4}})?(?![\w.,%:)]\w|\w)")
_CAPITALS = re.compile(rf"{_CAPITAL}[A-Z]++(?![\w'-])")
_TRAILING = ".,;:!?"
_RUN = re.compile(r"\w+")
_SMALL_WORD = re.compile(r"(?<!\w)[a-zà-öø-ÿ]++(?!\w)")
_FINE = re.compile(r"\d{3}|[/\\@_'\"]|\.\w|\w\d|\d\w|\B[A-Z]")
_KINDS = {"quoted1": "quoted", "doi": "url", "dotted": "name"}
_CLOSING = {")": "(", "]": "["}

Facts = tuple[tuple[str, str], ...]
"""Facts of a piece of text as (fact, kind), in order."""


# ---------------------------------------------------------------- facts of a text


def find_facts(text: str) -> list[tuple[str, str]]:
    """The facts of a decoded text as (kind, fact), in order, with repetitions.

    >>> find_facts("see src/a.py:12, total 36.50 of 1,471 by Pietro Murano")
    [('path', 'src/a.py'), ('number', '36.5'), ('number', '1471'), ('proper', 'Pietro Murano')]
    >>> find_facts("ValueError: no rows left")
    [('name', 'ValueError'), ('error', 'no rows left')]
    """
    return [(kind, fact) for line in text.split("\n") for fact, kind in facts_of_line(line, ())]


def facts_of_line(line: str, lower: Collection[str]) -> list[tuple[str, str]]:
    """The facts of one line as (fact, kind), in order. `lower` are the words that the trace writes in
    small letters elsewhere: capitalised, they are no names."""
    error = _ERROR.match(line) if ":" in line else None
    if error is None:
        return _facts_in(line, lower)
    facts = _facts_in(line[: error.start("error")], lower)
    message = error.group("error").strip().rstrip(_TRAILING)
    if _RUN.search(message):
        facts.append((message, "error"))
    return facts + _facts_in(line[error.end() :], lower)


def _facts_in(line: str, lower: Collection[str]) -> list[tuple[str, str]]:
    """The facts of a line without an error message. It is read word by word, unless a quotation has
    several words."""
    pieces = line.split()
    if ('"' in line or "'" in line) and not _QUOTED_WORDS.fullmatch(line):
        pieces = [line]
    facts = [*chain.from_iterable(map(_CACHE.__getitem__, pieces))]
    if not line.islower() and _UPPER.search(line):
        facts += _named(line, lower)
    return facts


class _FactCache(dict[str, Facts]):
    """The facts of words, and of lines with quotations. Short ones are kept, since they come again."""

    def __missing__(self, piece: str) -> Facts:
        if piece.isalpha() and piece.islower():
            facts: Facts = ()
        elif "0" <= piece[0] <= "9" and (number := _SIMPLE.fullmatch(piece)):
            is_fact = number[2] or len(number[1]) >= 3
            facts = ((spelled(*number.groups("")), "number"),) if is_fact else ()
        else:
            facts = _scan(piece)
        if len(piece) <= _KEPT_CHARS:
            if len(self) >= _MOST_PIECES:
                self.clear()
            self[piece] = facts
        return facts


_CACHE = _FactCache()
_KEPT_CHARS, _MOST_PIECES = 200, 1 << 15


_UPPER = re.compile(r"[A-Z][A-Za-zà-ÿ]")

_QUOTED_WORDS = re.compile(
    r"""(?:\s++|(?<!\S)(?:[^"'\s]++|[{(\[]*+(?:"[^"'\s]{2,80}"|'[^"'\s]{2,80}')[^\w"'\s]*+)(?!\S))*+"""
)
"""Matches a line in which no quotation has several words."""

_SIMPLE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?+[,;:!?]*")
"""Matches a simple number, which needs no other pattern."""


def _scan(text: str) -> Facts:
    """The facts of a word, or of a line with quotations, by the pattern of all facts."""
    if len(text) <= _ALONE_CHARS and (alone := _NAME_ALONE.fullmatch(text)):
        return _in_quotation(alone[2], _name(alone[2])) if alone[1] else _name(alone[2])
    facts: list[tuple[str, str]] = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        fact = match.group(kind).strip().rstrip(_TRAILING)
        if kind in ("quoted", "quoted1"):
            facts += _in_quotation(fact, _scan(fact) if _FINE.search(fact) else ())
        elif kind == "number":
            if _is_significant(digits := fact.replace(",", "")):
                facts.append((number_value(digits), kind))
        elif kind == "name":
            facts += _name(fact)
        elif _RUN.search(fact):
            facts.append((_unbracketed(fact) if kind == "url" else fact, _KINDS.get(kind, kind)))
    return tuple(facts)


_ALONE_CHARS = 80
_NAME_ALONE = re.compile(
    r"""(["']?)([A-Za-z][A-Za-z0-9_]++(?:-[A-Za-z0-9_]++)*+)\1[,;:.!?)\]}]*+"""
)
"""Matches one word, perhaps in quotes, that can only be a name or no fact, as most words are."""


def _name(word: str) -> Facts:
    is_name = len(word) >= 4 and _NAME_MARK.search(word) and not _CAPITALS.fullmatch(word)
    return ((word, "name"),) if is_name else ()


def _in_quotation(quotation: str, inner: Facts) -> Facts:
    """The facts inside a quotation if there are any, else the quotation itself if it has words."""
    if inner and _FINE.search(quotation):
        return inner
    return ((quotation, "quoted"),) if sum(map(str.isalpha, quotation)) > 2 else ()


def _is_significant(digits: str) -> bool:
    """True for a number of three digits or more, or with a decimal point or an exponent."""
    return len(digits) >= 3 or "." in digits or "e" in digits or "E" in digits


def _unbracketed(url: str) -> str:
    """A URL without the brackets at its end that it does not open.

    >>> [_unbracketed(url) for url in ("a.b/c))", "a.b/c(d))", "a.b/c).)", "a.b/c]))")]
    ['a.b/c', 'a.b/c(d)', 'a.b/c', 'a.b/c']
    """
    spare = {close: url.count(close) - url.count(opening) for close, opening in _CLOSING.items()}
    end = len(url)
    while end and spare.get(url[end - 1], 0) > 0:
        spare[url[end - 1]] -= 1
        end -= 1
        while end and url[end - 1] in _TRAILING:
            end -= 1
    return url[:end]


_NAME_MARK = re.compile(r"\d|_|@|\w[A-Z]|[^\W\d_]\.[^\W\d_]")


def _named(line: str, lower: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield proper names in prose, and words all in capitals.

    Words that open a sentence or a name (`The`, `In`), and those in `lower`, do not begin a name; a
    single short word is not a name.
    """
    for match in _PROPER.finditer(line):
        words = match.group().split()
        first, opens_sentence = 0, _opens_sentence(line, match.start())
        while first < len(words) and (
            words[first] in _OPENERS or (opens_sentence and words[first].casefold() in lower)
        ):
            first, opens_sentence = first + 1, False
        while first < len(words) and words[first].islower():
            first += 1
        words = words[first:]
        if len(words) == 1:
            word = words[0]
            if opens_sentence or word.casefold() in lower or len(word) < 4 or word in _OPENERS:
                continue
        if words and any(word.casefold() not in lower for word in words if word[:1].isupper()):
            yield " ".join(words), "proper"
    for match in _NUMBERED.finditer(line):
        if match[1] not in _COUNTED:
            yield " ".join(match.group().split()), "proper"
    for match in _CAPITALS.finditer(line):
        if match.group().casefold() not in lower and len(match.group()) >= 3:
            yield match.group(), "name"


def _opens_sentence(line: str, start: int) -> bool:
    """True if a sentence begins at a place of a line, ignoring list marks and brackets."""
    while start and line[start - 1] in " \t*#>-•\"'([":
        start -= 1
    return start == 0 or line[start - 1] in ".!?:\n"


_OPENING = """
A An And Are As At Be But By Can Could Did Do Does For From Had Has Have He Her Here His How I If In Is It Its Let May More My No Not Now Of On
Once One Or Our She Should So Some Such That The Their Then There These They This Those To Was We Were What When Where Which While Who Why Will With
Would Yes You Your Also After Before Because Based First Second Third Next Finally Please Thank Thanks Sorry However Since Both All Each Another
Here's It's I'll I'm I've Let's We'll You're Don't Overall Step Note Summary
"""
_OPENERS = frozenset(_OPENING.split())
"""Words that are capitalised only because they open sentences."""


def token_around(plain: str, place: int) -> tuple[int, int]:
    """The (start, end) of the number, word or JSON escape that a place in a text is inside of;
    (place, place) without one.

    >>> token_around("of 12.50 m", 5), token_around("of 12.50 m", 8), token_around("of walls", 7), token_around("x" * 1000, 500)
    ((3, 8), (8, 8), (3, 8), (200, 800))
    """
    low = max(0, place - _TOKEN_CHARS)
    low = max(low, *(1 + plain.rfind(white, low, place) for white in " \n\t"))
    for match in _TOKEN.finditer(plain, low, place + _TOKEN_CHARS):
        if match.start() >= place:
            break
        if match.end() > place:
            return match.span()
    return place, place


_TOKEN = re.compile(rf"\\u[0-9a-fA-F]{{4}}|\\.|(?<![\w.]){NUMBER_TEXT}(?!\w)|\w+")
_TOKEN_CHARS = 300


# ---------------------------------------------------------------- facts in another text


def words_of(plain: str) -> frozenset[str]:
    """The words of a decoded text. A fact that has none of them cannot be in the text."""
    return frozenset(_RUN.findall(plain))


def small_words_of(lines: Iterable[str]) -> frozenset[str]:
    """The words of lines that have only small letters. Each distinct line is read once.

    >>> sorted(small_words_of(["wall W1 of Ann's user_1"]))
    ['of', 's', 'wall']
    """
    ascii_lines: list[str] = []
    others: list[str] = []
    for line in dict.fromkeys(lines):
        (ascii_lines if line.isascii() else others).append(line)
    words = {*"\n".join(ascii_lines).translate(_WORDS_APART).split()}
    small = {word for word in words if word.isalpha() and word.islower()}
    return frozenset(small.union(*map(_SMALL_WORD.findall, others)))


def anchor(fact: str) -> str:
    """The longest word in a fact. It is a whole word in each text that has the fact.

    >>> anchor("/data/run_7.csv")
    'run_7'
    """
    runs: list[str] = _RUN.findall(fact)
    return max(runs, key=len, default=fact)


def flat(plain: str) -> str:
    """The words of a text in small letters, with a blank before and behind each, in which runs of
    words are searched.

    >>> flat("Bottom of the\\nMarianas Trench!")
    ' bottom of the marianas trench '
    """
    is_short = len(plain) <= _FLAT_CHARS and plain.isascii()
    lines = [plain] if is_short else plain.split("\n")
    rows = (" ".join(_flat_words(line)) for line in lines)
    return f" {' '.join(filter(None, rows))} "


_FLAT_CHARS = 100_000


def _flat_words(line: str) -> list[str]:
    """The words of a line in small letters. ASCII needs no pattern, which takes half the time."""
    if line.isascii():
        return line.translate(_WORDS_ALONE).split()
    return _RUN.findall(line.casefold())


_WORDS_APART = {
    code: char if _RUN.fullmatch(char) else " " for code, char in enumerate(map(chr, range(128)))
}
_WORDS_ALONE = {code: char.lower() for code, char in _WORDS_APART.items()}
"""Tables for `str.translate` that replace all ASCII signs by blanks; the second also lowers letters."""
