"""An edit of LangChain's `ContextEditingMiddleware` as a compactor. A view: add `mode=per_call`."""

from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langchain_core.messages.utils import count_tokens_approximately


def langchain(messages: list[dict]) -> list[dict]:
    sent = convert_to_messages(messages)
    ClearToolUsesEdit(trigger=1000, keep=2).apply(sent, count_tokens=count_tokens_approximately)
    return convert_to_openai_messages(sent)
