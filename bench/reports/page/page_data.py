"""What a page carries that it does not show at once: compressed blocks, and the chart library that draws on demand."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import json
import os
import tempfile
import zlib
from importlib import metadata
from pathlib import Path
from typing import Any

from .charts import VEGA_LITE


def packed(text: str) -> str:
    """A text as base64 of its zlib-compressed UTF-8, which a browser unpacks with `DecompressionStream("deflate")`.

    >>> unpacked(packed("a < b"))
    'a < b'
    """
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 6)).decode("ascii")


def unpacked(block: str) -> str:
    """The text of a packed block."""
    return zlib.decompress(base64.b64decode(block)).decode("utf-8")


def source_hash(script: str) -> str:
    """How a content security policy names an inline script: `'sha256-…'` of its text.

    >>> source_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode('ascii')}'"


def inert_json(value: Any) -> str:
    """A value as JSON that can stand inside a script element: no text in it can close the element or open a comment.

    >>> inert_json({"a": "</script><!--"})
    '{"a":"\\\\u003c/script>\\\\u003c!--"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def can_draw() -> bool:
    """Whether charts can be drawn here: what draws them is an extra, 84 MB large. A page without it has their numbers as tables."""
    return importlib.util.find_spec("vl_convert") is not None


@functools.cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, as vl-convert bundles them; it takes seconds, so the user's cache folder keeps it.

    The same bytes for one version of vl-convert, whether bundled or kept.
    """
    import vl_convert

    name = f"vega-{metadata.version('vl-convert-python')}-{VEGA_LITE}.js.zlib"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agent-memory-bench" / "charts"
    try:
        return zlib.decompress((folder / name).read_bytes()).decode("utf-8")
    except (OSError, zlib.error, UnicodeDecodeError):
        script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", VEGA_LITE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as temporary:
            temporary.write(zlib.compress(script.encode("utf-8"), 6))
        os.replace(temporary.name, folder / name)
    except OSError:
        pass  # a machine without a writable cache bundles each time
    return script
