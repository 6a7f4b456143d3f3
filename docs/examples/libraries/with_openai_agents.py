"""A `call_model_input_filter` of the OpenAI Agents SDK as a compactor; its items are those of the Responses interface."""

from agent import input_filter  # yours
from agents.run import CallModelData, ModelInputData


def openai_agents(messages: list[dict]) -> list[dict]:
    items, source = [], []
    for m in messages:
        if m["role"] == "tool":
            made = [
                {
                    "type": "function_call_output",
                    "call_id": m["tool_call_id"],
                    "output": m["content"],
                }
            ]
        else:
            calls = [
                {"type": "function_call", "call_id": c["id"], **c["function"]}
                for c in m.get("tool_calls", ())
            ]
            made = [
                *(
                    [{"role": m["role"], "content": m["content"]}]
                    if m["content"] or not calls
                    else []
                ),
                *calls,
            ]
        items, source = items + made, source + [m] * len(made)
    by_id = {id(item): m for item, m in zip(items, source, strict=True)}
    left = input_filter(
        CallModelData(ModelInputData(input=items, instructions=None), agent=None, context=None)
    ).input
    kept = [
        by_id.get(id(i))
        or {"role": i.get("role", "user"), "content": str(i.get("content") or i.get("output"))}
        for i in left
    ]
    return [m for n, m in enumerate(kept) if not any(m is other for other in kept[:n])]
