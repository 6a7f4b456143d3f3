"""Removing secrets from traces: each gets one placeholder, so that what depended on it still does.

A secret is found by its format (`redaction_rules.py`), by the name that it stands under, inside JSON in a string, inside base64, and where two
messages cut it in two; once known it is removed wherever the trace holds it. What has no format and stands under no telling name stays: look at what
you share.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import msgspec

from ..model import Trace, compact_json, too_deep
from .redaction_rules import EMAILS, HOMES, RULES, SECRET_NAMES, is_mixed, is_password, is_random

_SEAM = 300  # characters on each side of the place where one message ends and the next begins
_MESSAGES = {"content", "text", "seen", "summary"}
_EVERYWHERE = 8  # characters from which a secret is removed where only itself stands
_DEPTH = 4  # how often JSON in JSON, or base64 of it, is opened
_LEVELS = 25  # how deep such JSON may be nested

PACKED = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,}={0,2}(?![\w+/=-])")
"""The characters of base64, in either alphabet."""

CONTINUED = re.compile(r"(?:\\\r?\n|\\{3}n)[ \t]{0,16}(?=[\w+/=:.-])")
"""A backslash at the end of a line, and the blanks before the next word; as it is, or as JSON in a text writes it."""

Span = tuple[int, int, str]
"""The place of a secret, and its kind."""


class Redactor:
    """Removes secrets from texts and values. One secret has one placeholder, `REDACTED_JWT_1`; numbers count within one Redactor.

    `emails` and `homes` (the user's name in home paths) are removed on request. `removed` counts, by kind, the places where something was removed.

    >>> redactor = Redactor()
    >>> redactor.value(["GET https://bob:hunter2!@db.local/x", {"password": "hunter2!", "user": "bob"}])
    ['GET https://bob:REDACTED_URL_PASSWORD_1@db.local/x', {'password': 'REDACTED_URL_PASSWORD_1', 'user': 'bob'}]
    >>> dict(redactor.removed)
    {'url_password': 2}

    Source: github.com/gitleaks/gitleaks, config/gitleaks.toml (formats of keys); RFC 7519 (JWT); RFC 6750 (bearer tokens); RFC 6265 (cookies)
    """

    def __init__(self, *, emails: bool = False, homes: bool = False) -> None:
        self.rules = (*RULES, *((EMAILS,) if emails else ()), *((HOMES,) if homes else ()))
        self.removed: Counter[str] = Counter()
        self._hints = [(hint, at) for at, rule in enumerate(self.rules) for hint in rule.hints]
        self._placeholders: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._anywhere: dict[str, str] = {}
        self._known: re.Pattern[str] | None = None
        self._tails: dict[str, tuple[str, str]] = {}
        self._heads: dict[str, tuple[str, str]] = {}

    def value(self, value: Any) -> Any:
        """A value with every text in it redacted, keys of mappings too; structs, tuples and lists keep their type. The value itself is unchanged."""
        before = ""
        for name, text in texts_in(value):
            self._learn(name, text, _DEPTH)
            if name in _MESSAGES and text:
                self._learn_seam(before, text)
                before = text
        return rewritten(value, lambda name, text: self._text(name, text, _DEPTH))

    # ------------------------------------------------------------ finding

    def _spans(self, name: str, text: str) -> list[Span]:
        """Return the spans of secrets in a text, from left to right, none within another. `name` is the text's key."""
        head = f"{name}: " if name else ""
        found: list[Span] = []  # from left to right: of two that overlap the first found counts
        for start, end, kind in self._matches(head + text):
            span = (start - len(head), end - len(head), kind)
            at = bisect_left(found, span)
            free = (at == 0 or found[at - 1][1] <= span[0]) and (at == len(found) or span[1] <= found[at][0])
            if span[0] >= 0 and free:
                found.insert(at, span)
        if (
            not found
            and SECRET_NAMES.match(name)
            and is_password(text)
            and not re.search(r"\s", text)
            and len(text) >= 4
        ):
            found.append((0, len(text), "assigned"))
        return found

    def _matches(self, text: str) -> Iterator[Span]:
        """Yield what the rules find in a text; before that what they find of it where a backslash takes the ends of lines back."""
        if ends := [found.span() for found in CONTINUED.finditer(text)]:
            pieces = [text[a:b] for (_, a), (b, _) in zip([(0, 0), *ends], [*ends, (len(text), 0)], strict=True)]
            places = [0, *(end for _, end in ends)]
            joins = [0, *accumulate(map(len, pieces[:-1]))]  # where each piece begins in the text without these ends
            for start, end, kind in self._matches("".join(pieces)):
                first, last = bisect_right(joins, start) - 1, bisect_left(joins, end) - 1
                if first != last:  # any other is found below
                    yield start - joins[first] + places[first], end - joins[last] + places[last], kind
        lowered = text.lower()
        for at in sorted({at for hint, at in self._hints if hint in lowered}):
            yield from ((start, end, self.rules[at].kind) for start, end in self.rules[at].spans(text))

    def _learn(self, name: str, text: str, depth: int) -> None:
        """Find the secrets of a text before any is replaced, so that the places where one is bare are known too."""
        for start, end, kind in self._spans(name, text):
            self._take(text[start:end], kind)
        if depth and text[:1] in _JSON:
            for inner_name, inner in texts_in(_decoded(text)):
                self._learn(inner_name, inner, depth - 1)
        if depth and len(text) >= 24:
            for match in PACKED.finditer(text):
                if (plain := unpacked(match[0])) is not None:
                    self._learn("", plain, depth - 1)

    def _learn_seam(self, before: str, after: str) -> None:
        """Find a secret that begins at the end of one message and ends in the next. Where its first half is a secret by itself, what follows
        belongs to it only if it is no word."""
        left, right = before[-_SEAM:], after[:_SEAM]
        for start, end, kind in self._spans("", left + right) if left else ():
            if not start < len(left) < end:
                continue
            first, second = left[start:], right[: end - len(left)]
            complete = any(end == len(left) for _, end, _ in self._spans("", left))
            both_cases = second not in (second.lower(), second.upper())  # as random keys have, and most names do not
            if complete and not (len(second) >= _EVERYWHERE and is_random(second) and both_cases):
                continue
            placeholder = self._placeholders.get(first) or self._take(first + second, kind)
            self._tails[before], self._heads[after] = (first, placeholder), (second, placeholder)

    def _take(self, secret: str, kind: str) -> str:
        """The placeholder of a secret, a new one for a new secret."""
        if secret not in self._placeholders:
            self._numbers[kind] += 1
            placeholder = f"REDACTED_{kind.upper()}_{self._numbers[kind]}"
            self._placeholders[secret], self._kinds[placeholder] = placeholder, kind
            if len(secret) >= _EVERYWHERE and (is_mixed(secret) or kind == "private_key"):
                escaped = json.dumps(secret)[1:-1]
                self._anywhere |= {secret: placeholder, escaped: placeholder, json.dumps(escaped)[1:-1]: placeholder}
                self._known = None
        return self._placeholders[secret]

    # ------------------------------------------------------------ replacing

    def _text(self, name: str, text: str, depth: int) -> str:
        if name in _MESSAGES:
            text = self._without_halves(text)
        pieces, position = [], 0
        for start, end, kind in self._spans(name, text):
            pieces += [text[position:start], self._put(self._take(text[start:end], kind))]
            position = end
        text = "".join([*pieces, text[position:]]) if pieces else text
        if self._anywhere:
            if self._known is None:
                self._known = re.compile(_any_of(sorted(self._anywhere, key=len, reverse=True)))
            text = self._known.sub(lambda match: self._put(self._anywhere[match[0]]), text)
        if depth and text[:1] in _JSON and (decoded := _decoded(text)) is not None:
            redacted = rewritten(decoded, lambda inner, held: self._text(inner, held, depth - 1))
            text = text if redacted is decoded else compact_json(redacted)
        return PACKED.sub(lambda match: self._repacked(match[0], depth), text) if depth and len(text) >= 24 else text

    def _without_halves(self, text: str) -> str:
        """A message without the half of a secret that it begins or ends with."""
        head, tail = self._heads.get(text), self._tails.get(text)
        if tail is not None:
            text = text.removesuffix(tail[0]) + self._put(tail[1])
        return text if head is None else self._put(head[1]) + text.removeprefix(head[0])

    def _repacked(self, blob: str, depth: int) -> str:
        plain = unpacked(blob)
        if plain is None:
            return blob
        redacted = self._text("", plain, depth - 1)
        return blob if redacted == plain else packed_again(redacted, blob)

    def _put(self, placeholder: str) -> str:
        self.removed[self._kinds[placeholder]] += 1
        return placeholder


def _any_of(texts: Sequence[str], depth: int = 4) -> str:
    """A pattern for any of some texts, the first of them that fits; by their first characters, so that many of them cost little more than one."""
    by_first: dict[str, list[str]] = {}
    for text in texts:
        by_first.setdefault(text[:1], []).append(text[1:])
    if depth == 0 or "" in by_first:
        return "|".join(map(re.escape, texts))
    branches = [re.escape(char) + (f"(?:{_any_of(rest, depth - 1)})") for char, rest in by_first.items()]
    return "|".join(branches)


_JSON = ("{", "[", '"')


def redacted(trace: Trace, *, emails: bool = False, homes: bool = False) -> Trace:
    """A trace without its secrets: `meta["redacted"]` counts, by kind, the places where one was removed. The trace itself where there is none.

    >>> from bench.model import Source, UserTurn
    >>> key = "AKIA" + "Q3EGB7ZLX2NPW5TD"
    >>> one = redacted(Trace(id="a", source=Source(format="native"), steps=(UserTurn(index=0, content=f"use {key}"),)))
    >>> one.steps[0].content, one.meta
    ('use REDACTED_AWS_KEY_1', {'redacted': {'aws_key': 1}})
    """
    redactor = Redactor(emails=emails, homes=homes)
    clean: Trace = redactor.value(trace)
    if not redactor.removed:
        return trace
    before = trace.meta.get("redacted")
    removed = redactor.removed + Counter(before if isinstance(before, dict) else {})
    return msgspec.structs.replace(clean, meta={**clean.meta, "redacted": dict(sorted(removed.items()))})


def texts_in(value: Any) -> list[tuple[str, str]]:
    """Every text in a value, each with the name that it stands under; keys of mappings are texts without one.

    >>> texts_in({"a": ["x", 1], "headers": [{"name": "cookie", "value": "y"}]})
    [('', 'a'), ('a', 'x'), ('', 'headers'), ('', 'name'), ('name', 'cookie'), ('', 'value'), ('cookie', 'y')]
    """
    found: list[tuple[str, str]] = []

    def note(name: str, text: str) -> str:
        found.append((name, text))
        return text

    rewritten(value, note)
    return found


def rewritten(value: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """A value with each text in it as `change` makes it, given the name that it stands under; structs, tuples and lists keep their type, and
    what has no changed text in it is the same object."""
    if isinstance(value, str):
        return change(name, value)
    if isinstance(value, msgspec.Struct):
        fields = {field: getattr(value, field) for field in value.__struct_fields__}
        made = {field: rewritten(item, change, field) for field, item in fields.items()}
        changed = {field: item for field, item in made.items() if item is not fields[field]}
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, dict):
        made = {change("", key) if isinstance(key, str) else key: rewritten(item, change, _name_of(value, key))
                for key, item in value.items()}  # fmt: skip
        same = len(made) == len(value) and all(a is b and made[a] is value[b] for a, b in zip(made, value, strict=True))
        return value if same else made
    if isinstance(value, list | tuple):
        items = [rewritten(item, change, inner) for inner, item in zip(_names_of(name, value), value, strict=True)]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else type(value)(items)
    return value


def _name_of(mapping: dict[Any, Any], key: Any) -> str:
    """Return the name of a mapping's item: its key, or the name that a header states beside its value."""
    named = mapping.get("name", mapping.get("key")) if key == "value" else None
    return named if isinstance(named, str) else key if isinstance(key, str) else ""


def _names_of(name: str, items: list[Any] | tuple[Any, ...]) -> list[str]:
    """Return the names of a list's items: the list's name; in a pair of texts, as headers are listed, the first names the second."""
    pair = len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], str) and len(items[0]) < 60
    return [name, items[0]] if pair else [name] * len(items)


def _decoded(text: str) -> Any:
    """The mapping or list that a text is as JSON; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, str) and value[:1] in ("{", "["):
        return _decoded(value)
    return value if isinstance(value, dict | list) and not too_deep(value, _LEVELS) else None


def unpacked(blob: str) -> str | None:
    """The printable text that a blob is in base64; None where it is none.

    >>> unpacked("QXV0aG9yaXphdGlvbjogQmVhcmVyIHh5eg=="), unpacked("not_base64_at_all_but_a_name")
    ('Authorization: Bearer xyz', None)
    """
    body = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode("utf-8")
    except (ValueError, binascii.Error):
        return None
    return text if all(char.isprintable() or char in "\r\n\t" for char in text) else None


def packed_again(text: str, blob: str) -> str:
    """A text in base64, written as the blob was: its alphabet, and `=` at its end only where the blob has it.

    >>> packed_again("ab", "eA=="), packed_again("ab", "eA")
    ('YWI=', 'YWI')
    """
    made = base64.b64encode(text.encode()).decode()
    made = made.replace("+", "-").replace("/", "_") if "-" in blob or "_" in blob else made
    return made if len(blob) % 4 == 0 else made.rstrip("=")
