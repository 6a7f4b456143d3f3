"""The numbers of replays: by hand on a small run, and against prompts that are rebuilt whole on shipped recordings."""

from __future__ import annotations

import doctest
import functools
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from numbers_gold import GOLD, of_recordings
from reference import replayed

from bench import load
from bench.evidence.checks import checks_of
from bench.evidence.handles import Handles
from bench.evidence.index import index_trace
from bench.evidence.of_replay import ReplayEvidence
from bench.evidence.prompt_rules import PromptRules
from bench.evidence.session import TraceSession
from bench.evidence.unmet import unmet_needs
from bench.metrics import metrics, numbers_of
from bench.model import (
    AnyStep,
    Approval,
    ContextReset,
    Message,
    ModelTurn,
    Record,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    Usage,
    UserTurn,
)
from bench.model.messages import recorded_messages
from bench.model.outcome import Decision, Reply, Resolved
from bench.model.replay import Call, Replay, StepOutcome
from bench.replayer.replaying import Replayer
from bench.run.measuring import Measuring, RunSession
from bench.strategies import parse_strategy
from bench.text.facts import find_facts

ROOT = Path(__file__).parents[2]


def test_a_metric_names_its_source_and_its_total_over_runs() -> None:
    for metric in metrics().values():
        assert "Source: " in (metric.entry.doc or ""), metric.info.name
        assert metric.info.aggregate in ("total", "mean over tasks")


# ---------------------------------------------------------------- by hand


CALL = ToolCall(id="c1", name="read", arguments={"path": "orders.csv"})
AGAIN = ToolCall(id="c2", name="read", arguments={"path": "orders.csv"})
TEXT = "order W4417 costs 812.5\norder W9981 costs 73.25"
TRACE = Trace(
    id="hand",
    source=Source(format="native"),
    steps=(
        UserTurn(index=0, content="Sum up my orders."),
        ModelTurn(index=1, tool_calls=(CALL,), model="gpt-4o"),
        ToolResult(index=2, call_id="c1", function="read", seen=TEXT),
        ModelTurn(index=3, content="W4417 was 812.5.", tool_calls=(AGAIN,), model="gpt-4o"),
        ToolResult(index=4, call_id="c2", function="read", seen=TEXT),
        ModelTurn(index=5, content="And W9981 was 73.25.", model="gpt-4o"),
    ),
)


def evidence_by_hand(*calls: Call, written: tuple[Message, ...] = (), **fields: object) -> ReplayEvidence:
    """The evidence of a replay of the run above."""
    replay = Replay(strategy="s", spec="", written=written, calls=calls, **fields)  # type: ignore[arg-type]
    return ReplayEvidence(TraceSession(TRACE, index_trace(TRACE)), replay)


def shown_message(text: str, step: int = 2, call_id: str = "c1") -> Message:
    return Message(role="tool", text=text, kind="result", step=step, call_id=call_id)


WHOLE = Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 2)), Call(5, "main", 3, (3, 4))


def test_a_run_that_keeps_everything_misses_nothing() -> None:
    found = numbers_of(evidence_by_hand(*WHOLE))
    assert found["needed.recall"].value == 1.0
    assert found["needed.missed_turns"].value == 0.0
    assert found["needed.refetches"].value == 0.0
    assert found["loss.fact_recall.end"].value == 1.0
    assert found["loss.commands_lost"].value == 0.0
    assert found["cost.refetch_usd"].value == 0.0


def test_a_run_without_a_model_turn_has_no_values() -> None:
    trace = replace(TRACE, steps=TRACE.steps[:1])
    replay = Replay(strategy="s", spec="", calls=())
    found = numbers_of(ReplayEvidence(TraceSession(trace, index_trace(trace)), replay))
    assert {name: number for name, number in found.items() if number.value or number.reason} == {}


