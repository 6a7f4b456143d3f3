"""`Check` objects made of findings, and the template lines of a strategy's own texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from ...model import memo
from ...model.scores import Check, Finding
from ...text.wording import at_difference, beginning
from ..generated_text import GeneratedText, RewrittenResult
from ..of_replay import ReplayEvidence

MOST_FINDINGS = 5
"""The most findings of one check to keep for a report."""


def template_lines(texts: Sequence[GeneratedText]) -> frozenset[str]:
    """The lines that at least half of a strategy's texts of one kind have, and at least two texts.
    Texts that show results are one kind, summaries the other."""
    template: set[str] = set()
    for shows_result in (True, False):
        lines_by_text = [
            frozenset(map(str.strip, generated.text.split("\n"))) - {""}
            for generated in texts
            if isinstance(generated, RewrittenResult) == shows_result
        ]
        fewest = max(2, len(lines_by_text) / 2)
        counts = Counter(line for lines in lines_by_text for line in lines)
        template.update(line for line, count in counts.items() if count >= fewest)
    return frozenset(template)


@memo
def wording_of(evidence: ReplayEvidence) -> frozenset[str]:
    """The template lines of a strategy's texts; none for a strategy that reads the future."""
    return template_lines(() if evidence.replay.reads_future else evidence.generated_texts)


def check_of(
    findings: list[Finding], of: int, summaries: int = 0, unchecked: Sequence[str] = ()
) -> Check:
    """The check of `of` texts or prompts, with the first findings and the first `unchecked` text."""
    return Check(
        hits=len(findings),
        of=of,
        summaries=summaries,
        unchecked=len(unchecked),
        unchecked_text=beginning(unchecked[0]) if unchecked else "",
        findings=tuple(
            replace(item, text=beginning(text), was=beginning(was))
            for item in findings[:MOST_FINDINGS]
            for text, was in [at_difference(item.text, item.was)]
        ),
    )
