"""The rules by which secrets are found: those of gitleaks (gitleaks.toml), what it lacks (own_rules.toml), and what each must look like beside."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from typing import Any


def is_stand_in(secret: str) -> bool:
    """True if a text only marks the place of a secret: a variable, a word, stars, a placeholder of ours.

    >>> is_stand_in("$TOKEN"), is_stand_in("<your key>"), is_stand_in("****"), is_stand_in("your-api-key-here"), is_stand_in("hunter2!")
    (True, True, True, True, False)
    """
    return bool(_STAND_IN.search(secret)) or len(set(secret)) < 4


_STAND_IN = re.compile(
    r"REDACTED_|^[$%<{*\[]|[}>*]$|\.\.\.|^(?:x{3,}|password|passwd|pass|secret|token|none|null|true|false|undefined)$"
    r"|your[_-]|example$|^(?:my|the|some|test|dummy|fake|changeme)[_-]|_here$|-here$|placeholder",
    re.IGNORECASE,
)


def is_random(secret: str) -> bool:
    """True if a text looks random: letters and digits, or letters of both cases that are no words; at least 3 bits a character, no stand-in.

    >>> is_random("q8Zr2LmW0xKt5VbN"), is_random("authentication_required"), is_random("aaaaaaaaaaaaaaa1")
    (True, False, False)
    >>> is_random("hwOVQyKaZgPJyNPuWnff"), is_random("HTTPAuthenticationRequired"), is_random("xxxxxxxxYourKeyHere")
    (True, False, False)
    """
    scrambled = _LETTERS.fullmatch(secret) and not _WORDS.fullmatch(secret) and not is_stand_in(secret)
    return (is_mixed(secret) or bool(scrambled)) and entropy(secret) >= 3.0


_LETTERS = re.compile(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z]{16,}")
_WORDS = re.compile(r"(?:[a-z]+|(?=[A-Z]))(?:[A-Z]+[a-z]{2,})*[A-Z]*")
"""Words in camel case: each has two small letters or more after its capitals."""


def is_mixed(secret: str) -> bool:
    """True if a text has letters and digits and is no stand-in."""
    return any(map(str.isdigit, secret)) and any(map(str.isalpha, secret)) and not is_stand_in(secret)


def is_password(secret: str) -> bool:
    """True if a text may be a password: no stand-in, no code that fetches one."""
    return not is_stand_in(secret) and not re.search(r"[(\[]|^(?:os|self|process|config|settings|env)\.", secret)


def is_assigned(secret: str) -> bool:
    """True if the value of a secret-named key looks like a secret: mixed, and neither code nor a path."""
    return (
        is_mixed(secret) and is_password(secret) and not re.fullmatch(r"[\w.]*/[\w./-]*|[a-z_]+\.[a-z_.]+\d*", secret)
    )


def is_jwt(secret: str) -> bool:
    """True if the first part of a dotted token decodes to the header of a JWT."""
    try:
        header = json.loads(base64.urlsafe_b64decode(secret.split(".")[0] + "==="))
    except (ValueError, binascii.Error, UnicodeDecodeError):
        return False
    return isinstance(header, dict) and ("alg" in header or "typ" in header)


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, in bits each; 0.0 for an empty text."""
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())


def is_login(secret: str) -> bool:
    """True if a text is a name and a password in base64, as Docker keeps them.

    >>> is_login("Ym9iOmh1bnRlcjIh"), is_login("bm90aGluZyBoZXJl")
    (True, False)
    """
    try:
        name, colon, password = base64.b64decode(secret, validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(name and colon and password) and name.isprintable() and password.isprintable()


def has_entropy(secret: str, least: float) -> bool:
    """True if a text that has a provider's format is no stand-in and has at least so many bits a character."""
    return not is_stand_in(secret) and entropy(secret) >= least


@dataclass(frozen=True)
class Rule:
    """One kind of secret. `hints` are in small letters; a text without any of them is not searched. `group` is the secret in a match; `each` finds
    several within it. `check` says if what was found is one.
    """

    kind: str
    expression: str
    hints: tuple[str, ...]
    check: Callable[[str], bool]
    each: str | None = None
    group: int | str = 0

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when a text has a hint."""
        return re.compile(self.expression)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        for match in self.pattern.finditer(text):
            inner = [match.span(self.group)]
            if self.each is not None:
                inner = [found.span("secret") for found in re.compile(self.each).finditer(text, *inner[0])]
            yield from ((a, b) for a, b in inner if self.check(text[a:b]))


CHECKS = {item.__name__: item for item in (is_random, is_mixed, is_password, is_assigned, is_jwt, is_login)}


def _rules(name: str) -> tuple[Rule, ...]:
    """The rules of a file beside this one: an expression with `entropy`, or with the name of a check."""

    def rule(found: dict[str, Any]) -> Rule:
        named, group = found["regex"], found.get("group", "secret" if "(?P<secret>" in found["regex"] else 0)
        check: Callable[[str], bool] = CHECKS.get(found.get("check", ""), lambda secret: True)
        if "entropy" in found or "group" in found:  # a provider's format: all but stand-ins
            check = partial(has_entropy, least=found.get("entropy", 0.0))
        kind = found["id"].replace("-", "_")
        return Rule(kind, named, tuple(found["keywords"]), check, found.get("each"), group)

    return tuple(map(rule, tomllib.loads(files("bench.recording").joinpath(name).read_text(encoding="utf-8"))["rules"]))


*_OWN, _ASSIGNED, EMAILS, HOMES = _rules("own_rules.toml")
"""The last two are looked for on request."""

RULES: tuple[Rule, ...] = (*_OWN, *_rules("gitleaks.toml"), _ASSIGNED)
"""On by default, in this order: where two find the same text, the first names it."""

SECRET_NAMES = re.compile(
    r"(?i)^(?:[\w.-]*(?:pass(?:word|wd|phrase)|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token"
    r"|client[_-]?secret|private[_-]?key|session[_-]?token)|(?:proxy-)?authorization|x-(?:goog-)?api-key"
    r"|(?:session|id|bearer|csrf|xsrf)[_-]?token|(?:set-)?cookie)$"
)
"""Keys of a mapping whose text is a secret as a whole."""
