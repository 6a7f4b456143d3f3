"""Counting of tokens with tiktoken, offline; each distinct text is counted once.

tiktoken ships no vocabulary and would fetch one. The two that current models use travel with this
package.

Framing: each message costs 3 tokens beyond its text, each prompt 3 more; a tool call costs its name
and its compact-JSON arguments; tool definitions cost their compact JSON once a prompt. Where a
trace recorded what its provider counted, these constants are fitted on it.
"""

from __future__ import annotations

import functools
import itertools
import lzma
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..model import Counting, Message, ToolCall, compact_json

if TYPE_CHECKING:
    import tiktoken

PROMPT_TOKENS = Counting().prompt_tokens
"""The tokens of a prompt beyond its messages and tool definitions, where nothing was fitted."""

DEFAULT_ENCODING = "o200k_base"
DEFAULT_WINDOW_TOKENS = 128_000

_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS = {
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            + _ENDINGS,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            + _ENDINGS,
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        )
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
"""By encoding how a text is split into pieces, each of which is tokens of its own. tiktoken's own
patterns.
"""

# Both encodings end a token before the first character after a blank line (unless it is a slash or
# white space), so paragraphs may be
# counted one by one. A history that is written anew for every prompt then costs its new paragraphs,
# not all of them again.
_LONG_CHARS = 1000
_PARAGRAPH = re.compile(r"(?<=\n\n)(?=[^\s/])")

# tiktoken panics (a BaseException, not an Exception) on some texts of about a million like
# characters, and takes more than linear time on long
# words. A longer text is counted in parts, cut where a token ends anyhow: before the white space
# behind a word, or at the start of a line.
_PART_CHARS, _NEAR_CHARS = 100_000, 200
_TOKEN_ENDS = re.compile(r"(?<=\S)(?=[ \t])|(?<=\n)(?=[^\s/])")


def encoding_for(model: str | None) -> tuple[str, bool]:
    """The encoding of a model, and True if it is assumed because the model or its vocabulary is
    unknown."""
    from tiktoken.model import encoding_name_for_model

    *_, short_name = (model or "").split("/")
    try:
        name = encoding_name_for_model(short_name)
    except KeyError:
        return DEFAULT_ENCODING, True
    return (name, False) if name in _PATTERNS else (DEFAULT_ENCODING, True)


class TokenCounter:
    """Counts tokens under one encoding, each distinct text once; there is one per trace.

    `counting` converts the encoding's numbers to the provider's.

    >>> TokenCounter().text("hello world"), TokenCounter("cl100k_base").text("")
    (2, 0)
    >>> TokenCounter(counting=Counting(factor=1.5)).text("hello world")
    3
    """

    def __init__(self, encoding: str = DEFAULT_ENCODING, counting: Counting | None = None) -> None:
        self.encoding = encoding
        self.counting = counting or Counting()
        self._encode = _encoding(encoding).encode_ordinary
        self._memo: dict[str, int] = {"": 0}

    def calibrated(self, counting: Counting) -> TokenCounter:
        """A counter with another `counting` that shares the encoded texts."""
        other = TokenCounter(self.encoding, counting)
        other._memo = self._memo
        return other

    def text(self, text: str) -> int:
        """Tokens of a text, special tokens read as ordinary text; 0 for `""`.

        A text of more than 100,000 characters is counted in parts, cut where a token ends anyway.
        Where there is no such place, in a word or a run of blanks of more than 50,000 characters,
        each cut can add a token or two. A lone surrogate counts as the replacement character.
        """
        tokens, factor = self.encoded(text), self.counting.factor
        return tokens if factor == 1.0 else round(factor * tokens)

    def encoded(self, text: str) -> int:
        """Tokens of a text in the encoding itself."""
        known = self._memo.get(text)
        if known is None:
            known = self._memo[text] = self._counted(text)
        return known

    def _counted(self, text: str) -> int:
        """The tokens of a text, counted in parts if it is long; a lone surrogate counts as a
        replacement character."""
        paragraphs = _PARAGRAPH.split(text) if len(text) > _LONG_CHARS and "\n\n" in text else []
        if len(paragraphs) > 1:
            return sum(map(self.encoded, paragraphs))
        if len(text) > _PART_CHARS:
            return sum(map(self._counted, _parts(text)))
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:
            return len(
                self._encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
            )

    def of(self, item: Message | str) -> int:
        """Tokens of a text, or of a message with its framing."""
        return self.text(item) if isinstance(item, str) else self.message(item)

    def message(self, message: Message) -> int:
        """Tokens of one message: framing, text, calls outside the text, resent reasoning."""
        return (
            self.framed(self.contents(message.text, message.tool_calls)) + message.reasoning_tokens
        )

    def framed(self, content_tokens: int) -> int:
        """Tokens of a message whose content has a number of tokens in the encoding."""
        return round(self.counting.factor * content_tokens + self.counting.message_tokens)

    def contents(self, text: str, calls: Iterable[ToolCall]) -> int:
        """Tokens, in the encoding itself, of a text and of those tool calls that the text does not
        contain."""
        call_texts = [
            self.encoded(call.name) + self.encoded(compact_json(call.arguments))
            for call in calls
            if not call.in_text
        ]
        return self.encoded(text) + sum(call_texts)

    def tools(self, tools: tuple[Any, ...]) -> int:
        """Tokens of the tool definitions of one prompt; 0 for none."""
        return self.text(compact_json(list(tools))) if tools else 0


def _parts(text: str) -> Iterator[str]:
    """A text in parts of limited length, cut at the end of a token where possible."""
    start = 0
    while len(text) - start > _PART_CHARS:
        end = _last_token_end(text, start + _PART_CHARS // 2, start + _PART_CHARS)
        yield text[start:end]
        start = end
    yield text[start:]


def _last_token_end(text: str, start: int, end: int) -> int:
    """The last place in a part of a text where a token surely ends; the part's end without one.

    It is searched from the end, in steps of doubling size.
    """
    size, before = _NEAR_CHARS, end
    while before > start:
        near = max(start, end - size)
        places = [match.start() for match in _TOKEN_ENDS.finditer(text, near, before)]
        if places:
            return places[-1]
        size, before = 2 * size, near
    return end


@functools.cache
def _encoding(name: str) -> tiktoken.Encoding:
    """The encoding with the shipped vocabulary, so that nothing is downloaded."""
    import tiktoken

    ranks = dict(zip(vocabulary(name), itertools.count()))
    encoding = tiktoken.Encoding(
        name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
    )
    encoding._mergeable_ranks = {}  # 23 MB that nobody asks for
    return encoding


def vocabulary(name: str) -> list[bytes]:
    """The tokens of an encoding by rank. The file has the 256 one-byte tokens first, then the
    others, separated by 0xff, which occurs in none of them."""
    packed = resources.files("bench.tokens").joinpath("vocabularies", f"{name}.xz").read_bytes()
    tokens = lzma.decompress(packed)
    return [*(tokens[at : at + 1] for at in range(256)), *tokens[256:].split(b"\xff")]
