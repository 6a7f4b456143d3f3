"""The gold files of the reports: what each format shows of a few comparisons."""

from __future__ import annotations

import re
from pathlib import Path

from audits import audits
from comparisons import comparison, example_about

from bench.model.compared import Compared
from bench.reports import rendered, reports
from bench.reports.audit import audit_rendered
from bench.reports.text import render

GOLD = Path(__file__).parent / "gold"
ENDINGS = {"html": "html", "markdown": "md"}


def comparisons() -> dict[str, list[Compared]]:
    """The comparisons of the gold files, by name."""
    small = {"strategies": 4, "runs": 8, "seed": 1}
    return {
        "answer": [comparison(**small, gates="pass")],
        "failed": [comparison(8, 12, seed=2, gates="fail", title="Can old results be forgotten?")],
        "hostile": [comparison(2, 4, seed=3, hostile=True)],
        "judged": [example_about()],
        "several": [
            comparison(**small, gates="pass"),
            comparison(2, 3, title="Does a table suffice?", unit="tokens"),
            example_about("routed"),
        ],
    }


def current() -> dict[str, str]:
    """Every gold file by name, as the code shows it now."""
    found = {}
    for name, several in comparisons().items():
        for form, ending in ENDINGS.items():
            if form == "html" or name not in ("hostile",):
                found[f"{name}.{ending}"] = rendered(several, form)
        found[f"{name}.terminal.txt"] = rendered(several, "text")
    for form, ending in ENDINGS.items():
        found[f"audit.{ending}"] = audit_rendered(audits(1), form)
    found["failed.verbose.txt"] = "".join(render(reports(comparisons()["failed"]), verbose=True))
    found["answer.csv"] = rendered([comparison(2, 2, seed=1)], "csv")
    return {name: _readable(text) for name, text in sorted(found.items())}


def _readable(text: str) -> str:
    """A page without its style sheet and script, which have tests of their own; a line for each part."""
    text = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)
    text = re.sub(r"'sha256-[^']*'", "'sha256-…'", text)
    return (
        re.sub(r"(?<=>)(?=<(?:tr|div|section|li|details|svg|p|h\d|td|dl)\b)", "\n", text)
        if text.startswith("<!doctype")
        else text
    )
