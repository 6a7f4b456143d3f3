"""The one line about recordings: what was read, skipped and truncated, and what they lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..model import Trace, grouped
from ..model.errors import visible
from ..text.wording import count, counted, listed
from .values import as_dict


def left_out_lines(files: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each reason for which files (name and reason) were left out, with the first of
    them; rare reasons, such as damage, first.

    >>> left_out_lines([("a/LICENSE", "not recognised"), ("x.json", "cut"), ("LICENSE", "not recognised")])
    ['left out x.json: cut', 'left out a/LICENSE and 1 more: not recognised']
    """
    by_reason = grouped((reason, file) for file, reason in files)
    lines = []
    for reason, names in sorted(by_reason.items(), key=lambda item: len(item[1])):
        more = f" and {count(len(names) - 1)} more" if len(names) > 1 else ""
        lines.append(f"left out {visible(names[0])}{more}: {visible(reason)}")
    return lines


class ReadSummary:
    """Counts over traces and over the files (name and reason) that were skipped: what was read,
    what a reader skipped, results truncated before they were recorded, what is not recorded, and
    the secrets that an import removed.

    >>> from bench.model import Source, UserTurn
    >>> step = UserTurn(index=0, content="list the walls")
    >>> trace = Trace(id="a", source=Source(format="native"), steps=(step,), left_out={"block of type 'audio'": 2})
    >>> ReadSummary([trace]).line()
    "read 1 step (0 model calls, 0 results); skipped: 2 × block of type 'audio'"
    """

    def __init__(self, traces: Iterable[Trace] = (), files: Sequence[tuple[str, str]] = ()) -> None:
        self.traces = self.steps = self.model_calls = self.results = self.cut = 0
        self.skipped, self.redacted = Counter[str](), Counter[str]()
        self.unknown = Counter[tuple[str, str]]()  # by what is not recorded, and of what
        for trace in traces:
            self.add(trace)
        self.skip(files)

    def skip(self, files: Sequence[tuple[str, str]]) -> None:
        """Count skipped files."""
        self.skipped["file" if len(files) == 1 else "files"] += len(files)

    def add(self, trace: Trace) -> None:
        """Count a trace."""
        self.traces += 1
        self.steps += len(trace.steps)
        self.model_calls += len(trace.model_turns)
        self.results += len(trace.results)
        self.cut += sum(result.truncated_at_source for result in trace.results)
        self.skipped.update(trace.left_out)
        self.redacted.update(as_dict(trace.meta.get("redacted")))
        calls = Counter(call.id for turn in trace.model_turns for call in turn.tool_calls)
        unanswered = calls - Counter(result.call_id for result in trace.results)
        self.unknown["the result", "call"] += unanswered.total()
        self.unknown["the usage", "model call"] += sum(
            turn.usage is None for turn in trace.model_turns
        )
        self.unknown["the prompts", "run"] += trace.labels.get("prompts") == "unknown"

    def line(self) -> str:
        """The counts in one line."""
        traces = f"{counted(self.traces, 'trace')}, " if self.traces > 1 else ""
        calls = f"{counted(self.model_calls, 'model call')}, {counted(self.results, 'result')}"
        skipped = [f"{many} × {visible(kind)}" for kind, many in sorted((+self.skipped).items())]
        unknown = [f"{what} of {counted(n, noun)}" for (what, noun), n in self.unknown.items() if n]
        redacted = [f"{kind.replace('_', ' ')} ×{n}" for kind, n in sorted(self.redacted.items())]
        parts = [
            f"read {traces}{counted(self.steps, 'step')} ({calls})",
            f"skipped: {listed(skipped, 99)}" if skipped else "nothing skipped",
            f"cut in the recording: {counted(self.cut, 'result')}" if self.cut else "",
            f"not recorded: {listed(unknown)}" if unknown else "",
            f"secrets removed: {listed(redacted, 99)}" if redacted else "",
        ]
        return "; ".join(filter(None, parts))
