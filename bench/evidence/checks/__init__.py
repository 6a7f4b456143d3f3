"""The rules that read a strategy's texts: each counts its findings over the strategy's own texts,
or over prompts."""

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

_OF_TEXTS: tuple[Rule, ...] = "misattributed", "invented", "hidden"


class CheckedReplay(ReplayEvidence):
    """The evidence of a replay with its checks."""

    @cached_property
    def wording(self) -> frozenset[str]:
        """The template lines in the strategy's own texts; none for one that reads the future, whose
        texts are not checked."""
        return template_lines(() if self.replay.reads_future else self.own_texts)

    @cached_property
    def checks(self) -> dict[Rule, Check]:
        """The check of each rule that reads prompts or texts; a strategy without own texts has no
        hits. The texts of a strategy that reads the future are not checked."""
        prompts: dict[Rule, Check] = {"valid": valid(self), "instructed": instructed(self)}
        if self.replay.reads_future:
            unread = Check(unchecked=len(self.own_texts))
            return {**prompts, "changed": unread, **dict.fromkeys(_OF_TEXTS, Check())}
        return {
            **prompts,
            "changed": changed(self),
            "misattributed": misattributed(self),
            "invented": invented(self, self.wording),
            "hidden": hidden(self),
        }
