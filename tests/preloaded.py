"""What the server of `warm.py` does once, so that no command has to: it reads the vocabulary and finds every plug-in."""

from __future__ import annotations

import numpy  # noqa: F401
import rich.console  # noqa: F401

from bench.plugins.registry import KINDS, entries
from bench.tokens.counting import TokenCounter

TokenCounter()
for kind in KINDS:
    entries(kind)
