"""Building of checks from findings, and the template lines of a strategy's own texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from ...model.scores import Check, Finding
from ...text.wording import beginning
from ..own_text import OwnText, RewrittenResult

MOST_FINDINGS = 5
"""The most findings of one check to keep for a report."""


def template_lines(texts: Sequence[OwnText]) -> frozenset[str]:
    """The template lines of a strategy: those that at least half of its texts of one kind have.

    Texts that show results are one kind, summaries another; a single text has no template lines.
    """
    constant: set[str] = set()
    for of_results in (True, False):
        lines = [
            frozenset(map(str.strip, own.text.split("\n"))) - {""}
            for own in texts
            if isinstance(own, RewrittenResult) == of_results
        ]
        counts = Counter(line for each in lines for line in each)
        constant.update(
            line for line, count in counts.items() if count > 1 and 2 * count >= len(lines)
        )
    return frozenset(constant)


def check_of(
    findings: list[Finding], of: int, summaries: int = 0, unchecked: Sequence[str] = ()
) -> Check:
    """The check of `of` texts or prompts, with its first findings, and the text that could not be
    checked."""
    return Check(
        hits=len(findings),
        of=of,
        summaries=summaries,
        unchecked=len(unchecked),
        unchecked_text=beginning(unchecked[0]) if unchecked else "",
        findings=tuple(
            replace(item, text=beginning(item.text), was=beginning(item.was))
            for item in findings[:MOST_FINDINGS]
        ),
    )
