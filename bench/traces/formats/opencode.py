"""Sessions of opencode: what `opencode export` writes, and the session files of its storage, each with the
messages and parts that lie in the folders beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...model import ContextEdit, ContextReset, Part, TextPart, ToolCall, Usage
from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, PartOf, Traces, certain_if, dicts, register
from ..content import Blocks
from ..parts import Unread, picture, simple
from ..records import dict_in, text, time_of, typed
from ..steps import Ran, ReadMessage, Steps
from ..usage import usage_in

_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_SENT = {"compaction": "What did we do so far?", "subtask": "The following tool was executed by the user"}
"""The texts as which parts of a person's message are sent to the model."""
_NOT_IN_PROMPTS = {"step-start", "step-finish", "snapshot", "patch", "retry", "agent"}
_TEXT_FILES = ("text/plain", "application/x-directory")
"""Files whose text stands in a part of its own."""
_NAME = re.compile(r"(?:msg|prt)_\w+\.json")


class Times(msgspec.Struct, frozen=True):
    """Milliseconds since the epoch."""

    created: float | None = None
    start: float | None = None
    end: float | None = None
    compacted: float | None = None


class State(msgspec.Struct, frozen=True):
    """The state of a tool call."""

    status: str | None = None
    input: Any = None
    output: str = ""
    error: str | None = None
    metadata: dict[str, Any] = {}
    time: Times = Times()
    attachments: list[Any] = []


class Piece(msgspec.Struct):
    """One part of a message."""

    type: str | None = None
    text: str = ""
    ignored: bool | None = None
    callID: str | None = None  # noqa: N815
    tool: str = "unknown"
    state: State = State()
    tokens: dict[str, Any] = {}
    reason: str | None = None
    cost: float | None = None
    mime: str | None = None
    url: str = ""


class Info(msgspec.Struct):
    """A message without its parts."""

    role: str | None = None
    time: Times = Times()
    modelID: str | None = None  # noqa: N815
    summary: Any = None
    tokens: dict[str, Any] = {}
    finish: str | None = None
    cost: float | None = None
    error: Any = None
    system: str | None = None


