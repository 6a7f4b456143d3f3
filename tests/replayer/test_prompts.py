"""Prompts as edits: replayed, they give the very lists that the compactor returned, and the tokens of a count from scratch."""

from __future__ import annotations

import pytest
from bench.replayer.prompts import BaseMessages, MessageTokens, ThreadHistory, base_message, message_key
from hypothesis import given, strategies as st
from measured import COUNT

from bench.model import ImagePart, Message, ModelTurn, Run, SystemTurn, TextPart, ToolCall, ToolResult, UserTurn
from bench.model.errors import StrategyError
from bench.strategies import Edits
from bench.tokens.counting import PROMPT_TOKENS, TokenCounter


def made(text):
    return Message(role="user", text=text, kind="made")


class Scripted:
    """A compactor that does what a list of choices says, and remembers what the history was afterwards."""

    def __init__(self, choices):
        self.choices = iter(choices)
        self.returned = []
        self.seen = []

    def __call__(self, window):
        history = list(window.messages)
        self.seen.append((history, list(window.added), window.tokens))
        how, numbers = next(self.choices)
        if how == "nothing":
            after, answer = history, None
        elif how in ("list", "edits list", "list and more"):
            pool = [*history, made("a new one"), made(f"numbered {len(history)}")]
            after = [pool[number % len(pool)] for number in numbers]
            answer = Edits(messages=after) if how == "edits list" else after
            if how == "list and more":
                more = [made("one more"), *history[:1]]
                after, answer = [*after, *more], Edits(messages=after, append=more)
        else:
            replace = {}
            for number in numbers:
                old = history[number % len(history)] if history else None
                if history.count(old) == 1:  # which of two places of one message is meant is not defined
                    replace[old] = None if number % 3 == 0 else made(f"instead {number}")
            appended = [made(f"appended {number}") for number in numbers if number % 2]
            after = [replace.get(item, item) for item in history]
            after = [item for item in after if item is not None] + appended
            answer = Edits(replace=replace, append=appended)
        self.returned.append(after)
        return answer


choices = st.lists(
    st.tuples(
        st.sampled_from(("nothing", "list", "edits list", "list and more", "replace")),
        st.lists(st.integers(0, 30), max_size=8, unique=True),
    ),
    max_size=8,
)


joins = st.lists(st.integers(0, 3), min_size=8, max_size=8)


def replayed(script, joins, *, per_call):
    """A history that grows, its compactor doing what a script says: the compactor, the joined messages before each prompt with the new ones,
    and each prompt with its keys.
    """
    compact, ledger = Scripted(script), MessageTokens(BaseMessages(COUNT))
    history = ThreadHistory("main", ledger, compact, None, None, per_call=per_call)
    index, everything, joined = 0, [], []
    for joining in joins[: len(script)]:
        new = [base_message(UserTurn(index=index + n, content=f"message {(index + n) % 3}")) for n in range(joining)]
        for message in new:
            history.join(message)
        everything += new
        shown = [*compact.returned[-1], *new] if compact.returned else new
        assert [id(message) for message in history.messages] == [id(message) for message in shown]
        joined.append((list(everything), new))
        history.compact(ModelTurn(index=index + joining))
        index += joining + 1
    run = Run(trace_id="t", trace_sha256="", strategy="s", spec="", encoding="o200k_base", messages=ledger.messages,
              message_tokens=ledger.message_tokens, prompts=tuple(history.prompts))  # fmt: skip
    walked = [(prompt, list(keys)) for prompt, keys in run.walk()]
    for (prompt, keys), messages in zip(walked, compact.returned, strict=True):
        assert keys == [message_key(message) for message in messages]
        assert prompt.tokens == PROMPT_TOKENS + sum(COUNT.message(message) for message in messages)
    for seen, _, tokens in compact.seen:
        assert tokens == PROMPT_TOKENS + sum(COUNT.message(message) for message in seen)
    return compact, joined, walked


@given(choices, joins)
def test_walking_the_edits_gives_the_lists_that_were_returned(script, joins):
    compact, _, _ = replayed(script, joins, per_call=False)
    for (seen, added, _), before in zip(compact.seen[1:], compact.returned, strict=False):
        assert seen == before + added, "what it did before is what it finds now"


