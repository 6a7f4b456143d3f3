"""The policies of LangChain: call by call against the package where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from field import (  # noqa: F401  # noqa: F401
    answer,
    contents,
    histories,
    of_original,
    original,
    spied,
    spied_writer,
)
from hypothesis import given, strategies as st

from bench.model import Message
from bench.strategies.policies.langchain import LangchainSummarize, langchain_tokens

# ---------------------------------------------------------------- against the package


def as_users(messages: Sequence[Message]) -> list[tuple[Any, ...]]:
    return [("user" if kind == "made" else kind, *rest) for kind, *rest in contents(messages)]


@given(histories())
def test_counts_as_langchain_core_does(history: list[Message]) -> None:
    utils = pytest.importorskip("langchain_core.messages.utils", reason="langchain-core is not installed")
    assert sum(map(langchain_tokens, history)) == utils.count_tokens_approximately(original(history))


@given(
    history=histories(max_turns=10, system=False),
    trigger=st.fixed_dictionaries(
        {},
        optional={
            "tokens": st.integers(1, 300),
            "messages": st.integers(1, 20),
            "fraction": st.sampled_from([0.1, 0.5]),
        },
    ),
    keep=st.integers(1, 12),
    trim=st.sampled_from([None, 1, 40, 120, 4000]),
)
def test_summarizes_as_langchain_does(
    history: list[Message], trigger: dict[str, Any], keep: int, trim: int | None
) -> None:
    module = pytest.importorskip("langchain.agents.middleware.summarization", reason="langchain is not installed")
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    def write(messages: list[Any]) -> str:
        return spied([Message(role="user", kind=kind, text=text) for kind, text, *_ in of_original(messages)])

    middleware = module.SummarizationMiddleware(
        model=FakeListChatModel(responses=["x"], profile={"max_input_tokens": 800}),
        trigger=trigger or None,
        keep=("messages", keep),
        trim_tokens_to_summarize=trim,
        summarizer=write,
    )
    theirs = middleware.before_model({"messages": original(history)}, runtime=None)
    given_triggers = [f"trigger_{name}={value}" for name, value in trigger.items()]
    given_settings = [*given_triggers, f"keep_messages={keep}", f"trim_tokens={'null' if trim is None else trim}"]
    ours = answer(f"langchain.summarize:writer=spied,{','.join(given_settings)}", history, max_tokens=800)
    if theirs is None:
        assert ours == history
        return
    _, summary, *kept = theirs["messages"]
    assert as_users(ours)[1:] == of_original(kept)
    text = summary.content.partition("\n\n")[2]
    if text == "Previous conversation was too long to summarize.":
        assert ours[0].text == LangchainSummarize.unread
    else:
        assert text == ours[0].text.strip()
