"""The checks of a replay: rules that count findings in a strategy's own texts, or in its prompts.

`changed`, `invented`, `hidden` and `misattributed` read texts, `valid` and `instructed` read prompts.
`statements` and `summaries` decide which words of a text state something without support.
"""

from __future__ import annotations

from functools import cached_property

from ...model.scores import Check, Rule
from ..of_replay import ReplayEvidence
from .changed import changed
from .findings import template_lines
from .hidden import hidden
from .instructed import instructed
from .invented import invented
from .misattributed import misattributed
from .valid import valid

_RULES_OF_TEXTS: tuple[Rule, ...] = "misattributed", "invented", "hidden"


class CheckedReplay(ReplayEvidence):
    """The evidence of a replay with its checks."""

    @cached_property
    def wording(self) -> frozenset[str]:
        """The template lines of the strategy's own texts; none for a strategy that reads the future."""
        return template_lines(() if self.replay.reads_future else self.own_texts)

    @cached_property
    def checks(self) -> dict[Rule, Check]:
        """The check of each rule that reads prompts or texts. The texts of a strategy that reads the
        future are not checked."""
        prompts: dict[Rule, Check] = {"valid": valid(self), "instructed": instructed(self)}
        if self.replay.reads_future:
            unread = Check(unchecked=len(self.own_texts))
            return {**prompts, "changed": unread, **dict.fromkeys(_RULES_OF_TEXTS, Check())}
        return {
            **prompts,
            "changed": changed(self),
            "misattributed": misattributed(self),
            "invented": invented(self, self.wording),
            "hidden": hidden(self),
        }
