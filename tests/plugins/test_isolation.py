"""What one strategy is handed, no other strategy can have changed: vandals in every slot, and a strategy beside them that must not notice."""

from __future__ import annotations

import gc
import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any

import msgspec
import pytest
from bench.evidence.of_trace import TraceEvidence
from bench.run.case import Measuring, measure
from generated import traces
from handmade import LOG, TABLE, result
from hypothesis import given

from bench.metrics import metrics
from bench.model import (
    Approval,
    Case,
    ContextReset,
    Message,
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolCall,
    ToolsChanged,
    Trace,
    UserTurn,
)
from bench.plugins.registry import Entry, Plugin
from bench.plugins.spec import Spec
from bench.replayer.loop import Replayer
from bench.strategies import DECISION_POINTS, Edits, Reply, Strategy, Window, compose, parse_strategy
from bench.strategies.forms import FORMS

MARK = "vandal was here"
METRICS = tuple(metrics().values())

ARGUMENTS = {"script_name": "Wall.cs", "parameters": {"levels": [1, 2, {"deep": ["a"]}]}}
CALLS = (
    ToolCall(id="a", name="run_script_by_name", arguments=ARGUMENTS),
    ToolCall(id="b", name="list", arguments=["x"]),
)
RICH = Trace(
    id="rich",
    source=Source(format="native", sha256="0" * 64),
    labels={"routes": {"9": "abort"}, "scripts": {"1": "Create_Wall"}},
    meta={
        "manifest": [{"name": "Create_Wall", "metadata": {"description": "Creates a wall.", "usage_examples": ["wall"]}}],
        "execution_plan": {"steps": [{"script_name": "Wall.cs"}, {"script_name": "Door.cs"}]},
    },
    steps=(
        SystemTurn(index=0, content="You build."),
        UserTurn(index=1, content="create a wall at Level_12"),
        ToolsChanged(index=2, tools=({"name": "run", "parameters": {"type": "object", "properties": {"a": {}}}},)),
        ModelTurn(index=3, content="Running Level_12.", tool_calls=CALLS),
        Approval(index=4, call_id="a", approved=True),
        result(None, index=5, call_id="a", function="run_script_by_name", arguments=ARGUMENTS,
               data={"is_success": True, "output": LOG, "structured_output": [TABLE], "ids": [471, 472, 473]}),
        result("471 rows in /data/run_7.csv", index=6, call_id="b", arguments=["x"]),
        ModelTurn(index=7, content="471 and 472 in /data/run_7.csv", tool_calls=CALLS[:1]),
        result(None, index=8, call_id="a", function="perform_enrichment_analyses", arguments=ARGUMENTS,
               data={"go": {"total_significant": 12, "top_terms": ["mitosis"] * 9, "top_pvalues": [0.001] * 9}}),
        RouteDecision(index=9, at="after_evaluation", taken="continue",
                      state={"current_step_index": 1, "total_steps": 3, "execution_plan": {"steps": [{"a": [1]}]}}),
        ContextReset(index=10, summary="ran a script", kept=(1,)),
        ModelTurn(index=11, content="12 terms; wall 473 at Level_12, as told."),
    ),
)  # fmt: skip


