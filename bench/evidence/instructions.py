"""Instructions that every prompt has to hold: the system prompt, the task of the user, and standing rules ("never …", "always …", "only …")."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Literal, NamedTuple

from ..model import Message, SystemTurn, Trace, UserTurn, text_of
from ..text.scripts import FUNCTION_WORDS
from ..text.texts import Remembered, Texts
from .meaning import stems

KEPT = 0.8  # the share of an instruction's facts that a summary must hold to stand for it
RULE_KEPT = 0.5  # the share of a rule's words, by their stems, that one sentence of a summary must hold to stand for it
_WORD_CHARS = 4  # words of an instruction without facts count from this length on
_MOST_RULES, _RULE_CHARS = 100, 300
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*(?:[-*•]|\d+[.)])\s+|\n\s*\n")
_FIRST = r"(?:^|[,;:(—–]\s*|\b(?:please|and|but|so|then|you|you should|should)\s+)"
_RULE = re.compile(
    rf"(?<!\bI )(?<!\bI've )(?<!\bwe )(?<!\bhas )(?<!\bhave )\b(?:never|always)\b|{_FIRST}(?:do not|don['’]t)\s+[a-z]"
    r"|(?<!\bI )(?<!\bwe )\bmust\b|\b(?:under no circumstances|at all times|no matter what|not allowed to|may not|in no case)\b"
    rf"|{_FIRST}(?:can |may )?only\s+[a-z]|\bonly (?:if|when|after|once|with|use|the)\b",
    re.IGNORECASE,
)
_RULES = re.compile(
    r"\b(?:never|not|don['’]t|cannot|can['’]t|no|nothing|without|avoid|refuse|forbidden|prohibited|only|must|always|should|first|required?)\b",
    re.IGNORECASE,
)
_RULING = re.compile(r"(?<=[.!?;])\s+")
_MODAL = stems("never always must only not dont don do please should may can make sure under circumstances")


class Instruction(NamedTuple):
    """One instruction: the step that gives it, its text, the last turn that needs it (None: all), and of a task the facts that later turns use."""

    step: int
    kind: Literal["task", "system", "rule"]
    text: str
    last: int | None = None
    facts: frozenset[str] = frozenset()


def rules_in(text: str) -> Iterator[str]:
    """The standing instructions of a text, in order: sentences that say never, always, do not, must or only. No questions, and nothing of oneself.

    >>> list(rules_in("You help in a shop. Never cancel an order twice.\\n- Only refund after the user agreed.\\nI never got it. Must I pay?"))
    ['Never cancel an order twice.', 'Only refund after the user agreed.']
    """
    for part in _SENTENCE.split(text):
        for line in part.split("\n") if len(part) > _RULE_CHARS else (part,):
            sentence = " ".join(line.split()).lstrip("-*•#> ")
            if (
                not sentence.endswith("?")
                and len(sentence) <= _RULE_CHARS
                and sentence.count(" ") >= 2
                and _RULE.search(sentence)
            ):
                yield sentence


Needed = Mapping[int, tuple[frozenset[str], int]]
"""By step of a user turn the facts that later turns took from it, and the last turn that did."""


class Instructions:
    """The instructions of each thread of a trace, and which of them a message holds.

    The task is what the user said last, and every earlier user turn of which this or a later turn still uses something.
    """

    def __init__(
        self, trace: Trace, texts: Texts, facts_held: Callable[[str], Collection[str]], needed: Callable[[], Needed]
    ) -> None:
        self._texts, self._facts_held = texts, facts_held
        given = (step for step in trace.steps if isinstance(step, SystemTurn | UserTurn))
        self._said = {step.index: text_of(step.content) for step in given}
        self.by_thread: dict[str, list[Instruction]] = {}
        self._holds = Remembered(lambda key: self._keeps(*key))
        self._words = Remembered(
            lambda text: frozenset(word.lower() for word in texts.words(text) if len(word) >= _WORD_CHARS)
        )
        self._wanted = Remembered(lambda rule: stems(rule) - _MODAL - FUNCTION_WORDS)
        ruling = Remembered(_rulings_of)
        self._rulings: Remembered[list[frozenset[str]]] = Remembered(
            lambda text: [found for line in dict.fromkeys(text.split("\n")) for found in ruling(line)]
        )
        """The stems of each sentence of a text that rules something; summaries repeat sentences."""

        started: set[str] = set()
        users: dict[str, list[UserTurn]] = {}
        for step in trace.steps:
            if isinstance(step, SystemTurn | UserTurn) and self._said[step.index].strip():
                found, text = self.by_thread.setdefault(step.thread, []), self._said[step.index]
                if isinstance(step, UserTurn):
                    users.setdefault(step.thread, []).append(step)
                elif step.thread not in started:
                    found.append(Instruction(step.index, "system", text))
                rules = [rule for rule in dict.fromkeys(rules_in(text)) if rule != text.strip()]
                found += [Instruction(step.index, "rule", rule) for rule in rules[: max(0, _MOST_RULES - len(found))]]
            if not isinstance(step, SystemTurn):
                started.add(step.thread)
        for thread, turns in users.items():
            of_users = needed() if len(turns) > 1 else {}
            for turn, after in zip(turns, [*turns[1:], None], strict=True):
                facts, last = of_users.get(turn.index, (frozenset(), -1))
                until = None if after is None else max(last, after.index)
                self.by_thread[thread].append(Instruction(turn.index, "task", self._said[turn.index], until, facts))

    def of_step(self, thread: str, step: int) -> tuple[int, ...]:
        """The numbers of the instructions that a step gives."""
        return tuple(number for number, item in enumerate(self.by_thread.get(thread, ())) if item.step == step)

    def told_by(self, thread: str, message: Message) -> tuple[int, ...]:
        """The numbers of the instructions that a message holds: it is the turn itself, has the whole text, or a summary of it."""
        found = []
        for number, item in enumerate(self.by_thread.get(thread, ())):
            own = message.step == item.step
            if item.kind == "system" and message.role in ("user", "assistant"):
                continue  # as a user's words it no longer rules
            if own and message.text == self._said[item.step]:
                found.append(number)
            elif item.kind == "rule":
                if (own or message.kind in ("user", "system", "made")) and self._says_rule(item.text, message.text):
                    found.append(number)
            elif (
                item.text.strip() in message.text
                or ((own or message.kind == "made") and self._holds[item.text, message.text])
                or (
                    item.facts
                    and len(item.facts.intersection(self._facts_held(message.text))) >= KEPT * len(item.facts)
                )
            ):
                found.append(number)
        return tuple(found)

    def _keeps(self, told: str, text: str) -> bool:
        """True if a text keeps the facts of an instruction; where that has none, its words."""
        wanted, there = frozenset(self._texts.facts(told)), frozenset(self._facts_held(text))
        if not wanted:
            wanted, there = self._words(told), self._words(text)
        return bool(text.strip()) and len(wanted & there) >= KEPT * len(wanted)

    def _says_rule(self, rule: str, text: str) -> bool:
        """True if a text has a rule as it stands, or a sentence that rules something with half of its words."""
        if rule in text:
            return True
        wanted = self._wanted(rule)
        return bool(wanted) and any(len(wanted & there) >= RULE_KEPT * len(wanted) for there in self._rulings(text))


def _rulings_of(line: str) -> list[frozenset[str]]:
    sentences = _RULING.split(line) if _RULES.search(line) else ()
    return [words for sentence in sentences if _RULES.search(sentence) and (words := stems(sentence))]
