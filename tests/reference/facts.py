"""The facts of a text (pattern version 2), found by trying every kind at every character."""

from __future__ import annotations

import functools

from .names import named
from .numbers import number_at, number_value, run_end as run
from .reading import decoded, is_word

ERROR_WORDS = ("Error", "Exception", "Warning", "error", "fatal")
NO_URL = "\"'<>`|\\^{}"
TRAILING = ".,;:!?"
ASCII_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@functools.lru_cache(maxsize=5000)
def facts_of(text: str, lower: frozenset[str] = frozenset()) -> dict[str, str]:
    """The distinct facts of a text, decoded first, with their kinds, in order of first appearance; `lower`: words that stand in small letters."""
    found: dict[str, str] = {}
    for line in decoded(text).split("\n"):
        for kind, fact in _of_line(line, lower):
            found.setdefault(fact, kind)
    return found


def _of_line(line: str, lower: frozenset[str]) -> list[tuple[str, str]]:
    head, colon, rest = line.partition(":")
    if colon and head.endswith(ERROR_WORDS) and all(is_word(char) or char == "." for char in head):
        message = rest.lstrip(" \t")
        if message and message != rest and not message[0].isspace():
            told = message.partition("\r")[0]
            after = message[len(told) :]
            said = told.strip().rstrip(TRAILING)
            error = [("error", said)] if any(map(is_word, said)) else []
            return _of_pieces(line[: len(line) - len(message)], lower) + error + _of_pieces(after, lower)
    return _of_pieces(line, lower)


def _of_pieces(line: str, lower: frozenset[str]) -> list[tuple[str, str]]:
    """Only what is quoted reaches over blanks, and names in prose do."""
    pieces = [line] if '"' in line or "'" in line else line.split()
    found = [item for piece in pieces for item in _scanned(piece)]
    return [*found, *named(line, lower)]


