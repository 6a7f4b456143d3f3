"""The evidence of one run: one object for what its prompts hold, which runs with equal prompts share, and one for the run itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

from ..model import Economy, ResultOutcome, Run, Spent, Trace
from ..text.texts import Texts
from ..tokens.counting import TokenCounter
from .of_trace import TraceEvidence
from .own_words import OwnWords
from .presence import HeldLeaves
from .pricing import CachePrefix, PricedCall, Refetch, calls_of, kept_prefixes, refetches_of, spent
from .tiers import Handles, Missing, PromptScan, ResultHeld, Tiered, scan_prompts
from .validity import Checked, check_prompts

OracleTokens = Callable[[str, float], int]
"""The cost of a reference that reads the future: its name (`floor` or `clairvoyant`) and a share of the dependencies → prompt tokens."""


class PromptEvidence:
    """The contents of the prompts of a run. They depend on nothing that was stored, judged or routed."""

    def __init__(self, of_trace: TraceEvidence, run: Run) -> None:
        self._of_trace, self._run = of_trace, run

    @cached_property
    def scan(self) -> PromptScan:
        """Everything that one walk through the prompts finds."""
        return scan_prompts(self._of_trace, self._run)

    @cached_property
    def leaves(self) -> dict[str, list[HeldLeaves]]:
        """The held part of every structured result at its first prompt ("shown") and at the last one ("end")."""
        structured = self._of_trace.structured
        return structured.held(self._of_trace.sightings(self._run, structured.labels))

    @cached_property
    def lost_by_kind(self) -> dict[str, list[tuple[ResultHeld, dict[str, list[str]]]]]:
        """By place every result with the facts that are gone of it by kind."""
        kinds = self._of_trace.kinds
        found: dict[str, list[tuple[ResultHeld, dict[str, list[str]]]]] = {}
        for place, results in self.scan.results.items():
            of_place = found.setdefault(place, [])
            for held in results:
                gone = set(held.gone)
                of_kinds = kinds[held.result.index].items() if gone else ()
                of_place.append((held, {kind: list(filter(gone.__contains__, facts)) for kind, facts in of_kinds}))
        return found

    @cached_property
    def checked(self) -> list[Checked]:
        """Each prompt, checked: if a provider would take it, and if it still holds the task."""
        return check_prompts(self._of_trace.recorded, self._run)

    @cached_property
    def kept(self) -> list[CachePrefix]:
        """For each prompt what it shares, from its start, with the one before in its thread."""
        return kept_prefixes(self._of_trace, self._run)


def same_prompts(run: Run) -> Hashable:
    """The key under which runs that showed the model exactly the same share their PromptEvidence.

    The same are prompts, compactions, and the message that first showed each result. What a strategy stored, how it judged and where it
    went may differ.
    """
    return (
        tuple((key, message.step, message.text) for key, message in run.held_messages.items()),
        tuple((prompt.thread, prompt.step, prompt.compacted, prompt.splices) for prompt in run.prompts),
        tuple((outcome.step, outcome.shown) for outcome in run.results),
        tuple(call.step for call in run.writer_calls),
    )


def prompts_sent(run: Run, of_text: Callable[[str], str] = str) -> Hashable:
    """The key of what the model was shown: the same for two runs whose prompts say the same, call by call. `of_text` may shorten a text."""
    texts = {key: (message.role, of_text(message.text)) for key, message in run.messages.items()}
    return tuple(
        (
            prompt.thread,
            prompt.step,
            tuple((edit.at, edit.removed, *map(texts.get, edit.added)) for edit in prompt.splices),
        )
        for prompt in run.prompts
    )


class RunEvidence:
    """One run of a trace, and everything that metrics, gates and panels ask of it.

    `prompts` is what its prompts hold, `count` counts tokens in its encoding. `silent` is the same strategy with a writer that says nothing (None:
    it writes no summaries). `oracle_tokens` says what a reference that reads the future costs (None: nobody can say, because nothing may be
    replayed).
    """

    def __init__(
        self,
        of_trace: TraceEvidence,
        run: Run,
        prompts: PromptEvidence | None = None,
        oracle_tokens: OracleTokens | None = None,
        count: TokenCounter | None = None,
        silent: Callable[[], RunEvidence] | None = None,
    ) -> None:
        self.of_trace, self.run = of_trace, run
        self.prompts = prompts or PromptEvidence(of_trace, run)
        self.oracle_tokens = oracle_tokens
        self._count, self._silent = count, silent

    @property
    def trace(self) -> Trace:
        """The trace that was replayed."""
        return self.of_trace.trace

    @property
    def texts(self) -> Texts:
        """The reader of texts."""
        return self.of_trace.texts

    @cached_property
    def silent(self) -> RunEvidence | None:
        """The same strategy with empty summaries, replayed when it is first asked for."""
        return None if self._silent is None else self._silent()

    @cached_property
    def count(self) -> TokenCounter:
        """Counts tokens in the run's encoding."""
        return self._count or TokenCounter(self.run.encoding, self.run.counting)

    @cached_property
    def own(self) -> OwnWords:
        """The words of the strategy itself."""
        return OwnWords(self.run, self.of_trace.said_before)

    @cached_property
    def calls(self) -> list[PricedCall]:
        """Every model call with what it costs."""
        return calls_of(self.of_trace, self.run, self.prompts.kept, self.count)

    @cached_property
    def uncached_calls(self) -> list[PricedCall]:
        """Every model call with what it costs without any cache."""
        return [call.uncached for call in self.calls]

    @cached_property
    def spent(self) -> dict[Economy, Spent]:
        """The money by its use, with the provider's cache and without; `{}` if some call has no price."""
        if self.run.failure is not None or not self.calls:
            return {}
        calls: dict[Economy, list[PricedCall]] = {"provider": self.calls, "none": self.uncached_calls}
        found = {cache: spent(self.of_trace, self.run, of_cache, self.refetches) for cache, of_cache in calls.items()}
        return {cache: value for cache, value in found.items() if value is not None}

    @cached_property
    def refetches(self) -> dict[int, Refetch]:
        """The repair of every turn that lacked what it needed, by its step."""
        return refetches_of(self.of_trace, self.missed, self.count)

    @cached_property
    def outcomes(self) -> dict[int, ResultOutcome]:
        """Each result's outcome under the strategy, by its step."""
        return {outcome.step: outcome for outcome in self.run.results}

    @cached_property
    def handles(self) -> Handles:
        """The handles that the prompts show, and what they stand for."""
        return Handles(self.of_trace, self.run)

    @cached_property
    def tiers(self) -> dict[str, list[Tiered]]:
        """By place ("shown", "end") the facts of each result that are not in context there, by tier."""
        return {
            place: [self.handles.tiered(held, place) for held in results if held.gone]
            for place, results in self.prompts.scan.results.items()
        }

    @cached_property
    def missed(self) -> list[Missing]:
        """Every dependency that its turn's prompt did not hold, with what gives the fact of all behind the handles that the prompt shows."""
        return [self.handles.missing(item.dependency) for item in self.prompts.scan.judged if not item.present]
