"""Texts that OpenHands shows the model of tools and their observations, shortened as its SDK does."""

from __future__ import annotations

import hashlib

from ..model import Part, TextPart
from .documents import Node
from .nodes import at, only_text
from .parts import part_of

_CLIPPED = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content (truncated part starts around"
    " line {line})."
)
_TOOL_TEXT = 50_000  # characters of any tool's text in a prompt
_LIMITS = {"TerminalObservation": (30_000, "terminal"), "BrowserObservation": (_TOOL_TEXT, "browser")}
_PICTURES = {"/9j/": "image/jpeg", "iVBORw0KGgo": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_TASK = {"Task ID": "task_id", "Subagent": "subagent", "Status": "status"}


def clipped(text: str, limit: int, folder: str | None = None, prefix: str = "") -> str:
    """Cut the middle out of a text that is longer than the limit; with a folder, the notice names the file that holds the whole.

    >>> text = clipped("a" * 100 + "b" * 100, 150)
    >>> len(text), text[:18], text[-18:]
    (150, 'aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbb')
    """
    if len(text) <= limit:
        return text
    notice = f"{_CLIPPED}</NOTE>"
    head = (limit - len(notice) + 1) // 2
    if folder:
        name = f"{prefix}_output_{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}.txt"
        line = len(text[:head].splitlines()) + 1
        notice = f"{_CLIPPED}{_SAVED.format(path=f'{folder}/{name}', line=line)}</NOTE>"
    room = max(limit - len(notice), 0)
    head = min(head, room)
    return text[:head] + notice[:limit] + (text[head - room :] if room > head else "")


def shown_of(observation: Node, extended: list[Node]) -> tuple[tuple[Part, ...], str, str]:
    """Return what the model was shown of an observation, and of what the agent's context added to it: the parts, their text before any was
    shortened, and the tool's own output. TraceError for content that is neither text nor picture."""
    kind, content = observation["kind"].text_or_none() or "", observation["content"]
    parts = (TextPart(text=content.text()),) if isinstance(content.value, str) else parts_of(content.items())
    texts = _texts(parts)
    own = "".join(texts)
    if kind == "TerminalObservation":
        texts = [terminal(observation["metadata"], own)]
    elif kind == "BrowserObservation":
        texts = [own] if own else []
    before = []
    if kind == "TaskObservation":
        before.append("\n".join(f"{label}: {observation[key].value}" for label, key in _TASK.items()))
    if observation["is_error"].value:
        before.append("[An error occurred during execution.]\n")
    after = _texts(parts_of(extended))
    limit, prefix = _LIMITS.get(kind, (_TOOL_TEXT, ""))
    folder = only_text(observation["full_output_save_dir"]) if prefix else None
    cut = [clipped(clipped(text, limit, folder, prefix), _TOOL_TEXT) for text in texts]
    pictures: list[Part] = [part for part in parts if not isinstance(part, TextPart)]
    if screenshot := only_text(observation["screenshot_data"]):
        kind = next((kind for start, kind in _PICTURES.items() if screenshot.startswith(start)), "image/png")
        pictures.append(_picture(observation, f"data:{kind};base64,{screenshot}"))
    shown = [TextPart(text=text) for text in (*before, *cut, *after)]
    return (*shown, *pictures), "\n".join((*before, *texts, *after)), own


def _texts(parts: tuple[Part, ...]) -> list[str]:
    return [part.text for part in parts if isinstance(part, TextPart)]


def parts_of(nodes: list[Node]) -> tuple[Part, ...]:
    """Return the parts of a content; a picture block may hold several."""
    found: list[Part] = []
    for node in nodes:
        pictures = isinstance(node.value, dict) and node["type"].value == "image"
        found += [_picture(node, url.text()) for url in node["image_urls"].items()] if pictures else [part_of(node)]
    return tuple(found)


def _picture(node: Node, url: str) -> Part:
    return part_of(node.made({"type": "image_url", "image_url": url}))


def terminal(metadata: Node, output: str) -> str:
    """Return a command's output with what is shown around it: folder, interpreter, exit code."""
    text = f"{only_text(at(metadata, 'prefix')) or ''}{output}{only_text(at(metadata, 'suffix')) or ''}"
    for label, key in (("Current working directory", "working_dir"), ("Python interpreter", "py_interpreter_path")):
        value = only_text(at(metadata, key))
        text += f"\n[{label}: {value}]" if value else ""
    code = at(metadata, "exit_code").value
    return text + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")
