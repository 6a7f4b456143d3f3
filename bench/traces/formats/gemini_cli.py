"""Sessions of Gemini CLI: the files below `~/.gemini/tmp/<project>/chats`, one a session, the histories that
`/chat save` writes, and what `--output-format stream-json` prints; Qwen Code writes them too."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ...model import ContextReset, TextPart, ToolCall, Usage, as_text, text_of
from .. import Confidence, Document, Keeps, Traces, certain_if, register
from ..content import Blocks
from ..markers import cut_in
from ..parts import Unread, picture, simple
from ..records import dict_in, objects_of, text, time_of, typed
from ..steps import Ran, Said, Steps

_TURNS = ("user", "gemini", "model")
_NOTES = ("info", "error", "warning")
"""Messages that the CLI showed to its user and not to the model."""
_PENDING = (None, "executing", "scheduled", "validating", "awaiting_approval")
_CALLS, _RESPONSES = ("functionCall", "function_call"), ("functionResponse", "function_response")
_WRAPPED = {"output", "result", "content", "error"}
"""Keys under which the interface wants a tool's text, since it takes objects only."""
_FIRST = 3

Count = Annotated[int, msgspec.Meta(ge=0)]


class Tokens(msgspec.Struct):
    """The tokens of a message: `input` holds the cached ones, `output` not the thoughts."""

    input: Count | None = None
    output: Count | None = None
    cached: Count | None = None
    thoughts: Count | None = None
    tool: Count | None = None
    total: Count | None = None


class UsageMetadata(msgspec.Struct, rename="camel"):
    """The usage of a line of Qwen Code's."""

    prompt_token_count: Count | None = None
    candidates_token_count: Count | None = None
    cached_content_token_count: Count | None = None
    thoughts_token_count: Count | None = None
    total_token_count: Count | None = None


class Call(msgspec.Struct):
    """A tool call with its own result."""

    id: str | None = None
    name: str | None = None
    args: Any = None
    result: Any = None
    status: str | None = None
    timestamp: Any = None


class Message(msgspec.Struct):
    """A message of a session."""

    id: str | None = None
    timestamp: Any = None
    type: str | None = None
    content: Any = None
    toolCalls: list[dict[str, Any]] = []  # noqa: N815
    thoughts: list[dict[str, Any]] = []
    model: str | None = None
    tokens: Tokens | None = None
    displayContent: Any = None  # noqa: N815


@register("reader", "gemini_cli")
class GeminiCLI:
    """One session a file: `{sessionId, messages}`, a line of JSON each in later versions and in Qwen Code's, a list of `{role, parts}` that was
    saved by hand, or what `--output-format stream-json` printed, a session each.

    A message of type `gemini` is a turn with its thoughts, its tokens and its `toolCalls`; each call holds its own result, of which an object
    around one text is that text. Calls that were cancelled or failed did not succeed. What the CLI told its user alone is counted. Going back
    (`$rewindTo`) is a ContextReset.

    Source: github.com/google-gemini/gemini-cli, `packages/core/src/services/chatRecordingTypes.ts` (ConversationRecord, RewindRecord)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "reasoning", "model"),
        never="the system prompt, tool definitions, how the run ended, results above what the model was sent",
        tested="sessions of Gemini CLI of October 2025, published files",
    )

    def sniff(self, document: Document) -> Confidence:
        objects = document.first_objects
        first = objects[0] if objects else {}
        if any(line.get("type") == "init" and "session_id" in line for line in objects[:_FIRST]):
            return Confidence.CERTAIN
        if isinstance(document.head, list) and not document.is_json_lines:
            saved = bool(objects) and all(
                isinstance(item.get("parts"), list) and "kind" not in item for item in objects
            )
            plain = saved and all(
                "type" not in part for item in objects for part in item["parts"] if isinstance(part, dict)
            )
            return Confidence.CERTAIN if plain else Confidence.NO
        if isinstance(dict_in(first, "message").get("parts"), list) and "sessionId" in first:
            return Confidence.CERTAIN
        known = "sessionId" in first and ("projectHash" in first or {"startTime", "lastUpdated"} <= first.keys())
        if not known:
            return Confidence.NO
        messages = objects if document.is_json_lines else first.get("messages")
        listed = [item.get("type") for item in messages if isinstance(item, dict)] if isinstance(messages, list) else []
        return certain_if(any(kind in _TURNS for kind in listed))

    def read(self, document: Document) -> Traces:
        """The file's session, or those of a stream; its id is in `meta`."""
        run = _Session()
        objects = objects_of(document, run.unread)
        if any(line.get("type") == "init" for line in objects[:_FIRST]):
            for number, lines in enumerate(_sessions(objects)):
                streamed = run if number == 0 else _Session()
                streamed.stream(lines)
                yield streamed.trace(document, "gemini_cli")
            return
        run.session(objects)
        yield run.trace(document, "gemini_cli")


