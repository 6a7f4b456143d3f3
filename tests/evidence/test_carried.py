"""Costs of messages over a run against a slow walk that charges every token of every prompt on its own."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from bench.evidence.carried import OUTSIDE, TOOLS, carried_by
from bench.model.audit import Charges
from bench.model.replay import Call


def slow(calls, tokens, charges):
    """Each token of each prompt, in order, at the price of its place."""
    prompts: dict[str, list[int]] = {}
    found: dict[int, list[float]] = {}
    for call in calls:
        prompt = prompts[call.thread] = [*prompts.get(call.thread, [])[: call.keep], *call.tail]
        charged = charges[call.step]
        inside = sum(tokens[number] for number in prompt)
        scale = min(1.0, charged.prompt_tokens / inside) if inside else 1.0
        places = [n for n in prompt for _ in range(tokens[n])]
        places[:0] = [TOOLS if n < call.tools_tokens else OUTSIDE for n in range(charged.prompt_tokens - inside)]
        for place, number in enumerate(places):
            begin, end = place * scale, (place + 1) * scale
            read = max(0.0, min(end, charged.cached_tokens) - begin)
            fresh = charged.prompt_tokens - charged.cached_tokens
            usd = read * (charged.cached_usd / charged.cached_tokens if read else 0.0)
            usd += (end - begin - read) * (charged.new_usd / fresh if fresh else 0.0)
            cost = found.setdefault(number, [0.0, 0.0])
            cost[0] += scale
            cost[1] += usd
    return found


@st.composite
def runs(draw):
    tokens = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    calls, charges, length = [], {}, 0
    for step in range(draw(st.integers(1, 5))):
        keep = draw(st.integers(0, length))
        tail = draw(st.lists(st.integers(0, len(tokens) - 1), max_size=4, unique=True))
        calls.append(Call(step, "main", keep, tuple(tail), draw(st.integers(0, 9))))
        length = keep + len(tail)
        prompt = draw(st.integers(1, 60))
        read = draw(st.integers(0, prompt))
        charges[step] = Charges(
            prompt_tokens=prompt, cached_tokens=read, usd=0.0, cached_usd=read * 0.1, new_usd=float(prompt - read)
        )
    return calls, tokens, charges


@given(runs())
def test_carried_costs_equal_a_count_token_by_token(drawn):
    charges = drawn[2]
    found, wanted = carried_by(*drawn), slow(*drawn)
    for number, (carried, usd) in wanted.items():
        assert found[number].tokens == pytest.approx(carried, abs=1e-6)
        assert found[number].usd == pytest.approx(usd, abs=1e-6)
    assert sum(cost.usd for cost in found.values()) == pytest.approx(
        sum(item.cached_usd + item.new_usd for item in charges.values())
    )
    assert sum(cost.tokens for cost in found.values()) == pytest.approx(
        sum(item.prompt_tokens for item in charges.values())
    )
