"""What counts as a secret: by its format (gitleaks.toml, own_rules.toml), or by the name beside it.

A secret without a format, beside an ordinary name, stays: look at what you share.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from ..text.common_words import FUNCTION_WORDS

_PLACEHOLDER = re.compile(
    r"REDACTED_|^[$%<{*\[]|[}>*]$|\.\.\.|^(?:x{3,}|password|passwd|pass|secret|token|none|null|true|false|undefined"
    r"|str(?:ing)?|text|optional|required)$"
    r"|your[_-]|example$|^(?:my|the|some|test|dummy|fake|changeme)[_-]|_here$|-here$|placeholder",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z]{16,}")
_CAMEL_CASE = re.compile(r"(?:[a-z]+|(?=[A-Z]))(?:[A-Z]+[a-z]{2,})*[A-Z]*")
_CODE = re.compile(r"[(\[]|^(?:os|self|process|config|settings|env)\.")
_WORDS = re.compile(r"\w+")
_PATH = re.compile(r"[\w.]*/[\w./-]*|[a-z_]+\.[a-z_.]+\d*")


def is_placeholder(text: str) -> bool:
    """True if a text only stands in for a secret: a variable, a word, stars, one of our
    placeholders.

    >>> is_placeholder("$TOKEN"), is_placeholder("<your key>"), is_placeholder("****"), is_placeholder("hunter2!")
    (True, True, True, False)
    """
    return bool(_PLACEHOLDER.search(text)) or len(set(text)) < 4


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, in bits each; 0.0 for an empty text."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def is_mixed(text: str) -> bool:
    """True if a text has letters and digits and is not a placeholder."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text)) and not is_placeholder(text)


def is_random(text: str) -> bool:
    """True if a text has 3 bits of entropy a character, and letters with digits or letters of both
    cases that form no words.

    >>> is_random("q8Zr2LmW0xKt5VbN"), is_random("authentication_required"), is_random("aaaaaaaaaaaaaaa1")
    (True, False, False)
    >>> is_random("hwOVQyKaZgPJyNPuWnff"), is_random("HTTPAuthenticationRequired")
    (True, False)
    """
    letters = _LETTERS.fullmatch(text) and not _CAMEL_CASE.fullmatch(text)
    scrambled = is_mixed(text) or (bool(letters) and not is_placeholder(text))
    return scrambled and entropy(text) >= 3.0


def is_password(text: str) -> bool:
    """True if a text may be a password: neither a placeholder nor code that fetches one."""
    return not is_placeholder(text) and not _CODE.search(text)


def is_assigned(text: str) -> bool:
    """True if the bare value of a secret's key is mixed, and neither code nor a path."""
    return is_mixed(text) and is_setting(text)


def is_setting(text: str) -> bool:
    """True if the value of a secret's key is neither code, a path, a name, nor prose."""
    return is_literal(text) and not _PATH.fullmatch(text)


def is_literal(text: str) -> bool:
    """True if a text under a secret's name may be one: neither a placeholder, code, another such
    name, nor prose, which has a function word or says what it is about.

    >>> is_literal("correct horse"), is_literal("Forgot password?"), is_literal("must be long")
    (True, False, False)
    >>> is_literal("supersecret"), is_literal("DB_PASSWORD"), is_literal("apiKey")
    (True, False, False)
    """
    words = _WORDS.findall(text.lower()) if " " in text else []
    prose = any(word in FUNCTION_WORDS or SECRET_NAMES.fullmatch(word) for word in words)
    name = SECRET_NAMES.fullmatch(text) and not is_mixed(text)
    name = name and not (text.isalpha() and text.islower())
    return is_password(text) and not prose and not name


CHECKS: dict[str, Callable[[str], bool]] = {
    check.__name__: check for check in (is_random, is_mixed, is_password, is_assigned, is_setting)
}


class Rule(msgspec.Struct, frozen=True):
    """One kind of secret. Only a text with one of `keywords` (small letters) is searched with
    `regex`. The secret is `group` of a match (else the group `secret`, else all of it), or what
    `each` finds within that. It counts if `check` accepts it, or without a check if it has
    `entropy` bits a character and is not a placeholder."""

    id: str
    regex: str
    keywords: tuple[str, ...]
    check: str | None = None
    each: str | None = None
    entropy: float | None = None
    group: int | None = None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The places of secrets of this kind in a text."""
        pattern = _pattern(self.regex)
        named = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            spans = [match.span(named if self.group is None else self.group)]
            if self.each is not None:
                inner = _pattern(self.each).finditer(text, *spans[0])
                spans = [within.span("secret") for within in inner]
            bare = (_without_quotes(text, *span) for span in spans)
            yield from (span for span in bare if self._accepts(text[slice(*span)]))

    def _accepts(self, text: str) -> bool:
        if self.check is not None:
            return CHECKS[self.check](text)
        if self.entropy is None and self.group is None:
            return True
        return not is_placeholder(text) and entropy(text) >= (self.entropy or 0.0)


def _without_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """A place without quotation marks around it: with them, JSON would lose its own."""
    quoted = end - start > 2 and text[start] == text[end - 1] and text[start] in "\"'`"
    return (start + 1, end - 1) if quoted else (start, end)


@cache
def _pattern(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _file(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


_own = _file("own_rules.toml")
_NAMES, _HEADERS = _own["names"], _own["headers"]
_own_text = json.dumps(_own["rules"])
for _word in ("before", "names", "headers"):
    _own_text = _own_text.replace(_word.upper(), json.dumps(_own[_word])[1:-1])
*_FORMATS, _QUOTED, _CAPITALS, _ASSIGNED, EMAILS, HOMES = msgspec.json.decode(
    _own_text, type=list[Rule]
)
_GITLEAKS = msgspec.convert(_file("gitleaks.toml")["rules"], list[Rule])
RULES = (*_FORMATS, *_GITLEAKS, _QUOTED, _CAPITALS, _ASSIGNED)
"""The rules in their order: where two find the same text, the first names it."""

SECRET_NAMES = re.compile(rf"(?i)(?:[\w.-]*(?:{_NAMES})|{_HEADERS})")
"""Keys of a mapping whose whole text is a secret."""
