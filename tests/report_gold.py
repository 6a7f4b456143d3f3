"""What the gold files hold: every format of the comparisons put together by hand, and what gates say of many values."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from bench.reports.html_blocks import unpacked
from bench.reports.text import terminal_text
from compared import comparison, hostile, unmeasured
from decided import BROKEN, UNMEASURED, against, one

from bench.model import Comparison
from bench.reports import rendered

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
    made["verdicts.txt"] = "\n".join(_verdicts())
    return {name: unfolded(text) for name, text in sorted(made.items())}


def _verdicts() -> dict[str, None]:
    """What each of these gates says of each of these changes."""
    small = [{"a": 0.9, "b": 0.4}, {"a": 0.9, "b": 0.5}, {"a": 0.4, "c": 0.9}, {"a": 0.0}, {"a": 0.9, "b": UNMEASURED}]
    given = [*small, {"a": 0.9, "b": None}, {"a": 0.8, "b": BROKEN}, dict.fromkeys("abcdefgh", 0.7), {}]
    limits = [{"max_drop": 0.1}, {"max_drop": "10%"}, {"max_increase": 0.05}, {"min": 0.5}, {"min": 0.2, "max": 0.6}]
    said = dict[str, None]()
    for metric, limit, over in itertools.product(
        ("needed.recall", "cost.prompt_tokens"), limits, ({}, {"over": "worst_case"})
    ):
        for before, now in itertools.product(given, given):
            then = one(metric, before, {**limit, **over}) if before else None
            judged = one(metric, now, {**limit, **over}, **({"against": against(then)} if then else {}))
            said |= {f"{verdict.outcome}: {verdict.sentence}": None for verdict in judged.verdicts}
    return said


def _text(comparisons: list[Comparison], name: str) -> str:
    text = rendered(comparisons, name, PANELS)
    return text if isinstance(text, str) else text.decode()


def unfolded(text: str) -> str:
    """A page as people can read it: cases unpacked, without the hash of the script."""
    text = re.sub(r"'sha256-[^']*'", "'sha256-…'", text)
    return re.sub(r'(<script type="application/octet-stream" data-case="[^"]*">)([^<]+)', _unpacked, text)


def _unpacked(match: re.Match[str]) -> str:
    return match[1] + unpacked(match[2])
