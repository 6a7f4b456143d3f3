"""An edit of LangChain's `ContextEditingMiddleware` as a compactor. A view: add `mode=per_call`."""

from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import AnyMessage
from langchain_core.messages.utils import count_tokens_approximately


def langchain(messages: list[AnyMessage]) -> None:
    ClearToolUsesEdit(trigger=1000, keep=2).apply(messages, count_tokens=count_tokens_approximately)
