"""Common practice: masks, windows, repeats, ends of results, other notations, a store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ...model import Message, Record, ToolResult, as_text, lines_of
from ...plugins.registry import register
from ...text.decode import NothingParsed, decode_strings, decoded, parse_prefix, without_colours
from ...text.lossless import exact_json, write_tables
from .. import Window, untruncated_record
from ..engines import Compactor, Mask, state
from ..histories import older, safe_cut, system_count
from ..offloading import offload
from ..parsed import parsed_value
from ..settings import Count, Turns
from . import brief


@register("compactor", "mask_observations")
class MaskObservations(Mask):
    """The last `keep_last` tool results; each older one becomes a line that says how long it was.

    A placeholder keeps the role, call and step of its result. Results are masked at every
    `every`-th prompt only, so the cached prefix stays valid in between.

    Source: common practice of coding agents; arXiv 2508.21433 "The Complexity Trap" §3

    >>> MaskObservations(keep_last=1).tried("call ls", "tool: a.txt", "call ls", "tool: b.txt")
    ['call ls', 'tool: [tool result left out: 5 characters, 1 lines]', 'call ls', 'tool: b.txt']
    """

    keep_last: Count = 10
    every: Turns = 1
    _prompts: int = state(int)
    _results: list[Message] = state(list)
    _masked: list[Message] = state(list)

    def old(self, window: Window) -> Sequence[Message]:
        self._prompts += 1
        self._results += (message for message in window.added if message.kind == "result")
        if self._prompts % self.every == 0:
            self._masked = older(self._results, self.keep_last)
        return self._masked

    def text(self, message: Message) -> str:
        size, lines = len(message.text), len(message.text.splitlines())
        return f"[tool result left out: {size} characters, {lines} lines]"


@register("compactor", "repeats")
class Repeats(Mask):
    """A line that names the earlier call, in place of a long result that repeats that call's.

    The earlier one stays, so nothing is lost and the cached prefix stays valid. Results that differ
    in one character do not repeat each other.

    Source: RFC 3229 (delta encoding in HTTP): an unchanged answer is sent as a reference to the one
    before

    >>> Repeats(min_chars=3).tried("call cat", "tool: a long text", "call cat", "tool: a long text")
    ['call cat', 'tool: a long text', 'call cat', 'tool: [the same result as call call 0 above]']
    """

    min_chars: Count = 200
    _first: dict[str, Message] = state(dict)  # the first result of each text
    _repeats: dict[Message, str] = state(dict)

    def old(self, window: Window) -> Sequence[Message]:
        for message in window.added:
            if message.kind == "result" and len(message.text) >= self.min_chars:
                first = self._first.setdefault(message.text, message)
                if first is not message:
                    self._repeats[message] = f"[the same result as call {first.call_id} above]"
        return [*self._repeats]

    def text(self, message: Message) -> str:
        return self._repeats[message]


@register("compactor", "sliding_window")
class SlidingWindow(Compactor):
    """The system messages at the start and the last `keep_last` messages, calls with their results.

    Where the cut would fall between a call and one of its results, it moves back to the call, so a
    few more may stay. The request goes too, once it is older than that.

    Source: common practice: a sliding window over the messages that keeps pairs together

    >>> SlidingWindow(keep_last=2).tried("user: 0", "user: 1", "user: 2")
    ['user: 1', 'user: 2']
    """

    keep_last: Count = 20

    def compact(self, window: Window) -> list[Message] | None:
        start = system_count(window.messages)
        talk = window.messages[start:]
        cut = safe_cut(talk, max(0, len(talk) - self.keep_last))
        return [*window.messages[:start], *talk[cut:]] if cut else None


# ---------------------------------------------------------------- one result


@register("summarizer", "head_tail")
def head_tail(result: ToolResult, *, head: Count = 20, tail: Count = 20) -> str:
    """The first `head` and last `tail` lines of a result, and the number left out.

    JSON is read as one line per row or leaf, and a long string as its own lines; any other text has
    its own lines. Blank lines are not counted, and dropped where something is left out; a short
    result is shown unchanged, an empty one as `""`.

    Source: mini-swe-agent 2.4, `minisweagent/config/mini.yaml` (observation_template): the head and
    the tail of a long output

    >>> head_tail(ToolResult(index=0, call_id="a", function="f", seen="1\\n2\\n3\\n4"), head=1, tail=1)
    '1\\n[2 lines left out]\\n4'
    >>> code = ToolResult(index=0, call_id="a", function="f", seen="a\\nd = {'n': '\\\\n'}\\nb\\nc")
    >>> print(head_tail(code, head=2, tail=0))
    a
    d = {'n': '\\n'}
    [2 lines left out]
    """
    lines = lines_of(_as_lines(result.text))
    left_out = len(lines) - head - tail
    if left_out <= 0:
        return result.text
    return "\n".join([*lines[:head], f"[{left_out} lines left out]", *lines[len(lines) - tail :]])


def _as_lines(text: str) -> str:
    """JSON, perhaps truncated, decoded to lines; any other text without its colours."""
    with suppress(NothingParsed):
        _, end = parse_prefix(text)
        if len(text[end:].strip()) <= len("..."):
            return decoded(text)
    return without_colours(text)


def _rewritten(result: ToolResult, write: Callable[[Any], str]) -> str:
    """A mapping or list, from data or JSON text and with JSON inside strings decoded, written
    anew; the text of any other result."""
    value = parsed_value(result)
    return write(decode_strings(value)) if isinstance(value, dict | list) else result.text


@register("summarizer", "compact_json")
def compact_json_text(result: ToolResult) -> str:
    """The whole result as JSON without blanks: nothing is lost.

    JSON inside strings is written as the value it holds. A result other than a mapping or list
    (data or JSON text) is shown as it is.

    Source: RFC 8259 (JSON)

    >>> given = {"n": 2, "data": '[{"id": 1}]'}
    >>> compact_json_text(ToolResult(index=0, call_id="a", function="f", data=given))
    '{"n":2,"data":[{"id":1}]}'
    """
    return _rewritten(result, exact_json)


@register("summarizer", "csv_table")
def csv_table(result: ToolResult) -> str:
    """The whole result with its tables as CSV and the rest as compact JSON: nothing is lost.

    The format is that of `bench.text.lossless`: strings that would read as something else are
    quoted, so types are kept. JSON inside strings is written as the value it holds. A result
    other than a mapping or list (data or JSON text) is shown as it is.

    Source: RFC 4180 (CSV)

    >>> table = {"data": '[{"id": 1, "mark": "W1"}, {"id": 2, "mark": "2"}]'}
    >>> print(csv_table(ToolResult(index=0, call_id="a", function="f", data=table)))
    {"data":{"@table":1}}
    @table 1: 2 rows
    id,mark
    1,W1
    2,"2"
    """
    return _rewritten(result, write_tables)


# ---------------------------------------------------------------- outside of the prompt


@register("store", "external")
def external(result: ToolResult, *, preview_chars: Count = 200) -> Record:
    """A handle and the first `preview_chars` characters of a value that is kept outside of the
    prompt.

    Equal values share a handle. An empty result has a handle and an empty preview.

    Source: MemGPT (arXiv 2310.08560): what is paged out can be paged in

    >>> result = ToolResult(index=0, call_id="a", function="f", data={"go": [1, 2]})
    >>> external(result, preview_chars=4).value
    '[stored as mem://239a00f0f124eed7: 12 characters] {"go'
    """
    value, text = result.value, as_text(result.value)
    # repr, not JSON: it keeps apart what JSON makes equal, NaN and null, a number and its text
    digest = hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
    handle = offload(f"mem://{digest[:16]}", value)
    preview = f" {text[:preview_chars]}" if text and preview_chars else ""
    return msgspec.structs.replace(
        untruncated_record(result),
        value=f"[stored as {handle}: {len(text)} characters]{preview}",
        result_type="text",
        summary=brief(value, 100),
        handle=handle,
    )
