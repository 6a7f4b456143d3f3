"""The one line about recordings: what was read, skipped and truncated, and what they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..model import Trace
from ..model.errors import visible
from ..text.wording import counted, listed
from .values import as_dict


@dataclass(frozen=True)
class ReadSummary:
    """Counts over some traces: what was read, what a reader skipped, results truncated before they
    were recorded, what is not recorded, and the secrets that an import removed.

    >>> from bench.model import Source, UserTurn
    >>> step = UserTurn(index=0, content="list the walls")
    >>> trace = Trace(id="a", source=Source(format="native"), steps=(step,), left_out={"block of type 'audio'": 2})
    >>> summary_of([trace]).line()
    "read 1 step (0 model calls, 0 results); skipped: 2 × block of type 'audio'"
    """

    traces: int = 0
    steps: int = 0
    model_calls: int = 0
    results: int = 0
    cut: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unknown: Counter[tuple[str, str]] = field(default_factory=Counter)
    redacted: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: ReadSummary) -> ReadSummary:
        names = self.__dataclass_fields__
        return ReadSummary(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def line(self) -> str:
        """The counts in one line."""
        traces = f"{counted(self.traces, 'trace')}, " if self.traces > 1 else ""
        calls = f"{counted(self.model_calls, 'model call')}, {counted(self.results, 'result')}"
        skipped = [f"{many} × {visible(kind)}" for kind, many in sorted(self.skipped.items())]
        unknown = [f"{what[0]} of {counted(n, what[1])}" for what, n in self.unknown.items()]
        redacted = [f"{kind.replace('_', ' ')} ×{n}" for kind, n in sorted(self.redacted.items())]
        parts = [
            f"read {traces}{counted(self.steps, 'step')} ({calls})",
            f"skipped: {listed(skipped, 99)}" if skipped else "nothing skipped",
            f"cut in the recording: {counted(self.cut, 'result')}" if self.cut else "",
            f"not recorded: {listed(unknown)}" if unknown else "",
            f"secrets removed: {listed(redacted, 99)}" if redacted else "",
        ]
        return "; ".join(filter(None, parts))


def summary_of(traces: Iterable[Trace], skipped: Sequence[tuple[str, str]] = ()) -> ReadSummary:
    """The counts over traces and over the files (name and reason) that were skipped."""
    files = Counter[str]()
    if skipped:
        files["file" if len(skipped) == 1 else "files"] = len(skipped)
    return sum(map(_of_one, traces), ReadSummary(skipped=files))


def _of_one(trace: Trace) -> ReadSummary:
    calls = Counter(call.id for turn in trace.model_turns for call in turn.tool_calls)
    unanswered = calls - Counter(result.call_id for result in trace.results)
    unknown = {
        ("the result", "call"): unanswered.total(),
        ("the usage", "model call"): sum(turn.usage is None for turn in trace.model_turns),
        ("the prompts", "run"): int(trace.labels.get("prompts") == "unknown"),
    }
    return ReadSummary(
        traces=1,
        steps=len(trace.steps),
        model_calls=len(trace.model_turns),
        results=len(trace.results),
        cut=sum(result.truncated_at_source for result in trace.results),
        skipped=Counter(trace.left_out),
        unknown=+Counter(unknown),
        redacted=Counter(as_dict(trace.meta.get("redacted"))),
    )
