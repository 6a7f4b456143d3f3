"""The facts that each prompt of a run holds. It follows the edits between prompts: what stays costs nothing.

What a text holds is found out when it is first asked for, a paragraph at a time, and is then known for every strategy of the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..model import Message, Prompt, Run, ToolCall, ToolResult, Trace, grouped
from ..text.cut import without_halves
from ..text.decode import NothingParsed, is_json, plain_lines
from ..text.explained import iso_dates
from ..text.found_leaves import LabelsOf, by_label, match_read, with_labelled
from ..text.layouts import keys_in, read_layout, spelled_out
from ..text.leaves import Leaf, Leaves, Match, Path, flatten
from ..text.texts import Remembered, Texts
from .spoken import call_text

ItemsOf = Callable[[str], Iterable[str]]  # the items that one text holds, each as often as it counts


class MessageTexts:
    """The texts of messages, the arguments of a call written out once for all runs of a trace.

    A message that shows a part of one of the `results` says nothing with half a word at the cut, of its text or of its value as Python writes it.
    """

    def __init__(self, results: Sequence[ToolResult] = ()) -> None:
        self._untruncated = {result.index: tuple(dict.fromkeys((result.text, str(result.value)))) for result in results}
        self._keys = {result.index: keys for result in results if (keys := keys_in(result.data))}
        self._parts = Remembered(lambda key: self._part(*key))
        self._plain = Remembered(lambda key: self._plainly(*key))
        self._in_iso = Remembered(lambda step: all(iso_dates(whole) == whole for whole in self._untruncated[step]))
        # by identity: the runs share the calls of the trace's turns, and arguments cannot be hashed; kept, so that no other gets the same id
        self._calls: dict[int, tuple[tuple[ToolCall, ...], tuple[str, ...]]] = {}

    def shown(self, message: Message) -> str:
        """The text of a message, without half a word where a result was cut."""
        return message.text if message.step is None else self.part(message.step, message.text)

    def said(self, message: Message) -> str:
        """The text of a message; of a result in another layout than JSON or a plain table, its keys and values as plain lines."""
        text, step = self.shown(message), message.step
        whole = step is None or text in self._untruncated.get(step, (text,))
        return text if whole else self._plain[step, text]

    def _plainly(self, step: int, text: str) -> str:
        keys = self._keys.get(step, frozenset())
        found = spelled_out(text, keys) if keys else text
        with suppress(NothingParsed):
            if keys and not is_json(found):
                found = plain_lines(read_layout(found, keys))
        return iso_dates(found) if self._in_iso[step] else found

    def part(self, step: int, text: str) -> str:
        """The kept part of the result of a step, without half a word at a cut."""
        return self._parts[step, text]

    def _part(self, step: int, text: str) -> str:
        for whole in self._untruncated.get(step, ()):
            text = text if text == whole else without_halves(text, whole)
        return text

    def __call__(self, message: Message) -> tuple[str, ...]:
        text, calls = self.said(message), message.tool_calls
        if not calls:
            return (text,) if text else ()
        if id(calls) not in self._calls:
            self._calls[id(calls)] = calls, tuple(filter(None, map(call_text, calls)))
        return (text, *self._calls[id(calls)][1]) if text else self._calls[id(calls)][1]


class PromptHeld:
    """One thread's prompt: the texts that show each step, and the items it holds. Live: changed by the next prompt."""

    def __init__(
        self, messages: dict[str, Message], texts: MessageTexts, items_of: ItemsOf, own: Container[str] = ()
    ) -> None:
        self._messages, self._texts, self._items_of, self._own = messages, texts, items_of, own
        self._keys: list[str] = []
        self._changed = Counter[str]()  # by message key: how often it came or went since the items were asked for
        self._items: Counter[str] = Counter()
        self._original: Counter[str] = Counter()
        self._of_step: dict[int | None, list[str]] = {}
        self.touched: set[str] | None = None
        """Every item that came or went, for who asks by making it a set; None: nobody asks."""

    def apply(self, prompt: Prompt) -> None:
        """Make it the next prompt of the thread; costs what changed."""
        for key in prompt.edit(self._keys):
            self._change(key, -1)
        for splice in prompt.splices:
            for key in splice.added:
                self._change(key, 1)

    def _change(self, key: str, by: int) -> None:
        self._changed[key] += by
        message = self._messages[key]
        texts = self._of_step.setdefault(message.step, [])
        if by > 0:
            texts.append(self._texts.shown(message))
        else:
            texts.remove(self._texts.shown(message))

    def texts_of(self, step: int | None) -> list[str]:
        """The texts of the messages that show a step, None: of those that a strategy wrote; `[]` where there is none."""
        return self._of_step.get(step, [])

    def own(self) -> Iterator[Message]:
        """The messages of the prompt that the strategy wrote or rewrote."""
        return (self._messages[key] for key in self._keys if key in self._own)

    def whole(self, result: ToolResult) -> bool:
        """True if the prompt shows a result's untruncated text: then nothing of it is lost."""
        return result.text in self._of_step.get(result.index, ())

    def items(self) -> Counter[str]:
        """Every item that the prompt holds, with how often; costs what changed since it was last asked for."""
        for key, by in self._changed.items():
            for text in self._texts(self._messages[key]) * abs(by):
                found = self._items_of(text)
                if self.touched is not None:
                    self.touched.update(found)
                _count(self._items, found, by)
                if self._own and key not in self._own:
                    _count(self._original, found, by)
        self._changed.clear()
        return self._items

    def original(self) -> Counter[str]:
        """Of these the items that messages hold which the strategy left as they were."""
        items = self.items()
        return self._original if self._own else items


