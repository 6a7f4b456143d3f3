"""How well the bench's own token counts agree with what the provider reported."""

from __future__ import annotations

from ..model import ContextReset, ModelTurn, Run, Sample, SystemTurn, ToolResult, ToolsChanged, Trace, UserTurn
from ..replayer.prompts import base_message
from ..tokens.counting import MESSAGE_TOKENS, PROMPT_TOKENS, counter
from . import metric, once


@metric("cost.token_count_error", unit="fraction", better="lower", aggregate="pooled")
def token_count_error(trace: Trace, run: Run) -> list[Sample]:
    """How far our token counts are from the provider's own, on what the recorded model saw: Σ |ours − theirs| / Σ theirs.

    From 0 up. A diagnostic of the trace, the same for every strategy: the recorded prompts are rebuilt from seen texts, tool definitions and
    the recorder's own resets. One sample a turn with recorded usage; none without.

    Source: design §4 "cost"

    >>> from bench.metrics import example
    >>> token_count_error(*example())
    []
    """
    return once(trace, f"_token_count_error:{run.encoding}", lambda: _count_errors(trace, run.encoding))


class _Seen:
    """What the recorded model of one thread saw: step, tokens and whether it is a system turn, of each message, and their sum."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, int, bool]] = []
        self.tokens = PROMPT_TOKENS
        self.tools_tokens = 0

    def add(self, step: int, tokens: int, *, system: bool = False) -> None:
        self.messages.append((step, tokens, system))
        self.tokens += tokens

    def reset(self, step: ContextReset, summary_tokens: int | None) -> None:
        """What a recorded reset leaves: the system turns at the start, the summary, and what it kept."""
        old, kept = self.messages, set(step.kept)
        start = next((place for place, (_, _, system) in enumerate(old) if not system), len(old))
        summary = [] if summary_tokens is None else [(-1, MESSAGE_TOKENS + summary_tokens, False)]
        self.messages = [*old[:start], *summary, *(item for item in old[start:] if item[0] in kept)]
        self.tokens = PROMPT_TOKENS + sum(tokens for _, tokens, _ in self.messages)


def _count_errors(trace: Trace, encoding: str) -> list[Sample]:
    count = counter(encoding)
    threads: dict[str, _Seen] = {}
    samples = []
    for step in trace.steps:
        seen = threads.setdefault(step.thread, _Seen())
        if isinstance(step, ToolsChanged):
            seen.tools_tokens = count.tools(step.tools)
        elif isinstance(step, ContextReset):
            seen.reset(step, None if step.summary is None else count.text(step.summary))
        elif isinstance(step, ToolResult):
            seen.add(step.index, MESSAGE_TOKENS + count.text(step.shown_by_recorder))
        elif isinstance(step, SystemTurn | UserTurn | ModelTurn):
            if isinstance(step, ModelTurn) and step.usage is not None and step.usage.prompt_tokens > 0:
                samples.append(_error(step.index, seen.tokens + seen.tools_tokens, step.usage.prompt_tokens))
            seen.add(step.index, count.message(base_message(step)), system=isinstance(step, SystemTurn))
    return samples


def _error(step: int, ours: int, theirs: int) -> Sample:
    return Sample(
        numerator=float(abs(ours - theirs)),
        denominator=float(theirs),
        step=step,
        detail={"ours_tokens": ours, "theirs_tokens": theirs},
    )
