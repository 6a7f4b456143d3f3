"""Sessions of opencode: what `opencode export` writes, and the session files of its storage, each with the
messages and parts that lie in the folders beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ...model import ContextEdit, ContextReset, Part, TextPart, ToolCall, Usage
from ...model.errors import TraceError
from .. import Confidence, Document, Keeps, PartOf, Traces, certain_if, register
from ..content import Blocks
from ..markers import cut_in
from ..parts import picture, simple
from ..records import dict_in, text, time_of, typed
from ..steps import Ran, Said, Steps

_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_ASKED = "What did we do so far?"
"""How the person's message that asks for compaction is shown to the model."""
_NOT_IN_PROMPTS = {"step-start", "step-finish", "snapshot", "patch", "retry", "agent"}
_NAME = re.compile(r"(?:msg|prt)_\w+\.json")

Count = Annotated[int, msgspec.Meta(ge=0)]
Message = tuple[dict[str, Any], list[dict[str, Any]]]
"""A message's `info` and its parts, in order."""


class Cache(msgspec.Struct):
    """Cached tokens of a call."""

    read: Count | None = None
    write: Count | None = None


class Tokens(msgspec.Struct):
    """Tokens of a call: `input` is what no cache held; `total` is newer than the rest."""

    input: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    total: Count | None = None
    cache: Cache | None = None


class Times(msgspec.Struct):
    """Milliseconds since the epoch."""

    created: float | None = None
    start: float | None = None
    end: float | None = None
    compacted: float | None = None


class State(msgspec.Struct):
    """The state of a tool call."""

    status: str | None = None
    input: Any = None
    output: str | None = None
    error: str | None = None
    metadata: Any = None
    time: Times | None = None
    attachments: list[Any] = []


class Piece(msgspec.Struct):
    """One part of a message."""

    type: str | None = None
    text: str | None = None
    ignored: bool | None = None
    callID: str | None = None  # noqa: N815
    tool: str | None = None
    state: State | None = None
    tokens: Tokens | None = None
    reason: str | None = None
    cost: float | None = None
    mime: str | None = None
    url: str | None = None


class Info(msgspec.Struct):
    """What is known of a message."""

    role: str | None = None
    time: Times | None = None
    modelID: str | None = None  # noqa: N815
    summary: Any = None
    tokens: Tokens | None = None
    finish: str | None = None
    cost: float | None = None
    error: Any = None
    system: Any = None