def _count(items: Counter[str], found: Iterable[str], by: int) -> None:
    if by > 0:
        items.update(found)
        return
    for item in found:
        if items[item] > 1:
            items[item] -= 1
        else:
            items.pop(item)


def sightings(
    trace: Trace, run: Run, message_texts: MessageTexts, items_of: ItemsOf, own: Container[str] = ()
) -> Iterator[tuple[str, ToolResult | Prompt, PromptHeld]]:
    """Each prompt with what it holds, and each tool result at two places.

    They are ("prompt", prompt, …) for every prompt, then ("shown", result, …) for each result whose first prompt this is; after the last prompt
    ("end", result, …) for each of these with the last prompt of its thread. A result after which its thread has no prompt is not among them.
    `own` are the keys of messages that the strategy wrote or rewrote. Read what a prompt holds before the next one: it is live.
    """
    waiting = grouped((result.thread, result) for result in reversed(trace.results))
    threads: dict[str, PromptHeld] = {}
    seen: list[ToolResult] = []
    for prompt in run.prompts:
        if prompt.thread not in threads:
            threads[prompt.thread] = PromptHeld(run.held_messages, message_texts, items_of, own)
        held = threads[prompt.thread]
        held.apply(prompt)
        yield "prompt", prompt, held
        pending = waiting.get(prompt.thread, [])
        while pending and pending[-1].index < prompt.step:
            seen.append(pending.pop())
            yield "shown", seen[-1], held
    for result in seen:
        yield "end", result, threads[result.thread]


def messages_at(run: Run, step: int | None) -> list[Message] | None:
    """The messages of the prompt of a step, as facts are looked for in them; None where the run has no such prompt."""
    return next(([run.held_messages[key] for key in keys] for prompt, keys in run.walk() if prompt.step == step), None)


class HeldLeaves(NamedTuple):
    """The part of one structured result that one prompt still holds.

    `labelled` counts those of the kept leaves that were not read back, but stand beside their key: an upper bound.
    `rows`, `columns` (distinct paths within rows) and `paths` (of all leaves but those under no key): kept, of how many.
    """

    result: ToolResult
    match: Match
    labelled: int
    rows: tuple[int, int]
    columns: tuple[int, int]
    paths: tuple[int, int]


def is_structured(result: ToolResult) -> bool:
    """True if a result has leaves: its data is a mapping or a list."""
    return isinstance(result.data, dict | list)


class StructuredResults:
    """The structured results of one trace, taken apart once; and what prompts hold of them.

    What the same texts hold of the same result is found once, whichever strategy shows them.
    """

    def __init__(self, results: Iterable[ToolResult], texts: Texts) -> None:
        self._texts = texts
        self.leaves: dict[int, Leaves] = {item.index: flatten(item.data) for item in results if is_structured(item)}
        """The leaves of each structured result, by its step."""

        rows = {step: (leaf for row in found.rows for leaf in row) for step, found in self.leaves.items()}
        self._columns = {step: frozenset(path for path, _ in leaves) for step, leaves in rows.items()}
        self._paths = {
            step: self._columns[step].union(path for path, _ in found.others if path)
            for step, found in self.leaves.items()
        }
        self.labels = LabelsOf(self.leaves.values(), texts)
        """The values of every structured result that a text holds beside their key."""

        self._known: dict[tuple[int, tuple[str, ...]], tuple[HeldLeaves, dict[str, list[Leaf]]]] = {}

    def held(self, sightings: Iterable[tuple[str, ToolResult | Prompt, PromptHeld]]) -> dict[str, list[HeldLeaves]]:
        """Every structured result at its first prompt ("shown") and at the last one ("end"), in order."""
        found: dict[str, list[HeldLeaves]] = {"shown": [], "end": []}
        for place, subject, shown in sightings if self.leaves else ():
            if isinstance(subject, ToolResult) and subject.index in self.leaves:
                found[place].append(self._held(subject, shown))
        for of_place in found.values():
            of_place.sort(key=lambda held: held.result.index)
        return found

    def _held(self, result: ToolResult, shown: PromptHeld) -> HeldLeaves:
        leaves = self.leaves[result.index]
        texts = (result.text,) if shown.whole(result) else tuple(shown.texts_of(result.index))
        if (result.index, texts) not in self._known:
            held = self._read(result, leaves, texts)
            self._known[result.index, texts] = held, by_label(held.match.lost, self.labels.labels)
        held, lost = self._known[result.index, texts]
        if not lost:
            return held
        found, labelled = with_labelled(held.match, leaves, lost, shown.items())
        return held._replace(match=found, labelled=labelled) if labelled else held

    def _read(self, result: ToolResult, leaves: Leaves, texts: tuple[str, ...]) -> HeldLeaves:
        """The leaves that texts which show a result give when they are read back; the untruncated text gives everything."""
        rows, columns, paths = len(leaves.rows), self._columns[result.index], self._paths[result.index]
        if texts == (result.text,):
            everything = Match(leaves.total, leaves.total, [], rows)
            return HeldLeaves(result, everything, 0, (rows, rows), (len(columns),) * 2, (len(paths),) * 2)
        read, held = match_read(leaves, texts)
        in_rows = {path for row in held.rows for path, _ in row}
        return HeldLeaves(
            result,
            read,
            labelled=0,
            rows=(read.rows_kept, rows),
            columns=(len(columns & in_rows), len(columns)),
            paths=(_count_paths(paths, {path for path, _ in held}), len(paths)),
        )


def _count_paths(paths: frozenset[Path], held: set[Path]) -> int:
    """The number of paths held; one that is the end of the other counts, so that a value may be wrapped or unwrapped."""
    ends = {path[start:] for path in held for start in range(len(path))}
    return sum(path in ends or any(path[start:] in held for start in range(len(path))) for path in paths)
