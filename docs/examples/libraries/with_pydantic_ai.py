"""A history processor of Pydantic AI as a compactor."""

from agent import processor  # yours
from pydantic_ai import messages as ai


def pydantic_ai(messages: list[dict]) -> list[dict]:
    parts = {"system": ai.SystemPromptPart, "user": ai.UserPromptPart}
    sent = []
    for m in messages:
        calls = [
            ai.ToolCallPart(c["function"]["name"], c["function"]["arguments"], c["id"])
            for c in m.get("tool_calls", ())
        ]
        if m["role"] == "assistant":
            sent.append(
                ai.ModelResponse(
                    [*([ai.TextPart(m["content"])] if m["content"] or not calls else []), *calls]
                )
            )
        else:
            part = (
                ai.ToolReturnPart("", m["content"], m["tool_call_id"])
                if m["role"] == "tool"
                else parts[m["role"]](m["content"])
            )
            sent.append(ai.ModelRequest([part]))
    by_id = {id(s.parts[0]): m for s, m in zip(sent, messages, strict=True)}
    return [
        by_id.get(id(p)) or {"role": "user", "content": str(p.content)}
        for s in processor(sent)
        for p in s.parts[:1]
    ]
