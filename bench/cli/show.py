"""`bench show`: the steps of a run, or one of them in full."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ..model.errors import TraceError, nearest
from .saying import say

if TYPE_CHECKING:
    from ..model import AnyStep, Trace

WIDTH = 70
"""The most characters of a step that are shown."""


@click.command()
@click.argument("trace", metavar="[FORMAT:]PATH")
@click.option(
    "--step", "index", type=int, metavar="N", help="Print one step in full, by its number."
)
@click.option(
    "--run",
    "run",
    metavar="RUN",
    help="Only this run of several, by its id or its name in a report.",
)
def show(trace: str, index: int | None, run: str | None) -> None:
    """Print the steps of recorded runs with their tokens."""
    from ..traces import load
    from ..traces.summary import ReadSummary, left_out_lines

    loaded = load([trace])
    traces = loaded.traces
    if run is not None:
        traces = (_run_called(run, traces, trace),)
    if index is not None and len(traces) > 1:
        raise TraceError(
            f"{trace}: has {len(traces)} runs, --step needs one — add --run {traces[0].id}"
        )
    for item in traces:
        for line in step_lines(item) if index is None else step_in_full(item, index):
            say(line)
    for line in left_out_lines(loaded.skipped):
        say(line, err=True)
    if index is None:
        say(ReadSummary(traces, loaded.skipped).line())


def _run_called(name: str, traces: Sequence[Trace], where: str) -> Trace:
    """The run with an id, or with the name by which reports or audits call it if only one has it.

    Raises TraceError for none, and for several.
    """
    from ..comparison.run_names import names_of

    ids = [item.id for item in traces]
    names = names_of(ids, {item.id: item.task for item in traces})
    called = [it for it in traces if name == names[it.id]]
    found = [item for item in traces if item.id == name] or called
    if len(found) == 1:
        return found[0]
    what = f"{where}: {'several runs are called' if found else 'has no run'} {name!r}"
    raise TraceError(what + nearest(name, [it.id for it in found] or [*ids, *names.values()]))


def step_lines(trace: Trace) -> Iterator[str]:
    """The lines for one trace: a head, a line for each step with its tokens, the total.

    >>> from bench.model import Source, Trace, UserTurn
    >>> one = Trace(id="a", source=Source(format="native"), steps=(UserTurn(index=0, content="list the walls"),))
    >>> print("\\n".join(step_lines(one)))
    a (native): 1 step, 0 model calls, 0 tool results; no model named, tokens by o200k_base (assumed)
       0  user              3  list the walls
    3 tokens of text
    """
    from ..text.wording import count as written, counted
    from ..tokens.counting import TokenCounter, encoding_for

    encoding, assumed = encoding_for(trace.model)
    count = TokenCounter(encoding).text
    named = f"model {_flat(trace.model)}" if trace.model else "no model named"
    parts = {"step": trace.steps, "model call": trace.model_turns, "tool result": trace.results}
    yield (
        f"{_flat(trace.id)} ({trace.source.format}): "
        f"{', '.join(counted(len(items), name) for name, items in parts.items())}; "
        f"{named}, tokens by {encoding}{' (assumed)' if assumed else ''}"
    )
    wide = max(4, len(str(trace.steps[-1].index)) if trace.steps else 1)
    several = len({step.thread for step in trace.steps}) > 1
    total = 0
    for step in trace.steps:
        before, text = words_of(step)
        total += (tokens := count(text))
        start = (f"[{_flat(step.thread)}] " if several else "") + _flat(before)
        begins = _flat(text[: 4 * WIDTH])
        begins = begins if len(begins) <= WIDTH else begins[: WIDTH - 1] + "…"
        kind = step.__struct_config__.tag
        yield f"{step.index:>{wide}}  {kind:<10} {written(tokens):>8}  {start}{begins}"
    yield f"{counted(total, 'token')} of text"


def words_of(step: AnyStep) -> tuple[str, str]:
    """A step in words: a label, and the text that a prompt may have of it."""
    from .. import model
    from ..model.trace import as_text, compact_json
    from ..text.wording import counted

    match step:
        case model.SystemTurn() | model.UserTurn():
            return "", step.content
        case model.ModelTurn(tool_calls=calls):
            written = [f"{it.name}({as_text(it.arguments)})" for it in calls if not it.in_text]
            return "", "\n".join(filter(None, (step.content, *written)))
        case model.ToolResult():
            failed = "" if step.success else ", failed"
            is_cut = step.seen is not None and step.full not in (None, step.seen)
            cut = ", recorded cut" if step.truncated_at_source else ""
            return f"{step.function}{failed}{', shown cut' if is_cut else ''}{cut}: ", step.text
        case model.RouteDecision():
            return f"{step.router or step.at} → {step.taken}", ""
        case model.Approval():
            return f"{step.call_id}: {'approved' if step.approved else 'rejected'}", ""
        case model.ToolsChanged():
            return f"{counted(len(step.tools), 'tool')}: ", "".join(map(compact_json, step.tools))
        case model.ContextReset():
            return f"{counted(len(step.kept), 'step')} kept: ", step.summary or ""
        case model.ContextEdit():
            return f"{counted(len(step.shown), 'step')} reworded: ", "\n".join(step.shown.values())


def _flat(text: str) -> str:
    from ..model.errors import visible

    return visible(re.sub(r"\s+", " ", text))


def step_in_full(trace: Trace, index: int) -> Iterator[str]:
    """The lines for one step in full: a head, then each field that is not empty.

    >>> from bench.model import Source, Trace, UserTurn
    >>> one = Trace(id="a", source=Source(format="native"), steps=(UserTurn(index=4, content="list\\nthe walls"),))
    >>> list(step_in_full(one, 4))
    ['a step 4: user', 'content:', '  list', '  the walls']

    Raises TraceError for an index that no step has.
    """
    from ..model import plain
    from ..model.errors import visible

    known = {step.index: step for step in trace.steps}
    if index not in known:
        known_steps = f"its steps are {min(known)} to {max(known)}" if known else "it has no steps"
        raise TraceError(f"run {trace.id!r}: no step {index} — {known_steps}")
    fields = plain(known[index])
    yield f"{visible(trace.id)} step {index}: {fields.pop('kind')}"
    for name, value in fields.items():
        if name == "index" or value in (None, [], ""):
            continue
        is_text = isinstance(value, str)
        text = value if is_text else json.dumps(value, ensure_ascii=False, indent=2, default=str)
        lines = visible(text).split("\n")
        if len(lines) == 1:
            yield f"{name}: {lines[0]}"
        else:
            yield from (f"{name}:", *(f"  {line}" for line in lines))
