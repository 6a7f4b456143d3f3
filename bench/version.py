"""The version of bench."""

from __future__ import annotations

VERSION = "1.0.0.dev0"
"""Part of every signature; the same as in pyproject.toml."""
