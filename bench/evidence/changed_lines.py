"""Lines of a rewritten result in which a word was changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from ..model.scores import Finding
from ..text.decode import NothingParsed, parse_prefix, plain_lines
from ..text.escapes import unescape
from ..text.line_changes import is_same_form
from ..text.line_places import is_one_word_off
from .own_text import RewrittenResult, lines_shown

_FOLD = re.compile(r"\\\n\s*\\?")
"""Matches a line break that YAML puts within a line."""


def changed_lines(own: RewrittenResult) -> Iterator[Finding]:
    """Yield the lines of a rewritten result in which a word was changed."""
    if own.table.fields and _is_one_value(own.text):
        return  # held against the fields, its texts too
    if own.shows_all:
        return  # every line as it is
    text = own.text if "\\\n" in own.result.text else _FOLD.sub("", own.text)
    if own.columns is not own.table:
        text = own.session.messages.reading(text).outside_records  # which are compared cell by cell
    pairs = dict(altered(own, lines_shown(text)))
    if not own.table.fields:
        for line, was in own.replaced_lines:
            if is_one_word_off(line, was) and is_same_form(line, was):
                pairs.setdefault(line, was)
    yield from (Finding(own.step, *pair) for pair in pairs.items())


def _is_one_value(text: str) -> bool:
    """True if a text is one JSON container and nothing else.

    >>> [_is_one_value(text) for text in ('{"a":\\n1}', '{"a": 1} of 2', '{"a": 1', '"a"', "7")]
    [True, False, False, False, False]
    """
    plain = text.strip().replace("\n", " ")
    if plain[:1] not in ("{", "["):
        return False
    with suppress(NothingParsed):
        return parse_prefix(plain)[1] == len(plain)
    return False


def altered(own: RewrittenResult, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the lines that show a line of the result with another word in it, each with the
    original."""
    step = own.result.index
    original, known = own.session.result_lines(step), own.session.lines_of(step)
    called = plain_lines(own.result.arguments)
    parts = (part for line in lines for part in _lines_within(line))
    for line in dict.fromkeys(parts):
        is_new = line.strip() and line not in known and line.strip() not in called
        if is_new and (was := original.altered(line.rstrip("\\"))):
            yield line.strip(), was.strip()


def _lines_within(line: str) -> list[str]:
    """The lines of a line whose line breaks are written with a backslash.

    >>> _lines_within("'one\\\\ntwo'"), _lines_within("one")
    (["'one", "two'"], ['one'])
    """
    return unescape(line).split("\n") if "\\n" in line else [line]
