"""What the gold files hold: every format of the comparisons put together by hand."""

from __future__ import annotations

import re
from pathlib import Path

from compared import comparison, hostile, unmeasured

from bench.model import Comparison
from bench.reports import rendered
from bench.reports.html_blocks import unpacked
from bench.reports.text import terminal_text

GOLD = Path(__file__).parent / "gold"
FORMATS = {"html": "html", "text": "txt", "markdown": "md", "junit": "xml", "json": "json", "csv": "csv"}
PANELS = ("trust", "ranking", "losses", "settings", "window", "judgements", "gates", "changes", "own_words", "metrics")
"""The panels whose looks were accepted. A new panel breaks nothing; it is in the gold files from when it is named here."""


def current() -> dict[str, str]:
    """Every gold file by name, as the code makes it now."""
    made = {f"two.{ending}": _text([comparison()], name) for name, ending in FORMATS.items()}
    made |= {f"hostile.{ending}": _text([hostile()], name) for name, ending in FORMATS.items()}
    made |= {f"several.{FORMATS[name]}": _text([comparison(), unmeasured()], name) for name in ("json", "csv", "junit")}
    made["unmeasured.txt"] = _text([unmeasured()], "text")
    made["unmeasured.xml"] = _text([unmeasured()], "junit")
    made["terminal.txt"] = terminal_text(comparison())
    return {name: unfolded(text) for name, text in sorted(made.items())}


def _text(comparisons: list[Comparison], name: str) -> str:
    text = rendered(comparisons, name, PANELS)
    return text if isinstance(text, str) else text.decode()


def unfolded(text: str) -> str:
    """A page as people can read it: cases unpacked, without the hash of the script."""
    text = re.sub(r"'sha256-[^']*'", "'sha256-…'", text)
    return re.sub(r'(<script type="application/octet-stream" data-case="[^"]*">)([^<]+)', _unpacked, text)


def _unpacked(match: re.Match[str]) -> str:
    return match[1] + unpacked(match[2])
