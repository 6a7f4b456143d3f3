"""Spec strings: how a plug-in and its parameters are written, `name:key=value,key=value`, and how they print back.

`SPEC` is `name`, `path/to/file.py:function` (or `:Class.method`), `package.module:name` or `command:"a command line"`, each with optional
parameters after a further colon. A value that holds `, + : = [ ] | "` or white space is quoted with `"`; lists are `[a,b]`. `5|10` and
`0.5..0.9..0.1` are several values of one setting, which only what compares strategies takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..model.errors import SpecError

RawValue = str | tuple[str, ...]
_NUMBER = r"-?\d+(?:\.\d+)?"
RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})\.\.({_NUMBER})")
"""Several values of one setting: first, last and step."""

QUOTED = r'"(?:\\.|[^"\\])*"'
"""The pattern of a quoted value, in which a backslash keeps the character behind it as it is."""

_SPECIAL = set(',+:=[]|" \t\r\n\\')


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
        head = _quote(self.target, _SPECIAL) + (f":{_quote(self.attribute, _SPECIAL)}" if self.attribute else "")
        if not self.params:
            return head
        return f"{head}:" + ",".join(f"{key}={format_value(value)}" for key, value in self.params)

    def setting(self, name: str, value: RawValue) -> Spec:
        """The same plug-in with one parameter set to a value, written last."""
        others = tuple((key, written) for key, written in self.params if key != name)
        return replace(self, params=(*others, (name, value)))


def is_sweep(text: str) -> bool:
    """True if an unquoted value stands for several.

    >>> is_sweep("5|10"), is_sweep("0..1..0.5"), is_sweep("../runs")
    (True, True, False)
    """
    return "|" in text or RANGE.fullmatch(text) is not None


def format_value(value: RawValue) -> str:
    """A raw value as it is written in a spec: quoted only where it must be."""
    if isinstance(value, tuple):
        return "[" + ",".join(_quote(item, _SPECIAL) for item in value) + "]"
    return _quote(value, _SPECIAL)


def _quote(text: str, special: set[str]) -> str:
    # no blank of any kind: those at the ends would be stripped
    if text.split() == [text] and not special.intersection(text) and not is_sweep(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def split_top(text: str, separator: str) -> list[str]:
    """Split at a separator that is outside quotes and brackets. Raises SpecError on an unclosed one.

    >>> split_top('a="x,y",b=[1,2]', ",")
    ['a="x,y"', 'b=[1,2]']
    """
    parts, start, depth = [], 0, 0
    for found in re.finditer(rf"{QUOTED}|.", text, re.DOTALL):
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        if found[0] == '"':
            raise SpecError(f"spec {text!r}: unclosed quote — close it")
        if depth < 0:
            raise SpecError(f"spec {text!r}: a closing bracket without an opening one — quote a value that holds one")
        if found[0] == separator and depth == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    if depth:
        raise SpecError(f"spec {text!r}: unclosed bracket — close it")
    return [*parts, text[start:]]


def _unquote(text: str, whole: str) -> str:
    text = text.strip()
    if not text.startswith('"'):
        return text
    if not re.fullmatch(QUOTED, text, re.DOTALL):
        raise SpecError(f"spec {whole!r}: text after a closing quote in {text!r} — quote the whole value")
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def parse_value(text: str, whole: str) -> RawValue:
    """One parameter value as written: a bare word, a quoted string, or a `[list]`."""
    text = text.strip()
    if text.startswith("["):
        if not text.endswith("]"):
            raise SpecError(f"spec {whole!r}: text after a closing bracket in {text!r} — write one [list]")
        inner = text[1:-1].strip()
        return tuple(_unquote(item, whole) for item in split_top(inner, ",")) if inner else ()
    if not text.startswith('"') and is_sweep(text):
        what = f"spec {whole!r}: {text!r} is several settings, and one is asked for"
        raise SpecError(f"{what} — quote a value that is meant as it is")
    return _unquote(text, whole)


def parse_spec(text: str) -> Spec:
    """Parse one SPEC. Raises SpecError naming what is wrong; an empty string is an error.

    >>> parse_spec("mine.py:cut:limit=3")
    Spec(target='mine.py', attribute='cut', params=(('limit', '3'),))
    >>> parse_spec("none").params
    ()
    """
    if called := re.fullmatch(r"([\w.]+)\((.*)\)", text.strip()):
        raise SpecError(f"spec {text!r}: settings follow a colon — write {called[1]}:{called[2]}")
    segments = split_top(text.strip(), ":")
    target, rest = _unquote(segments[0], text), segments[1:]
    if not target:
        raise SpecError(f"spec {text!r}: a name is missing")
    attribute = None
    if target == "command":
        attribute = _unquote(rest.pop(0), text) if rest else ""
        if not attribute:
            raise SpecError(f'spec {text!r}: names no program — write command:"node strategy.js"')
    elif rest and "=" not in rest[0]:
        attribute = _unquote(rest.pop(0), text)
        if not all(part.isidentifier() for part in attribute.split(".")):
            what = f"{attribute!r} is no function's name" if attribute else "nothing after the colon"
            raise SpecError(f"spec {text!r}: {what} — write name:key=value or file.py:function")
    if len(rest) > 1:
        raise SpecError(f'spec {text!r}: too many colons — quote a value that holds one: key="a:b"')
    params: list[tuple[str, RawValue]] = []
    for item in split_top(rest[0], ",") if rest else []:
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            meant = item.replace(key, key.replace("-", "_"), 1) if equals and "-" in key else "name:key=value,key=value"
            raise SpecError(f"spec {text!r}: parameter {item!r} is not key=value — write {meant}")
        if any(key == known for known, _ in params):
            raise SpecError(f"spec {text!r}: parameter {key} is given twice")
        params.append((key, parse_value(value, text)))
    return Spec(target, attribute, tuple(params))


def targets(slots: str) -> set[str]:
    """The plug-ins that fill the slots of a strategy, `SLOT=SPEC+SLOT=SPEC`, without settings. What cannot be parsed stands for itself.

    >>> sorted(targets('summarizer=mine.py:cut:limit=3+routers=[a,"b:at=end"]')), targets("x=:")
    (['routers=a', 'routers=b', 'summarizer=mine.py:cut'], {'x=:'})
    """
    try:
        parts = [part.partition("=") for part in split_top(slots, "+") if part]
        values = ((slot, parse_value(text, slots) if text.startswith("[") else (text,)) for slot, _, text in parts)
        return {f"{slot}={replace(parse_spec(one), params=())}" for slot, several in values for one in several}
    except SpecError:
        return {slots}
