"""What says that something was left out, phrase by phrase at every character.

In a phrase `#` is a whole number, `*` the rest of a word, `_` one blank, `~` up to 30 characters of one line, and `{…|…}` any one of these;
a capital `B` demands that a word ends there.
"""

from __future__ import annotations

from collections.abc import Iterator

from .leaves import taken_apart
from .reading import Nothing, decoded, is_word, some

NOUNS = (
    "{rows|row|lines|line|records|record|items|item|entries|entry|results|result|matches|hits|elements|element|observations"
    "|cells|genes|terms|walls|files|file}"
)
OUTPUTS = "{results|result|outputs|output|contents|content|observations|observation|responses|response}"
MARKERS = [
    "truncat*", "elided*", "omitted", "omission", "omitting", "abridged", "abbreviated", "shortened", "clipped", "snipped", "redacted",
    "left out", "cut {off|short|at|here}", "not {shown|displayed|included|listed}", "only the {first|last}", "{first|last|top} #B~Bshown",
    "{shown|showing}_{first|last|top|#}", "{shown|showing}_{only|the}_{first|last|top|#}", "{shown|showing}_only_the_{first|last|top|#}",
    "{first|last|top} # of #", "and # {more|others}", "# moreB", "# {remaining|further|additional|hidden}B",
    OUTPUTS + " {|was |were |is |has been }{removed|cleared|dropped|masked|hidden|pruned|compacted}",
    "{removed|cleared|dropped|masked|pruned} {to save|for brevity|from {|the }{context|history}}", "for brevity",
    "stored {as|at|in|under}", "saved {as|at|to|under}", "full {output|result|text|content} {at|in|under|is|available}", "summary of ",
    "{summarized|summarised}", "condensed", "compacted",
]  # fmt: skip
POINTERS = ("stored ", "saved ", "full ")
KEYS = [
    "{row|line|record|item}{_|}count", "total{rows|lines|count|records|items|results|significant}",
    "total{_|}{rows|lines|count|records|items|results|significant}", "total", "{n|num}{_|}{rows|lines|records|items}", "count", "length", "size",
]  # fmt: skip
ENDS = 4_000


def _spelled(phrase: str) -> Iterator[str]:
    """A phrase with every choice made."""
    start = phrase.find("{")
    if start < 0:
        yield phrase
        return
    depth, at, choices = 0, start, [start + 1]
    while True:
        depth += {"{": 1, "}": -1}.get(phrase[at], 0)
        if phrase[at] == "|" and depth == 1:
            choices.append(at + 1)
        if not depth:
            break
        at += 1
    ends = [*(place - 1 for place in choices[1:]), at]
    for first, last in zip(choices, ends, strict=True):
        yield from _spelled(phrase[:start] + phrase[first:last] + phrase[at + 1 :])


def _ends(line: str, at: int, phrase: str) -> list[int]:
    """Where a phrase that begins at a place may end."""
    if not phrase:
        return [at]
    first, rest = phrase[0], phrase[1:]
    if first == "#":
        end = _digits(line, at)
        return _ends(line, end, rest) if end > at else []
    if first == "*":
        end = at
        while is_word(line[end : end + 1]):
            end += 1
        return _ends(line, end, rest)
    if first == "_":
        return _ends(line, at + 1, rest) if line[at : at + 1].isspace() else []
    if first == "~":
        return [last for end in range(at, min(at + 30, len(line)) + 1) for last in _ends(line, end, rest)]
    if first == "B":
        inside = at > 0 and is_word(line[at - 1]) and is_word(line[at : at + 1])
        outside = not (at > 0 and is_word(line[at - 1])) and not is_word(line[at : at + 1])
        return [] if inside or outside else _ends(line, at, rest)
    return _ends(line, at + 1, rest) if line[at : at + 1] == first else []


def _digits(line: str, at: int) -> int:
    while line[at : at + 1].isdecimal():
        at += 1
    return at


PHRASES = [spelled for phrase in MARKERS for spelled in _spelled(phrase)]


