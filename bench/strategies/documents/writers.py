"""Writers `extractive` and `model`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from ...model import Message, compact_json, lines_of
from ...model.errors import StrategyError
from ...plugins.registry import file_beside, register
from ...text.facts import find_facts
from ..histories import Count
from ..messages import own_calls
from ..own_calls import CASSETTE, Cassette, current, is_recording


@register("writer", "extractive")
def extractive(
    messages: Sequence[Message], *, max_chars: Count = 2000, line_chars: Count = 160, lines_per_message: Count = 8
) -> str:
    """A summary made of the messages' own lines: those that state most facts for their length, in order, each under its role.

    Deterministic and offline. At most `max_chars` characters, header included; of each message the first and last lines compete
    (`lines_per_message` in all), cut at `line_chars`. Lines of an earlier summary compete as they are. No messages give the header alone.

    Source: Luhn 1958, "The Automatic Creation of Literature Abstracts": the sentences that say most, as they stand

    >>> print(extractive([Message(role="user", text="Count the rows of data/cells.csv\\nplease", kind="user")]))
    Summary of 1 earlier messages:
    user: Count the rows of data/cells.csv
    user: please
    """
    header = f"Summary of {len(messages)} earlier messages:"
    room = max_chars - len(header)
    candidates = list(_candidates(messages, line_chars, lines_per_message))
    chosen: list[int] = []
    for position in _by_worth(candidates):
        line = candidates[position][0]
        if len(line) + 1 <= room:
            chosen.append(position)
            room -= len(line) + 1
    return "\n".join([header, *(candidates[position][0] for position in sorted(chosen))])[:max_chars]


def _candidates(
    messages: Sequence[Message], line_chars: int, lines_per_message: int
) -> Iterator[tuple[str, list[str], bool]]:
    """Each line that competes, once: the line under its role, its facts, and whether it opens a message."""
    seen: set[str] = set()
    for message in messages:
        lines = lines_of(message.text)
        if message.kind == "made":
            offered = lines[1:]  # the first line is the earlier summary's header
        else:
            first = lines_per_message - lines_per_message // 3
            last = lines[max(first, len(lines) - lines_per_message // 3) :] if lines_per_message >= 3 else []
            offered = [f"{message.role}: {line.strip()[:line_chars]}" for line in [*lines[:first], *last]]
        for position, line in enumerate(offered):
            if line not in seen:
                seen.add(line)
                yield line, [fact for _, fact in find_facts(line)], position == 0


def _by_worth(candidates: Sequence[tuple[str, list[str], bool]]) -> Iterable[int]:
    """Return the positions of the candidates: first short lines with rare facts, those that open a message above all; of equals the later one."""
    frequency = Counter(fact for _, facts, _ in candidates for fact in facts)

    def worth(position: int) -> tuple[float, int]:
        line, facts, opens = candidates[position]
        # not a set: it would add up in another order each time
        rarity = sum(1 / frequency[fact] for fact in dict.fromkeys(facts))
        return (rarity + (1.0 if opens else 0.25)) / (20 + len(line)), position

    return sorted(range(len(candidates)), key=worth, reverse=True)


INSTRUCTION = (
    "You keep the notes of an agent at work. Shorten the messages you are given to what its next steps may depend on: aims, decisions, "
    "open questions, and every name, path, number and command exactly as written. Add nothing. Answer with the notes alone."
)


@register("writer", "model", needs="a cassette")
class ModelWriter:
    """A model's summary, out of the cassette that keeps its answers; recorded where the command line names a host.

    `cassette` lies beside the scenario. A request that it does not hold raises StrategyError naming the nearest one that it does; `bench run
    --record-model HOST` asks the host for what is missing.

    Source: 002 Current Behavior; OpenAI API reference, "Create chat completion"; Anthropic API reference, "Messages"

    >>> import tempfile
    >>> from bench.strategies.own_calls import RecordedAnswer
    >>> told = [Message(role="user", text="Count the walls of Level 2.", kind="user")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = Cassette(file_beside(f"{folder}/kept.jsonl"), "kept.jsonl", may_be_missing=True)
    ...     kept.keep(request_of("gpt-4o-mini", told), RecordedAnswer(text="Aim: count walls, Level 2."))
    ...     ModelWriter(cassette=f"{folder}/kept.jsonl").write(told)
    'Aim: count walls, Level 2.'
    """

    def __init__(
        self,
        *,
        cassette: str = CASSETTE,
        model: str = "gpt-4o-mini",
        api: Literal["openai", "anthropic"] = "openai",
        instruction: str = INSTRUCTION,
    ) -> None:
        self.model, self.api, self.instruction = model, api, instruction
        self.name, self.path = cassette, file_beside(cassette)
        # one that is missing or damaged is told before a replay
        Cassette(self.path, cassette, may_be_missing=is_recording())

    def write(self, messages: Sequence[Message]) -> str:
        named = {} if self.api == "openai" else {"api": self.api}
        request = {**request_of(self.model, messages, self.instruction), **named}
        try:
            return current().answer(request, self.path, self.name)
        except StrategyError as error:
            raise StrategyError(f"writer 'model': {error}") from None


def request_of(model: str, messages: Sequence[Message], instruction: str = INSTRUCTION) -> dict[str, Any]:
    """Return the request for some messages: the model's name, the instruction, and the messages as one text."""
    told = [{"role": "system", "content": instruction}, {"role": "user", "content": transcript(messages)}]
    return {"model": model, "messages": told}


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as one text: each under its role, tool calls below what was said; `""` for none."""
    texts = []
    for message in messages:
        calls = [f"{call.name} {compact_json(call.arguments)}" for call in own_calls(message)]
        texts.append("\n".join([f"[{message.role}]", *([message.text] if message.text or not calls else []), *calls]))
    return "\n\n".join(texts)
