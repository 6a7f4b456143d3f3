"""The values that a strategy keeps outside of its prompts, and the handles in its texts that give them back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ..model import Message, Note, Record, Resolved, ToolResult, as_text
from ..model.errors import StrategyError, one_line
from ..plugins.registry import Plugin
from ..strategies.functions import awaited
from .handed import answered

MOST_TRIED = 1000
"""The most words of one message that are tried as handles."""

_WORD = re.compile(r"[^\s\[\](){}<>\"'`,;|]+")
_NAMED = re.compile(r"[\d/:#_@~.-]")
"""The characters that make a word a name: no handle is a plain word."""


def words_tried(text: str, told: str = "", pattern: str | None = None) -> Iterator[str]:
    """The words of a text that may be handles, in order, once each: those with a digit or a sign in them that `told` has not, and what stands
    behind a `=` or the last `:` of one. With `pattern` what that regular expression finds, and nothing else.

    >>> list(words_tried("[kept as ref:5f1c, 12 rows]", told="12 rows"))
    ['ref:5f1c', '5f1c']
    >>> list(words_tried("see <note 3>", pattern=r"note \\d+"))
    ['note 3']
    """
    if pattern is not None:
        yield from dict.fromkeys(match.group() for match in _compiled(pattern).finditer(text))
        return
    known = set(_WORD.findall(told))
    found: dict[str, None] = {}
    for written in _WORD.findall(text):
        if written not in known:
            word = written.rstrip(".:!?…")
            found.update(dict.fromkeys((word, word.partition("=")[2], word.rpartition(":")[2])))
    yield from (word for word in found if _NAMED.search(word) and word not in known)


def _compiled(pattern: object) -> re.Pattern[str]:
    try:
        return re.compile(pattern if isinstance(pattern, str) else "")
    except re.error as error:
        raise StrategyError(f"handles={pattern!r} is no regular expression: {error}") from None


class Resolver:
    """A started plug-in with a method `resolve(handle)`, which gives the value that a handle stands for; it raises, or gives None, for what is none.

    What its handles look like it may declare as a regular expression, `handles`; otherwise every word that could be one is tried.
    """

    def __init__(self, plugin: Plugin, instance: Any) -> None:
        self._resolve: Callable[[str], Any] = instance.resolve
        pattern = plugin.attribute("handles")
        self._pattern = pattern if isinstance(pattern, str) else None
        self.slot = plugin.entry.kind

    def __call__(self, handle: str) -> Any:
        """The value behind a handle. Raises whatever the plug-in raises."""
        return awaited(self._resolve(handle))

    def found_in(self, text: str, told: str) -> tuple[dict[str, Any], bool]:
        """The handles that a shown text holds, with what they stand for, and whether it had more words than are tried."""
        found: dict[str, Any] = {}
        for tried, word in enumerate(words_tried(text, told, self._pattern)):
            if tried == MOST_TRIED:
                return found, True
            try:
                value = answered(self(word))
            except Exception:  # so it is no handle
                continue
            if value is not None and value != "":
                found[word] = value
        return found, False


class Offered:
    """The values behind the handles of one replay: found in what a strategy shows and in what it keeps by `bench.offload`."""

    def __init__(self, results: Mapping[int, ToolResult], notes: list[Note]) -> None:
        self._results, self._notes = results, notes
        self.kept: list[Resolved] = []
        self._resolvers: dict[str, Resolver] = {}
        self._of_threads: dict[str, Resolver] = {}
        self._last: dict[str, str] = {}
        self._looked: set[tuple[str, str]] = set()
        self._told_of_many = False

    def started(self, plugin: Plugin, instance: Any) -> None:
        if callable(getattr(instance, "resolve", None)):
            self._resolvers[plugin.entry.kind] = Resolver(plugin, instance)

    def to_thread(self, thread: str) -> None:
        """The compactor that was started last is this thread's."""
        if "compactor" in self._resolvers:
            self._of_threads[thread] = self._resolvers.pop("compactor")

    def keep(self, handle: str, value: Any, step: int) -> None:
        """From this step on a handle stands for a value. Raises StrategyError for a value that cannot be kept."""
        text = as_text(answered(value))
        if self._last.get(handle) != text:
            self._last[handle] = text
            self.kept.append(Resolved(handle=handle, step=step, text=text))

    def look_at(self, slots: Iterable[str], key: str, message: Message, step: int, *, of_thread: bool = False) -> None:
        """Keep what the handles stand for that a message shows, if it was not looked at before: by these slots, or by this thread's compactor.

        A message that says what its step said shows none.
        """
        known = self._of_threads if of_thread else self._resolvers
        for slot in slots:
            if slot in known and (slot, key) not in self._looked:
                self._looked.add((slot, key))
                result = None if message.step is None else self._results.get(message.step)
                told = "" if result is None else result.text
                if message.text != told and (message.step is None or result is not None):
                    for handle, value in self._found(known[slot], message.text, told, step).items():
                        self.keep(handle, value, step)

    def with_handle(self, kept: Record, step: ToolResult) -> Record:
        """A record of a store that answered with a text: the one handle that this shows is the record's."""
        store = self._resolvers.get("store")
        if store is None or kept.handle is not None or not isinstance(kept.value, str):
            return kept
        found = list(self._found(store, kept.value, step.text, step.index))
        return msgspec.structs.replace(kept, handle=found[0]) if len(found) == 1 else kept

    def given_back(self, handle: str, own: ToolResult, step: ToolResult) -> Any:
        """Return the value behind a record's handle; None, with a note, for one that resolves to nothing."""
        try:
            if "store" not in self._resolvers:
                raise StrategyError("the store has no method resolve(handle)")
            found = self._resolvers["store"](handle)
            return step.data if found is own.data else answered(found)
        except Exception as error:
            text = f"handle {handle} does not resolve: {type(error).__name__}: {one_line(error)}"
            self._notes.append(Note(step=step.index, slot="store", text=text))
            return None

    def _found(self, resolver: Resolver, text: str, told: str, step: int) -> dict[str, Any]:
        found, more = resolver.found_in(text, told)
        if more and not self._told_of_many:
            self._told_of_many = True
            what = f"more than {MOST_TRIED} words could be handles — declare what they look like: handles = r'…'"
            self._notes.append(Note(step=step, slot=resolver.slot, text=what))
        return found