def _found(line: str) -> Iterator[tuple[int, int]]:
    """Every marker of a line: where it starts and ends, those that begin earlier first, no overlaps."""
    lower, at = line.lower(), 0
    while at <= len(line):
        end = _marker_at(lower, at)
        if end is None:
            at += 1
        else:
            yield at, end
            at = max(end, at + 1)


def _marker_at(line: str, at: int) -> int | None:
    if not (at and line[at - 1].isalnum()):
        for phrase in PHRASES:
            if phrase[0] == "#" or line.startswith(phrase[:2], at):
                ends = _ends(line, at, phrase)
                if ends:
                    return ends[0]
    dots = at
    while line[dots : dots + 1] == ".":
        dots += 1
    if line[at : at + 1] == "…":
        dots = at + 1
    if (dots - at >= 3 or line[at : at + 1] == "…") and _closes(line, dots):
        return dots
    start = at
    if at == 0 or line[at : at + 1] in ("[", "(", "<"):  # an ellipsis that opens a line or a bracket
        start = at + (line[at : at + 1] in ("[", "(", "<") and line[at : at + 1] != "")
        for begin in {start, at} if at == 0 else {start}:
            place = begin
            while line[place : place + 1].isspace():
                place += 1
            if line.startswith("...", place) or line.startswith("…", place):
                return place + (3 if line.startswith("...", place) else 1)
    return None


def _closes(line: str, at: int) -> bool:
    rest = line[at:].lstrip()
    return rest == "" or rest[0] in "\"'])}>,|"


def marker(shown: str, untruncated: str, *, pointers: bool = True) -> str | None:
    """The first marker in a shown text that the untruncated text does not have there."""
    for text in dict.fromkeys((shown, decoded(shown))):
        for line in text.split("\n"):
            for start, end in _found(line):
                said = line[start:end]
                if _denied_after(line[end : end + 16].lower()) or _denied_before(
                    line[max(0, start - 24) : start].lower()
                ):
                    continue
                if not pointers and said.lower().startswith(POINTERS):
                    continue
                own = line[max(0, start - 12) : end + 12]
                if own not in untruncated and own not in decoded(untruncated):
                    return said.strip()
    return None


def _denied_after(after: str) -> bool:
    rest = after[1:] if after[:1] in ('"', "'") else after
    rest = rest.lstrip()
    if rest[:1] not in (":", "="):
        return False
    value = rest[1:].lstrip()
    value = value[1:] if value[:1] in ('"', "'") else value
    return any(
        value.startswith(word) and not is_word(value[len(word) : len(word) + 1])
        for word in ("false", "none", "null", "no", "0")
    )


def _denied_before(before: str) -> bool:
    if not before or not before[-1].isspace():
        return False
    for words in (1, 2):  # the denial itself, or one word between
        rest = before.rstrip()
        if words == 2:
            cut = len(rest)
            while cut and is_word(rest[cut - 1]):
                cut -= 1
            if cut == len(rest) or not cut or not rest[cut - 1].isspace():
                continue
            rest = rest[: cut - 1]
        for word in ("not", "nothing", "no", "never", "none", "isn't", "wasn't", "without"):
            if rest.endswith(word) and not is_word(rest[-len(word) - 1 : -len(word)]):
                return True
        if (rest.endswith("0") and rest[-2:-1] not in tuple("0123456789.,")) or rest == "0":
            return True
    return False


# ---------------------------------------------------------------- counts


def _number(line: str, at: int) -> int:
    """Where a count with or without thousands separators ends; `at` for none."""
    end = _digits(line, at)
    if 1 <= end - at <= 3:
        grouped = end
        while line[grouped : grouped + 1] == "," and _digits(line, grouped + 1) - grouped > 3:
            grouped += 4
        return grouped
    return end


def _value(text: str) -> int:
    return int(text.replace(",", "")[:18])


