"""Removing secrets from traces. Equal secrets get equal placeholders, so what depended on one still
does.

A secret is found by the rules of `secret_rules`, also in JSON in a string, complete or cut, and in
base64. Once known, it is removed everywhere.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from ahocorasick_rs import AhoCorasick, MatchKind

from ..model import Trace, encodable
from .secret_rules import EMAILS, HOMES, RULES, SECRET_NAMES, is_literal, is_mixed
from .values import as_dict

_SHORTEST = 8  # characters; a shorter secret is removed only where it was found
_OPENED = 4  # how often base64 of base64 is opened
_ESCAPE = re.compile(r"\\[nrt]")  # of blanks in JSON: before a secret they would seem a part of it
_KEY_BEFORE, _NUMBER = re.compile(r"""(\\*")\s*:\s*$"""), re.compile(r"[\d.eE+-]+")
_BASE64 = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,}={0,2}(?![\w+/=-])")


class Redactor:
    """Removes secrets from values and traces. Each secret has one placeholder (`REDACTED_JWT_1`)
    within a Redactor, so use one for a whole import.

    `emails` and `homes` (the user's name in home paths) are removed on request. `removed` counts,
    by kind, the places where something was removed.

    >>> redactor = Redactor()
    >>> redactor.value(["GET https://bob:hunter2!@db.local/x", {"password": "hunter2!", "user": "bob"}])
    ['GET https://bob:REDACTED_URL_PASSWORD_1@db.local/x', {'password': 'REDACTED_URL_PASSWORD_1', 'user': 'bob'}]
    >>> dict(redactor.removed)
    {'url_password': 2}
    >>> Redactor().value('[1.50,  {"password":  "hunter2!"}]')  # what surrounds it stays
    '[1.50,  {"password":  "REDACTED_ASSIGNED_1"}]'

    Source: github.com/gitleaks/gitleaks, config/gitleaks.toml; RFC 7519 (JWT); RFC 6750 (bearer
    tokens); RFC 6265 (cookies)
    """

    def __init__(self, *, emails: bool = False, homes: bool = False) -> None:
        self.rules = (*RULES, *((EMAILS,) if emails else ()), *((HOMES,) if homes else ()))
        self.removed: Counter[str] = Counter()
        self._hints = [(hint, at) for at, rule in enumerate(self.rules) for hint in rule.keywords]
        self._placeholders: dict[str, str] = {}  # by secret
        self._kinds: dict[str, str] = {}  # by placeholder
        self._numbers: Counter[str] = Counter()
        # Secrets that are removed wherever they stand, with placeholders.
        self._alone: dict[str, str] = {}
        self._automaton: AhoCorasick | None = None  # of these secrets

    def trace(self, trace: Trace) -> Trace:
        """The trace without secrets, with the number of removals by kind in `meta["redacted"]`; the
        trace itself where nothing was removed.

        >>> from bench.model import Source, UserTurn
        >>> step = UserTurn(index=0, content="use AKIA" + "Q3EGB7ZLX2NPW5TD")
        >>> clean = Redactor().trace(Trace(id="a", source=Source(format="native"), steps=(step,)))
        >>> clean.steps[0].content, clean.meta
        ('use REDACTED_AWS_KEY_1', {'redacted': {'aws_key': 1}})
        """
        before = self.removed.copy()
        clean: Trace = self.value(trace)
        removed = self.removed - before
        if not removed:
            return trace
        removed += Counter(as_dict(trace.meta.get("redacted")))
        meta = {**clean.meta, "redacted": dict(sorted(removed.items()))}
        return msgspec.structs.replace(clean, meta=meta)

    def value(self, value: Any) -> Any:
        """The value with every text and key redacted; structs, tuples and lists keep their type."""
        before = self.removed.copy()
        _rewritten(value, self._redacted)  # all secrets are known before any is replaced
        self.removed = before
        return _rewritten(value, self._redacted)

    def _spans(self, name: str, text: str) -> list[tuple[int, int, str]]:
        """The places of secrets in a field's text, with kinds; of two that overlap the first."""
        head = f"{name}: " if name else ""
        spans: list[tuple[int, int, str]] = []
        taken = bytearray(len(text))
        for start, end, kind in self._matches(_ESCAPE.sub(" \n", head + text)):
            first, last = start - len(head), end - len(head)
            if first >= 0 and not any(taken[first:last]):
                taken[first:last] = b"\1" * (last - first)
                spans.append((first, last, kind))
        named = len(text) >= 4 and SECRET_NAMES.fullmatch(name) and is_literal(text)
        return sorted(spans) or ([(0, len(text), "assigned")] if named else [])

    def _matches(self, text: str) -> Iterator[tuple[int, int, str]]:
        lowered = text.lower()
        for at in sorted({at for hint, at in self._hints if hint in lowered}):
            rule = self.rules[at]
            kind = rule.id.replace("-", "_")
            yield from ((start, end, kind) for start, end in rule.spans(text))

    def _placeholder(self, found: str, kind: str) -> str:
        secret = _unescaped(found)
        if secret not in self._placeholders:
            self._numbers[kind] += 1
            placeholder = f"REDACTED_{kind.upper()}_{self._numbers[kind]}"
            self._placeholders[secret], self._kinds[placeholder] = placeholder, kind
            if len(secret) >= _SHORTEST and (is_mixed(secret) or kind == "private_key"):
                escaped = json.dumps(secret)[1:-1]
                forms = (found, secret, escaped, json.dumps(escaped)[1:-1])
                self._alone |= dict.fromkeys(forms, placeholder)
                self._automaton = None
        return self._placeholders[secret]

    def _redacted(self, name: str, text: str, depth: int = _OPENED) -> str:
        """The text of a field without secrets; base64 in it is opened `depth` times."""
        spans = [
            (start, end, self._placeholder(text[start:end], kind))
            for start, end, kind in self._spans(name, text)
        ]
        text = self._replaced(text, spans)
        if self._alone:
            text = self._replaced(text, self._known_in(text))
        return _BASE64.sub(lambda match: self._repacked(match[0], depth), text) if depth else text

    def _known_in(self, text: str) -> Iterator[tuple[int, int, str]]:
        secrets = list(self._alone)
        if self._automaton is None:
            known = list(map(encodable, secrets))
            self._automaton = AhoCorasick(known, matchkind=MatchKind.LeftmostLongest)
        for number, start, end in self._automaton.find_matches_as_indexes(encodable(text)):
            yield start, end, self._alone[secrets[number]]

    def _replaced(self, text: str, spans: Iterable[tuple[int, int, str]]) -> str:
        pieces, position = [], 0
        for start, end, placeholder in spans:
            quote = _KEY_BEFORE.search(text, max(position, start - 20), start)
            is_number = quote and _NUMBER.fullmatch(text, start, end)  # becomes a string of JSON
            quoted = f"{quote[1]}{placeholder}{quote[1]}" if quote and is_number else placeholder
            pieces += [text[position:start], quoted]
            position = end
            self.removed[self._kinds[placeholder]] += 1
        return "".join([*pieces, text[position:]])

    def _repacked(self, packed: str, depth: int) -> str:
        body = packed.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            plain = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode("utf-8")
        except ValueError:
            return packed
        printable = all(char.isprintable() or char in "\r\n\t" for char in plain)
        clean = self._redacted("", plain, depth - 1) if printable else plain
        if clean == plain:
            return packed
        again = base64.b64encode(clean.encode()).decode()
        if "-" in packed or "_" in packed:
            again = again.replace("+", "-").replace("/", "_")
        return again if len(packed) % 4 == 0 else again.rstrip("=")


