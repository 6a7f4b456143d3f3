"""Contents of OpenHands: blocks as its SDK writes them, and results as it showed them to the model."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from ..model import Content, Part, TextPart
from .content import Blocks
from .parts import Unread, simple
from .records import dict_in, text

_NOTICE = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you."
_SAVED = (
    " The complete output has been saved to {path} - you can use other tools to view the full content"
    " (truncated part starts around line {line})."
)
_ANY_TOOL = 50_000  # characters of a text in a prompt
_LIMITS = {"TerminalObservation": (30_000, "terminal"), "BrowserObservation": (_ANY_TOOL, "browser")}
_TASK = {"Task ID": "task_id", "Subagent": "subagent", "Status": "status"}
_PLACE = {"Current working directory": "working_dir", "Python interpreter": "py_interpreter_path"}


class Observed(NamedTuple):
    """An observation as the model saw it, the same before it was clipped, and the tool's own output."""

    content: Content
    full: str
    output: str


def blocks_of(values: Any, unread: Unread) -> Blocks:
    """The blocks of a content; one of pictures may hold several."""
    blocks = Blocks()
    for value in values if isinstance(values, list) else [values]:
        urls = value.get("image_urls") if isinstance(value, dict) else None
        pictures = [{"type": "image_url", "image_url": url} for url in urls or ()] if isinstance(urls, list) else value
        blocks.add_all(pictures, unread)
    return blocks


def observed(observation: dict[str, Any], extended: Any, unread: Unread) -> Observed:
    """An observation as its agent showed it; `extended` is what the agent's context added."""
    kind = str(observation.get("kind"))
    blocks = blocks_of(observation.get("content"), unread)
    texts = [part.text for part in blocks.parts if isinstance(part, TextPart)]
    pictures: list[Part] = [part for part in blocks.parts if not isinstance(part, TextPart)]
    output = "".join(texts)
    if kind in _LIMITS:
        texts = [terminal_text(dict_in(observation, "metadata"), output)]
    if kind == "TaskObservation":
        texts.insert(0, "\n".join(f"{label}: {observation.get(key)}" for label, key in _TASK.items()))
    if observation.get("is_error"):
        texts.insert(0, "[An error occurred during execution.]\n")
    if screenshot := text(observation.get("screenshot_data")):
        image = {"type": "image_url", "image_url": f"data:image/png;base64,{screenshot}"}
        pictures += Blocks().add_all([image], unread).parts
    limit, name = _LIMITS.get(kind, (_ANY_TOOL, ""))
    folder = text(observation.get("full_output_save_dir")) if name else None
    texts = list(filter(None, texts))
    clips = [clipped(clipped(one, limit, folder, name), _ANY_TOOL) for one in texts]
    added = [part.text for part in blocks_of(extended, unread).parts if isinstance(part, TextPart)]
    seen = TextPart(text="\n".join([*clips, *added]))
    return Observed(simple((seen, *pictures)), "\n".join([*texts, *added]), output)


def clipped(text: str, limit: int, folder: str | None = None, name: str = "") -> str:
    """A text without its middle where it is longer than the limit; the notice names the file in `folder`.

    >>> text = clipped("a" * 100 + "b" * 100, 150)
    >>> len(text), text[:18], text[-18:]
    (150, 'aaaaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbbbb')
    """
    if len(text) <= limit:
        return text
    notice = f"{_NOTICE}</NOTE>"
    head = (limit - len(notice) + 1) // 2
    if folder:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
        line = len(text[:head].splitlines()) + 1
        saved = _SAVED.format(path=f"{folder}/{name}_output_{digest}.txt", line=line)
        notice = f"{_NOTICE}{saved}</NOTE>"
    room = max(limit - len(notice), 0)
    head = min(head, room)
    return text[:head] + notice[:limit] + (text[head - room :] if room > head else "")


def terminal_text(metadata: dict[str, Any], output: str) -> str:
    """A command's output with the folder, the interpreter and the exit code that are shown around it."""
    seen = f"{text(metadata.get('prefix')) or ''}{output}{text(metadata.get('suffix')) or ''}"
    for label, key in _PLACE.items():
        if value := text(metadata.get(key)):
            seen += f"\n[{label}: {value}]"
    code = metadata.get("exit_code")
    return seen + (f"\n[Command finished with exit code {code}]" if code not in (None, -1) else "")


def seconds_between(start: float | None, end: float | None) -> float | None:
    """The seconds from one time to another; None where one is not known, or they are not in order."""
    return None if start is None or end is None or end < start else round(end - start, 6)
