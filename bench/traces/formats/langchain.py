"""Messages of LangChain, dumped in any of the forms that it writes."""

from __future__ import annotations

from .. import Confidence, Document, Keeps, Near, Traces, by_marks, dicts, register
from ..conversations import conversations, sample
from ..langchain import is_message, said_of
from ..nodes import picked
from ..steps import Steps

_MARKS = {"lc", "kwargs", "response_metadata", "invalid_tool_calls", "additional_kwargs"}


@register("reader", "langchain")
class LangChain:
    """One conversation a trace: a list of messages, `{"messages": […]}`, a list or lines of those, or lines of messages.

    A message may be written by `dumpd` (`{"lc": 1, "type": "constructor", …}`), by `messages_to_dict` (`{type, data}`) or as its own fields
    (`model_dump`). Usage, model, reasoning and errors come from where LangChain keeps them; a tool message's artifact is the result's
    structured value, and the untruncated one where it is longer than what was shown. A named assistant message is that agent's.

    Source: LangChain reference, `langchain_core.messages` (messages_to_dict, usage_metadata, ToolMessage.artifact), `langchain_core.load.dump`
    """

    keeps = Keeps(
        results="untruncated",
        also=("usage", "errors", "reasoning", "model"),
        never="times, tool definitions, routes: messages alone have none",
        tested="langchain-core 1.7.2, recorded",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        _, messages = sample(document) or (set(), [])
        keys = {key for item in dicts(messages) for key in item}
        if messages and all(map(is_message, messages)):
            return Confidence.CERTAIN
        what = "each message as LangChain writes it ('type' with 'content' or 'data', or 'lc' with 'id' and 'kwargs')"
        return by_marks({"keys of LangChain's messages": bool(keys & _MARKS), what: False})

    def read(self, document: Document) -> Traces:
        """The file's conversations in order."""
        for frame, messages in conversations(document):
            steps = Steps()
            for message in messages:
                said = said_of(message, steps.unread)
                if said is not None:
                    steps.say(said)
            place = frame or (messages[0] if document.is_json_lines else document.node())
            beside = {} if frame is None else picked(frame, *(key for key in frame.object() if key != "messages"))
            yield steps.trace(document, "langchain", place, meta=beside)