@given(choices, joins)
def test_a_view_is_given_everything_each_time_and_its_answer_is_that_prompt(script, joins):
    compact, joined, walked = replayed(script, joins, per_call=True)
    assert [(seen, added) for seen, added, _ in compact.seen] == joined
    before: list[str] = []
    for (prompt, keys), (_, added) in zip(walked, joined, strict=True):
        grown = [*before, *(message_key(message) for message in added)]
        assert prompt.compacted is (keys != grown)
        pairs = enumerate(zip(before, keys, strict=False))
        shared = next((n for n, (old, new) in pairs if old != new), min(len(before), len(keys)))
        assert all(splice.at >= shared for splice in prompt.splices), "the prefix that a cache would serve"
        before = keys


def edits_of(history):
    return [[(splice.at, splice.removed, len(splice.added)) for splice in p.splices] for p in history.prompts]


def test_a_view_that_writes_a_message_anew_does_not_change_the_prompt():
    def masked(window):
        return [made("masked"), *window.messages[1:]]

    history = ThreadHistory("main", MessageTokens(BaseMessages(COUNT)), masked, None, None, per_call=True)
    for index in range(4):
        history.join(base_message(UserTurn(index=2 * index, content=f"message {index}")))
        history.compact(ModelTurn(index=2 * index + 1))
    assert edits_of(history) == [[(prompt, 0, 1)] for prompt in range(4)]
    assert [prompt.compacted for prompt in history.prompts] == [True, False, False, False]


def test_what_a_view_leaves_out_comes_back_when_it_says_so():
    answers = iter([None, 1, None])

    def sometimes(window):
        last = next(answers)
        return None if last is None else window.messages[-last:]

    history = ThreadHistory("main", MessageTokens(BaseMessages(COUNT)), sometimes, None, None, per_call=True)
    shown = []
    for index, text in enumerate("abc"):
        history.join(base_message(UserTurn(index=2 * index, content=text)))
        history.compact(ModelTurn(index=2 * index + 1))
        shown.append("".join(message.text for message in history.messages))
    assert shown == ["a", "b", "abc"]


def history_of(compact, *texts):
    history = ThreadHistory("main", MessageTokens(BaseMessages(TokenCounter())), compact, None, None)
    for index, text in enumerate(texts):
        history.join(base_message(UserTurn(index=index, content=text)))
    return history


def test_a_prompt_that_only_grew_costs_what_it_grew_by():
    history = history_of(None, "a", "b")
    history.compact(ModelTurn(index=2))
    history.join(base_message(UserTurn(index=3, content="c")))
    history.compact(ModelTurn(index=4))
    history.compact(ModelTurn(index=5))
    assert edits_of(history) == [[(0, 0, 2)], [(2, 0, 1)], []]
    assert [prompt.compacted for prompt in history.prompts] == [False, False, False]


def test_a_rewritten_message_is_one_edit_and_the_rest_is_kept():
    history = history_of(lambda window: Edits(replace={window.messages[1]: made("short")}), "a", "b", "c")
    history.compact(ModelTurn(index=3))
    (prompt,) = history.prompts
    assert prompt.compacted
    assert [message.text for message in history.messages] == ["a", "short", "c"]


def test_messages_and_more_are_both_applied():
    history = history_of(lambda window: Edits(messages=window.messages[1:], append=[made("more")]), "a", "b")
    history.compact(ModelTurn(index=2))
    assert [message.text for message in history.messages] == ["b", "more"]
    assert history.prompts[0].tokens == PROMPT_TOKENS + 2 * 4


def test_tool_definitions_are_counted_in_each_prompt_and_said_when_they_change():
    history = history_of(None, "a")
    tools = ({"name": "query"},)
    history.compact(ModelTurn(index=1))
    history.set_tools(tools)
    history.compact(ModelTurn(index=2))
    history.compact(ModelTurn(index=3))
    plain, first, second = history.prompts
    cost = COUNT.tools(tools)
    assert cost > 0
    assert [plain.tokens + cost] * 2 == [first.tokens, second.tokens]
    assert [prompt.tools_changed for prompt in history.prompts] == [False, True, False]


