"""Facts: the pieces of a text that mean one thing, and the texts that still hold one.

A fact is a URL, a path, a number of three digits or more or with a decimal point, a date, a name, a
quoted string, the message of an error line, or a proper name in prose. It is present in a text
where it occurs there whole, not inside a longer word or number; a number, where the text has that
number, however it is written.

- A URL ends before a bracket that it does not open.
- Thousands separators, currency signs, a sign and trailing zeros do not change which number it is: `$1,250.50` and `1250.5` are one.
- A name is a word that holds a digit, an underscore, an inner capital, a dot or an @; a word all in capitals, and a single capitalised word in
  prose, only where the same word does not stand in small letters in what was read so far (`lower`).
- A fact of several words is present where they stand in a row within a paragraph, whatever their case and what is between them.
- A quoted string counts where it holds nothing finer; a quoted number follows the rule for numbers, so that `'22'` is no fact.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import lru_cache
from itertools import filterfalse

FACTS_VERSION = "2"
"""Version of the pattern below; part of every signature, because it changes every recall."""

_ERROR = re.compile(r"^[\w.]*(?:Error|Exception|Warning|error|fatal):[ \t]+(?P<error>\S[^\r\n]*)")
_NUMBER_TEXT = r"(?:\d{1,3}(?:,\d{3}){1,99}+(?:\.\d++)?|\d++(?:\.\d++)?(?:[eE][-+]?\d++)?|\.\d++(?:[eE][-+]?\d++)?)"
# Possessive quantifiers (`++`, `*+`) and the look-ahead at a name keep plain prose from being scanned more than once. What may fail after a scan is
# bounded: a scheme to 64 characters, a part of a path to 256, the way to what makes a word a name to 128, so that every text takes linear time.
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
    | (?<![\d.,])(?P<number>{_NUMBER_TEXT})(?!\w)(?!\.\d)
    | (?P<name>(?!\d(?![\d.,-]{{0,256}}+[^\W\d]))(?=[\d_#]|\w[a-z]*+(?:[\d_@A-Z.-]|[^\W\d_a-z]))
          (?=[\w@.-]{{0,128}}?(?:\d|_|@|\w[A-Z]|[^\W\d_]\.[^\W\d_]))\w[\w@]*+(?:[.@-]\w[\w@]*+)*+ )
    )""",
    re.VERBOSE,
)
# The next ones look behind their first character, so that all others are passed quickly.
_CAPITAL, _SMALL = r"[A-Z](?<![\w.'/-][A-Z])", "[a-zà-öø-ÿ]+(?:[-'’][A-Za-zà-öø-ÿ]+)*"
_PROPER = re.compile(rf"{_CAPITAL}{_SMALL}(?:[ \t]+(?:(?:of|the|de|van|von|and|for|&)[ \t]+)?[A-Z]{_SMALL})*(?![\w/])")
_NUMBERING = "Step Figure Option Note Part Line Task Phase Section Round Table Question Answer"
_COUNTED = frozenset(_NUMBERING.split())
"""Words that reports number themselves."""
_NUMBERED = re.compile(rf"({_CAPITAL}[a-z]{{2,}}) #?\d{{1,4}}(?:, \d{{4}})?(?![\w.,%:)]\w|\w)")
_CAPITALS = re.compile(rf"{_CAPITAL}[A-Z]+(?![\w'-])")
_NUMBERS = re.compile(
    r"[\d.](?<![\w.][\d.])(?:(?<=\d)(?:\d{0,2}(?:,\d{3}){1,99}+(?:\.\d++)?|\d*+(?:\.\d++)?(?:[eE][-+]?\d++)?)|(?<=\.)\d++(?:[eE][-+]?\d++)?)"
    r"(?!\w)(?!\.\d)"
)
_NUMBERS_AND_BREAKS = re.compile(rf"\n|{_NUMBERS.pattern}")
_TRAILING = ".,;:!?"
_RUN = re.compile(r"\w+")
_SMALL_WORD = re.compile(r"(?<!\w)[a-zà-öø-ÿ]++(?!\w)")
_SHORT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{0,6}))?|\.([0-9]{1,6})")
_SPELLED = re.compile(r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,5}[1-9])?")
_FINE = re.compile(r"\d{3}|[/\\@_'\"]|\.\w|\w\d|\d\w|\B[A-Z]")
_KINDS = {"quoted1": "quoted", "doi": "url", "dotted": "name"}
_CLOSING = {")": "(", "]": "["}
_SIGNIFICANT_CHARS = 40  # of a number: longer ones are compared as they are written
_EXACT = Context(prec=_SIGNIFICANT_CHARS, Emin=MIN_EMIN, Emax=MAX_EMAX)  # no digit is rounded away, nothing becomes 0

