"""Hypothesis strategies for whole traces, in the shape of real ones: later turns use what earlier results said."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import strategies as st

from bench.model import (
    AnyStep,
    Approval,
    ContextReset,
    ModelTurn,
    RouteDecision,
    Source,
    SystemTurn,
    ToolCall,
    ToolResult,
    ToolsChanged,
    Trace,
    Usage,
    UserTurn,
    compact_json,
)
from bench.traces.commands import calls_in, observation_text
from bench.traces.formats.native import encode_trace

SHORTENING = (
    "keep_all",
    "recorded",
    "drop_all",
    "cut=summarizer=truncate:limit=60",
    "table=summarizer=table_console:max_rows=2,max_lines=2",
    "ends=summarizer=head_tail:head=2,tail=1",
    "mask=compactor=mask_observations:keep_last=1",
    "old=compactor=summarize_old:keep_last=2,max_tokens=150",
)
"""Strategies that between them shorten results and histories in each way there is: every slow reference is compared under these."""

FUNCTIONS = ("query", "read_file", "perform_enrichment_analyses", "display_umap", "process_cells", "run_script_by_name")
_WORDS = ("alpha", "the", "cell", "found", "in", "wall", "with", "level", "é", "値", "of", "sorted")

facts = st.one_of(
    st.integers(100, 10**7).map(str),
    st.floats(0.001, 9999, allow_nan=False).map(lambda value: f"{value:.4g}"),
    st.builds("/data/run{}/{}.csv".format, st.integers(0, 99), st.sampled_from(("genes", "cells", "walls"))),
    st.builds("sample_{}_{}".format, st.sampled_from("abcdef"), st.integers(0, 999)),
    st.builds("https://example.org/{}/{}".format, st.sampled_from(("go", "kegg")), st.integers(1000, 9999)),
)
"""Pieces of text that mean one thing: numbers, paths, names, addresses."""

prose = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(" ".join)

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12), facts,
)  # fmt: skip

json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
"""Anything that JSON can hold, exactly."""


@dataclass
class _Writer:
    """One trace being written: its steps so far, and per thread the facts that results have shown."""

    draw: Any
    steps: list[AnyStep] = field(default_factory=list)
    known: dict[str, list[str]] = field(default_factory=dict)
    calls: int = 0

    def next(self, thread: str) -> dict[str, Any]:
        """The fields every step has."""
        t = self.draw(st.none() | st.just(1_700_000_000.5 + len(self.steps)))
        return {"index": len(self.steps), "thread": thread, "t": t}

    def fact(self, thread: str) -> str:
        """A fact that this thread has seen, or a new one."""
        seen = self.known.setdefault(thread, [])
        return str(self.draw(st.sampled_from(seen) if seen and self.draw(st.integers(0, 3)) else facts))

    def show(self, thread: str, fact: str) -> str:
        self.known.setdefault(thread, []).append(fact)
        return fact


def _table(writer: _Writer, thread: str) -> list[dict[str, Any]]:
    rows = writer.draw(st.integers(0, 9))
    return [
        {
            "Name": writer.show(thread, writer.draw(facts)),
            "Value": writer.draw(st.integers(0, 10**5)),
            "Ok": row % 2 == 0,
        }
        for row in range(rows)
    ]


def _log(writer: _Writer, thread: str) -> str:
    lines = writer.draw(st.integers(1, 12))
    return "".join(f"{writer.draw(prose)} {writer.show(thread, writer.draw(facts))}\n" for _ in range(lines))


def _body(writer: _Writer, thread: str) -> dict[str, Any]:
    """The content of a result: text, JSON text, a structured value with or without its text, a table, or truncated text."""
    kind = writer.draw(st.sampled_from(("text", "json", "data", "script", "cut", "empty", "failed")))
    if kind == "json":
        value = {"rows": _table(writer, thread), "extra": writer.draw(json_values)}
        return {"seen": json.dumps(value, ensure_ascii=writer.draw(st.booleans())), "data": value}
    if kind == "data":
        return {"data": {"go": {"terms": _table(writer, thread)}, "other": writer.draw(json_values)}}
    if kind == "script":
        rows = json.dumps(_table(writer, thread), indent=1)
        items = [{"type": "table", "data": rows}] if writer.draw(st.booleans()) else []
        return {"data": {"is_success": True, "output": _log(writer, thread), "structured_output": items}}
    if kind == "cut":
        full = _log(writer, thread) + _log(writer, thread)
        return {"seen": full[: len(full) // 2] + "\n[cut]", "full": full}
    if kind == "failed":
        message = f"ValueError: {writer.show(thread, writer.draw(facts))} is out of range"
        return {"success": False, "error": message, "seen": message}
    return {"seen": "" if kind == "empty" else _log(writer, thread)}


def _tool_turn(writer: _Writer, thread: str) -> None:
    asked = []
    for _ in range(writer.draw(st.integers(0, 3))):
        writer.calls += 1
        arguments = {"target": writer.fact(thread), "limit": writer.draw(st.integers(0, 9))}
        name = writer.draw(st.sampled_from(FUNCTIONS))
        asked.append(ToolCall(id=f"call_{writer.calls}", name=name, arguments=arguments))
    content = f"{writer.draw(prose)} {writer.fact(thread)}" if not asked or writer.draw(st.booleans()) else ""
    _say(writer, thread, content, tuple(asked))
    for call in writer.draw(st.permutations(asked)):
        head = writer.next(thread)
        writer.steps.append(
            ToolResult(**head, call_id=call.id, function=call.name, arguments=call.arguments, **_body(writer, thread))
        )


def _text_turn(writer: _Writer, thread: str) -> None:
    index = len(writer.steps)
    content = f"{writer.draw(prose)}\n\nexecute: grep {writer.fact(thread)} /data"
    calls = calls_in(content, index)
    _say(writer, thread, content, calls)
    code = writer.draw(st.integers(0, 2))
    text = observation_text(code, _log(writer, thread))
    head = writer.next(thread)
    call = {"call_id": calls[0].id, "function": "bash", "arguments": calls[0].arguments}
    writer.steps.append(ToolResult(**head, **call, success=code == 0, role="user", seen=text))


def _say(writer: _Writer, thread: str, content: str, calls: tuple[ToolCall, ...]) -> None:
    used = writer.draw(st.none() | st.builds(Usage, prompt_tokens=st.integers(1, 9999), completion_tokens=st.just(7)))
    reasoning = writer.draw(st.none() | prose)
    head = writer.next(thread)
    model = "gpt-4o" if writer.draw(st.booleans()) else None
    writer.steps.append(
        ModelTurn(**head, content=content, tool_calls=calls, model=model, reasoning=reasoning, usage=used)
    )


def _extra(writer: _Writer, thread: str) -> AnyStep:
    head = writer.next(thread)
    return writer.draw(
        st.sampled_from(
            (
                RouteDecision(**head, at="after_result", taken="continue", state={"k": 1}),
                Approval(**head, call_id="call_1", approved=False),
                ToolsChanged(**head, tools=({"name": "query", "parameters": {"type": "object"}},)),
                ContextReset(**head, summary="so far: nothing", kept=(0,)),
                UserTurn(
                    **head,
                    content="see",
                    non_text=1,
                ),
            )
        )
    )


@st.composite
def traces(draw: st.DrawFn, *, max_turns: int = 6, max_threads: int = 2, extras: bool = False, id: str = "") -> Trace:
    """A trace with system, user and model turns and tool results: structured data, JSON text, logs, cut and failed results, parallel calls,
    several threads, or an agent that speaks in text. `extras` adds the steps that most runs lack (routes, approvals, resets, images)."""
    writer = _Writer(draw)
    threads = ["main", "critic", "writer"][: draw(st.integers(1, max_threads))]
    in_text = draw(st.booleans())
    for thread in threads:
        if draw(st.booleans()):
            writer.steps.append(SystemTurn(**writer.next(thread), content=f"You are {thread}. {draw(prose)}"))
        writer.steps.append(UserTurn(**writer.next(thread), content=f"{draw(prose)} {draw(facts)}"))
    for _ in range(draw(st.sampled_from(range(max_turns, -1, -1)))):
        thread = draw(st.sampled_from(threads))
        (_text_turn if in_text else _tool_turn)(writer, thread)
        if extras and draw(st.booleans()):
            writer.steps.append(_extra(writer, thread))
    own_id = id or f"case-{draw(st.integers(0, 10**6))}"
    trace = Trace(
        id=own_id, source=Source(format="native"), steps=tuple(writer.steps), meta={"note": compact_json(threads)}
    )
    digest = hashlib.sha256(encode_trace(trace)).hexdigest()
    return msgspec.structs.replace(trace, source=Source(format="native", path=f"{own_id}.jsonl", sha256=digest))
