"""Patterns and questions that `statements`, `summaries` and `invented` share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..generated_text import GeneratedText

TAG = re.compile(r"</?[A-Za-z_][\w-]*(?:\s+[\w-]*=\"[^\"<>]{0,60}\")*\s*/?>")
"""Matches a tag of markup."""

IDENTIFIER = re.compile(  # bounded where it looks ahead, so that time is linear in a text that is one long word
    r"(?<![\w/.@#-])(?!\d+(?:st|nd|rd|th|s|-[A-Za-z]+)\b)(?!\d[\d.]*[eE][-+]?\d+(?!\w))[#@]?(?=[\w/.@:-]{0,255}\d)(?=[\w/.@:-]{0,255}[A-Za-z])"
    r"\w[\w/.@:-]{2,}\w|[\w.+-]{1,64}@[\w-]++\.\w+|https?://[^\s\[]+\w"
    r"|(?<![\w/<.])(?:~?/)?(?=[\w./@:-]{0,255}\d|[\w./@-]{0,255}\.[A-Za-z]\w*+(?![\w./@-]))"
    r"[\w.-]{0,255}\w/[\w./@:-]*\w"
)
"""Matches an identifier: a name with digits, an address or a path."""

UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u9fff\uac00-\ud7af]+")
"""Matches letters of scripts that write words without blanks between, also behind a name."""

_MARKUP = re.compile(r"[<>/=\"]")


def without_tags(text: str, known: str = "") -> str:
    """A text without closing tags and without the tags of a known text; of other tags the words stay."""

    def words_of(tag: re.Match[str]) -> str:
        is_known = tag[0].startswith("</") or tag[0] in known
        return " " if is_known else _MARKUP.sub(" ", tag[0])

    return TAG.sub(words_of, text)


FEWEST_WORDS = 4
"""The fewest words in a row that count as a quotation."""


def on_purpose(text: str, says: Sequence[str]) -> tuple[str, ...]:
    """The sentences in a text that the strategy declares in its `says`."""
    return tuple(words for words in says if _pattern_of(words).search(text))


def without(text: str, purpose: Sequence[str]) -> str:
    """A text without the declared sentences and handles, whose signs and blanks do not matter. A `{}`
    in a declared sentence matches any number, which stays.

    >>> without("[12 older results were dropped] ok", ["{} older results were dropped."]).split()
    ['12', 'ok']
    """
    for words in purpose:
        text = _pattern_of(words).sub(lambda match: f" {' '.join(match.groups())} ", text)
    return text


def as_declared(notice: str) -> str:
    """A notice as a strategy can declare it: with `{}` for each number.

    >>> as_declared("[12 older results of 1,300 characters dropped]")
    '[{} older results of {} characters dropped]'
    """
    return re.sub(_NUMBER, "{}", notice)


@lru_cache(1 << 10)
def _pattern_of(words: str) -> re.Pattern[str]:
    parts = [_NUMBER if part == "{}" else re.escape(part) for part in _PART.findall(words)]
    inner = r"[\W_]+".join(parts) if parts else re.escape(words)
    return re.compile(rf"[\[(<\"'*]?{inner}[^\w\s]*")


_PART, _NUMBER = re.compile(r"\{\}|[^\W_]+"), r"(?<!\w)(\d(?:[\d,.]*\d)?)(?!\w)"


def is_quoted(generated: GeneratedText, text: str, before: int) -> bool:
    """True if a message before a step has all words of a text in a row."""
    step = generated.session.mentions.first_step_with(text)
    return step is not None and step < before
