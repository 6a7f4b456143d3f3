"""Words and tags that only lay a text out, such as `row`, `table`, `of` and `<b>`: they state
nothing about the data."""

from __future__ import annotations

import re

from .vocabulary import in_vocabulary

FORMATTING_TAG = re.compile(
    r"</?(?:b|br|body|code|div|em|h[1-6]|html|i|p|pre|section|strong|u)\s*/?>", re.IGNORECASE
)
"""Matches an HTML tag that only changes how its words look."""


def is_layout_word(word: str) -> bool:
    """True if a word in small letters names a type, a format or a part of a text, such as `row`."""
    return in_vocabulary(word, "types", "formats", "units", "turns")


def is_filler_word(word: str) -> bool:
    """True if a word in small letters only joins keys and values, such as `with`, or is a layout
    word."""
    return in_vocabulary(word, "links") or is_layout_word(word)