@register("reader", "opencode")
class Opencode:
    """One session a file. Each step of an assistant's message is a turn with its calls; the results follow it.

    Results whose output opencode cleared later (`time.compacted`) are a ContextEdit before the first call after that. A message of
    compaction and its summary are turns, and then a ContextReset that keeps those two. A call that was interrupted failed. Costs by step are
    in `meta`. A sub-agent's session is a file of its own. The SQLite storage of later versions is read by way of `opencode export`.

    Source: github.com/sst/opencode, `packages/opencode/src/session/message-v2.ts` (WithParts, toModelMessage), `src/cli/cmd/export.ts`
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
            raise PartOf(
                f"{document.name}: belongs to session {head['sessionID']} — name the session's file, or export it"
            )
        run = _Session()
        exported = isinstance(head.get("messages"), list)
        info = dict_in(head, "info") if exported else head
        for message in _exported(head["messages"]) if exported else _stored(document, str(head.get("id")), run):
            run.message(*message)
        run.meta |= {"session_id": str(info.get("id"))}
        run.meta |= {key: info[key] for key in ("title", "version", "directory", "parentID") if info.get(key)}
        if run.costs:
            run.meta["costs_usd"] = run.costs
        yield run.trace(document, "opencode")


def _exported(messages: list[Any]) -> Iterator[Message]:
    for item in messages:
        parts = item.get("parts") if isinstance(item, dict) else None
        yield (
            dict_in(item, "info"),
            [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [],
        )


def _stored(document: Document, session: str, run: _Session) -> Iterator[Message]:
    """The messages that lie in `message/SESSION` and their parts in `part/MESSAGE`, beside `session`."""
    storage = document.path.parent.parent.parent
    for path in sorted((storage / "message" / session).glob("*.json")):
        info = _object(path, run)
        parts = sorted((storage / "part" / path.stem).glob("*.json"))
        yield info, [_object(part, run) for part in parts]


def _object(path: Path, run: _Session) -> dict[str, Any]:
    try:
        value = Document(path).json
    except TraceError:
        value = None
    run.unread.add("file of a message or a part that cannot be read", not isinstance(value, dict))
    return value if isinstance(value, dict) else {}


class _Session(Steps):
    """One session on its way to a trace: the results that are cleared later, and costs by step."""

    def __init__(self) -> None:
        super().__init__()
        self.costs: dict[str, float] = {}
        self.cleared: list[tuple[float, int]] = []  # when, and which step
        self.asked: int | None = None  # the message that asks for compaction

    def message(self, info: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Add a message as steps."""
        known = typed(info, Info, self.unread)
        pieces = [typed(part, Piece, self.unread) for part in parts]
        created = known.time.created if known.time else None
        if known.role == "user":
            self._user(known, pieces, time_of(created, self.unread))
        elif known.role == "assistant":
            self._assistant(known, pieces, created)
        else:
            self.unread.kind("message of a role", known.role)

    def _user(self, info: Info, pieces: list[Piece], t: float | None) -> None:
        if system := text(info.system):
            self.say(Said("system", system), t=t)
        content: list[Part] = []
        for piece in pieces:
            if piece.type == "text" and piece.ignored is not True:
                content.append(TextPart(text=piece.text or ""))
            elif piece.type == "file" and piece.mime not in ("text/plain", "application/x-directory"):
                content.append(picture(piece.url or ""))
            elif piece.type == "compaction":
                content.append(TextPart(text=_ASKED))
            elif piece.type == "subtask":
                content.append(TextPart(text="The following tool was executed by the user"))
            elif piece.type not in ("text", "file", *_NOT_IN_PROMPTS):
                self.unread.kind("part", piece.type)
        if content:
            index = self.say(Said("user", simple(tuple(content))), t=t)
            self.asked = index if any(piece.type == "compaction" for piece in pieces) else self.asked

    def _assistant(self, info: Info, pieces: list[Piece], created: float | None) -> None:
        steps = _steps_of(pieces)
        shown = [piece for piece in pieces if piece.type in ("text", "tool")]
        if info.error is not None and not shown:
            self.unread.add("answer that failed")
            return
        if created is not None:
            self._clear(created)
        for step in steps:
            finish = next((piece for piece in step if piece.type == "step-finish"), None)
            alone = len(steps) == 1
            tokens = (
                finish.tokens if finish is not None and finish.tokens is not None else info.tokens if alone else None
            )
            reason = finish.reason if finish is not None and finish.reason else info.finish if alone else None
            cost = finish.cost if finish is not None and finish.cost is not None else info.cost if alone else None
            index = self._turn(step, info.modelID, reason, _usage(tokens), time_of(created, self.unread))
            if cost:
                self.costs[str(index)] = cost
        if info.summary is True and self.asked is not None:
            kept = tuple(range(self.asked, self.index))
            self.add(ContextReset(index=self.index, t=time_of(created, self.unread), kept=kept))
            self.asked = None

    def _turn(
        self, pieces: list[Piece], model: str | None, reason: str | None, usage: Usage | None, t: float | None
    ) -> int:
        blocks, states = Blocks(), list[tuple[ToolCall, State]]()
        for piece in pieces:
            if piece.type == "text":
                blocks.parts.append(TextPart(text=piece.text or ""))
            elif piece.type == "reasoning":
                blocks.thoughts.append(piece.text or "")
                self.unread.add("reasoning whose text is not recorded", not piece.text)
            elif piece.type == "tool":
                state = piece.state or State()
                call = ToolCall(
                    id=piece.callID or f"call{self.index}.{len(states)}",
                    name=piece.tool or "unknown",
                    arguments=state.input,
                )
                blocks.calls.append(call)
                states.append((call, state))
            elif piece.type not in _NOT_IN_PROMPTS:
                self.unread.kind("part", piece.type)
        turn = Said("assistant", blocks.content, tuple(blocks.calls), blocks.reasoning)
        index = self.say(turn, t=t, model=model, finish_reason=reason, usage=usage)
        for call, state in states:
            self._result(call, state)
        return index

    def _result(self, call: ToolCall, state: State) -> None:
        times, failed = state.time or Times(), state.status != "completed"
        shown = (state.error or _INTERRUPTED if failed else state.output) or ""
        took = None if times.start is None or times.end is None else round((times.end - times.start) / 1000, 6)
        truncated = dict_in(state.metadata).get("truncated") is True or cut_in(shown) is not None
        ran = Ran(
            failed=failed,
            error=shown if failed else None,
            t=time_of(times.end, self.unread),
            duration_s=took,
            cut=truncated,
        )
        pictures = [picture(str(held.get("url"))) for held in state.attachments if isinstance(held, dict)]
        content = simple((TextPart(text=shown), *pictures)) if pictures else shown
        self.ran[call.id] = ran
        index = self.say(Said("tool", content, call_id=call.id))
        if times.compacted is not None:
            self.cleared.append((times.compacted, index))

    def _clear(self, now: float) -> None:
        """Add the clearing of results that happened before a time."""
        if shown := {index: _CLEARED for when, index in self.cleared if when <= now}:
            when = max(when for when, _ in self.cleared if when <= now)
            self.add(ContextEdit(index=self.index, t=time_of(when, self.unread), shown=shown))
            self.cleared = [item for item in self.cleared if item[0] > now]


def _steps_of(pieces: list[Piece]) -> list[list[Piece]]:
    """The parts of a message by the model call that they came from."""
    steps: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.type == "step-start" and any(known.type in ("text", "tool", "reasoning") for known in steps[-1]):
            steps.append([])
        steps[-1].append(piece)
    return steps


def _usage(tokens: Tokens | None) -> Usage | None:
    if tokens is None or tokens.input is None:
        return None
    read, written = (tokens.cache.read, tokens.cache.write) if tokens.cache else (None, None)
    prompt = tokens.input + (read or 0) + (written or 0)
    made = (tokens.output or 0) if tokens.total is None else max(tokens.output or 0, tokens.total - prompt)
    if prompt + made == 0:
        return None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=made,
        cached_prompt_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=tokens.reasoning,
    )
