"""Instructions in prose: sentences that tell an agent what it must or must not do, and texts that repeat them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .facts import flat
from .scripts import FUNCTION_WORDS

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*(?:[-*•]|\d+[.)])\s+|\n")
_ORDER = re.compile(
    r"\b(?:never|always|must(?: not|n['’]t)?|shall not|may not|do not|don['’]t|under no circumstances|at all times"
    r"|no matter what|not allowed|in no case|without (?:approval|asking|permission)|(?:hard )?constraint)\b"
    r"|\bonly (?:if|when|after|once|with|use|the)\b|\b(?:can|may|should) only\b|\bcan(?:not| only)?\b.{0,60}\b(?:if|unless)\b"
    r"|\bunless\b|^(?:please )?(?:ignore|refuse|avoid|ensure|make sure|forget|disregard|stop|only)\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"^\W*(?:i|we|they|he|she|it|my|our|his|her|there|you know)\b|\b(?:i|we)(?:['’](?:ve|ll|m|d|re))?\s+(?:\w+\s+)?(?:never|always|don['’]t|do not|must|only|can)"
    r"|don['’]t (?:worry|sweat|know|think|mind|have|want|see|understand|remember|believe)|never mind|\?\s*$",
    re.IGNORECASE,
)
_MOST_CHARS, _FEWEST_WORDS = 400, 3
_REPEATED = 0.6
"""The share of an instruction's words that one sentence must hold to repeat it."""

_NEGATION = re.compile(r"\b(?:not|never|no|cannot|without|unless|only)\b|n['’]t\b", re.IGNORECASE)


def is_instruction(sentence: str) -> bool:
    """True if a sentence is a standing instruction to the agent, and no remark about oneself or a question.

    >>> texts = "Never cancel twice.", "My parents told me to always have a backup.", "don't sweat it", "It costs 5."
    >>> [is_instruction(text) for text in texts]
    [True, False, False, False]
    """
    text = " ".join(sentence.split()).lstrip("-*•#> ")
    if not text or len(text) > _MOST_CHARS or text.count(" ") + 1 < _FEWEST_WORDS:
        return False
    return bool(_ORDER.search(text)) and not _TALK.search(text)


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences and list items of a text, white space folded."""
    for part in _SENTENCE.split(text):
        sentence = " ".join(part.split())
        if sentence:
            yield sentence


def repeats(text: str, instruction: str) -> bool:
    """True if a text has an instruction as it stands, or in a sentence with most of its words and as many denials.

    >>> repeats("The user said: never push to main.", "Never push to main"), repeats("Push to main.", "Never push to main")
    (True, False)
    """
    folded = " ".join(text.split())
    if " ".join(instruction.split()) in folded:
        return True
    wanted = _content(instruction)
    denials = len(_NEGATION.findall(instruction))
    return bool(wanted) and any(
        len(wanted & _content(sentence)) >= _REPEATED * len(wanted)
        and (len(_NEGATION.findall(sentence)) > 0) == (denials > 0)
        for sentence in sentences_of(text)
    )


def _content(text: str) -> frozenset[str]:
    return frozenset(word[:6] for word in flat(text).split() if word not in FUNCTION_WORDS and len(word) > 2)
