"""What the gold files hold: every format of the comparisons put together by hand."""

from __future__ import annotations

import re
from pathlib import Path

from compared import comparison, hostile, unmeasured

from bench.reports import rendered, terminal_text

GOLD = Path(__file__).parent / "gold"
FORMATS = {"html": "html", "text": "txt", "markdown": "md", "junit": "xml", "json": "json", "csv": "csv"}


def current() -> dict[str, str]:
    """Every gold file by name, as the code makes it now."""
    made = {f"two.{ending}": rendered([comparison()], name) for name, ending in FORMATS.items()}
    made |= {f"hostile.{ending}": rendered([hostile()], name) for name, ending in FORMATS.items()}
    made |= {
        f"several.{FORMATS[name]}": rendered([comparison(), unmeasured()], name) for name in ("json", "csv", "junit")
    }
    made["unmeasured.txt"] = rendered([unmeasured()], "text")
    made["unmeasured.xml"] = rendered([unmeasured()], "junit")
    made["terminal.txt"] = terminal_text(comparison())
    return {name: without_drawings(text) for name, text in sorted(made.items())}


def without_drawings(text: str) -> str:
    """A page without what its charts hold: the room that axes take depends on the fonts of the machine."""
    return re.sub(r"<svg[^>]*>.*?</svg>", "<svg></svg>", text, flags=re.DOTALL)
