"""Strategies written to fool the figures: no harmful one is within all limits, and nothing that only writes the same otherwise is flagged."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from measured import measured, replayer_of

from bench.model import ModelTurn, Run, Source, SystemTurn, ToolCall, ToolResult, Trace, UserTurn
from bench.strategies import compose, parse_strategy
from bench.traces import load

ROOT = Path(__file__).parents[2]
FAR, FAULTS, INVENTED, LEAVES = 0.90, 0.05, 0.02, 0.90


def written(name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests/data/adversarial" / file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STRATEGIES = written("adversarial", "strategies.py")
written("adversarial_lossless", "lossless.py")

STATUSES = [
    ("available", 129.5),
    ("pending", 86.2),
    ("delivered", 412.75),
    ("available", 59.9),
    ("returned", 230.4),
    ("pending", 1250.5),
]
ORDERS = {
    "customer": {"name": "Mia Garcia", "member": True, "email": "mia.garcia@example.com"},
    "orders": [
        {
            "id": f"W{4410 + 37 * number}",
            "status": status,
            "price": price,
            "paid": number % 2 == 0,
            "ordered": f"2024-05-{11 + number}",
        }
        for number, (status, price) in enumerate(STATUSES)
    ],
}
SEATS = [("available", "Noah Brown"), ("delayed", "Emma Kim"), ("available", "Yusuf Rossi"), ("cancelled", "Ava Lopez")]
FLIGHTS = {
    "rows": [
        {
            "flight": f"HAT{130 + 7 * number}",
            "status": status,
            "price": 140.5 + 33.25 * number,
            "departs": f"2024-05-2{number}T0{number}:35:00",
            "seats": 3 + number,
            "name": name,
        }
        for number, (status, name) in enumerate(SEATS)
    ],
    "complete": True,
}
DETAILS = {
    "order": {
        "id": "W4410",
        "items": [{"name": "Desk Lamp", "price": 45.25, "tags": ["white", "LED"]}],
        "status": "available",
    },
    "gift": False,
}
LOG = """check payments PASSED in 3.25 s
check stock PASSED in 1.75 s
server web_01 running since 2024-05-02T10:15:00 at 10.0.0.12
server web_02 running since 2024-05-03T11:25:00"""
ERROR = "Error: user mia_garcia_4516 not found"


def service() -> Trace:
    """A chat with a shop: results as JSON, as plain lines, and one that failed; later turns use what they said."""
    asked = ["get_user", "get_orders", "get_flights", "get_details", "get_log"]
    results = [ERROR, *(json.dumps(value) for value in (ORDERS, FLIGHTS, DETAILS)), LOG]
    said = [
        "Let me look.",
        "I could not find mia_garcia_4516.",
        "Order W4410 is available at 129.5 and W4484 was delivered for 412.75; W4447 costs 86.2 since 2024-05-12, W4595 1250.5.",
        "HAT130 leaves 2024-05-20T00:35:00 for 140.5 with Noah Brown, HAT144 for 207.0 with Yusuf Rossi and HAT137 with Emma Kim for 173.75.",
        "The Desk Lamp costs 45.25.",
        "web_01 runs since 2024-05-02T10:15:00 at 10.0.0.12; payments took 3.25 s.",
    ]
    steps: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [
        SystemTurn(index=0, content="You help customers of a shop."),
        UserTurn(index=1, content="What did I order, and when does my flight leave?"),
    ]
    for number, (function, result) in enumerate(zip(asked, results, strict=True)):
        call = ToolCall(id=f"c{number}", name=function, arguments={})
        data = json.loads(result) if result[0] == "{" else None
        steps.append(ModelTurn(index=len(steps), content=said[number], tool_calls=(call,), model="gpt-4o"))
        steps.append(
            ToolResult(
                index=len(steps), call_id=call.id, function=function, seen=result, data=data, success=result != ERROR
            )
        )
    steps.append(ModelTurn(index=len(steps), content=said[-1], model="gpt-4o"))
    return Trace(id="service", source=Source(format="native"), steps=tuple(steps))


SERVICE = service()


def share(name: str, run: Run, trace: Trace) -> float | None:
    samples = measured(name, trace, run)
    total = sum(sample.denominator or 0.0 for sample in samples)
    return sum(sample.numerator or 0.0 for sample in samples) / total if total else None


def figures(run: Run, trace: Trace) -> dict[str, float]:
    """The three counts, by name."""
    found = {
        name: sum(sample.numerator or 0.0 for sample in measured(name, trace, run))
        for name in ("changed.values", "changed.errors_hidden")
    }
    return {**found, "changed.invented": share("changed.invented", run, trace) or 0.0}


def problems(run: Run, trace: Trace) -> list[str]:
    """The limits that a run is beyond."""
    counted = figures(run, trace)
    found = [name for name in ("changed.values", "changed.errors_hidden") if counted[name]]
    found += ["changed.invented"] if counted["changed.invented"] > INVENTED else []
    for name, least in (("needed.recall.far", FAR), ("loss.leaf_recall.shown", LEAVES)):
        value = share(name, run, trace)
        found += [name] if value is not None and value < least else []
    faults = share("needed.fault_rate", run, trace)
    return [*found, "needed.fault_rate"] if faults is not None and faults > FAULTS else found


def run_of(name: str, trace: Trace, functions: dict[str, object]) -> Run:
    run = replayer_of(trace).run(compose(name, {"summarizer": functions[name]}))
    assert run.failure is None, run.failure
    return run


def test_there_are_enough() -> None:
    assert len(STRATEGIES.HARMFUL) >= 40
    assert len(STRATEGIES.HARMLESS) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", STRATEGIES.HARMFUL)
def test_no_harmful_one_is_within_all_limits(name: str) -> None:
    assert problems(run_of(name, SERVICE, STRATEGIES.HARMFUL), SERVICE)


@pytest.mark.parametrize("name", STRATEGIES.HARMLESS)
def test_nothing_that_writes_the_same_otherwise_is_flagged(name: str) -> None:
    assert problems(run_of(name, SERVICE, STRATEGIES.HARMLESS), SERVICE) == []


@pytest.mark.parametrize("name", ["bag_of_sorted_values", "lines_of_sorted_values", "list_of_values"])
def test_a_bag_of_values_keeps_little_of_what_was_needed(name: str) -> None:
    assert "needed.fault_rate" in problems(run_of(name, SERVICE, STRATEGIES.HARMFUL), SERVICE)


REFERENCES = ("keep_all", "recorded", "clairvoyant", "floor", "drop_all")
SHIPPED = (
    *REFERENCES,
    *(
        f"{name}=summarizer={name}"
        for name in ("compact_json", "csv_table", "truncate", "head_tail", "table_console", "output_summary")
    ),
    "mask=compactor=mask_observations:keep_last=2",
    "old=compactor=summarize_old:max_tokens=3000",
    "external=store=external",
    "deepagents=summarizer=deepagents.output:max_chars=1000",
    "mini=summarizer=mini_swe_agent.output:limit=1000",
    "gemini=compactor=gemini.mask:protect_tokens=200,min_prunable_tokens=100",
    "repeats=compactor=repeats",
)


def escaped() -> Trace:
    """A coding run whose results are JSON texts with escapes: what cuts them cuts in the middle of a word, or of an escape."""
    steps: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [UserTurn(index=0, content="Describe the data.")]
    for number in range(4):
        rows = "\n".join(f"'gene_{number}{row}'  {row * 7.25:>9.2f} × µg  'unpaid'" for row in range(40))
        output = json.dumps({"returncode": 0, "output": f"AnnData with n_obs × n_vars = {number}00 × 40\n{rows}"})
        text = output.replace("'", "\\u0027")
        call = ToolCall(id=f"c{number}", name="bash", arguments={"command": f"head {number}"})
        steps.append(ModelTurn(index=len(steps), content="I look.", tool_calls=(call,), model="gpt-4o"))
        steps.append(ToolResult(index=len(steps), call_id=call.id, function="bash", seen=text, success=True))
    steps.append(ModelTurn(index=len(steps), content="gene_339 has 282.75.", model="gpt-4o"))
    return Trace(id="escaped", source=Source(format="native"), steps=tuple(steps))


def listed() -> Trace:
    """A run with long lists, whose lines begin with a dash and an error, twice."""
    steps: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [UserTurn(index=0, content="What is in the folder?")]
    listing = "\n".join(f"- {chr(97 + row % 26)}{row}.txt of ann" for row in range(150))
    refused = f"Error: the folder is not there: {'/deep' * 50}"
    for number, text in enumerate((listing, refused, refused)):
        call = ToolCall(id=f"c{number}", name="bash", arguments={"command": "ls"})
        steps.append(ModelTurn(index=len(steps), content="I look.", tool_calls=(call,), model="gpt-4o"))
        steps.append(ToolResult(index=len(steps), call_id=call.id, function="bash", seen=text, success=text == listing))
    steps.append(ModelTurn(index=len(steps), content="b1.txt is there.", model="gpt-4o"))
    return Trace(id="listed", source=Source(format="native"), steps=tuple(steps))


RECORDINGS = {
    "service": SERVICE,
    "escaped": escaped(),
    "listed": listed(),
    **{
        trace.id: trace
        for trace in load(
            [str(ROOT / "traces/building_model/survey.jsonl"), str(ROOT / "traces/analysis/completed.jsonl")]
        ).traces
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("trace", RECORDINGS)
def test_no_shipped_strategy_changes_invents_or_hides(trace: str) -> None:
    recording = RECORDINGS[trace]
    for strategy in SHIPPED:
        run = replayer_of(recording).run(parse_strategy(strategy))
        found = figures(run, recording)
        assert found["changed.values"] == found["changed.errors_hidden"] == 0, strategy
        assert found["changed.invented"] <= (0 if strategy in REFERENCES else INVENTED), strategy


def test_a_tool_that_writes_escapes_itself_invents_nothing_where_its_text_is_cut() -> None:
    call = ToolCall(id="c", name="cat", arguments={})
    seen = "\\n".join(f"VGhlIHBlb3Bs{number}ZSBvZiB0aGUg" for number in range(20))
    steps = (ModelTurn(index=0, tool_calls=(call,)), ToolResult(index=1, call_id="c", function="cat", seen=seen))
    trace = Trace(id="t", source=Source(format="native"), steps=(*steps, ModelTurn(index=2, content="So.")))
    run = replayer_of(trace).run(parse_strategy("cut=summarizer=truncate:limit=100"))
    assert share("changed.invented", run, trace) == 0
