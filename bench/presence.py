"""What each prompt of a run holds: the texts in it, and whether a piece of text is among them. Shared by the metrics that ask what was lost.

Nothing is looked up before it is asked for, and what was looked up for one strategy is known for the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .atoms import anchor, atoms_of, occurs, words_of
from .decode import decoded
from .model import Message, Prompt, Run, ToolResult, Trace
from .uses import call_text

_LONG_CHARS = 20_000  # from here on it is cheaper to find all atoms of a text once than to look for each one


class Finder:
    """Which of the texts of one trace's runs hold an atom; answers are kept for all strategies of the trace.

    >>> find = Finder()
    >>> find.enter({"see /data/run_7.csv", "run_71"})
    >>> find.holds("run_7", {"see /data/run_7.csv", "run_71"}), find.holds("run_7", {"run_71"})
    (True, False)
    """

    def __init__(self) -> None:
        self._entered: set[str] = set()
        self._by_word: dict[str, set[str]] = {}
        self._verdicts: dict[str, dict[str, bool]] = {}

    def enter(self, texts: Iterable[str]) -> None:
        """Make texts findable; those that are already cost nothing."""
        by_word = self._by_word
        for text in texts:
            if text in self._entered:
                continue
            self._entered.add(text)
            for word in words_of(text):
                holders = by_word.get(word)
                if holders is None:
                    by_word[word] = {text}
                else:
                    holders.add(text)

    def candidates(self, word: str, texts: set[str]) -> set[str]:
        """Those of the entered texts in which a run of word characters stands."""
        holders = self._by_word.get(word)
        return holders & texts if holders else set()

    def holds(self, atom: str, texts: set[str]) -> bool:
        """Whether any of the texts, all entered, holds the atom."""
        holders = self._by_word.get(anchor(atom))
        if not holders or holders.isdisjoint(texts):
            return False
        verdicts = self._verdicts.setdefault(atom, {})
        for text in holders & texts:
            verdict = verdicts.get(text)
            if verdict is None:
                verdict = verdicts[text] = occurs_in(text, atom)
            if verdict:
                return True
        return False


def occurs_in(text: str, atom: str) -> bool:
    """Whether an atom whose anchor stands in a text occurs there; quick for long texts too."""
    return (len(text) > _LONG_CHARS and atom in atoms_of(text)) or occurs(decoded(text), atom)


def missing_from(text: str, atoms: Iterable[str]) -> list[str]:
    """Those of the atoms that one text does not hold, in the order given.

    >>> missing_from("total 471", ["471", "36.5"])
    ['36.5']
    """
    words = words_of(text)
    return [atom for atom in atoms if anchor(atom) not in words or not occurs_in(text, atom)]


def finder(trace: Trace) -> Finder:
    """The finder of a trace, kept with it."""
    found: Finder = trace.__dict__.setdefault("_finder", Finder())
    return found


def message_texts(message: Message) -> tuple[str, ...]:
    """Every text in which a message can hold something: its own, and the arguments of its tool calls.

    >>> from bench.model import ToolCall
    >>> call = ToolCall(id="c", name="grep", arguments={"pattern": "run_7"})
    >>> message_texts(Message(role="assistant", text="Looking.", kind="model", tool_calls=(call,)))
    ('Looking.', 'pattern: run_7')
    """
    calls = (call_text(call) for call in message.tool_calls)
    return tuple(text for text in (message.text, *calls) if text)


class Shown:
    """One thread's prompt: the distinct texts in it, and the message texts that show each step. Live: changed by the next prompt."""

    def __init__(self, texts_of: Callable[[str], tuple[str, ...]], messages: dict[str, Message]) -> None:
        self._texts_of, self._messages = texts_of, messages
        self._keys: list[str] = []
        self._counts: dict[str, int] = {}
        self.texts: set[str] = set()
        self._fresh: list[str] = []
        self.of_step: dict[int, list[str]] = {}

    def apply(self, prompt: Prompt) -> None:
        """Make it the next prompt of the thread; costs what changed."""
        for splice in reversed(prompt.splices):
            end = splice.at + splice.removed
            for key in self._keys[splice.at : end]:
                self._remove(key)
            for key in splice.added:
                self._add(key)
            self._keys[splice.at : end] = splice.added

    def _add(self, key: str) -> None:
        message = self._messages[key]
        for text in self._texts_of(key):
            count = self._counts.get(text, 0)
            self._counts[text] = count + 1
            if not count:
                self.texts.add(text)
                self._fresh.append(text)
        if message.step is not None:
            self.of_step.setdefault(message.step, []).append(message.text)

    def _remove(self, key: str) -> None:
        message = self._messages[key]
        for text in self._texts_of(key):
            self._counts[text] -= 1
            if not self._counts[text]:
                self.texts.discard(text)
        if message.step is not None:
            self.of_step[message.step].remove(message.text)

    def whole(self, result: ToolResult) -> bool:
        """Whether the prompt shows a result's untruncated text: then nothing of it is lost."""
        return result.text in self.of_step.get(result.index, ())

    def findable(self, find: Finder) -> set[str]:
        """The texts of the prompt, entered into a finder; costs what is new since it was last asked."""
        find.enter(text for text in self._fresh if text in self.texts)
        self._fresh.clear()
        return self.texts


def prompts(run: Run) -> Iterator[tuple[Prompt, Shown]]:
    """Each prompt of a run with what it holds. Read it before the next one: it is live."""
    texts: dict[str, tuple[str, ...]] = {}
    threads: dict[str, Shown] = {}

    def texts_of(key: str) -> tuple[str, ...]:
        found = texts.get(key)
        if found is None:
            found = texts[key] = message_texts(run.messages[key])
        return found

    for prompt in run.prompts:
        shown = threads.get(prompt.thread)
        if shown is None:
            shown = threads[prompt.thread] = Shown(texts_of, run.messages)
        shown.apply(prompt)
        yield prompt, shown


def sightings(trace: Trace, run: Run) -> Iterator[tuple[str, ToolResult, Shown]]:
    """Each tool result with the first prompt of its thread after it ("shown") and with the thread's last prompt ("end").

    A result after which there is no prompt is not among them.
    """
    waiting: dict[str, list[ToolResult]] = {}
    for result in trace.results:
        waiting.setdefault(result.thread, []).append(result)
    for results in waiting.values():
        results.reverse()
    seen: dict[str, list[ToolResult]] = {}
    last: dict[str, Shown] = {}
    for prompt, shown in prompts(run):
        last[prompt.thread] = shown
        pending = waiting.get(prompt.thread, [])
        while pending and pending[-1].index < prompt.step:
            result = pending.pop()
            seen.setdefault(prompt.thread, []).append(result)
            yield "shown", result, shown
    for thread, results in seen.items():
        for result in results:
            yield "end", result, last[thread]