def test_nothing_at_all_is_a_prompt_of_its_framing():
    history = history_of(None)
    history.compact(ModelTurn(index=0))
    assert history.prompts[0].tokens == PROMPT_TOKENS
    assert history.prompts[0].splices == ()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("text", "a compactor gives a list of messages, Edits or None, got str"),
        ({"messages": []}, "got dict"),
        (["text"], "a compactor's messages must be Message values, got str"),
        (Edits(append=["text"]), "got str"),
        (Edits(replace={made("x"): None}), "not in the history"),
    ],
)
@pytest.mark.parametrize("per_call", [False, True])
def test_an_answer_that_is_none_is_refused(answer, says, per_call):
    history = ThreadHistory(
        "main", MessageTokens(BaseMessages(COUNT)), lambda window: answer, None, None, per_call=per_call
    )
    history.join(base_message(UserTurn(index=0, content="a")))
    with pytest.raises(StrategyError, match="a compactor") as caught:
        history.compact(ModelTurn(index=1))
    assert says in str(caught.value)


def test_what_a_compactor_sees_cannot_be_changed():
    seen = []
    history_of(lambda window: seen.append(window.messages), "a", "b").compact(ModelTurn(index=2))
    (view,) = seen
    assert [message.text for message in view] == ["a", "b"]
    assert (len(view), view[-1].text, [m.text for m in view[:1]]) == (2, "b", ["a"])
    with pytest.raises(TypeError):
        view[0] = None
    assert not hasattr(view, "append")


# ---------------------------------------------------------------- messages


def test_the_message_of_each_kind_of_step():
    call = ToolCall(id="c", name="query", arguments={})
    image = ImagePart(media_type="image/png", size_bytes=3, sha256="0" * 64)
    system = base_message(SystemTurn(index=0, content="be brief"))
    user = base_message(UserTurn(index=1, content=(TextPart(text="see"), image)))
    turn = base_message(ModelTurn(index=2, content="ok", tool_calls=(call,), reasoning="thought"))
    resent = base_message(ModelTurn(index=3, content="ok", reasoning="thought"), 7)
    got = base_message(ToolResult(index=4, call_id="c", function="query", role="user", seen="cut", full="whole"))
    assert (system.role, system.kind, system.text, system.step) == ("system", "system", "be brief", 0)
    assert (user.role, user.text, user.non_text) == ("user", "see", 1)
    assert (turn.role, turn.kind, turn.text, turn.tool_calls) == ("assistant", "model", "ok", (call,))
    assert (turn.reasoning_tokens, resent.text, resent.reasoning_tokens) == (0, "ok", 7)
    assert (got.role, got.kind, got.text, got.call_id, got.step) == ("user", "result", "whole", "c", 4)


@given(st.text(), st.text())
def test_a_key_stands_for_all_that_a_message_says(one, other):
    def key(text, **fields):
        return message_key(Message(**{"role": "user", "text": text, "kind": "user", "step": 0, **fields}))

    assert (key(one) == key(other)) == (one == other)
    call = ToolCall(id="c", name="query", arguments={"a": 1})
    variants = [
        key(one), key(one, role="tool"), key(one, kind="made"), key(one, step=1), key(one, step=None),
        key(one, call_id="c"), key(one, non_text=1), key(one, tool_calls=(call,)), key(one, reasoning_tokens=1),
    ]  # fmt: skip
    assert len(set(variants)) == len(variants)


def test_a_ledger_holds_each_distinct_message_once_and_weighs_without_entering():
    ledger = MessageTokens(BaseMessages(TokenCounter()))
    one, same, other = made("text"), made("text"), made("more text")
    assert ledger.key(one) == ledger.key(same) != ledger.key(other)
    assert len(ledger.messages) == 2
    assert ledger.count(made("never shown")) == 3 + COUNT.text("never shown")
    assert ledger.count("a text") == COUNT.text("a text")
    assert len(ledger.messages) == 2