Facts = tuple[tuple[str, str], ...]
"""Facts of a piece of text as (fact, kind), in order."""

KINDS = ("number", "name", "proper", "path", "url", "quoted", "date", "error")
"""The kinds of fact that the pattern tells apart."""


# ---------------------------------------------------------------- finding


def find_facts(text: str) -> list[tuple[str, str]]:
    """The facts of a decoded text as (kind, fact), in order, repeats included; `[]` for an empty text.

    >>> find_facts("see src/a.py:12, total 36.50 of 1,471 by Pietro Murano")
    [('path', 'src/a.py'), ('number', '36.5'), ('number', '1471'), ('proper', 'Pietro Murano')]
    >>> find_facts("ValueError: no rows left")
    [('name', 'ValueError'), ('error', 'no rows left')]
    """
    return [(kind, fact) for line in text.split("\n") for fact, kind in facts_of_line(line, ())]


def facts_of_line(line: str, lower: Collection[str]) -> list[tuple[str, str]]:
    """The facts of one line as (fact, kind), in order.

    `lower` are words that stand in small letters elsewhere: capitalised, they are no names.
    """
    error = _ERROR.match(line) if ":" in line else None
    if error is None:
        return _facts_in(line, lower)
    facts = _facts_in(line[: error.start("error")], lower)
    message = error.group("error").strip().rstrip(_TRAILING)
    if _RUN.search(message):
        facts.append((message, "error"))
    return facts + _facts_in(line[error.end() :], lower)


def _facts_in(line: str, lower: Collection[str]) -> list[tuple[str, str]]:
    """The facts of a line but for an error message: word by word where no quote goes on in the next one."""
    facts: list[tuple[str, str]] = []
    pieces = line.split()
    if ('"' in line or "'" in line) and not all(map(_WORD_ALONE.fullmatch, pieces)):
        pieces = [line]
    for piece in pieces:
        if "0" <= piece[:1] <= "9" and (number := _SIMPLE.fullmatch(piece)):
            if number[2] or len(number[1]) >= 3:
                facts.append((_spelled(*number.groups("")), "number"))
        elif len(piece) <= _KEPT_CHARS:
            facts += _scan(piece)
        else:
            facts += _scan.__wrapped__(piece)
    if _UPPER.search(line):
        facts += _named(line, lower)
    return facts


_UPPER = re.compile(r"[A-Z][A-Za-zà-ÿ]")

_WORD_ALONE = re.compile(r"""[^"']*+(?:(?<![^\s])"[^"']{2,80}"[^\w"']*+)?+""")
"""A word without quotes, or one that they enclose."""

_SIMPLE = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?+[,;:!?]*")
"""A number as most data write it, read without the pattern of all facts."""

_KEPT_CHARS = 200  # longer pieces seldom come again, and what is kept outlives their trace


