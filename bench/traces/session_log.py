"""Session logs of agents: objects, one a line or in one list, read as typed records. An odd value costs
itself: it is counted and named in `left_out`, and never refuses the file.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from ..model import Content, Part, TextPart, ToolCall, Usage, as_text, compact_json, text_of
from ..model.errors import TraceError
from .decoded import strict_json
from .documents import Document, Node
from .markers import cut_in
from .parts import Unread, part_of, simple
from .steps import Ran, Said

Record = TypeVar("Record", bound=msgspec.Struct)

_PATH = re.compile(r" - at `\$(.*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_MOST_ODD = 1000
_MILLISECONDS = 1e11  # seconds of the year 5138, milliseconds of 1973


# ---------------------------------------------------------------- objects and records


def objects_of(document: Document, unread: Unread) -> list[dict[str, Any]]:
    """The objects of a file: its lines, the members of its one list, or the one that it is. What is no
    object is counted. Raises TraceError where nothing in the file is one."""
    lines = list(itertools.islice(document.lines(), 2))
    if len(lines) > 1 and (document.is_json_lines or document.problem is not None):
        objects = list(_line_objects(document, unread))
        if not objects and document.problem is not None:
            raise document.problem
        return objects
    whole = document.json
    return list(_only_objects(whole if isinstance(whole, list) else [whole], unread))


def _line_objects(document: Document, unread: Unread) -> Iterator[dict[str, Any]]:
    values: list[Any] = []
    broken = 0
    for number, line in document.lines():
        unread.add("line that is not JSON", broken)
        broken = 0
        try:
            values.append(document.decode(line, number))
        except TraceError:
            broken = 1
    unread.add("half-written last line", broken)
    yield from _only_objects(values, unread)


def _only_objects(values: list[Any], unread: Unread) -> Iterator[dict[str, Any]]:
    for value in values:
        if isinstance(value, dict):
            yield value
        else:
            unread.add("line that is no object")


def typed(value: dict[str, Any], kind: type[Record], unread: Unread, where: str = "") -> Record:
    """The record that an object is. A value of another type is left out and counted by its path; so are,
    where `where` says what the object is, keys that hold something and that the record does not have.

    >>> class Count(msgspec.Struct):
    ...     tokens: int | None = None
    >>> unread = Unread()
    >>> typed({"tokens": "12"}, Count, unread), typed({"tokens": 12.0}, Count, unread), unread.counts
    (Count(tokens=None), Count(tokens=12), {"odd value of 'tokens'": 1})
    """
    if where:
        count_unknown(value, kind, unread, where)
    for _ in range(_MOST_ODD):
        try:
            return msgspec.convert(value, kind)
        except UnicodeEncodeError:  # a lone surrogate where a number or a name belongs
            break
        except msgspec.ValidationError as error:
            found = _PATH.search(str(error))
            value = _repaired(value, found.group(1) if found else "", unread)
    unread.add("odd record")
    return kind()


def count_unknown(
    value: dict[str, Any], kind: type[msgspec.Struct], unread: Unread, where: str, ignored: Collection[str] = ()
) -> None:
    """Count the keys of an object that hold something and are neither a record's nor `ignored`."""
    unread.keys(Node(None, None, "$", value), {*kind.__struct_encode_fields__, *ignored}, where)  # type: ignore[arg-type]


def _repaired(value: dict[str, Any], path: str, unread: Unread) -> dict[str, Any]:
    """A copy of an object in which the value at a path fits, or is left out and counted."""
    steps = [name or (int(index) if index.isdigit() else None) for name, index in _STEP.findall(path)]
    if None in steps:
        steps = steps[: steps.index(None)]
    if not steps:
        unread.add("odd record")
        return {}
    whole: Any = dict(value)
    inner = whole
    for step in steps[:-1]:
        held = inner[step]
        inner[step] = list(held) if isinstance(held, list) else dict(held)
        inner = inner[step]
    odd = inner[steps[-1]]
    if type(odd) is float and odd.is_integer():
        inner[steps[-1]] = int(odd)
        return whole  # type: ignore[no-any-return]
    del inner[steps[-1]]
    if odd is not None:
        unread.add(f"odd value of {'.'.join(str(step) for step in steps if isinstance(step, str))!r}")
    return whole  # type: ignore[no-any-return]


def time_of(value: Any, unread: Unread) -> float | None:
    """A time as seconds since the epoch: seconds, milliseconds, or a text in ISO 8601 (UTC where it names
    no zone). None for null; None and counted for anything else."""
    if value is None:
        return None
    if type(value) in (int, float):
        return float(value) / 1000 if value > _MILLISECONDS else float(value)
    try:
        read = datetime.fromisoformat(value)
    except (ValueError, TypeError):
        unread.add("time that cannot be read")
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def text(value: Any) -> str | None:
    """The value where it is a text with something in it; None for any other."""
    return value if isinstance(value, str) and value else None


def arguments(value: Any) -> Any:
    """A call's arguments: the decoded JSON, or the recorded text where it is none.

    >>> arguments('{"a": 1}'), arguments("ls"), arguments("null"), arguments([1])
    ({'a': 1}, 'ls', None, [1])
    """
    decoded = strict_json(value) if isinstance(value, str) else value
    return value if decoded is None and value != "null" else decoded


