"""What every plug-in of a strategy must do, tried on each one that is registered: a newcomer's file is tested before it has tests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.replayer.prompts import BaseMessages, MessageTokens, ThreadHistory
from handmade import SMALL, opened, result

from bench.model import Message, ModelTurn, Record, RouteDecision, Run, ToolResult, Trace
from bench.plugins import registry
from bench.plugins.registry import KINDS, Entry, Plugin, build, entries, packages, register
from bench.plugins.spec import Spec, parse_spec
from bench.replayer.loop import replay
from bench.strategies import DECISION_POINTS, Edits, Strategy, Window, compose, parse_strategy
from bench.tokens.counting import TokenCounter

SLOT_OF = {
    "summarizer": "summarizer",
    "compactor": "compactor",
    "store": "store",
    "evaluator": "evaluator",
    "router": "routers",
    "consumer": "consumer",
}
"""The slot that a kind fills. Writers and extractors fill none: they run inside a compactor and beside an evaluator."""

STRATEGY_KINDS = tuple(kind for kind in KINDS if packages(kind)[0].startswith("bench.strategies"))
BESIDE = {
    "router": {"evaluator": "step_v1"},
    "consumer": {"summarizer": "output_summary"},
    "evaluator": {"store": "truncate:limit=50"},
}
"""What else a strategy needs for a kind to have something to do."""

ENTRIES = [entry for kind in STRATEGY_KINDS for entry in entries(kind).values()]
every = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}")
every_self_contained = pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if "needs" not in entry.meta], ids=lambda entry: f"{entry.kind}-{entry.name}"
)
"""Each plug-in but those that say at registration what they cannot work without (`needs`), and have tests of their own for it."""


def tight(entry: Entry) -> Spec:
    """The plug-in with its counts so small that on small traces every rule acts."""
    settings = {parameter.name: "2" for parameter in entry.parameters if type(parameter.default) is int}
    if any(parameter.name == "max_tokens" for parameter in entry.parameters):
        settings["max_tokens"] = "300"
    return Spec(entry.name, None, tuple(settings.items()))


def variants(entry: Entry) -> list[Strategy]:
    """Strategies that run a plug-in, as it is and with tight settings; none for a kind that runs in every replay anyway."""
    if entry.kind == "reference":
        return [parse_strategy(entry.name)]
    if entry.kind == "writer":
        return [compose("s", {"compactor": f'summarize_old:max_tokens=300,keep_last=2,writer="{entry.name}"'})]
    slots = BESIDE.get(entry.kind, {})
    if entry.kind == "extractor":
        return [compose("s", {"store": "truncate:limit=50"})]
    specs = dict.fromkeys([entry.name, str(tight(entry))])
    return [compose("s", {**slots, SLOT_OF[entry.kind]: spec}) for spec in specs]


def encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)


def blanked(recording: Trace, last: int) -> Trace:
    """The trace as far as it had come at a step: the same source, no future. Where decisions fall is no secret and stays."""
    steps = tuple(step for step in recording.steps if step.index <= last or isinstance(step, RouteDecision))
    return msgspec.structs.replace(recording, steps=steps)


def up_to(run: Run, last: int) -> list[Any]:
    """What a run had decided by a step: prompts with the messages they hold, outcomes, decisions, notes."""
    prompts = [
        (prompt, [(run.messages[key].role, run.messages[key].text) for key in keys])
        for prompt, keys in run.walk()
        if prompt.step <= last
    ]
    decisions = [decision for decision in run.decisions if decision.step <= last and decision.at != "end"]
    return [
        encoded(prompts),
        encoded([outcome for outcome in run.results if outcome.step <= last]),
        encoded(decisions),
        encoded([note for note in run.notes if note.step <= last]),
    ]


def peeks(strategy: Strategy, recording: Trace) -> bool:
    """Whether a strategy does anything else when the future is not there to see."""
    whole = replay(recording, strategy)
    turns = [step.index for step in recording.steps if isinstance(step, ModelTurn | ToolResult)]
    return any(
        up_to(whole, last) != up_to(replay(blanked(recording, last), strategy), last)
        for last in turns[:: 1 + len(turns) // 5]
    )


# ---------------------------------------------------------------- every plug-in


@every
def test_documentation(entry: Entry) -> None:
    first = entry.doc.split("\n\n")[0]
    assert first.rstrip().endswith((".", ":")), "the docstring starts with a sentence"
    assert entry.source, "the docstring has a `Source:` line"
    assert ">>>" in entry.doc, "the docstring has an example"


@every
def test_parameters_are_typed_and_have_defaults(entry: Entry) -> None:
    for parameter in entry.parameters:
        assert not parameter.required, parameter.name
        assert parameter.type is not Any, parameter.name
        assert not isinstance(parameter.type, str), parameter.name
        assert msgspec.convert(parameter.default, parameter.type, strict=True) == parameter.default


@every_self_contained
def test_specs_print_back(entry: Entry) -> None:
    if entry.kind == "reference":
        assert str(parse_strategy(entry.name)) == entry.name
        return
    for spec in (Spec(entry.name), tight(entry)):
        assert parse_spec(str(spec)) == spec
        assert str(build(entry.kind, str(spec)).spec) == str(spec)
    for strategy in variants(entry):
        assert str(parse_strategy(str(strategy))) == str(strategy)


@pytest.mark.parametrize("kind", ["summarizer", "store"])
def test_lone_surrogates_are_text_like_any_other(kind: str) -> None:
    for entry in entries(kind).values():
        for given in (result("\ud800 471 \udfff"), result(None, data={"output": "\udfff\n" * 9})):
            build(kind, tight(entry)).start()[1](given)


@pytest.mark.parametrize("name", entries("compactor"))
def test_compactors_take_lone_surrogates(name: str) -> None:
    compact = build("compactor", tight(entries("compactor")[name])).start()[1]
    history = ThreadHistory(
        "main", MessageTokens(BaseMessages(TokenCounter())), compact, None, TraceEvidence(SMALL["empty"]).future
    )
    for step in range(40):
        history.join(Message(role="tool", text=f"\ud800 {step} \udfff " * 20, kind="result", step=step))
        history.compact(ModelTurn(index=step))
    assert len(history.prompts) == 40


@pytest.mark.slow
@every_self_contained
def test_gets_through_the_same_twice_and_leaves_its_input_alone(entry: Entry) -> None:
    for recording in SMALL.values():
        before = encoded(recording)
        for strategy in variants(entry):
            run = replay(recording, strategy)
            assert encoded(run) == encoded(replay(recording, strategy))
            if entry.meta.get("raises") and run.failure is not None:
                assert "the deployed code fails" in run.failure.error
                continue
            assert run.failure is None
            for prompt, keys in run.walk():
                held = sum(run.message_tokens[key] for key in keys)
                assert prompt.tokens == run.counting.prompt_tokens + prompt.tools_tokens + held
        assert encoded(recording) == before


@pytest.mark.slow
@every_self_contained
def test_nobody_peeks_who_does_not_say_so(entry: Entry) -> None:
    for strategy in variants(entry):
        foresees = any(plugin.attribute("needs_future", False) for ps in strategy.plugins.values() for plugin in ps)
        if not foresees:
            assert not any(peeks(strategy, recording) for recording in SMALL.values())


def test_peeking_would_be_noticed() -> None:
    later = [ModelTurn(index=3, content="not yet"), ModelTurn(index=4, content="471")]
    recording = opened([result("value 471\nanother line", index=2), *later])
    assert all(peeks(parse_strategy(name), recording) for name in ("clairvoyant", "floor"))
    assert not peeks(parse_strategy("keep_all"), recording)


# ---------------------------------------------------------------- what one kind promises


def lossless(plugin: Plugin, results: Sequence[ToolResult]) -> bool:
    """Whether a store gives back, at the end, the very values that were put into it."""
    instance, put = plugin.start()
    records = [put(item) for item in results]
    back = [record.value if record.handle is None else instance.resolve(record.handle) for record in records]
    return [repr(value) for value in back] == [repr(item.value) for item in results]


ALL_RESULTS = [item for recording in SMALL.values() for item in recording.results]


@pytest.mark.parametrize("name", entries("store"))
def test_stores_keep_what_they_promise(name: str) -> None:
    plugin = build("store", name)
    if plugin.attribute("lossless", False):
        assert lossless(plugin, ALL_RESULTS)
    instance, put = plugin.start()
    for item in ALL_RESULTS:
        record = put(item)
        assert isinstance(record, Record)
        assert (record.step, record.call_id, record.success) == (item.index, item.call_id, item.success)
        assert record.summary
        assert record.handle is None or callable(instance.resolve)


def test_a_lossy_store_would_be_noticed() -> None:
    assert not lossless(build("store", "truncate"), ALL_RESULTS)


def over_budget(plugin: Plugin, recording: Trace) -> list[int]:
    """The prompts above `max_tokens` that a compactor had the means to avoid: more than system turns and the newest message are left."""
    strategy = Strategy("s", {"compactor": (plugin,)})
    run, limit = replay(recording, strategy), plugin.arguments["max_tokens"]
    return [
        prompt.step
        for prompt, keys in run.walk()
        if prompt.tokens > limit and sum(run.messages[key].kind != "system" for key in keys) > 1
    ]


def promises(entry: Entry) -> bool:
    """Whether a compactor says that no prompt is above its `max_tokens` while more is left than system turns and the newest message."""
    return bool(entry.meta.get("within_max_tokens"))


def check_promise(name: str) -> None:
    """A compactor by name, as anybody would use it: with a small window on a long session, and with one that holds two messages."""
    found = entries("compactor")[name]
    if not promises(found):
        assert "never more than `max_tokens`" not in found.doc, "declare within_max_tokens=True and be held to it"
        return
    for limit in (300, 600, 1500):
        settings = {**dict(tight(found).params), "max_tokens": str(limit)}
        plugin = build("compactor", Spec(name, None, tuple(settings.items())))
        for recording in (SMALL["long"], SMALL["threads"], SMALL["structured"]):
            assert over_budget(plugin, recording) == [], (limit, recording.id)


@pytest.mark.parametrize("name", entries("compactor"))
def test_compactors_keep_the_budget_they_promise(name: str) -> None:
    check_promise(name)


def cut_to_budget(window: Window, *, max_tokens: int = 300) -> list[Message]:
    """The newest messages that fit: never more than `max_tokens`.

    Source: tests/test_conformance.py
    """
    kept: list[Message] = []
    room = max_tokens - 3
    for message in reversed(window.messages):
        room -= window.count(message)
        if room < 0 and kept:
            break
        kept.insert(0, message)
    return kept


def too_much(window: Window, *, max_tokens: int = 300) -> list[Message]:
    """Forgets that a prompt has a framing."""
    return cut_to_budget(window, max_tokens=max_tokens + 3 + 30)


def test_a_promise_is_checked_and_a_broken_one_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry._entries["compactor"]
    monkeypatch.setitem(registry._entries, "compactor", dict(known))
    register("compactor", "honest", within_max_tokens=True)(cut_to_budget)
    register("compactor", "breaks_it", within_max_tokens=True)(too_much)
    register("compactor", "says_it_only_in_words")(cut_to_budget)
    check_promise("honest")
    for name in ("breaks_it", "says_it_only_in_words"):
        with pytest.raises(AssertionError):
            check_promise(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", entries("compactor"))
def test_compactors_give_what_the_protocol_allows(name: str) -> None:
    given: list[Any] = []

    def spy(compact: Callable[[Window], Any], window: Window) -> Any:
        given.append(compact(window))
        return given[-1]

    found = entries("compactor")[name]
    compact = build("compactor", tight(found)).start()[1]
    spied = Entry("compactor", name, functools.partial(spy, compact), found.meta)
    assert replay(SMALL["long"], Strategy("s", {"compactor": (Plugin(Spec(name), spied, {}),)})).failure is None
    assert given
    assert all(answer is None or isinstance(answer, Edits | list | tuple) for answer in given)


@pytest.mark.parametrize("name", entries("router"))
def test_routers_say_where_they_decide(name: str) -> None:
    assert entries("router")[name].meta["at"] in DECISION_POINTS


@pytest.mark.parametrize("name", entries("reference"))
def test_references_are_strategies(name: str) -> None:
    strategy = parse_strategy(name)
    assert strategy.reference
    assert compose(name, entries("reference")[name].target()).spec == strategy.spec


@pytest.mark.parametrize(
    "name", [entry.name for entry in ENTRIES if entry.kind == "writer" and "needs" not in entry.meta]
)
def test_writers_write_text_of_no_messages_too(name: str) -> None:
    write = build("writer", name).start()[1]
    assert isinstance(write([]), str)
    assert isinstance(write([Message(role="tool", text="", kind="result")]), str)