def test_a_metric_without_model_data_gives_a_reason() -> None:
    steps = tuple(replace(step, model="mine") if isinstance(step, ModelTurn) else step for step in TRACE.steps)
    session = TraceSession(replace(TRACE, steps=steps), index_trace(replace(TRACE, steps=steps)))
    found = numbers_of(ReplayEvidence(session, replay_of(session, "keep_all")))
    reasons = {name: number.reason for name, number in found.items() if number.reason}
    assert reasons.pop("cost.window_overflows") == "the window of mine is not known"
    assert reasons.keys() == {"cost.usd", "cost.usd_uncached", "cost.cached_prompt_tokens"}
    cut = replace(
        TRACE,
        steps=tuple(replace(it, full=TEXT + "!", seen="a") if isinstance(it, ToolResult) else it for it in TRACE.steps),
    )
    small = TraceSession(cut, replace(index_trace(cut), window_tokens=10))
    evidence = ReplayEvidence(small, replay_of(small, "keep_all"))
    found, (_, second, *_) = numbers_of(evidence), checks_of(evidence)["valid"].findings
    assert f"characters of step 2 the harness showed 1, the strategy {len(TEXT) + 1}" in second.text
    assert found["cost.window_overflows"].value == 3.0
    assert found["cost.usd"].reason == "a prompt does not fit the model's window"


def test_a_probe_of_a_reply_or_the_store_asks_that_of_its_result() -> None:
    record = Record(step=2, call_id="c1", function="read", success=True, value=TEXT)
    replies = tuple(
        StepOutcome(step=step, message=step, record=record, stored=text, reply=Reply(text, "rule", route="END"))
        for step, text in ((2, "It is Ann."), (4, "It is Bob."))
    )
    names = itertools.product(("Ann", "Bob", "W4417"), ("reply", "store"))
    probes = [{"question": "Who?", "expected": name, "where": where, "step": 2} for name, where in names]
    asked = replace(TRACE, labels={"probes": probes})
    replay = Replay(strategy="s", spec="", calls=WHOLE, results=replies)
    session = TraceSession(asked, index_trace(asked))
    assert numbers_of(ReplayEvidence(session, replay))["probes.recall"].value == pytest.approx(2 / 6)
    alone = replace(replay, results=())  # nobody replied: the recorded turn, which says W4417
    assert numbers_of(ReplayEvidence(session, alone))["probes.recall"].value == pytest.approx(1 / 6)


def test_the_turns_that_used_a_cleared_result_miss_it() -> None:
    cleared = shown_message("[cleared]"), shown_message("[cleared]", 4, "c2")
    calls = Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 6)), Call(5, "main", 3, (3, 7))
    found = numbers_of(evidence_by_hand(*calls, written=cleared))
    # turn 3 needs W4417 and 812.5 of the result; turn 5 needs W9981 and 73.25; "orders.csv" stands in the call
    assert found["needed.missed_turns"].value == 2.0
    assert found["needed.missed_turn_rate"].value == pytest.approx(2 / 3)
    assert found["needed.refetches"].value == 1.0  # the second call reads again what was cleared
    assert found["loss.silent_truncation"].value == 0.0  # "cleared" says so
    assert found["loss.fact_recall.shown"].value == pytest.approx((0 + 2 / 4) / 2)  # turn 3 says two of the four again


def test_a_need_behind_a_handle_costs_a_call_and_is_not_missed() -> None:
    stored = shown_message("stored as result_1")
    outcome = StepOutcome(
        step=2, message=6, stored=TEXT,
        record=Record(step=2, call_id="c1", function="read", success=True, value=None, handle="result_1"),
    )  # fmt: skip
    calls = Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 6)), Call(5, "main", 3, (3, 4))
    kept = Resolved(handle="result_1", step=2, text=TEXT)
    with_handle = numbers_of(evidence_by_hand(*calls, written=(stored,), results=(outcome,), handles=(kept,)))
    without = numbers_of(evidence_by_hand(*calls, written=(stored,)))
    assert with_handle["needed.missed_turns"].value == without["needed.handle_turns"].value == 0.0
    assert with_handle["needed.handle_turns"].value == 1.0
    assert with_handle["loss.retrievable"].value == pytest.approx(2 / with_handle["needed.recall"].weight)
    assert without["needed.missed_turns"].value == 1.0
    assert with_handle["cost.usd"].value > without["cost.usd"].value
    # turn 3 is sent again (29 tokens) with the result (19) and the call that fetched it (12, the median of 7 and 16)
    assert with_handle["cost.prompt_tokens"].value == without["cost.prompt_tokens"].value + 29 + 19 + 12
    assert with_handle["cost.refetch_usd"].value == 0.0 < without["cost.refetch_usd"].value
    other = numbers_of(
        evidence_by_hand(*calls, written=(stored,), handles=(Resolved(handle="result_1", step=4, text=TEXT),))
    )
    assert other["needed.missed_turns"].value == 1.0  # a handle that is kept later gives nothing before


