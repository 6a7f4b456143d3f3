"""Tokens and dollars as tiktoken and genai-prices themselves give them, nothing remembered between two texts but for speed."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import tiktoken
from genai_prices import Usage, calc_price

UNDATED = datetime(2026, 11, 1, tzinfo=UTC)
FOLDERS = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-memory-bench" / "tiktoken",
    Path(tempfile.gettempdir()) / f"bench-tiktoken-{os.getuid()}",
)
"""Where the bench puts the vocabularies that tiktoken would fetch; tiktoken itself proves that they are the right ones."""


@functools.cache
def _encoding(name: str) -> tiktoken.Encoding:
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    file = hashlib.sha1(address.encode()).hexdigest()
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(next(folder for folder in FOLDERS if (folder / file).is_file()))
    try:
        return tiktoken.get_encoding(name)
    finally:
        del os.environ["TIKTOKEN_CACHE_DIR"]
        if before is not None:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


@functools.lru_cache(maxsize=20_000)
def count(encoding: str, text: str) -> int:
    """The tokens of a text."""
    return len(_encoding(encoding).encode(text, disallowed_special=()))


def provider(model: str | None) -> str | None:
    """Who offers a model; None for one that nobody lists."""
    try:
        return calc_price(Usage(), model or "", genai_request_timestamp=UNDATED).provider.id
    except LookupError:
        return None
