"""Words and tags of a layout that state nothing about its data."""

from __future__ import annotations

import re

from .vocabulary import is_of

FORMATTING_TAG = re.compile(
    r"</?(?:b|br|body|code|div|em|h[1-6]|html|i|p|pre|section|strong|u)\s*/?>", re.IGNORECASE
)
"""Matches a tag of markup that only says how its words look."""


def is_part(word: str) -> bool:
    """True for a word in small letters that layouts use for their parts."""
    return is_of(word, "types", "formats", "units", "turns")


def is_link(word: str) -> bool:
    """True for a word in small letters that joins keys and values, or that layouts use."""
    return is_of(word, "links") or is_part(word)