def test_a_handle_gives_its_text_only_after_its_step_and_by_its_full_name() -> None:
    names = shown_message("stored as result_1"), shown_message("stored as result_12"), shown_message("result_1")
    kept = [Resolved(handle="result_1", step=step, text=f"W4417 at {step}") for step in (2, 4)]
    own = evidence_by_hand(*WHOLE, written=names, handles=tuple(kept))
    assert own.walked.calls  # which reads what the strategy wrote
    handles = Handles(own.replay, own.messages)
    assert [handles.text_at("result_1", step) for step in (1, 2, 3, 4, 5)] == [
        None, "W4417 at 2", "W4417 at 2", "W4417 at 4", "W4417 at 4",
    ]  # fmt: skip
    assert [handles.handles_in(number) for number in (6, 7, 8)] == [["result_1"], [], ["result_1"]]
    assert [handles.giving("W4417", step, (7, 6)) for step in (1, 2)] == ["", "result_1"]


def test_a_probe_with_a_path_reads_the_message_that_shows_the_result() -> None:
    lists = shown_message('["W4417", "W9981", "W5001"]'), shown_message('["W4417"]', 4, "c2")
    calls = Call(1, "main", 0, (0,)), Call(3, "main", 1, (1, 6)), Call(5, "main", 3, (3, 7))
    for at, right in ((2, 1.0), (4, 0.0)):
        probe = {"question": "How many?", "expected": 3, "type": "number", "step": at, "path": "length(@)"}
        asked = replace(TRACE, labels={"probes": [probe]})
        replay = Replay(strategy="s", spec="", written=lists, calls=calls)
        found = numbers_of(ReplayEvidence(TraceSession(asked, index_trace(asked)), replay))
        assert found["probes.recall"].value == right
        unanswered = replace(asked, steps=TRACE.steps[: at + 1])  # nobody is asked behind it
        found = numbers_of(ReplayEvidence(TraceSession(unanswered, index_trace(unanswered)), replace(replay, calls=())))
        assert found["probes.recall"].value is None
        broken = replace(asked, labels={"probes": [{"question": 3}]})
        found = numbers_of(ReplayEvidence(TraceSession(broken, index_trace(broken)), replay))
        assert (found["probes.recall"].value, "question" in found["probes.recall"].reason) == (None, True)


@pytest.mark.parametrize(
    ("hour_share", "idle_s", "reads"),  # of 2,009 tokens; where five minutes were promised half was served
    [(0, 300, 1004), (0, 301, 0), (0.5, 301, 0), (0.6, 301, 2009), (1, 3600, 2009), (1, 3601, 0)],
)
def test_a_cache_that_was_written_for_an_hour_is_read_for_an_hour(hour_share: float, idle_s: float, reads: int) -> None:
    def turn(index: int, t: float, **usage: int) -> ModelTurn:
        given = Usage(prompt_tokens=2000, completion_tokens=5, **usage)
        return ModelTurn(index=index, t=t, content="Yes.", model="claude-sonnet-4-5", usage=given)

    steps = (
        SystemTurn(index=0, t=0.0, content="wall " * 2000),
        UserTurn(index=1, t=0.0, content="Go."),
        turn(2, 0.0, cache_write_tokens=2000, cache_write_1h_tokens=int(2000 * hour_share)),
        UserTurn(index=3, t=idle_s, content="And now?"),
        turn(4, idle_s, cached_prompt_tokens=1000),
    )
    trace = Trace(id="t", source=Source(format="native"), steps=steps)
    session = TraceSession(trace, index_trace(trace))
    read = metrics()["cost.cached_prompt_tokens"].number(ReplayEvidence(session, replay_of(session, "keep_all"))).value
    assert read == reads


