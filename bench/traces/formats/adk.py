"""Sessions of Google's Agent Development Kit: the events of one conversation, and evaluation sets with what was said and called."""

from __future__ import annotations

from .. import Confidence, Document, Keeps, Near, Node, Traces, by_marks, dicts, register, values_of
from ..keyed import said_of_keyed
from ..nodes import at, first_of, inside, moment, only_text
from ..parts import usage_of
from ..steps import Said, Steps


@register("reader", "adk")
class AgentDevelopmentKit:
    """One trace a session: `{id, events}`, or a list or lines of events alone; of an evaluation set (`eval_cases`) one trace a case.

    An event of `user` is a user turn, one of an agent a turn of that agent's, one that holds `function_response` parts their results. An event's
    `transfer_to_agent` is a RouteDecision. Pieces of a stream (`partial`) are counted: the whole event follows them.

    Source: google.github.io/adk-docs, "Events" and "Sessions"; github.com/google/adk-python, `src/google/adk/events/event.py`
    """

    keeps = Keeps(
        results="as shown",
        also=("usage", "times", "errors", "routes", "reasoning", "model"),
        never="instructions and tool definitions, which a session does not hold; what an agent was shown of other agents' events",
        tested="sessions of adk-python, published files and by hand after the source",
    )

    def sniff(self, document: Document) -> Confidence | Near:
        head = document.head
        held = head if isinstance(head, dict) else {}
        cases = dicts(held.get("eval_cases") or held.get("evalCases"))
        if cases and "conversation" in cases[0]:
            return Confidence.CERTAIN
        events = dicts(held.get("events") if "events" in held else head if isinstance(head, list) else [head])
        spoken = [event for event in events if event.keys() >= {"author", "content"}]
        invoked = any(event.keys() & {"invocation_id", "invocationId"} for event in spoken)
        return by_marks(
            {"events with an author and a content": bool(spoken), "the invocation that each is of": invoked}
        )

    def read(self, document: Document) -> Traces:
        """The file's sessions or cases; the session's id is in `meta`."""
        values = values_of(document)
        if values and values[0].has("author"):
            yield _session(values).trace(document, "adk", values[0])
            return
        for value in values:
            cases = first_of(value, "eval_cases", "evalCases").items()
            for case in cases:
                name = only_text(first_of(case, "eval_id", "evalId")) or ""
                yield _case(case).trace(document, "adk", case, id=name)
            if not cases:
                names = {"session_id": "id", "app": "app_name", "user": "user_id"}
                meta = {ours: value[theirs].value for ours, theirs in names.items() if value[theirs].value}
                yield _session(value["events"].items()).trace(document, "adk", value, meta=meta)


def _session(events: list[Node]) -> Steps:
    steps = Steps()
    for event in events:
        author, t = only_text(event["author"]) or "agent", moment(event["timestamp"])
        if event["partial"].value is True:
            steps.unread.add("piece of a streamed event")
            continue
        told = _told(steps, event["content"], "user" if author == "user" else "assistant")
        error = only_text(first_of(event, "error_message", "errorMessage", "error_code", "errorCode"))
        steps.unread.add("event that is an error", error is not None)
        usage = usage_of(first_of(event, "usage_metadata", "usageMetadata"))
        ended = only_text(first_of(event, "finish_reason", "finishReason"))
        model = only_text(first_of(event, "model_version", "modelVersion"))
        for said in told:
            who = author if said.role != "user" else "agent"
            steps.say(said, agent=who, t=t, model=model, finish_reason=ended, usage=usage)
        taken = inside(event, "actions", "transfer_to_agent"), inside(event, "actions", "transferToAgent")
        for name in filter(None, map(only_text, taken)):
            steps.route(name, "transfer_to_agent", author, t=t)
    return steps


def _told(steps: Steps, content: Node, role: str) -> list[Said]:
    """Return the text and calls of a content; its own role only tells the model from the user, and results come as the user's."""
    if content.value is None:
        return []
    told = said_of_keyed(content.made({**content.object(), "role": role}), steps.unread)
    return [said for said in told if said.text or said.calls or said.role == "tool" or said.reasoning or said.content]


def _case(case: Node) -> Steps:
    """A case of an evaluation set: each invocation's question, the calls with their results, and the answer."""
    steps = Steps()
    for turn in case["conversation"].items():
        between = turn["intermediate_data"]
        calls = [{"function_call": call.value} for call in at(between, "tool_uses").items()]
        results = [{"function_response": result.value} for result in at(between, "tool_responses").items()]
        held = [turn["user_content"], between.made({"parts": calls} if calls else None)]
        held += [between.made({"parts": results} if results else None), turn["final_response"]]
        for content, role in zip(held, ("user", "assistant", "user", "assistant"), strict=True):
            steps.tell(_told(steps, content, role))
    return steps
