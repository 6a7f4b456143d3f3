"""A trace without its text that still measures nearly the same: every word becomes another one, every number another one, always the same.

Which stand-ins they are depends on the order in which words come, never on what they say.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import msgspec

from ..model import ImagePart, OtherPart, Source, Trace
from ..text.common_words import COMMON_WORDS
from ..tokens.counting import TokenCounter, encoding_for, single_token_words
from .redaction import texts_in

_AS_IT_IS = {"kind", "role", "model", "media_type", "usage", "format", "in_text", "thread", "kept"}
_MAIN = ("agent", "main")


def shape_only(trace: Trace, number: int = 1) -> Trace:
    """The shape of a trace: the same steps, sizes, structure, usage, times and outcome, each word and number replaced by a stand-in.

    A stand-in has the length, the case and, as far as one was found, the tokens of what it replaces; the same word or number of a trace has the
    same one, and no two share one, so what a turn depends on is found again. Kept are punctuation, white space, single letters, the words that
    formats and the bench's patterns are made of (`KEPT`), and the model's name. Left out are labels, meta, the path and the hash of the
    source, and hashes of images. `number` becomes the id, `shape-1`.

    >>> from bench.model import UserTurn
    >>> one = Trace(id="secret plan", source=Source(format="openai", path="x"), steps=(UserTurn(index=0, content="Measure wall_471 of Berlin"),))
    >>> shape = shape_only(one)
    >>> shape.id, shape.source.path, [len(word) for word in shape.steps[0].content.split()]
    ('shape-1', '', [7, 8, 2, 6])
    >>> any(word in shape.steps[0].content for word in ("Measure", "wall", "471", "Berlin"))
    False
    """
    encoding, _ = encoding_for(trace.model)
    stand_ins = StandIns(TokenCounter(encoding), encoding)
    stand_ins.learn(text for _, text in texts_in(trace.steps))
    shape = _Shape(stand_ins)
    return Trace(
        id=f"shape-{number}",
        source=Source(format=trace.source.format),
        steps=tuple(shape.of("", step) for step in trace.steps),
        meta={"shape_only": True},
        outcome=None if trace.outcome is None else msgspec.structs.replace(trace.outcome, said_by=""),
        left_out={"part of what the reader did not understand": total}
        if (total := sum(trace.left_out.values()))
        else {},
    )


class _Shape:
    def __init__(self, stand_ins: StandIns) -> None:
        self._stand_ins = stand_ins
        self._hashes: dict[str, str] = {}

    def of(self, name: str, value: Any) -> Any:
        """A value of a step with stand-ins for its texts and numbers; `name` is the field that it stands in."""
        if isinstance(value, str):
            return value if name in _AS_IT_IS and (name != "thread" or value in _MAIN) else self._stand_ins.text(value)
        if isinstance(value, ImagePart | OtherPart):
            made = self._hashes.setdefault(value.sha256, f"{len(self._hashes):064x}")
            return msgspec.structs.replace(value, sha256=made)
        if isinstance(value, msgspec.Struct):
            fields = {field: self._field(field, getattr(value, field)) for field in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        if isinstance(value, dict):
            return {self._key(key): self.of("", item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.of(name, item) for item in value)
        if value is None or isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return json.loads(self._stand_ins.text(json.dumps(value)))

    def _field(self, name: str, value: Any) -> Any:
        if name in _AS_IT_IS and name != "thread":
            return value
        if name == "agent" and value in _MAIN:
            return value
        return value if isinstance(value, int | float) and name not in ("data", "arguments") else self.of(name, value)

    def _key(self, key: Any) -> Any:
        return self._stand_ins.text(key) if isinstance(key, str) else key


# ---------------------------------------------------------------- stand-ins

_KEPT = """
of the de van von and for step figure option note part line task phase section round table question answer
error exception warning fatal traceback true false null none nan undefined
command output outputs structured returncode stdout stderr exit code result results success is status execute executed execution message
type function object string integer number boolean array enum items properties required parameters description name content text data path file
rows row lines records record items item entries entry matches hits elements count total num more left out omitted elided shown truncated
remaining hidden skipped show not cut chars characters bytes tokens
http https www com org net json csv txt md py html xml yaml home usr tmp
mm cm km kg ms sec min day days hour hours px usd eur
"""
KEPT = frozenset(_KEPT.split())
"""The words of formats and of the bench's own patterns, in lower case: they are not replaced."""

