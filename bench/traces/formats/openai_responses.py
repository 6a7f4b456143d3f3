"""OpenAI's Responses interface: a list of items, or requests and answers with `input` and `output`."""

from __future__ import annotations

from typing import Any

from .. import Confidence, Document, Keeps, Near, Traces, by_marks, dicts, register, values_of
from ..calls import Calls, call_of
from ..conversations import records
from ..nodes import moment
from ..responses import is_item, said_of_items
from ..steps import Steps


@register("reader", "openai_responses")
class OpenAIResponses:
    """Runs as OpenAI's Responses interface has them. A file is a list (or JSON Lines) of items, which is one run, or of answers (`output`), each
    with what was asked (`input`, `instructions`, `tools`, `previous_response_id`) beside it.

    The items of an answer are one turn; calls of tools that the server runs are calls too, and what it says of them their results. Answers
    whose input begins with an earlier conversation, or that name an earlier answer, go on with it; other conversations are traces of their own.

    Source: OpenAI API reference, "Responses" (input items, output items, previous_response_id)
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "reasoning", "tools", "model"),
        never="encrypted reasoning, the untruncated result, how the run ended",
        tested="Responses API, written by hand after the reference",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        known = records(document)
        items, answers = any(map(is_item, known)), sum(map(_is_answer, known))
        # events of an agent are lines with a type, too
        said = sum(is_item(record) or "role" in record for record in known)
        typed = items and all("role" in record or "type" in record for record in known) and 2 * said > len(known)
        whole = bool(known) and (answers == len(known) or typed)
        return by_marks(
            {"items or answers of the Responses interface": items or answers > 0, "nothing else beside them": whole}
        )

    def read(self, document: Document) -> Traces:
        """The file's runs, without ids."""
        nodes = values_of(document)
        if not nodes:
            raise document.fail("expected items or answers, got none — nothing was recorded")
        if not _is_answer(nodes[0].value):
            steps = Steps()
            steps.tell(said for group in said_of_items(nodes, steps.unread) for said in group)
            yield steps.trace(document, "openai_responses", nodes[0])
            return
        calls = Calls(document, "openai_responses")
        for node in nodes:
            call = call_of(node, node)
            call.asked, call.answered = moment(node["created_at"]), moment(node["completed_at"])
            calls.add(call)
        yield from calls.traces(nodes[0])


def _is_answer(value: Any) -> bool:
    output = value.get("output") if isinstance(value, dict) and "type" not in value else None
    whole = dicts(output) == output and all("type" in item for item in dicts(output))
    return whole and "request" not in value
