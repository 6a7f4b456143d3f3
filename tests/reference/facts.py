"""The facts of a text (pattern version 2), found by trying every kind at every character."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from .numbers import number_at, number_value, run_end
from .reading import decoded, is_word

ERROR_WORDS = ("Error", "Exception", "Warning", "error", "fatal")
NO_URL = "\"'<>`|\\^{}"
TRAILING = ".,;:!?"
ASCII_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
JOINING = ("of", "the", "de", "van", "von", "and", "for", "&")
REPORTED = (
    "Step",
    "Figure",
    "Option",
    "Note",
    "Part",
    "Line",
    "Task",
    "Phase",
    "Section",
    "Round",
    "Table",
    "Question",
    "Answer",
)
OPENING = """
A An And Are As At Be But By Can Could Did Do Does For From Had Has Have He Her Here His How I If In Is It Its Let May More My No Not Now Of On
Once One Or Our She Should So Some Such That The Their Then There These They This Those To Was We Were What When Where Which While Who Why Will With
Would Yes You Your Also After Before Because Based First Second Third Next Finally Please Thank Thanks Sorry However Since Both All Each Another
Here's It's I'll I'm I've Let's We'll You're Don't Overall Step Note Summary
"""
OPENERS = frozenset(OPENING.split())
"""Words that open sentences, and are capitalised for that alone."""


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
    return [*found, *_named(line, lower)]


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
    digits = run_end(text, at + 3, str.isdecimal)
    if not 4 <= digits - at - 3 <= 9 or text[digits : digits + 1] != "/":
        return 0
    end = run_end(text, digits + 1, lambda char: not char.isspace() and char not in "\"'<>)]")
    return end if end > digits + 1 else 0


def _dotted(text: str, at: int) -> int:
    """Three numbers or more between dots, and perhaps one behind a slash: a version, an address."""
    end, parts = run_end(text, at, str.isdecimal), 1
    if end == at:
        return 0
    while text[end : end + 1] == "." and text[end + 1 : end + 2].isdecimal():
        end, parts = run_end(text, end + 1, str.isdecimal), parts + 1
    if parts < 3:
        return 0
    longer = run_end(text, end + 1, str.isdecimal) if text[end : end + 1] == "/" else end
    for last in (longer, end) if longer > end + 1 else (end,):
        rest = text[last : run_end(text, last, lambda char: is_word(char) or char == ".")]
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
    end = run_end(text, at, lambda char: char in ASCII_LETTERS or char in "0123456789+.-")
    if text[end : end + 3] != "://":
        return 0
    last = run_end(text, end + 3, lambda char: not char.isspace() and char not in NO_URL)
    return last if last > end + 3 else 0


def _quoted(text: str, at: int) -> int:
    """Where what is quoted ends; 0 for no quote, one of no use, or one that a word follows."""
    quote = text[at]
    if quote not in "\"'":
        return 0
    end = run_end(text, at + 1, lambda char: char not in quote + "\r\n")
    if not 2 <= end - at - 1 <= 80 or text[end : end + 1] != quote or is_word(text[end + 1 : end + 2]):
        return 0
    return end


def _in_path(char: str) -> bool:
    return is_word(char) or char in ".@%+~-"


def _segments(text: str, at: int) -> tuple[int, int]:
    """Where a run of `/segment` ends, and how many there are."""
    count = 0
    while text[at : at + 1] == "/" and _in_path(text[at + 1 : at + 2] or " "):
        at, count = run_end(text, at + 1, _in_path), count + 1
    return at, count


def _path(text: str, at: int) -> int:
    start = at + next((len(head) for head in ("~", "..", ".") if text.startswith(head, at)), 0)
    end, count = _segments(text, start)
    if count:
        return end + (text[end : end + 1] == "/")
    first = run_end(text, at, _in_path)
    if first > at:
        end, count = _segments(text, first)
        if count > 1:
            return end + (text[end : end + 1] == "/")
        if text[first : first + 1] == "/":
            last = run_end(text, first + 1, _in_path)
            for dot in range(last - 1, first, -1):  # the last dot that a letter follows
                if text[dot] == "." and text[dot + 1 : dot + 2] in [*ASCII_LETTERS]:
                    ends = run_end(text, dot + 2, is_word)
                    if ends <= dot + 9 and not (text[ends : ends + 1] == "." and text[ends + 1 : ends + 2].isdecimal()):
                        return ends
    if (
        text[at] == "."
        and text[at + 1 : at + 2] in [*ASCII_LETTERS]
        and (text[at - 1 : at] if at else "") not in [*")]}\"'"]
    ):
        end = run_end(text, at + 2, is_word)
        return end if end > at + 2 else 0
    return 0


def _name(text: str, at: int) -> int:
    if not is_word(text[at]):
        return 0
    if text[at].isdecimal() and not is_word(
        text[run_end(text, at, lambda char: char.isdecimal() or char in ".,-") :][:1]
    ):
        return 0
    end = at
    while True:
        end = run_end(text, end, lambda char: is_word(char) or char == "@")
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


# ---------------------------------------------------------------- names in prose


def _named(line: str, lower: frozenset[str]) -> Iterator[tuple[str, str]]:
    found: list[list[tuple[str, str]]] = [[], [], []]  # proper names, numbered things, capitals
    free = [0, 0, 0]  # where the last of each ended
    for at, char in enumerate(line):
        before = line[at - 1] if at else ""
        if not "A" <= char <= "Z" or is_word(before) or before in (".", "'", "/", "-"):
            continue
        if at >= free[0] and (end := _proper_end(line, at)):
            free[0] = end
            name = _proper(line, at, end, lower)
            found[0] += [("proper", name)] if name else []
        if at >= free[1] and (end := _numbered_end(line, at)):
            free[1] = end
            found[1].append(("proper", " ".join(line[at:end].split())))
        end = run_end(line, at, lambda char: "A" <= char <= "Z")
        after = line[end : end + 1]
        if at >= free[2] and end - at >= 3 and not is_word(after) and after not in ("'", "-"):
            free[2] = end
            found[2] += [("name", line[at:end])] if line[at:end].casefold() not in lower else []
    for of_sort in found:
        yield from of_sort


def _small(char: str) -> bool:
    return "a" <= char <= "z" or "à" <= char <= "ö" or "ø" <= char <= "ÿ"


def _capitalised(line: str, at: int) -> list[int]:
    """Where a capitalised word may end, its parts between hyphens or apostrophes one after the other; `[]` for none."""
    end = run_end(line, at + 1, _small) if "A" <= line[at : at + 1] <= "Z" else 0
    if end <= at + 1:
        return []
    ends = [end]
    while line[end : end + 1] in ("-", "'", "’") and end < len(line):
        more = run_end(line, end + 1, lambda char: _small(char) or "A" <= char <= "Z")
        if more == end + 1:
            break
        end = more
        ends.append(end)
    return ends


def _proper_end(line: str, at: int) -> int:
    ends = _capitalised(line, at)
    place = ends[-1] if ends else 0
    while place:
        start = run_end(line, place, " \t".__contains__)
        word = line[start:].replace("\t", " ").partition(" ")[0]
        begins = [start]
        if word in JOINING:
            begins.insert(0, run_end(line, start + len(word), " \t".__contains__))
        more = next((found for begin in begins if start > place and (found := _capitalised(line, begin))), [])
        ends += more
        place = more[-1] if more else 0
    good = [end for end in ends if not is_word(line[end : end + 1]) and line[end : end + 1] != "/"]
    return good[-1] if good else 0


def _proper(line: str, at: int, end: int, lower: frozenset[str]) -> str:
    words = line[at:end].split()
    before = line[:at].rstrip(" \t*#>-•\"'([")
    opens = not before or before[-1] in ".!?:"
    for number, word in enumerate(words):
        small = word.casefold() in lower
        if not (word in OPENERS or (small and opens and number == 0)):
            words = words[number:]
            break
        opens = False
    else:
        return ""
    if not words:
        return ""
    while words and words[0].islower():
        words = words[1:]
    if not words or all(word.casefold() in lower for word in words if word[0].isupper()):
        return ""
    if len(words) == 1 and (opens or len(words[0]) < 4 or words[0] in OPENERS):
        return ""
    return " ".join(words)


def _numbered_end(line: str, at: int) -> int:
    """A name and its number, `Room 12`, `May 22, 2024`."""
    end = run_end(line, at + 1, lambda char: "a" <= char <= "z")
    if end - at < 3 or line[end : end + 1] != " ":
        return 0
    if line[at:end] in REPORTED:
        return 0
    start = end + 1 + (line[end + 1 : end + 2] == "#")
    last = run_end(line, start, str.isdecimal)
    if not 1 <= last - start <= 4:
        return 0
    year = line[last + 2 : last + 6]
    long = last + 6 if line[last : last + 2] == ", " and len(year) == 4 and year.isdecimal() else last
    for place in (long, last):
        after = line[place : place + 1]
        if not is_word(after) and not (
            after in (".", "%", ":", ")") and after and is_word(line[place + 1 : place + 2])
        ):
            return place
    return 0