def _scanned(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        kind, start, end = ("", 0, 0) if at and is_word(text[at - 1]) else _first(text, at)
        if not kind:
            at += 1
            continue
        fact = text[start:end].strip().rstrip(TRAILING)
        if kind == "quoted":
            finer = _scanned(fact)
            found += finer or ([(kind, fact)] if sum(map(str.isalpha, fact)) > 2 else [])
        elif kind == "number":
            if any(char in ".eE" for char in fact) or sum(map(str.isdecimal, fact)) >= 3:
                found.append((kind, number_value(fact)))
        elif kind == "name":
            found += (
                [(kind, fact)]
                if len(fact) >= 4 and _has_a_mark(fact) and not all("A" <= char <= "Z" for char in fact)
                else []
            )
        elif any(map(is_word, fact)):
            found.append(
                ({"doi": "url", "dotted": "name"}.get(kind, kind), _unbracketed(fact) if kind == "url" else fact)
            )
        at = end + (kind == "quoted")
    return found


def _first(text: str, at: int) -> tuple[str, int, int]:
    """The first kind that stands at a place: kind, start and end of the fact."""
    for kind, end in (("url", _url(text, at)), ("quoted", _quoted(text, at))):
        if end:
            return kind, at + (kind == "quoted"), end
    before = text[at - 1 : at] if at else ""
    finders = [("doi", _doi), ("dotted", _dotted), ("date", _date)]
    if before not in ("/", "<") or not before:
        finders.insert(0, ("path", _path))
    if not (before.isdecimal() or before in (".", ",")):
        finders.append(("number", number_at))
    for kind, find in [*finders, ("name", _name)]:
        end = find(text, at)
        if end:
            return kind, at, end
    return "", 0, 0


def _unbracketed(url: str) -> str:
    for closing, opening in ((")", "("), ("]", "[")):
        if url.endswith(closing) and url.count(closing) > url.count(opening):
            return _unbracketed(url[:-1].rstrip(TRAILING))
    return url


def _doi(text: str, at: int) -> int:
    if not text.startswith("10.", at):
        return 0
    digits = run(text, at + 3, str.isdecimal)
    if not 4 <= digits - at - 3 <= 9 or text[digits : digits + 1] != "/":
        return 0
    end = run(text, digits + 1, lambda char: not char.isspace() and char not in "\"'<>)]")
    return end if end > digits + 1 else 0


def _dotted(text: str, at: int) -> int:
    """Three numbers or more between dots, and perhaps one behind a slash: a version, an address."""
    end, parts = run(text, at, str.isdecimal), 1
    if end == at:
        return 0
    while text[end : end + 1] == "." and text[end + 1 : end + 2].isdecimal():
        end, parts = run(text, end + 1, str.isdecimal), parts + 1
    if parts < 3:
        return 0
    longer = run(text, end + 1, str.isdecimal) if text[end : end + 1] == "/" else end
    for last in (longer, end) if longer > end + 1 else (end,):
        rest = text[last : run(text, last, lambda char: is_word(char) or char == ".")]
        if not any(map(is_word, rest)):
            return last
    return 0


def _date(text: str, at: int) -> int:
    shape = [str.isdecimal] * 4 + ["-".__eq__] + [str.isdecimal] * 2 + ["-".__eq__] + [str.isdecimal] * 2
    digits = text[at : at + 10]
    good = len(digits) == 10 and all(fits(char) for fits, char in zip(shape, digits, strict=True))
    after = text[at + 10 : at + 11]
    return at + 10 if good and not is_word(after) and after != "-" else 0


def _url(text: str, at: int) -> int:
    if text[at] not in ASCII_LETTERS:
        return 0
    end = run(text, at, lambda char: char in ASCII_LETTERS or char in "0123456789+.-")
    if text[end : end + 3] != "://":
        return 0
    last = run(text, end + 3, lambda char: not char.isspace() and char not in NO_URL)
    return last if last > end + 3 else 0


def _quoted(text: str, at: int) -> int:
    """Where what is quoted ends; 0 for no quote, one of no use, or one that a word follows."""
    quote = text[at]
    if quote not in "\"'":
        return 0
    end = run(text, at + 1, lambda char: char not in quote + "\r\n")
    if not 2 <= end - at - 1 <= 80 or text[end : end + 1] != quote or is_word(text[end + 1 : end + 2]):
        return 0
    return end


def _in_path(char: str) -> bool:
    return is_word(char) or char in ".@%+~-"


def _segments(text: str, at: int) -> tuple[int, int]:
    """Where a run of `/segment` ends, and how many there are."""
    count = 0
    while text[at : at + 1] == "/" and _in_path(text[at + 1 : at + 2] or " "):
        at, count = run(text, at + 1, _in_path), count + 1
    return at, count


def _path(text: str, at: int) -> int:
    start = at + next((len(head) for head in ("~", "..", ".") if text.startswith(head, at)), 0)
    end, count = _segments(text, start)
    if count:
        return end + (text[end : end + 1] == "/")
    first = run(text, at, _in_path)
    if first > at:
        end, count = _segments(text, first)
        if count > 1:
            return end + (text[end : end + 1] == "/")
        if text[first : first + 1] == "/":
            last = run(text, first + 1, _in_path)
            for dot in range(last - 1, first, -1):  # the last dot that a letter follows
                if text[dot] == "." and text[dot + 1 : dot + 2] in [*ASCII_LETTERS]:
                    ends = run(text, dot + 2, is_word)
                    if ends <= dot + 9 and not (text[ends : ends + 1] == "." and text[ends + 1 : ends + 2].isdecimal()):
                        return ends
    if (
        text[at] == "."
        and text[at + 1 : at + 2] in [*ASCII_LETTERS]
        and (text[at - 1 : at] if at else "") not in [*")]}\"'"]
    ):
        end = run(text, at + 2, is_word)
        return end if end > at + 2 else 0
    return 0


def _name(text: str, at: int) -> int:
    if not is_word(text[at]):
        return 0
    if text[at].isdecimal() and not is_word(text[run(text, at, lambda char: char.isdecimal() or char in ".,-") :][:1]):
        return 0
    end = at
    while True:
        end = run(text, end, lambda char: is_word(char) or char == "@")
        if text[end : end + 1] not in (".", "@", "-") or not is_word(text[end + 1 : end + 2]):
            return end if _has_a_mark(text[at:end]) else 0
        end += 1


def _has_a_mark(word: str) -> bool:
    """A digit, an underscore, an at sign, a capital that is not the first letter, or a dot between letters."""
    for at, char in enumerate(word):
        before, after = word[at - 1 : at] if at else "", word[at + 1 : at + 2]
        if char.isdecimal() or char in "_@":
            return True
        if "A" <= char <= "Z" and is_word(before):
            return True
        if char == "." and _is_letter(before) and _is_letter(after):
            return True
    return False


def _is_letter(char: str) -> bool:
    return is_word(char) and not char.isdecimal() and char != "_"
