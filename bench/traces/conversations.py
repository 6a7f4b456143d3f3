"""Files of conversations: a list of messages, an object that holds one, a list of such objects, or JSON Lines of either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..model import Trace
from .decoded import as_dict, dicts
from .documents import Document, Node, values_of
from .steps import Steps

Conversations = Iterator[tuple[Node | None, list[Node]]]


def records(document: Document) -> list[dict[str, Any]]:
    """The objects that a file is a list or JSON Lines of, or the one it is, as far as they can be read: to tell a format by."""
    if document.problem is not None:
        return []
    if document.is_json_lines:
        return dicts(document.readable_lines)
    return dicts(document.head if isinstance(document.head, list) else [document.head])


def sample(document: Document) -> tuple[set[str], list[Any]] | None:
    """The keys around a file's first conversation, and its messages as far as they can be read: to tell a format by. None where there is none."""
    head = document.head
    if isinstance(head, list) and "messages" in document.first:
        head = document.first
    if isinstance(head, list):
        return set(), head
    if not isinstance(head, dict):
        return None
    if isinstance(head.get("messages"), list):
        return set(head), head["messages"]
    return set(), document.readable_lines


def conversations(document: Document) -> Conversations:
    """Each conversation of a file: the object around its messages, if there is one, and the messages. TraceError for a file that holds none."""
    items = values_of(document)
    if items and items[0].has("messages"):
        yield from ((item, item["messages"].items()) for item in items)
    elif document.is_json_lines or isinstance(document.json, list) or items[0].has("role"):
        yield None, items
    else:
        raise items[0].fail('expected a list of messages or {"messages": […]} — not a chat')


def chats(
    document: Document,
    reader: str,
    begin: Callable[[Steps, Node], None],
    say: Callable[[Steps, list[Node], str | None], None],
) -> Iterator[Trace]:
    """Each conversation of a file as a trace, with its own id and metadata if it has these. `begin` reads what stands around the messages, `say`
    the messages, given the model that is named around them."""
    for frame, messages in conversations(document):
        if not messages:
            raise (frame or document.node()).fail("expected messages, got none — nothing was recorded")
        steps, said, model = Steps(), {}, None
        if frame is not None:
            own_id, meta, model = frame["id"].value, frame["metadata"].value, frame["model"].text_or_none()
            said = {"id": "" if own_id is None else str(own_id), "meta": as_dict(meta)}
            begin(steps, frame)
        say(steps, messages, model)
        yield steps.trace(document, reader, frame or messages[0], **said)
