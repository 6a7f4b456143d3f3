"""Spec strings, `name:key=value,key=value`, parsed and printed.

`SPEC` is `name`, `path/to/file.py:function` (or `:Class.method`), `package.module:name` or
`command:"a command line"`, each with optional parameters after another colon. A value with `, + : =
[ ] | "` or white space is quoted with `"`; lists are `[a,b]`. `5|10` is a sweep: the values of a
setting to try one after another, which only comparisons of strategies accept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..model.errors import SpecError

COMMAND = "command"
"""The target of a spec that names a program: `command:"node strategy.js"`."""


class Sweep(tuple[str, ...]):
    """The values of a setting that are to be tried one after another."""


RawValue = str | tuple[str, ...]
_QUOTED = r'"(?:\\.|[^"\\])*"'  # in which \" is a quote and \\ a backslash
_SPECIAL = frozenset(',+:=[]|" \t\r\n\\')


@dataclass(frozen=True)
class Spec:
    """One plug-in by name or path, with its parameters as written; `str()` parses back to it.

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
    """A raw value as text of a spec, quoted only if needed."""
    if isinstance(value, Sweep):
        return "|".join(map(format_value, value))
    if isinstance(value, tuple):
        return f"[{','.join(map(format_value, value))}]"
    if value.split() == [value] and not _SPECIAL.intersection(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _error(text: str, problem: str) -> SpecError:
    return SpecError(f"spec {text!r}: {problem}")


def split_top(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are not in quotes or brackets. Raises SpecError
    for an unclosed quote or bracket.

    >>> split_top('a="x,y",b=[1,2]', ",")
    ['a="x,y"', 'b=[1,2]']
    """
    parts, start, depth = [], 0, 0
    for token in re.finditer(rf"{_QUOTED}|.", text, re.DOTALL):
        depth += {"[": 1, "]": -1}.get(token[0], 0)
        if token[0] == '"':
            raise _error(text, "unclosed quote — close it")
        if depth < 0:
            raise _error(
                text, "a closing bracket without an opening one — quote a value that holds one"
            )
        if token[0] == separator and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    if depth:
        raise _error(text, "unclosed bracket — close it")
    return [*parts, text[start:]]


def _unquoted(text: str, whole: str) -> str:
    """A value without its quotes. Raises SpecError for text after the closing quote; the error
    quotes the spec, `whole`."""
    text = text.strip()
    if not text.startswith('"'):
        return text
    if not re.fullmatch(_QUOTED, text, re.DOTALL):
        raise _error(whole, f"text after a closing quote in {text!r} — quote the whole value")
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def parse_value(text: str, whole: str) -> RawValue:
    """The value of a bare word, a quoted string, a `[list]` or a sweep. Raises SpecError, which
    quotes the spec, `whole`."""
    text = text.strip()
    if text.startswith("["):
        if not text.endswith("]"):
            raise _error(whole, f"text after a closing bracket in {text!r} — write one [list]")
        inner = text[1:-1].strip()
        return tuple(_unquoted(item, whole) for item in split_top(inner, ",")) if inner else ()
    if "|" in text and not text.startswith('"'):
        values = Sweep(_unquoted(value, whole) for value in split_top(text, "|"))
        if not all(values):
            raise _error(whole, f"the sweep {text!r} has an empty value — write 5|10|20")
        return values
    return _unquoted(text, whole)


def parse_spec(text: str) -> Spec:
    """The parsed SPEC. Raises SpecError for a malformed or empty one.

    >>> parse_spec("mine.py:cut:limit=3")
    Spec(target='mine.py', attribute='cut', params=(('limit', '3'),))
    >>> parse_spec("none").params
    ()
    """
    first, *rest = split_top(text.strip(), ":")
    target = _unquoted(first, text)
    if not target:
        raise _error(text, "a name is missing")
    attribute: str | None = None
    if rest and (target == COMMAND or "=" not in rest[0]):
        attribute = _unquoted(rest.pop(0), text)
    _require_name(target, attribute, text)
    if len(rest) > 1:
        raise _error(text, 'too many colons — quote a value that holds one: key="a:b"')
    return Spec(target, attribute, _params(rest[0], text) if rest else ())


def _require_name(target: str, attribute: str | None, text: str) -> None:
    """Raise SpecError if the part after a target is not the name of a function or method."""
    if target == COMMAND or attribute is None:
        return
    if not all(part.isidentifier() for part in attribute.split(".")):
        what = f"{attribute!r} is no function's name" if attribute else "nothing after the colon"
        raise _error(text, f"{what} — write name:key=value or file.py:function")


def _params(written: str, text: str) -> tuple[tuple[str, RawValue], ...]:
    """The parameters `key=value,key=value` of a spec. Raises SpecError, which quotes all `text`."""
    params: dict[str, RawValue] = {}
    for item in split_top(written, ","):
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            has_dash = equals and "-" in key
            example = f"{key.replace('-', '_')}={value}" if has_dash else "name:key=value,key=value"
            raise _error(text, f"parameter {item!r} is not key=value — write {example}")
        if key in params:
            raise _error(text, f"parameter {key} is given twice")
        params[key] = parse_value(value, text)
    return tuple(params.items())
