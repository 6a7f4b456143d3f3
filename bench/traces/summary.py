"""The one line that says what was read of recordings, what was skipped and cut, and what is not
known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..model import Trace
from ..model.errors import visible
from ..text.wording import counted, listed


@dataclass(frozen=True)
class ReadSummary:
    """Counts over some traces: what was read, what a reader skipped, results that had been cut
    before the recording, what the recording does not tell, and the secrets that an import removed.

    >>> from bench.model import Source, UserTurn
    >>> step = UserTurn(index=0, content="list the walls")
    >>> trace = Trace(id="a", source=Source(format="native"), steps=(step,), left_out={"block of type 'audio'": 2})
    >>> summary_of([trace]).line()
    "read 1 step (0 model calls, 0 results); skipped 2 block of type 'audio'; cut 0; unknown nothing"
    """

    traces: int = 0
    steps: int = 0
    model_calls: int = 0
    results: int = 0
    cut: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: ReadSummary) -> ReadSummary:
        names = self.__dataclass_fields__
        return ReadSummary(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def line(self) -> str:
        """All of it in one line."""
        traces = f"{counted(self.traces, 'trace')}, " if self.traces > 1 else ""
        calls = f"({counted(self.model_calls, 'model call')}, {counted(self.results, 'result')})"
        redacted = [
            f"{kind.replace('_', ' ')} ×{count}" for kind, count in sorted(self.redacted.items())
        ]
        parts = [
            f"read {traces}{counted(self.steps, 'step')} {calls}",
            f"skipped {_listed(self.skipped)}",
            f"cut {counted(self.cut, 'result') if self.cut else 0}",
            f"unknown {_listed(self.unknown)}",
            *([f"secrets removed {listed(redacted, 99)}"] if redacted else []),
        ]
        return "; ".join(parts)


def _listed(counts: Counter[str]) -> str:
    return (
        listed([f"{count} {visible(kind)}" for kind, count in sorted(counts.items())], 99)
        if counts
        else "nothing"
    )


def summary_of(traces: Iterable[Trace], skipped: Sequence[tuple[str, str]] = ()) -> ReadSummary:
    """The counts over traces and the files that were skipped while reading them (name and
    reason)."""
    files = Counter(
        {counted(len(skipped), "file").split(" ", 1)[1]: len(skipped)} if skipped else {}
    )
    return sum(map(_of_one, traces), ReadSummary(skipped=files))


def _of_one(trace: Trace) -> ReadSummary:
    """The counts over one trace."""
    calls = Counter(call.id for turn in trace.model_turns for call in turn.tool_calls)
    unanswered = calls - Counter(result.call_id for result in trace.results)
    unknown = {
        "call without a result": unanswered.total(),
        "usage of a model call": sum(turn.usage is None for turn in trace.model_turns),
        "prompt that may differ": int(trace.labels.get("prompts") == "unknown"),
    }
    redacted = trace.meta.get("redacted")
    return ReadSummary(
        traces=1,
        steps=len(trace.steps),
        model_calls=len(trace.model_turns),
        results=len(trace.results),
        cut=sum(result.truncated_at_source for result in trace.results),
        skipped=Counter(trace.left_out),
        unknown=Counter({what: count for what, count in unknown.items() if count}),
        redacted=Counter(redacted if isinstance(redacted, dict) else {}),
    )
