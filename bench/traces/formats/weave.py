"""Calls of W&B Weave: a tree of operations, of which the calls of models and of tools make a run."""

from __future__ import annotations

from .. import Confidence, Document, Keeps, Near, Node, Traces, as_dict, by_marks, register, values_of
from ..nodes import at, inside, members, only_text
from ..observed import Observed, ObservedRun, decoded, observed, trees_of
from ..parts import usage_of
from ..requests import bare_text, is_answer, is_request


@register("reader", "weave")
class Weave:
    """One trace a `trace_id`: a list or lines of calls `{op_name, trace_id, parent_id, inputs, output}`, or an object with them as `calls`.

    A call whose inputs are a request to a model, and whose output is an answer, is a model call, in any provider's form, with the usage of its
    summary. An operation named as a function that the model called is the run of that tool, and so is one of the kind `tool`; an exception is
    its error. Other operations only hold these.

    Source: docs.wandb.ai/weave, "Calls" (CallSchema); github.com/wandb/weave, `weave/trace_server/trace_server_interface.py`
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "times", "errors", "tools", "model"),
        never="objects that are kept as references, feedback",
        tested="calls as the trace server gives them, by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        call = document.first
        listed = call.get("calls") if isinstance(document.head, dict) else None
        call = as_dict(listed[0]) if isinstance(listed, list) and listed else call
        placed = {"inputs", "trace_id"} <= call.keys()
        return by_marks({"the name of an operation ('op_name')": "op_name" in call, "inputs and a trace_id": placed})

    def read(self, document: Document) -> Traces:
        """The file's traces in the order in which they began; the id is in `meta`."""
        values = values_of(document)
        calls = [call for value in values for call in (value["calls"].items() if value.has("calls") else [value])]
        for name, tree in trees_of((call["trace_id"].text(), _observed(call)) for call in calls).items():
            yield ObservedRun(tree).trace(document, "weave", tree[0].place, meta={"trace_id": name})


def _observed(call: Node) -> Observed:
    inputs, output = decoded(call["inputs"]), decoded(call["output"])
    spoken = is_answer(output.value) or bare_text(output.value) is not None
    kind = str(at(call, "attributes", "kind").value or at(call, "attributes", "weave", "kind").value)
    asked = is_request(inputs.value) and (spoken or isinstance(output.value, str | None)) and kind != "tool"
    usage = next((node for _, node in members(at(call, "summary", "usage"))), None)
    return observed(
        call,
        "call" if asked else "tool" if kind == "tool" else "chain",
        inputs,
        output,
        name=call["op_name"].text().rpartition("/op/")[2].partition(":")[0],
        error=only_text(call["exception"]),
        usage=usage_of(usage) if usage is not None and isinstance(usage.value, dict) else None,
        model=only_text(inside(inputs, "model")),
    )