def dict_in(value: Any, *keys: str) -> dict[str, Any]:
    """The object below some keys; `{}` where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


# ---------------------------------------------------------------- blocks of a message


class Block(msgspec.Struct):
    """One block of a message in the form of Anthropic's interface."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: Any = None
    data: Any = None
    id: str | None = None
    name: str | None = None
    input: Any = None
    tool_use_id: str | None = None
    content: Any = None
    is_error: Any = None
    source: Any = None
    cache_control: Any = None
    citations: Any = None
    caller: Any = None
    server_name: Any = None
    title: Any = None
    context: Any = None


@dataclass
class Blocks:
    """The blocks of one content by their purpose."""

    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    results: list[Said] = field(default_factory=list)

    @property
    def content(self) -> Content:
        """What is shown: texts as one, other parts as parts."""
        parts = [part for part in self.parts if part != TextPart(text="")]
        texts_only = all(isinstance(part, TextPart) for part in parts)
        return text_of(tuple(parts)) if texts_only else tuple(parts)

    @property
    def reasoning(self) -> str | None:
        """The texts of thinking, a line each; None without any."""
        return "\n".join(filter(None, self.thoughts)) or None


_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_SHOWN = {"text", "image", "document", "audio", "container_upload"}


def add_blocks(blocks: Blocks, content: Any, document: Document, unread: Unread) -> None:
    """Sort a content, a text or a list of blocks in Anthropic's form, into blocks."""
    if isinstance(content, str):
        blocks.parts.append(TextPart(text=content))
        return
    if content is not None and not isinstance(content, list):
        unread.add("content that is neither text nor blocks")
        return
    for value in content or ():
        if isinstance(value, str):
            blocks.parts.append(TextPart(text=value))
        elif isinstance(value, dict):
            _add_block(blocks, value, document, unread)
        else:
            unread.add("block that is no object")


def _add_block(blocks: Blocks, value: dict[str, Any], document: Document, unread: Unread) -> None:
    kind = str(value.get("type"))
    block = typed(value, Block, unread, f"a block of type {kind!r}" if kind in _KNOWN else "")
    if block.type.endswith("tool_result"):
        blocks.results.append(_result(block, document, unread))
    elif block.type in _CALLS:
        blocks.calls.append(ToolCall(id=block.id or "", name=block.name or "unknown", arguments=block.input))
    elif block.type in ("thinking", "redacted_thinking"):
        blocks.thoughts.append(block.thinking or "")
        unread.add("thinking whose text is not recorded", not block.thinking)
    else:
        blocks.parts += parts_of([value], document, unread)


_KNOWN = {*_CALLS, *_SHOWN, "thinking", "redacted_thinking", "tool_result", "mcp_tool_result", "web_search_tool_result",
          "web_fetch_tool_result", "code_execution_tool_result"}  # fmt: skip


def parts_of(values: list[Any], document: Document, unread: Unread) -> list[Part]:
    """The parts of a content; what is no part is counted."""
    parts: list[Part] = []
    for value in values:
        source = dict_in(value, "source")
        if isinstance(value, dict) and value.get("type") == "document" and source.get("type") == "text":
            parts.append(TextPart(text=str(source.get("data"))))
            continue
        try:
            parts.append(part_of(Node(document, None, "$", value)))
        except TraceError:
            unread.kind("block", value.get("type") if isinstance(value, dict) else type(value).__name__)
    return parts


def _result(block: Block, document: Document, unread: Unread) -> Said:
    content = block.content
    seen: Content = "" if content is None else as_text(content)
    if isinstance(content, list):
        kinds = {str(dict_in(part).get("type")) for part in content}
        readable = kinds <= _SHOWN
        seen = simple(tuple(parts_of(content, document, unread))) if readable else compact_json(content)
    failed = block.is_error is True or str(dict_in(content).get("type")).endswith("_error")
    lines = text_of(seen).strip().splitlines()
    error = lines[0] if failed and lines else None
    return Said("tool", seen, call_id=block.tool_use_id or "", failed=failed, error=error)


def claude_code_run(result: Any, seen: str) -> Ran:
    """A tool's run as Claude Code records it beside the text that the model saw (`toolUseResult`): the whole
    output where it is longer, the duration, and if it was cut."""
    result = dict_in(result)
    whole = "\n".join(output for key in ("stdout", "stderr") if (output := text(result.get(key))))
    times = (result.get(key) for key in ("durationMs", "totalDurationMs"))
    took = next((value / 1000 for value in times if type(value) in (int, float)), None)
    longer = len(whole) > len(seen)
    cut = cut_in(seen) is not None or result.get("truncated") is True
    return Ran(whole if longer else None, duration_s=took, cut=cut and not longer)


# ---------------------------------------------------------------- usage


def usage_beside_cache(
    fresh: int | None, output: int | None, read: int | None, written: int | None, written_1h: int | None = None
) -> Usage | None:
    """The usage of an interface that counts cached and written tokens beside the input; None where no
    input is given. `written_1h` are those of `written` that the one-hour cache keeps."""
    if fresh is None:
        return None
    return Usage(
        prompt_tokens=fresh + (read or 0) + (written or 0),
        completion_tokens=output or 0,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        cache_write_1h_tokens=written_1h or None,
    )