@lru_cache(1 << 14)
def _scan(text: str) -> Facts:
    """The facts of a word, or of a line with quotes in it."""
    facts: list[tuple[str, str]] = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        fact = match.group(kind).strip().rstrip(_TRAILING)
        if kind in ("quoted", "quoted1"):
            inner = _scan(fact) if _FINE.search(fact) else ()
            facts.extend(inner or _quoted(fact))
        elif kind == "number":
            if _is_fact(digits := fact.replace(",", "")):
                facts.append((number_value(digits), kind))
        elif kind == "name":
            if len(fact) >= 4 and _NAME_MARK.search(fact) and not _CAPITALS.fullmatch(fact):
                facts.append((fact, kind))
        elif _RUN.search(fact):
            facts.append((_unbracketed(fact) if kind == "url" else fact, _KINDS.get(kind, kind)))
    return tuple(facts)


def _quoted(fact: str) -> Facts:
    letters = sum(char.isalpha() for char in fact)
    return ((fact, "quoted"),) if letters > 2 else ()


def _is_fact(digits: str) -> bool:
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
    """Proper names in prose, and words all in capitals."""
    for match in _PROPER.finditer(line):
        words = match.group().split()
        first, opens = 0, _opens_sentence(line, match.start())
        while first < len(words) and (words[first] in _OPENERS or (opens and words[first].casefold() in lower)):
            first, opens = first + 1, False
        while first < len(words) and words[first].islower():
            first += 1
        words = words[first:]
        if len(words) == 1 and (opens or words[0].casefold() in lower or len(words[0]) < 4 or words[0] in _OPENERS):
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
    """True if a sentence begins at a place of a line; list marks and brackets before it do not count."""
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
"""Words that open sentences and are capitalised for that alone."""


# ---------------------------------------------------------------- numbers


@lru_cache(1 << 14)
def number_value(text: str) -> str:
    """Return the number of a text in one spelling: no separators, no sign, no trailing zeros.

    >>> number_value("1,250.50"), number_value("1e-09"), number_value("007")
    ('1250.5', '1e-9', '7')
    >>> [number_value(text) for text in ("1e15", "1.5e16", "1e-6", "1e-7", "12e9999999999999999999", "1.0e-99999999")]
    ['1000000000000000', '1.5e16', '0.000001', '1e-7', '12e9999999999999999999', '1e-99999999']
    """
    if _SPELLED.fullmatch(text):
        return text
    plain = text.replace(",", "").lstrip("+-$€£")
    if len(plain) > _SIGNIFICANT_CHARS:
        return plain
    if short := _SHORT.fullmatch(plain):  # nearly every number: no exponent in either spelling
        return _spelled(short[1] or "", short[2] or short[3] or "")
    try:
        value = Decimal(plain).normalize(_EXACT)
    except ArithmeticError:  # an exponent that no number has, as in a hash: 12e9999999999
        return plain
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent > -7 and value.adjusted() < 16:
        return f"{value:f}"
    return f"{value:e}".replace("e+", "e")


def is_spelled(text: str) -> bool:
    """True for a number as `number_value` writes it, as far as that is seen at once: nearly every one."""
    return _SPELLED.fullmatch(text) is not None


def _spelled(integer: str, decimals: str) -> str:
    """The spelling of a number from its digits before and behind the point."""
    decimals = decimals.rstrip("0")
    integer = integer.lstrip("0") or "0"
    return f"{integer}.{decimals}" if decimals else integer


def numbers_in(plain: str) -> set[str]:
    """Every number of a decoded text, by value; `12,500` may be a list, so its parts too."""
    numbers = set(_NUMBERS.findall(plain))
    others = [*filterfalse(_SPELLED.fullmatch, numbers)]
    numbers.difference_update(others)
    numbers.update(number_value(part) for text in others for part in {text, *text.split(",")})
    return numbers


def numbers_and_breaks(plain: str) -> list[str]:
    """The numbers of a decoded text as they are written, and its line breaks, in order.

    >>> numbers_and_breaks("1,250.0 of 12\\nx3")
    ['1,250.0', '12', '\\n']
    """
    return _NUMBERS_AND_BREAKS.findall(plain)


