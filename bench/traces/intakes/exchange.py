"""Requests to models and their answers, in the format of any provider's interface, and where to
find them in the records of logs and proxies."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from ..steps import ReadMessage
from ..values import Fields, Unread, as_dict, as_list, dicts, first_of, from_json_text, text
from .content import blocks_of
from .messages import answer_in_items, is_item, is_langchain, is_message, message, messages
from .streams import assembled, events_of, unpacked
from .usage import usage_in

_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
_TEXTS = ("input", "prompts", "prompt", "inputText")
_MODELS = ("model", "modelVersion", "model_version")
_USAGES = ("usage", "usage_metadata", "usageMetadata")


def instructions_in(request: Fields, unread: Unread) -> list[ReadMessage]:
    """The system prompt beside a request's messages, or in Gemini's `config`."""
    places = (request, as_dict(request.get("config")))
    values = [place[key] for place in places for key in _SYSTEMS if key in place]
    parts = (first_of(as_dict(value), ("parts", "content")) or value for value in values)
    read = [blocks_of(value, unread).message("system") for value in parts]
    return [message for message in read if message.content or message.other]


def conversation_in(request: Any, unread: Unread) -> list[ReadMessage]:
    """The messages of a request, under any of their names. Of several prompts only the first is
    read; the others are counted."""
    body = as_dict(request)
    listed = first_of(body, ("messages", "contents"))
    prompt = (listed or first_of(body, _TEXTS)) if isinstance(request, dict) else request
    if isinstance(prompt, str):
        return [ReadMessage("user", prompt)]
    if not isinstance(prompt, list):
        unread.add("prompt that is neither text nor messages", prompt is not None)
        return []
    first = next(iter(prompt), None)
    texts = prompt is not listed and all(isinstance(item, str) for item in prompt)
    if texts or isinstance(first, list):
        unread.add("further prompt of one model call", max(len(prompt) - 1, 0))
        prompt = first if isinstance(first, list) else prompt[:1]
    if prompt and all(isinstance(item, dict) and not is_message(item) for item in prompt):
        blocks = blocks_of(prompt, unread)
        return [*blocks.results, *([blocks.message("user")] if blocks.has_content else [])]
    return messages(prompt, unread)


def prompt_of(request: Any, unread: Unread) -> list[ReadMessage]:
    """The messages that a request sends: its system prompt, then the conversation."""
    return [*instructions_in(as_dict(request), unread), *conversation_in(request, unread)]


def tools_in(request: Any) -> list[Any] | None:
    """The tool definitions of a request, in the format of any interface; None without any."""
    body = as_dict(request)
    config = as_dict(body.get("toolConfig") or body.get("config"))
    definitions: list[Any] = []
    for tool in as_list(first_of(body, ("tools", "functions")) or config.get("tools")):
        declared = first_of(as_dict(tool), ("functionDeclarations", "function_declarations"))
        definitions += declared if isinstance(declared, list) else [tool]
    return definitions or None


def answers_of(response: Any, unread: Unread) -> list[ReadMessage]:
    """The answer in a response: the turn, with model and usage, then the results of tools that the
    server ran. Of several answers only the first is read; the others are counted. `[]` without
    one."""
    if isinstance(response, str):
        return [ReadMessage("assistant", response)]
    if isinstance(response, list):
        return _listed_answers(response, unread)
    fields = as_dict(response)
    answers = _answers(fields, unread)
    if not answers:
        return []
    turn, *results = answers
    turn = replace(turn, model=text(first_of(fields, _MODELS)) or turn.model)
    inner = as_dict(fields, "llm_output", "token_usage"), as_dict(fields, "usage", "tokens")
    counted = [fields] if "prompt_eval_count" in fields else []  # Ollama's are in the response
    reported = [*inner, *map(fields.get, _USAGES), *counted]
    usages = (usage_in(value, unread) for value in reported)
    return [replace(turn, usage=turn.usage or next(filter(None, usages), None)), *results]


def _listed_answers(listed: list[Any], unread: Unread) -> list[ReadMessage]:
    """The answers after the last user message of a list. Consecutive ones are one turn."""
    answers: list[ReadMessage] = []
    for item in messages(listed, unread):
        if item.role in ("user", "system"):
            answers = []
        elif answers and answers[-1].role == item.role == "assistant":
            answers[-1] = _together(answers[-1], item)
        else:
            answers.append(item)
    return answers


def _together(turn: ReadMessage, more: ReadMessage) -> ReadMessage:
    """One turn from two: some libraries write each call, or text, as a separate message."""
    return replace(
        turn,
        content="\n".join(filter(None, (turn.content, more.content))),
        calls=turn.calls + more.calls,
        reasoning="\n".join(filter(None, (turn.reasoning, more.reasoning))) or None,
        usage=turn.usage or more.usage,
    )


def _answers(response: Fields, unread: Unread) -> list[ReadMessage]:
    for key in ("generations", "choices", "candidates"):
        if response.get(key):
            return _first_answer(response[key], unread)
    output = response.get("output")
    if isinstance(output, list):
        in_items = any(map(is_item, output))
        return answer_in_items(output, unread) if in_items else messages(output, unread)
    alone = {key: value for key, value in response.items() if key not in _USAGES}
    for value in (as_dict(output, "message"), as_dict(response, "message"), alone):
        inner = as_dict(value, "content")
        if "role" in value or "parts" in value or is_langchain(value):
            read = message(value, unread, "assistant")
            return [item for item in read if item.role in ("assistant", "tool")]
        if "parts" in inner:
            return message(inner, unread, "assistant")
    return []


def _first_answer(listed: Any, unread: Unread) -> list[ReadMessage]:
    """The first of several answers, of which LangChain may have one list per prompt."""
    lists = [item if isinstance(item, list) else [item] for item in as_list(listed)]
    answers = [item for inner in lists for item in dicts(inner)]
    if not answers:
        return []
    unread.add("further answer of one model call", len(answers) - 1)
    answer = answers[0]
    value = first_of(answer, ("message", "content"))
    read = [ReadMessage("assistant", text(answer.get("text")) or "")]
    if isinstance(value, dict):
        read = message(value, unread, "assistant")
    return read


# ---------------------------------------------------------------- records of logs and proxies


def _places(listed: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(place.split(".")) for place in listed.split())


_REQUESTS = (*_places("""
    request.parsed_body request.body_segments request.body request.postData.text request.json request.content request
    request_body requestBody req.body req reqPayload proxy_server_request.body proxy_server_request raw_request input
    kwargs