class Vandal:
    """Changes everything that it can reach of what it is given, and counts what it could change and what refused."""

    def __init__(self) -> None:
        self.changed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._seen: list[Any] = []

    def spoil(self, value: Any) -> None:
        if any(value is known for known in self._seen) or isinstance(value, str | int | float | None):
            return
        self._seen.append(value)  # kept, so that nothing else gets its identity
        if isinstance(value, dict):
            for item in [*value.values()]:
                self.spoil(item)
            self._try("dict", value.clear)
            self._try("dict", lambda: value.update({MARK: MARK}))
        elif isinstance(value, list):
            for item in [*value]:
                self.spoil(item)
            self._try("list", value.clear)
            self._try("list", lambda: value.append(MARK))
        elif isinstance(value, Mapping | MappingProxyType):
            for item in value.values():
                self.spoil(item)
            self._try("mapping", lambda: value.__setitem__(MARK, MARK))  # type: ignore[union-attr]
        elif isinstance(value, tuple | Sequence):
            for item in value:
                self.spoil(item)
            self._try("sequence", lambda: value.__setitem__(0, MARK))  # type: ignore[union-attr]
            if not isinstance(value, tuple):
                self._object(value)
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """Any other value, by every way that leads on from it: fields, slots, what a method is bound to, what a function remembers."""
        kind = type(value)
        names = [
            *getattr(kind, "__struct_fields__", ()),
            *vars(kind).get("__slots__", ()),
            *getattr(value, "__dict__", ()),
        ]
        names += [
            name
            for name in ("__self__", "__wrapped__", "__defaults__", "args", "keywords", "func")
            if hasattr(value, name)
        ]
        if isinstance(value, type | ModuleType) or kind.__module__ == "weakref":
            return
        for name in dict.fromkeys(names):
            if name != "__weakref__":
                self.spoil(getattr(value, name))
                self._try(kind.__name__, lambda name=name: setattr(value, name, MARK))  # type: ignore[misc]
                self._try(kind.__name__, lambda name=name: object.__setattr__(value, name, MARK))  # type: ignore[misc]
                self._try(kind.__name__, lambda name=name: msgspec.structs.force_setattr(value, name, MARK))  # type: ignore[misc]
        for cell in getattr(value, "__closure__", None) or ():
            self.spoil(cell.cell_contents)

    def _try(self, kind: str, change: Any) -> None:
        try:
            change()
        except (AttributeError, TypeError, msgspec.ValidationError):
            self.refused[kind] += 1
        else:
            self.changed[kind] += 1


def plugged(kind: str, function: Any, **meta: Any) -> tuple[Plugin, ...]:
    return (Plugin(Spec(f"vandal_{kind}"), Entry(kind, f"vandal_{kind}", function, meta, own=True), {}),)


def vandals(vandal: Vandal, *, later: list[Any] | None = None) -> list[Strategy]:
    """A strategy for every slot that spoils all that this slot is handed; with `later` it only keeps it."""

    def spoil(*given: Any) -> None:
        for item in given:
            vandal.spoil(item) if later is None else later.append(item)

    def summarize(given: Any) -> str:
        spoil(given)
        return MARK

    def put(given: Any) -> Any:
        spoil(given)
        return {MARK: [MARK]}

    def judge(record: Any, history: Any) -> Any:
        spoil(record, history)
        return {"critical_failure": True, "found": [MARK]}

    def decide(state: Any) -> str:
        spoil(state)
        return MARK

    def consume(execution: Any) -> Reply:
        spoil(execution)
        return Reply(MARK, MARK)

    def compact(window: Window) -> Any:
        spoil(window)
        return Edits(
            messages=[Message(role="user", kind="made", text=MARK)],
            append=[Message(role="user", kind="made", text="too")],
        )

    routers = tuple(
        Plugin(Spec(f"vandal_{point}"), Entry("router", f"vandal_{point}", decide, {"at": point}, own=True), {})
        for point in DECISION_POINTS
    )
    keeps = parse_strategy("s=store=external+evaluator=step_v1").plugins
    return [
        Strategy("v_summarizer", {"summarizer": plugged("summarizer", summarize)}),
        Strategy("v_store", {"store": plugged("store", put)}),
        Strategy("v_evaluator", {"evaluator": plugged("evaluator", judge)}),
        Strategy("v_routers", {**keeps, "routers": routers}),
        Strategy("v_routers_judged", {"evaluator": plugged("evaluator", judge), "routers": routers}),
        Strategy("v_consumer", {"consumer": plugged("consumer", consume)}),
        Strategy("v_compactor", {"compactor": plugged("compactor", compact, needs_future=True)}),
        Strategy("v_view", {"compactor": plugged("compactor", compact, needs_future=True, mode="per_call")}),
    ]


BESIDE = tuple(
    parse_strategy(text)
    for text in (
        "keep_all",
        "clairvoyant",
        "floor",
        "all=summarizer=output_summary+compactor=mask_observations:keep_last=1+store=by_function+evaluator=step_v1"
        "+routers=[executor,step_evaluator,plan,loop_detector,select_script.keyword]+consumer=building_agent",
        "handles=store=external+evaluator=step_v1+routers=[executor,step_evaluator]",
    )
)


def rows(case: Case, strategy: str) -> bytes:
    """Everything that a case holds of one strategy, but for the time that it took."""
    mine = [row for row in case.rows if row.strategy == strategy]
    return msgspec.json.encode([mine, msgspec.structs.replace(case.runs[strategy], seconds=0.0)])


