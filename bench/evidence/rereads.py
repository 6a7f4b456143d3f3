"""Results that were read twice: most of their lines are in earlier results of their thread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from ..model import ToolResult, lines_of
from ..model.audit import Reread
from ..text.line_prefixes import without_number
from .calls import answered_calls, call_line
from .of_replay import ReplayEvidence

SHARE = 0.8
"""The fewest lines of a result, as a share of all, that earlier ones have if it was read again."""

_BETWEEN_WORDS = re.compile(r"[\s'\"`=:;|&<>(),{}\[\]]+")
_LONGEST = 500
"""The characters from which a word is no path."""

_NAME = re.compile(r"[./].*[^\W\d_]|[^\W\d_].*[./]")
FEWEST_LINES = 4
"""A result with fewer lines was read again only if the same call had the same result."""

_SHORTEST_CHARS, _SAME_CHARS = 8, 40
"""The fewest characters of a line that is compared, and of a result that is compared as a whole."""

_MOST_RESULTS = 8
"""The most earlier results to remember of one line: the last ones."""


def rereads_of(recorded: ReplayEvidence) -> Iterator[Reread]:
    """Yield every result that was read again, in order, from the recording's own replay.

    Lines are compared without line numbers of viewers; short lines are left out. A result with few
    lines counts if the same call had the same result. Results of the same turn are not earlier, and
    a call that names other files reads nothing again. Linear in the text.
    """
    calls = answered_calls(recorded.trace)
    earlier = _EarlierResults(recorded)
    for result in recorded.trace.results:
        turn, call = calls.get(result.index, (None, None))
        lines = _lines(result.recorded_text)
        names = frozenset[str]() if call is None else files_in(call_line(call))
        if known := earlier.known(result, lines, result.index if turn is None else turn, names):
            at = recorded.call_before(result) if turn is None else recorded.call_of.get(turn)
            why, step = earlier.reason(known, at, SHARE * len(lines))
            yield Reread(
                step=result.index,
                earlier_step=step,
                asked="" if call is None else call_line(call),
                lines_same=len(known),
                lines=max(len(lines), 1),
                why=why,
            )
        earlier.add(result, lines, names)


class _EarlierResults:
    """The results of a recording so far."""

    def __init__(self, recorded: ReplayEvidence) -> None:
        self._recorded = recorded
        self._results_by_line: dict[tuple[str, str], list[int]] = {}
        self._repeated = {item.again.index: item.earlier for item in recorded.session.repeats}
        self._lines_seen: dict[int, frozenset[str]] = {}
        self._names: dict[int, frozenset[str]] = {}

    def known(
        self, result: ToolResult, lines: frozenset[str], turn: int, names: frozenset[str]
    ) -> dict[str, list[int]]:
        """The lines of a result that was read again by a turn that names some files, each with the
        earlier results that have it; none for a new one."""
        by_line = {line: self._results_by_line.get((result.thread, line), []) for line in lines}
        before = {step for steps in by_line.values() for step in steps if step < turn}
        same = {step for step in before if not names_others(self._names[step], names)}
        kept = {line: [step for step in steps if step in same] for line, steps in by_line.items()}
        known = {line: steps for line, steps in kept.items() if steps}
        if len(lines) >= FEWEST_LINES and len(known) >= SHARE * len(lines):
            return known
        text, repeated = result.recorded_text, self._repeated.get(result.index)
        if repeated is None or len(text) < _SAME_CHARS or text != repeated.recorded_text:
            return {}
        return {line: [repeated.index] for line in lines or {""}}

    def reason(
        self, known: dict[str, list[int]], call: int | None, enough: float
    ) -> tuple[Literal["cut", "dropped", "in prompt"], int]:
        """The reason for reading known lines again in a call, and the earlier result with most of
        them: "cut" if the model had seen fewer than `enough` of them, "in prompt" if the prompt of the
        call has as many, else "dropped"."""
        lines_by_step = Counter(step for steps in known.values() for step in steps)
        present = {step for step in lines_by_step if self._is_in_prompt(step, call)}
        seen = [
            [step for step in steps if line in self._lines_seen[step]]
            for line, steps in known.items()
        ]
        if sum(map(bool, seen)) < enough:
            return "cut", _most_frequent(lines_by_step)
        if sum(not present.isdisjoint(steps) for steps in seen) >= enough:
            return "in prompt", _most_frequent(lines_by_step)
        missing = {step: count for step, count in lines_by_step.items() if step not in present}
        return "dropped", _most_frequent(missing or lines_by_step)

    def _is_in_prompt(self, step: int, call: int | None) -> bool:
        """True if the prompt of a call has a result as the recorded model first saw it."""
        seen = self._recorded.index.seen[step]
        return call is None or self._recorded.is_in_prompt(seen, call)

    def add(self, result: ToolResult, lines: frozenset[str], names: frozenset[str]) -> None:
        """Add a result, which later commands may read again."""
        self._names[result.index] = names
        self._lines_seen[result.index] = lines or frozenset({""})
        for line in lines if result.full is None else _lines(result.text) | lines:
            steps = self._results_by_line.setdefault((result.thread, line), [])
            if len(steps) == _MOST_RESULTS:
                del steps[0]
            steps.append(result.index)


def files_in(command: str) -> frozenset[str]:
    """The files, folders and addresses that a command names: words with a dot or a slash inside.

    >>> sorted(files_in("cd ./src && sed -n '1,50p' a.py > /dev/null"))
    ['/dev/null', 'a.py', 'src']
    """
    words = (word for word in _BETWEEN_WORDS.split(command) if len(word) < _LONGEST)
    return frozenset(word.removeprefix("./").rstrip("/.") for word in words if _NAME.search(word))


def names_others(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if each of two commands names a file that the other does not, with or without its
    folder.

    >>> names_others(files_in("cat /x/a.py"), files_in("cd /x && head a.py"))
    False
    >>> names_others(files_in("cat /x/a.py"), files_in("cat /x/b.py"))
    True
    """
    return _names_another(one, other) and _names_another(other, one)


def _names_another(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if one names a file that no path of the other ends with, nor ends with one of these."""
    ends = {end for name in other for end in _ends(name)}
    return any(name not in ends and other.isdisjoint(_ends(name)) for name in one)


def _ends(path: str) -> list[str]:
    """A path, and what is left of it without its first folders."""
    parts = path.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def _most_frequent(counts: Mapping[int, int]) -> int:
    """The step with the highest count, the last one of equals."""
    return max(counts, key=lambda step: (counts[step], step))


def _lines(text: str) -> frozenset[str]:
    """The distinct significant lines of a text, without line numbers."""
    stripped = (without_number(line).strip() for line in lines_of(text))
    return frozenset(line for line in stripped if len(line) >= _SHORTEST_CHARS)
