"""Spec strings: how a plug-in and its parameters are written, `name:key=value,key=value`, and how they print back.

`SPEC` is `name`, `path/to/file.py:function` (or `:Class.method`), `package.module:name` or
`command:"a command line"`, each with optional parameters after a further colon. A value that holds
`, + : = [ ] | "` or white space is quoted with `"`; lists are `[a,b]`. `5|10` are several values of
one setting, which only what compares strategies takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..model.errors import SpecError

RawValue = str | tuple[str, ...]
QUOTED = r'"(?:\\.|[^"\\])*"'
"""The pattern of a quoted value, in which a backslash keeps the character behind it as it is."""

_SPECIAL = frozenset(',+:=[]|" \t\r\n\\')


@dataclass(frozen=True)
class Spec:
    """One plug-in by name or path, with its parameters as written. `str()` gives the string that parses back to it.

    >>> str(parse_spec('table_console:max_rows=5,noise="a:b"'))
    'table_console:max_rows=5,noise="a:b"'
    """

    target: str
    attribute: str | None = None
    params: tuple[tuple[str, RawValue], ...] = ()

    def __str__(self) -> str:
        named = [self.target] if self.attribute is None else [self.target, self.attribute]
        settings = ",".join(f"{key}={format_value(value)}" for key, value in self.params)
        return ":".join([*map(format_value, named), *([settings] if settings else [])])


def format_value(value: RawValue) -> str:
    """A raw value as it is written in a spec: quoted only where it must be."""
    if isinstance(value, tuple):
        return f"[{','.join(map(format_value, value))}]"
    if value.split() == [value] and not _SPECIAL.intersection(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def split_top(text: str, separator: str) -> list[str]:
    """Split at a separator that is outside quotes and brackets. Raises SpecError on an unclosed one.

    >>> split_top('a="x,y",b=[1,2]', ",")
    ['a="x,y"', 'b=[1,2]']
    """
    parts, start, depth = [], 0, 0
    for match in re.finditer(rf"{QUOTED}|.", text, re.DOTALL):
        depth += {"[": 1, "]": -1}.get(match[0], 0)
        if match[0] == '"':
            raise SpecError(f"spec {text!r}: unclosed quote — close it")
        if depth < 0:
            what = "a closing bracket without an opening one — quote a value that holds one"
            raise SpecError(f"spec {text!r}: {what}")
        if match[0] == separator and depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    if depth:
        raise SpecError(f"spec {text!r}: unclosed bracket — close it")
    return [*parts, text[start:]]


def _unquote(text: str, spec: str) -> str:
    text = text.strip()
    if not text.startswith('"'):
        return text
    if not re.fullmatch(QUOTED, text, re.DOTALL):
        what = f"text after a closing quote in {text!r} — quote the whole value"
        raise SpecError(f"spec {spec!r}: {what}")
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def parse_value(text: str, spec: str) -> RawValue:
    """One parameter value as written: a bare word, a quoted string, or a `[list]`."""
    text = text.strip()
    if text.startswith("["):
        if not text.endswith("]"):
            what = f"text after a closing bracket in {text!r} — write one [list]"
            raise SpecError(f"spec {spec!r}: {what}")
        inner = text[1:-1].strip()
        return tuple(_unquote(item, spec) for item in split_top(inner, ",")) if inner else ()
    if "|" in text and not text.startswith('"'):
        what = f"{text!r} is several settings, and one is asked for"
        raise SpecError(f"spec {spec!r}: {what} — quote a value that is meant as it is")
    return _unquote(text, spec)


def parse_spec(text: str) -> Spec:
    """Parse one SPEC. Raises SpecError naming what is wrong; an empty string is an error.

    >>> parse_spec("mine.py:cut:limit=3")
    Spec(target='mine.py', attribute='cut', params=(('limit', '3'),))
    >>> parse_spec("none").params
    ()
    """
    if called := re.fullmatch(r"([\w.]+)\((.*)\)", text.strip()):
        meant = f"write {called[1]}:{called[2]}"
        raise SpecError(f"spec {text!r}: settings follow a colon — {meant}")
    segments = split_top(text.strip(), ":")
    target, rest = _unquote(segments[0], text), segments[1:]
    if not target:
        raise SpecError(f"spec {text!r}: a name is missing")
    attribute = None
    if target == "command":
        attribute = _unquote(rest.pop(0), text) if rest else ""
        if not attribute:
            what = 'names no program — write command:"node strategy.js"'
            raise SpecError(f"spec {text!r}: {what}")
    elif rest and "=" not in rest[0]:
        attribute = _unquote(rest.pop(0), text)
        if not all(part.isidentifier() for part in attribute.split(".")):
            what = f"{attribute!r} is no function's name" if attribute else "nothing after the colon"
            raise SpecError(f"spec {text!r}: {what} — write name:key=value or file.py:function")
    if len(rest) > 1:
        raise SpecError(f'spec {text!r}: too many colons — quote a value that holds one: key="a:b"')
    params: dict[str, RawValue] = {}
    for item in split_top(rest[0], ",") if rest else []:
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            dashed = equals and "-" in key
            meant = item.replace("-", "_", key.count("-")) if dashed else "name:key=value,key=value"
            what = f"parameter {item!r} is not key=value — write {meant}"
            raise SpecError(f"spec {text!r}: {what}")
        if key in params:
            raise SpecError(f"spec {text!r}: parameter {key} is given twice")
        params[key] = parse_value(value, text)
    return Spec(target, attribute, tuple(params.items()))
