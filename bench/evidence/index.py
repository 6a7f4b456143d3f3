"""Building of the index of a trace, which reads all of its texts."""

from __future__ import annotations

from ..model import ModelTurn, Trace, compact_json
from ..model.index import TraceIndex
from ..model.messages import recorded_messages
from ..tokens.counting import TokenCounter, encoding_for
from ..tokens.prices import window_tokens
from ..tokens.usage import calibration_of
from .contents import TraceContents
from .needs import needs_of

_EARLY = 1.5
"""The factor by which a text exceeds the reported output tokens if they were counted too early."""


def index_trace(
    trace: Trace, *, model: str | None = None, contents: TraceContents | None = None
) -> TraceIndex:
    """The index of a trace. `model` applies to a trace that names none.

    `contents` are the trace's shared texts.

    >>> from bench.model import Source, UserTurn
    >>> steps = UserTurn(index=0, content="Count 471."), ModelTurn(index=1, content="It has 471.")
    >>> index = index_trace(Trace(id="a", source=Source(format="native"), steps=steps))
    >>> index.facts, index.tokens, index.answer_tokens
    (('471',), (7, 8), {1: 5})
    """
    named = trace.model or model
    encoding, assumed = encoding_for(named)
    contents = contents or TraceContents(trace)
    plain = contents.counter(encoding)
    fit = calibration_of(trace, plain, named, assumed=assumed)
    count = plain.calibrated(fit.counting)
    recorded = recorded_messages(trace, fit.reasoning_tokens)
    needs = needs_of(trace, recorded, contents)
    return TraceIndex(
        encoding=encoding,
        encoding_assumed=assumed,
        counting=fit.counting,
        model=named,
        window_tokens=_window_of(trace, named),
        full=recorded.full,
        seen=recorded.seen,
        tokens=tuple(map(count.message, recorded.messages)),
        tools_tokens={
            step: round(fit.counting.factor * size) for step, size in fit.tools_tokens.items()
        },
        answer_tokens={turn.index: _answer_tokens(turn, count) for turn in trace.model_turns},
        reasoning_tokens=fit.reasoning_tokens,
        facts=needs.facts,
        needs=needs.by_turn,
        holders=needs.holders,
    )


def _window_of(trace: Trace, model: str | None) -> int | None:
    """The window of a model, or the largest recorded prompt if that is larger; None if it is not
    known."""
    listed = window_tokens(model)
    taken = [turn.usage.prompt_tokens for turn in trace.model_turns if turn.usage is not None]
    return None if listed is None else max(listed, *taken, 0)


def _answer_tokens(turn: ModelTurn, count: TokenCounter) -> int:
    """Output tokens of a turn: the provider's count, else its text, calls and reasoning counted.

    A reported count much smaller than these was taken before the answer ended; then they are
    counted.

    >>> from bench.model import Usage
    >>> usages = [Usage(prompt_tokens=9, completion_tokens=count) for count in (4, 5, 40)]
    >>> turns = [ModelTurn(index=0, content="one two three four five", reasoning="So six.", usage=usage) for usage in usages]
    >>> [_answer_tokens(turn, TokenCounter()) for turn in turns]
    [8, 8, 40]
    """
    counted = count.text(turn.content) + count.text(turn.reasoning or "")
    counted += sum(
        count.text(call.name) + count.text(compact_json(call.arguments))
        for call in turn.tool_calls
        if not call.in_text
    )
    reported = 0 if turn.usage is None else turn.usage.completion_tokens
    return counted if counted > _EARLY * reported else reported
