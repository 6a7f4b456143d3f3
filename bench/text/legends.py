"""Short names in a text, replaced by what the text itself says that they stand for.

A legend is a line that gives meanings to names: the untruncated result has every word of a meaning,
but not the name, and other lines of the text use it.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache

from .decode import NothingParsed, parse_json
from .escapes import unescape

_NAME = r"(?:[^\w\s]{0,4}\w{1,40}[^\w\s]{0,4}?|[^\w\s]{1,4}?)"
"""Matches a name: a word or number with signs around it, or signs alone."""
_MEANS = r"(?:\s?(?:=|->|→|: )|(?<=\d\]) | means | (?:stands )?for | is | are )"
_MEANING = re.compile(rf"\s*({_NAME}){_MEANS}\s*(\S.*?)\s*", re.DOTALL)
_NEXT = re.compile(rf"[,;] (?={_NAME}{_MEANS})|(?<=\S) (?=[§$#%@&~*]\w{{0,4}};?=)")
_HEADING = re.compile(r"\W*\w+(?:[ (,]{1,2}\w+){0,9}\)?:\s*")
_MAPPING = re.compile(r"[^\w{\[]{0,4}[\w ]{0,60}:?\s*(\{.*\})")
_QUOTED = re.compile(r"^(?:(['\"])([^'\"]*)\1|[«“„](?P<quoted>[^«»“”„]*)[»”“])$")
_MOST_CHARS, _MOST_NAMES, _SIGN_CHARS = 50_000, 500, 2

Meanings = dict[str, str]


@lru_cache(maxsize=256)
def written_out(text: str, known: str) -> str:
    """A text with its short names replaced by their meanings in a `known` text, and without the
    lines that explain them.

    >>> written_out('Keys: k0 = id, k1 = status\\n{"k0": 5, "k1": "k0"}', '{"id": 5, "status": "id"}')
    '{"id": 5, "status": "id"}'
    >>> written_out("($P stands for '/usr/lib')\\n$P/numpy ✓\\n(✓ = yes, ✗ = no)", "/usr/lib/numpy yes no")
    '/usr/lib/numpy yes'
    >>> written_out("Legend (each sign is a text): §1;=/usr/lib §2;=numpy\\n§1;/§2;", "/usr/lib/numpy")
    '/usr/lib/numpy'
    >>> written_out('where {"*1": "in transit"}\\n{"status": "*1"}', '{"status": "in transit"}')
    '{"status": "in transit"}'
    >>> written_out("Status: delivered\\nno Status", '{"status": "delivered"}')
    'Status: delivered\\nno Status'
    >>> written_out("␣4⟩n = size\\n␣4⟩n + 1", "    n = size\\n    n + 1")
    '␣4⟩n = size\\n␣4⟩n + 1'
    """
    lines = text.split("\n")
    legends = {at: found for at, line in enumerate(lines) if (found := _meanings(line, known))}
    counts = Counter(name for names in legends.values() for name in names)
    # A name that two lines explain is the key of a field.
    once = {at: it for at, it in legends.items() if all(counts[name] == 1 for name in it)}
    others = "\n".join(line for at, line in enumerate(lines) if at not in once)
    used = {at: it for at, it in once.items() if _pattern(it).search(others)}
    if not used or len(counts) > _MOST_NAMES:
        return text
    meanings = {name: meaning for it in used.values() for name, meaning in it.items()}
    pattern = _pattern(meanings)
    for at, line in enumerate(lines):
        heads = _HEADING.fullmatch(line) and at + 1 in used
        is_legend = at in used or heads
        lines[at] = "" if is_legend else pattern.sub(lambda match: meanings[match[0]], line)
    return "\n".join(lines).strip("\n")


_unescaped, _folded = lru_cache(maxsize=64)(unescape), lru_cache(maxsize=64)(str.casefold)
"""Other forms of a text, cached for one that many others are compared with."""


def _pattern(names: Meanings) -> re.Pattern[str]:
    return re.compile("|".join(map(_as_word, sorted(names, key=len, reverse=True))))


def _as_word(name: str) -> str:
    """The pattern for a name that is not part of a word; behind a name that begins with a sign
    there may be one (`§1include`)."""
    if not name[0].isalnum():
        return re.escape(name) + r"(?!\d)" * name[-1].isdigit()
    return r"(?<!\w)(?<!\w['’])" + re.escape(name) + r"(?!\w)" * name[-1].isalnum()


def _meanings(line: str, known: str) -> Meanings:
    """The meanings in a line that does nothing but explain names; {} for any other."""
    bare = line.strip()
    if not 2 < len(bare) <= _MOST_CHARS:
        return {}
    if bare[-1] == "}" and (mapping := _MAPPING.fullmatch(bare)) is not None:
        found = [_in_mapping(mapping[1])]
    else:
        bare = bare[1:-1] if bare[0] + bare[-1] in ("()", "[]") else bare
        heading = _HEADING.match(bare)
        bodies = (bare[heading.end() :], bare) if heading else (bare,)
        found = [_pairs(_NEXT.split(body)) for body in bodies]
    are_right = (it for it in found if it and all(_explains(*pair, known) for pair in it.items()))
    return next(are_right, {})


def _pairs(parts: list[str]) -> Meanings:
    """The names and meanings in some parts of a line; {} if a part has none."""
    matches = [match for match in map(_MEANING.fullmatch, parts) if match]
    return (
        {it[1]: _QUOTED.sub(r"\2\g<quoted>", it[2]) for it in matches}
        if len(matches) == len(parts)
        else {}
    )


def _in_mapping(text: str) -> Meanings:
    """The names and meanings of a JSON object of texts, perhaps under a label; {} for any other
    text."""
    with suppress(NothingParsed):
        value = parse_json(text)
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
            value = inner
        return value if all(isinstance(item, str) and key for key, item in value.items()) else {}
    return {}


def _explains(name: str, meaning: str, known: str) -> bool:
    """True if a known text has all words of a meaning, but not the name, which is no number."""
    if name.isdigit() or _has_name(_unescaped(known), name):
        return False
    words, known = re.findall(r"\w+", meaning.casefold()), _folded(_unescaped(known))
    return bool(words) and all(word in known for word in words)


def _has_name(text: str, name: str) -> bool:
    """True if a text has a name: a long one in any case and with any signs."""
    word = re.sub(r"\W", "", name)
    if len(word) > _SIGN_CHARS:
        text, name = _folded(text), word.casefold()
    return name in text and re.search(_as_word(name), text) is not None
