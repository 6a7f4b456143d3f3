"""Writer `model`: summaries by a language model, answered once over the network and from a cassette ever after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...errors import SpecError, StrategyError, one_line
from ...files.cassettes import Cassette, Endpoint, endpoint
from ...model import Message, compact_json
from ...plugins.registry import file_beside, register

INSTRUCTION = (
    "You keep the notes of an agent at work. Shorten the messages you are given to what its next steps may depend on: aims, decisions, "
    "open questions, and every name, path, number and command exactly as written. Add nothing. Answer with the notes alone."
)


@register("writer", "model", needs="a cassette")
class ModelWriter:
    """A model's summary, out of a cassette.

    `cassette` is the file that keeps the answers, beside the scenario and in its repository; `model` and what is sent make up a request, its answer
    is kept under it. A request that the cassette does not hold raises StrategyError naming the nearest one that it does. `bench run --record-from
    URL` asks that OpenAI-compatible endpoint for what is missing, and keeps it; this needs the extra `bench[model]`, and the key in
    OPENAI_API_KEY where the endpoint wants one. No spec can ask for it. The instruction is not counted in `cost.writer_tokens`.

    Source: 002 Current Behavior; OpenAI API reference, "Create chat completion"

    >>> import tempfile
    >>> told = [Message(role="user", text="Count the walls of Level 2.", kind="user")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/kept.jsonl"
    ...     Cassette(file_beside(path), path, may_be_missing=True).keep(request("gpt-4o-mini", told), "Aim: count walls, Level 2.")
    ...     ModelWriter(cassette=path).write(told)
    'Aim: count walls, Level 2.'
    """

    def __init__(
        self,
        *,
        cassette: str = "summaries.cassette.jsonl",
        model: str = "gpt-4o-mini",
        instruction: str = INSTRUCTION,
    ) -> None:
        self.model, self.instruction = model, instruction
        self._endpoint = endpoint()
        if not cassette.endswith(".jsonl"):
            raise SpecError(f"{cassette}: is no cassette — give a name that ends in .jsonl")
        self._cassette = Cassette(file_beside(cassette), cassette, may_be_missing=self._endpoint is not None)
        if self._endpoint is not None:
            _openai()

    def write(self, messages: Sequence[Message]) -> str:
        """The summary of some messages. Raises StrategyError where it cannot be had."""
        asked = request(self.model, messages, self.instruction)
        answer = self._cassette.answer(asked)
        if answer is None and self._endpoint is not None:
            answer = _answered(asked, self._endpoint)
            self._cassette.keep(asked, answer)
        if answer is None:
            raise StrategyError(f"writer 'model': {self._cassette.miss(asked)} — record it with --record-from")
        return answer


def request(model: str, messages: Sequence[Message], instruction: str = INSTRUCTION) -> dict[str, Any]:
    """What is sent for some messages: the model's name, the instruction, and the messages as one text."""
    told = [{"role": "system", "content": instruction}, {"role": "user", "content": transcript(messages)}]
    return {"model": model, "messages": told}


def _answered(asked: dict[str, Any], where: Endpoint) -> str:
    openai = _openai()
    key = os.environ.get("OPENAI_API_KEY") or "none"
    try:
        with openai.OpenAI(base_url=where.base_url, api_key=key, timeout=where.timeout_s) as client:
            reply = client.chat.completions.create(**asked)
    except openai.OpenAIError as error:
        raise StrategyError(
            f"writer 'model': {where.base_url}: {one_line(error)} — check the address and the key"
        ) from None
    text = reply.choices[0].message.content if reply.choices else None
    if not text:
        raise StrategyError(
            f"writer 'model': {where.base_url} gave no text for model {asked['model']!r} — try another model"
        )
    return str(text)


def transcript(messages: Sequence[Message]) -> str:
    """Messages as one text: each under its role, tool calls below what was said. `""` for none.

    >>> transcript([Message(role="user", text="a", kind="user"), Message(role="tool", text="b", kind="result")])
    '[user]\\na\\n\\n[tool]\\nb'
    """
    return "\n\n".join(f"[{message.role}]\n{_said(message)}" for message in messages)


def _said(message: Message) -> str:
    calls = [f"{call.name} {compact_json(call.arguments)}" for call in message.tool_calls if not call.in_text]
    return "\n".join([message.text, *calls] if message.text else calls)


def _openai() -> Any:
    try:
        import openai
    except ImportError:
        raise SpecError("--record-from needs the extra bench[model] — pip install openai") from None
    return openai
