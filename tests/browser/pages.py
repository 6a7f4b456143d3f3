"""The pages that the browser tests open: two strategies by hand, hostile content, and 200 cases under ten strategies."""

from __future__ import annotations

import json

import msgspec

from bench import compare
from bench.model import (
    AnyStep,
    Comparison,
    ModelTurn,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    Trace,
    UserTurn,
    grouped,
)

STRATEGIES = (
    *(f"cut_{limit}=summarizer=truncate:limit={limit}" for limit in (20, 40, 60, 80, 120)),
    *(f"mask_{keep}=compactor=mask_observations:keep_last={keep}" for keep in (1, 2, 3)),
    "head_tail=summarizer=head_tail:head=1,tail=1",
    "window=compactor=sliding_window:keep_last=4",
)


def many(cases: int = 200, distinct: int = 10) -> Comparison:
    """Ten strategies on this many tiny recordings, each with three results and a turn that needs one of them.

    A few distinct recordings are replayed; the others are the same ones under other names, since the page is what is tested here.
    """
    few = compare([_trace(number) for number in range(distinct)], STRATEGIES, title=f"{cases} cases, ten strategies")
    named = {f"case_{number:04}": few.cases[number % distinct] for number in range(cases)}
    rows = grouped((row.case, row) for row in few.rows)
    return msgspec.structs.replace(
        few,
        cases=tuple(msgspec.structs.replace(case, id=name) for name, case in named.items()),
        rows=tuple(msgspec.structs.replace(row, case=name) for name, case in named.items() for row in rows[case.id]),
    )


def _trace(number: int) -> Trace:
    steps: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [
        SystemTurn(index=0, content="Answer from what the tools say."),
        UserTurn(index=1, content="Which file holds the walls?"),
    ]
    for turn in range(3):
        call = ToolCall(id=f"c{turn}", name="find", arguments={"page": turn})
        text = "\n".join(
            f"/data/run_{number}/walls_{turn}_{line}.csv has {100 + number + line} rows" for line in range(4)
        )
        at = len(steps)
        steps.append(ModelTurn(index=at, tool_calls=(call,), model="gpt-4o"))
        steps.append(ToolResult(index=at + 1, call_id=f"c{turn}", function="find", seen=text))
    steps.append(ModelTurn(index=len(steps), content=f"It is /data/run_{number}/walls_0_3.csv.", model="gpt-4o"))
    return Trace(
        id=f"case_{number:04}", source=Source(format="native", path="", sha256=f"{number:064x}"), steps=tuple(steps)
    )


def long(turns: int = 260) -> Comparison:
    """One recording of so many model calls that not all of its prompts are kept."""
    steps: list[SystemTurn | UserTurn | ModelTurn | ToolResult] = [UserTurn(index=0, content="Read on.")]
    for turn in range(turns):
        call = ToolCall(id=f"c{turn}", name="cat", arguments={"path": f"/data/part_{turn}.csv"})
        at = len(steps)
        steps.append(ModelTurn(index=at, tool_calls=(call,), model="gpt-4o"))
        steps.append(
            ToolResult(index=at + 1, call_id=call.id, function="cat", seen=f"next is /data/part_{turn + 1}.csv")
        )
    steps.append(ModelTurn(index=len(steps), content="Done.", model="gpt-4o"))
    source = Source(format="native", path="", sha256="ab" * 32)
    trace = Trace(id="long", source=source, steps=tuple(steps))
    return compare([trace], ["mask=compactor=mask_observations:keep_last=2"], title="A long run")


def walls() -> Comparison:
    """Three recordings of an agent that builds walls, under a strategy that cuts, one that masks, and one that summarises and cuts calls from
    their results, so that its prompts would be refused."""
    strategies = (
        "cut=summarizer=truncate:limit=60",
        "mask=compactor=mask_observations:keep_last=1",
        "broken=compactor=summarize_old:max_tokens=900,keep_last=3",
    )
    return compare(["traces/building_model"], strategies, title="Walls")


def unbroken() -> Comparison:
    """A result in rows whose columns, values and function have names of thousands of letters, none of which a line can be broken at."""
    rows = [{f"{'W' * 4000}{column}": f"{'w' * 3000}{number}" for column in "ab"} for number in range(3)]
    steps: list[AnyStep] = [UserTurn(index=0, content="go")]
    for at in (1, 3):
        call = ToolCall(id=f"c{at}", name="N" * 4000)
        steps += [
            ModelTurn(index=at, content=f"turn {at}", tool_calls=(call,)),
            ToolResult(index=at + 1, call_id=call.id, function=call.name, seen=json.dumps(rows), data=rows),
        ]
    steps.append(ModelTurn(index=5, content=f"it is {'w' * 3000}2 of {'W' * 4000}b"))
    trace = Trace(id="I" * 4000, source=Source(format="native"), steps=tuple(steps))
    return compare(
        [trace],
        ["S" * 3000 + "=compactor=mask_observations:keep_last=1", "cut=summarizer=truncate:limit=60"],
        title="T" * 4000,
    )
