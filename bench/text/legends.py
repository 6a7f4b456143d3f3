"""Short names in a text, replaced by what the text itself says that they stand for.

A legend is a line that gives meanings to names. There is one rule for all of them: the untruncated
result has every word of the meaning, but not the name, and other lines of the text use it. A name
in JSON that the result has within its texts counts where it stands alone in quotation marks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache

from .decode import NothingParsed, parse_json
from .escapes import unescape

_NAME = r"(?:\[[^\[\]\n]{1,12}\]|[^\w\s]{0,4}\w{1,40}[^\w\s]{0,4}?|[^\w\s]{1,4}?)"
"""Matches a name: a word or number with signs around it, or signs alone."""
_MEANS = r"(?:\s?(?:=|->|→|: )|(?<=\d\]) | means | (?:stands )?for | is | are )"
_MEANING = re.compile(rf"\s*(?P<name>{_NAME}){_MEANS}\s*(?P<meaning>\S.*?)\s*", re.DOTALL)
_NEXT = re.compile(rf"[,;] (?={_NAME}{_MEANS})")
_HEADING = re.compile(r"\W*\w+(?: \w+){0,7}:\s*")
_MAPPING = re.compile(r"[^\w{\[]{0,4}[\w ]{0,60}:?\s*(\{.*\})")
_QUOTED = re.compile(rf'({_NAME})=("[^"\n]+")[,;]?(?: |$)')
_FEW_WORDS = re.compile(r"\W*(?:\w+ ?){0,4}:? *")
_WORD = re.compile(r"\w+")
_NOTHING = frozenset({"empty", "no value", "none", "nothing", "null"})
_MOST_CHARS, _MOST_NAMES, _SIGN_CHARS = 50_000, 500, 2


@lru_cache(maxsize=256)
def written_out(text: str, known: str) -> str:
    """A text with its short names replaced by their meanings in a `known` text, and without the
    lines that explain them; a name for nothing becomes an empty text.

    >>> written_out('Keys: k0 = id, k1 = status\\n{"k0": 5, "k1": "k0"}', '{"id": 5, "status": "id"}')
    '{"id": 5, "status": "id"}'
    >>> written_out("($P stands for /usr/lib)\\n$P/numpy [see1] ✓\\n[see1]: https://a.b\\n(✓ = yes, ✗ = no)",
    ...     "/usr/lib/numpy https://a.b yes no")
    '/usr/lib/numpy https://a.b yes'
    >>> written_out('where {"*1": "in transit"}\\n{"status": "*1"}', '{"status": "in transit"}')
    '{"status": "in transit"}'
    >>> written_out('// {"A": "id", "B": "size"}\\n{"A": "Brand A", "B": 5}', '{"id": "Brand A", "size": 5}')
    '{"id": "Brand A", "size": 5}'
    >>> written_out('where $1="in transit"\\n{"status": "$1"}', '{"status": "in transit"}')
    '{"status": "in transit"}'
    >>> written_out('– means empty\\n{"note": –, "tag": –}', '{"note": "", "tag": ""}')
    '{"note": "", "tag": ""}'
    >>> written_out("Status: delivered\\nno Status", '{"status": "delivered"}')
    'Status: delivered\\nno Status'
    >>> written_out("D=/usr/lib\\n$D/a", "/usr/lib/a"), written_out("old: 5\\nold: 6", "id 5 6")
    ('/usr/lib/a', 'old: 5\\nold: 6')
    >>> written_out("␣4⟩n = size\\n␣4⟩n + 1", "    n = size\\n    n + 1")
    '␣4⟩n = size\\n␣4⟩n + 1'
    >>> written_out("= a\\n= a, b", "a b")
    '= a\\n= a, b'
    >>> written_out("D=/usr/lib\\n$D/a: lib\\n$D/a: lib", "/usr/lib/a: lib\\n/usr/lib/a: lib")
    '/usr/lib/a: lib\\n/usr/lib/a: lib'
    """
    lines = text.split("\n")
    legends = _legends(lines, known)
    if not legends:
        return text
    used = {name: meaning for meanings in legends.values() for name, meaning in meanings.items()}
    pattern = re.compile("|".join(map(_as_word, sorted(used, key=len, reverse=True))))
    for at, line in enumerate(lines):
        heads = _HEADING.fullmatch(line) and at + 1 in legends
        is_explaining = at in legends or heads
        lines[at] = "" if is_explaining else pattern.sub(lambda match: used[match[0]], line)
    return "\n".join(lines).strip("\n")


_unescaped, _folded = lru_cache(maxsize=64)(unescape), lru_cache(maxsize=64)(str.casefold)
"""Other forms of a text, cached for one that many others are compared with."""


@lru_cache(maxsize=64)
def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(_WORD.findall(text))


def _has_word(text: str, word: str) -> bool:
    """True if a text has a word. All words are listed only if the first place is in another one.

    >>> [_has_word("walls of a wall", word) for word in ("walls", "wall", "all", "door")]
    [True, True, False, False]
    """
    start = text.find(word)
    if start < 0:
        return False
    beside = f"{text[max(0, start - 1) : start]}{text[start + len(word) : start + len(word) + 1]}"
    return _WORD.search(beside) is None or word in _words(text)


def _has_in_any_case(text: str, word: str) -> bool:
    """True if a text has a word in small letters, as it is or with all of its letters small."""
    return _has_word(text, word) or _has_word(_folded(text), word)


def _legends(lines: list[str], known: str) -> dict[int, dict[str, str]]:
    """The meanings of names that other lines use, by the number of the line that explains them.

    A name that two lines explain is the key of a field.
    """
    candidates = {at: found for at, line in enumerate(lines) if (found := _meanings(line, known))}
    counts = Counter(name for meanings in candidates.values() for name in meanings)
    if len(counts) > _MOST_NAMES:
        return {}
    for at in [at for at, names in candidates.items() if any(counts[name] > 1 for name in names)]:
        del candidates[at]
    others = "\n".join(line for at, line in enumerate(lines) if at not in candidates)
    legends: dict[int, dict[str, str]] = {}
    for at, meanings in candidates.items():
        used = {
            _as_used(name, others): meaning.strip('"') if f'"{name}"' in others else meaning
            for name, meaning in meanings.items()
        }
        if re.search("|".join(map(_as_word, used)), others):
            legends[at] = used
    return legends


def _as_used(name: str, text: str) -> str:
    """A name as a text writes it: with a dollar in front, like a variable of a shell, or as it is."""
    return f"${name}" if f"${name}" in text else name


def _as_word(name: str) -> str:
    """The pattern for a name that is not part of a word; behind a name that begins with a sign
    there may be one (`§1include`)."""
    if not name[0].isalnum():
        return re.escape(name) + r"(?!\d)" * name[-1].isdigit()
    return r"(?<!\w)(?<!\w['’])" + re.escape(name) + r"(?!\w)" * name[-1].isalnum()


def _meanings(line: str, known: str) -> dict[str, str]:
    """The meanings in a line that does nothing but explain names; {} for any other."""
    bare = line.strip()
    if not 2 < len(bare) <= _MOST_CHARS:
        return {}
    if bare[-1] == "}" and (mapping := _MAPPING.fullmatch(bare)) is not None:
        return dict(_of_mapping(mapping[1], known))
    bare = bare[1:-1] if bare[0] + bare[-1] in ("()", "[]") else bare
    quoted = [(it[1], it[2]) for it in _QUOTED.finditer(bare)] if '="' in bare else []
    if quoted and _FEW_WORDS.fullmatch(_QUOTED.sub("", bare)):
        return dict(quoted) if all(_explains(*pair, known) for pair in quoted) else {}
    heading = _HEADING.match(bare)
    bodies = (bare[heading.end() :], bare) if heading else (bare,)
    found = (dict(_pairs(_NEXT.split(body), known)) for body in bodies)
    return next(filter(None, found), {})


def _pairs(parts: list[str], known: str) -> list[tuple[str, str]]:
    """The names and meanings in some parts of a line; [] if a part has none."""
    matches = [match for match in map(_MEANING.fullmatch, parts) if match]
    pairs = [(match["name"], match["meaning"]) for match in matches]
    if len(pairs) < len(parts) or not all(_explains(*pair, known) for pair in pairs):
        return []
    return [(name, '""' if text.casefold() in _NOTHING else text) for name, text in pairs]


def _of_mapping(text: str, known: str) -> list[tuple[str, str]]:
    """The names and meanings of a JSON object of texts, perhaps under a label; [] for any other
    text."""
    with suppress(NothingParsed):
        meanings = parse_json(text)
        if len(meanings) == 1 and isinstance(inner := next(iter(meanings.values())), dict):
            meanings = inner  # under a label
        are_texts = all(isinstance(meaning, str) for meaning in meanings.values())
        pairs: list[tuple[str, str]] = []
        for name, meaning in meanings.items() if are_texts else ():
            pair = _as_explained(name, meaning, known)
            if pair is None:
                return []
            pairs.append(pair)
        return pairs
    return []


def _as_explained(name: str, meaning: str, known: str) -> tuple[str, str] | None:
    """A name with its meaning, both in quotation marks if a known text has the name without them;
    None if it is no name.
    """
    is_key = f'"{name}"' in _unescaped(known) and _WORD.fullmatch(name) is not None
    if is_key:
        return None
    quoted = json.dumps(meaning, ensure_ascii=False)
    if _explains(name, meaning, known):
        return name, quoted[1:-1]
    return (f'"{name}"', quoted) if _explains(f'"{name}"', meaning, known) else None


def _explains(name: str, meaning: str, known: str) -> bool:
    """True if a known text has all words of a meaning, but not the name, in any case and with any
    signs if that is no sign. A number is no name.
    """
    known, word = _unescaped(known), re.sub(r"\W", "", name)
    if name.startswith('"'):
        is_known = name in known
    elif len(word) > _SIGN_CHARS:
        is_known = _has_in_any_case(known, word.casefold())
    elif _WORD.fullmatch(name) is None:
        is_known = re.search(_as_word(name), known) is not None
    else:
        is_known = _has_word(known, name)
    if name.isdigit() or is_known:
        return False
    words = _WORD.findall(meaning.casefold())
    is_said = bool(words) and all(_has_in_any_case(known, word) for word in words)
    return is_said or meaning.casefold() in _NOTHING
