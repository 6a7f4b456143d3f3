"""Conversations: messages as OpenAI, Anthropic or LangChain write them."""

from __future__ import annotations

from collections.abc import Iterable

from .. import Confidence, Document, Fields, register
from ..commands import is_observation
from ..intakes.exchange import instructions_in, tools_in
from ..intakes.messages import is_item, is_langchain, is_message, messages
from ..steps import Steps
from ..values import Unread, as_id, dicts, text
from . import Format

_FRAME = {"messages", "tools", "functions", "tool_choice", "parallel_tool_calls", "model", "id", "metadata", "usage", "temperature",
          "top_p", "max_tokens", "max_completion_tokens", "response_format", "seed", "system", "top_k", "stream", "thinking",
          "stop_sequences", "service_tier", "betas", "anthropic_version", "context_management", "mcp_servers", "container",
          "output_config"}  # fmt: skip
_LOG = {"request", "response", "choices", "output", "completion", "proxy_server_request"}
"""Keys beside the messages of what is a log of one call."""
_OTHERS = {"raw_execution_result", "trajectory_format", "history", "extra", "trajectory",
           "sessionId"}  # fmt: skip


@register("reader", "messages")
class Messages(Format):
    """One trace per conversation: a list of messages, `{"messages": […]}`, a list or lines of
    those, or lines of messages.

    Messages may be those of OpenAI's chat interface, items of its Responses interface, Anthropic's
    with content blocks, or LangChain's in any dump; `system`, `tools` and `model` may stand around
    them.

    Not kept: the untruncated result but for LangChain's artifacts: a conversation has none.

    Source: OpenAI API reference "Create chat completion" and "Responses"; docs.anthropic.com
    "Messages" and "Tool use"; LangChain reference `langchain_core.messages`,
    `langchain_core.load.dump`. Tested: the interfaces' references, by hand; langchain-core 1.7.2,
    recorded
    """

    def sniff(self, document: Document) -> Confidence:
        """CERTAIN for messages with calls and no sign of another format, else POSSIBLE."""
        first = document.first
        frame = first if isinstance(first.get("messages"), list) else {}
        listed = frame.get("messages") or document.first_objects
        typical = list(filter(is_message, listed))
        if 2 * len(typical) <= len(listed) or frame.keys() & _LOG:
            return Confidence.NO
        is_other = any(item.keys() & _OTHERS for item in (frame, *dicts(listed)))
        observed = any(map(_is_observed, dicts(listed)))
        is_certain = not observed and not is_other and any(map(_has_calls, typical))
        return Confidence.CERTAIN if is_certain else Confidence.POSSIBLE

    def runs(self, document: Document, unread: Unread) -> Iterable[Steps]:
        objects = document.objects(unread)
        framed = [item for item in objects if isinstance(item.get("messages"), list)]
        unread.add("object that is no conversation", (len(objects) - len(framed)) * bool(framed))
        return map(_run_of, framed or [{"messages": objects}])


def _is_observed(item: Fields) -> bool:
    return item.get("role") == "user" and is_observation(str(item.get("content")))


def _has_calls(item: Fields) -> bool:
    beside = item.keys() & {"tool_calls", "function_call", "tool_call_id"}
    kinds = [str(part.get("type")) for part in dicts(item.get("content"))]
    typed = any(not kind.endswith("text") for kind in kinds)
    return bool(beside) or typed or is_item(item) or is_langchain(item)


def _run_of(frame: Fields) -> Steps:
    steps = Steps()
    steps.id = as_id(frame.get("id"))
    steps.unread.extra_keys(frame, _FRAME, "a conversation")
    steps.set_tools(tools_in(frame) or [])
    steps.add_messages(instructions_in(frame, steps.unread))
    steps.model = text(frame.get("model"))
    steps.add_messages(messages(frame["messages"], steps.unread))
    return steps
