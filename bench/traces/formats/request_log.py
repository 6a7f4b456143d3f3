"""Logs of model calls with whole requests and answers: LiteLLM's, and those of gateways."""

from __future__ import annotations

from .. import Confidence, Document, Fields, pieces_of, register
from ..intakes.calls import runs_of
from ..intakes.exchange import answer_in, request_in
from ..steps import Steps
from ..values import Unread
from . import Format

_SAMPLE = 20


@register("reader", "request_log")
class RequestLog(Format):
    """Runs from a log of calls, each `{request, response}` under these or similar names, nested as
    proxies do.

    Requests and answers, also in one object, may be in the form of OpenAI's chat or Responses
    interface, Anthropic's, Gemini's or Bedrock's; streamed answers are put together. A call whose
    prompt begins with an earlier prompt belongs to the same run; a shortened prompt is a
    ContextReset, and results that it words differently are a ContextEdit. Calls that share a
    session (`session_id`, `trace_id`, Claude Code's user id) are one trace; without one each
    conversation is a trace. In a folder, files of one call each are read together, as the first of
    them.

    Not kept: the untruncated result, errors and times of tools: they ran where the proxy does not
    see.

    Source: docs.litellm.ai, "StandardLoggingPayload Specification";
    github.com/OpenHands/software-agent-sdk, `openhands-sdk/openhands/sdk/llm/utils/telemetry.py`.
    Tested: LiteLLM StandardLoggingPayload; written by hand after the specification
    """

    def sniff(self, document: Document) -> Confidence:
        """POSSIBLE for a request with its answer."""
        answered = any(map(_is_call, document.first_objects[:_SAMPLE]))
        # Never CERTAIN: other formats may have requests and answers inside, too.
        return Confidence.POSSIBLE if answered else Confidence.NO

    def runs(self, document: Document, unread: Unread) -> list[Steps]:
        records = document.objects(unread)
        if len(records) == 1:
            records += [piece.first for piece in pieces_of(document, _is_one_call)[1:]]
        return runs_of(records, unread)


def _is_call(record: Fields) -> bool:
    return request_in(record) is not None and answer_in(record) is not None


def _is_one_call(document: Document) -> bool:
    return len(document.first_objects) == 1 and _is_call(document.first)