def _unescaped(text: str) -> str:
    """A text without the escapes that JSON needs, also in JSON in JSON."""
    for _ in range(2):
        try:
            text = json.loads(f'"{text}"') if "\\" in text else text
        except ValueError:
            break
    return text


_Change = Callable[[str, str], str]


def _rewritten(value: Any, change: _Change, name: str = "") -> Any:
    """The value with each text replaced by `change(name of its field, text)`; keys have none."""
    if isinstance(value, str):
        return change(name, value)
    if isinstance(value, msgspec.Struct):
        fields = {field: getattr(value, field) for field in value.__struct_fields__}
        new = {field: _rewritten(item, change, field) for field, item in fields.items()}
        return msgspec.structs.replace(value, **new)
    if isinstance(value, dict):
        named = value.get("name", value.get("key"))  # a header states its name beside its value
        telling = {"value": named} if isinstance(named, str) else {}
        inner = {key: str(key) for key in value} | telling
        return {
            change("", key) if isinstance(key, str) else key: _rewritten(item, change, inner[key])
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        texts = len(value) == 2 and all(isinstance(item, str) for item in value)
        # Of two texts the first may name the second.
        pair = texts and len(value[0]) < 60 and not SECRET_NAMES.fullmatch(name)
        names = [name, value[0]] if pair else [name] * len(value)
        items = (_rewritten(item, change, inner) for inner, item in zip(names, value, strict=True))
        return type(value)(items)
    return value
