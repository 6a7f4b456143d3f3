"""A compaction strategy of Agent Framework as a compactor."""

from agent import strategy  # yours
from agent_framework import Content, Message, annotate_message_groups, included_messages


async def agent_framework(messages: list[dict]) -> list[dict]:
    sent = []
    for m in messages:
        calls = [
            Content.from_function_call(
                c["id"], c["function"]["name"], arguments=c["function"]["arguments"]
            )
            for c in m.get("tool_calls", ())
        ]
        text = [Content.from_text(m["content"])] if m["content"] or not calls else []
        result = (
            [Content.from_function_result(m["tool_call_id"], result=m["content"])]
            if m["role"] == "tool"
            else [*text, *calls]
        )
        sent.append(Message(m["role"], result))
    by_id = {id(s): m for s, m in zip(sent, messages, strict=True)}
    annotate_message_groups(sent)
    await strategy(sent)
    return [
        by_id.get(id(s)) or {"role": s.role, "content": s.text} for s in included_messages(sent)
    ]