_PIECE = re.compile(
    r"""(?P<escape>\\(?:u[0-9a-fA-F]{4}|[nrtbf"\\/]))
    | (?P<word>[A-Z]+(?![a-z])|[A-Z]?[a-z]+)
    | (?P<number>\d+(?:,\d{3})*(?:\.\d+)?(?P<power>[eE][-+]?\d+(?!\w))?)
    | (?P<letters>[^\W\d_a-zA-Z]+)""",
    re.VERBOSE,
)
_TRIES = 40
_FEW_LETTERS = 20
_FORMS = 8  # how many ways of writing a word its stand-in is fitted to, the most frequent ones
_NEAR = 20  # tokens too many or too few, in all, that need no evening out
_DIGITS = "123456789"
_ALIKE_DIGITS = 40  # of two numbers: what follows has stand-ins by the first 40 alone


class StandIns:
    """The stand-ins of one trace. `learn` reads its texts first, so that a stand-in fits every form of its word (Wall, wall, WALL).

    >>> stand_ins = StandIns(TokenCounter(), "o200k_base")
    >>> stand_ins.learn(["Wall_471 and wall 471.50"])
    >>> first, last = stand_ins.text("Wall_471"), stand_ins.text("wall 471.50")
    >>> first.casefold()[:4] == last[:4] != "wall", first[-3:] == last[5:8] != "471"
    (True, True)
    """

    def __init__(self, count: TokenCounter, encoding: str) -> None:
        self._count = count.encoded
        self._draw = random.Random(0)
        self._pool = single_token_words(encoding)
        self._common = sorted(COMMON_WORDS - KEPT)
        self._forms: dict[str, Counter[str]] = {}
        self._words: dict[str, str] = {}
        self._taken: set[str] = set(KEPT) | COMMON_WORDS
        self._taken_common: set[str] = set()
        self._owed = 0  # tokens that the stand-ins so far have more than what they replace
        self._digits: dict[str, list[str]] = {}
        self._numbers: dict[str, str] = {}
        self._letters: dict[str, str] = {}
        self._taken_letters: set[str] = set()
        self._choices: dict[str, list[str]] = {}
        self._alphabet: list[str] = []

    def learn(self, texts: Iterable[str]) -> None:
        """Read texts for the forms of their words and for the letters that are not a–z."""
        alphabet: dict[str, None] = dict.fromkeys(self._alphabet)
        for text in texts:
            for match in _PIECE.finditer(text):
                if match.lastgroup == "word":
                    self._forms.setdefault(match[0].lower(), Counter())[_before(text, match.start()) + match[0]] += 1
                elif match.lastgroup == "letters":
                    alphabet.update(dict.fromkeys(match[0]))
        self._alphabet = list(alphabet)

    def text(self, text: str) -> str:
        """A text with a stand-in for each word and number; all else is as it was."""
        return _PIECE.sub(self._piece, text)

    def _piece(self, match: re.Match[str]) -> str:
        if match["word"] is not None:
            return self._word(match["word"])
        if match["number"] is not None:
            power = match["power"] or ""
            return self._number(match["number"].removesuffix(power)) + power
        return match[0] if match["letters"] is None else self._other(match["letters"])

    # ------------------------------------------------------------ words

    def _word(self, word: str) -> str:
        small = word.lower()
        if len(word) == 1 or small in KEPT:
            return word
        made = self._words.get(small)
        if made is None:
            made = self._words[small] = self._new_word(small)
            self._taken.add(made)
        return _in_case(made, word)

    def _new_word(self, small: str) -> str:
        forms = (self._forms.get(small) or Counter([small])).most_common(_FORMS)
        wanted = {form: self._count(form) for form, _ in forms}
        common = [word for word in self._common if len(word) == len(small) and word not in self._taken_common]
        best, least, best_owed = "", float("inf"), 0
        for attempt in range(_TRIES * 5):
            if small in COMMON_WORDS and common:
                made = common.pop(self._draw.randrange(len(common)))
            else:
                made = self._candidate(len(small), wanted[forms[0][0]])
                if made in self._taken:
                    continue
            off = owed = 0
            for form, times in forms:
                more = (
                    self._count(form[: len(form) - len(small)] + _in_case(made, form[len(form) - len(small) :]))
                    - wanted[form]
                )
                off, owed = off + times * abs(more), owed + times * more
            worth = off + abs(self._owed + owed) / 2
            if made != small and worth < least:
                best, least, best_owed = made, worth, owed
            if (off == 0 and best == made and abs(self._owed) < _NEAR) or (attempt > _TRIES and best):
                break
        self._owed += best_owed
        if best in COMMON_WORDS:
            self._taken_common.add(best)
        return best or self._spelled(len(small))

    def _candidate(self, length: int, tokens: int) -> str:
        """A word of a length that may have so many tokens: words of the vocabulary in a row."""
        parts = min(max(1, tokens), max(1, length // 2))
        cuts = [length * at // parts for at in range(parts + 1)]
        sizes = [end - start for start, end in pairwise(cuts)]
        return "".join(
            self._draw.choice(self._pool[size]) if size in self._pool else self._letters_of(size) for size in sizes
        )

    def _letters_of(self, length: int) -> str:
        return "".join(self._draw.choices("abcdefghijklmnopqrstuvwxyz", k=length))

    def _spelled(self, length: int) -> str:
        """Letters that no other word has got."""
        while True:
            made = self._letters_of(length)
            if made not in self._taken or (length <= 2 and len(self._taken) > 26**length):
                return made

    # ------------------------------------------------------------ numbers and other letters

    def _number(self, number: str) -> str:
        """Another number: zeros, the point and commas stay, and numbers that begin alike have stand-ins that begin alike, as a rounded one does."""
        made = self._numbers.get(number)
        if made is None:
            prefix, said = "", []
            for char in number:
                said.append(char if char in "0,." else self._digit(prefix, char))
                prefix += "" if char == "," or len(prefix) >= _ALIKE_DIGITS else char
            made = self._numbers[number] = "".join(said)
        return made

    def _digit(self, prefix: str, digit: str) -> str:
        if digit not in _DIGITS:
            return digit
        left = self._digits.get(prefix)
        if left is None:
            left = self._digits[prefix] = self._draw.sample(_DIGITS, 9)
            self._digits[prefix] = left
        key = f"{prefix}|{digit}"
        if key not in self._numbers:
            self._numbers[key] = left.pop()
        return self._numbers[key]

    def _other(self, letters: str) -> str:
        """As many letters of the same kind (script and case), drawn from those that the trace has."""
        if letters not in self._letters:
            choices = [self._alike(char) for char in letters]
            made = letters
            for _ in range(_TRIES):
                made = "".join(map(self._draw.choice, choices))
                if made != letters and made not in self._taken_letters:
                    break
            self._letters[letters] = made
            self._taken_letters.add(made)
        return self._letters[letters]

    def _alike(self, char: str) -> list[str]:
        """The letters that may stand for one: those of the trace, and, where these are few, the first ones of the same part of Unicode."""
        if char in self._choices:
            return self._choices[char]
        kind = _kind(char)
        alike = [other for other in self._alphabet if _kind(other) == kind]
        if len(alike) < _FEW_LETTERS:
            start = ord(char) >> 8 << 8
            block = (chr(code) for code in range(start, start + 256))
            alike += [other for other in block if other.isalpha() and _kind(other) == kind][:_FEW_LETTERS]
        self._choices[char] = alike
        return alike


def _before(text: str, start: int) -> str:
    """The character before a word where a token may hold both: a blank, or a single sign that other signs have not taken."""
    char, earlier = text[start - 1 : start], text[start - 2 : start - 1] if start > 1 else ""
    if char.isalnum() or char in "\r\n":
        return ""
    return char if char == " " or not earlier or earlier.isalnum() or earlier in "\r\n" else ""


def _in_case(word: str, model: str) -> str:
    return "".join(char.upper() if like.isupper() else char for char, like in zip(word, model, strict=True))


def _kind(char: str) -> tuple[bool, int]:
    """Return the class of a letter: letters of one case and one part of Unicode may replace each other."""
    return char.isupper(), ord(char) >> 8 if ord(char) < 0x3000 else 0x3000 if ord(char) < 0x3400 else 0x4E00
