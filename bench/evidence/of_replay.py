"""The evidence of one replay: its prices, needs, prompts, stored results and texts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from ..model import Message, Step, ToolResult, grouped, memo
from ..model.index import Need
from ..model.replay import Replay, StepOutcome
from .generated_text import GeneratedText, RewrittenResult
from .handles import Handles
from .prompt_rules import Refused
from .session import TraceSession
from .walk import Walked, members, walk, with_one_of


class ReplayEvidence:
    """The evidence of one replay. Each part is computed when it is first asked for.

    `session` is that of its trace. Messages have the numbers of `TraceMessages`. Calls are numbered
    from 0 over all threads; a set of calls is an integer with a bit for each.

    >>> from bench.metrics import example
    >>> evidence = example()
    >>> [message.text for message in evidence.prompt(1)][-1]
    '{"rows": 471'
    """

    def __init__(self, session: TraceSession, replay: Replay) -> None:
        self.session, self.replay = session, replay
        self.trace, self.index = session.trace, session.index
        self.messages, self.contents = session.messages, session.contents

    @cached_property
    def walked(self) -> Walked:
        """The walk over its prompts."""
        return walk(self.replay, self.messages, self.session.pricing)

    @cached_property
    def needs(self) -> list[Need]:
        """The needs of its turns, in order."""
        return [need for call in self.walked.calls for need in self.index.needs.get(call.step, ())]

    @cached_property
    def handles(self) -> Handles:
        """The handles in its prompts, and the texts behind them."""
        return Handles(self.replay, self.messages)

    @cached_property
    def refused(self) -> list[Refused]:
        """The prompts that a provider would refuse."""
        return list(self.session.rules.refused(self.walked.calls))

    @cached_property
    def outcomes(self) -> dict[int, StepOutcome]:
        """The outcome of each result by its step."""
        return {outcome.step: outcome for outcome in self.replay.results}

    @cached_property
    def generated(self) -> tuple[int, ...]:
        """The messages of the strategy in any prompt, in order."""
        return tuple(sorted(n for n in self.walked.during if self.messages.is_generated(n)))

    @cached_property
    def generated_by_step(self) -> dict[int | None, list[int]]:
        """These by the step of the result that they show; None for those about no single result."""
        return grouped((self.messages.messages[number].step, number) for number in self.generated)

    def messages_about(self, step: int, call: int) -> list[int]:
        """The messages in the prompt of a call that show the result of a step, but not untruncated:
        those of the recording and of the strategy, and the strategy's about no single result."""
        numbers = (self.index.seen[step], *self.generated_by_step.get(step, ()))
        return [*(n for n in numbers if self.is_in_prompt(n, call)), *self._summaries_at(call)]

    @memo
    def _summaries_at(self, call: int) -> list[int]:
        """The strategy's messages about no single result in the prompt of a call."""
        summaries = self.generated_by_step.get(None, ())
        return [number for number in summaries if self.is_in_prompt(number, call)]

    # ------------------------------------------------------------ messages in prompts

    def is_in_prompt(self, number: int, call: int) -> bool:
        """True if a message is in the prompt of a call."""
        return bool(self.walked.during.get(number, 0) >> call & 1)

    def prompt(self, call: int) -> list[Message]:
        """The messages in the prompt of a call, in order."""
        calls, numbers = self.walked.calls, list[int]()
        for earlier in calls[: call + 1]:
            if earlier.thread == calls[call].thread:
                numbers[earlier.keep :] = earlier.tail
        return [self.messages.messages[number] for number in numbers]

    def first_call(self, number: int) -> int:
        """The first call whose prompt has a message."""
        return next(members(self.walked.during[number]))

    def calls_with(self, numbers: Iterable[int]) -> int:
        """The calls whose prompts have one of some messages."""
        return with_one_of(numbers, self.walked.during)

    def calls_between(self, thread: str, first: int, last: int | None = None) -> int:
        """The calls of a thread from a step on, up to another (None: all later ones)."""
        steps = self._steps
        end = len(steps) if last is None else bisect_right(steps, last)
        since = -1 << bisect_left(steps, first)
        return self.walked.threads.get(thread, 0) & since & ~(-1 << end)

    @cached_property
    def _steps(self) -> list[int]:
        """The steps of the calls."""
        return [call.step for call in self.walked.calls]

    def call_after(self, step: Step) -> int | None:
        """The first call of a step's thread after it; None without one."""
        return next(members(self.calls_between(step.thread, step.index + 1)), None)

    def call_before(self, step: Step) -> int | None:
        """The last call of a step's thread before it; None without one."""
        calls = self.calls_between(step.thread, 0, step.index - 1)
        return calls.bit_length() - 1 if calls else None

    @cached_property
    def call_of(self) -> dict[int, int]:
        """The call of each model turn, by its step."""
        return {call.step: number for number, call in enumerate(self.walked.calls)}

    @cached_property
    def last_calls(self) -> dict[str, int]:
        """The last call of each thread."""
        return {thread: calls.bit_length() - 1 for thread, calls in self.walked.threads.items()}

    @cached_property
    def prompted_results(self) -> list[tuple[ToolResult, int, int]]:
        """The results with a later prompt in their thread, each with the calls of the first and of
        the last such prompt."""
        contents = self.contents.results.values()
        calls = ((it.result, self.call_after(it.result)) for it in contents)
        return [
            (result, call, self.last_calls[result.thread])
            for result, call in calls
            if call is not None
        ]

    # ------------------------------------------------------------ texts of the strategy

    @cached_property
    def generated_texts(self) -> list[GeneratedText]:
        """The strategy's messages with a text, as the rules read them."""
        return [item for item in self._read if not item.is_blank]

    @cached_property
    def _read(self) -> list[GeneratedText]:
        return [*map(self.generated_text, self.generated)]

    def generated_text(self, number: int) -> GeneratedText:
        """A message of the strategy, as the rules read it."""
        text = self.messages.messages[number].text
        return self.session.generated_text(
            number, tuple(n for n in self.handles.names if n in text)
        )

    @cached_property
    def rewritten(self) -> list[RewrittenResult]:
        """The strategy's messages that show a result."""
        return [item for item in self.generated_texts if isinstance(item, RewrittenResult)]

    @cached_property
    def emptied(self) -> list[RewrittenResult]:
        """The empty messages in place of results that say something."""
        rewritten = (item for item in self._read if isinstance(item, RewrittenResult))
        return [item for item in rewritten if item.is_blank and not item.contents.is_empty]

    @cached_property
    def _calls_with_facts(self) -> dict[str, int]:
        """For each fact the calls with it in their prompts, outside of a result that alone has it."""
        calls = defaultdict[str, int](int)
        for number, during in self.walked.during.items():
            for fact in self.messages.facts_beside(number):
                calls[fact] |= during
        return calls

    def facts_in_prompt(self, result: ToolResult, call: int) -> frozenset[str]:
        """The facts of a result that the prompt of a call has without the untruncated result."""
        facts, calls = self.contents.facts_of(result.index), self._calls_with_facts
        return frozenset(fact for fact in facts & calls.keys() if calls[fact] >> call & 1)

    def lost_facts(self, result: ToolResult, call: int) -> list[str]:
        """The facts of a result that the prompt of a call does not have, in order."""
        present, facts = self.facts_in_prompt(result, call), self.contents.facts
        return [fact for fact in facts[result.index] if fact not in present]
