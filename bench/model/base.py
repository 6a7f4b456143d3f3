"""What every value here is built on."""

from __future__ import annotations

import msgspec

SCHEMA_VERSION = 1
"""Version of everything in this package as it is written to disk; a reader refuses any other."""


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of every value here: frozen, keyword-only, unknown fields refused when read."""
