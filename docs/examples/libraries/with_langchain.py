"""An edit of LangChain's `ContextEditingMiddleware` as a compactor. A view: add `mode=per_call`."""

from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately


def langchain(messages: list[BaseMessage]) -> list[BaseMessage]:
    ClearToolUsesEdit(trigger=1000, keep=2).apply(messages, count_tokens=count_tokens_approximately)
    return messages