"""), ())  # fmt: skip
_ANSWERS = (*_places("""
    fncall_response
    response.parsed_body response.body_segments response.content.data response.body.string response.body
    response.content.text response.json response.content response response_body responseBody res.body res respPayload
    completion output
"""), ())  # fmt: skip
_MEANT = ("fncall_messages", "raw_messages")
"""Messages as the agent meant them, where OpenHands sent calls and results as text."""
_ALONE = (("response",), ("completion",), ("output",))
"""Keys below which an answer may be a bare text."""
_SESSIONS = _places(
    "session_id litellm_session_id metadata.session_id trace_id litellm_trace_id metadata.trace_id"
)
_LISTS = {"messages": {"role"}, "input": {"role", "type"}, "contents": {"parts"}}
"""Lists of a request, and the keys of which each of their members has one."""
_USER = re.compile(r"_session_([0-9a-f-]{36})$")


def _is_request(body: Fields) -> bool:
    asked = body.get("input")
    if isinstance(asked, str):
        return bool(asked) and "embedding" not in str(body.get("model"))
    for name, keys in _LISTS.items():
        objects = dicts(body.get(name))
        if objects and all(item.keys() & keys for item in objects):
            return True
    return False


def request_in(record: Any) -> Fields | None:
    """The body of the request in a record; None without one."""
    if meant := first_of(as_dict(record), _MEANT):
        record = {**record, "messages": meant}
    for keys in _REQUESTS:
        value = from_json_text(_inside(record, keys))
        if keys[-1:] == ("body_segments",) and len(as_list(value)) == 1:
            value = value[0]
        if _is_request(as_dict(value)):
            return as_dict(value)
    return None


def answer_in(record: Any) -> Any:
    """The body of the answer in a record, an object or a bare text; None without one."""
    for keys in _ANSWERS:
        value = _inside(record, keys)
        if _inside(record, (*keys[:-1], "encoding")) == "base64":  # of a HAR
            value = unpacked(value)
        if isinstance(value, str) and ("data:" in value[:2000] or "}\n{" in value):
            value = assembled(events_of(value)) or value
        value = from_json_text(value)
        if isinstance(value, list):
            value = assembled(value)
        alone = keys in _ALONE and isinstance(value, str) and value.strip()
        if alone or (isinstance(value, dict) and answers_of(value, Unread())):
            return value
    return None


def _inside(value: Any, keys: tuple[str, ...]) -> Any:
    """The member under nested keys, with JSON in texts decoded on the way; None without one."""
    for key in keys:
        value = as_dict(from_json_text(value)).get(key)
    return value


def session_in(record: Any) -> str:
    """The session that a record, or its user id as Claude Code writes it, names; else `""`."""
    named = (text(_inside(record, keys)) for keys in _SESSIONS)
    user = text(_inside(request_in(record), ("metadata", "user_id"))) or ""
    known = _USER.search(user)
    return next(filter(None, named), None) or (known.group(1) if known else "")