def test_loop_metrics_equal_their_values_by_hand() -> None:
    """The first misses a loop, the second sees one that is none, the third is right, the fourth does not look."""
    routes = [("go", "stop", "stop"), ("stop", "go", "stop"), ("stop", "stop", "stop"), ("go", "stop", None)]
    taken = tuple(
        Decision(step=step, router="r", at="result", route=route, untruncated=untruncated, loop=loop)
        for step, (route, untruncated, loop) in enumerate([*routes, ("go", "stop", "stop")], 2)
    )
    found = numbers_of(evidence_by_hand(*WHOLE, decisions=taken))
    assert (found["routing.missed_loops"].value, found["routing.false_loops"].value) == (2.0, 1.0)
    for words, loops in (("Go on.", 1.0), ("Go on {}.", 0.0)):  # a user who says something new is progress
        said = [
            turn
            for n in range(0, 8, 2)
            for turn in (UserTurn(index=n, content=words.format(n)), ModelTurn(index=n + 1, content="Yes."))
        ]
        asked = Trace(id="asked", source=Source(format="native"), steps=tuple(said))
        stops = tuple(
            Decision(step=step, router="r", at="result", route="stop", untruncated="stop") for step in (1, 3, 5, 7)
        )
        replay = Replay(strategy="s", spec="", decisions=stops)
        assert (
            numbers_of(ReplayEvidence(TraceSession(asked, index_trace(asked)), replay))["routing.loops"].value == loops
        )
    for route, loops in (("again", 1.0), ("END", 0.0)):  # a consumer that replied three times
        record = Record(step=2, call_id="c1", function="read", success=True, value=TEXT)
        reply = StepOutcome(step=2, message=2, record=record, reply=Reply("Yes.", "rule", route=route))
        replies = tuple(replace(reply, step=step) for step in (2, 3, 4))
        assert numbers_of(evidence_by_hand(*WHOLE, results=replies))["routing.loops"].value == loops


def test_selection_metrics_equal_their_values_by_hand() -> None:
    """The expected script comes first, fourth, not at all; without a label nothing is asked."""
    labelled = replace(TRACE, labels={"scripts": {"0": "a.cs", "3": ["b.cs", "c.cs"], "5": "d.cs"}})
    ranked = {0: ["a.cs", "b.cs"], 3: ["x.cs", "y.cs", "c.cs", "b.cs"], 5: ["a.cs"], 7: ["a.cs"]}
    taken = tuple(
        Decision(step=step, router="r", at="user_turn", route=names[0], untruncated="x", detail={"ranked": names})
        for step, names in ranked.items()
    )
    replay = Replay(strategy="s", spec="", calls=WHOLE, decisions=taken)
    found = numbers_of(ReplayEvidence(TraceSession(labelled, index_trace(labelled)), replay))
    assert found["routing.selection_top1"].value == pytest.approx(1 / 3)
    assert found["routing.selection_recall_at_3"].value == pytest.approx(2 / 3)


def test_unapproved_scripts_equal_their_number_by_hand() -> None:
    """Approved, never asked, refused and not run, refused and run all the same."""
    answers = {"yes": True, "no": False, "ignored": False}
    steps: list[AnyStep] = [UserTurn(index=0, content="Go.")]
    for call_id in ("yes", "unasked", "no", "ignored"):
        if call_id in answers:
            steps.append(Approval(index=len(steps), call_id=call_id, approved=answers[call_id]))
        steps.append(
            ToolResult(
                index=len(steps), call_id=call_id, function="run_script_by_name", seen="x", success=call_id != "no"
            )
        )
    trace = Trace(id="t", source=Source(format="native"), steps=tuple(steps))
    replay = Replay(strategy="s", spec="", calls=())
    found = numbers_of(ReplayEvidence(TraceSession(trace, index_trace(trace)), replay))
    assert found["routing.unapproved_executions"].value == 2.0


