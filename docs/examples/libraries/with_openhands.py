"""A condenser of openhands-sdk as a compactor."""

from agent import condenser  # yours
from openhands.sdk import event as oh
from openhands.sdk.context.view import View
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.tool.builtins.think import ThinkObservation


def openhands(messages: list[dict]) -> list[dict]:
    events, source = [], {}
    for n, m in enumerate(messages):
        text = TextContent(text=m["content"])
        calls = [
            MessageToolCall(id=c["id"], **c["function"], origin="completion")
            for c in m.get("tool_calls", ())
        ]
        sent = [
            oh.ActionEvent(
                thought=[text],
                tool_name=c.name,
                tool_call_id=c.id,
                tool_call=c,
                llm_response_id=str(n),
            )
            for c in calls
        ]
        if m["role"] == "system":
            sent = [oh.SystemPromptEvent(system_prompt=text, tools=[])]
        elif m["role"] == "tool":
            sent = [
                oh.ObservationEvent(
                    tool_name="",
                    tool_call_id=m["tool_call_id"],
                    action_id="",
                    observation=ThinkObservation(content=[text]),
                )
            ]
        elif not calls:
            sent = [
                oh.MessageEvent(source="user", llm_message=Message(role=m["role"], content=[text]))
            ]
        events, source = events + sent, source | {e.id: m for e in sent}
    left = condenser.condense(View(events=events))
    left = left.apply(events) if isinstance(left, oh.Condensation) else left.events
    kept = [source.get(e.id) or {"role": "user", "content": e.summary} for e in left]
    return [m for n, m in enumerate(kept) if n == 0 or m is not kept[n - 1]]
