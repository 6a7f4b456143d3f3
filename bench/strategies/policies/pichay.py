"""Compactor `pichay`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from ...model import Message
from ...plugins.registry import register
from .. import Window
from ..histories import Count, PromptMessages, View, state
from . import callers, exchanged, path_of, tool_name

_FAILED = re.compile(r'^\s*(?:Error|Traceback)|<returncode>\s*[^0\s]|"returncode":\s*[^0\s]|"is_success":\s*false')


@register("compactor", "pichay", handles=r"tensor:[0-9a-f]{8}")
class Pichay(View):
    """Results without error, `age` user messages old and of `min_bytes` or more, become a handle; reading an unchanged file again pins it.

    A view that remembers what it took out. A user message is all that comes between two answers of the model, results included. A result of
    `read_tools` is a file, named by the argument `file_path` or `path`. A call for a file that was taken out is a fault: the file is pinned and
    its results are shown again, until a later reading gives another content. A result is an error where it begins with Error or Traceback, or holds
    a return code other than 0. The original's handle is `unknown` from the second prompt on; here it stays.

    Source: fsgeek/pichay, src/pichay/pager.py (compact_messages, PageStore) at 20ea5389; arXiv 2603.09023

    >>> Pichay(age=1).tried("call ls", "tool: " + "x" * 600, "assistant: ok", "user: go on")[:2]
    ['call ls', 'tool: [tensor:5130b33e — ls (600 bytes)]']
    """

    age: Count = 4
    min_bytes: Count = 500
    read_tools: tuple[str, ...] = ("Read", "read_file")
    _taken: set[str] = state(set)  # the calls whose results were taken out
    _behind: dict[str, str] = state(dict)  # by handle, its text
    _file_taken: dict[str, str] = state(dict)  # by path, the hash of what was taken out last
    _asked_again: dict[str, str] = state(dict)  # by path, the hash of what was missing when it was asked for
    _faults: set[str] = state(set)  # the calls that asked
    _pinned: dict[str, str] = state(dict)

    def resolve(self, handle: str) -> str | None:
        """Return the text of the result behind a handle; None for what is none."""
        return self._behind.get(handle)

    def view(self, window: Window) -> PromptMessages:
        messages, made = window.messages, callers(window.messages)
        paths = {key: path_of(call) if call.name in self.read_tools else None for key, (_, call) in made.items()}
        self._find_faults(messages, paths)
        self._unpin(messages, paths)
        turns = _turns_behind(messages)
        instead: dict[Message, Message] = {}
        for message in messages:
            if message.kind != "result" or _FAILED.search(message.text) or turns[message] < self.age:
                continue
            size, content = len(message.text.encode("utf-8", "surrogatepass")), _hash(message.text)
            path = paths.get(message.call_id or "")
            if size < self.min_bytes or (path is not None and self._stays(path, content)):
                continue
            if message.call_id and message.call_id not in self._taken:
                self._taken.add(message.call_id)
                self._file_taken |= {} if path is None else {path: content}
            self._behind[f"tensor:{content}"] = message.text
            what = path or tool_name(message, made) or "unknown"
            instead[message] = self.rewritten(message, f"[tensor:{content} — {what} ({size:,} bytes)]")
        return exchanged(messages, instead) if instead else None

    def _find_faults(self, messages: Sequence[Message], paths: Mapping[str, str | None]) -> None:
        for call_id in (call.id for message in messages for call in message.tool_calls):
            path = paths[call_id]
            if path in self._file_taken and call_id not in self._taken | self._faults:
                self._faults.add(call_id)
                self._asked_again[str(path)] = self._file_taken[str(path)]

    def _unpin(self, messages: Sequence[Message], paths: Mapping[str, str | None]) -> None:
        latest = {paths.get(m.call_id or ""): _hash(m.text) for m in messages if m.kind == "result"}
        for path, content in list(self._pinned.items()):
            if latest.get(path, content) != content:
                del self._pinned[path]
                self._asked_again.pop(path, None)

    def _stays(self, path: str, content: str) -> bool:
        if path not in self._pinned and self._asked_again.get(path) == content:
            self._pinned[path] = self._asked_again.pop(path)
        return path in self._pinned


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _turns_behind(messages: Sequence[Message]) -> dict[Message, int]:
    """Return for each message how many user messages come behind the one that it is in."""
    behind: dict[Message, int] = {}
    count, inside = -1, False
    for message in reversed(messages):
        talks = message.kind not in ("model", "system")
        count += talks and not inside
        inside = talks
        behind[message] = count
    return behind
