"""The checks of a replay: rules that count findings in a strategy's own texts, or in its prompts.

`changed`, `invented`, `hidden` and `misattributed` read texts, `valid` and `instructed` read prompts.
`statements` and `summaries` decide which words of a text state something without support.
"""

from __future__ import annotations

from ...model import memo
from ...model.scores import Check, Rule
from ..of_replay import ReplayEvidence
from .changed import changed
from .hidden import hidden
from .instructed import instructed
from .invented import invented
from .misattributed import misattributed
from .valid import valid

_RULES_OF_TEXTS: tuple[Rule, ...] = "misattributed", "invented", "hidden"


@memo
def checks_of(evidence: ReplayEvidence) -> dict[Rule, Check]:
    """The check of each rule that reads prompts or texts. The texts of a strategy that reads the
    future are not checked."""
    prompts: dict[Rule, Check] = {"valid": valid(evidence), "instructed": instructed(evidence)}
    if evidence.replay.reads_future:
        unread = Check(unchecked=len(evidence.generated_texts))
        return {**prompts, "changed": unread, **dict.fromkeys(_RULES_OF_TEXTS, Check())}
    return {
        **prompts,
        "changed": changed(evidence),
        "misattributed": misattributed(evidence),
        "invented": invented(evidence),
        "hidden": hidden(evidence),
    }
