"""What a recording says of itself, the same for every strategy."""

from __future__ import annotations

from ..model import (
    ContextReset,
    CutShown,
    ModelTurn,
    RecordingShown,
    ResetShown,
    SystemTurn,
    ToolResult,
    ToolsChanged,
    UserTurn,
    non_text_parts,
    text_of,
)
from ..tokens.counting import MESSAGE_TOKENS, PROMPT_TOKENS, TokenCounter
from .of_trace import TraceEvidence
from .recorded_cut import Cut

MOST = 20
"""How many cuts and resets of one recording are kept."""

NAMED = 4
"""How many later steps and facts of one cut are named."""


def recording_shown(
    evidence: TraceEvidence, count: TokenCounter, fewest: tuple[tuple[float, int], ...]
) -> RecordingShown:
    """What reports show of a recording; `fewest` are the fewest prompt tokens at which a selection reaches a share of dependencies."""
    trace = evidence.trace
    counted = count_error(evidence, count)
    worst = sorted(evidence.cuts, key=lambda cut: (-cut.needed, -len(cut.lost), cut.step))
    parts = sum(result.non_text for result in trace.results)
    parts += sum(non_text_parts(getattr(step, "content", "")) for step in trace.steps)
    return RecordingShown(
        sha256=trace.sha256,
        format=trace.source.format,
        calls=len(trace.model_turns),
        results=len(trace.results),
        cut_at_source=sum(result.truncated_at_source for result in trace.results),
        non_text=parts,
        threads=len({step.thread for step in trace.steps}),
        model=trace.model,
        outcome=trace.outcome,
        left_out=trace.left_out,
        cuts=tuple(_cut_shown(cut) for cut in worst[:MOST]),
        cuts_total=len(worst),
        cuts_needed=sum(bool(cut.needed) for cut in worst),
        resets=tuple(
            ResetShown(step=item.step, results=item.results, kept=item.kept, summary_chars=item.summary_chars,
                       facts=item.facts, lost=item.lost)
            for item in sorted(evidence.resets, key=lambda item: (-item.lost, item.step))[:MOST]
        ),
        resets_total=len(evidence.resets),
        counted_tokens=sum(ours for _, ours, _ in counted),
        reported_tokens=sum(theirs for _, _, theirs in counted),
        error_tokens=sum(abs(ours - theirs) for _, ours, theirs in counted),
        fewest_tokens=fewest,
    )  # fmt: skip


def _cut_shown(cut: Cut) -> CutShown:
    said = tuple((step, facts[:NAMED]) for step, facts in list(cut.said.items())[:NAMED])
    return CutShown(
        step=cut.step,
        function=cut.function,
        untruncated_chars=cut.untruncated_chars,
        seen_chars=cut.seen_chars,
        facts=cut.facts,
        lost=len(cut.lost),
        asked_again=tuple(cut.asked_again.items()),
        said=said,
        said_total=sum(map(len, cut.said.values())),
    )


def count_error(evidence: TraceEvidence, count: TokenCounter) -> list[tuple[int, int, int]]:
    """For each turn with recorded usage: its step, our count of the prompt that the recorded model saw, and the provider's own.

    The recorded prompts are rebuilt from seen texts, tool definitions and the recorder's own resets. No usage: `[]`.
    """
    threads: dict[str, _Seen] = {}
    found = []
    for step in evidence.trace.steps:
        seen = threads.setdefault(step.thread, _Seen())
        if isinstance(step, ToolsChanged):
            seen.tools_tokens = count.tools(step.tools)
        elif isinstance(step, ContextReset):
            seen.reset(step, None if step.summary is None else count.text(step.summary))
        elif isinstance(step, ToolResult):
            seen.add(step.index, MESSAGE_TOKENS + count.text(step.shown_by_recorder))
        elif isinstance(step, ModelTurn):
            if step.usage is not None and step.usage.prompt_tokens > 0:
                found.append((step.index, seen.tokens + seen.tools_tokens, step.usage.prompt_tokens))
            seen.add(step.index, count.turn(step))
        elif isinstance(step, SystemTurn | UserTurn):
            seen.add(
                step.index, MESSAGE_TOKENS + count.text(text_of(step.content)), system=isinstance(step, SystemTurn)
            )
    return found


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
