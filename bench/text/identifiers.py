"""Identifiers of a text that another one shows cut or taken apart: then they name nothing, or
something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

_IDENTIFIER = re.compile(  # begins with a set of characters, which are found at once
    r"[h~/\da-f-](?:(?<=h)ttps?://[^\s\"'<>()\[\]{}|`,;]+"
    r"|(?<=/)(?<![\w./~-]/)[\w.-]+(?:/[\w.-]+)+|(?<=~)(?<![\w./~-]~)(?:/[\w.-]+){2,}"
    r"|(?<=[\da-f-])(?<![\w.-][\da-f-])(?:(?<=\d)|(?=[a-f-]{0,62}\d))"
    r"(?:(?<=[a-f])|(?=[\d-]{0,62}[a-f]))[\da-f-]{15,63}(?![\w-])"
    r"|(?<=\d)(?<![\w.]\d)\.\d+[eE][-+]?\d+(?!\w))"
)
"""URLs, paths, hashes, and numbers with an exponent."""

_HEAD = re.compile(r"https?://[^/]*|\d\.\d+(?=[eE])|.{7}")
_MORE = re.compile(r"[\w/=&%#-]|\.\w")
_MARKS = ("…", "...", "[", "<", "*", "~")
_FEWEST_PARTS, _MOST, _MOST_CHARS = 3, 200, 200_000


def identifiers_of(text: str) -> tuple[str, ...]:
    """The first distinct identifiers of a text; a very long one is not read to its end."""
    matches = (match[0].rstrip(".:") for match in _IDENTIFIER.finditer(text, 0, _MOST_CHARS))
    return tuple(islice(dict.fromkeys(matches), _MOST))


def broken_identifiers(
    text: str, original: str, identifiers: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Yield what a text shows of some identifiers of another one, which end earlier or stand in
    separate words without a mark.

    Beside each stands the whole one. One that ends at a slash may be a heading, one that ends with
    the text is cut for all to see.

    >>> original = "see https://a.org/watch?v=L1vX and /srv/log/app.txt: 2.20e-58"
    >>> texts = "https://a.org/watch, srv log app txt: 2.20 of it", "https://a.org/watch… /srv/log: app.txt 2.20e-58"
    >>> [[*broken_identifiers(text, original, identifiers_of(original))] for text in texts]  # doctest: +NORMALIZE_WHITESPACE
    [[('https://a.org/watch', 'https://a.org/watch?v=L1vX'), ('srv log app txt', '/srv/log/app.txt'),
      ('2.20', '2.20e-58')], []]
    """
    lacking = [item for item in identifiers if item not in text]
    folded, was = (text.casefold(), original.casefold()) if lacking else ("", "")
    for whole in lacking:
        words = re.findall(r"\w+", whole.casefold())
        apart, begun = " ".join(words), _beginning(text, whole)
        if len(words) >= _FEWEST_PARTS and apart in folded and apart not in was:
            yield apart, whole
        elif begun and not re.search(rf"{re.escape(begun)}(?:[/\s\"'<>(),;:|]|\.?$)", original):
            yield begun, whole


def _beginning(text: str, whole: str) -> str:
    """The beginning of an identifier that stands alone in a text, and no mark behind it; "" for
    none.
    """
    head = _HEAD.match(whole)
    place = text.find(head[0]) if head else -1
    if place < 0 or (place and (text[place - 1].isalnum() or text[place - 1] in "./-_")):
        return ""
    pairs = zip(text[place:], whole, strict=False)
    size = next((at for at, (one, other) in enumerate(pairs) if one != other), len(text) - place)
    begun, behind = whole[:size], text[place + size :]
    at_slash = "/" in whole[size - 1 : size + 1]
    return (
        ""
        if at_slash
        or _MORE.match(behind)
        or not behind.strip()
        or behind.lstrip().startswith(_MARKS)
        else begun
    )
