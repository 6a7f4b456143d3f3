"""A node of a LangGraph graph as a compactor, which may answer with `RemoveMessage`."""

from agent import node  # yours
from langchain_core.messages import BaseMessage
from langgraph.graph.message import add_messages


def langgraph(messages: list[BaseMessage]) -> list[BaseMessage]:
    state = add_messages([], messages)  # which gives each message an id
    return add_messages(state, node({"messages": state})["messages"])
