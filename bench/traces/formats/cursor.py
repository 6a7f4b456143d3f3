"""Chats that Cursor exports as Markdown: what was asked and what was answered."""

from __future__ import annotations

import re

from .. import Confidence, Document, Keeps, Node, Traces, register
from ..steps import Said, Steps

_EXPORTED = re.compile(r"^_Exported on (.+?) from Cursor \((.+?)\)_\s*$", re.MULTILINE)
_TURN = re.compile(r"^---\n+\*\*(User|Cursor)\*\*\n", re.MULTILINE)


@register("reader", "cursor")
class Cursor:
    """One chat a file: a title, `_Exported on … from Cursor (…)_`, then `**User**` and `**Cursor**` between lines of `---`.

    Cursor exports no tool calls, usage or times: each block is a turn, and answers that follow each other are turns of their own.

    Source: docs.cursor.com, "Export chat"
    """

    keeps = Keeps(
        results="none",
        also=(),
        never="tool calls and results, usage, times, the model: the export has none of them",
        tested="exports of Cursor 0.50 and 1.x, by hand after published ones",
    )

    def sniff(self, document: Document) -> Confidence:
        return Confidence.CERTAIN if _EXPORTED.search(document.opening(1000)) else Confidence.NO

    def read(self, document: Document) -> Traces:
        """The file's one chat; title and version are in `meta`."""
        text = document.text.replace("\r\n", "\n")
        steps, exported = Steps(), _EXPORTED.search(text)
        _, *blocks = _TURN.split(text)
        for who, told in zip(blocks[::2], blocks[1::2], strict=True):
            said = re.sub(r"\n---\s*$", "", told.strip() + "\n").strip()
            steps.say(Said("user" if who == "User" else "assistant", said))
        meta = {"title": text.lstrip("# \n").partition("\n")[0].strip()}
        if exported is not None:
            meta |= {"exported": exported[1], "cursor_version": exported[2]}
        yield steps.trace(document, "cursor", Node(document, 1, "", text[:1]), meta=meta)
