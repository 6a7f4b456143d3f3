"""Backslash escapes, as JSON and Python strings have them, resolved to the characters they mean."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL
)
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}
# Replaced without a pattern, which takes ten times as long.
_COMMON_ESCAPES = (
    ("\\n", "\n"),
    ('\\"', '"'),
    ("\\t", "\t"),
    ("\\'", "'"),
    ("\\u0027", "'"),  # this and the next as JSON that is safe in a page of HTML writes them
    ("\\u003c", "<"),
    ("\\u003e", ">"),
    ("\\u0026", "&"),
)
_LEADING_SURROGATE = re.compile("[\ud800-\udbff]")


def unescape_cut(text: str) -> str:
    """A possibly truncated text with its escapes resolved; half an escape at the end is left out.

    >>> unescape_cut("Donor9\\\\u00"), unescape_cut("a\\\\n"), unescape_cut("a\\\\")
    ('Donor9', 'a\\n', 'a')
    """
    return unescape(_HALF_ESCAPE.sub(r"\1", text) if "\\" in text[-5:] else text)


def unescape(text: str) -> str:
    """A text with its backslash escapes resolved, as in JSON and Python strings.

    A lone trailing backslash is kept.

    >>> unescape('a\\\\n\\\\u00b3')
    'a\\n³'
    """
    if "\\" not in text:
        return text

    def resolve(match: re.Match[str]) -> str:
        body = match.group(1)
        if len(body) > 1:
            return chr(int(body[1:], 16))
        return _ESCAPES.get(body, body)

    parts = text.split("\\\\")  # no backslash in a part belongs to another one
    for escape, char in _COMMON_ESCAPES:
        parts = [part.replace(escape, char) for part in parts]
    plain = "\\".join(_ESCAPE.sub(resolve, part) if "\\" in part else part for part in parts)
    if _LEADING_SURROGATE.search(plain):  # a surrogate pair written as two escapes is one character
        plain = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return plain
