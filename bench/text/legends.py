"""Abbreviations in a text, replaced by the meanings that its own legend gives. A legend is a line
that only explains names, such as `Keys: k0 = id, k1 = status`. The result has all words of the
meanings but not the names, and other lines of the text use the names."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache

from .decode import NothingParsed, parse_json
from .escapes import unescape

_NAME = r"(?:[^\w\s]{0,4}\w{1,40}[^\w\s]{0,4}?|[^\w\s]{1,4}?)"
"""Matches an abbreviation: a word or number with signs around it, or signs alone."""
_MEANS = r"(?:\s?(?:=|->|→|: )|(?<=\d\]) | means | (?:stands )?for | is | are )"
_MEANING = re.compile(rf"\s*({_NAME}){_MEANS}\s*((?!\[\")\S.*?)\s*", re.DOTALL)
_NEXT = re.compile(rf"[,;] (?={_NAME}{_MEANS})|(?<=\S) (?=[§$#%@&~*]\w{{0,4}};?=)")
_HEADING = re.compile(r"\W*\w+(?:[ (,]{1,2}\w+){0,9}\)?:\s*")
_MAPPING = re.compile(r"[^\w{\[]{0,4}[\w ]{0,60}:?\s*(\{.*\})")
_QUOTED = re.compile(r"^(?:(['\"])([^'\"]*)\1|[«“„](?P<quoted>[^«»“”„]*)[»”“])$")
_MOST_CHARS, _MOST_NAMES, _SIGN_CHARS = 50_000, 500, 2

Meanings = dict[str, str]
"""The meaning of each name."""


@lru_cache(maxsize=256)
def written_out(text: str, known: str) -> str:
    """The text with abbreviations replaced by their meanings, and without its legends. `known` is the
    text of the result.

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
    legends = {number: _meanings_in(line, known) for number, line in enumerate(lines)}
    counts = Counter(name for names in legends.values() for name in names)
    # A name that two lines explain is the key of a field.
    unique = {
        number: names
        for number, names in legends.items()
        if names and all(counts[name] == 1 for name in names)
    }
    others = "\n".join(line for number, line in enumerate(lines) if number not in unique)
    used = {number: names for number, names in unique.items() if _pattern(names).search(others)}
    if not used or len(counts) > _MOST_NAMES:
        return text
    meanings = {name: meaning for names in used.values() for name, meaning in names.items()}
    pattern = _pattern(meanings)
    for number, line in enumerate(lines):
        is_heading = number + 1 in used and _HEADING.fullmatch(line)
        is_legend = number in used or is_heading
        lines[number] = "" if is_legend else pattern.sub(lambda name: meanings[name[0]], line)
    return "\n".join(lines).strip("\n")


_unescaped, _folded = lru_cache(maxsize=64)(unescape), lru_cache(maxsize=64)(str.casefold)
"""Cached, because many texts are compared with the same result."""


def _pattern(names: Meanings) -> re.Pattern[str]:
    return re.compile("|".join(map(_word_pattern, sorted(names, key=len, reverse=True))))


def _word_pattern(name: str) -> str:
    """The pattern of a name that is not inside a word. A name that begins with a sign may be followed
    by letters (`§1include`)."""
    if not name[0].isalnum():
        return re.escape(name) + r"(?!\d)" * name[-1].isdigit()
    return r"(?<!\w)(?<!\w['’])" + re.escape(name) + r"(?!\w)" * name[-1].isalnum()


def _meanings_in(line: str, known: str) -> Meanings:
    """The meanings in a legend; {} for any other line."""
    line = line.strip()
    if not 2 < len(line) <= _MOST_CHARS:
        return {}
    if line[-1] == "}" and (mapping := _MAPPING.fullmatch(line)) is not None:
        possible = [_meanings_in_json(mapping[1])]
    else:
        line = line[1:-1] if line[0] + line[-1] in ("()", "[]") else line
        heading = _HEADING.match(line)
        bodies = (line[heading.end() :], line) if heading else (line,)
        possible = [_meanings_of(_NEXT.split(body)) for body in bodies]
    for meanings in possible:
        if meanings and all(_is_explained(*pair, known) for pair in meanings.items()):
            return meanings
    return {}


def _meanings_of(parts: list[str]) -> Meanings:
    """The meanings in the parts of a line, one in each; {} if a part has none."""
    meanings: Meanings = {}
    for part in parts:
        match = _MEANING.fullmatch(part)
        if match is None:
            return {}
        meanings[match[1]] = _QUOTED.sub(r"\2\g<quoted>", match[2])
    return meanings


def _meanings_in_json(text: str) -> Meanings:
    """The meanings in a JSON object of strings, perhaps under one key; {} for any other text."""
    with suppress(NothingParsed):
        value = parse_json(text)
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
            value = inner
        return value if all(isinstance(item, str) and key for key, item in value.items()) else {}
    return {}


def _is_explained(name: str, meaning: str, known: str) -> bool:
    """True if the result has all words of the meaning, but not the name, and the name is no number."""
    if name.isdigit() or _has_name(_unescaped(known), name):
        return False
    words, known = re.findall(r"\w+", meaning.casefold()), _folded(_unescaped(known))
    return bool(words) and all(word in known for word in words)


def _has_name(text: str, name: str) -> bool:
    """True if a text has a name. A long name counts in any case and with any signs."""
    word = re.sub(r"\W", "", name)
    if len(word) > _SIGN_CHARS:
        text, name = _folded(text), word.casefold()
    return name in text and re.search(_word_pattern(name), text) is not None
