"""A node of a LangGraph graph as a compactor, which may answer with `RemoveMessage`."""

from agent import node  # yours
from langchain_core.messages import convert_to_messages, convert_to_openai_messages
from langgraph.graph.message import add_messages


def langgraph(messages: list[dict]) -> list[dict]:
    state = add_messages([], convert_to_messages(messages))  # which gives each message an id
    return convert_to_openai_messages(add_messages(state, node({"messages": state})["messages"]))
