"""Code for messages of Anthropic's interface as a compactor."""

import json

from agent import edit  # yours


def anthropic(messages: list[dict]) -> list[dict]:
    sent = []
    for m in messages:
        calls = [
            {
                "type": "tool_use",
                "id": c["id"],
                "name": c["function"]["name"],
                "input": json.loads(c["function"]["arguments"]),
            }
            for c in m.get("tool_calls", ())
        ]
        if m["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": m["tool_call_id"]}
            sent.append({"role": "user", "content": [{**result, "content": m["content"]}]})
        elif calls:
            text = [{"type": "text", "text": m["content"]}] if m["content"] else []
            sent.append({"role": "assistant", "content": [*text, *calls]})
        elif m["role"] != "system":
            sent.append(m)
    return [*(m for m in messages if m["role"] == "system"), *edit(sent)]
