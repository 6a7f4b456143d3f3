"""Event logs of OpenHands, whichever agent wrote them: the steps of events, condensations, and
results as the model was shown them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from ..model import ContextReset
from .branches import paired
from .records import text
from .steps import Steps

_NOTICE = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content"
    " (truncated part starts around line {line})."
)
_PLACE = {"Current working directory": "working_dir", "Python interpreter": "py_interpreter_path"}


class EventLog(Steps):
    """The steps of one run, and the steps that each event became, by the event's id."""

    def __init__(self) -> None:
        super().__init__()
        self.steps_of: dict[str, range] = {}
        self.forgotten: set[int] = set()  # the steps that condensations left out

    def condense(self, events: Iterable[str], summary: str | None, t: float | None) -> None:
        """Add a reset that leaves out the steps of some events, and what earlier ones left out."""
        self.forgotten.update(index for event in events for index in self.steps_of.get(event, ()))
        kept = paired(self.steps, set(range(self.index)), self.forgotten)
        self.add(ContextReset(index=self.index, t=t, summary=summary, kept=kept))


def clipped(output: str, limit: int, folder: str | None = None, name: str = "") -> str:
    """A text without its middle where it is longer than the limit; the notice names the file in
    `folder` that has all of it.

    >>> short = clipped("a" * 100 + "b" * 100, 150)
    >>> len(short), short[:18], short[-18:]
    (150, 'aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbb')
    """
    if len(output) <= limit:
        return output
    notice = f"{_NOTICE}</NOTE>"
    head = (limit - len(notice) + 1) // 2
    if folder:
        digest = hashlib.sha256(output.encode("utf-8", "replace")).hexdigest()[:8]
        line = len(output[:head].splitlines()) + 1
        saved = _SAVED.format(path=f"{folder}/{name}_output_{digest}.txt", line=line)
        notice = f"{_NOTICE}{saved}</NOTE>"
    room = max(limit - len(notice), 0)
    head = min(head, room)
    return output[:head] + notice[:limit] + (output[head - room :] if room > head else "")


def terminal_text(metadata: dict[str, Any], output: str) -> str:
    """A command's output with the folder, the interpreter and the exit code that are shown around
    it."""
    seen = f"{text(metadata.get('prefix')) or ''}{output}{text(metadata.get('suffix')) or ''}"
    for label, key in _PLACE.items():
        if value := text(metadata.get(key)):
            seen += f"\n[{label}: {value}]"
    code = metadata.get("exit_code")
    return seen + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")