def _sessions(lines: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The sessions of a stream, each from its `init` on; what is printed before the first is the first's."""
    runs: list[list[dict[str, Any]]] = [[]]
    for line in lines:
        if line.get("type") == "init" and any(known.get("type") == "init" for known in runs[-1]):
            runs.append([])
        runs[-1].append(line)
    return runs


class _Session(Steps):
    """One session on its way to a trace."""

    def session(self, objects: list[dict[str, Any]]) -> None:
        """Add a session that was kept or saved."""
        first = objects[0] if objects else {}
        if isinstance(dict_in(first, "message").get("parts"), list):  # Qwen Code's
            self.meta["session_id"] = first.get("sessionId")
            for line in objects:
                usage = typed(dict_in(line, "usageMetadata"), UsageMetadata, self.unread)
                tokens = Tokens(usage.prompt_token_count, usage.candidates_token_count, usage.cached_content_token_count,
                                usage.thoughts_token_count, None, usage.total_token_count)  # fmt: skip
                t = time_of(line.get("timestamp"), self.unread)
                self._keyed(dict_in(line, "message"), t, text(line.get("model")), _usage(tokens))
            return
        if isinstance(first.get("parts"), list):
            for message in objects:
                self._keyed(message)
            return
        self.meta |= {"session_id": first.get("sessionId"), "project": first.get("projectHash")}
        listed = first.get("messages")
        messages = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        by_id: dict[Any, dict[str, Any]] = {}
        for value in [*messages, *objects[1:]]:  # a line says a message anew
            by_id[str(value.get("id")) if "id" in value else len(by_id)] = value
        starts: dict[str, int] = {}
        for value in by_id.values():
            if "$rewindTo" in value:
                start = starts.get(str(value["$rewindTo"]))
                self.unread.add("mark of going back to a message that is not in the file", start is None)
                if start is not None:
                    self.add(ContextReset(index=self.index, kept=tuple(range(start))))
            elif "$set" in value:
                self.unread.add("messages set anew", isinstance(dict_in(value, "$set").get("messages"), list))
            elif not (value.keys() >= {"sessionId", "projectHash"}):
                starts[str(value.get("id"))] = self.index
                self._message(value)

    def _message(self, value: dict[str, Any]) -> None:
        if value.get("type") not in _TURNS:
            if value.get("type") in _NOTES:
                self.unread.add("message to the user alone")
            else:
                self.unread.kind("message", value.get("type"))
            return
        message = typed(value, Message, self.unread, "a message")
        t, blocks = time_of(message.timestamp, self.unread), self._blocks(message.content)
        if message.type == "user":
            self._say(blocks, "user", t)
            return
        named = [[text(thought.get(key)) or "" for key in ("subject", "description")] for thought in message.thoughts]
        calls = [typed(call, Call, self.unread) for call in message.toolCalls]
        made = tuple(ToolCall(id=call.id or "", name=call.name or "unknown", arguments=call.args) for call in calls)
        reasoning = "\n".join(map(": ".join, named)) or None
        said = Said("assistant", simple(tuple(blocks.parts)), made, reasoning)
        self.say(said, t=t, model=message.model, usage=_usage(message.tokens))
        for call in calls:
            self._result(call)

    def _result(self, call: Call) -> None:
        blocks = self._blocks(call.result if isinstance(call.result, list) else None)
        texts = [*(said.text for said in blocks.results), text_of(tuple(blocks.parts))]
        if not (blocks.results or blocks.parts) and call.status in _PENDING:
            return
        shown = "\n".join(filter(None, texts))
        if not (blocks.results or blocks.parts) and call.result is not None:
            shown = str(_unwrapped(call.result)[0])
        failed = call.status not in (None, "success") or any(said.failed for said in blocks.results)
        ran = Ran(failed=failed, t=time_of(call.timestamp, self.unread), cut=cut_in(shown) is not None)
        error = shown if failed and shown else None
        self.say(Said("tool", shown, call_id=call.id or "", name=call.name or "", ran=ran, error=error))

    # ---- messages of parts

    def _keyed(
        self, message: dict[str, Any], t: float | None = None, model: str | None = None, usage: Usage | None = None
    ) -> None:
        if message:
            role = message.get("role")
            if role not in ("user", "model"):
                self.unread.kind("message of a role", role)
            parts = message.get("parts", message.get("content"))
            self._say(self._blocks(parts), "assistant" if role == "model" else "user", t, model, usage)

    def _say(
        self, blocks: Blocks, role: Any, t: float | None, model: str | None = None, usage: Usage | None = None
    ) -> None:
        """Add the results of tools one by one, then the rest as one message."""
        self.tell(blocks.results, t=t)
        if blocks.parts or blocks.calls or blocks.thoughts or not blocks.results:
            said = Said(role, simple(tuple(blocks.parts)), tuple(blocks.calls), blocks.reasoning)
            self.say(said, t=t, model=model, usage=usage)

    def _blocks(self, content: Any) -> Blocks:
        blocks = Blocks()
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, str):
                blocks.parts += [TextPart(text=part)] if part else []
            elif isinstance(part, dict):
                _add_part(blocks, part, self.unread)
            elif part is not None:
                self.unread.add("part that is no object")
        return blocks

    # ---- a stream

    def stream(self, lines: list[dict[str, Any]]) -> None:
        """Add what a stream printed: what the model wrote and called up to a result is a turn."""
        turn, model = Blocks(), next((text(line.get("model")) for line in lines if line.get("type") == "init"), None)
        for line in [*lines, {"type": "end"}]:
            kind, t = line.get("type"), time_of(line.get("timestamp"), self.unread)
            if kind == "end" or (kind in ("message", "tool_use") and (turn.results or line.get("role") == "user")):
                self._turn(turn, model)
                turn = Blocks()
            if kind == "message" and line.get("role") == "user":
                self.say(Said("user", text(line.get("content")) or ""), t=t)
            elif kind == "message":
                before = text_of((turn.parts.pop(),)) if line.get("delta") and turn.parts else ""
                turn.parts.append(TextPart(text=before + (text(line.get("content")) or "")))
            elif kind == "tool_use":
                name = text(line.get("tool_name")) or "unknown"
                turn.calls.append(ToolCall(id=str(line.get("tool_id")), name=name, arguments=line.get("parameters")))
            elif kind == "tool_result":
                why, shown = text(dict_in(line, "error").get("message")), text(line.get("output"))
                ran = Ran(failed=line.get("status") == "error", error=why, t=t, cut=cut_in(shown or "") is not None)
                turn.results.append(Said("tool", shown or why or "", call_id=str(line.get("tool_id")), ran=ran))
            elif kind in ("init", "result"):
                self.meta |= {key: line[key] for key in ("session_id", "stats") if key in line}
            elif kind != "end":
                self.unread.kind("event", kind)

    def _turn(self, turn: Blocks, model: str | None) -> None:
        if turn.parts or turn.calls:
            self.say(Said("assistant", turn.content, tuple(turn.calls)), model=model)
        self.tell(turn.results)


