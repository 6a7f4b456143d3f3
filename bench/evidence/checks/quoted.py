"""Altered quotations: changed words in a kept message of a person or the model, and turns under
another role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...model import SystemTurn
from ...model.scores import Finding
from ...text.instructions import is_command, keeps_words, sentences_of
from ...text.omissions import says_omission
from ...text.result_lines import ResultLines
from ..own_text import OwnText

_SHARED = 0.25
"""A message of the model that shares a smaller part of its words with a turn is not a version of
it."""

_TAGGED = re.compile(r"<([\w-]+)>[^<]*</\1>")
_NOTICE = re.compile(r"\[[^\]]*\]|<[^<>]*>|…|(?m:^[(#]?\s*\d{1,4}[.):]\s)")
_MARKUP = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)|`")


def altered_quotes(own: OwnText) -> Iterator[Finding]:
    """Yield the words that a kept message of a person or the model changes, adds or picks out, and
    turns that a message gives to another role."""
    step, session = own.step, own.session
    roles = session.turns.get(" ".join(own.text.split()), frozenset())
    if own.message.kind == "made":
        roles = roles or next(_roles_of_others(own), roles)
        if roles and own.message.role not in roles:
            yield Finding(step, own.text, f"said by: {min(roles)}")
    number = None if step is None else session.index.full.get(step)
    verbatim = session.mentions.verbatim
    if number is not None:
        original = session.messages.messages[number].text
        shown, of_original = _words(own.text), set(_words(original))
        if shown == _words(original):
            return
        if own.message.kind == "model" and _SHARED * len(shown) > sum(
            map(of_original.__contains__, shown)
        ):
            return  # another message in its place, held against what was said before it
        lines = ResultLines(original)
        for line in own.text.split("\n"):
            if was := lines.altered(line):
                yield Finding(step, line.strip(), was.strip())
        for words in _other_words(own, original, verbatim):
            yield Finding(step, words, original)
        return
    for turn in session.trace.steps if own.message.kind == "made" else ():
        if isinstance(turn, SystemTurn) and keeps_words(turn.content, own.text):
            for words in _other_words(own, turn.content, verbatim):
                yield Finding(turn.index, words, turn.content)


def _roles_of_others(own: OwnText) -> Iterator[frozenset[str]]:
    """Yield the roles of the lines that only other roles said, in a text of recorded lines and
    nothing else; a heading, a label or a sign for a quotation can say who spoke."""
    lines = [line for line in own.text.split("\n") if line.strip()]
    if own.session.lines_of(None).issuperset(lines) and own.message.role != "system":
        for roles in map(own.session.mentions.roles_of, lines):
            if roles and own.message.role not in roles:
                yield roles


def _words(text: str) -> list[str]:
    """The words of a text without Markdown for bold and code."""
    return _MARKUP.sub("", text).split()


def _without_notices(text: str, original: str) -> str:
    """A text without its notices; brackets of the original are not notices."""
    return _NOTICE.sub(lambda notice: notice[0] if notice[0] in original else " ", text)


def _other_words(own: OwnText, original: str, is_said: Callable[[str], bool]) -> Iterator[str]:
    """Yield the changed words of a kept message, ignoring its notices.

    Without a notice, a user message must have all its words, one of the model may end earlier, and
    one of the system may lack whole sentences.
    """
    text, kind = own.text, own.message.kind.replace("made", "system")
    lines = (
        line for line in text.split("\n") if line in original or not says_omission(line, original)
    )
    shown = _without_notices("\n".join(lines), original)
    sentences = sentences_of(_without_notices(_TAGGED.sub(" ", text), original))
    is_longer = keeps_words(shown, original)
    if not is_longer and not keeps_words(original, shown):
        yield text
    elif is_longer and kind != "user":
        yield from (words for words in sentences if is_command(words) and not is_said(words))
    elif says_omission(text, original):
        return
    elif kind == ("user" if is_longer else "system"):
        yield from (words for words in sentences if not is_said(words))
    elif kind == "user" or (kind == "model" and not own.message.tool_calls and not is_said(shown)):
        yield text
