"""The facts of a text (pattern version 1), found by trying every kind at every character."""

from __future__ import annotations

import functools

from .reading import decoded, is_word

ERROR_WORDS = ("Error", "Exception", "Warning", "error", "fatal")
NO_URL = "\"'<>`|\\^{}"
TRAILING = ".,;:!?"
ASCII_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@functools.lru_cache(maxsize=5000)
def facts_of(text: str) -> dict[str, str]:
    """The distinct facts of a text, decoded first, with their kinds, in order of first appearance."""
    found: dict[str, str] = {}
    for line in decoded(text).split("\n"):
        for kind, fact in _of_line(line):
            found.setdefault(fact, kind)
    return found


def _of_line(line: str) -> list[tuple[str, str]]:
    head, colon, rest = line.partition(":")
    if colon and head.endswith(ERROR_WORDS) and all(is_word(char) or char == "." for char in head):
        message = rest.lstrip(" \t")
        if message and message != rest and not message[0].isspace():
            told, after = message.partition("\r")[0], message[len(message.partition("\r")[0]) :]
            said = told.strip().rstrip(TRAILING)
            error = [("error", said)] if any(map(is_word, said)) else []
            return _of_pieces(line[: len(line) - len(message)]) + error + _of_pieces(after)
    return _of_pieces(line)


def _of_pieces(line: str) -> list[tuple[str, str]]:
    """Only what is quoted reaches over blanks."""
    pieces = [line] if '"' in line or "'" in line else line.split()
    return [item for piece in pieces for item in _scanned(piece)]


def _scanned(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        kind, start, end = ("", 0, 0) if at and is_word(text[at - 1]) else _first(text, at)
        if not kind:
            at += 1
            continue
        fact = text[start:end].strip().rstrip(TRAILING)
        good = any(map(is_word, fact))
        if kind == "name":
            good = len(fact) >= 4 and _has_a_mark(fact)
        if good or kind == "number":
            found.append((kind, fact))
        at = end + (kind == "quoted")
    return found


def _first(text: str, at: int) -> tuple[str, int, int]:
    """The first kind that stands at a place: kind, start and end of the fact."""
    for kind, end in (("url", _url(text, at)), ("quoted", _quoted(text, at))):
        if end:
            return kind, at + (kind == "quoted"), end
    before = text[at - 1 : at] if at else ""
    if before not in ("/", "<") or not before:
        end = _path(text, at)
        if end:
            return "path", at, end
    if before != ".":
        end = _number(text, at)
        if end:
            return "number", at, end
    end = _name(text, at)
    return ("name", at, end) if end else ("", 0, 0)


def _run(text: str, at: int, allowed: object) -> int:
    """Where a run of allowed characters ends."""
    while at < len(text) and allowed(text[at]):  # type: ignore[operator]
        at += 1
    return at


def _url(text: str, at: int) -> int:
    if text[at] not in ASCII_LETTERS:
        return 0
    end = _run(text, at, lambda char: char in ASCII_LETTERS or char in "0123456789+.-")
    if text[end : end + 3] != "://":
        return 0
    last = _run(text, end + 3, lambda char: not char.isspace() and char not in NO_URL)
    return last if last > end + 3 else 0


def _quoted(text: str, at: int) -> int:
    """Where what is quoted ends; 0 for no quote, one of no use, or one that a word follows."""
    quote = text[at]
    if quote not in "\"'":
        return 0
    end = _run(text, at + 1, lambda char: char not in quote + "\r\n")
    if not 2 <= end - at - 1 <= 80 or text[end : end + 1] != quote or is_word(text[end + 1 : end + 2]):
        return 0
    return end


def _in_path(char: str) -> bool:
    return is_word(char) or char in ".@%+~-"


def _segments(text: str, at: int) -> tuple[int, int]:
    """Where a run of `/segment` ends, and how many there are."""
    count = 0
    while text[at : at + 1] == "/" and _in_path(text[at + 1 : at + 2] or " "):
        at, count = _run(text, at + 1, _in_path), count + 1
    return at, count


def _path(text: str, at: int) -> int:
    start = at + next((len(head) for head in ("~", "..", ".") if text.startswith(head, at)), 0)
    end, count = _segments(text, start)
    if count:
        return end + (text[end : end + 1] == "/")
    first = _run(text, at, _in_path)
    if first > at:
        end, count = _segments(text, first)
        if count > 1:
            return end + (text[end : end + 1] == "/")
        if text[first : first + 1] == "/":
            last = _run(text, first + 1, _in_path)
            for dot in range(last - 1, first, -1):  # the last dot that a letter follows
                if text[dot] == "." and text[dot + 1 : dot + 2] in [*ASCII_LETTERS]:
                    return min(_run(text, dot + 2, is_word), dot + 9)
    if text[at] == "." and text[at + 1 : at + 2] in [*ASCII_LETTERS]:
        end = _run(text, at + 2, is_word)
        return end if end > at + 2 else 0
    return 0


def _number(text: str, at: int) -> int:
    start = at + (text[at] in "+-")
    whole = _run(text, start, str.isdecimal)
    if whole == start:
        return 0
    end = whole
    while text[end : end + 1] == "." and text[end + 1 : end + 2].isdecimal():
        end = _run(text, end + 1, str.isdecimal)
    power = _power(text, end)
    candidates = [power or end] if end > whole else [power] if power else []
    candidates += [whole] if whole - start >= 3 else []
    return next((last for last in candidates if not is_word(text[last : last + 1])), 0)


def _power(text: str, at: int) -> int:
    """Where an exponent ends; 0 for none."""
    if text[at : at + 1] not in ("e", "E"):
        return 0
    start = at + 1 + (text[at + 1 : at + 2] in ("+", "-"))
    end = _run(text, start, str.isdecimal)
    return end if end > start else 0


def _name(text: str, at: int) -> int:
    if not is_word(text[at]):
        return 0
    if text[at].isdecimal() and not is_word(text[_run(text, at, lambda char: char.isdecimal() or char in ".-") :][:1]):
        return 0
    end = at
    while True:
        end = _run(text, end, lambda char: is_word(char) or char == "@")
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
