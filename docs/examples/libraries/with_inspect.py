"""A `CompactionStrategy` of Inspect as a compactor."""

from agent import compaction  # yours
from inspect_ai.model import get_model, messages_from_openai, messages_to_openai


async def inspect(messages: list[dict]) -> list[dict]:
    left, _ = await compaction.compact(
        get_model("mockllm/model"), await messages_from_openai(messages), []
    )
    return await messages_to_openai(left)
