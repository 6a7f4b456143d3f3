"""The words of a strategy itself: messages that it wrote, results that it rewrote, and which of their facts nothing before had said."""

from __future__ import annotations

import math
import re
import statistics
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..model import (
    AlteredWords,
    ContextEdit,
    ContextReset,
    Message,
    ModelTurn,
    Run,
    ToolResult,
    ToolsChanged,
    Trace,
    as_text,
    compact_json,
)
from ..text.decode import resolved
from ..text.explained import explained, iso_dates
from ..text.facts import is_number, number_value, words_of
from ..text.leaves import flatten
from ..text.notices import marker
from ..text.texts import Remembered, Texts
from .orders import SENTENCE, orders, sentences
from .spoken import spoken

SENTENCES, ALTERED = 12, 12  # the most sentences and altered messages of one run that are kept
_CHARS, _QUOTED_CHARS = 200, 60
_BYTES = 4  # of one character, at most
_LATEST = 50  # results from which a figure of a message may be worked out
_SENTENCES_CHARS = 200_000  # of a text in which sentences are looked for
_HASH = re.compile(r"(?<!\w)(?=\d*[a-f])[0-9a-f]{8,}(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_LINE = re.compile(r"^[ \t]*(\d{1,9})(?:[ \t:|→.)\]-]+(.*))?$")
_COUNTED = (
    r"chars?|characters?|tokens?|lines?|rows?|bytes|words?|items?|more|messages?|results?|steps?|calls?|columns?|records?|[kmKM]i?[bB]|omitted|left|total"
    r"|of|entries|elements|fields|keys|values|pages?|matches|hits|turns?|first|last|length|size|count|showing"
)
_AFTER = re.compile(rf"[\"'\])]*\s*(?:/|[A-Za-z]+\s+)?(?:{_COUNTED})\b", re.IGNORECASE)
_BEFORE = re.compile(rf"(?:\b|_)(?:{_COUNTED})[\"']?\s*(?:[:=]|is|was)?\s*[\[(]?\s*$", re.IGNORECASE)
_LABELS = re.compile(r"[\"'*`]*\s*[:=>(\])]")
_DESCRIBES = re.compile(
    r"(?:type|kind|format|note|notice|message|summary|info|label|hint)[\"']?\s*[:=]\s*[\"']?$", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(?:whole|full|rest|stored|saved|written|read|output|result)\b[^.\n]{0,40}\b(?:in|at|to|from|as|is):?\s+[\"'`]?[^\s\"'`]*$",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^\W*\w+\W*:\s+")


class OwnText(NamedTuple):
    """One message with words of the strategy: what stood there before (`""`: nothing), the result that it shows, the first prompt with it."""

    message: Message
    text: str
    prompt: int
    was: str
    result: ToolResult | None


@dataclass(frozen=True)
class Invented:
    """The facts of one own text that nothing before had said, `count` out of all of its facts. A text with an order counts as invented whole."""

    own: OwnText
    facts: tuple[str, ...]
    count: int
    total: int


class SaidBefore:
    """The words, numbers and facts of a trace by the first step that has them, and the texts in which its recorded prompts showed each step."""

    def __init__(self, trace: Trace, texts: Texts, texts_of: Callable[[Message], tuple[str, ...]]) -> None:
        self.texts_of = texts_of
        self.results = {result.index: result for result in trace.results}
        self.texts = texts
        self._trace = trace
        turns = (step for step in trace.steps if isinstance(step, ModelTurn))
        self.arguments = {(turn.index, call.id): call.arguments for turn in turns for call in turn.tool_calls}
        self.as_spoken = {step.index: text for step in trace.steps for text in spoken(step)[:1]}
        """The text of each step's message as it is, a result untruncated."""

        shown = {step: {text} for step, text in self.as_spoken.items()}
        for result in trace.results:
            shown.setdefault(result.index, set()).add(result.shown_by_recorder)
        for edit in trace.steps:
            for step, text in edit.shown.items() if isinstance(edit, ContextEdit) else ():
                shown.setdefault(step, set()).add(text)
        self._shown = shown
        self._summaries = {step.summary for step in trace.steps if isinstance(step, ContextReset) and step.summary}
        self.figures = Remembered(self._figures)
        """By step the numbers that can be worked out of a structured result: counts, and sums, means, ends and spreads of its columns."""

        self.quoted = Remembered(self._quotes)
        """True for a sentence, or its beginning, that a step says; its speaker may be named before it."""

        self.iso_dates = texts.kept[iso_dates]
        self._since = Remembered(lambda key: self._first_said(*key))
        self.invented: dict[tuple[int | None, str, int], tuple[list[str], list[str], int]] = {}
        """By step, own text and the step before which a fact counts as said: orders, facts that nothing had said, and the number of all facts."""

    def as_recorded(self, message: Message) -> bool:
        """True if a message stands as it was said, or as the recorded harness showed it."""
        if message.step is None:
            return message.text in self._summaries
        return message.text in self._shown.get(message.step, ())

    @cached_property
    def first(self) -> dict[str, int]:
        """The first step that says a word, number or fact."""
        texts, first = self.texts, dict[str, int]()
        for step in self._trace.steps:
            said = spoken(step)
            if isinstance(step, ToolResult):
                value = as_text(step.value), str(step.value)
                said = [*said, step.shown_by_recorder, *value, f"{step.function} {step.call_id} {step.error or ''}"]
            elif isinstance(step, ContextReset):
                said = [step.summary or ""]
            elif isinstance(step, ToolsChanged):
                said = [compact_json(step.tools)]
            elif calls := getattr(step, "tool_calls", ()):
                said = [*said, *(f"{call.name} {call.id} {compact_json(call.arguments)}" for call in calls)]
            for text in dict.fromkeys([*said, *map(self.iso_dates, said)]):
                for item in texts.words(text).union(texts.facts(text), texts.numbers(text)).difference(first):
                    first.setdefault(item, step.index)
                    first.setdefault(item.casefold(), step.index)
        return first

    def since(self, fact: str, kind: str) -> float:
        """The first step that says a fact, or all of its words; infinity for none, minus infinity for the beginning of something said."""
        return self._since[fact, kind]

    def _first_said(self, fact: str, kind: str) -> float:
        found = self._said(fact)
        if is_number(fact) or kind == "date":
            return -math.inf if kind == "date" and self.begins(f"{fact}T") else found
        found = min(found, max(map(self._said, words_of(fact))))
        return -math.inf if len(fact) > 3 and self.begins(fact) else found

    def _said(self, text: str) -> float:
        return min(self.first.get(text, math.inf), self.first.get(text.casefold(), math.inf))

    def begins(self, text: str) -> bool:
        """True if something said begins so, or if of its words the last one does and the others are said: half a word at a cut."""
        *others, last = re.findall(r"\w+", text) or [text]
        half = others and all(self._said(word) < math.inf for word in others)
        return _begins(self._sorted, text) or bool(half and _begins(self._sorted, last))

    def _quotes(self, sentence: str) -> bool:
        starts = (text.rstrip(" .…")[:_QUOTED_CHARS] for text in (sentence, _SPEAKER.sub("", sentence)))
        return any(_begins(self._sentences, start) for start in starts)

    @cached_property
    def _sentences(self) -> list[str]:
        texts = (text for step in self._trace.steps for text in spoken(step))
        return sorted({match.group().strip() for text in texts for match in SENTENCE.finditer(text[:_SENTENCES_CHARS])})

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.first)

    def _figures(self, step: int) -> list[float]:
        columns: dict[Any, list[float]] = {}
        counts: Counter[Any] = Counter()
        data = self.results[step].data
        for path, (_, item) in flatten(data) if isinstance(data, dict | list) else ():
            counts[path, str(item)] += 1
            if isinstance(item, int | float) and not isinstance(item, bool):
                columns.setdefault(path[-1:], []).append(float(item))
        found: list[float] = [float(count) for count in set(counts.values())]
        for values in columns.values():
            finite = [value for value in values if abs(value) < 1e15]
            if len(finite) > 1:
                found += [figure(finite) for figure in _FIGURES]
        return found


def _begins(known: list[str], start: str) -> bool:
    """True if one of some sorted texts begins so."""
    place = bisect_left(known, start)
    return place < len(known) and known[place].startswith(start)


_FIGURES: tuple[Callable[[list[float]], float], ...] = (
    sum, statistics.fmean, statistics.median, statistics.pstdev, statistics.stdev, len, lambda values: max(values) - min(values)
)  # fmt: skip


class OwnWords:
    """The words of the strategy of one run."""

    def __init__(self, run: Run, said: SaidBefore) -> None:
        self._run, self._said, self._texts = run, said, said.texts

    @cached_property
    def texts(self) -> tuple[OwnText, ...]:
        """Every message that the strategy wrote or rewrote, in the order of the prompts that show it first."""
        first: dict[str, int] = {}
        for prompt in self._run.prompts:
            for splice in prompt.splices:
                for key in splice.added:
                    first.setdefault(key, prompt.step)
        return tuple(own for key, step in first.items() if (own := self._own(self._run.held_messages[key], step)))

    def _own(self, message: Message, prompt: int) -> OwnText | None:
        """A message with words of the strategy; None for one that stands as it was said or shown."""
        if not message.text.strip() or self._said.as_recorded(message):
            return None
        step = -1 if message.step is None else message.step
        result, was = self._said.results.get(step), self._said.as_spoken.get(step, "")
        if result is not None:
            value = as_text(result.value)
            if message.text == value:
                return None
            was = "\n".join(dict.fromkeys((was, result.shown_by_recorder, value)))
        return OwnText(message, message.text, prompt, was, result)

    @cached_property
    def arguments(self) -> dict[int, dict[str, None]]:
        """By step the arguments of its calls that a prompt shows with other values than the model gave; what says that it is cut is none."""
        found: dict[int, dict[str, None]] = {}
        for message in self._run.held_messages.values():
            for call in message.tool_calls:
                given = None if message.step is None else self._said.arguments.get((message.step, call.id))
                if given == call.arguments or not isinstance(given, dict) or not isinstance(call.arguments, dict):
                    continue
                for key, item in call.arguments.items():
                    was, shown = as_text(given.get(key, "")), as_text(item)
                    if key in given and not explained(shown, was) and marker(shown, was) is None:
                        found.setdefault(message.step or 0, {})[f"{key}: {was[:60]} → {shown[:60]}"] = None
        return found

    @cached_property
    def altered(self) -> tuple[AlteredWords, ...]:
        """The user and system messages that a prompt shows in other words."""
        found: dict[int, AlteredWords] = {}
        for message in self._run.held_messages.values():
            step = -1 if message.step is None else message.step
            said = self._said.as_spoken.get(step)
            if said is not None and message.kind in ("user", "system") and not self._said.as_recorded(message):
                was, shown = said[:_CHARS], message.text[:_CHARS]
                found.setdefault(step, AlteredWords(step=step, origin=message.kind, was=was, shown=shown))
        return tuple(found[step] for step in sorted(found))

    @cached_property
    def sentences(self) -> tuple[tuple[str, int], ...]:
        """The sentences that results do not hold and that stand in more than one of them, or in a message of the strategy; most frequent first."""
        counts: Counter[str] = Counter()
        for own in self.texts:
            counts.update(
                {sentence for sentence in sentences(own.text, self._texts) if not self._quoted(sentence, own)}
            )
        constant = [(count, text) for text, count in counts.items() if count > 1 or len(self.texts) == 1]
        constant.sort(key=lambda item: (-item[0], item[1]))
        return tuple((text[:_CHARS], count) for count, text in constant)

    def _quoted(self, sentence: str, own: OwnText) -> bool:
        """True for a sentence of the message that stood there before; in a message that the strategy wrote, of any step, its speaker named or not."""
        if own.result is not None or own.was:
            return sentence in own.was
        return self._said.quoted[sentence]

    @cached_property
    def invented(self) -> tuple[Invented, ...]:
        """Per own text the facts that nothing before had said, orders to the reader among them."""
        given = [item.handle for item in self._run.handles], [item.record.handle for item in self._run.results]
        handles = {handle for several in given for handle in several if handle}
        return tuple(self._of_text(own, handles) for own in self.texts)

    def _of_text(self, own: OwnText, handles: set[str]) -> Invented:
        before = own.prompt if own.result is None else own.result.index + 1
        key = own.message.step, own.text, before
        if key not in self._said.invented:
            plain = self._said.iso_dates(
                self._texts.plain(next(iter(self._said.texts_of(own.message)), "") if own.result else own.text)
            )
            new, count = self._new(plain, own, before)
            if new and (reading := resolved(plain)) != plain:  # of a cut text escapes are left
                new, count = min((new, count), self._new(reading, own, before), key=lambda found: len(found[0]))
            rewritten = own.was and own.text not in own.was  # a mere part of a text orders nothing of its own
            told = list(orders(own.text, own.was, new, self._texts)) if rewritten else []
            self._said.invented[key] = told, new, count
        told, new, total = self._said.invented[key]
        found = [fact for fact in new if not any(fact in handle or handle in fact for handle in handles)]
        total += len(told)
        return Invented(own, (*told, *found), total if told else len(found), total)

    def _new(self, plain: str, own: OwnText, before: int) -> tuple[list[str], int]:
        """The facts of one reading of a text that no step before had said, and the number of all its facts."""
        facts = self._texts.facts(plain)
        first = self._said.first
        unsaid = ((fact, kind) for fact, kind in facts.items() if first.get(fact, math.inf) >= before)
        new = [fact for fact, kind in unsaid if self._said.since(fact, kind) >= before]
        numbers = set(filter(is_number, new))
        spots = self._spots(plain, own, numbers) if numbers else {}
        return [fact for fact in new if not self._harmless(fact, facts[fact], plain, own, spots)], len(facts)

    def _harmless(
        self, fact: str, kind: str, plain: str, own: OwnText, spots: Mapping[str, list[tuple[int, int] | None]]
    ) -> bool:
        """True for a label, a count of what is there or left out, a rounded number, or a figure worked out from the result."""
        if plain.rstrip(" .…[]()").endswith(fact) and self._said.begins(fact):
            return True
        if re.fullmatch("u[0-9a-f]{1,3}", fact):  # of an escape that was cut in two
            return True
        if not is_number(fact):
            return self._label(fact, kind, plain)
        results = (
            [own.result]
            if own.result is not None
            else [item for item in self._said.results.values() if item.index < own.prompt]
        )
        value, most = float(fact), sum(len(item.text) for item in results)
        for span in spots.get(fact, ()):
            near = "" if span is None else plain[max(0, span[0] - 24) : span[0]]
            if span is None or (value <= _BYTES * most and (_AFTER.match(plain, span[1]) or _BEFORE.search(near))):
                return True
        if own.result is None:
            return any(self._said.figures(item.index) and self._figured(value, item) for item in results[-_LATEST:])
        return self._figured(value, own.result)

    def _label(self, fact: str, kind: str, plain: str) -> bool:
        at = plain.find(fact)
        before, behind = plain[max(0, at - 40) : at], plain[at + len(fact) : at + len(fact) + 24]
        if kind == "quoted" and (_DESCRIBES.search(before) or marker(fact, "") is not None):
            return True
        if kind == "proper" and fact[-1].isdigit():  # Showing 5
            return bool(_AFTER.match(behind))
        if (
            kind in ("name", "path")
            and _PLACE.search(plain[max(0, at - 120) : at])
            and (behind[:1] == "/" or "/" in fact)
        ):
            return True  # of the file that holds the rest
        named = kind in ("name", "quoted", "path")
        return named and at >= 0 and (bool(_LABELS.match(behind)) or before[-1:] in tuple("</[_"))

    def _spots(self, plain: str, own: OwnText, wanted: set[str]) -> dict[str, list[tuple[int, int] | None]]:
        """The places of some numbers in a text; None for one that is a hash, or the number of the line of the result that it stands before."""
        found: dict[str, list[tuple[int, int] | None]] = {}
        there = [] if own.result is None else self._said.iso_dates(own.result.text).splitlines()
        begins = 0
        for line in plain.split("\n"):
            for value, span in self._texts.kept[_numbers_of](line):
                if value in wanted:
                    found.setdefault(value, []).append(span and (begins + span[0], begins + span[1]))
            if there and (match := _LINE.match(line)) and (value := number_value(match[1])) in wanted:
                near = there[max(0, int(match[1]) - 1) : int(match[1]) + 1]  # counted from 1 or from 0
                if _start(match[2] or "") in map(_start, near):
                    found.setdefault(value, []).append(None)
            begins += len(line) + 1
        return found

    def _figured(self, value: float, result: ToolResult) -> bool:
        numbers = self._texts.numbers(result.text)
        if len(numbers) < 5_000 and any(explained(f"{value:g}", number) for number in numbers):
            return True
        return any(
            explained(f"{value:g}", repr(figure)) or explained(f"{value:g}", f"{figure:.10f}")
            for figure in self._said.figures(result.index)
        )


def _numbers_of(line: str) -> list[tuple[str, tuple[int, int] | None]]:
    """The numbers of a line with their places, None for one that is a hash."""
    found: list[tuple[str, tuple[int, int] | None]] = [(number_value(text), None) for text in _HASH.findall(line)]
    return found + [(number_value(match.group()), match.span()) for match in _NUMBER.finditer(line)]


def _start(line: str) -> str:
    return line.strip(" \t:|→.)]-")[:_QUOTED_CHARS]