def stated_totals(text: str) -> list[int]:
    """The totals that a text states at either end: under a key, as `5 of 276`, as `276 rows`."""
    looked_at = text if len(text) <= 2 * ENDS else text[:ENDS] + "\n" + text[-ENDS:]
    keyed, of, nouns = [], [], []
    for line in looked_at.lower().split("\n"):
        keyed += _all(line, _keyed)
        of += _all(line, _of_total)
        nouns += _all(line, _with_noun)
    return list(dict.fromkeys(map(_value, [*keyed, *of, *nouns])))


def _all(line: str, rule: object) -> Iterator[str]:
    at = 0
    while at < len(line):
        found = rule(line, at)  # type: ignore[operator]
        if found is None:
            at += 1
        else:
            yield found[0]
            at = found[1]


KEY_WORDS = [spelled for phrase in KEYS for spelled in _spelled(phrase)]


def _keyed(line: str, at: int) -> tuple[str, int] | None:
    for key in KEY_WORDS:
        if line.startswith(key, at):
            rest = at + len(key)
            rest += line[rest : rest + 1] in ('"', "'") and line[rest : rest + 1] != ""
            while line[rest : rest + 1].isspace():
                rest += 1
            if line[rest : rest + 1] not in (":", "="):
                continue
            rest += 1
            while line[rest : rest + 1].isspace():
                rest += 1
            end = _whole_number(line, rest)
            if end:
                return line[rest:end], end
    return None


def _whole_number(line: str, at: int) -> int:
    """Where a count ends that nothing of a longer number or word follows; 0 for none."""
    for end in dict.fromkeys((_number(line, at), _digits(line, at))):
        if end > at and not is_word(line[end : end + 1]) and line[end : end + 1] != ".":
            return end
    return 0


def _blanks(line: str, at: int) -> int:
    while line[at : at + 1].isspace():
        at += 1
    return at


def _of_total(line: str, at: int) -> tuple[str, int] | None:
    if not line[at].isdecimal():
        return None
    for end in dict.fromkeys((_number(line, at), _digits(line, at))):
        after = _blanks(line, end)
        if after == end:
            continue
        if line.startswith("out", after) and line[after + 3 : after + 4].isspace():
            after = _blanks(line, after + 3)
        if not line.startswith("of", after) or not line[after + 2 : after + 3].isspace():
            continue
        after = _blanks(line, after + 2)
        for words in (["the"], ["a", "total", "of"], []):
            place = after
            for word in words:
                fits = line.startswith(word, place) and line[place + len(word) : place + len(word) + 1].isspace()
                place = _blanks(line, place + len(word)) if fits else len(line)
            last = _whole_number(line, place)
            if last:
                return line[place:last], last
    return None


NOUN_WORDS = [*_spelled(NOUNS)]


def _with_noun(line: str, at: int) -> tuple[str, int] | None:
    before = line[at - 1 : at] if at else ""
    if not line[at].isdecimal() or is_word(before) or (before and before in ".,"):
        return None
    for end in dict.fromkeys((_number(line, at), _digits(line, at))):
        after = _blanks(line, end)
        if after == end:
            continue
        word = after
        while is_word(line[word : word + 1]):
            word += 1
        second = _blanks(line, word)
        for place in ([second] if second > word > after else []) + [after]:
            for noun in NOUN_WORDS:
                if line.startswith(noun, place) and not is_word(line[place + len(noun) : place + len(noun) + 1]):
                    return line[at:end], place + len(noun)
    return None


def shown_count(text: str) -> int:
    """How many rows or items a text has, else how many lines."""
    try:
        value = some(text)
    except Nothing:
        return len([line for line in text.splitlines() if line.strip()])
    return max([1, len(taken_apart(value)[0]), *_sizes(value)])


def _sizes(value: object) -> list[int]:
    below = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([len(value)] if isinstance(value, list) else []) + [size for item in below for size in _sizes(item)]


def is_noticed(shown: list[str], untruncated: str) -> bool:
    """Whether the shown texts say that something was left out."""
    if any(marker(text, untruncated) for text in shown):
        return True
    totals = [total for text in shown for total in stated_totals(text)]
    return max(totals, default=0) > sum(map(shown_count, shown))
