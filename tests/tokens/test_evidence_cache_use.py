"""The share of readable cached tokens that was really read, by recorded usage."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import trace

from bench.model import AnyStep, ContextReset, ModelTurn, ToolsChanged, Usage, UserTurn
from bench.tokens.caching import cache_use


def turn(
    index: int,
    cached: int | None = 0,
    *,
    prompt: int = 5000,
    answer: int = 0,
    written: int | None = None,
    **fields: Any,
) -> ModelTurn:
    usage = Usage(
        prompt_tokens=prompt, completion_tokens=answer, cached_prompt_tokens=cached, cache_write_tokens=written
    )
    return ModelTurn(**{"index": index, "model": "gpt-4o", "usage": usage, **fields})


USED, UNUSED = (True, 1.0), (False, 0.0)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ((turn(0), turn(1, 4992)), USED),  # of 5,000 all that 128 divides
        ((turn(0), turn(1, 2496)), (True, 0.5)),
        ((turn(0), turn(1, 1664)), (True, 0.3333)),
        ((turn(0), turn(1, 5000)), USED),  # more than the rule says
        ((turn(0), turn(1, 0)), UNUSED),
        ((turn(0), turn(1, None, written=9), turn(2, 0)), (True, 0.0)),  # what was written was for the cache
        ((turn(0), turn(1, 4992), turn(2, 0)), (True, 0.5)),
        ((turn(0, None), turn(1, None)), USED),  # not recorded
        ((turn(0, None), turn(1, None), turn(2, 0)), UNUSED),  # what one of them does not say it did not read
        ((turn(0), ModelTurn(index=1, model="gpt-4o"), turn(2, 0)), USED),  # the second says nothing of its prompt
        ((turn(0),), USED),  # nothing came before
        ((), USED),
        ((turn(0), turn(1, 0, thread="critic")), USED),
        ((turn(0), turn(1, 0, model="gpt-4o-mini")), USED),  # another model's cache
        ((turn(0, model=None), turn(1, 0, model=None)), UNUSED),  # the model that is named for all
        ((turn(0, model=None), turn(1, 0)), UNUSED),
        ((turn(0, model="command-r"), turn(1, 0, model="command-r")), USED),  # no rule is known
        ((turn(0), ContextReset(index=1), turn(2, 0)), USED),
        ((turn(0), ToolsChanged(index=1, tools=()), turn(2, 0)), USED),
        ((turn(0), ContextReset(index=1, thread="critic"), turn(2, 0)), UNUSED),
        ((turn(0), UserTurn(index=1, content="and"), turn(2, 0)), UNUSED),
        ((turn(0), turn(1, 960, prompt=2000)), (True, 0.5)),  # no more than the prompt has: 1,920
        ((turn(0, prompt=1023), turn(1, 0)), USED),  # too short to be kept
        ((turn(0, prompt=1000, answer=300), turn(1, 0)), USED),  # an answer is not kept here
        ((turn(0, prompt=1000, answer=300, model="gpt-5.2"), turn(1, 640, model="gpt-5.2")), (True, 0.5)),  # here it is: 1,280
        ((turn(0, t=100.0), turn(1, 0, t=700.0)), UNUSED),  # ten minutes it is kept
        ((turn(0, t=100.0), turn(1, 0, t=701.0)), USED),
        ((turn(0, t=100.0), turn(1, 0)), UNUSED),  # nobody knows when
        ((turn(0), turn(1, 0, t=9000.0)), UNUSED),
    ],
)  # fmt: skip
def test_the_use_of_a_cache_equals_that_by_hand(steps: tuple[AnyStep, ...], found: tuple[bool, float]) -> None:
    assert cache_use(trace(*steps), "gpt-4o")[:2] == found


@pytest.mark.parametrize(
    ("model", "cached", "used"),
    [
        ("gpt-4o", (0, None), False),  # one turn tells, so what the other leaves out is nothing
        ("gpt-4o", (None, None), True),  # OpenAI promises that it is read
        ("gemini-2.5-flash", (None, None), False),  # Google, xAI and Groq promise nothing
        ("grok-4", (None, None), False),
        ("gemini-2.5-flash", (None, 4000), True),
    ],
)
def test_usage_without_cached_tokens_follows_the_rule_of_the_provider(model, cached, used) -> None:
    turns = (turn(number, read, model=model) for number, read in enumerate(cached))
    assert cache_use(trace(*turns), model).used is used


def test_without_usage_the_rule_of_the_provider_is_used() -> None:
    bare = trace(ModelTurn(index=0, model="gemini-2.5-flash"), ModelTurn(index=1, model="gemini-2.5-flash"))
    assert cache_use(bare, None) == (True, 1.0)