def numbers_at(plain: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Each number that `numbers_in` finds, with where it stands as (start, end), in order."""
    for match in _NUMBERS.finditer(plain):
        text = match.group()
        for part in (text, *text.split(",")) if "," in text else (text,):
            yield number_value(part), match.span()


@lru_cache(maxsize=65536)
def is_number(fact: str) -> bool:
    """True if a fact is a number as `number_value` writes it."""
    return fact[:1].isdigit() and _IS_NUMBER.fullmatch(fact) is not None


_IS_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def token_around(plain: str, place: int) -> tuple[int, int]:
    """Return (start, end) of the number, word or JSON escape around a place in a text; (place, place) where none is.

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


_TOKEN = re.compile(rf"\\u[0-9a-fA-F]{{4}}|\\.|(?<![\w.]){_NUMBER_TEXT}(?!\w)|\w+")
_TOKEN_CHARS = 300


# ---------------------------------------------------------------- presence


def words_of(plain: str) -> frozenset[str]:
    """The runs of word characters of a decoded text: what decides quickly that a fact cannot be there."""
    return frozenset(_RUN.findall(plain))


def small_words_of(plain: str) -> frozenset[str]:
    """The words of a text that are nothing but small letters; read line by line, as most of a large text comes again and again.

    >>> sorted(small_words_of("wall W1 of Ann's user_1"))
    ['of', 's', 'wall']
    """
    return frozenset().union(*map(_SMALL_WORD.findall, plain.split("\n")))


def anchor(fact: str) -> str:
    """The longest run of word characters in a fact; wherever the fact is present, that run stands as a whole word.

    >>> anchor("/data/run_7.csv")
    'run_7'
    """
    runs: list[str] = _RUN.findall(fact)
    return max(runs, key=len, default=fact)


def flat(plain: str) -> str:
    """The words of a text in small letters, one blank between, before and after: where a run of words is looked for.

    >>> flat("Bottom of the\\nMarianas Trench!")
    ' bottom of the marianas trench '
    """
    return f" {' '.join(_RUN.findall(plain.casefold()))} "


def places_of(plain: str, fact: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a fact in a text as (start, end), in order.

    >>> list(places_of("a 1,250.0 b", "1250")), list(places_of("The Marianas\\nTrench", "marianas trench"))
    ([(2, 9)], [(4, 19)])
    """
    if is_number(fact):
        yield from dict.fromkeys(span for value, span in numbers_at(plain) if value == fact)
    elif " " in fact:
        words = map(re.escape, _RUN.findall(fact))
        for match in re.finditer(r"(?<!\w)" + r"(?:(?!\n\n)\W)+".join(words) + r"(?!\w)", plain, re.IGNORECASE):
            yield match.span()
    else:
        start = plain.find(fact)
        while start >= 0:
            if is_free(plain, start, start + len(fact)):
                yield start, start + len(fact)
            start = plain.find(fact, start + 1)


def occurs(plain: str, fact: str) -> bool:
    """True if a fact of one word, or a part of a text, occurs as written, not inside a longer word or number."""
    start = plain.find(fact)
    while start >= 0 and not is_free(plain, start, start + len(fact)):
        start = plain.find(fact, start + 1)
    return start >= 0


def is_free(plain: str, start: int, end: int) -> bool:
    """True if what stands from `start` to `end` of a text is not a part of a longer word or number."""
    # most facts stand between two of these, which never belong to a word or number
    if (plain[start - 1 : start] or " ") in _BREAKS and plain[end : end + 1] in _BREAKS:
        return True
    return _ends(plain[start], plain[max(0, start - 2) : start][::-1]) and _ends(plain[end - 1], plain[end : end + 2])


_BREAKS = frozenset("\n\t ,;:()[]{}'\"=<>|`") | {""}


def _ends(edge: str, beyond: str) -> bool:
    """True if a string ends at its edge; `beyond` are the two characters behind it, the nearer one first."""
    if not beyond or not _is_word(edge):
        return True
    if _is_word(beyond[0]):
        return False
    return not (edge.isdigit() and beyond[0] == "." and beyond[1:].isdigit())  # .5 of 0.5 is half a number


def _is_word(char: str) -> bool:
    return char == "_" or char.isalnum()
