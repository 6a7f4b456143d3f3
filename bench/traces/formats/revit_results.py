"""Logs of Revit tools called one after the other by a script, each result cut to a snippet by the recorder."""

from __future__ import annotations

from ...model import ToolResult, Trace
from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, source_of, strict_json
from ..parts import Unread

_SNIPPET_CHARS = 300
_KNOWN = {"tool", "status", "ms", "note", "snippet"}


@register("reader", "revit_results")
class RevitResults:
    """One trace a file: a list of `{tool, status, ms, note?, snippet}`, each a result, without a model that asked for it.

    A snippet of 300 characters that is no whole JSON value was cut by the recorder: the result is truncated at the source. `OK` is success.

    Source: github.com/LuDattilo/RevitCortex, `scripts/bulk2-readonly-results.json`
    """

    keeps = Keeps(
        results="as shown",
        also=("cuts", "times", "errors"),
        never="the text above 300 characters, the model's turns: the recorder wrote neither",
        tested="RevitCortex at 0416e06, published files",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        items = dicts(document.head)
        whole = bool(items) and items == document.head
        keys = ("tool", "status", "snippet")
        return by_marks({f"a {key!r} of each result": whole and all(key in item for item in items) for key in keys})

    def read(self, document: Document) -> Traces:
        whole, unread = document.node(), Unread()
        steps = tuple(_result(index, item, unread) for index, item in enumerate(whole.items()))
        if not steps:
            raise whole.fail("expected results, got none — nothing was recorded")
        yield Trace(id="", source=source_of(document, "revit_results"), steps=steps, left_out=unread.counts)


def _result(index: int, item: Node, unread: Unread) -> ToolResult:
    unread.keys(item, _KNOWN, "a result")
    snippet, status = item["snippet"].text_or_none() or "", item["status"].text()
    value, milliseconds = strict_json(snippet), item["ms"].seconds()
    cut = value is None and (len(snippet) >= _SNIPPET_CHARS or snippet[:1] in ("{", "["))
    note = item["note"].text_or_none()
    return ToolResult(
        index=index,
        call_id=f"call{index}",
        function=item["tool"].text(),
        success=status == "OK",
        seen=snippet,
        data=value if isinstance(value, dict | list) else None,
        error=None if status == "OK" else note or status,
        duration_s=None if milliseconds is None else milliseconds / 1000,
        truncated_at_source=cut,
    )
