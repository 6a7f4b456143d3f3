"""Tokens and dollars as tiktoken and genai-prices themselves give them, nothing remembered between two texts but for speed."""

from __future__ import annotations

import base64
import functools
import hashlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tiktoken
from genai_prices import Usage, calc_price

from bench.tokens.counting import vocabulary

UNDATED = datetime(2026, 11, 1, tzinfo=UTC)


@functools.cache
def encoding_of(name: str) -> tiktoken.Encoding:
    """An encoding as tiktoken itself makes it, of the file that it would fetch and whose sha256 it knows."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    lines = (base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(vocabulary(name)))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        (Path(folder) / hashlib.sha1(address.encode()).hexdigest()).write_bytes(b"".join(lines))
        patch.setenv("TIKTOKEN_CACHE_DIR", folder)
        return tiktoken.get_encoding(name)


@functools.lru_cache(maxsize=20_000)
def count(encoding: str, text: str) -> int:
    """The tokens of a text."""
    return len(encoding_of(encoding).encode(text, disallowed_special=()))


def provider(model: str | None) -> str | None:
    """The provider of a model; None for an unlisted one."""
    try:
        return calc_price(Usage(), model or "", genai_request_timestamp=UNDATED).provider.id
    except LookupError:
        return None