# ---------------------------------------------------------------- prompts that a provider refuses


PARTS = st.lists(st.integers(0, 4), max_size=7)


@settings(max_examples=200)
@given(prompts=st.lists(st.tuples(st.integers(0, 7), PARTS), min_size=1, max_size=5))
def test_invalid_pairs_found_by_edits_are_those_of_whole_prompts(prompts: list[tuple[int, list[int]]]) -> None:
    calls, length = [], 0
    for at, (keep, tail) in enumerate(prompts):
        keep = min(keep, length)
        length = keep + len(tail)
        calls.append(Call((1, 3, 5)[at % 3], "main", keep, tuple(tail)))
    session = TraceSession(TRACE, index_trace(TRACE))
    refused = {item.call for item in PromptRules(session.messages).refused(calls)}
    replay = Replay(strategy="", spec="", calls=tuple(calls))
    recorded = recorded_messages(TRACE).messages
    for number, (call, messages) in enumerate(replayed.prompts(replay, recorded)):
        steps = [message.step for message in messages]
        ordered = steps == sorted(steps)
        wrong = replayed.invalid(messages) or not ordered or not any(m.role == "user" for m in messages)
        assert (number in refused) == wrong, (call, steps)


def test_a_pair_that_a_recorded_reset_breaks_is_not_counted() -> None:
    """The result of a call that the reset had dropped."""
    for summary, kept in (("So far.", (2,)), ("So far.", ()), (None, ()), (None, (1,))):
        steps: list[AnyStep] = [
            SystemTurn(index=0, content="You look at W-4711."),
            UserTurn(index=1, content="Go."),
            ModelTurn(index=2, tool_calls=(CALL,)),
            ContextReset(index=3, summary=summary, kept=kept),
            ToolResult(index=4, call_id="c1", function="read", seen=TEXT),
            ModelTurn(index=5, content="Done with W-4711."),
        ]
        trace = Trace(id="t", source=Source(format="native"), steps=tuple(steps))
        session = TraceSession(trace, index_trace(trace))
        assert [need.origin_step for need in session.index.needs[5]] == [0], "a reset keeps the system prompt"
        assert ReplayEvidence(session, replay_of(session, "recorded")).refused == [], (summary, kept)


def test_empty_messages_and_half_characters_are_refused() -> None:
    made = [Message(role="user", text=text, kind="made") for text in ("Fine.", " \n", "half \ud83d")]
    calls = [Call(1, "main", 0, (0, 6)), Call(3, "main", 1, (7,)), Call(5, "main", 1, (8,))]
    found = [item.call for item in evidence_by_hand(*calls, written=tuple(made)).refused]
    assert found == [1, 2]


# ---------------------------------------------------------------- whole prompts of shipped recordings


STRATEGIES = (
    "keep_all",
    "drop_all",
    "m=compactor=mask_observations:keep_last=2",
    "w=compactor=sliding_window:keep_last=8",
)
FOLDERS = ("analysis", "terminal", "rounds")


@functools.cache
def shipped(*, dated: bool, model: str | None = None) -> list[TraceSession]:
    """Three recordings of each folder, looked at once; undated, so that no cache has expired."""
    traces = [trace for folder in FOLDERS for trace in load([ROOT / "traces" / folder]).traces[:3]]
    if not dated:
        traces = [replace(trace, steps=tuple(replace(step, t=None) for step in trace.steps)) for trace in traces]
    return [TraceSession(trace, index_trace(trace, model=model)) for trace in traces]