@register("reader", "opencode")
class Opencode:
    """One session a file. Each step of an assistant's message is a turn with its calls; the results follow it.

    Results whose output opencode cleared later (`time.compacted`) are a ContextEdit before the first call after
    that. A message of compaction and its summary are turns, and then a ContextReset that keeps those two. A call
    that was interrupted failed. The cost is in `meta`. A sub-agent's session is a file of its own. The SQLite
    storage of later versions is read by way of `opencode export`.

    Source: github.com/sst/opencode, `packages/opencode/src/session/message-v2.ts` (WithParts,
    toModelMessage), `src/cli/cmd/export.ts`
    """

    keeps = Keeps(
        results="as shown",
        also=("cuts", "usage", "times", "errors", "reasoning", "resets", "model"),
        never="the system prompt and tool definitions, how the run ended, the whole output of a truncated result, which is a file of its own",
        tested="opencode 1.1 exports and storage, written by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence:
        head = document.first if isinstance(document.head, dict) else {}
        if _NAME.fullmatch(document.path.name) and "sessionID" in head:
            return Confidence.CERTAIN
        if isinstance(head.get("messages"), list):
            listed = [item for item in head["messages"] if isinstance(item, dict)]
            parts = any(isinstance(item.get("parts"), list) and "role" in dict_in(item, "info") for item in listed)
            return certain_if("id" in dict_in(head, "info") and parts)
        session = isinstance(head.get("id"), str) and {"projectID", "directory", "time"} <= head.keys()
        return certain_if(session and str(head.get("id")).startswith("ses_"))

    def read(self, document: Document) -> Traces:
        """The file's one session; its id and title are in `meta`. PartOf for a message or a part of one."""
        head = document.first
        if _NAME.fullmatch(document.path.name) and "sessionID" in head:
            session = f"belongs to session {head['sessionID']}"
            raise PartOf(f"{document.name}: {session} — name the session's file, or export it")
        run = _Session()
        info = dict_in(head, "info") or head
        if isinstance(head.get("messages"), list):
            for item in dicts(head["messages"]):
                run.message(dict_in(item, "info"), dicts(item.get("parts")))
        else:
            for message, parts in _stored(document, str(head.get("id")), run.unread):
                run.message(message, parts)
        run.meta |= {"session_id": str(info.get("id"))}
        run.meta |= {key: info[key] for key in ("title", "version", "directory", "parentID") if info.get(key)}
        if run.cost:
            run.meta["cost_usd"] = run.cost
        yield run.trace(document, "opencode")


def _stored(document: Document, session: str, unread: Unread) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The messages that lie in `message/SESSION`, each with its parts in `part/MESSAGE`, beside `session`."""
    storage = document.path.parent.parent.parent
    for path in sorted((storage / "message" / session).glob("*.json")):
        parts = sorted((storage / "part" / path.stem).glob("*.json"))
        yield _object(path, unread), [_object(part, unread) for part in parts]


def _object(path: Path, unread: Unread) -> dict[str, Any]:
    try:
        value = Document(path).json
    except TraceError:
        value = None
    unread.add("file of a message or a part that cannot be read", not isinstance(value, dict))
    return value if isinstance(value, dict) else {}


class _Session(Steps):
    """One session on its way to a trace: its cost, and the results that are cleared later."""

    def __init__(self) -> None:
        super().__init__()
        self.cost = 0.0
        self.cleared: list[tuple[float, int]] = []  # when, and which step
        self.asked: int | None = None  # the message that asks for compaction

    def message(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Add a message as steps."""
        known = typed(info, Info, self.unread)
        pieces = [typed(part, Piece, self.unread) for part in parts]
        if known.role == "user":
            self._user(known, pieces, time_of(known.time.created, self.unread))
        elif known.role == "assistant":
            self._assistant(known, pieces, time_of(known.time.created, self.unread))
        else:
            self.unread.kind("message of a role", known.role)

    def _user(self, info: Info, pieces: list[Piece], t: float | None) -> None:
        if info.system:
            self.say(ReadMessage("system", info.system), t=t)
        content: list[Part] = []
        for piece in pieces:
            if piece.type == "text" and piece.ignored is not True:
                content.append(TextPart(text=piece.text))
            elif piece.type == "file" and piece.mime not in _TEXT_FILES:
                content.append(picture(piece.url))
            elif piece.type in _SENT:
                content.append(TextPart(text=_SENT[piece.type]))
            elif piece.type not in ("text", "file", *_NOT_IN_PROMPTS):
                self.unread.kind("part", piece.type)
        if content:
            index = self.say(ReadMessage("user", simple(tuple(content))), t=t)
            self.asked = index if any(piece.type == "compaction" for piece in pieces) else self.asked

    def _assistant(self, info: Info, pieces: list[Piece], t: float | None) -> None:
        if info.error is not None and not any(piece.type in ("text", "tool") for piece in pieces):
            self.unread.add("answer that failed")
            return
        if info.time.created is not None:
            self._clear(info.time.created)
        steps = _steps_of(pieces)
        alone = Piece(tokens=info.tokens, reason=info.finish, cost=info.cost) if len(steps) == 1 else Piece()
        for step in steps:
            end = next((piece for piece in step if piece.type == "step-finish"), alone)
            self.cost += (alone.cost if end.cost is None else end.cost) or 0
            self._turn(
                step,
                t=t,
                model=info.modelID,
                finish_reason=end.reason or alone.reason,
                usage=_usage(end.tokens or alone.tokens, self.unread),
            )
        if info.summary is True and self.asked is not None:
            self.add(ContextReset(index=self.index, t=t, kept=tuple(range(self.asked, self.index))))
            self.asked = None

    def _turn(self, pieces: list[Piece], **about: Any) -> None:
        """Add what one model call gave, and the results of its calls."""
        blocks, results = Blocks(), list[tuple[str, State]]()
        for piece in pieces:
            if piece.type == "text":
                blocks.parts.append(TextPart(text=piece.text))
            elif piece.type == "reasoning":
                blocks.thoughts.append(piece.text)
                self.unread.add("reasoning whose text is not recorded", not piece.text)
            elif piece.type == "tool":
                call_id = piece.callID or f"call{self.index}.{len(results)}"
                blocks.calls.append(ToolCall(id=call_id, name=piece.tool, arguments=piece.state.input))
                results.append((call_id, piece.state))
            elif piece.type not in _NOT_IN_PROMPTS:
                self.unread.kind("part", piece.type)
        self.say(ReadMessage("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning), **about)
        for call_id, state in results:
            self._result(call_id, state)

    def _result(self, call_id: str, state: State) -> None:
        times, failed = state.time, state.status != "completed"
        seen = (state.error or _INTERRUPTED) if failed else state.output
        took = None if times.start is None or times.end is None else round((times.end - times.start) / 1000, 6)
        ran = Ran(
            failed=failed,
            error=seen if failed else None,
            t=time_of(times.end, self.unread),
            duration_s=took,
            cut=state.metadata.get("truncated") is True,
        )
        pictures = [picture(url) for held in state.attachments if (url := text(dict_in(held).get("url")))]
        index = self.say(ReadMessage("tool", simple((TextPart(text=seen), *pictures)), call_id=call_id, ran=ran))
        if times.compacted is not None:
            self.cleared.append((times.compacted, index))

    def _clear(self, now: float) -> None:
        """Add the clearing of results that happened before a time."""
        due = [(when, index) for when, index in self.cleared if when <= now]
        if due:
            self.cleared = [item for item in self.cleared if item not in due]
            shown, when = {index: _CLEARED for _, index in due}, max(due)[0]
            self.add(ContextEdit(index=self.index, t=time_of(when, self.unread), shown=shown))


def _steps_of(pieces: list[Piece]) -> list[list[Piece]]:
    """The parts of a message by the model call that they came from."""
    steps: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.type == "step-start" and any(known.type in ("text", "tool", "reasoning") for known in steps[-1]):
            steps.append([])
        steps[-1].append(piece)
    return steps


def _usage(tokens: dict[str, Any], unread: Unread) -> Usage | None:
    """The usage of a call, whose `input` is what no cache held; None where all is 0."""
    cache = dict_in(tokens, "cache")
    beside = {"cache_read_input_tokens": cache.get("read"), "cache_creation_input_tokens": cache.get("write")}
    usage = usage_in({**tokens, **beside}, unread)
    return usage if usage and usage.prompt_tokens + usage.completion_tokens else None
