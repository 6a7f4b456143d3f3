"""A function of LlamaIndex' `ChatMessage`s as a compactor, such as the `get` of a memory."""

from agent import memory_of  # yours
from llama_index.core.llms import ChatMessage


def llama_index(messages: list[dict]) -> list[dict]:
    def given(m):
        return ChatMessage(
            role=m["role"],
            content=m["content"],
            additional_kwargs={k: v for k, v in m.items() if k not in ("role", "content")},
        )

    return [
        {"role": m.role.value, "content": m.content, **m.additional_kwargs}
        for m in memory_of(list(map(given, messages)))
    ]