def replay_of(session: TraceSession, strategy: str) -> Replay:
    return Replayer(session.trace, session.index, session.messages.count).replay(parse_strategy(strategy))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sums_over_edits_are_those_of_whole_prompts(strategy: str) -> None:
    for session in shipped(dated=True):
        trace, index, replay = session.trace, session.index, replay_of(session, strategy)
        evidence = ReplayEvidence(session, replay)
        found = numbers_of(evidence)
        recorded = recorded_messages(trace, index.reasoning_tokens).messages
        sizes = replayed.prompt_tokens(replay, recorded, index.encoding)
        assert found["cost.prompt_tokens"].value == (sum(sizes) if sizes else None)
        if found["cost.usd_uncached"].value is not None and not any(step.t for step in trace.steps):
            assert found["cost.usd_uncached"].value == pytest.approx(replayed.uncached_usd(trace, sizes, index))
        prompts: dict[str, list[int]] = {}
        for at, call in enumerate(evidence.walked.calls):
            prompts[call.thread] = [*prompts.get(call.thread, [])[: call.keep], *call.tail]
            assert {it for it in evidence.walked.during if evidence.is_in_prompt(it, at)} == {*prompts[call.thread]}
        missed = {(item.step, item.need.fact) for item in unmet_needs(evidence)}
        for call, messages in replayed.prompts(replay, recorded):
            for need in index.needs.get(call.step, ()):
                fact = index.facts[need.fact]
                if {f: k for k, f in find_facts(fact)}.get(fact) in ("name", "path") and fact[0].isalnum():
                    held = any(replayed.says(message, fact) for message in messages)
                    assert held is ((call.step, need.fact) not in missed), (trace.id, call.step, fact)


@pytest.mark.parametrize(("model", "rule"), [("gpt-4o", (1024, 128)), ("deepseek-chat", (64, 64))])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cached_tokens_are_what_each_prompt_shares_with_the_one_before(
    strategy: str, model: str, rule: tuple[int, int]
) -> None:
    for session in shipped(dated=False, model=model):
        replay = replay_of(session, strategy)
        recorded = recorded_messages(session.trace, session.index.reasoning_tokens).messages
        answers = model == "deepseek-chat"  # which keeps them too
        cached = replayed.cached_tokens(replay, recorded, session.index.encoding, *rule, answers=answers)
        found = metrics()["cost.cached_prompt_tokens"].number(ReplayEvidence(session, replay))
        assert found.value == sum(cached), session.trace.id


@pytest.mark.parametrize("folder", ["analysis", "building_model", "inventories", "studies"])
def test_the_clairvoyant_strategy_misses_nothing_and_costs_less(folder: str) -> None:
    for trace in load([ROOT / "traces" / folder]).traces[:4]:
        session = RunSession(trace, Measuring(()))
        found = {name: session.evidence(parse_strategy(name)) for name in ("keep_all", "clairvoyant")}
        read = replace(found["clairvoyant"].replay, reads_future=False)
        assert not unmet_needs(ReplayEvidence(session.session, read)), trace.id
        tokens = [numbers_of(item)["cost.prompt_tokens"].value or 0.0 for item in found.values()]
        assert [len(unmet_needs(item)) for item in found.values()] == [0, 0], trace.id
        assert tokens == sorted(tokens, reverse=True), trace.id


# ---------------------------------------------------------------- the page of metrics worked by hand


def test_every_metric_equals_its_value_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "tests/metrics/worked/README.md").read_text(encoding="utf-8")
    headings = {line[3:] for line in text.split("\n") if line.startswith("## ")}
    families = {name.rsplit(".", name.count(".") - 1)[0] for name in metrics()}
    assert families == headings - {"The runs"}
    page = doctest.DocTestParser().get_doctest(text.replace("\n```\n", "\n\n"), {}, "worked", None, 0)
    assert doctest.DocTestRunner().run(page).failed == 0


# ---------------------------------------------------------------- every number of shipped recordings


def test_the_numbers_of_shipped_recordings_are_those_of_the_gold_file() -> None:
    for name, text in of_recordings().items():
        assert text == (GOLD / name).read_text(encoding="utf-8"), (
            f"{name}: read the difference, then `make accept-gold`"
        )
