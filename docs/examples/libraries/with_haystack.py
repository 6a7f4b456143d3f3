"""A component of Haystack's `ChatMessage`s as a compactor."""

from agent import component  # yours
from haystack.dataclasses import ChatMessage


def haystack(messages: list[dict]) -> list[dict]:
    return [
        m.to_openai_dict_format(False)
        for m in component(list(map(ChatMessage.from_openai_dict_format, messages)))
    ]
