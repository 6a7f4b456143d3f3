"""Requests to models and their answers, in whichever interface they are written: OpenAI's chat and Responses, Anthropic's, Gemini's, Bedrock's,
LangChain's messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..model import Usage
from .chat import is_anthropic, joined, said_of_anthropic, said_of_message, system_of
from .decoded import as_dict, dicts
from .documents import Node
from .keyed import is_keyed, keyed_answer, said_of_keyed, without_ids
from .langchain import is_message, said_of as said_of_langchain
from .nodes import at, first_of, inside, only_text
from .parts import Unread, usage_of
from .responses import answer_of_items, finish_of, is_item, said_of_items
from .steps import Said

_ENDS = ("stopReason", "finishReason", "finish_reason", "stop_reason", "done_reason")
_MODELS = ("model", "modelVersion", "model_version")
_FURTHER = "further answer of one model call"
_BARE = {"completion": "", "generation": "", "outputText": "", "results": "outputText", "outputs": "text", "generations": "text"}  # fmt: skip
"""Keys of an answer that is a text alone, and the key of the text in the first of a list."""


def is_request(value: Any) -> bool:
    """True for the body of a request: it has messages, or the input of the Responses interface."""
    body = as_dict(value)
    told = body.get("input")
    if isinstance(told, str):
        return bool(told) and "embedding" not in str(body.get("model"))
    lists = (body.get("messages"), ("role",)), (told, ("role", "type")), (body.get("contents"), ("parts",))
    return any(_objects(listed, *keys) for listed, keys in lists)


def is_answer(value: Any) -> bool:
    """True for the body of an answer of any of the interfaces."""
    body = as_dict(value)
    choices, output = body.get("choices"), body.get("output")
    chosen = isinstance(choices, list) and _objects(choices[:1], "message", "text")
    items = output == [] or _objects(output, "type")
    spoken = body.get("role") == "assistant" and isinstance(body.get("content"), list)
    spoken = spoken or as_dict(body.get("message")).get("role") == "assistant"
    keyed = is_keyed(as_dict(output).get("message")) or _objects(body.get("candidates"), "content", "finishReason")
    return chosen or items or keyed or spoken


def _objects(values: Any, *keys: str) -> bool:
    """True for a list of objects, one at least, each with one of some keys."""
    found = dicts(values)
    return bool(found) and len(found) == len(values) and all(any(key in item for key in keys) for item in found)


def said_by_any(messages: list[Node], unread: Unread) -> list[Said]:
    """Messages as what they say, each read in the form it is written in; a bare text is the user's."""
    anthropic = is_anthropic([message.value for message in messages])
    told: list[Said] = []
    for message in messages:
        if isinstance(message.value, str):
            told.append(Said("user", message.value))
        elif is_keyed(message.value):
            told += said_of_keyed(message, unread)
        elif is_message(message.value):
            told += filter(None, [said_of_langchain(message, unread)])
        elif anthropic and message["role"].value in ("user", "assistant") and not message["tool_calls"].value:
            told += said_of_anthropic(message, unread)
        else:
            told.append(said_of_message(message, unread))
    return told


def prompt_of(request: Node, unread: Unread) -> list[Said]:
    """The messages that a request sends: its system prompt, then the conversation. `[]` where it has none of these."""
    return [*instructions_of(request, unread), *conversation_of(request, unread)]


def instructions_of(request: Node, unread: Unread) -> list[Said]:
    """The system prompt that a request has beside its messages."""
    told: list[Said] = []
    for keys in (("system",), ("instructions",), ("systemInstruction",), ("system_instruction",), ("config", "system_instruction"),
                 ("config", "systemInstruction")):  # fmt: skip
        node = inside(request, *keys)
        keyed = node.made({"content": node.value}) if isinstance(node.value, list) else node
        if is_keyed(keyed.value):
            told += said_of_keyed(keyed.made({**keyed.value, "role": "system"}), unread)
        elif node.value:
            told += [Said("system", content)] if (content := system_of(node, unread)) else []
    return told


_TEXTS = ("input", "prompts", "prompt", "inputText")
_COUNTED = ("prompt_token_count", "inputTextTokenCount", "prompt_eval_count")
"""Counts of tokens that stand in the response itself."""


def offered_in(request: Node) -> list[Any] | None:
    """The tool definitions of a request, in any interface's form; None where it names none."""
    config = next((request[key] for key in ("toolConfig", "config") if isinstance(request[key].value, dict)), None)
    held = first_of(request, "tools", "functions")
    listed = held if held.value is not None or config is None else config["tools"]
    found: list[Any] = []
    for tool in listed.items() if isinstance(listed.value, list) else []:
        declared = inside(tool, "functionDeclarations").value or inside(tool, "function_declarations").value
        told = declared if isinstance(declared, list) else tool.value
        found += told if isinstance(told, list) else [told]
    return found or None


