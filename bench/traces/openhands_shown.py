"""Texts that OpenHands shows the model of its tools' observations, shortened as its SDK does."""

from __future__ import annotations

import hashlib
from typing import Any

from ..model import Part, TextPart
from .content import part_of
from .parts import Unread, picture
from .records import dict_in, text

_CLIPPED = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content"
    " (truncated part starts around line {line})."
)
_TOOL_TEXT = 50_000  # characters of any tool's text in a prompt
_LIMITS = {"TerminalObservation": (30_000, "terminal"), "BrowserObservation": (_TOOL_TEXT, "browser")}
_TASK = {"Task ID": "task_id", "Subagent": "subagent", "Status": "status"}
_PLACE = {"Current working directory": "working_dir", "Python interpreter": "py_interpreter_path"}


def clipped(text: str, limit: int, folder: str | None = None, prefix: str = "") -> str:
    """Cut the middle out of a text that is longer than the limit; the notice names the file in `folder`.

    >>> text = clipped("a" * 100 + "b" * 100, 150)
    >>> len(text), text[:18], text[-18:]
    (150, 'aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbb')
    """
    if len(text) <= limit:
        return text
    notice = f"{_CLIPPED}</NOTE>"
    head = (limit - len(notice) + 1) // 2
    if folder:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
        path = f"{folder}/{prefix}_output_{digest}.txt"
        line = len(text[:head].splitlines()) + 1
        notice = f"{_CLIPPED}{_SAVED.format(path=path, line=line)}</NOTE>"
    room = max(limit - len(notice), 0)
    head = min(head, room)
    return text[:head] + notice[:limit] + (text[head - room :] if room > head else "")


def observation_shown(observation: dict[str, Any], extended: list[Any], unread: Unread) -> tuple[list[Part], str, str]:
    """The parts that the model was shown of an observation, their full text, and the tool's own output.

    `extended` is what the agent's context added.
    """
    kind, given = observation.get("kind"), observation.get("content")
    parts = parts_of(given if isinstance(given, list) else [given or ""], unread)
    texts = _texts(parts)
    own = "".join(texts)
    if kind == "TerminalObservation":
        texts = [terminal_text(dict_in(observation, "metadata"), own)]
    elif kind == "BrowserObservation":
        texts = [own] if own else []
    before = []
    if kind == "TaskObservation":
        before.append("\n".join(f"{label}: {observation.get(key)}" for label, key in _TASK.items()))
    if observation.get("is_error"):
        before.append("[An error occurred during execution.]\n")
    after = _texts(parts_of(extended, unread))
    limit, prefix = _LIMITS.get(str(kind), (_TOOL_TEXT, ""))
    folder = text(observation.get("full_output_save_dir")) if prefix else None
    short = [clipped(clipped(one, limit, folder, prefix), _TOOL_TEXT) for one in texts]
    pictures = [part for part in parts if not isinstance(part, TextPart)]
    if screenshot := text(observation.get("screenshot_data")):
        pictures.append(picture(f"data:image/png;base64,{screenshot}"))
    shown: list[Part] = [TextPart(text=one) for one in (*before, *short, *after)]
    return shown + pictures, "\n".join((*before, *texts, *after)), own


def _texts(parts: list[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, TextPart)]


def parts_of(values: list[Any], unread: Unread) -> list[Part]:
    """The parts of a content; a block of pictures may hold several."""
    parts: list[Part] = []
    for value in values:
        if isinstance(value, dict) and value.get("type") == "image":
            urls = value.get("image_urls")
            parts += [picture(url) for url in (urls if isinstance(urls, list) else ()) if text(url)]
        elif isinstance(value, str | dict):
            parts.append(part_of(value))
        else:
            unread.add("block that is no object", value is not None)
    return parts


def terminal_text(metadata: dict[str, Any], output: str) -> str:
    """A command's output with the folder, the interpreter and the exit code that are shown around it."""
    shown = f"{text(metadata.get('prefix')) or ''}{output}{text(metadata.get('suffix')) or ''}"
    for label, key in _PLACE.items():
        if value := text(metadata.get(key)):
            shown += f"\n[{label}: {value}]"
    code = metadata.get("exit_code")
    return shown + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")


def seconds_between(start: float | None, end: float | None) -> float | None:
    """The seconds from one time to another, to the microsecond; None where they are not known or not in order."""
    if start is None or end is None or end < start:
        return None
    return round(end - start, 6)
