"""The only place that counts tokens: tiktoken, offline, each distinct text counted once.

tiktoken ships no vocabulary and would fetch one. The two that current models use travel with this
package, are rebuilt once into the user's cache folder, and are proven by the sha256 that tiktoken
itself demands.

Framing: each message costs 3 tokens beyond its text, each prompt 3 more; a tool call costs its name
and its compact-JSON arguments; tool definitions cost their compact JSON once a prompt. Where a
trace recorded what its provider counted, these constants are fitted on it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import lzma
import os
import re
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..files.cache import cache_folder
from ..files.limits import read_regular
from ..files.writing import write_atomically
from ..model import Counting, Message, ToolCall, compact_json
from ..model.errors import BenchError

if TYPE_CHECKING:
    import tiktoken

PROMPT_TOKENS = Counting().prompt_tokens
"""The tokens of a prompt beyond its messages and tool definitions, where nothing was fitted."""

DEFAULT_ENCODING = "o200k_base"
DEFAULT_WINDOW_TOKENS = 128_000

# encoding: (tiktoken's cache file name: sha1 of the address it would fetch, sha256 of the file it expects)
_VOCABULARIES = {
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

# Both encodings end a token before the first character after a blank line (unless it is a slash or white space), so paragraphs may be
# counted one by one. A history that is written anew for every prompt then costs its new paragraphs, not all of them again.
_LONG_CHARS = 1000
_PARAGRAPH = re.compile(r"(?<=\n\n)(?=[^\s/])")

# tiktoken panics (a BaseException, not an Exception) on some texts of about a million like characters, and takes more than linear time on long
# words. A longer text is counted in parts, cut where a token ends anyhow: before the white space behind a word, or at the start of a line.
_PART_CHARS = 100_000
_TOKEN_ENDS = re.compile(r"(?<=\S)(?=[ \t])|(?<=\n)(?=[^\s/])")


def encoding_for(model: str | None) -> tuple[str, bool]:
    """The encoding of a model; True if it is assumed, for want of the model or its vocabulary."""
    from tiktoken.model import encoding_name_for_model

    try:
        name = encoding_name_for_model((model or "").rpartition("/")[2])
    except KeyError:
        return DEFAULT_ENCODING, True
    return (name, False) if name in _VOCABULARIES else (DEFAULT_ENCODING, True)


class TokenCounter:
    """Counts tokens under one encoding, each distinct text once; one lives as long as one trace.

    `counting` says how a provider's numbers follow from those of the encoding. `elsewhere` counts a
    text in another process: no vocabulary is read.

    >>> TokenCounter().text("hello world"), TokenCounter("cl100k_base").text("")
    (2, 0)
    >>> TokenCounter(counting=Counting(factor=1.5)).text("hello world")
    3
    """

    def __init__(
        self,
        encoding: str = DEFAULT_ENCODING,
        counting: Counting | None = None,
        elsewhere: Callable[[str], int] | None = None,
    ) -> None:
        self.encoding = encoding
        self.counting = counting or Counting()
        self._count = elsewhere or self._counted
        if elsewhere is None:
            self._encode = _encoding(encoding).encode_ordinary
        self._memo: dict[str, int] = {"": 0}

    def calibrated(self, counting: Counting) -> TokenCounter:
        """A counter that counts in another way and shares what was encoded."""
        other = TokenCounter(self.encoding, counting)
        other._memo = self._memo
        return other

    def text(self, text: str) -> int:
        """Tokens of a text, special tokens read as ordinary text; 0 for `""`.

        A text of more than 100,000 characters is counted in parts, cut where a token ends anyhow.
        Where there is no such place, in a word or a run of blanks of more than 50,000 characters,
        each cut can make a token or two more. A lone surrogate counts as the replacement character.
        """
        tokens, factor = self.encoded(text), self.counting.factor
        return tokens if factor == 1.0 else round(factor * tokens)

    def encoded(self, text: str) -> int:
        """Tokens of a text in the encoding itself."""
        known = self._memo.get(text)
        if known is None:
            known = self._memo[text] = self._count(text)
        return known

    def _counted(self, text: str) -> int:
        paragraphs = _PARAGRAPH.split(text) if len(text) > _LONG_CHARS and "\n\n" in text else []
        if len(paragraphs) > 1:
            return sum(map(self.encoded, paragraphs))
        if len(text) > _PART_CHARS:
            return sum(map(self._counted, _parts(text)))
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:
            return len(self._encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")))

    def of(self, item: Message | str) -> int:
        """Tokens of a text, or of a message with its framing."""
        return self.text(item) if isinstance(item, str) else self.message(item)

    def message(self, message: Message) -> int:
        """Tokens of one message: framing, text, calls that are not in the text, reasoning sent back."""
        return self.framed(self.contents(message.text, message.tool_calls)) + message.reasoning_tokens

    def framed(self, content_tokens: int) -> int:
        """Tokens of a message that says so many tokens of the encoding."""
        return round(self.counting.factor * content_tokens + self.counting.message_tokens)

    def contents(self, text: str, calls: Iterable[ToolCall]) -> int:
        """Tokens, in the encoding itself, of a text and of the tool calls that are not already written in it."""
        call_texts = [
            self.encoded(call.name) + self.encoded(compact_json(call.arguments)) for call in calls if not call.in_text
        ]
        return self.encoded(text) + sum(call_texts)

    def tools(self, tools: tuple[Any, ...]) -> int:
        """Tokens of the tool definitions of one prompt; 0 for none."""
        return self.text(compact_json(list(tools))) if tools else 0


def _parts(text: str) -> Iterator[str]:
    """A text in parts of at most so many characters, each cut where a token ends if it can be."""
    start = 0
    while len(text) - start > _PART_CHARS:
        end = start + _PART_CHARS
        places = [match.start() for match in _TOKEN_ENDS.finditer(text, start + _PART_CHARS // 2, end)]
        end = places[-1] if places else end
        yield text[start:end]
        start = end
    yield text[start:]


@functools.cache
def _encoding(name: str) -> tiktoken.Encoding:
    import tiktoken

    folder = _cached_vocabulary(name)
    previous = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(name)
    finally:
        if previous is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = previous


def _cached_vocabulary(name: str) -> Path:
    """The folder that holds tiktoken's file for an encoding; rebuilt where it is missing or damaged, atomically."""
    file_name, sha256 = _VOCABULARIES[name]
    for temporary in (False, True):
        with contextlib.suppress(OSError, BenchError):
            target = (_temporary_folder() if temporary else cache_folder("tiktoken")) / file_name
            if not _is_vocabulary(target, sha256):
                write_atomically(target, _rebuild(name))
            return target.parent
    raise OSError(
        f"no folder to keep the vocabulary {name} in: neither {cache_folder('tiktoken')} nor the temporary folder is writable"
    )


def _is_vocabulary(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest() == sha256
    except OSError:
        return False


def _temporary_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"bench-tiktoken-{os.getuid()}"


def _rebuild(name: str) -> bytes:
    packed = lzma.decompress(resources.files("bench.tokens").joinpath("vocabularies", f"{name}.xz").read_bytes())
    lines, position, rank = [], 0, 0
    while position < len(packed):
        end = position + 1 + packed[position]
        lines.append(b64encode(packed[position + 1 : end]) + b" %d\n" % rank)
        position, rank = end, rank + 1
    return b"".join(lines)
