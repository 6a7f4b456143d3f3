"""Messages in Anthropic's form: a request body, a list of messages with content blocks, or JSON Lines of either."""

from __future__ import annotations

from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, dicts, register
from ..chat import is_anthropic, said_of_anthropic, system_of, tools_of
from ..conversations import chats, sample
from ..parts import usage_of
from ..steps import Said, Steps

_CONVERSATION = {"messages", "system", "tools", "tool_choice", "model", "id", "metadata", "max_tokens", "temperature", "top_p", "top_k", "stream",
                 "thinking", "stop_sequences", "service_tier", "betas", "anthropic_version", "context_management", "mcp_servers", "container",
                 "output_config"}  # fmt: skip
_LOG = {"request", "response", "choices", "output", "completion", "proxy_server_request"}


@register("reader", "anthropic")
class Anthropic:
    """Conversations as Anthropic's Messages interface takes them, one trace each, with `system`, `tools` and `model` from around the messages.

    A `tool_result` block is the result of the `tool_use` that it names, and the rest of its message a user turn after it. `is_error` is a
    failure. Tools that the server runs itself are calls too. Thinking is the reasoning of its turn; where only its signature is recorded, or it is
    redacted, that is counted. An answer kept whole (`usage`, `stop_reason`) gives its turn these.

    Source: docs.anthropic.com, API reference "Messages" and "Tool use"
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "errors", "reasoning", "tools", "model"),
        never="times, the untruncated result, how the run ended: a conversation has none of these",
        tested="Messages API, `anthropic-version: 2023-06-01`, written by hand after the reference",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        frame, messages = sample(document) or (set(), [])
        roles = {str(as_dict(item).get("role", "")) for item in messages}
        schemas = any("input_schema" in tool for tool in dicts(document.first.get("tools")))
        own = is_anthropic(messages) or "system" in frame or schemas
        marks = {"a list of messages": bool(roles & {"user", "assistant"})}
        if marks["a list of messages"]:
            marks["no other roles than user and assistant"] = roles <= {"user", "assistant"}
            marks["a tool_use, tool_result or thinking block, `system` beside the messages, or an `input_schema`"] = own
            marks["a conversation by itself, not a log of calls"] = not frame & _LOG
        return by_marks(marks)

    def read(self, document: Document) -> Traces:
        """Each conversation of the file as a trace; its id is the conversation's own, or empty."""
        return chats(document, "anthropic", _begin, _say)


def _begin(steps: Steps, frame: Node) -> None:
    steps.unread.keys(frame, _CONVERSATION, "a conversation")
    steps.tools(tools_of(frame["tools"]))
    if frame["system"].value is not None:
        steps.say(Said("system", system_of(frame["system"], steps.unread)))


def _say(steps: Steps, messages: list[Node], model: str | None) -> None:
    for message in messages:
        usage, reason = usage_of(message["usage"]), message["stop_reason"].text_or_none()
        named, told = message["model"].text_or_none() or model, said_of_anthropic(message, steps.unread)
        steps.tell(told, model=named, finish_reason=reason, usage=usage)