def _add_part(blocks: Blocks, part: dict[str, Any], unread: Unread) -> None:
    """Sort a part, which names its kind by a key."""
    call = next((part[key] for key in _CALLS if isinstance(part.get(key), dict)), None)
    response = next((part[key] for key in _RESPONSES if isinstance(part.get(key), dict)), None)
    data = dict_in(part.get("inlineData") or part.get("inline_data"))
    if call is not None:
        arguments = {} if call.get("args") is None else call["args"]
        blocks.calls.append(
            ToolCall(id=text(call.get("id")) or "", name=text(call.get("name")) or "unknown", arguments=arguments)
        )
    elif response is not None:
        shown, failed = _unwrapped(response.get("response"))
        shown = as_text("" if shown is None else shown)
        error = (shown or None) if failed else None
        name, call_id = text(response.get("name")) or "", text(response.get("id")) or ""
        blocks.results.append(Said("tool", shown, call_id=call_id, name=name, failed=failed, error=error))
    elif isinstance(part.get("text"), str):
        if part.get("thought") is True:
            blocks.thoughts.append(part["text"])
        else:
            blocks.parts.append(TextPart(text=part["text"]))
    elif data:
        media = text(data.get("mimeType") or data.get("mime_type")) or "image/*"
        blocks.parts.append(picture(f"data:{media};base64,{data.get('data')}"))
    elif part.keys() - {"thoughtSignature", "thought_signature"}:
        unread.kind("part", next(iter(part)))


def _unwrapped(response: Any) -> tuple[Any, bool]:
    """What a tool gave, out of the object that the interface wants around it, and True if it is an error."""
    if not isinstance(response, dict):
        return response, False
    only = next(iter(response.values())) if len(response) == 1 and response.keys() <= _WRAPPED else None
    return (only, "error" in response) if isinstance(only, str) else (response, bool(response.get("error")))


def _usage(tokens: Tokens | None) -> Usage | None:
    """The usage of an answer: the total tells whether the completion holds the thoughts."""
    if tokens is None or tokens.input is None:
        return None
    prompt, output, thoughts = tokens.input + (tokens.tool or 0), tokens.output or 0, tokens.thoughts or 0
    cached = tokens.cached or 0
    missing = (tokens.total or 0) - prompt - output
    beside, thought = next(
        (pair for pair in ((0, 0), (cached, 0), (0, thoughts), (cached, thoughts)) if sum(pair) == missing), (0, 0)
    )
    return Usage(
        prompt_tokens=prompt + beside,
        completion_tokens=output + thought,
        cached_prompt_tokens=tokens.cached,
        reasoning_tokens=tokens.thoughts,
    )
