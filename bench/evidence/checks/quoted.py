"""Altered quotations: a strategy changes the words of a message that it keeps, or gives it to another
role. `changed` counts them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...model import SystemTurn
from ...model.scores import Finding
from ...text.excerpts import Excerpt
from ...text.instructions import is_command, keeps_words, sentences_of
from ...text.omissions import omission_in, says_omission
from ...text.result_lines import ResultLines
from ..generated_text import GeneratedText

_FEWEST_SHARED = 0.25
"""The smallest share of words that a version of a model's message has in common with it."""

_TAGGED = re.compile(r"<([\w-]+)>[^<]*</\1>")
_NOTICE = re.compile(r"\[[^\]]*\]|<[^<>]*>|…|(?m:^[(#]?\s*\d{1,4}[.):]\s)")
_MARKUP = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)|`")


def altered_quotes(generated: GeneratedText) -> Iterator[Finding]:
    """Yield the changed words of a kept message, and the turns that a message gives to another role."""
    step, session = generated.step, generated.session
    roles = session.turns.get(" ".join(generated.text.split()), frozenset())
    if generated.message.kind == "made":
        roles = roles or next(_roles_of_others(generated), roles)
        if roles and generated.message.role not in roles:
            yield Finding(step, generated.text, f"said by: {min(roles)}")
    number = None if step is None else session.index.full.get(step)
    if number is not None:
        yield from _altered_message(generated, session.messages.messages[number].text)
    elif generated.message.kind == "made":
        for turn in session.trace.steps:
            if isinstance(turn, SystemTurn) and keeps_words(turn.content, generated.text):
                for words in _changed_words(generated, turn.content):
                    yield Finding(turn.index, words, turn.content)


def _altered_message(generated: GeneratedText, original: str) -> Iterator[Finding]:
    """Yield the changed words of a message that stands in the place of a recorded one."""
    shown_words, original_words = _words(generated.text), _words(original)
    if shown_words == original_words:
        return
    known = {*original_words}
    shared = sum(map(known.__contains__, shown_words))
    if generated.message.kind == "model" and shared < _FEWEST_SHARED * len(shown_words):
        return  # another message, which is checked as a summary
    lines = ResultLines(original)
    for line in generated.text.split("\n"):
        if altered := lines.altered(line):
            yield Finding(generated.step, line.strip(), altered.strip())
    for words in _changed_words(generated, original):
        yield Finding(generated.step, words, original)


def _roles_of_others(generated: GeneratedText) -> Iterator[frozenset[str]]:
    """Yield the roles that said the lines of a text, for lines that the role of the message never
    said. A text with any line of its own has none: that may be a label that says who spoke."""
    lines = [line for line in generated.text.split("\n") if line.strip()]
    if generated.session.lines_of(None).issuperset(lines) and generated.message.role != "system":
        for roles in map(generated.session.mentions.roles_of, lines):
            if roles and generated.message.role not in roles:
                yield roles


def _words(text: str) -> list[str]:
    """The words of a text without the Markdown signs for bold and code."""
    return _MARKUP.sub("", text).split()


def _without_notices(text: str, original: str) -> str:
    """A text without its notices; brackets of the original are not notices."""
    return _NOTICE.sub(lambda notice: notice[0] if notice[0] in original else " ", text)


def _changed_words(generated: GeneratedText, original: str) -> Iterator[str]:
    """Yield the changed words of a kept message, ignoring its notices. Without a notice, a user
    message must have all its words and no others, one of the model may end earlier, and one of the
    system may lack whole sentences. Only the user's may not be longer."""
    text, kind = generated.text, generated.message.kind.replace("made", "system")
    is_said = generated.session.mentions.has_words
    lines = (
        line for line in text.split("\n") if line in original or not says_omission(line, original)
    )
    shown = _without_notices("\n".join(lines), original)
    sentences = sentences_of(_without_notices(_TAGGED.sub(" ", text), original))
    has_all_words = keeps_words(shown, original)
    if not has_all_words and not keeps_words(original, shown):
        yield text
    elif has_all_words and kind != "user":
        yield from (words for words in sentences if is_command(words) and not is_said(words))
    elif says_omission(text, original):
        gaps = Excerpt(text, original).gaps(lambda gap: omission_in(gap.words, original) != "")
        if any(gap.hides_denial(original) for gap in gaps or ()):
            yield text
    elif has_all_words or kind == "system":
        yield from (words for words in sentences if not is_said(words))
    elif kind == "user" or (
        kind == "model" and not generated.message.tool_calls and not is_said(shown)
    ):
        yield text
