"""Requests to models and their answers, in whichever interface they are written: OpenAI's chat and Responses, Anthropic's, LangChain's messages."""

from __future__ import annotations

from dataclasses import replace

from ...files.documents import Node
from ...model import Usage
from .anthropic import is_anthropic, said_of as said_of_anthropic, system_of
from .chat import usage_of
from .langchain import is_message, said_of as said_of_langchain
from .messages import said_of_message
from .nodes import at, first_of, only_text
from .responses import Answer, finish_of, is_item, said_of_items
from .steps import Said
from .unread import Unread


def said_by_any(messages: list[Node], unread: Unread) -> list[Said]:
    """Messages as what they say, each read in the form it is written in; a bare text is the user's."""
    anthropic = is_anthropic([message.value for message in messages])
    told: list[Said] = []
    for message in messages:
        if isinstance(message.value, str):
            told.append(Said("user", message.value))
        elif is_message(message.value):
            told += filter(None, [said_of_langchain(message, unread)])
        elif anthropic and message["role"].value in ("user", "assistant"):
            told += said_of_anthropic(message, unread)
        else:
            told.append(said_of_message(message, unread))
    return told


def prompt_of(request: Node, unread: Unread) -> list[Said]:
    """The messages that a request sends: its system prompt, then `messages`, `input`, `prompts` or `prompt`; of several prompts the first, the
    others are counted. `[]` where it has none of these."""
    system = [at(request, key) for key in ("system", "instructions")]
    told = [Said("system", content) for node in system if node.value and (content := system_of(node, unread))]
    messages = at(request, "messages")
    texts = first_of(request, "input", "prompts", "prompt") if request.value is not None else messages
    found = messages if messages.value else texts
    if not isinstance(found.value, list):
        return told if found.value is None else [*told, Said("user", found.text())]
    items = found.items()
    batched = bool(items) and isinstance(items[0].value, list)
    if batched or (found is texts and all(isinstance(item.value, str) for item in items)):
        unread.add("further prompt of one model call", len(items) - 1)
        items = items[0].items() if batched else items[:1]
    if any(is_item(item.value) for item in items):
        return [*told, *(said for group in said_of_items(items, unread) for said in group)]
    return [*told, *said_by_any(items, unread)]


def answer_of(response: Node, unread: Unread) -> Said | None:
    """What a response answers, with model, usage and why it ended; of several answers the first, the others are counted. None where there is none."""
    if response.value is None:
        return None
    generations, choices = response["generations"], response["choices"]
    if generations.value:
        said = _generated(generations, unread)
    elif choices.value:
        unread.add("further answer of one model call", len(choices.items()) - 1)
        choice = choices.items()[0]
        text = Said("assistant", choice["text"].text_or_none() or "")
        said = text if choice["message"].value is None else said_of_message(choice["message"], unread)
        said = replace(said, finish_reason=choice["finish_reason"].text_or_none())
    elif isinstance(response["output"].value, list):
        said = _responded(response, unread)
    elif is_message(response.value):
        said = said_of_langchain(response, unread)
    elif response["role"].value is not None:
        told = said_of_anthropic(response, unread) if response.has("stop_reason") else said_by_any([response], unread)
        said = next(iter(told), None)
        said = said and replace(said, finish_reason=only_text(response["stop_reason"]))
    else:
        said = None
    if said is None:
        return None
    return replace(said, model=said.model or only_text(response["model"]), usage=said.usage or usage_in(response))


def _generated(generations: Node, unread: Unread) -> Said | None:
    batch = generations.items()
    first = batch[0].items() if isinstance(batch[0].value, list) else batch
    unread.add(
        "further answer of one model call", len(batch) + len(first) - 2 if first is not batch else len(batch) - 1
    )
    if not first:
        return None
    message = first[0]["message"]
    if message.value is None:
        return Said("assistant", first[0]["text"].text_or_none() or "")
    said = said_of_langchain(message, unread)
    reason = at(first[0], "generation_info", "finish_reason")
    return said and replace(said, finish_reason=said.finish_reason or only_text(reason))


def _responded(response: Node, unread: Unread) -> Said | None:
    answer = Answer(unread)
    for item in response["output"].items():
        if not answer.takes(item):
            unread.kind("item", item["type"].value)
    told = answer.said()
    unread.add("result of a tool that the server ran within an answer", len(told) - 1 if told else 0)
    return replace(told[0], finish_reason=finish_of(response)) if told else None


def usage_in(response: Node) -> Usage | None:
    """The usage that a response tells, wherever the interface has it; None where it does not."""
    told = (at(response, "llm_output", "token_usage"), response["usage"], response["usage_metadata"])
    return next(filter(None, (usage_of(node) for node in told if node.value is not None)), None)
