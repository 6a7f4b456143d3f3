"""What each prompt of a run holds, asked by the metrics that tell what was lost. It follows the edits between prompts: what stays costs nothing.

What a text holds is found out when it is first asked for, and is then known for every strategy of the trace.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ..model import Message, Prompt, Run, ToolCall, ToolResult, Trace
from ..text.facts import anchor, occurs
from ..text.texts import Texts
from .uses import call_text

LISTED = 20
"""How many of the facts lost of a result are listed."""

_WORD = re.compile(r"\w+")
_DECIMAL = re.compile(r"\d+(?:\.\d+)+")
_NUMBER = re.compile(r"[-+]?(\d+(?:\.\d+)+)(?:[eE][-+]?\d+)?")
_PARAGRAPHS_CHARS = 1000  # shorter texts are looked through as a whole
_LONG_CHARS = 100_000  # from here on finding all facts of a text once is cheaper than looking for each one

ItemsOf = Callable[[str], Iterable[str]]
"""What is looked for in prompts: the items that one text holds, each as often as it counts."""


class FactsHeld:
    """The facts of a trace that a text holds: of the facts of its tool results and of its uses, those present in the text.

    >>> got = ToolResult(index=0, call_id="a", function="f", seen="471 rows in a/b.csv")
    >>> FactsHeld([got], [], Texts())("471 of 4710")
    ('471',)
    """

    def __init__(self, results: Iterable[ToolResult], used: Iterable[str], texts: Texts) -> None:
        self._texts = texts
        facts: dict[str, None] = dict.fromkeys(used)
        self._results: set[str] = set()
        for result in results:
            facts.update(dict.fromkeys(texts.facts(result.text)))
            self._results.add(result.text)
        self._parts: dict[str, tuple[frozenset[str], str]] = {}
        self._bare = frozenset(filter(_is_bare, facts))
        self._by_anchor: dict[str, list[str]] = {}
        for fact in facts.keys() - self._bare:
            self._by_anchor.setdefault(anchor(fact), []).append(fact)
        self._anchors = frozenset(self._by_anchor)
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, text: str) -> tuple[str, ...]:
        found = self._known.get(text)
        if found is None:
            pieces = _paragraphs(text) if len(text) > _PARAGRAPHS_CHARS and text not in self._results else ()
            parts = map(self, pieces) if len(pieces) > 1 else (self._find(text),)
            found = self._known[text] = tuple(dict.fromkeys(itertools.chain.from_iterable(parts)))
        return found

    def _find(self, text: str) -> Iterator[str]:
        listed = self._texts.facts(text) if text in self._results or len(text) > _LONG_CHARS else {}
        plain, words = self._texts.plain(text), self._texts.words(text)
        decimals: set[str] | None = None
        yield from words & self._bare
        for word in words & self._anchors:
            for fact in self._by_anchor[word]:
                if fact in listed:
                    yield fact
                    continue
                own_words, decimal = self._parts.get(fact) or self._parts_of(fact)
                if not own_words <= words:
                    continue
                if decimal:
                    if decimals is None:
                        decimals = set(_DECIMAL.findall(plain))
                    if decimal not in decimals:
                        continue
                if occurs(plain, fact):
                    yield fact

    def _parts_of(self, fact: str) -> tuple[frozenset[str], str]:
        """What stands in every text that holds a fact: its words and, of a number with a point, its digits. Quicker to rule out than to look for."""
        number = _NUMBER.fullmatch(fact)
        parts = self._parts[fact] = frozenset(_WORD.findall(fact)), number.group(1) if number else ""
        return parts


def _is_bare(fact: str) -> bool:
    """Whether a word that stands in a text is already the fact: all of it is one word, and no digit at an end can belong to a longer number."""
    return anchor(fact) == fact and not (fact[0].isdigit() or fact[-1].isdigit())


def _paragraphs(text: str) -> list[str]:
    """A text in pieces that no fact spans: of a history that is written anew for every prompt only the new pieces are looked through.

    Text that would be decoded, whole or as a piece of it, stays whole.
    """
    pieces = text.split("\n\n")
    return [text] if any(piece.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") for piece in pieces) else pieces


def message_texts(message: Message) -> tuple[str, ...]:
    """Every text in which a message can hold something: its own, and the arguments of its tool calls.

    >>> call = ToolCall(id="c", name="grep", arguments={"pattern": "run_7"})
    >>> message_texts(Message(role="assistant", text="Looking.", kind="model", tool_calls=(call,)))
    ('Looking.', 'pattern: run_7')
    """
    return tuple(text for text in (message.text, *map(call_text, message.tool_calls)) if text)


class MessageTexts:
    """The texts of messages, the arguments of a call written out once for all runs of a trace."""

    def __init__(self) -> None:
        # by identity: the runs share the calls of the trace's turns, and arguments cannot be hashed; kept, so that no other gets the same id
        self._calls: dict[int, tuple[tuple[ToolCall, ...], tuple[str, ...]]] = {}

    def __call__(self, message: Message) -> tuple[str, ...]:
        calls = message.tool_calls
        if not calls:
            return (message.text,) if message.text else ()
        if id(calls) not in self._calls:
            self._calls[id(calls)] = calls, tuple(filter(None, map(call_text, calls)))
        return (message.text, *self._calls[id(calls)][1]) if message.text else self._calls[id(calls)][1]


class Shown:
    """One thread's prompt: the texts that show each step, and the items it holds. Live: changed by the next prompt."""

    def __init__(self, messages: dict[str, Message], texts: MessageTexts, items_of: ItemsOf) -> None:
        self._messages, self._texts, self._items_of = messages, texts, items_of
        self._keys: list[str] = []
        self._changed: dict[
            str, int
        ] = {}  # by message key: how often it came or went since the items were last asked for
        self._items: Counter[str] = Counter()
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
        self._changed[key] = self._changed.get(key, 0) + by
        message = self._messages[key]
        texts = self._of_step.setdefault(message.step, [])
        if by > 0:
            texts.append(message.text)
        else:
            texts.remove(message.text)

    def texts_of(self, step: int | None) -> list[str]:
        """The texts of the messages that show a step, None: of those that a strategy wrote; `[]` where there is none."""
        return self._of_step.get(step, [])

    def whole(self, result: ToolResult) -> bool:
        """Whether the prompt shows a result's untruncated text: then nothing of it is lost."""
        return result.text in self._of_step.get(result.index, ())

    def items(self) -> Counter[str]:
        """Every item that the prompt holds, with how often; costs what changed since it was last asked for."""
        items = self._items
        for key, by in self._changed.items():
            for text in self._texts(self._messages[key]) * abs(by):
                found = self._items_of(text)
                if self.touched is not None:
                    self.touched.update(found)
                if by > 0:
                    items.update(found)
                    continue
                for item in found:
                    if items[item] > 1:
                        items[item] -= 1
                    else:
                        items.pop(item)
        self._changed.clear()
        return items


def sightings(
    trace: Trace, run: Run, message_texts: MessageTexts, items_of: ItemsOf
) -> Iterator[tuple[str, ToolResult | Prompt, Shown]]:
    """Each prompt with what it holds, and each tool result at two places: ("prompt", prompt, …) for every prompt, then ("shown", result, …) for
    each result whose first prompt this is; after the last prompt ("end", result, …) for each of these with the last prompt of its thread.

    Read what a prompt holds before the next one: it is live. A result after which its thread has no prompt is not among them.
    """
    waiting: dict[str, list[ToolResult]] = {}
    for result in reversed(trace.results):
        waiting.setdefault(result.thread, []).append(result)
    threads: dict[str, Shown] = {}
    seen: list[ToolResult] = []
    for prompt in run.prompts:
        if prompt.thread not in threads:
            threads[prompt.thread] = Shown(run.held_messages, message_texts, items_of)
        shown = threads[prompt.thread]
        shown.apply(prompt)
        yield "prompt", prompt, shown
        pending = waiting.get(prompt.thread, [])
        while pending and pending[-1].index < prompt.step:
            seen.append(pending.pop())
            yield "shown", seen[-1], shown
    for result in seen:
        yield "end", result, threads[result.thread]