def conversation_of(request: Node, unread: Unread) -> list[Said]:
    """The messages that a request has as `messages`, `input`, `prompts` or `prompt`; of several prompts the first, the others are counted."""
    texts, found = None, request
    if isinstance(request.value, dict):
        texts, listed = first_of(request, *_TEXTS), first_of(request, "messages", "contents")
        found = listed if listed.value else texts
    if not isinstance(found.value, list):
        return [] if found.value is None else [Said("user", found.text())]
    items = found.items()
    batched = bool(items) and isinstance(items[0].value, list)
    if batched or (found is texts and all(isinstance(item.value, str) for item in items)):
        unread.add("further prompt of one model call", len(items) - 1)
        items = items[0].items() if batched else items[:1]
    if any(is_item(item.value) for item in items):
        return [said for group in said_of_items(items, unread) for said in group]
    told = said_by_any(items, unread)
    return list(map(without_ids, told)) if inside(request, "contents").value else told


def answer_of(response: Node, unread: Unread) -> Said | None:
    """The turn of `answers_of`; what tools on the server gave back within it is counted. None where there is no answer."""
    told = answers_of(response, unread)
    unread.add("result of a tool that the server ran within an answer", len(told[1:]))
    return told[0] if told else None


def answers_of(response: Node, unread: Unread) -> list[Said]:
    """The answer of a response: the turn, with model, usage and why it ended, then the results of tools that the server ran in it.

    Of several answers the first, the others are counted. `[]` where there is none.
    """
    if isinstance(response.value, str):
        return [Said("assistant", response.value)]
    if isinstance(response.value, list):
        messages = [message for message in response.items() if isinstance(message.value, dict)]
        return [said for message in messages for said in answers_of(message, unread)]
    if response.value is None:
        return []
    given = [said for said in _told(response, unread) if said is not None]
    if not given:
        return []
    turn, *results = given
    model = turn.model or next(filter(None, (only_text(response[key]) for key in _MODELS)), None)
    return [replace(turn, model=model, usage=turn.usage or usage_in(response)), *results]


def _told(response: Node, unread: Unread) -> list[Said | None]:
    generations, choices, message = response["generations"], response["choices"], response["message"]
    reason = next(filter(None, (only_text(response[key]) for key in _ENDS)), None)
    if generations.value:
        return [_generated(generations, unread)]
    if choices.value:
        unread.add(_FURTHER, len(choices.items()) - 1)
        choice = choices.items()[0]
        text = Said("assistant", choice["text"].text_or_none() or "")
        said = text if choice["message"].value is None else said_of_message(choice["message"], unread)
        return [replace(said, finish_reason=only_text(choice["finish_reason"]))]
    if isinstance(response["output"].value, list):
        return _finished([*answer_of_items(response, unread)], finish_of(response))
    if isinstance(message.value, dict):  # Ollama's and Cohere's
        return _finished([*said_by_any([message], unread)], reason)
    keyed = keyed_answer(response, unread)
    if keyed is not None:
        first = response["candidates"].items()[0] if response["candidates"].value else response
        return _finished([keyed], next(filter(None, (only_text(first[key]) for key in _ENDS)), None))
    if is_message(response.value):
        return [said_of_langchain(response, unread)]
    if response["role"].value is not None:
        theirs = response.has("stop_reason") or is_anthropic([response.value])
        told = joined(said_of_anthropic(response, unread)) if theirs else said_by_any([response], unread)
        return _finished([*told], reason)
    bare = bare_text(response.value)
    return [] if bare is None else _finished([Said("assistant", bare)], reason)


def _finished(told: list[Said | None], reason: str | None) -> list[Said | None]:
    told[:1] = [said and replace(said, finish_reason=reason or said.finish_reason) for said in told[:1]]
    return told


def bare_text(value: Any) -> str | None:
    """The text of an answer that is little more: of models on Bedrock that complete a text; None where it is none."""
    body = as_dict(value)
    for key, inner in _BARE.items():
        held = body.get(key)
        held = as_dict(held[0] if isinstance(held, list) and held else None).get(inner) if inner else held
        if isinstance(held, str):
            return held
    told = next(iter(dicts(body.get("completions"))), {})
    text = as_dict(told.get("data")).get("text")
    return text if isinstance(text, str) else None


def _generated(generations: Node, unread: Unread) -> Said | None:
    batch = generations.items()
    first = batch[0].items() if isinstance(batch[0].value, list) else batch
    unread.add(_FURTHER, len(batch) + len(first) - 2 if first is not batch else len(batch) - 1)
    if not first:
        return None
    message = first[0]["message"]
    if message.value is None:
        return Said("assistant", first[0]["text"].text_or_none() or "")
    said = said_of_langchain(message, unread)
    reason = at(first[0], "generation_info", "finish_reason")
    return said and replace(said, finish_reason=said.finish_reason or only_text(reason))


def usage_in(response: Node) -> Usage | None:
    """The usage that a response tells, wherever the interface has it; None where it does not."""
    places = [at(response, "llm_output", "token_usage")]
    places += [at(response, "usage", "tokens")] if isinstance(response["usage"].value, dict) else []  # Cohere's
    places += [response[key] for key in ("usage", "usage_metadata", "usageMetadata")]
    places += [response] * any(map(response.has, _COUNTED))
    return next(filter(None, (usage_of(node) for node in places if isinstance(node.value, dict))), None)