def check(recording: Trace, strategies: Sequence[Strategy]) -> None:
    before = msgspec.json.encode(recording)
    alone = {item.name: rows(measure(recording, Measuring((item,), METRICS)), item.name) for item in BESIDE}
    together = measure(recording, Measuring((*strategies, *BESIDE), METRICS))
    for item in BESIDE:
        assert rows(together, item.name) == alone[item.name], item.name
    assert msgspec.json.encode(recording) == before, "the trace is as it was"


@pytest.mark.slow
def test_nobody_notices_the_vandals() -> None:
    vandal = Vandal()
    check(RICH, vandals(vandal))
    assert vandal.changed["dict"] > 100, "they did change what they were given"
    assert vandal.changed["list"] > 50
    kinds = {"ToolResult", "Record", "Message", "ToolCall", "Window", "Execution", "ModelTurn", "UserTurn", "Approval", "RouteDecision",
             "ContextReset", "Future", "ThreadPrompt"}  # fmt: skip
    assert kinds <= set(vandal.changed), "frozen values too, by force: each of these was handed to somebody"
    assert {"mapping", "sequence"} <= set(vandal.refused)


def test_nothing_leads_from_a_count_to_what_it_counts_with() -> None:
    """`window.count` is the one thing that works for the bench while a strategy holds it: an empty box."""
    found: list[Any] = []

    def compact(window: Window) -> None:
        found.append(window.count)

    Replayer(TraceEvidence(RICH)).run(compose("c", {"compactor": compact}))
    assert {name for name in dir(found[0]) if not name.startswith("__")} == set()
    assert not hasattr(found[0], "__dict__")
    assert not hasattr(found[0], "__self__")
    assert not gc.get_referents(found[0]) or set(gc.get_referents(found[0])) == {type(found[0])}


ANSWERS = {"summarizer": "x", "store": {"x": ["x"]}, "evaluator": {"critical_failure": True}, "routers": "x", "compactor": None,
           "consumer": {"text": "x", "state": {"x": [1]}, "route": "END"}}  # fmt: skip


@pytest.mark.slow
def test_nobody_notices_vandals_that_are_plain_functions() -> None:
    """Raw mappings, message dicts, states and histories, each spoiled by a function that asks for it."""
    vandal, made = Vandal(), []

    def asking(slot: str, form: str, mode: str) -> Any:
        def function(given: Any) -> Any:
            vandal.spoil(given)
            return ANSWERS[slot]

        function.form = form  # type: ignore[attr-defined]
        if mode:
            function.mode = mode  # type: ignore[attr-defined]
        return function

    libraries = {
        "langchain": "langchain_core",
        "state": "langchain_core",
        "pydantic_ai": "pydantic_ai",
        "inspect": "inspect_ai",
    }
    for kind, forms in FORMS.items():
        slot = "routers" if kind == "router" else kind
        for form in forms.known:
            if importlib.util.find_spec(libraries.get(form, "bench")):
                for mode in ("history", "per_call") if slot == "compactor" else ("",):
                    made.append(compose(f"{slot}_{form}_{mode}", {slot: asking(slot, form, mode)}))
    check(RICH, made)
    assert vandal.changed["dict"] > 100
    assert vandal.changed["list"] > 100


def test_what_was_kept_to_be_spoiled_later_is_nobody_elses() -> None:
    """A strategy that keeps what it was handed and changes it when others run."""
    kept: list[Any] = []
    replayer = Replayer(TraceEvidence(RICH))
    before = msgspec.json.encode(RICH)
    first = {item.name: msgspec.json.encode(replayer.run(item)) for item in BESIDE}
    for item in vandals(Vandal(), later=kept):
        assert replayer.run(item).failure is None
    assert len(kept) > 50
    spoiler = Vandal()
    for item in kept:
        spoiler.spoil(item)
    assert spoiler.changed["dict"] > 100
    assert {item.name: msgspec.json.encode(replayer.run(item)) for item in BESIDE} == first
    assert msgspec.json.encode(RICH) == before


def test_a_replayer_that_handed_out_the_trace_itself_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = msgspec.json.decode(msgspec.json.encode(RICH), type=Trace)
    monkeypatch.setattr("bench.replayer.loop.fresh", lambda value: value)
    with pytest.raises((AssertionError, TypeError, KeyError)):
        check(recording, vandals(Vandal()))


@pytest.mark.slow
@given(recording=traces(extras=True))
def test_nobody_notices_the_vandals_on_generated_traces(recording: Trace) -> None:
    check(recording, vandals(Vandal()))
