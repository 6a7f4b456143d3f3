"""Invented: an own text with a number, an identifier, a name or an order that nothing before had said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ...model.scores import Check, Finding
from ...text.facts import number_value
from ...text.instructions import is_instruction
from ...text.worked_out import worked_out
from ..of_replay import ReplayEvidence
from .counts import Counts
from .own import OwnText, check_of, new_lines, own_texts, template_lines

_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=\S)|\n")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
_NAMES = frozenset({"name", "path", "url", "date", "proper"})
_COUNTED = re.compile(r"[A-Z][a-z]+ \d+")
_FEWEST_DIGITS = 2


def invented(evidence: ReplayEvidence) -> Check:
    """Own texts with something that nothing before had said, over all own texts with words of their own.

    The unit is the text: a longer one may not invent more. Looked at are the lines that what is
    shown does not have. No inventions are handles, counts of what is there or left out, and numbers
    worked out of others in the same sentence. The strategy's own wording (what half of its texts
    have) is quoted in the report instead; an order in it counts.

    Source: https://arxiv.org/abs/2005.00661 (extrinsic hallucinations)
    """
    texts = list(own_texts(evidence))
    wording = template_lines(texts)
    common = _common_names(evidence, texts)
    findings: list[Finding] = []
    of = 0
    for own in texts:
        lines = new_lines(evidence, own)
        if not lines:
            continue
        of += 1
        strange = next(_strange(evidence, own, lines, wording, common), "")
        if strange:
            findings.append(Finding(own.message.step, strange))
    return check_of(findings, of)


def _common_names(evidence: ReplayEvidence, texts: list[OwnText]) -> frozenset[str]:
    """The names that at least half of a strategy's texts of one kind have: its own wording."""
    found: set[str] = set()
    for of_results in (True, False):
        kind = [own for own in texts if (own.result is not None) == of_results]
        counts = Counter(name for own in kind for name in {*_names(evidence, own.text)})
        found.update(name for name, count in counts.items() if count > 1 and 2 * count >= len(kind))
    return frozenset(found)


def _names(evidence: ReplayEvidence, text: str) -> Iterator[str]:
    facts = evidence.messages.texts.facts(text)
    return (fact for fact, kind in facts.items() if kind in _NAMES and not _COUNTED.fullmatch(fact))


def _strange(
    evidence: ReplayEvidence, own: OwnText, lines: list[str], wording: frozenset[str], common: frozenset[str]
) -> Iterator[str]:
    """Yield what an own text says that nothing before had said."""
    said = evidence.session.said
    counts = Counts(evidence, own)
    handles = [str(name) for name in {item.record.handle for item in evidence.replay.results} if name]
    for line in lines:
        for sentence in _SENTENCE.split(line):
            text = sentence.strip()
            for handle in handles:
                text = text.replace(handle, " ")
            if not text.strip():
                continue
            if is_instruction(text) and not said.instruction(text):
                yield text[:200]
            if line.strip() in wording or said.verbatim(text):
                continue
            yield from (f"{number} in: {text[:160]}" for number in _numbers(evidence, text) if not counts.has(number))
            cut = own.text.rstrip().endswith(text)
            for name in _names(evidence, text):
                if name not in common and not said.name(name) and not (cut and said.begins(name)):
                    yield f"{name} in: {text[:160]}"


def _numbers(evidence: ReplayEvidence, sentence: str) -> Iterator[str]:
    """Yield the numbers of a sentence that nobody said and that cannot be worked out of the others in it."""
    said = evidence.session.said
    written = _NUMBER.findall(sentence)
    values = [number_value(text) for text in written]
    for text, value in zip(written, values, strict=True):
        parts = [number_value(part) for part in text.split(",")]
        if len(value.replace(".", "")) < _FEWEST_DIGITS or all(map(said.number, parts)) or said.number(value):
            continue
        if not worked_out(value, values):
            yield value
