"""Exports of Langfuse: a trace with its observations, of which the generations, the tools and the
decisions of a graph make a run."""

from __future__ import annotations

from typing import Any

from ...model import compact_json
from .. import Document, Fields, register
from ..intakes.attributes import Attributes
from ..intakes.messages import ROLES
from ..intakes.tree import Span, Tree, langchain_in, span_of, trees_of
from ..intakes.usage import usage_in
from ..values import Unread, as_dict, dicts, first_of, from_json_text, text
from . import Format

_KINDS = {"GENERATION": "call", "TOOL": "tool", "SPAN": "chain", "CHAIN": "chain", "AGENT": "chain",
          "EVENT": ""}  # fmt: skip
_NOTED = ("tools", "finish_reason", "gen_ai.", "event.")
"""Beginnings of the names of what integrations note beside a message."""
_TRACES = ("traceId", "trace_id")
_STARTS = ("startTime", "start_time")


@register("reader", "langfuse")
class Langfuse(Format):
    """One trace per Langfuse trace: `{trace, observations}`, a trace with its `observations`, a
    list or lines of either or of observations alone.

    A generation is a model call with its whole prompt (`input`), its answer (`output`) and its
    usage; inputs and outputs may be JSON within texts. Tool observations, and spans named as a
    function that the model called, give outputs, errors and times to results.

    Not kept: prompts that an integration wrote as one text are one message; retrievals and
    embeddings.

    Source: langfuse.com/docs/observability/data-model; github.com/langfuse/langfuse
    (`observations.ts`). Tested: exports of June 2025 to March 2026, published files
    """

    def marked(self, document: Document) -> object:
        items = [one for one in _observations([document.first]) if first_of(one, _STARTS)]
        own = any(str(item.get("type")) in _KINDS for item in items)
        return own and any(first_of(item, _TRACES) for item in items)

    def runs(self, document: Document, unread: Unread) -> list[Tree]:
        items = _observations(document.objects(unread))
        return trees_of((str(first_of(item, _TRACES)), _span(item, unread)) for item in items)


def _observations(values: list[Fields]) -> list[Fields]:
    items: list[Fields] = []
    for value in values:
        within = as_dict(value, "trace").get("observations")
        items += dicts(value.get("observations", within)) or [value]
    return items


def _span(item: Fields, unread: Unread) -> Span:
    kind, name = text(item.get("type")) or "", text(item.get("name")) or ""
    inputs, failed = from_json_text(item.get("input")), item.get("level") == "ERROR"
    shown = _plain(inputs)
    tools = [message["content"] for message in dicts(inputs) if _is_tool(message)]
    metadata = as_dict(from_json_text(item.get("metadata")))
    known, noted = langchain_in(metadata), Attributes(as_dict(metadata, "attributes"))
    if kind == "AGENT":
        known["agent"] = known["agent"] or name
    return span_of(
        item,
        _KINDS.get(kind, kind.lower() or "unknown"),
        _request(shown, noted, unread) if kind == "GENERATION" else shown,
        _plain(from_json_text(item.get("output"))),
        unread,
        error=(text(item.get("statusMessage")) or "failed") if failed else None,
        usage=usage_in(first_of(item, ("usageDetails", "usage_details", "usage")), unread),
        model=text(first_of(item, ("model", "providedModelName"))),
        tools=tools or None,
        **known,
    )


def _request(inputs: Any, noted: Attributes, unread: Unread) -> Any:
    """The input of a generation; if that is a list of messages, with the tools in its attributes,
    and with the system prompt there, which newer exports repeat among the messages.

    >>> noted = Attributes({"gen_ai.system_instructions": "Be brief."})
    >>> _request([{"role": "user", "content": "Go."}], noted, Unread())
    {'system': 'Be brief.', 'tools': None, 'messages': [{'role': 'user', 'content': 'Go.'}]}
    """
    if not isinstance(inputs, list):
        return inputs
    has_system = any(message.get("role") == "system" for message in dicts(inputs))
    system = None if has_system else noted.instructions(unread)
    return {"system": system, "tools": noted.tools(), "messages": inputs}


def _is_tool(message: Any) -> bool:
    fields = as_dict(message)
    return "function" in as_dict(fields.get("content")) and fields.get("role") == "tool"


def _plain(value: Any) -> Any:
    """Messages of integrations in OpenAI's format. Integrations list tool definitions among the
    messages, put a tool's name into the role, and calls or data into the content."""
    if isinstance(value, list):
        return [_plain(message) for message in value if not _is_tool(message)]
    if not isinstance(as_dict(value).get("role"), str) or "parts" in value:
        return value
    fields = {key: member for key, member in value.items() if not key.startswith(_NOTED)}
    if fields["role"] not in ROLES:
        fields |= {"role": "tool", "name": fields["role"]}
    content = fields.get("content")
    content = from_json_text(content) if str(content).startswith('[{"function"') else content
    listed = dicts(content)
    if listed and all("function" in item for item in listed):
        return fields | {"role": "assistant", "content": "", "tool_calls": listed}
    untyped = isinstance(content, list) and not all("type" in item for item in listed)
    return fields | {"content": compact_json(content)} if untyped or as_dict(content) else fields
