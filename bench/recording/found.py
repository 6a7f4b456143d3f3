"""Counts of what was found in traces, for the lines of `bench import`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..model import Trace, as_text, compact_json, text_of
from ..model.trace import AnyStep, ContextEdit, ContextReset, ModelTurn, SystemTurn, ToolResult, ToolsChanged, UserTurn
from ..text.wording import counted, listed, visible
from ..tokens.counting import TokenCounter, encoding_for

NAMED = 4
"""The most tools that a line names."""


@dataclass(frozen=True)
class Found:
    """The contents of one trace in numbers, or of several added up.

    >>> from bench.model import Source
    >>> found = found_in(Trace(id="a", source=Source(format="native"), steps=(UserTurn(index=0, content="list the walls"),)))
    >>> found.sentence()
    '1 step (0 model calls, 0 tool results), 3 tokens of text'
    """

    traces: int = 0
    steps: int = 0
    model_calls: int = 0
    results: int = 0
    tokens: int = 0
    structured: int = 0
    cut: int = 0
    unanswered: int = 0
    with_usage: int = 0
    threads: int = 0
    resets: int = 0
    edits: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Found) -> Found:
        return Found(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    def sentence(self) -> str:
        """All of it in one line; what there is none of is not said."""
        shape = f"{counted(self.steps, 'step')} ({counted(self.model_calls, 'model call')}, {counted(self.results, 'tool result')})"
        return "; ".join([f"{shape}, {counted(self.tokens, 'token')} of text", *self._rest()])

    def _rest(self) -> Iterator[str]:
        if self.tools:
            names = [f"{visible(name)} ×{count}" for name, count in self.tools.most_common(NAMED)]
            more = len(self.tools) - len(names)
            yield f"tools {', '.join(names)}" + (f" and {more} more" if more else "")
        counts = {
            counted(self.threads, "thread"): self.threads > max(1, self.traces),
            f"history cut by the agent {counted(self.resets, 'time')}": self.resets,
            f"messages reworded by the agent {counted(self.edits, 'time')}": self.edits,
            f"{counted(self.structured, 'result')} with structure": self.structured,
            f"{counted(self.cut, 'result')} cut at the source": self.cut,
            f"{counted(self.unanswered, 'call')} without a result": self.unanswered,
            f"usage of {counted(self.with_usage, 'call')}": self.with_usage,
        }
        yield from (said for said, there in counts.items() if there)
        if self.outcomes:
            yield "outcome " + listed(
                [f"{name} ×{count}" if self.traces > 1 else name for name, count in sorted(self.outcomes.items())]
            )
        if self.removed:
            kinds = listed([f"{what.replace('_', ' ')} ×{count}" for what, count in sorted(self.removed.items())])
            yield f"secrets removed: {kinds}"
        if self.left_out:
            yield "left out: " + listed([f"{count} {visible(what)}" for what, count in sorted(self.left_out.items())])


def found_in(trace: Trace) -> Found:
    """Count the contents of one trace. Tokens are those of the text of its steps, each step once, by the encoding of its model."""
    count = TokenCounter(encoding_for(trace.model)[0]).text
    outcome = trace.outcome
    removed = trace.meta.get("redacted")
    ended = "" if outcome is None else {True: "success", False: "failure", None: "scored"}[outcome.success]
    return Found(
        traces=1,
        steps=len(trace.steps),
        model_calls=len(trace.model_turns),
        results=len(trace.results),
        tokens=sum(count(text) for step in trace.steps for text in texts_of(step)),
        structured=sum(result.data is not None for result in trace.results),
        cut=sum(result.truncated_at_source for result in trace.results),
        unanswered=(
            Counter(call.id for turn in trace.model_turns for call in turn.tool_calls)
            - Counter(result.call_id for result in trace.results)
        ).total(),
        with_usage=sum(turn.usage is not None for turn in trace.model_turns),
        threads=len({step.thread for step in trace.steps}),
        resets=sum(isinstance(step, ContextReset) for step in trace.steps),
        edits=sum(isinstance(step, ContextEdit) for step in trace.steps),
        tools=Counter(result.function for result in trace.results),
        outcomes=Counter([ended] if ended else []),
        left_out=Counter(trace.left_out),
        removed=Counter(removed if isinstance(removed, dict) else {}),
    )


def texts_of(step: AnyStep) -> Iterator[str]:
    """The texts of a step that a prompt may hold: what was said, the calls, the untruncated result, the tools."""
    if isinstance(step, SystemTurn | UserTurn):
        yield text_of(step.content)
    elif isinstance(step, ModelTurn):
        calls = (f"{call.name}({as_text(call.arguments)})" for call in step.tool_calls if not call.in_text)
        yield from filter(None, (text_of(step.content), *calls))
    elif isinstance(step, ToolResult):
        yield step.text
    elif isinstance(step, ToolsChanged):
        yield from map(compact_json, step.tools)
    elif isinstance(step, ContextReset):
        yield step.summary or ""
    elif isinstance(step, ContextEdit):
        yield from step.shown.values()
